"""a = 5/7 g sin, or g (sin - mu cos) and spin 5 mu g t cos / (2 R); see README.md."""
import math

import numpy

from reading import near
from scenes import G, along, settings, slope_gravity, turned, vector

RADIUS, CELLS = 0.5, {"quick": 8, "full": 16}
PLACE = 0.3  # of the plane between nodes, in dx
ROLLING, SLIDING = 0.5, 0.05  # friction
SLOPES = {  # angles of slope and of drawing
    "quick": [(5, 0), (10, 0), (15, 0), (10, 17)],
    "full": [(5, 0), (10, 0), (15, 0), (5, 17), (10, 17), (15, 17)]}
STEEP = {"quick": [(20, 0)], "full": [(20, 0), (20, 17)]}
END = {ROLLING: 1, SLIDING: 0.6}  # [s]


def scene(size, friction, angle, degrees):
    dx = RADIUS / CELLS[size]
    normal = turned(0, 1, degrees)
    floor = [PLACE * dx * n for n in normal]
    return settings({
        "domain.dx": dx, "domain.gravity": slope_gravity(math.radians(angle), degrees), "time.end": END[friction],
        "time.frame_interval": END[friction], "colliders.slope.friction": friction,
        "colliders.slope.shape.plane.point": vector(*floor, 0),
        "colliders.slope.shape.plane.normal": vector(*normal, 0),
        "bodies.ball.shape.sphere.center": vector(*(f + RADIUS * n for f, n in zip(floor, normal)), 0)})


CASES = {size: [(mu, *slope) for mu, slopes in ((ROLLING, SLOPES[size]), (SLIDING, STEEP[size])) for slope in slopes]
         for size in CELLS}
RUNS = {size: {f"{mu} {angle} {degrees}": scene(size, mu, angle, degrees) for mu, angle, degrees in cases}
        for size, cases in CASES.items()}
ROLLS = {"quick": 0.05, "full": 0.03}
SPINS = {"quick": 0.1, "full": 0.05}


def way(run, degrees):
    """Of the centre along the slope [m]."""
    x = along(run, "centre", degrees)
    return x[-1] - x[0]


def spin(run):
    """Angular momentum about the centre over the moment of inertia of a ball [rad/s]."""
    centre, momentum = run.vector("centre")[-1], run.vector("momentum")[-1]
    about_centre = run.vector("angular_momentum")[-1] - numpy.cross(centre, momentum)
    return -about_centre[2] / (0.4 * run["mass"][-1] * RADIUS**2)


def check(runs, size):
    found = []
    for mu, angle, degrees in CASES[size]:
        run = runs[f"{mu} {angle} {degrees}"]
        t, sine, cosine = run["time"][-1], math.sin(math.radians(angle)), math.cos(math.radians(angle))
        what = f"{angle} degrees, drawn at {degrees}"
        acceleration = 2 * way(run, degrees) / t**2
        if mu == ROLLING:
            found.append(near(f"{what}: rolls with [m/s^2]", acceleration, 5 / 7 * G * sine, ROLLS[size]))
        else:
            found += [near(f"{what}: slides with [m/s^2]", acceleration, G * (sine - mu * cosine), 0.02),
                      near(f"{what}: spin when sliding [rad/s]", spin(run), 2.5 * mu * G * t * cosine / RADIUS,
                           SPINS[size])]
    return found
