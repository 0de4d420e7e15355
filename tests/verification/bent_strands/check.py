"""Circles, heavy cantilevers and free beams, drawn in several directions and numbered from either end; see README.md."""
import dataclasses
import math

import numpy

from reading import near, order, peak
from scenes import settings, vector

B, LENGTH = 100, 10  # [N m^2], [m]
JOINED = 12  # segments of the circle
HEAVY = {1: (0.05, (25, 50)), 10: (0.5, (50, 100)), 100: (1, (100, 200))}  # q L^3 / EI: time, segments of the order
# (beta L)^2 of a beam that nothing holds.
FREE = (22.373285, 61.672823, 120.903392)


@dataclasses.dataclass
class Drawn:
    """How a strand along x lies in space: turned, and numbered from its far end."""
    axis: tuple = (0, 0, 1)
    angle: float = 0  # [rad]
    backwards: bool = False

    def at(self, v):
        """A vector of the strand along x, as it is drawn. [Rodrigues]"""
        k, v = numpy.array(self.axis) / numpy.linalg.norm(self.axis), numpy.array(v, dtype=float)
        return v * math.cos(self.angle) + numpy.cross(k, v) * math.sin(self.angle) + k * (k @ v) * (
            1 - math.cos(self.angle))

    def keys(self):
        """Where its curve lies."""
        if self.backwards:  # about z by half a turn
            return {"bodies.beam.curves.rotate": "{axis: [0, 0, 1], angle: 180}",
                    "bodies.beam.curves.translate": vector(LENGTH, 0, 0)}
        return {"bodies.beam.curves.rotate": f"{{axis: {vector(*self.axis)}, angle: {math.degrees(self.angle)!r}}}"}

    def ends(self, segments):
        """Numbers of the vertices at the origin and far from it."""
        return (segments, 0) if self.backwards else (0, segments)


DRAWN = {"along x": Drawn(), "turned": Drawn((1, 2, -1.5), 2.2), "backwards": Drawn(backwards=True)}


def moment(stiffness, phi):
    """Of a joint that turns by phi, of the energy stiffness (2 tan(phi / 2))^2 / 2 [N m]."""
    return stiffness * 2 * math.tan(phi / 2) / math.cos(phi / 2)**2


def bisected(f, low, high):
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return middle


def half_joint(phi):
    """The turn at a clamp that gives the moment of a joint that turns by phi."""
    return bisected(lambda psi: 2 * moment(1, psi) - moment(1, phi), 0, phi)


def turn_of_all(phi):
    return (JOINED - 1) * phi + 2 * half_joint(phi)


TURNS = [bisected(lambda phi: turn_of_all(phi) - 2 * math.pi * k / 24, 0, 1) for k in range(1, 25)]  # of joints [rad]


def circle(drawn):
    l = LENGTH / JOINED
    keyframes = ["{time: 0}"]
    for k, phi in enumerate(TURNS, start=1):
        angles = half_joint(phi) + phi * numpy.arange(JOINED)
        to = (l * numpy.cos(angles).sum() - LENGTH, 0, l * numpy.sin(angles).sum())
        axis = vector(*drawn.at((0, -1, 0)))
        keyframes.append(f"{{time: {k / 24!r}, translate: {vector(*drawn.at(to))}, "
                         f"rotate: {{axis: {axis}, angle: {math.degrees(turn_of_all(phi))!r}}}}}")
    wall, hand = drawn.ends(JOINED)
    return settings(drawn.keys() | {
        "handles.wall.vertices": [wall], "handles.hand.vertices": [hand],
        "handles.hand.hold.motion": f"{{center: {vector(*drawn.at((LENGTH, 0, 0)))}, "
                                    f"keyframes: [{', '.join(keyframes)}]}}"})


def tips(drawn):
    """Keys of the probes at the far end."""
    return {f"probes.tip_{axis}.nearest.point": vector(*drawn.at((LENGTH, 0, 0))) for axis in "xyz"}


def heavy(drawn, segments):
    gravity = drawn.at((0, 0, -1000 / math.pi))  # of 10 N / m at rho = 1, r = 0.1
    return settings(drawn.keys() | {
        "bodies.beam.curves.spacing": LENGTH / segments, "handles.wall.vertices": [drawn.ends(segments)[0]],
        "handles.weight.gravity.acceleration": vector(*gravity),
        **tips(drawn)})


def free(drawn):
    hit, end = drawn.ends(100)
    return settings(drawn.keys() | {
        "handles.hammer.vertices": [hit], "handles.hammer.force.total": vector(*drawn.at((0, 0, 1e-3))),
        **tips(drawn)})


RUNS = {f"circle, {name}": circle(drawn) for name, drawn in DRAWN.items()}
RUNS |= {f"heavy, {segments}, {name}": heavy(drawn, segments) for segments in (25, 50, 100, 200)
         for name, drawn in DRAWN.items() if segments == 50 or name == "along x"}
RUNS |= {f"free, {name}": free(drawn) for name, drawn in DRAWN.items()}
DECKS = {name: "circle.yaml" if name.startswith("circle") else "free.yaml" if name.startswith("free") else "heavy.yaml"
         for name in RUNS}
RUNS = {"quick": RUNS, "full": RUNS}


def end_of_heavy(G):
    """Where the end of theta'' = -G (1 - s) cos(theta) is, theta(0) = theta'(1) = 0, over the length: along and down."""
    def shot(end, n=4000):
        """theta(0), and the end, of theta(1) = end, by Runge's and Kutta's fourth order from the end to the clamp."""
        def rates(r, y):  # r = 1 - s
            return numpy.array([y[1], -G * r * math.cos(y[0]), math.cos(y[0]), math.sin(y[0])])
        y, h = numpy.array([end, 0.0, 0.0, 0.0]), 1 / n
        for k in range(n):
            r = k * h
            k1 = rates(r, y)
            k2 = rates(r + h / 2, y + h / 2 * k1)
            k3 = rates(r + h / 2, y + h / 2 * k2)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rates(r + h, y + h * k3))
        return y
    low, high = 0.0, math.pi / 2
    for _ in range(50):
        middle = (low + high) / 2
        y = shot(middle)
        low, high = (middle, high) if y[0] < 0 else (low, middle)
    return y[2], y[3]


def tip(run, time, drawn):
    """Along and down [m]."""
    row = int(numpy.argmin(abs(run["time"] - time)))
    x = run.vector("tip")[row]
    return float(x @ drawn.at((1, 0, 0))), float(x @ drawn.at((0, 0, -1)))


def check_circles(runs):
    for name, drawn in DRAWN.items():
        run = runs[f"circle, {name}"]
        torque = run.vector("torque_hand") @ drawn.at((0, -1, 0))
        for k in 6, 12, 24:
            row = int(numpy.argmin(abs(run["time"] - k / 24)))
            yield near(f"{k / 24:g} of a circle, {name}: moment [N m]", float(torque[row]),
                       moment(B * JOINED / LENGTH, TURNS[k - 1]), 1e-6)
        force = numpy.linalg.norm(run.vector("force_hand")[-1])
        yield near(f"circle, {name}: force over B / L^2", force / (B / LENGTH**2), 0, 1e-6, scale=1)


def check_heavy(runs):
    for G, (time, refined) in HEAVY.items():
        along, down = (LENGTH * u for u in end_of_heavy(G))
        for name, drawn in DRAWN.items():
            found = tip(runs[f"heavy, 50, {name}"], time, drawn)
            yield near(f"own weight, G = {G}, {name}: end, along [m]", found[0], along, 1e-3, scale=LENGTH)
            yield near(f"own weight, G = {G}, {name}: end, down [m]", found[1], down, 1e-3, scale=LENGTH)
        errors = [math.dist(tip(runs[f"heavy, {segments}, along x"], time, DRAWN["along x"]), (along, down))
                  for segments in refined]
        yield near(f"own weight, G = {G}: order", order(errors)[0], 2, 0.05)


def check(runs, size):
    found = [*check_circles(runs), *check_heavy(runs)]
    for name, drawn in DRAWN.items():
        run = runs[f"free, {name}"]
        after = run["time"] > 0.05
        up = run.vector("tip")[after] @ drawn.at((0, 0, 1))
        for k, root in enumerate(FREE, start=1):
            omega = 10 * root / LENGTH**2
            found.append(near(f"free beam, {name}, mode {k}: frequency [rad/s]", peak(run["time"][after], up, omega),
                              omega, 0.005))
    return found
