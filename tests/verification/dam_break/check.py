"""Front of a dam break against Martin and Moyce 1952; see README.md."""
import math

import numpy

from reading import at_most, largest_rise, near

WIDTH, GRAVITY = 0.05715, 9.81
# T = t sqrt(2 g / a), Z = x / a
MEASURED = [(1.19, 1.44), (1.43, 1.67), (1.63, 1.89), (1.83, 2.11), (1.98, 2.33), (2.20, 2.56), (2.32, 2.78),
            (2.51, 3.00), (2.65, 3.22), (2.83, 3.44), (2.98, 3.67), (3.11, 3.89), (3.33, 4.11)]
RUNS = {"quick": {"dam": []},
        "full": {"dam": ["--set", "domain.dx=0.00238125",
                         "--set", "bodies.water.shape.box.upper=[0.05715, 0.1143, 0.0047625]",
                         "--set", "colliders.before.shape.plane.point=[0, 0, 0.0047625]"]}}
RANKS = 2


def check(runs, size):
    run = runs["dam"]
    T = run["time"] * math.sqrt(2 * GRAVITY / WIDTH)
    Z = run["front"] / WIDTH
    passes = numpy.interp(MEASURED[0][1], Z, T)
    found = [near(f"front at T = {t} [a]", numpy.interp(t - MEASURED[0][0] + passes, T, Z), z, 0.1)
             for t, z in MEASURED[2::2]]
    speed = numpy.polyfit(T[Z > 2], Z[Z > 2], 1)[0]
    return found + [at_most("speed of the front dZ/dT", speed, 2),
                    at_most("rise of energy less work over kinetic energy", largest_rise(run["energy_less_work"]) /
                            run["kinetic_energy"].max(), 1e-3)]
