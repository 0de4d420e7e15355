"""Frequencies and decay of bodies that move by freedoms of their own; see README.md."""
import math

import numpy

from reading import near, peak

CASES = "beam", "free_beam", "plate", "fiber", "membrane", "damped"
DECKS = {name: f"{name}.yaml" for name in CASES}
RUNS = {size: {name: [] for name in CASES} for size in ("quick", "full")}
EI_OVER_RHO_A = 1e8 * 0.05**2 / 12 / 1000  # of the beams [m^4/s^2]
PLATE = 1e9 * 0.05**2 / (12 * (1 - 0.3**2) * 1000)  # D / m [m^4/s^2]


def signal(run, probe, since=0.0):
    t = run["time"]
    return t[t >= since], run[probe][t >= since]


def frequencies(what, run, probe, expected, since=0.0):
    t, x = signal(run, probe, since)
    return [near(f"{what}: mode {k + 1} [rad/s]", peak(t, x, w), w, 0.01) for k, w in enumerate(expected)]


def decay(run, probe):
    """Growth of amplitude a step and frequency times dt, by x_(k+1) = 2 q cos(w dt) x_k - q^2 x_(k-1), of the last
    two thirds, in which the first mode alone is left; about the mean place that loads give it."""
    x = run[probe][1:]
    x = x[len(x) // 3:]
    known = numpy.stack([x[1:-1], -x[:-2], numpy.ones(len(x) - 2)], axis=1)
    (b, c, _), *_ = numpy.linalg.lstsq(known, x[2:], rcond=None)
    q = math.sqrt(c)
    return q, math.acos(b / 2 / q)


def check(runs, size):
    beam, plate, gravity = math.sqrt(EI_OVER_RHO_A), math.sqrt(PLATE), 9.81
    found = frequencies("clamped beam", runs["beam"], "tip", [beam * k for k in (3.516015, 22.034492)])
    found += frequencies("free beam", runs["free_beam"], "end", [beam * k for k in (22.373285, 61.672823, 120.903392)])
    corner, side = ("free plate, corner", runs["plate"], "corner"), ("free plate, side", runs["plate"], "side")
    found += frequencies(*corner, [plate * k for k in (13.468, 24.270)])
    found += frequencies(*side, [plate * 19.596])
    found += frequencies("hung fiber", runs["fiber"], "end",
                         [j / 2 * math.sqrt(gravity) for j in (2.4048, 5.5201, 8.6537)])
    stretch = 0.01
    speed = math.sqrt(1e7 * stretch / (1 + stretch) / 1000)
    found += frequencies("drum", runs["membrane"], "middle", [math.pi * math.sqrt(2) * speed], since=0.116)
    t, q = runs["damped"]["time"], decay(runs["damped"], "tip")
    x = 3.516015 * beam * (t[2] - t[1])
    found.append(near("backward Euler: amplitude kept in a step", q[0], (1 + x * x) ** -0.5, 0.001))
    found.append(near("backward Euler: loss of amplitude in a step", 1 - q[0], 1 - (1 + x * x) ** -0.5, 0.02))
    found.append(near("backward Euler: angle of a step", q[1], math.atan(x), 0.01))
    return found
