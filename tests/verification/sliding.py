"""What rests below the angle of friction and slides above it; shared by the cases of inclines."""
import math

from reading import at_most, near

G = 9.81


def slides_by_coulomb(runs, frictions):
    """Of runs named "FRICTION x SHARE" at the angle atan(share friction), shares 0.9 and 1.1, with the probe centre_x."""
    found = []
    for friction in frictions:
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
