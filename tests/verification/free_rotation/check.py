"""Momentum and angular momentum of a free body are constant; see README.md."""
import math

import numpy

from reading import at_least, at_most, for_the_record, near, zeros

SPIN, CENTRE_Y = 20, 0.007
TURNS = {"quick": 10, "full": 20}
RUNS = {
    "quick": {kernel: ["--set", f"transfer.kernel={kernel}"] for kernel in ("quadratic", "cubic")},
    "full": {kernel: ["--set", f"transfer.kernel={kernel}", "--set", "domain.dx=0.025",
                      "--set", f"time.end={2 * math.pi}"]
             for kernel in ("quadratic", "cubic")},
}


def check(runs, size):
    found = []
    for kernel, run in runs.items():
        L, p = run.vector("angular_momentum"), run.vector("momentum")
        energy = run["energy_less_work"]
        round_off = 1e-12 * run["step"][-1] / 1000
        half_turns = numpy.diff(zeros(run["time"], run["corner"] - CENTRE_Y))
        found += [
            near(f"{kernel}: change of angular momentum [kg m^2/s]", abs(L - L[0]).max(), 0, round_off,
                 numpy.linalg.norm(L[0])),
            near(f"{kernel}: change of momentum [kg m/s]", abs(p - p[0]).max(), 0, round_off,
                 numpy.linalg.norm(p[0])),
            at_least(f"{kernel}: turns followed", len(half_turns) / 2, TURNS[size] - 1.5),
            near(f"{kernel}: time of a turn [s]", 2 * half_turns.mean(), 2 * math.pi / SPIN, 0.08),
            at_most(f"{kernel}: largest energy over the first", (energy / energy[0]).max(), 1 + 1e-5),
            at_least(f"{kernel}: last energy over the first", energy[-1] / energy[0], 0.95),
            for_the_record(f"{kernel}: energy lost in each turn, share", (1 - energy[-1] / energy[0]) / TURNS[size]),
        ]
    return found
