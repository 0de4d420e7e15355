"""Rigid bodies turn, swing, slide, rest, float and hit as closed forms say; see README.md."""
import math

import numpy

from reading import at_least, at_most, largest_rise, near

G = 9.81
SLIDES = {"slope": ("slope.yaml", "colliders.floor.friction"), "plate": ("plate.yaml", "layer_contact.0.friction")}
FRICTION = {("slope", "quick"): (0.3, 0.7), ("plate", "quick"): (0.3, 0.7), ("slope", "full"): (0, 0.2, 0.3, 0.4, 0.7),
            ("plate", "full"): (0, 0.2, 0.3, 0.4, 0.7)}
TURNED = math.radians(27)  # soft.yaml, about y

DECKS = {"top": "top.yaml", "pendulum 5": "pendulum.yaml", "pendulum 90": "pendulum.yaml", "stack": "stack.yaml",
         "afloat": "afloat.yaml", "afloat fine": "afloat_fine.yaml", "hit": "hit.yaml", "edge": "edge.yaml",
         "pile": "pile.yaml", "glance": "glance.yaml", "tumble": "tumble.yaml"}
BOUNCES = 0, 0.3, 0.6, 1  # restitution
REBOUNDS = 0.5, 1
TILTS = {10: [], 25: [], 3: ["--set", "time.max_dt=0.002"]}  # degrees; the other edge hits later than in this step
SPINS = {"0.1": [], "0.1 higher": ["--set", "bodies.ball.mesh.shape.sphere.center=[0.004, 0.171, 0.013]"],
         "0.5": ["--set", "colliders.plane.friction=0.5"]}  # friction
ROLLS = 0.5, 0  # friction
RUNS = {"quick": {"top": [], "pendulum 5": [], "stack": [], "hit": [], "edge": [], "pile": [], "glance": [],
                  "tumble": []}}
# Of stack.yaml: boxes of four cells whose edges lie between nodes.
DECKS["stack between nodes"] = "stack.yaml"
RUNS["quick"]["stack between nodes"] = ["--set", "domain.dx=0.125"] + [
    f"--set=bodies.{name}.mesh.translate=[0.0425, 0.0575, 0]" for name in "abcde"]
RUNS["quick"]["pendulum 90"] = ["--set", "bodies.bar.mesh.rotate.angle=-90"]
for size in "quick", "full":
    RUNS.setdefault(size, dict(RUNS["quick"]))
    for kind, (file, key) in SLIDES.items():
        for friction in FRICTION[kind, size]:
            name = f"{kind} {friction}"
            DECKS[name] = file
            RUNS[size][name] = ["--set", f"{key}={friction}"]
        DECKS[f"brake {kind}"] = file
        RUNS[size][f"brake {kind}"] = ["--set", f"{key}=0.8", "--set", "bodies.box.velocity=[1, 0, 0]", "--set",
                                       "time.end=1.2"]
    for e in BOUNCES:
        DECKS[f"bounce {e}"] = "bounce.yaml"
        RUNS[size][f"bounce {e}"] = ["--set", f"bodies.ball.contact.restitution={e}"]
    for e in REBOUNDS:
        DECKS[f"rebound {e}"] = "rebound.yaml"
        RUNS[size][f"rebound {e}"] = ["--set", f"bodies.light.contact.restitution={e}"]
        DECKS[f"cradle {e}"] = "cradle.yaml"
        RUNS[size][f"cradle {e}"] = [f"--set=bodies.{name}.contact.restitution={e}"
                                     for name in ("first", "middle", "last")]
for size in "quick", "full":
    for tilt, settings in TILTS.items():
        DECKS[f"tilted {tilt}"] = "tilted.yaml"
        RUNS[size][f"tilted {tilt}"] = [*settings, "--set", f"bodies.box.mesh.rotate.angle={37 + tilt}"]
    for name, settings in SPINS.items():
        DECKS[f"spin {name}"] = "spin.yaml"
        RUNS[size][f"spin {name}"] = settings
for friction in ROLLS:
    DECKS[f"roll {friction}"] = "roll.yaml"
    for size in "quick", "full":
        RUNS[size][f"roll {friction}"] = ["--set", f"layer_contact.0.friction={friction}"]
# Of plate.yaml: a box of one cell on a plate of half a cell; and a box of six cells on one, half a cell above nodes.
DECKS |= {"thin 0.3": "plate.yaml", "high 0.3": "plate.yaml"}
for size in "quick", "full":
    RUNS[size]["thin 0.3"] = ["--set", "bodies.box.mesh.block.upper=[1, 1, 0.11]", "--set",
                              "bodies.plate.mesh.block.lower=[-0.7, -0.8, -0.05]"]
    RUNS[size]["high 0.3"] = ["--set", "bodies.box.mesh.translate=[0, 0, 0.05]", "--set",
                              "bodies.plate.mesh.block={lower: [-0.7, -0.8, 0], upper: [4, 1.8, 0.05]}"]
for friction in 0, 0.3:
    DECKS[f"soft {friction}"] = "soft.yaml"
    for size in "quick", "full":
        RUNS[size][f"soft {friction}"] = ["--set", f"layer_contact.0.friction={friction}"]
RUNS["full"] |= {"afloat": [], "afloat fine": [], "stack": ["--set", "time.end=10"],
                 "stack between nodes": [*RUNS["quick"]["stack between nodes"], "--set", "time.end=10"]}


def agm(a, b):
    """The arithmetic-geometric mean, by which complete elliptic integrals go."""
    while abs(a - b) > 1e-15 * a:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return a


def pendulum(run, angle):
    inertia, arm = 2 * ((0.1**2 + 1) / 12 + 0.25), 0.5
    period = 2 * math.pi * math.sqrt(inertia / (2 * G * arm)) / agm(1, math.cos(math.radians(angle) / 2))
    t, x = run["time"], run["position_bar_x"] - 0.3
    up = numpy.nonzero((x[:-1] < 0) & (x[1:] >= 0))[0]
    crossings = t[up] - x[up] * (t[up + 1] - t[up]) / (x[up + 1] - x[up])
    found = (crossings[-1] - crossings[0]) / (len(crossings) - 1)
    energy = run["energy_less_work"][1:]
    return [near(f"pendulum from {angle} degrees: period [s]", found, period, 1e-3),
            at_most(f"pendulum from {angle} degrees: drift of energy over 2 m g arm",
                    numpy.ptp(energy) / (2 * 2 * G * arm), 1e-5)]


def top(run):
    L = run.vector("angular_momentum")
    energy = run["kinetic_energy"]
    drift = numpy.abs(L - L[0]).max() / numpy.linalg.norm(L[0])
    return [at_most("tumbling block: change of angular momentum over it", drift, 1e-12),
            at_most("tumbling block: change of energy over it", numpy.ptp(energy) / energy[0], 1e-4),
            at_least("tumbling block: spin about the middle axis turns over, over its size",
                     -run.vector("spin_top").min() / 3, 0.5)]


def slides(run, kind, friction):
    t, x = run["time"], run["position_box_x"]
    if kind == "soft":
        x = math.cos(TURNED) * x - math.sin(TURNED) * run["position_box_z"]
    late = t > 0.2
    kind = {"thin": "thin plate", "high": "thin plate between nodes", "soft": "turned soft plate"}.get(kind, kind)
    acceleration = G * (math.sin(math.pi / 6) - friction * math.cos(math.pi / 6))
    name = f"box on a {kind}, friction {friction}"
    if acceleration < 0:
        return [at_most(f"{name}: way in the last 0.6 s [m]", numpy.ptp(x[late]), 0.01)]
    return [near(f"{name}: acceleration [m/s^2]", 2 * numpy.polyfit(t[late], x[late], 2)[0], acceleration, 0.01)]


def brakes(run, kind):
    way = 1 / (2 * G * (0.8 * math.cos(math.pi / 6) - math.sin(math.pi / 6)))
    x = run["position_box_x"]
    return [near(f"box at 1 m/s on a {kind}, friction 0.8: way until it rests [m]", x[-1] - x[0], way, 0.02)]


def stack(run, kind, dx):
    found = []
    t = run["time"]
    late = t > 1
    for k, name in enumerate("abcde"):
        depth = numpy.abs(run[f"position_{name}_z"][late] - 0.25 - 0.505 * k).max() / dx
        found.append(at_most(f"{kind}: box {name} is away from where it touches [dx]", depth, 0.15 + 0.1 * k))
        tilt = numpy.linalg.norm(run.vector(f"rotation_{name}")[late], axis=1).max()
        found.append(at_most(f"{kind}: box {name} is turned by [rad]", tilt, 0.01))
    found.append(at_most(f"{kind}: falling box sinks in [dx]", (0.25 - run["position_falling_z"]).max() / dx, 0.5))
    force = numpy.polyfit(t[late], run["impulse_floor_z"][late], 1)[0]
    found.append(near(f"{kind}: force on the floor [N]", -force, G * run["mass"][0], 1e-3))
    return found


def hit(run):
    found = []
    size = run["momentum_z"][0]
    for kind in "momentum", "angular_momentum":
        change = numpy.abs(run.vector(kind) - run.vector(kind)[0]).max() / abs(size)
        found.append(at_most(f"hit: change of {kind} over the momentum", change, 1e-12))
    energy = run["kinetic_energy"]
    found.append(at_most("hit: energy gained over it", (energy.max() - energy[0]) / energy[0], 1e-12))
    # Inelastic: the ball then has the speed of the bar where they touch, until the bar turns away.
    after = (run["time"] > 0.05) & (run["time"] < 0.12)
    speed = run["velocity_ball_z"] - run["velocity_bar_z"] + 0.33 * run["spin_bar_y"]
    found.append(at_most("hit: speed at which ball and bar part or close, over that before",
                         numpy.abs(speed[after]).max(), 0.05))
    return found


def rebound(run, e):
    """Of masses 1 and 3 the light one leaves at (1 - 3 e) / 4, the heavy one at (1 + e) / 4."""
    energy = run["kinetic_energy"]
    return [near(f"box that hits another with restitution {e}: speed of the {name} one after it [m/s]",
                 run[f"velocity_{name}_x"][-1], speed, 1e-3, scale=1)
            for name, speed in (("light", (1 - 3 * e) / 4), ("heavy", (1 + e) / 4))] + [
        at_most(f"box that hits another with restitution {e}: gain of energy over it",
                (energy.max() - energy[0]) / energy[0], 1e-6)]


def cradle(run, e):
    """Hits one after the other: the middle box on the last one, then the first on the middle one."""
    first, middle, last = (1 - e) / 2, (1 + e) / 2 * (1 - e) / 2, ((1 + e) / 2)**2
    mean, apart = (first + middle) / 2, e * (first - middle) / 2
    return [near(f"box that hits two others, restitution {e}: speed of the {name} one [m/s]",
                 0.8 * run[f"velocity_{name}_x"][-1] + 0.6 * run[f"velocity_{name}_y"][-1], speed, 0.01, scale=1)
            for name, speed in (("first", mean - apart), ("middle", mean + apart), ("last", last))] + [
        at_most(f"box that hits two others, restitution {e}: gain of energy over it",
                run["energy_less_work"].max() / run["energy_less_work"][0] - 1, 1e-6)]


def glance(run):
    return [near("ball that hits a plate at 45 degrees without friction: speed along it [m/s]",
                 run["velocity_ball_x"][-1], 1, 0.02),
            near("ball that hits a plate at 45 degrees: rebound, restitution 0.5 [m/s]",
                 run["velocity_ball_z"][-1], 0.5, 0.02, scale=1),
            at_most("ball that hits a plate at 45 degrees without friction: speed of its surface by spin [m/s]",
                    0.15 * numpy.linalg.norm(run.vector("spin_ball")[-1]), 0.04)]


def tumble(run):
    return [at_most("box that tumbles on a rough plate: rise of energy over m g times its height",
                    largest_rise(run["energy_less_work"]) / (run["mass"][0] * G * 0.2), 1e-4)]


def roll(run, friction):
    """Without slip 5/7 of the acceleration of what slides without friction."""
    t, slope = run["time"], G * math.sin(math.radians(10))
    late = t > 0.1
    acceleration = 2 * numpy.polyfit(t[late], run["position_ball_x"][late], 2)[0]
    if friction == 0:
        return [near("ball on a plate without friction: acceleration [m/s^2]", acceleration, slope, 0.03)]
    turning = 0.2 * numpy.polyfit(t[late], run["spin_ball_y"][late], 1)[0]
    return [near("ball that rolls on a plate: acceleration [m/s^2]", acceleration, 5 / 7 * slope, 0.1),
            near("ball that rolls on a plate: that of its surface [m/s^2]", turning, 5 / 7 * slope, 0.1)]


def bounce(run, e):
    v, energy = run["velocity_ball_z"], run["energy_less_work"]
    hit = numpy.argmax(numpy.diff(v)) + 1
    before = v[hit - 1]
    if e > 0:
        speed = near(f"ball with restitution {e}: speed after the hit over that before", -v[hit] / before, e, 0.002,
                     scale=1)
    else:
        late = run["time"] > run["time"][hit] + 0.1
        speed = at_most("ball without restitution: speed 0.1 s after the hit [m/s]", numpy.abs(v[late]).max(), 0.05)
    return [speed,
            at_most(f"ball with restitution {e}: gain of energy over that at the start",
                    (energy.max() - energy[0]) / energy[0], 1e-4)]


def tilted(run, tilt):
    """An impulse (1 + e) / (1 / m + r^2 / I) at the edge, r beside the centre, of a box with 1 m/s and e = 0.3."""
    m, r = 8, 0.1 * math.sqrt(2) * math.sin(math.radians(45 - tilt))
    inertia = m * 0.2**2 / 6
    impulse = 1.3 / (1 / m + r**2 / inertia)
    hit = numpy.argmax(numpy.abs(numpy.diff(run["spin_box_z"])) > 1e-6) + 1
    lean = math.radians(37)
    speed = math.cos(lean) * run["velocity_box_y"][hit] - math.sin(lean) * run["velocity_box_x"][hit]
    along = math.cos(lean) * run["velocity_box_x"][hit] + math.sin(lean) * run["velocity_box_y"][hit]
    name = f"box tilted by {tilt} degrees that hits a plane"
    energy = run["kinetic_energy"]
    return [near(f"{name}: speed away from it [m/s]", speed, impulse / m - 1, 1e-3, scale=1),
            at_most(f"{name}: speed along it [m/s]", abs(along), 1e-6),
            near(f"{name}: spin [rad/s]", run["spin_box_z"][hit], -impulse * r / inertia, 1e-3),
            at_most(f"{name}: gain of energy over it", largest_rise(energy) / energy[0], 1e-12)]


def spin(run, name):
    """Friction gives 0.1 (1 + e) m 2 m/s, or what lets a ball of 1 m/s roll."""
    gained = min(float(name.split()[0]) * 1.3 * 2, 2 / 7)
    name = f"ball that hits a plane, friction {name}"
    energy = run["kinetic_energy"]
    return [near(f"{name}: speed along it [m/s]", run["velocity_ball_x"][-1], 1 - gained, 0.005, scale=1),
            near(f"{name}: speed away from it [m/s]", run["velocity_ball_y"][-1], 0.6, 0.005, scale=1),
            near(f"{name}: speed of its surface by spin [m/s]", -0.1 * run["spin_ball_z"][-1], 2.5 * gained, 0.03),
            at_most(f"{name}: gain of energy over it", largest_rise(energy) / energy[0], 1e-12)]


def pile(run):
    energy, late = run["energy_less_work"], run["time"] > 1
    force = numpy.polyfit(run["time"][late], run["impulse_floor_z"][late], 1)[0]
    return [at_most("pile of boxes that rebound: gain of energy over that at the start",
                    (energy.max() - energy[0]) / energy[0], 1e-3),
            at_most("pile of boxes that rebound: speed after 1 s [m/s]", numpy.abs(run["velocity_high_z"][late]).max(),
                    0.01),
            near("pile of boxes that rebound: force on the floor [N]", -force, G * run["mass"][0], 0.01)]


def check(runs, size):
    found = top(runs["top"]) + pendulum(runs["pendulum 5"], 5) + pendulum(runs["pendulum 90"], 90)
    for name, run in runs.items():
        if name.split()[0] in {*SLIDES, "thin", "high", "soft"}:
            kind, friction = name.split()
            found += slides(run, kind, float(friction))
        if name.startswith("brake"):
            found += brakes(run, name.split()[1])
        if name.startswith("rebound"):
            found += rebound(run, float(name.split()[1]))
        if name.startswith("cradle"):
            found += cradle(run, float(name.split()[1]))
        if name.startswith("roll"):
            found += roll(run, float(name.split()[1]))
        if name.startswith("tilted"):
            found += tilted(run, int(name.split()[1]))
        if name.startswith("spin"):
            found += spin(run, name.removeprefix("spin "))
        if name.startswith("bounce"):
            found += bounce(run, float(name.split()[1]))
    found += stack(runs["stack"], "stack", 0.1) + stack(runs["stack between nodes"], "stack between nodes", 0.125)
    found += hit(runs["hit"]) + pile(runs["pile"]) + glance(runs["glance"]) + tumble(runs["tumble"])
    edge = runs["edge"]
    found.append(near("edge: impulse along a rough plane over that across it",
                      abs(edge["impulse_floor_x"][-1] / edge["impulse_floor_y"][-1]), 0.6, 0.03))
    if "afloat" in runs:
        late = runs["afloat"]["time"] > 1.5
        # Water of 0.5 m, less what its weight presses it, and the box displaces half its volume.
        level = 0.5 * (1 - 1000 * G * 0.25 / 2e5) + 0.025
        force = runs["afloat"]["contact_force_box_z"][late].mean()
        draught = level - runs["afloat"]["position_box_z"][late].mean() + 0.1
        found.append(near("box afloat: draught over its height", draught / 0.2, 0.5, 0.1))
        found.append(near("box afloat: mean force [N]", force, 25 * G, 0.03))
        run = runs["afloat fine"]
        late = run["time"] > 1.25
        draught = (run["level"] - run["position_box_z"] + 0.1)[late].mean()
        found.append(near("box afloat, 16 cells: draught over its height", draught / 0.2, 0.5, 0.05))
        found.append(near("box afloat, 16 cells: mean force [N]", run["contact_force_box_z"][late].mean(), 4 * G, 0.03))
    return found
