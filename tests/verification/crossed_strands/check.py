"""a = g (sin(theta) - mu cos(theta)) or rest of a strand across two held ones; see README.md."""
import math

import numpy

from reading import at_most, near

G = 9.81
SLIDES, JUST_SLIDES, RESTS = 2, 1.02, 0.98  # tan(theta) over friction
# friction, that share, whether the strand slides along the held ones or along itself, turn of the scene: axis, degrees
QUICK = [(0.4, SLIDES, "across", ((0, 0, 1), 0)), (0.4, JUST_SLIDES, "across", ((1, 2, 3), 40)),
         (0.4, RESTS, "across", ((3, -1, 2), 110)), (0.4, RESTS, "along", ((0, 0, 1), 0)),
         (0.4, SLIDES, "along", ((3, -1, 2), 110))]
FULL = [(friction, share, way, turn) for friction in (0.2, 0.4, 0.6) for share in (SLIDES, JUST_SLIDES, RESTS)
        for way in ("across", "along") for turn in (((0, 0, 1), 0), ((1, 2, 3), 40))]
CASES = {size: {f"{mu}, {way}, turned by {turn[1]}" + (f", {share}" if share != SLIDES else ""): (mu, share, way, turn)
                for mu, share, way, turn in cases} for size, cases in (("quick", QUICK), ("full", FULL))}


def rotation(axis, degrees):
    n = numpy.array(axis) / numpy.linalg.norm(axis)
    K = numpy.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    angle = math.radians(degrees)
    return numpy.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def axis_and_angle(R):
    angle = math.acos(max(-1, min(1, (numpy.trace(R) - 1) / 2)))
    axis = numpy.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    axis = axis if numpy.linalg.norm(axis) > 0 else numpy.array([0, 0, 1])
    return f"{{axis: [{axis[0]}, {axis[1]}, {axis[2]}], angle: {math.degrees(angle)}}}"


def vector(x):
    return f"[{x[0]}, {x[1]}, {x[2]}]"


def way_of(case):
    """The direction of the slope."""
    _, _, way, turn = case
    return rotation(*turn) @ ([1, 0, 0] if way == "across" else [0, 1, 0])


def arguments(case):
    friction, share, _, turn = case
    R, theta = rotation(*turn), math.atan(share * friction)
    keys = {"time.end": 0.24 if share == SLIDES else 0.4,  # along itself it then leaves one of the held ones
            "domain.gravity": vector(G * (math.sin(theta) * way_of(case) - math.cos(theta) * R @ [0, 0, 1]))}
    for name, place in ("left", [0, -0.15, 0]), ("right", [0, 0.15, 0]):
        keys[f"bodies.{name}.curves.rotate"] = axis_and_angle(R)
        keys[f"bodies.{name}.curves.translate"] = vector(R @ place)
    keys["bodies.bar.curves.rotate"] = axis_and_angle(R @ rotation((0, 0, 1), 90))
    keys["bodies.bar.curves.translate"] = vector(R @ [0.113, -0.25, 0.01])
    for name in "left", "right", "bar":
        keys[f"bodies.{name}.impulses.friction"] = friction
    return [part for key, value in keys.items() for part in ("--set", f"{key}={value}")]


RUNS = {size: {name: arguments(case) for name, case in cases.items()} for size, cases in CASES.items()}


def check(runs, size):
    found = []
    for name, run in runs.items():
        case = friction, share, _, _ = CASES[size][name]
        theta = math.atan(share * friction)
        t, x = run["time"], run.vector("centre") @ way_of(case)
        late = t > t[-1] / 2
        if share > 1:
            found.append(near(f"{name}: slides with [m/s^2]", 2 * numpy.polyfit(t[late], x[late], 2)[0],
                              G * (math.sin(theta) - friction * math.cos(theta)), 0.05 if share == SLIDES else 0.5))
        else:
            last = t > 0.75 * t[-1]
            free = G * math.sin(theta) * run["dt"].max()  # what a step gives to what nothing holds
            found.append(at_most(f"{name}: creeps with [m/s]", abs(numpy.polyfit(t[last], x[last], 1)[0]), free / 100))
    return found
