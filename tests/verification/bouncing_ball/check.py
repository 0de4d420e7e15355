"""Rebound, contact time and impulse of a falling ball by Hertz's law; see README.md."""
import math

import numpy

from reading import at_least, at_most, largest_rise, near
from scenes import G, across, settings, turned, vector

RADIUS, GAP, DENSITY, YOUNG, POISSON = 0.3, 0.2, 1000, 4.5e6, 0.3
CASES = {"quick": {"8 cells": (8, 0.3, 0), "8 cells, 17 degrees": (8, 0.3, 17)},  # R / dx, place in dx, drawn at
         "full": {"8 cells": (8, 0.3, 0), "8 cells, on a node": (8, 0, 0), "8 cells, 17 degrees": (8, 0.3, 17),
                  "16 cells": (16, 0.3, 0)}}
REBOUND, TIME = {8: 0.92, 16: 0.96}, {8: 0.08, 16: 0.04}


def scene(cells, place, degrees):
    dx = RADIUS / cells
    up = turned(0, 1, degrees)
    return settings({
        "domain.dx": dx, "time.max_dt": 1.6e-3 / cells, "domain.gravity": vector(*(-G * u for u in up), 0),
        "colliders.floor.shape.plane.point": vector(*(place * dx * u for u in up), 0),
        "colliders.floor.shape.plane.normal": vector(*up, 0),
        "bodies.ball.shape.sphere.center": vector(*((place * dx + GAP + RADIUS) * u for u in up), 0)})


RUNS = {size: {name: scene(*case) for name, case in cases.items()} for size, cases in CASES.items()}


def duration(t, impulse):
    """Between one and 99 per cent of the impulse, which grows: its ends are not sharp."""
    at = numpy.interp([0.01 * impulse[-1], 0.99 * impulse[-1]], impulse, t)
    return at[1] - at[0]


def hertz():
    """Contact time of m x'' = m g - k x^(3/2) on a rigid plane, k = 4/3 E / (1 - nu^2) sqrt(R)."""
    over_mass = 4 / 3 * YOUNG / (1 - POISSON**2) * math.sqrt(RADIUS) / (4 / 3 * math.pi * RADIUS**3 * DENSITY)
    dt, x, v, total = 1e-6, 0.0, math.sqrt(2 * G * GAP), 0.0
    impulse = []
    while x >= 0:
        force = over_mass * x**1.5
        v += (G - force) * dt
        x += v * dt
        total += force * dt
        impulse.append(total)
    return duration(dt * numpy.arange(len(impulse)), numpy.array(impulse))


def check(runs, size):
    found = []
    for name, (cells, place, degrees) in CASES[size].items():
        run = runs[name]
        dx, t, mass = RADIUS / cells, run["time"], run["mass"][0]
        impulse = -across(run, "impulse_floor", degrees)
        velocity = across(run, "momentum", degrees) / mass
        gap = across(run, "centre", degrees) - RADIUS - place * dx
        fall = math.sqrt(2 * G * GAP)
        first = numpy.argmax(impulse > 1e-6 * mass * fall)
        touching = numpy.flatnonzero(numpy.diff(impulse) > 1e-6 * mass * fall)
        last = touching[-1] + 1
        rise = largest_rise(run["energy_less_work"])
        found += [
            near(f"{name}: gap when the plane is felt first [dx]", gap[first - 1] / dx, 0, 0.05, scale=1),
            at_least(f"{name}: speed of rebound over that of impact", velocity[last] / -velocity[first - 1],
                     REBOUND[cells]),
            near(f"{name}: time of contact [s]", duration(t, impulse), hertz(), TIME[cells]),
            near(f"{name}: impulse less gained momentum and weight",
                 (impulse[-1] - mass * (velocity[-1] - velocity[0] + G * (t[-1] - t[0]))) / (mass * fall), 0, 1e-10,
                 scale=1),
            at_most(f"{name}: rise of energy less work, over that of the fall", rise / (mass * G * GAP), 1e-3)]
    if size == "full":
        coarse, fine = (abs(duration(runs[n]["time"], -across(runs[n], "impulse_floor")) - hertz())
                        for n in ("8 cells", "16 cells"))
        found.append(at_most("error of the time at 16 cells over that at 8", fine / coarse, 0.7))
    return found
