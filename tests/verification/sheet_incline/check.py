"""Rest below the angle of friction, x = g t^2 (sin(theta) - c_F cos(theta)) / 2 above it; see README.md."""
import math

from sliding import G, slides_by_coulomb


def run(friction, share, *more):
    angle = math.atan(share * friction)
    return ["--set", f"domain.gravity=[{G * math.sin(angle)}, 0, {-G * math.cos(angle)}]",
            "--set", f"materials.cloth.contact.friction={friction}", *more]


# 40 x 40 squares on a board of 64 x 48.
LARGE = [part for key in (
    "bodies.upper.mesh.rectangle={width: 2, height: 2}", "bodies.upper.mesh.across=40", "bodies.upper.mesh.along=40",
    "bodies.upper.mesh.translate=[-1, -1, 0.08]", "bodies.lower.mesh.rectangle={width: 3.2, height: 2.4}",
    "bodies.lower.mesh.across=64", "bodies.lower.mesh.along=48", "bodies.lower.mesh.translate=[-1.2, -1.2, 0]")
    for part in ("--set", key)]
CASES = {"quick": [0.4], "full": [0.2, 0.4, 0.6]}
RUNS = {size: {f"{friction} x {share}": run(friction, share, *(LARGE if size == "full" else []))
               for friction in frictions for share in (0.9, 1.1)} for size, frictions in CASES.items()}


def check(runs, size):
    return slides_by_coulomb(runs, CASES[size])
