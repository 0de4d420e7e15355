#!/usr/bin/env python3
"""Writes cord.obj and strip.obj: over the upper half of a drum of radius 0.2 about z, and straight down for 0.3."""
import math

RADIUS, LEG, HALF_THICKNESS, WIDTH = 0.2, 0.3, 0.002, 0.06


def line(spacing):
    """Points (x, y) from the lower end on the left to that on the right, about `spacing` apart."""
    r = RADIUS + HALF_THICKNESS
    legs, arc = round(LEG / spacing), round(math.pi * r / spacing)
    left = [(-r, -LEG * (1 - k / legs)) for k in range(legs)]
    top = [(-r * math.cos(math.pi * k / arc), r * math.sin(math.pi * k / arc)) for k in range(arc + 1)]
    return left + top + [(-x, y) for x, y in reversed(left)]


def write(name, points, elements):
    with open(name, "w") as file:
        file.writelines(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in points)
        file.writelines(f"{element}\n" for element in elements)


cord = line(0.01)
write("cord.obj", [(x, y, 0) for x, y in cord], ["l " + " ".join(str(k + 1) for k in range(len(cord)))])
strip, columns = line(0.02), 4
write("strip.obj", [(x, y, WIDTH * (j / (columns - 1) - 0.5)) for x, y in strip for j in range(columns)],
      [f"f {a} {a + 1} {a + 1 + columns} {a + columns}" for i in range(len(strip) - 1) for j in range(columns - 1)
       for a in [i * columns + j + 1]])
