"""Tetrahedra bend, ring, spin and rest as closed forms say; see README.md."""
import math
import pathlib
import tempfile

import numpy

from reading import at_most, near, peak

FOLDER = tempfile.TemporaryDirectory(prefix="weft_disc_")


def disc_file(rings, thickness):
    """A mesh of a disc with the volume of a round one of radius 1: rings of 6, 12, ... vertices."""
    sides = 6 * rings
    radius = math.sqrt(2 * math.pi / (sides * math.sin(2 * math.pi / sides)))
    plane, first = [(0.0, 0.0)], [0]
    for ring in range(1, rings + 1):
        first.append(len(plane))
        plane += [(radius * ring / rings * math.cos(math.pi * k / (3 * ring)),
                   radius * ring / rings * math.sin(math.pi * k / (3 * ring))) for k in range(6 * ring)]
    triangles = []
    for ring in range(1, rings + 1):
        outer = lambda k: first[ring] + k % (6 * ring)
        inner = lambda k: first[ring - 1] + k % max(1, 6 * (ring - 1))
        for sector in range(6):
            for k in range(ring):
                a, b = sector * ring + k, sector * (ring - 1) + k
                triangles.append((inner(b), outer(a), outer(a + 1)))
                if k < ring - 1:
                    triangles.append((inner(b), outer(a + 1), inner(b + 1)))
    tets = []
    for triangle in triangles:
        a, b, c = sorted(triangle)  # prisms beside one another are cut alike
        above = len(plane)
        for tet in (a, b, c, c + above), (a, b, b + above, c + above), (a, a + above, b + above, c + above):
            at = numpy.array([(*plane[v % above], thickness * (v // above - 0.5)) for v in tet])
            tets.append(tet if numpy.linalg.det(at[1:] - at[0]) > 0 else (tet[0], tet[1], tet[3], tet[2]))
    points = [(x, y, z) for z in (-thickness / 2, thickness / 2) for x, y in plane]
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(points))]
    lines += [f"{k + 1} {x!r} {y!r} {z!r}" for k, (x, y, z) in enumerate(points)]
    lines += ["$EndNodes", "$Elements", str(len(tets))]
    lines += [f"{k + 1} 4 2 0 1 " + " ".join(str(v + 1) for v in tet) for k, tet in enumerate(tets)]
    path = pathlib.Path(FOLDER.name) / "disc.msh"
    path.write_text("\n".join([*lines, "$EndElements", ""]))
    return str(path)


STIFF = "materials.rubber.poisson_ratio=0.49"
LINEAR = ["--set", "bodies.beam.order=1", "--set"]
DECKS = {"quadratic": "cantilever.yaml", "stiff": "cantilever.yaml", "four": "cantilever.yaml",
         "eight": "cantilever.yaml", "bar": "bar.yaml", "pulse": "pulse.yaml", "beam": "beam.yaml",
         "block": "block.yaml", "disc": "disc.yaml"}
CRUSHED = {f"crushed {ratio}": ratio for ratio in (0.25, 1, 4)}  # dx over the edges of cubes
DECKS |= dict.fromkeys([*CRUSHED, "crushed, carried"], "crushed.yaml")
RUNS = {"quick": {"quadratic": [], "stiff": ["--set", STIFF], "bar": [], "pulse": [], "beam": [], "block": []}}
RUNS["quick"]["disc"] = ["--set", f"bodies.disc.mesh.file.path={disc_file(8, 0.1)}"]
RUNS["quick"] |= {name: ["--set", f"domain.dx={0.1 * ratio}"] for name, ratio in CRUSHED.items()}
RUNS["quick"]["crushed, carried"] = ["--set", "bodies.cube.carrier=grid", "--set", "bodies.cube.damping=0", "--set",
                                     "transfer.rpic_damping=0.1"]
RUNS["full"] = RUNS["quick"] | {"four": [*LINEAR, "bodies.beam.mesh.size=0.125"],
                                "eight": [*LINEAR, "bodies.beam.mesh.size=0.0625"],
                                "disc": [*RUNS["quick"]["disc"], "--set", "time.end=2"]}
# P L^2 / EI: shortening and deflection of the elastica [m].
ELASTICA = {1: (0.564332, 3.01721), 2: (1.60642, 4.93457), 4: (3.28941, 6.69964)}


def at_load(run, probe, load):
    return run[probe][int(numpy.argmin(abs(run["time"] - load / 4)))]


def spinning_disc(run):
    """At 1 rad/s; E = 1e6 Pa, density 1000 kg/m^3, nu = 0.3. It breathes about its stretched shape."""
    x = run.frame("disc", 0)["position"].astype(float)
    radius = numpy.hypot(x[:, 0], x[:, 1])
    rim = radius > 0.98
    weight = numpy.where(abs(x[rim, 2]) < 0.01, 4, 1)  # the mean through the thickness, by Simpson's rule
    frames = range(len(run.times("disc")))
    places = [run.frame("disc", k)["position"][rim].astype(float) for k in frames]
    moved = [numpy.average(numpy.hypot(at[:, 0], at[:, 1]) - radius[rim], weights=weight) for at in places]
    r = radius[rim]
    expected = numpy.average(0.7 * 1000 * r * (3.3 - 1.3 * r**2) / 8e6, weights=weight)
    momentum = run["angular_momentum_z"]
    return [near("disc: displacement of the rim, mean of its breathing [m]",
                 numpy.average(moved, weights=numpy.hanning(len(moved))), expected, 0.01),
            at_most("disc: change of angular momentum over it", numpy.ptp(momentum) / momentum[0], 1e-11)]


def check(runs, size):
    found = spinning_disc(runs["disc"])
    for name, words in ("quadratic", "nu 0.3"), ("stiff", "nu 0.49"):
        for load, (shorter, higher) in ELASTICA.items():
            what = f"quadratic, {words}, P L^2/EI = {load}"
            found.append(near(f"{what}: deflection [m]", at_load(runs[name], "higher", load), higher, 0.02))
            # It grows with the square of the deflection.
            found.append(near(f"{what}: shortening [m]", -at_load(runs[name], "shorter", load), shorter, 0.04))
    omega = 2 * math.pi / 10
    run = runs["bar"]
    found.append(near("bar: frequency [rad/s]", peak(run["time"], run["end"], omega), omega, 0.002))
    t, energy = run["time"], run["kinetic_energy"] + run["elastic_energy"]
    begin, end = (energy[abs(t - middle) < 5].mean() for middle in (5, 95))
    found.append(near("bar: energy in the tenth period over that in the first", end / begin, 1, 0.01))
    t, energy = runs["pulse"]["time"], runs["pulse"]["kinetic_energy"] + runs["pulse"]["elastic_energy"]
    begin, end = energy[(t > 0.2) & (t < 3)].mean(), energy[t > 17].mean()
    found.append(near("pressed block: energy at the end over that after the pulse", end / begin, 1, 0.005))
    omega = 3.516015 * math.sqrt(100 / 0.25) / 100
    found.append(near("beam: frequency [rad/s]", peak(runs["beam"]["time"], runs["beam"]["end"], omega), omega, 0.01))
    run = runs["block"]
    t, given = run["time"], run.vector("impulse_floor")
    late = t > 1
    force = [numpy.polyfit(t[late], given[late, axis], 1)[0] for axis in range(3)]
    found.append(near("block at rest: force on the floor, up [N]", force[2], -640, 0.01))
    found.append(near("block at rest: force on the floor, along x [N]", force[0], 0, 0.01, scale=640))
    for name, ratio in CRUSHED.items():
        run, what = runs[name], f"crushed to a point, dx / h = {ratio}"
        # The singular values of F - R are 1e-6 at most where volumes and shears are those of rest.
        strain = max(abs(run["most"][-1] - 1), abs(run["least"][-1] - 1), run["mises"][-1] / 1e4)
        found.append(at_most(f"{what}: strain that is left", strain, 1e-6))
    found.append(near("the same, carried by the grid: volume over that at rest", runs["crushed, carried"]["most"][-1],
                      0, 0.01, scale=1))
    if size == "full":
        wrong = {name: at_load(runs[name], "higher", 1) / ELASTICA[1][1] - 1 for name in ("four", "eight")}
        found.append(near("linear, eight across: deflection over that of the elastica", 1 + wrong["eight"], 1, 0.1))
        found.append(near("linear: order", math.log2(wrong["four"] / wrong["eight"]), 2, 0.3))
    return found
