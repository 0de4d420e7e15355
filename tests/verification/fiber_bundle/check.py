"""Friction grows with its coefficient as Coulomb says; see README.md."""
import math

from reading import at_most, near

FRICTION = [0.1, 0.2, 0.4]
RUNS = {size: {str(beta): ["--set", f"materials.hair.friction_along={beta}"] for beta in FRICTION}
        for size in ("quick", "full")}
WEIGHT = 7 * 0.4 * math.pi * 0.02**2 * 1000 * 9.81


def check(runs, size):
    force = {}
    for beta in FRICTION:
        run = runs[str(beta)]
        force[beta] = run["force_hand_x"][run["time"] > 0.25].mean()
    found = []
    for low, high in zip(FRICTION, FRICTION[1:]):
        slope = (force[high] - force[low]) / (high - low)
        found.append(near(f"rise of the force from {low} to {high} over the weight", slope / WEIGHT, 1, 0.15))
    drag = force[0.1] - 0.1 / 0.3 * (force[0.4] - force[0.1])
    found.append(at_most("force without friction, by extrapolation, over the weight", drag / WEIGHT, 0.06))
    return found
