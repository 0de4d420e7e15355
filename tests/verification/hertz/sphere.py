"""Approach of an elastic ball that two plates press; linear elasticity, Legendre series."""
import math

import numpy


def legendre(order, x):
    """P_0 to P_order at the points x."""
    p = [numpy.ones_like(x), x]
    for n in range(1, order):
        p.append(((2 * n + 1) * x * p[n] - n * p[n - 1]) / (n + 1))
    return numpy.array(p)


def approach(contact_radius, poisson, order):
    """Of the pole to the middle, of a ball of radius 1 and shear modulus 1/2, under the pressure sqrt(1 - (r/a)^2)
    around both poles; and the force of that pressure. Terms of order n [Lurie 2005, 5.1; without shear on the surface]:
    u_r = A (n + 1)(n - 2 + 4 nu) + B n,  s_rr = A (n + 1)(n^2 - n - 2 - 2 nu) + B n (n - 1),
    s_rt = A (n^2 + 2 n - 1 + 2 nu) + B (n - 1) = 0."""
    nodes, weights = numpy.polynomial.legendre.leggauss(400)
    low = math.sqrt(1 - contact_radius**2)
    x = 1 - (1 - low) * (1 - nodes) ** 2 / 4  # of the cap; the squares gather points at its edge
    w = weights * (1 - low) * (1 - nodes) / 2
    pressure = numpy.sqrt(numpy.maximum(0, 1 - (1 - x**2) / contact_radius**2))
    p = legendre(order, x)
    pole = 0.0
    for n in range(0, order, 2):
        traction = -(2 * n + 1) * (pressure * p[n] * w).sum()  # both caps
        ratio = -(n * n + 2 * n - 1 + 2 * poisson) / (n - 1)  # B / A
        a = traction / ((n + 1) * (n * n - n - 2 - 2 * poisson) + ratio * n * (n - 1))
        pole -= a * ((n + 1) * (n - 2 + 4 * poisson) + ratio * n)
    return pole, 2 * math.pi * (pressure * x * w).sum()
