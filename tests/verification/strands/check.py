"""Strands bend, twist, buckle, ring and hang as closed forms say; see README.md."""
import math

import h5py
import numpy

from reading import at_least, at_most, near, order, peak
from scenes import settings

DECKS = {name: f"{name}.yaml" for name in ("small", "elastica", "column", "hinged", "clamped", "led", "weight",
                                           "writhe", "ring", "twist", "turns", "torsion", "beam", "damped", "viscous",
                                           "hanging", "root", "buckling")}
DECKS["coarse"] = "elastica.yaml"
CONES = {"cone_25": 25, "cone": 50, "cone_100": 100}  # segments
DECKS |= {name: "cone.yaml" for name in CONES}
DECKS["writhing"] = "ring.yaml"
DECKS["bearing"] = "buckling.yaml"
DECKS["root_fine"] = "root.yaml"
FOLLOWED = {f"turns_{scheme}": settings({"bodies.beam.turns": "quasi_static", "bodies.beam.stage.scheme": scheme})
            for scheme in ("implicit", "explicit")}
DECKS |= dict.fromkeys(FOLLOWED, "turns.yaml")
# Localised helices: m, segments, L.
HELICES = {"helix_60": (0.6, 600, 20), "helix_80": (0.8, 300, 20), "helix_95": (0.95, 200, 30)}
DECKS |= {name: "helix.yaml" for name in HELICES}


def helix(name):
    m, segments, length = HELICES[name]
    end = length - 4 * math.sqrt(1 - m**2)  # as far as the closed form says
    angle = math.degrees(2 * m * length / 4)
    return settings({"bodies.rod.curves.curve_file.path": f"{name}.obj", "bodies.rod.curves.spacing": length / segments,
                     "handles.hand.vertices": [segments],
                     "handles.hand.hold.motion": f"{{center: [{end!r}, 0, 0], keyframes: [{{time: 0}}, "
                                                 f"{{time: 5, rotate: {{axis: [1, 0, 0], angle: {angle!r}}}}}]}}"})


def cone(segments):
    keys = {f"bodies.{body}.curves.spacing": 10 / segments for body in ("bent", "pulled", "heavy", "twisted")}
    return settings(keys | {f"handles.{handle}.vertices": [segments] for handle in ("load", "pull", "hand")})


RUNS = {"quick": {name: [] for name in DECKS} | {name: helix(name) for name in HELICES} |
                 {name: cone(segments) for name, segments in CONES.items()} |
                 {"coarse": ["--set", "bodies.beam.curves.spacing=0.4"],
                  "writhing": ["--set", "bodies.ring.twist=-0.4376"],
                  "root_fine": settings({"time.max_dt": 2e-3}),
                  "bearing": settings({"handles.hand.hold.motion":
                                       "{center: [10, 0, 0], keyframes: [{time: 0}, {time: 2, rotate: "
                                       "{axis: [1, 0, 0], angle: 649.3}}]}"})} | FOLLOWED}
RUNS["full"] = RUNS["quick"] | {"plectoneme": []}
DECKS["plectoneme"] = "plectoneme.yaml"
EI, RADIUS, LENGTH = 100, 0.1, 10
# P L^2 / EI: shortening and deflection of the elastica [m].
ELASTICA = {1: (0.564332, 3.01721), 2: (1.60642, 4.93457), 4: (3.28941, 6.69964)}
# (beta L)^2 of a cantilever.
CANTILEVER = (3.516015, 22.034492, 61.697214)


def at_load(run, probe, load):
    return run[probe][int(numpy.argmin(abs(run["time"] - load / 4)))]


def of_cones():
    """Of the strands of cone.yaml, whose radius falls from a to b: displacements of their ends [m], torque [N m] and
    weight [N]."""
    E, a, b = 4 * EI / (math.pi * RADIUS**4), RADIUS, 0.3 * RADIUS
    s = (numpy.arange(10000) + 0.5) / 10000  # from the end on
    r = b + (a - b) * s
    # Of what is beyond s, by the volume of a truncated cone and its first moment about s.
    moment = 0.01 * math.pi * LENGTH**2 * s**2 * (3 * b**2 + 2 * b * r + r**2) / 12
    lower = (moment * 4 / (E * math.pi * r**4) * LENGTH**2 * s).mean()
    return {"higher": 4e-4 * LENGTH**3 / (3 * math.pi * E * a**3 * b), "longer": LENGTH / (math.pi * E * a * b),
            "lower": -lower,
            "torque_hand_x": math.pi / 6 * 3 * math.pi * E / 2.6 / 2 * (a - b) / LENGTH / (b**-3 - a**-3),
            "force_wall_of_heavy_z": 0.01 * math.pi * LENGTH * (a**2 + a * b + b**2) / 3}


def decay(t, x):
    """The rate at which the peaks of a signal fall [1/s]."""
    peaks = [k for k in range(1, len(x) - 1) if x[k - 1] < x[k] >= x[k + 1]]
    first, last = peaks[0], peaks[-1]
    return math.log(x[first] / x[last]) / (t[last] - t[first])


def writhe(x):
    """Of a line of points [turns]: Gauss' integral over all pairs of its segments. [Klenin and Langowski 2000]"""
    begin, end = x[:-1], x[1:]
    i, j = numpy.triu_indices(len(begin), 2)
    sides = (begin[j] - begin[i], end[j] - begin[i], end[j] - end[i], begin[j] - end[i])
    normals = [numpy.cross(sides[k], sides[(k + 1) % 4]) for k in range(4)]
    normals = [n / numpy.maximum(numpy.linalg.norm(n, axis=1), 1e-300)[:, None] for n in normals]
    angles = sum(numpy.arcsin(numpy.clip((normals[k] * normals[(k + 1) % 4]).sum(1), -1, 1)) for k in range(4))
    hands = numpy.sign((numpy.cross(end[j] - begin[j], end[i] - begin[i]) * sides[0]).sum(1))
    return (hands * angles).sum() / (2 * math.pi)


def link(run, number):
    """Twist and writhe of the plectoneme [turns], its ends drawn out along x: what its ends turned, and 2 more for each
    time that it passed through itself. [White 1969]"""
    with h5py.File(run.folder / "frames" / f"rod_{number:06d}.hdf") as file:
        x = file["VTKHDF/Points"][:][numpy.argsort(file["VTKHDF/PointData/id"][:])]
        twist = file["VTKHDF/CellData/twist_rate"][:].sum() * 0.1 / (2 * math.pi)
    far = numpy.array([1e5, 0, 0])
    return twist, writhe(numpy.concatenate([[x[0] - far], x, [x[-1] + far]]))


def check(runs, size):
    found = []
    n = 10
    exact = 1e-4 * LENGTH**3 / (3 * EI) * (1 + 1 / (2 * n**2))
    found.append(near("small load: deflection of ten segments [m]", runs["small"]["higher"][-1], exact, 1e-6))

    for load, (shorter, higher) in ELASTICA.items():
        found.append(near(f"elastica, P L^2/EI = {load}: deflection [m]", at_load(runs["elastica"], "higher", load),
                          higher, 1e-3))
        found.append(near(f"elastica, P L^2/EI = {load}: shortening [m]", -at_load(runs["elastica"], "shorter", load),
                          shorter, 1e-3))
    finest = -at_load(runs["elastica"], "shorter", 4) / ELASTICA[4][0] - 1
    coarse = -at_load(runs["coarse"], "shorter", 4) / ELASTICA[4][0] - 1
    found.append(near("elastica: error with half the segments over that with all", coarse / finest, 4, 0.1))
    found.append(near("elastica: torque at the root [N m]", runs["elastica"]["torque_wall_y"][-1],
                      4 * (LENGTH + at_load(runs["elastica"], "shorter", 4)), 1e-5))

    for name, below, above in (("column", 0.9999, 1.0001), ("hinged", 0.9999, 1.0001), ("clamped", 0.997, 1.003),
                               ("led", 0.997, 1.003), ("weight", 0.997, 1.003), ("writhe", 0.995, 1.005)):
        modes = runs[name]["negative_modes"]
        found.append(near(f"{name} at {below} of its load: ways to buckle", modes[-2], 0, 0, scale=1))
        found.append(near(f"{name} at {above} of its load: ways to buckle", modes[-1], 2, 0))
    for name, share, ways in (("ring", 0.99, 0), ("writhing", 1.01, 2)):
        found.append(near(f"ring, twisted by {share} of what it bears: ways to buckle",
                          runs[name]["negative_modes"][-1], ways, 0, scale=1))

    GJ = EI / 1.3
    turn = math.radians(300)
    run = runs["twist"]
    found.append(near("twisted: torque on the hand [N m]", run["torque_hand_x"][-1], GJ * turn / LENGTH, 1e-9))
    found.append(near("twisted: torque on the wall [N m]", run["torque_wall_x"][-1], -GJ * turn / LENGTH, 1e-9))
    found.append(near("twisted: energy [J]", run["elastic_energy"][-1], GJ * turn**2 / (2 * LENGTH), 1e-9))

    run, torque = runs["turns"], GJ * math.radians(9000) / LENGTH
    found.append(near("turned 25 times: torque on the hand [N m]", run["torque_hand_x"][-1], torque, 1e-4))
    found.append(near("turned 25 times: torque on the wall [N m]", run["torque_wall_x"][-1], -torque, 1e-4))
    for name in FOLLOWED:
        found.append(near(f"{name}, without inertia: torque on the hand [N m]", runs[name]["torque_hand_x"][-1], torque,
                          1e-9))
        found.append(near(f"{name}, without inertia: torque on the wall [N m]", runs[name]["torque_wall_x"][-1],
                          -torque, 1e-9))
    aside = {name: max(abs(runs[name][f"aside_{axis}"]).max() for axis in "yz") for name in ("bearing", "buckling")}
    found.append(at_most("turned in time to 0.97 of what it bears: place aside [m]", aside["bearing"], 0.02))
    found.append(at_least("turned in time to 1.03 of what it bears: place aside [m]", aside["buckling"], 0.1))
    for name, (m, _, _) in HELICES.items():
        found.append(near(f"localised helix, m = {m}: tension [N]", runs[name]["force_hand_x"][-1], 1, 0.02))
        found.append(near(f"localised helix, m = {m}: moment [N m]", runs[name]["torque_hand_x"][-1], 2 * m, 0.01))
    if size == "full":
        for number, turned in (0, 0), (4, 458.366), (9, 860):
            turns = (4 * math.acos(0.8) + math.radians(turned)) / (2 * math.pi)
            found.append(near(f"plectoneme, turned by {turned} degrees: twist and writhe [turns]",
                              sum(link(runs["plectoneme"], number)), turns, 0.01))
        found.append(at_least("plectoneme: writhe [turns]", link(runs["plectoneme"], 9)[1], 2))
    for column, exact in of_cones().items():
        errors = [runs[name][column][-1] - exact for name in CONES]
        found.append(near(f"cone of 100 segments: {column}", runs["cone_100"][column][-1], exact, 1e-3))
        found += [near(f"cone: {column}, order", each, 2, 0.02) for each in order(errors)]
    # Rows amid a fold, the energies of one substep, tell it to its square alone.
    for name, rows, bound in ("root", slice(-1, None), 1e-3), ("root_fine", slice(None), 1e-4):
        energy = runs[name]["energy_less_work"]
        found.append(at_most(f"{name} that folds: energy that comes or goes, over all of it",
                             abs(energy / energy[0] - 1)[rows].max(), bound))

    run = runs["torsion"]
    for k in 1, 2, 3:
        omega = (2 * k - 1) * math.pi / (2 * LENGTH) * 10
        found.append(near(f"torsion, mode {k}: frequency [rad/s]",
                          peak(run["time"], run["angular_momentum_x"], omega), omega, 0.002))
    gain = run["energy_less_work"].max() / run["energy_less_work"][0] - 1
    found.append(at_most("torsion: energy gained", gain, 1e-3))

    for k, root in enumerate(CANTILEVER, start=1):
        omega = 10 * root / LENGTH**2
        found.append(near(f"cantilever, mode {k}: frequency [rad/s]", peak(runs["beam"]["time"], runs["beam"]["end"], omega),
                          omega, 0.005))

    spin = runs["damped"]["angular_momentum_x"]
    x2 = 2 * 50 / LENGTH**2 * 0.1**2  # (omega dt)^2
    missed = spin[2:] - (2 * spin[1:-1] - spin[:-2]) / (1 + x2)
    found.append(near("backward Euler: momentum of a step less that of its closed form, over the first",
                      numpy.abs(missed).max() / spin[0], 0, 1e-6, scale=1))

    run = runs["viscous"]
    found.append(near("viscous: decay in twist [1/s]", decay(run["time"], run["angular_momentum_x"]), 5 / 100, 0.01))
    found.append(near("viscous: decay in bending [1/s]", decay(run["time"], run["end"]), 0.04 / 2, 0.01))

    weight = 1000 * math.pi * 0.01**2 * LENGTH * 10
    found.append(near("hanging: force of the root, up [N]", runs["hanging"]["force_root_z"][-1], weight, 1e-6))
    return found
