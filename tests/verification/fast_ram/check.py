"""Nothing passes through a fast ram, and it gives the block its momentum; see README.md."""
from reading import at_least, near
from scenes import settings

DX, START = 0.05, -0.1
CASES = {"10 m/s": (10, 1e6), "100 m/s": (100, 1e6), "200 m/s": (200, 1e6), "200 m/s, soft": (200, 1e5)}
RUNS = {size: {name: settings({
    "colliders.ram.motion.velocity": f"[{speed}, 0, 0]", "materials.rubber.youngs_modulus": young,
    "time.end": 1 / speed, "time.frame_interval": 1 / speed}) for name, (speed, young) in CASES.items()}
    for size in ("quick", "full")}
ONE_BY_ONE = True


def check(runs, size):
    found = []
    for name, run in runs.items():
        speed = CASES[name][0]
        face = START + speed * run["time"]
        rear = ((run["rear"] - face) / DX).min()
        kick = -run["impulse_ram_x"][-1]
        found += [
            at_least(f"{name}: rear of the block over the face of the ram, least [dx]", rear,
                     -2 if "soft" in name else -0.3),
            at_least(f"{name}: mean speed of the block at the end over the ram's",
                     run["momentum_x"][-1] / run["mass"][-1] / speed, 1),
            near(f"{name}: momentum over the impulse", run["momentum_x"][-1] / kick if kick else 0, 1, 1e-10),
            near(f"{name}: work of the ram over impulse times speed",
                 run["work_of_colliders"][-1] / (kick * speed) if kick else 0, 1, 1e-6)]
    return found
