"""Bodies of different grid layers slide, rest and hit one another as closed forms say; see README.md."""
import math

import numpy

from reading import at_least, at_most, near

G = 9.81


def turned(angle, friction):
    """Of slope.yaml, to this angle [degrees]."""
    return ["--set", f"bodies.slab.mesh.rotate.angle={-angle}", "--set", f"handles.base.where.rotate.angle={-angle}",
            "--set", f"layer_contact.0.friction={friction}"]


def solid(angle, friction):
    return [*turned(angle, friction), "--set", f"bodies.block.mesh.rotate.angle={-angle}"]


def grains(angle, friction):
    return [*turned(angle, friction), "--set", f"bodies.block.shape.rotate.angle={-angle}"]


# Angle [degrees], friction.
SLIDES = {"solid": (30, 0.3), "grains": (30, 0.3)}
RESTS = {"solid": (25, 0.6), "grains": (25, 0.6)}
MORE = {"solid": [(20, 0), (20, 0.2), (35, 0.4)], "grains": [(20, 0), (20, 0.2), (35, 0.4)]}
MAKE = {"solid": solid, "grains": grains}
FILES = {"solid": "slope.yaml", "grains": "grains.yaml"}

DECKS = {"stack": "stack.yaml", "heap": "heap.yaml", "bars": "bars.yaml"}
RUNS = {"quick": {"stack": [], "heap": [], "bars": []}}
RUNS["full"] = RUNS["quick"] | {"stack": ["--set", "time.end=60"]}
for kind, make in MAKE.items():
    for size, cases in ("quick", [SLIDES[kind], RESTS[kind]]), ("full", [SLIDES[kind], RESTS[kind], *MORE[kind]]):
        for case in cases:
            name = f"{kind} {case[0]} {case[1]}"
            DECKS[name] = FILES[kind]
            RUNS[size][name] = make(*case)


def along(run, angle):
    """The way of the block down the slope [m]."""
    place = run.vector("block")
    return (place - place[0]) @ [math.cos(math.radians(angle)), -math.sin(math.radians(angle)), 0]


def check(runs, size):
    found = []
    for name, run in runs.items():
        if name in ("stack", "heap", "bars"):
            continue
        kind, angle, friction = name.split()
        angle, friction = float(angle), float(friction)
        t, way = run["time"], along(run, angle)
        expected = G * (math.sin(math.radians(angle)) - friction * math.cos(math.radians(angle)))
        late = t > 0.2
        speed = numpy.polyfit(t[late], way[late], 2)
        if expected > 0:
            found.append(near(f"{kind}, {angle:g} degrees, friction {friction}: acceleration [m/s^2]", 2 * speed[0],
                              expected, 0.03))
        else:
            found.append(at_most(f"{kind}, {angle:g} degrees, friction {friction}: way in the last 0.3 s [m]",
                                 numpy.ptp(way[late]), 0.01))
    run = runs["stack"]
    t, gap = run["time"], run["bottom"] - run["top"]
    found.append(at_least("stack: least gap after 1 s [dx]", gap[t > 1].min() / 0.1, 0))
    found.append(at_most("stack: largest gap after 1 s [dx]", gap[t > 1].max() / 0.1, 1.5))
    found.append(at_most("stack: drift of the gap after 1 s [dx]", numpy.ptp(gap[t > 1]) / 0.1, 0.1))
    energy = run["energy_less_work"]
    found.append(at_most("stack: energy less work that is gained, over that at the start",
                         (energy - numpy.minimum.accumulate(energy)).max() / energy[0], 0.002))
    late = t > 2
    force = numpy.polyfit(t[late], run["impulse_floor_y"][late], 1)[0]
    found.append(near("stack: force on the floor [N]", -force, G * run["mass"][0], 0.01))
    run = runs["heap"]
    late = run["time"] > 1
    found.append(near("heap: mean force on the base [N]", run["force_base_y"][late].mean(), G * run["mass"][0], 0.01))
    run = runs["bars"]
    t = run["time"]
    late = t > 0.3
    fast = [numpy.polyfit(t[late], run[f"{bar}_x"][late], 1)[0] for bar in "ab"]
    found.append(at_least("bars: speed of that which was at rest [m/s]", fast[1], 0.95))
    momentum = run["momentum_x"]
    found.append(at_most("bars: change of momentum over it", numpy.ptp(momentum) / momentum[0], 1e-12))
    return found
