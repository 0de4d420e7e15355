"""A round plate under pressure follows the equations of von Karman; see README.md."""
import numpy

from reading import near

DECKS = {"plate": "../../../decks/round_plate.yaml"}
RUNS = {"quick": {"plate": []}, "full": {"plate": []}}
THICKNESS, POISSON = 10e-3, 0.3
LOAD = 80e3 / (200e9 * THICKNESS**4)  # q a^4 / (E t^4) of the whole pressure


def rim(load, middle, points=80):
    """Slope and radial displacement at the rim, from the curvature and the tension in the middle, by Runge and Kutta.

    In units of radius a, deflection t and tension E t^3 / a^2, with slope s = w', radial tension n, hoop tension h:
        (s'' + s'/r - s/r^2) / (12 (1 - nu^2)) = n s + load r / 2,   n' = (h - n) / r,   h' = (n - h) / r - s^2 / (2 r)
    """
    def rates(r, y):
        s, k, n, h = y
        return numpy.array([k, s / r**2 - k / r + 12 * (1 - POISSON**2) * (n * s + load * r / 2), (h - n) / r,
                            (n - h) / r - s * s / (2 * r)])
    r, deflection = 1e-3, 0
    y, step = numpy.array([middle[0] * r, middle[0], middle[1], middle[1]]), (1 - r) / points
    for _ in range(points):
        k1 = rates(r, y)
        k2 = rates(r + step / 2, y + step / 2 * k1)
        k3 = rates(r + step / 2, y + step / 2 * k2)
        k4 = rates(r + step, y + step * k3)
        change = step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        deflection += step * y[0] + step / 2 * change[0]  # to the order of the trapezium
        r, y = r + step, y + change
    return numpy.array([y[0], y[3] - POISSON * y[2]]), deflection + middle[0] * 1e-6 / 2


def sunk(whole, steps):
    """Deflection of the middle over the thickness as the load grows to the whole, each by Newton's method from the last."""
    middle, found = numpy.array([0, 0.01]), []
    for load in whole * numpy.arange(1, steps + 1) / steps:
        for _ in range(50):
            missed, deflection = rim(load, middle)
            if numpy.abs(missed).max() < 1e-9:
                break
            J = numpy.stack([(rim(load, middle + e)[0] - missed) / 1e-6 for e in 1e-6 * numpy.eye(2)], axis=1)
            middle = middle - numpy.linalg.solve(J, missed)
        found.append(-deflection)
    return numpy.array(found)


def check(runs, size):
    run = runs["plate"]
    loads = run["time"][1:]
    expected = sunk(LOAD, 5 * len(loads))[4::5]
    return [near(f"deflection over thickness at {t:g} of the pressure", abs(w) / THICKNESS, e, 1e-3)
            for t, w, e in zip(loads, run["middle"][1:], expected)]
