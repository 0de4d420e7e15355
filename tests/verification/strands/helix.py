#!/usr/bin/env python3
"""Writes the localised helices of an infinite rod under tension T = 1 and moment M = 2 m, with B = 1: helix_60.obj, ...

With c = cos(angle of the tangent and the axis), c0 = 2 m^2 - 1 and s* = sqrt(2 / (1 - c0)),

    c = 1 - (1 - c0) / cosh^2(s / s*),   d(azimuth)/ds = M / (1 + c)

[Bergou et al. 2008; van der Heijden and Thompson 2000]
"""
import math
import pathlib

import numpy

LENGTHS = {0.6: 20, 0.8: 20, 0.95: 30}
POINTS, PARTS = 400, 100


def helix(m, length):
    """The points of a piece of it, the first one at the origin; parts of steps by the rule of midpoints."""
    c0 = 2 * m**2 - 1
    ds = length / (POINTS * PARTS)
    s = (numpy.arange(POINTS * PARTS) + 0.5) * ds - length / 2
    c = 1 - (1 - c0) / numpy.cosh(s / math.sqrt(2 / (1 - c0)))**2
    azimuth = numpy.cumsum(2 * m / (1 + c)) * ds
    azimuth -= azimuth[len(s) // 2]
    across = numpy.sqrt(1 - c**2)
    tangent = numpy.stack([c, across * numpy.cos(azimuth), across * numpy.sin(azimuth)], 1)
    return numpy.concatenate([[[0, 0, 0]], numpy.cumsum(tangent * ds, 0)])[::PARTS]


def main():
    for m, length in LENGTHS.items():
        lines = [f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in helix(m, length)]
        lines.append("l " + " ".join(str(k + 1) for k in range(POINTS + 1)) + "\n")
        pathlib.Path(__file__).with_name(f"helix_{100 * m:.0f}.obj").write_text("".join(lines))


if __name__ == "__main__":
    main()
