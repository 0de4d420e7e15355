"""x = g t^2 (sin(theta) - mu cos(theta)) / 2 or rest; see README.md."""
import numpy

from reading import at_most, near

GRAVITY = numpy.array([4.145845, -8.890879, 0])  # 9.81 (sin 25, -cos 25)
FRICTION = [0.2, 0.4, 0.6]
RUNS = {"quick": {str(mu): ["--set", f"colliders.slope.friction={mu}"] for mu in FRICTION},
        "full": {str(mu): ["--set", f"colliders.slope.friction={mu}", "--set", "domain.dx=0.025"] for mu in FRICTION}}


def check(runs, size):
    found = []
    for mu in FRICTION:
        run = runs[str(mu)]
        t = run["time"][-1]
        slid = run["centre_x"][-1] - run["centre_x"][0]
        free = GRAVITY[0] * t**2 / 2
        driven = GRAVITY[0] + mu * GRAVITY[1]
        if driven > 0:
            found.append(near(f"friction {mu}: distance slid [m]", slid, driven * t**2 / 2, 0.05))
        else:
            found.append(at_most(f"friction {mu}: distance crept over that without friction", abs(slid) / free, 0.02))
        mass = run["mass"][0]
        lost = mass * GRAVITY * t - run.vector("momentum")[-1] - run.vector("impulse_slope")[-1]
        found.append(near(f"friction {mu}: momentum unaccounted for [kg m/s]", abs(lost).max(), 0, 1e-11,
                          scale=mass * 9.81 * t))
    return found
