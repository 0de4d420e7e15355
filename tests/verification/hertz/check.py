"""F = 4/3 E / (1 - nu^2) sqrt(R) d^(3/2), corrected for the size of the ball; see README.md."""
import importlib.util
import math
import pathlib

import numpy

from reading import near
from scenes import settings

spec = importlib.util.spec_from_file_location("sphere", pathlib.Path(__file__).parent / "sphere.py")
sphere = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sphere)

YOUNG, POISSON, SPEED = 1e6, 0.3, 0.0345
PLANE_STRAIN = YOUNG / (1 - POISSON**2)
RUNS = {"quick": {}, "full": {"pressed": settings({})}}


def size_factor(contact_radius):
    """Depth over Hertz's a^2 / R in a ball of radius 1."""
    depth, _ = sphere.approach(contact_radius, POISSON, 800)
    return depth / (math.pi * contact_radius / 2 * (1 - POISSON**2) / (1 + POISSON))  # shear modulus 1/2


def closed_form(depth):
    a = math.sqrt(depth)
    for _ in range(10):
        a = math.sqrt(depth / size_factor(a))
    return 4 / 3 * PLANE_STRAIN * a**3, a


def check(runs, size):
    found = []
    for run in runs.values():
        t, impulse = run["time"], run["impulse_plate_y"]
        for depth in 0.012, 0.024, 0.036:
            window = abs(SPEED * t - depth) < 0.002
            force = 4 * numpy.polyfit(t[window], impulse[window], 1)[0]
            expected, a = closed_form(depth)
            found.append(near(f"force at depth {depth}, contact radius {a / 0.025:.1f} dx [N]", force, expected, 0.05))
    return found
