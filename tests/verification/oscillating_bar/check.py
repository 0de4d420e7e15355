"""Period 4 L / c of a bar's first mode and the order of its error; see README.md."""
import math

import numpy

from reading import at_least, for_the_record, near, order

PERIOD = 0.4
CELLS = {"quick": [8, 16, 32], "full": [8, 16, 32, 64]}
RUNS = {size: {str(n): ["--set", f"domain.dx={1 / n}",
                        "--set", f"bodies.left.shape.box.upper=[0, {2 / n}, {2 / n}]",
                        "--set", f"bodies.right.shape.box.upper=[1, {2 / n}, {2 / n}]"] for n in cells}
        for size, cells in CELLS.items()}
TOLERANCES = {8: 0.01, 16: 0.0025, 32: 0.0006, 64: 0.00015}


def first_mode(run):
    """Amplitude of the first mode in the velocities of the right half, frame by frame; and the frames' times."""
    start = run.frame("right", 0)
    shape = dict(zip(start["id"], numpy.sin(math.pi / 2 * start["position"][:, 0])))
    times = run.times("right")
    amplitudes = []
    for number in range(len(times)):
        frame = run.frame("right", number)
        amplitudes.append(sum(shape[i] * v for i, v in zip(frame["id"], frame["velocity"][:, 0])))
    return times, numpy.array(amplitudes)


def damped_cosine(t, a):
    """Period and rate of decay of a sampled a(t) = exp(-g t) cos(w t + p), by a_(k+1) = 2 q cos(w s) a_k - q^2 a_(k-1),
    q = exp(-g s), s the distance of samples."""
    s = t[1] - t[0]
    (b, c), *_ = numpy.linalg.lstsq(numpy.stack([a[1:-1], -a[:-2]], axis=1), a[2:], rcond=None)
    return 2 * math.pi * s / math.acos(b / 2 / math.sqrt(c)), -math.log(c) / (2 * s)


def check(runs, size):
    found, errors = [], []
    for n in CELLS[size]:
        t, a = first_mode(runs[str(n)])
        period, decay = damped_cosine(t[1:], a[1:])
        errors.append(abs(period / PERIOD - 1))
        found.append(near(f"{n} cells: period [s]", period, PERIOD, TOLERANCES[n]))
        found.append(for_the_record(f"{n} cells: share of the amplitude lost in a period",
                                    1 - math.exp(-decay * period)))
    for k, p in enumerate(order(errors)):
        found.append(at_least(f"order of the period's error, {CELLS[size][k]} to {CELLS[size][k + 1]} cells", p, 1.8))
    return found
