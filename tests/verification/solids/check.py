"""Tetrahedra bend, ring and rest as closed forms say; see README.md."""
import math

import numpy

from reading import near, peak

STIFF = "materials.rubber.poisson_ratio=0.49"
LINEAR = ["--set", "bodies.beam.order=1", "--set"]
DECKS = {"quadratic": "cantilever.yaml", "stiff": "cantilever.yaml", "four": "cantilever.yaml",
         "eight": "cantilever.yaml", "bar": "bar.yaml", "pulse": "pulse.yaml", "beam": "beam.yaml",
         "block": "block.yaml"}
RUNS = {"quick": {"quadratic": [], "stiff": ["--set", STIFF], "bar": [], "pulse": [], "beam": [], "block": []}}
RUNS["full"] = RUNS["quick"] | {"four": [*LINEAR, "bodies.beam.mesh.size=0.125"],
                                "eight": [*LINEAR, "bodies.beam.mesh.size=0.0625"]}
# P L^2 / EI: shortening and deflection of the elastica [m].
ELASTICA = {1: (0.564332, 3.01721), 2: (1.60642, 4.93457), 4: (3.28941, 6.69964)}


def at_load(run, probe, load):
    return run[probe][int(numpy.argmin(abs(run["time"] - load / 4)))]


def check(runs, size):
    found = []
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
    if size == "full":
        wrong = {name: at_load(runs[name], "higher", 1) / ELASTICA[1][1] - 1 for name in ("four", "eight")}
        found.append(near("linear, eight across: deflection over that of the elastica", 1 + wrong["eight"], 1, 0.1))
        found.append(near("linear: order", math.log2(wrong["four"] / wrong["eight"]), 2, 0.3))
    return found
