"""F = A0 P(lambda) of unconfined compression, without sawtooth; see README.md."""
import numpy

from reading import at_most, near
from scenes import across, settings, turn, turned, vector

YOUNG, POISSON, EDGE, SPEED = 1e6, 0.3, 1.0, 0.075  # SPEED of each plate
MU, LAMBDA = YOUNG / 2 / (1 + POISSON), YOUNG * POISSON / (1 + POISSON) / (1 - 2 * POISSON)
CELLS = {"quick": 8, "full": 16}
IMPLICIT = {"time.scheme": "implicit", "time.max_dt": 0.04}
STATIC = {"time.scheme": "implicit", "time.max_dt": 0.1, "solve.inertia": "false"}
POISSON = {"bodies.block.sampling": "poisson"}
ROUGH = {"colliders.below.friction": 0.3, "colliders.above.friction": 0.3}
CASES = {  # place of the plates between nodes in dx, angle of drawing, more settings
    "explicit": (0, 0, {}), "explicit, place 0.3": (0.3, 0, {}), "explicit, 17 degrees": (0.15, 17, {}),
    "explicit, friction 0.3": (0.3, 0, ROUGH), "implicit": (0.3, 0, IMPLICIT),
    "implicit, friction 0.3": (0.3, 0, IMPLICIT | ROUGH),
    "implicit, poisson, 17 degrees": (0.15, 17, IMPLICIT | POISSON),
    "quasi-static": (0.3, 0, STATIC), "quasi-static, friction 0.3": (0.3, 0, STATIC | ROUGH),
    "quasi-static, poisson": (0.3, 0, STATIC | POISSON),
    "quasi-static, poisson, 17 degrees, friction 0.3": (0.15, 17, STATIC | POISSON | ROUGH)}
ONE_BY_ONE = True


def scene(size, place, degrees, more):
    dx = EDGE / CELLS[size]
    centre, up = turned(0, place * dx, degrees), turned(0, 1, degrees)
    values = {"domain.dx": dx, "bodies.block.shape.translate": vector(*centre, 0)}
    if degrees:
        values["bodies.block.shape.rotate"] = turn(degrees)
    for name, side in ("below", -1), ("above", 1):
        point = (c + side * EDGE / 2 * u for c, u in zip(centre, up))
        values |= {f"colliders.{name}.shape.plane.point": vector(*point, 0),
                   f"colliders.{name}.shape.plane.normal": vector(*(-side * u for u in up), 0),
                   f"colliders.{name}.motion.velocity": vector(*(-side * SPEED * u for u in up), 0)}
    return settings(values | more)


RUNS = {size: {name: scene(size, *case) for name, case in CASES.items()} for size in CELLS}
TOLERANCE = {"quick": 0.05, "full": 0.03}
SAWTOOTH = 0.03


def closed_form(stretch):
    """Force on the plates: the sides are free, mu (w^2 - 1) + lambda ln(stretch w^2) = 0 for their stretch w."""
    low, high = numpy.ones_like(stretch), numpy.full_like(stretch, 2.0)
    for _ in range(60):
        w = (low + high) / 2
        pulled = MU * (w**2 - 1) + LAMBDA * numpy.log(stretch * w**2) > 0
        low, high = numpy.where(pulled, low, w), numpy.where(pulled, w, high)
    return -EDGE**2 * (MU * (stretch**2 - 1) + LAMBDA * numpy.log(stretch * w**2)) / stretch


def shares(run, degrees):
    """Impulse over that of the closed form in equal parts of the compression, and the stretch in their middles."""
    t = run["time"]
    stretch = 1 - 2 * SPEED * t / EDGE
    impulse = (across(run, "impulse_above", degrees) - across(run, "impulse_below", degrees)) / 2
    force = closed_form(stretch)
    expected = numpy.append(0, numpy.cumsum(force[1:] * numpy.diff(t)))  # the force of a step is that at its end
    edges = numpy.linspace(0.95, stretch[-1], 26)
    parts = [numpy.diff(numpy.interp(-edges, -stretch, values)) for values in (impulse, expected)]
    return parts[0] / parts[1], (edges[1:] + edges[:-1]) / 2


def check(runs, size):
    found = []
    for name, run in runs.items():
        share, stretch = shares(run, CASES[name][1])
        pressed = 1 - stretch
        smooth = numpy.stack([numpy.ones_like(pressed), pressed, 1 / pressed], axis=1)  # 1 / pressed: travel lost
        fit = smooth @ numpy.linalg.lstsq(smooth, share, rcond=None)[0]
        if "friction" not in name:
            for about, part in (0.9, abs(stretch - 0.9) < 0.02), (0.7, stretch < 0.73):
                found.append(near(f"{name}: force over closed form at {about}", share[part].mean(), 1, TOLERANCE[size]))
            worst = share[abs(share - 1).argmax()]
            found.append(near(f"{name}: the same, worst", worst, 1, 1.5 * TOLERANCE[size]))
        found.append(at_most(f"{name}: sawtooth", abs(share - fit).max(), SAWTOOTH))
    return found
