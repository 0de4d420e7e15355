"""Grains that fly alone stay on the floor; see README.md."""
import math

import numpy
from reading import at_least, for_the_record
from scenes import settings

DX = 0.02
TURN = math.radians(17)
LIQUID = "{law: tait, density: 1000, bulk_modulus: 1e5}"
RUBBER = "{law: fixed_corotated, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}"
FLOORS = {"level": ((0, 0, 0), (0, 0, 1)), "between nodes": ((0, 0, 0.37 * DX), (0, 0, 1)),
          "turned": ((0, 0, 0.1 * DX), (math.sin(TURN), 0, math.cos(TURN)))}
CASES = {name: (floor, {}) for name, floor in FLOORS.items()} | {
    "without friction": (FLOORS["level"], {"colliders.floor.friction": 0}),
    "liquid": (FLOORS["level"], {"materials.grains": LIQUID}),
    "rubber": (FLOORS["level"], {"materials.grains": RUBBER})}
QUICK = "level", "turned", "liquid"


def of_case(name):
    (point, normal), more = CASES[name]
    return settings({"colliders.floor.shape.plane.point": list(point),
                     "colliders.floor.shape.plane.normal": list(normal)} | more)


RUNS = {"quick": {name: of_case(name) for name in QUICK}, "full": {name: of_case(name) for name in CASES}}
ONE_BY_ONE = True


def check(runs, size):
    found = []
    for name, run in runs.items():
        point, normal = CASES[name][0]
        frame = run.frame("grains", len(run.times("grains")) - 1)
        height = (frame["position"] - numpy.array(point)) @ numpy.array(normal)
        found += [for_the_record(f"{name}: grains", len(height)),
                  at_least(f"{name}: lowest middle over the floor [dx]", height.min() / DX, -0.02)]
    return found
