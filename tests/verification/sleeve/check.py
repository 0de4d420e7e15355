"""A compressed sleeve has the same waves on finer grids and meshes, and those without grid; see README.md."""
import math

import numpy

from reading import Finding, for_the_record, near

DECKS = {"static": "static.yaml", "thin_static": "static.yaml", "thin_static_in_20": "static.yaml"}


def level(along):
    return ["--set", f"domain.dx={0.2 / along}", "--set", f"bodies.sleeve.mesh.along={along}",
            "--set", f"bodies.sleeve.mesh.across={2 * round(math.pi * along / 2)}"]


# A thinner sleeve: frame 4 of 5 is at 9 % of compression, the last at 10 %.
THIN = ["--set", "bodies.sleeve.thickness=5 mm"]
FRAMES = ["--set", "time.frame_interval=0.08"]
RUNS = {"quick": {"static": [], "10": level(10)},
        "full": {"static": [], "10": level(10), "16": level(16), "24": level(24),
                 "thin_static": THIN + ["--set", "loading.steps=80", "--set", "time.frame_interval=0.2"],
                 "thin_static_in_20": THIN,
                 "thin_24": THIN + FRAMES + level(24), "thin_32": THIN + FRAMES + level(32)}}
RADIUS, LENGTH, POISSON = 0.1, 0.2, 0.3
WAVES = [(m, n) for m in range(9) for n in range(1, 9)]  # around, and half waves along


def amplitudes(run, frame=-1):
    """Of sin(n pi y / L) cos(m phi - phase) in the radial displacement of a frame [m]."""
    rest, now = (run.frame("sleeve", number % len(run.times("sleeve")))["position"].astype(float) for number in (0, frame))
    phi, y = numpy.arctan2(rest[:, 0], rest[:, 2]), rest[:, 1]
    radial = numpy.hypot(now[:, 0], now[:, 2]) - numpy.hypot(rest[:, 0], rest[:, 2])
    return {(m, n): (4 if m else 2) * abs(numpy.mean(radial * numpy.sin(n * math.pi * y / LENGTH) * numpy.exp(1j * m * phi)))
            for m, n in WAVES}


def classical(thickness):
    """Half waves of rings on a long sleeve, on this length."""
    return LENGTH / (math.pi * math.sqrt(RADIUS * thickness) / (12 * (1 - POISSON**2)) ** 0.25)


def rings(run, frame=-1):
    """Those of a sector without grid: the largest, and its amplitude [m]."""
    found = {wave: a for wave, a in amplitudes(run, frame).items() if wave[0] == 0}
    largest = max(found, key=found.get)
    return largest, found[largest]


def same_waves(what, found, wave):
    """Findings that this wave has the largest amplitude."""
    around, along = max(found, key=found.get)
    return [Finding(f"{what}: waves around", around, wave[0], around - wave[0], around == wave[0]),
            Finding(f"{what}: half waves along", along, wave[1], along - wave[1], along == wave[1])]


def check(runs, size):
    expected, amplitude = rings(runs["static"])
    force = -12 * runs["static"]["force_above_y"][-1]
    found = [for_the_record("half waves along, classical estimate", classical(9e-3)),
             for_the_record("half waves along without grid", expected[1])]
    for name in (name for name in RUNS[size] if name.isdigit()):
        run = runs[name]
        of = amplitudes(run)
        found += same_waves(f"{name} faces along", of, expected)
        found += [near(f"{name} faces along: their amplitude [m]", of[expected], amplitude, 0.15),
                  near(f"{name} faces along: force [N]", -run["force_above_y"][-1], force, 0.1)]
    return found + (thin_sleeve(runs) if size == "full" else [])


def thin_sleeve(runs):
    expected, amplitude = rings(runs["thin_static"], 4)
    energy, other = (runs[name]["elastic_energy"][-1] for name in ("thin_static", "thin_static_in_20"))
    found = [for_the_record("5 mm: half waves along, classical estimate", classical(5e-3)),
             for_the_record("5 mm: half waves along without grid", expected[1]),
             for_the_record("5 mm: those of another equilibrium", rings(runs["thin_static_in_20"])[0][1]),
             Finding("5 mm: its energy over that of the first", other / energy, 1, other / energy - 1, other > energy)]
    for name in ("thin_24", "thin_32"):
        before, after = amplitudes(runs[name], 4), amplitudes(runs[name])
        what = f"5 mm, {name[5:]} faces along"
        found += same_waves(f"{what}, at 9 %", before, expected)
        found.append(near(f"{what}, at 9 %: amplitude [m]", before[expected], amplitude, 0.1))
        found += same_waves(f"{what}, at 10 %", after, (2, 2))
    return found
