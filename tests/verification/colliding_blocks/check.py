"""Force of the shock, exchanged velocities, no momentum, mirror symmetry of two bars that collide; see README.md."""
import math

import numpy

from reading import at_least, near

LENGTH, SECTION, DENSITY, MODULUS, SPEED = 0.4, 0.025**2, 1000, 1e5, 0.2
MASS = DENSITY * LENGTH * SECTION
CELLS = {"quick": [32], "full": [32, 64]}
RUNS = {size: {str(n): ["--set", f"domain.dx={LENGTH / n}"] for n in cells} for size, cells in CELLS.items()}
LEAST_REBOUND = {32: 0.95, 64: 0.97}


def shock_stress():
    """P with rho v^2 = P(l) (1 - l) and P(l) = E |ln l| / l, l the stretch behind the front."""
    low, high = 0.5, 1 - 1e-9
    for _ in range(60):
        l = (low + high) / 2
        low, high = (l, high) if MODULUS * -math.log(l) / l * (1 - l) > DENSITY * SPEED**2 else (low, l)
    return MODULUS * -math.log(l) / l


def check(runs, size):
    found = []
    for n in CELLS[size]:
        run = runs[str(n)]
        t, x = run["time"], run["left_x"]
        v = numpy.diff(x) / numpy.diff(t)
        middle = (t[1:] + t[:-1]) / 2
        force = -MASS * numpy.diff(v) / numpy.diff(middle)
        plateau = force[abs(v[1:]) < SPEED / 2]
        mirror = abs(run.vector("left") + run.vector("right") * [1, -1, -1]).max(axis=0)
        found += [
            near(f"{n} cells: force [N]", numpy.median(plateau), SECTION * shock_stress(), 5e-3),
            at_least(f"{n} cells: speed of rebound over speed of approach", -v[-10:].mean() / SPEED, LEAST_REBOUND[n]),
            near(f"{n} cells: momentum [kg m/s]", abs(run.vector("momentum")).max(), 0, 1e-12, scale=MASS * SPEED),
            near(f"{n} cells: sum of the centres' x [m]", mirror[0], 0, 1e-12, scale=1),
            near(f"{n} cells: difference of the centres' y, z [m]", mirror[1:].max(), 0, 1e-12, scale=1),
        ]
    return found
