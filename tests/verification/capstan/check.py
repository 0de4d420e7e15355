"""T2 / T1 = exp(mu theta); see README.md."""
import math

import numpy

from reading import at_most, largest_rise, near
from scenes import settings

FRICTION, ANGLE, FORCE = 0.3, math.pi, {"cord": 0.0625, "strip": 2.5, "strand": 0.0625}
TOLERANCE = {"cord": 0.03, "strip": 0.03, "strand": 3e-3}
WINDOW = {"cord": (0.2, 0.8), "strip": (0.2, 0.8), "strand": (0.5, 0.9)}  # of the time; all of a strand slips there
SLOW = {"time.end": 1.2, "handles.hand.hold.motion.keyframes": "[{time: 0}, {time: 1.2, translate: [0, -0.016, 0]}]"}
MOVED = {f"{key}.translate": "[0.006, 0.009, 0]" for key in
         ("bodies.cord.curves", "colliders.drum.shape", "handles.hand.where", "handles.weight.where")}
ROUGH = {"materials.hair.shear_modulus": 4e4, "materials.hair.friction_along": 0.6,
         "materials.hair.friction_across": 0.6}
ROUGH_STRIP = {"materials.silk.contact.friction": 0.6, "materials.silk.contact.shear_stiffness": 5e4}
CASES = {"cord": {}, "cord, slow": SLOW, "cord, moved by 0.3 and 0.45 dx": MOVED, "cord, rough itself": ROUGH,
         "cord, segments as long as dx": {"domain.dx": 0.01},
         "strip": {}, "strip, slow": SLOW, "strip, rough itself": ROUGH_STRIP,
         "strand": {}, "strand, friction 0.6": {"colliders.drum.friction": 0.6}}
RUNS = {size: {name: settings(values) for name, values in CASES.items()} for size in ("quick", "full")}
DECKS = {name: name.split(",")[0] + ".yaml" for name in CASES if "cord" not in name}
ONE_BY_ONE = True


def check(runs, size):
    found = []
    for name, run in runs.items():
        t, steps = run["time"], numpy.diff(run["time"], prepend=0)
        body = name.split(",")[0]
        begin, end = WINDOW[body]
        middle = (t > begin * t[-1]) & (t < end * t[-1])  # forces are means of the time since the row before
        pull = -(run["force_hand_y"] * steps)[middle].sum() / steps[middle].sum()
        friction = 0.6 if name.endswith("friction 0.6") else FRICTION
        found.append(near(f"{name}: pull over the force at the other end", pull / FORCE[body],
                          math.exp(friction * ANGLE), TOLERANCE[body]))
        rise = largest_rise(run["energy_less_work"]) / run["work_hand"][-1]
        found.append(at_most(f"{name}: rise of energy less work, over the work of the hand", rise, 1e-3))
    return found
