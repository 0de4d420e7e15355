"""Bodies of different grid layers slide, rest and hit one another as closed forms say; see README.md."""
import math

import numpy

from reading import at_least, at_most, largest_rise, near

G = 9.81


def turned(angle, friction):
    """Of slope.yaml, to this angle [degrees]."""
    return ["--set", f"bodies.slab.mesh.rotate.angle={-angle}", "--set", f"handles.base.where.rotate.angle={-angle}",
            "--set", f"layer_contact.0.friction={friction}"]


def block(angle, friction):
    return [*turned(angle, friction), "--set", f"bodies.block.mesh.rotate.angle={-angle}"]


def solid(angle, friction):
    if math.tan(math.radians(angle)) > friction:
        return block(angle, friction)
    damping = [word for body in ("slab", "block") for word in ("--set", f"bodies.{body}.damping=1000")]
    return block(angle, friction) + damping


def grains(angle, friction):
    end = ["--set", "time.end=0.8"] if math.tan(math.radians(angle)) < friction else []
    return [*turned(angle, friction), "--set", f"bodies.block.shape.rotate.angle={-angle}", *end]


def implicit_stages(dt, *bodies):
    words = ["--set", f"time.max_dt={dt}"]
    for body in bodies:
        words += ["--set", f"bodies.{body}.stage={{scheme: implicit}}"]
    return words


def implicit(angle, friction):
    return [*block(angle, friction), *implicit_stages(0.005, "slab", "block")]


# Angle [degrees], friction.
MORE = [(20, 0), (20, 0.2), (35, 0.4)]
SLIDES, RESTS = (30, 0.3), (25, 0.6)
MAKE = {"solid": solid, "implicit": implicit, "grains": grains}
FILES = {"solid": "slope.yaml", "implicit": "slope.yaml", "grains": "grains.yaml"}

DECKS = {"stack": "stack.yaml", "heap": "heap.yaml", "bars": "bars.yaml", "tub": "tub.yaml", "discs": "discs.yaml",
         "fork": "fork.yaml", "press": "press.yaml"}
RUNS = {"quick": {name: [] for name in DECKS}}
FINE = ["--set", "domain.dx=0.025", "--set", "bodies.a.mesh.size=0.025", "--set", "bodies.b.mesh.size=0.025"]
RUNS["full"] = RUNS["quick"] | {"stack": ["--set", "time.end=60"], "discs": FINE}


def coarse_in_time(times):
    """Of ball.yaml: steps of so many substeps of the block, which answers until contact has settled."""
    words = [f"bodies.block.stage={{scheme: explicit, substeps: {times}}}",
             "bodies.ball.stage={scheme: explicit, substeps: 1000}"]
    if times > 1:
        words += [f"bodies.{body}.contact={{tolerance: 0.01}}" for body in ("block", "ball")]
    return [word for each in words for word in ("--set", each)]


BALL = {"full": (1, 4, 10), "quick": ()}
for size, all_times in BALL.items():
    for times in all_times:
        DECKS[f"ball {times}"] = "ball.yaml"
        RUNS[size][f"ball {times}"] = coarse_in_time(times)
LONG = {"full": (0.001, 0.0002), "quick": ()}  # implicit steps [s]: 10 and 2 explicit ones
for size, all_dt in LONG.items():
    for dt in all_dt:
        DECKS[f"ball {dt}"] = "ball.yaml"
        RUNS[size][f"ball {dt}"] = implicit_stages(dt, "block", "ball")
DECKS["press implicit"] = "press.yaml"
UNDAMPED = ["--set", "bodies.low.damping=0", "--set", "bodies.high.damping=0"]
RUNS["quick"]["press implicit"] = RUNS["full"]["press implicit"] = [*implicit_stages(0.005, "low", "high"), *UNDAMPED]
DECKS["stack implicit"] = "stack.yaml"
RUNS["full"]["stack implicit"] = implicit_stages(0.01, "low", "high")
SOFT = {"soft": [0, 0], "soft, on nodes": [-0.017, -0.023]}
for name, shift in SOFT.items():
    DECKS[name] = "soft.yaml"
    words = [f"--set=bodies.{body}.mesh.translate=[{shift[0]}, {shift[1]}, 0]" for body in ("low", "high")]
    RUNS["quick"][name] = RUNS["full"][name] = words
DECKS["brake"] = "slope.yaml"
RUNS["full"]["brake"] = [*block(30, 0.8), "--set", "bodies.block.velocity=[0.8660254, -0.5, 0]", "--set", "time.end=1"]
for kind, make in MAKE.items():
    quick = [SLIDES] if kind == "solid" else [SLIDES, RESTS]  # explicit passes of rest take minutes
    for size, cases in ("quick", quick), ("full", [SLIDES, RESTS, *MORE]):
        for case in cases:
            name = f"{kind} {case[0]} {case[1]}"
            DECKS[name] = FILES[kind]
            RUNS[size][name] = make(*case)


def along(run, angle):
    """The way of the block down the slope [m]."""
    place = run.vector("block")
    return (place - place[0]) @ [math.cos(math.radians(angle)), -math.sin(math.radians(angle)), 0]


def discs(run, size):
    """Gap 0.44853 m, closed with 0.28284 m/s."""
    t, energy = run["time"], run["kinetic_energy"] + run["elastic_energy"]
    first = t[numpy.argmax(run["elastic_energy"] > 1e-4 * energy[0])]
    momentum = numpy.abs(run.vector("momentum")).max() / (run["mass"][0] / 2 * 0.1)
    cell = 0.025 if size == "full" else 0.05
    return [near("discs: first impulse [s]", first, 1.585786, 0.25 * cell / 0.282843, scale=1),
            at_least("discs: total energy at the end over that at the start", energy[-1] / energy[0],
                     0.95 if size == "full" else 0.8),
            at_most("discs: total energy over that at the start, at most", energy.max() / energy[0], 1 + 1e-6),
            at_most("discs: momentum of both over that of one", momentum, 1e-11)]


def balls(runs, size):
    """Depth, and time of passing the place of first contact, beside those of small steps."""
    numbers = {}
    for times in *BALL[size], *LONG[size]:
        run = runs[f"ball {times}"]
        t, y = run["time"], run["ball_y"]
        deepest = y.argmin()
        up = deepest + numpy.argmax(y[deepest:] > 0.455)
        numbers[times] = 0.45 - y[deepest], numpy.interp(0.455, y[up - 1:up + 1], t[up - 1:up + 1])
    found = []
    for times in *BALL[size][1:], *LONG[size]:
        steps = f"steps of {times} substeps" if times in BALL[size] else f"implicit steps of {times} s"
        for what, of_times, of_one in zip(("depth [m]", "time of rebound [s]"), numbers[times], numbers[1]):
            found.append(near(f"ball on a stiff block, {steps}: {what}", of_times, of_one, 0.1))
    return found


def stack(name, run):
    t, gap = run["time"], run["bottom"] - run["top"]
    energy = run["energy_less_work"]
    late = t > 2
    force = numpy.polyfit(t[late], run["impulse_floor_y"][late], 1)[0]
    return [at_least(f"{name}: least gap after 1 s [dx]", gap[t > 1].min() / 0.1, 0),
            at_most(f"{name}: largest gap after 1 s [dx]", gap[t > 1].max() / 0.1, 1.5),
            at_most(f"{name}: drift of the gap after 1 s [dx]", numpy.ptp(gap[t > 1]) / 0.1, 0.1),
            at_most(f"{name}: energy less work that is gained, over that at the start",
                    largest_rise(energy) / energy[0], 0.002),
            near(f"{name}: force on the floor [N]", -force, G * run["mass"][0], 0.01)]


def check(runs, size):
    found = []
    for name, run in runs.items():
        if name.split()[0] not in MAKE:
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
                                 numpy.ptp(way[late]), 0.001))
    for name in SOFT:
        run = runs[name]
        late = run["time"] > 1
        for place in "", "_corner":
            gap = (run[f"bottom{place}"] - run[f"top{place}"])[late] / 0.05
            found.append(at_least(f"{name} cubes: least gap{place.replace('_', ' at the ')} [dx]", gap.min(), 0))
            found.append(at_most(f"{name} cubes: drift of it [dx]", numpy.ptp(gap), 0.1))
    for name in "press", "press implicit":
        run = runs[name]
        late = run["time"] > 0.9
        for handle, sign in ("base", 1), ("ram", -1):
            force = sign * run[f"force_{handle}_z"][late].mean()
            found.append(near(f"{name}: force of the {handle} on both cubes [N]", force, 1e5 * 0.2**2 * 0.1, 0.05))
    if "brake" in runs:
        way = 1 / (2 * G * (0.8 * math.cos(math.pi / 6) - math.sin(math.pi / 6)))
        found.append(near("block at 1 m/s, 30 degrees, friction 0.8: way until it rests [m]",
                          along(runs["brake"], 30).max(), way, 0.03))
    for name, run in runs.items():
        if name.startswith("stack"):
            found += stack(name, run)
    run = runs["fork"]
    gap, late, energy = (run["upper"] - run["lower"]) / 0.1, run["time"] > 0.7, run["energy_less_work"]
    found.append(at_least("fork: least gap of its arms [dx]", gap.min(), 0))
    found.append(at_most("fork: that after 0.7 s [dx]", gap[late].min(), 0.5))
    gain = numpy.diff(energy[1:]).max() / numpy.ptp(energy)
    found.append(at_most("fork: gain of energy in a step over all of it", gain, 0.01))
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
    run = runs["tub"]
    late = run["time"] > 0.7
    found.append(near("tub of sand: mean force on the base [N]", run["force_base_y"][late].mean(), G * run["mass"][0],
                      0.01))
    return found + discs(runs["discs"], size) + balls(runs, size)
