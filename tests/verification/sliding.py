"""What rests below the angle of friction and slides above it; shared by the cases of inclines."""
import math

import numpy

from reading import at_most, for_the_record, near
from scenes import G, along, slope_gravity, turned, vector


def slides_by_coulomb(runs, frictions):
    """Of runs named "FRICTION x SHARE" at the angle atan(share friction), shares 0.9 and 1.1, with the probe centre_x."""
    found = []
    for friction in frictions:
        for share in 0.9, 1.1:
            history = runs[f"{friction} x {share}"]
            t = history["time"][-1]
            slid = history["centre_x"][-1] - history["centre_x"][0]
            angle = math.atan(share * friction)
            if share < 1:
                free = G * math.sin(angle) * t**2 / 2
                found.append(at_most(f"friction {friction}, 10% less steep: way over that without friction", slid / free,
                                     0.05))
            else:
                coulomb = G * (math.sin(angle) - friction * math.cos(angle)) * t**2 / 2
                found.append(near(f"friction {friction}, 10% steeper: way slid [m]", slid, coulomb, 0.5))
    return found


SLIDES, JUST_SLIDES, RESTS = 2, 1.02, 0.98  # tan(angle of the slope) over friction
FRICTION = 0.2, 0.4, 0.6


def slope(friction, share, offset, degrees):
    """Keys of a collider `slope` `offset` [m] off the origin, of tan(angle) = share friction, drawn at `degrees`."""
    normal = turned(0, 1, degrees)
    return {"domain.gravity": slope_gravity(math.atan(share * friction), degrees),
            "colliders.slope.friction": friction,
            "colliders.slope.shape.plane.point": vector(*(offset * n for n in normal), 0),
            "colliders.slope.shape.plane.normal": vector(*normal, 0)}


def late_acceleration(run, degrees):
    """Along the slope, over the second half of the run [m/s^2]."""
    t = run["time"]
    late = t > t[-1] / 2
    return numpy.polyfit(t[late], along(run, "momentum", degrees)[late] / run["mass"][late], 1)[0]


def slides_on_wall(what, run, friction, share, degrees, dx, shakes=False):
    """Of a run on `slope`: its acceleration above the angle of friction; below it rest in the last quarter, which is
    recorded alone of bodies that shake on."""
    driven = G * math.cos(math.atan(share * friction)) * friction * (share - 1)
    found = late_acceleration(run, degrees)
    if share == SLIDES:
        return near(f"{what}: slides with [m/s^2]", found, driven, 0.02)
    if share == JUST_SLIDES:
        return near(f"{what}, 2 % steeper: slides with [m/s^2]", found, driven, 0.5)
    centre, t = along(run, "centre", degrees), run["time"]
    crept = abs(centre[-1] - numpy.interp(0.75 * t[-1], t, centre)) / dx
    what = f"{what}, 2 % less steep: creeps at last [dx]"
    return at_most(what, crept, 0.01) if not shakes else for_the_record(what, crept)
