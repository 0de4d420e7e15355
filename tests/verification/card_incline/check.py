"""Rest below the angle of friction, x = g t^2 (sin(theta) - c_F cos(theta)) / 2 above it; see README.md."""
import math

from sliding import G, slides_by_coulomb


def run(friction, share):
    angle = math.atan(share * friction)
    return ["--set", f"domain.gravity=[{G * math.sin(angle)}, 0, {-G * math.cos(angle)}]",
            "--set", f"bodies.upper.contact.friction={friction}", "--set", f"bodies.lower.contact.friction={friction}"]


CASES = {"quick": [0.4], "full": [0.2, 0.4, 0.6]}
RUNS = {size: {f"{friction} x {share}": run(friction, share) for friction in frictions for share in (0.9, 1.1)}
        for size, frictions in CASES.items()}


def check(runs, size):
    return slides_by_coulomb(runs, CASES[size])
