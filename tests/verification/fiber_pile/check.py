"""Piles are the steeper, the more friction the fibers have; see README.md."""
from reading import at_least, for_the_record

ANGLES = [10, 20, 40]
RUNS = {size: {str(angle): ["--set", f"materials.straw.friction_angle={angle}"] for angle in ANGLES}
        for size in ("quick", "full")}


def check(runs, size):
    steepness = {angle: 2 * run["top"][-1] / (run["right"][-1] - run["left"][-1])
                 for angle, run in ((angle, runs[str(angle)]) for angle in ANGLES)}
    found = [for_the_record(f"height over half of the width, {angle} degrees", steepness[angle]) for angle in ANGLES]
    found += [at_least(f"steepness at {high} over that at {low} degrees", steepness[high] / steepness[low], 1.1)
              for low, high in zip(ANGLES, ANGLES[1:])]
    return found
