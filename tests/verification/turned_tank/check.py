"""Walls carry rho g times the depth, water stays at rest and inside; see README.md."""
import math

import numpy

from reading import at_least, at_most, for_the_record, near
from scenes import G, settings, turned

DENSITY, LEVEL, WIDTH, BREADTH, RADIUS, ANGLE = 1000, 0.5, 0.5, 0.2, 0.3, 20
CORNER = numpy.array([0.01, 0.02, 0.015])  # of the tank; of the vessel its centre
DECKS = {"planes": "deck.yaml", "box": "box.yaml", "vessel": "vessel.yaml"}
SIZES = {"quick": {"domain.dx": 0.05}, "full": {"domain.dx": 0.025, "time.end": 8}}
RUNS = {size: {name: settings(values) for name in DECKS} for size, values in SIZES.items()}
ONE_BY_ONE = True
SINE, COSINE = math.sin(math.radians(ANGLE)), math.cos(math.radians(ANGLE))


def loads():
    """Of the walls of the tank, in the direction out of the water [N]."""
    right = LEVEL - WIDTH * SINE  # depth of the right corner
    x = (numpy.arange(1000) + 0.5) * WIDTH / 1000  # along the floor
    per_area = DENSITY * G
    face = per_area * ((LEVEL - x * SINE) ** 2 / (2 * COSINE)).mean() * WIDTH
    return {"floor": per_area * BREADTH * WIDTH * (LEVEL + right) / 2,
            "left": per_area * BREADTH * LEVEL**2 / (2 * COSINE),
            "right": per_area * BREADTH * right**2 / (2 * COSINE), "behind": face, "before": face}


def outward():
    along, up = (numpy.array([*turned(*v, ANGLE), 0]) for v in ((1, 0), (0, 1)))
    return {"floor": -up, "left": -along, "right": along, "behind": numpy.array([0, 0, -1]),
            "before": numpy.array([0, 0, 1])}


def force(run, wall):
    """On a wall, the mean of the last second [N]."""
    t = run["time"]
    return numpy.array([(i[-1] - numpy.interp(t[-1] - 1, t, i)) for i in run.vector(f"impulse_{wall}").T])


def nearest(name, x):
    """The least distance of particles to a wall, negative outside [m]."""
    if name == "vessel":
        return RADIUS - numpy.linalg.norm(x, axis=1).max()
    reach = {"floor": 0, "left": 0, "right": WIDTH, "behind": 0, "before": BREADTH}
    return min((reach[wall] - x @ normal).min() for wall, normal in outward().items())


def check(runs, size):
    found, dx = [], SIZES[size]["domain.dx"]
    for name, run in runs.items():
        frame = run.frame("water", len(run.times("water")) - 1)
        x = frame["position"] - CORNER
        weight, depth = run["mass"][0] * G, 2 * RADIUS if name == "vessel" else LEVEL
        walls = list(loads()) if name == "planes" else ["tank" if name == "box" else "vessel"]
        total = sum(force(run, wall) for wall in walls)
        rms = math.sqrt(2 * run["kinetic_energy"][-1] / run["mass"][-1])
        if name == "planes":
            found += [near(f"{name}: load of {wall} [N]", force(run, wall) @ outward()[wall], load, 0.02)
                      for wall, load in loads().items()]
        inside = frame["position"][:, 1] - CORNER[1] < (0.2 if name == "vessel" else 0.4)
        slope = numpy.polyfit(x[inside, 1], frame["pressure"][inside], 1)[0]
        found += [
            near(f"{name}: weight on the walls [N]", -total[1], weight, 0.02),
            near(f"{name}: force aside [N]", math.hypot(total[0], total[2]), 0, 0.02, scale=weight),
            near(f"{name}: slope of pressure over height [Pa/m]", slope, -DENSITY * G, 0.02) if name == "vessel"
            else for_the_record(f"{name}: slope of pressure over height [Pa/m]", slope),
            at_most(f"{name}: rms velocity over sqrt(g h)", rms / math.sqrt(G * depth), 0.01),
            at_least(f"{name}: nearest particle to a wall, at the end [dx]", nearest(name, x) / dx, 0)]
    return found
