"""The rate does not depend on round-off and place, and grows as the width of the slot to 3/2; see README.md."""
import numpy

from reading import for_the_record, near
from scenes import G, settings, vector

DX, WIDTH, DENSITY, BREADTH = 0.02, 0.24, 1600, 0.04
CASES = {"as drawn": (0, 0), "wider by 1e-12 m": (1e-12, 0), "narrower by 1e-12 m": (-1e-12, 0),
         "wider by 0.3 dx": (0.3 * DX, 0), "moved by 5 cells": (0, 5), "moved by 0.4 cells": (0, 0.4)}  # along x
SAME = "wider by 1e-12 m", "narrower by 1e-12 m", "wider by 0.3 dx", "moved by 5 cells"
FULL = {"time.end": 5, "bodies.sand.shape.box.upper": "[0.2, 3.4, 0.04]", "domain.bounds.upper": "[1, 4, 1]"}


def scene(wider, cells, more):
    half = (WIDTH + wider) / 2
    values = {"colliders.floor_left.shape.box.upper": vector(-half, 0, 0.14),
              "colliders.floor_right.shape.box.lower": vector(half, -0.1, -0.1)}
    if cells:
        moved = vector(cells * DX, 0, 0)
        values |= {f"colliders.{name}.shape.translate": moved
                   for name in ("floor_left", "floor_right", "left", "right")}
        values["bodies.sand.shape.translate"] = moved
    return settings(values | more)


RUNS = {size: {name: scene(*case, more) for name, case in CASES.items()}
        for size, more in (("quick", {}), ("full", FULL))}


def rate(run, wider):
    """Of the mass beyond the bounds after the first 0.4 s, over rho b sqrt(g) w^(3/2)."""
    t, mass = run["time"], run["mass"]
    late = t > 0.4
    slope = numpy.polyfit(t[late], mass[late], 1)[0]
    return -slope / (DENSITY * BREADTH * G**0.5 * (WIDTH + wider) ** 1.5)


def check(runs, size):
    rates = {name: rate(runs[name], case[0]) for name, case in CASES.items()}
    first = rates.pop("as drawn")
    return [for_the_record("as drawn: rate over rho b sqrt(g) w^(3/2)", first),
            *(near(f"{name}: the same", found, first, 0.02) if name in SAME else for_the_record(name, found)
              for name, found in rates.items())]
