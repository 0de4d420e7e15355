"""p = rho g (h - Y), the floor carries the weight, the column swings about its rest; see README.md."""
import math

import numpy

from reading import for_the_record, near, zeros

DENSITY, GRAVITY, DEPTH, BULK, EXPONENT = 1000, 9.81, 1.0, 1e6, 7
BOTTOM = DENSITY * GRAVITY * DEPTH
SWING = 4 * DEPTH / math.sqrt(BULK / DENSITY)  # of the deck's frames: 8 in each
DX = {"quick": 0.05, "full": 0.025}
KERNELS = {"quick": ["linear", "quadratic"], "full": ["quadratic", "cubic"]}
RUNS = {size: {kernel: ["--set", f"transfer.kernel={kernel}", "--set", f"domain.dx={dx}",  # always 4 cells wide
                        "--set", f"bodies.water.shape.box.upper=[{4 * dx}, {DEPTH}, {4 * dx}]",
                        "--set", f"colliders.right.shape.plane.point=[{4 * dx}, 0, 0]",
                        "--set", f"colliders.before.shape.plane.point=[0, 0, {4 * dx}]"] for kernel in KERNELS[size]}
        for size, dx in DX.items()}
RANKS = 2
AT_THE_FLOOR = {"linear": 0, "quadratic": 2, "cubic": 3}  # layers of cells that the floor disturbs
LINE = {"linear": 0.02, "quadratic": 0.01, "cubic": 0.01}
FALL = {"linear": 0.6, "quadratic": 3.2, "cubic": 5}  # tolerance over dx / h: walls give way by a part of dx


def mean_pressures(run, dx):
    """Mean pressure of each layer of cells, and its particles' rms deviation from it, over the last 40 frames."""
    start = run.frame("water", 0)
    layer_of = dict(zip(start["id"], (start["position"][:, 1] / dx).astype(int)))
    times = run.times("water")
    means, deviation = [], 0
    for number in range(len(times) - 40, len(times)):
        frame = run.frame("water", number)
        layer = numpy.array([layer_of[i] for i in frame["id"]])
        means.append(numpy.bincount(layer, frame["pressure"]) / numpy.bincount(layer))
        deviation += numpy.mean((frame["pressure"] - means[-1][layer]) ** 2) / 40
    return without_swing(means), math.sqrt(deviation)


def without_swing(values):
    """What values vary about that were taken at equal distances in time: their mean through a window that rises and
    falls smoothly (Hann's), which lets no swing through that fits into it several times."""
    window = numpy.sin(math.pi * (numpy.arange(len(values)) + 0.5) / len(values)) ** 2
    return window @ values / window.sum()


def at_rest():
    """Fall of the centre of mass, and period of small swings, of the column at rest under its weight."""
    cells = 10000
    Y = (numpy.arange(cells) + 0.5) * DEPTH / cells
    stiffening = 1 + EXPONENT * DENSITY * GRAVITY * (DEPTH - Y) / BULK
    stretch = stiffening ** (-1 / EXPONENT)
    z = numpy.cumsum(stretch) * DEPTH / cells
    return z.mean() - DEPTH / 2, SWING * numpy.mean(stiffening**-0.5)


def check(runs, size):
    found = []
    rest, period = at_rest()
    for kernel, run in runs.items():
        pressure, scatter = mean_pressures(run, DX[size])
        middle = (numpy.arange(len(pressure)) + 0.5) * DX[size]
        off = pressure - DENSITY * GRAVITY * (DEPTH - middle)
        inside = slice(AT_THE_FLOOR[kernel], None)
        slope, at_floor = numpy.polyfit(middle[inside], pressure[inside], 1)

        t, fall = run["time"], run["centre_y"] - run["centre_y"][0]
        swings = numpy.diff(zeros(t, fall - rest))[:6]
        late = t > t[-1] - 5 * SWING
        force = (-run["impulse_floor_y"][-1] - run["momentum_y"][-1]) / t[-1]
        found += [
            near(f"{kernel}: slope of pressure over height [Pa/m]", slope, -DENSITY * GRAVITY, LINE[kernel]),
            near(f"{kernel}: pressure at the floor [Pa]", at_floor, BOTTOM, LINE[kernel]),
            near(f"{kernel}: worst layer inside, off the line [Pa]", abs(off[inside]).max(), 0, LINE[kernel],
                 scale=BOTTOM),
            near(f"{kernel}: fall of the centre of mass [m]", without_swing(fall[late]), rest,
                 FALL[kernel] * DX[size] / DEPTH),
            near(f"{kernel}: period of the first swings [s]", 2 * swings.mean(), period, 0.015),
            near(f"{kernel}: mean force on the floor [N]", force, run["mass"][0] * GRAVITY, 1e-11),
            for_the_record(f"{kernel}: first layer's excess over pressure at the floor", off[0] / BOTTOM),
            for_the_record(f"{kernel}: scatter in a layer over pressure at the floor", scatter / BOTTOM),
        ]
    return found
