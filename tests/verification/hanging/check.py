"""Suddenly loaded rods and a catenary; see README.md."""
import math

from reading import at_most, near

RUNS = {"quick": {"run": []}, "full": {"run": ["--set", "domain.dx=0.025", "--set", "bodies.strip.mesh.across=8",
                                               "--set", "bodies.strip.mesh.along=40"]}}
G, DENSITY, SPEED, LENGTH = 9.81, 1000, 10, 1
WEIGHT = math.pi * 0.005**2 * DENSITY * G  # of the chain [N/m]
PARAMETER = 0.4695415  # a of the catenary: 2 a sinh(1 / (2 a)) = 1.2


def check(runs, size):
    run = runs["run"]
    found = []
    for name in "thread", "strip":
        place = run[f"{name}_end"]
        lowest = place.argmin()
        found.append(near(f"{name}: longest extension [m]", place[0] - place[lowest], G * LENGTH**2 / SPEED**2, 0.01))
        found.append(near(f"{name}: time of it [s]", run["time"][lowest], 2 * LENGTH / SPEED, 0.01))
    for side, sign in ("left", -1), ("right", 1):
        force = run.vector(f"force_chain_{side}")[1:].mean(axis=0)
        found.append(near(f"chain: pull of its {side} end [N]", force[0], sign * WEIGHT * PARAMETER, 0.02))
        found.append(near(f"chain: weight at its {side} end [N]", force[2], WEIGHT * 0.6, 0.02))
    middle = run["chain_middle"]
    found.append(near("chain: mean sag [m]", -middle.mean(), -middle[0], 0.015))
    energy = run["kinetic_energy"] + run["elastic_energy"] + run["gravitational_energy"]
    exchanged = run["gravitational_energy"].max() - run["gravitational_energy"].min()
    found.append(at_most("gain of energy over what is exchanged", (energy.max() - energy[0]) / exchanged, 0.01))
    found.append(at_most("loss of energy over what is exchanged", (energy[0] - energy[-1]) / exchanged, 0.05))
    return found
