"""Rest below the angle of friction, x = g t^2 (sin(theta) - c_F cos(theta)) / 2 above it; see README.md."""
import math

from reading import at_most, near

G = 9.81


def run(friction, share):
    angle = math.atan(share * friction)
    return ["--set", f"domain.gravity=[{G * math.sin(angle)}, 0, {-G * math.cos(angle)}]",
            "--set", f"bodies.upper.contact.friction={friction}", "--set", f"bodies.lower.contact.friction={friction}"]


CASES = {"quick": [0.4], "full": [0.2, 0.4, 0.6]}
RUNS = {size: {f"{friction} x {share}": run(friction, share) for friction in frictions for share in (0.9, 1.1)}
        for size, frictions in CASES.items()}


def check(runs, size):
    found = []
    for friction in CASES[size]:
        for share in 0.9, 1.1:
            history = runs[f"{friction} x {share}"]
            t = history["time"][-1]
            slid = history["centre_x"][-1] - history["centre_x"][0]
            angle = math.atan(share * friction)
            if share < 1:
                free = G * math.sin(angle) * t**2 / 2
                found.append(at_most(f"friction {friction}, 10% less steep: way over that without friction", slid / free,
                                     0.05))
            else:
                coulomb = G * (math.sin(angle) - friction * math.cos(angle)) * t**2 / 2
                found.append(near(f"friction {friction}, 10% steeper: way slid [m]", slid, coulomb, 0.5))
    return found
