"""Run-out of a sand column against Lube et al. 2005, and its dependence on the friction angle; see README.md."""
import math

from reading import at_least, at_most, near

WIDTH, GRAVITY = 0.1, 9.81
ANGLES = [20, 30, 40]


def column(aspect, angle, *more):
    height = aspect * WIDTH
    end = 4 * math.sqrt(height / GRAVITY)
    return ["--set", f"bodies.sand.shape.box.upper=[0.1, {height}, 0.0125]",
            "--set", f"materials.sand.friction_angle={angle}",
            "--set", f"time.end={end}", "--set", f"time.frame_interval={end}", *more]


RUNS = {"quick": {f"angle {angle}": column(1, angle) for angle in ANGLES} | {"aspect 1": column(1, 23)}}
RUNS["full"] = RUNS["quick"] | {"aspect 0.5": column(0.5, 23), "aspect 4": column(4, 23)}
RANKS = 2


def lube(aspect):
    """(d_inf - d_0) / d_0 in two dimensions."""
    return 1.2 * aspect if aspect < 1.8 else 1.9 * aspect ** (2 / 3)


def check(runs, size):
    run_out = {name: run["front"][-1] / WIDTH - 1 for name, run in runs.items()}
    found = []
    for name, run in runs.items():
        if name.startswith("aspect"):
            found.append(near(f"{name}: run-out over width", run_out[name], lube(float(name.split()[1])), 0.4))
            late = run["front"][run["time"] > 0.8 * run["time"][-1]]
            found.append(at_most(f"{name}: front's advance in the last fifth, over run-out",
                                 (late[-1] - late[0]) / WIDTH / run_out[name], 0.05))
    for less, more in zip(ANGLES, ANGLES[1:]):
        found.append(at_least(f"run-out at {less} over that at {more} degrees",
                              run_out[f"angle {less}"] / run_out[f"angle {more}"], 1.05))
        found.append(at_least(f"height at {more} over that at {less} degrees",
                              runs[f"angle {more}"]["top"][-1] / runs[f"angle {less}"]["top"][-1], 1))
    return found
