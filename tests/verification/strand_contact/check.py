"""a = g (sin(theta) - mu cos(theta)) or rest, on colliders and on other strands; see README.md."""
import math

import numpy

from reading import at_least, at_most, for_the_record
from scenes import G, across, along, settings, slope_gravity, turn, turned, vector
from sliding import FRICTION, JUST_SLIDES, RESTS, SLIDES, slides_on_wall, slope

DX, RADIUS = 0.05, 0.005
BUNDLE_DX = 0.01
LYING = [(0, 0, True), (0.3, 17, True), (0.3, 17, False)]  # offset from a node in dx, angle of drawing, along the slope
ON_WALL = {f"{mu}, {place:g} dx, {degrees} degrees, {'along' if is_along else 'across'}, {share}, {stage}":
           (mu, share, place, degrees, is_along, stage)
           for mu in FRICTION for share in (SLIDES, JUST_SLIDES, RESTS) for place, degrees, is_along in LYING
           for stage in ("explicit", "implicit")}
ON_BUNDLE = {f"bundle {mu}, {share}, {blend}, {place:g} dx, {degrees} degrees": (mu, share, blend, place, degrees)
             for mu in FRICTION for share, blend, place, degrees in (
                 (0.9, "pic_rate: 10", 0, 0), (1.1, "pic_rate: 10", 0, 0), (1.1, "pic_share: 0.05", 0, 0),
                 (SLIDES, "pic_rate: 10", 0, 0))}
DECKS = {name: "slope.yaml" for name in ON_WALL} | {name: "bundle.yaml" for name in ON_BUNDLE}


def on_wall(friction, share, place, degrees, is_along, stage):
    lying = turn(degrees) if is_along else "{axis: [0, 1, 0], angle: 90}"
    return settings(slope(friction, share, place * DX, degrees) | {
        "bodies.body.stage.scheme": stage,
        "bodies.body.curves.rotate": lying,
        "bodies.body.curves.translate": vector(*turned(0, place * DX + RADIUS, degrees), 0)})


def on_bundle(friction, share, blend, place, degrees):
    offset, angle = place * BUNDLE_DX, math.atan(share * friction)
    keys = {"domain.gravity": slope_gravity(angle, degrees),
            "handles.nails.where.rotate": turn(degrees),
            "handles.nails.where.translate": vector(*turned(0, offset, degrees), 0),
            "colliders.slope.shape.plane.point": vector(*turned(0, offset - 0.028, degrees), 0),
            "colliders.slope.shape.plane.normal": vector(*turned(0, 1, degrees), 0)}
    for body in "bed", "top":
        keys |= {f"bodies.{body}.contact.friction": friction, f"bodies.{body}.blend": f"{{{blend}}}",
                 f"bodies.{body}.curves.rotate": turn(degrees),
                 f"bodies.{body}.curves.translate": vector(*turned(0, offset, degrees), 0)}
    return settings(keys)


RUNS = {"full": {name: on_wall(*case) for name, case in ON_WALL.items()}
        | {name: on_bundle(*case) for name, case in ON_BUNDLE.items()}}
RUNS["quick"] = {name: arguments for name, arguments in RUNS["full"].items()
                 if name.endswith("17 degrees, along, 2, explicit") or "across" in name
                 or name.startswith("bundle 0.4")}
ONE_BY_ONE = True


def slides_on_bundle(what, run, friction, share, blend, degrees):
    """Friction is what gravity less the acceleration of the second half of the run tells. It is to be met within 10 %
    next to its angle, where below it also no more than gravity asks for is right."""
    angle, t, centre = math.atan(share * friction), run["time"], along(run, "centre", degrees)
    late = t > t[-1] / 2
    acceleration = 2 * numpy.polyfit(t[late], centre[late], 2)[0]
    found = (G * math.sin(angle) - acceleration) / (G * math.cos(angle))
    height = across(run, "centre", degrees)
    yield at_most(f"{what}: sinks [dx]", (height[0] - height[-1]) / BUNDLE_DX, 0.2)
    what = f"{what}: friction over that of the deck"
    if share == SLIDES or blend != "pic_rate: 10":
        yield for_the_record(what, found / friction)
    else:
        yield at_least(f"{what}, or more", found / friction, 0.9 - 0.005 * (share < 1))
        yield at_most(f"{what}, or less", found / friction, 1.1)


def check(runs, size):
    found = []
    for name, run in runs.items():
        if name in ON_WALL:
            mu, share, place, degrees, _, _ = ON_WALL[name]
            found.append(slides_on_wall(name, run, mu, share, degrees, DX))
        else:
            mu, share, blend, _, degrees = ON_BUNDLE[name]
            found += slides_on_bundle(name, run, mu, share, blend, degrees)
    return found
