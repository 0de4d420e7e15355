"""A compressed sleeve has the same waves on finer grids and meshes, and those without grid; see README.md."""
import math

import numpy

from reading import Finding, for_the_record, near

DECKS = {"static": "static.yaml"}


def level(along):
    return ["--set", f"domain.dx={0.2 / along}", "--set", f"bodies.sleeve.mesh.along={along}",
            "--set", f"bodies.sleeve.mesh.across={2 * round(math.pi * along / 2)}"]


RUNS = {"quick": {"static": [], "10": level(10)},
        "full": {"static": [], "10": level(10), "16": level(16), "24": level(24)}}
RADIUS, LENGTH, THICKNESS, POISSON = 0.1, 0.2, 9e-3, 0.3
WAVES = [(m, n) for m in range(9) for n in range(1, 9)]  # around, and half waves along


def amplitudes(run):
    """Of sin(n pi y / L) cos(m phi - phase) in the radial displacement of the last frame [m]."""
    rest, now = (run.frame("sleeve", number)["position"].astype(float) for number in (0, len(run.times("sleeve")) - 1))
    phi, y = numpy.arctan2(rest[:, 0], rest[:, 2]), rest[:, 1]
    radial = numpy.hypot(now[:, 0], now[:, 2]) - numpy.hypot(rest[:, 0], rest[:, 2])
    return {(m, n): (4 if m else 2) * abs(numpy.mean(radial * numpy.sin(n * math.pi * y / LENGTH) * numpy.exp(1j * m * phi)))
            for m, n in WAVES}


def check(runs, size):
    classical = LENGTH / (math.pi * math.sqrt(RADIUS * THICKNESS) / (12 * (1 - POISSON**2)) ** 0.25)
    found = [for_the_record("half waves along, classical estimate", classical)]
    rings = {wave: a for wave, a in amplitudes(runs["static"]).items() if wave[0] == 0}
    expected = max(rings, key=rings.get)
    force = -12 * runs["static"]["force_above_y"][-1]
    found.append(for_the_record("half waves along without grid", expected[1]))
    for name in list(RUNS[size])[1:]:
        run = runs[name]
        of = amplitudes(run)
        around, along = max(of, key=of.get)
        found += [Finding(f"{name} faces along: waves around", around, 0, around, around == 0),
                  Finding(f"{name} faces along: half waves along", along, expected[1], along - expected[1],
                          along == expected[1]),
                  near(f"{name} faces along: their amplitude [m]", of[expected], rings[expected], 0.15),
                  near(f"{name} faces along: force [N]", -run["force_above_y"][-1], force, 0.1)]
    return found
