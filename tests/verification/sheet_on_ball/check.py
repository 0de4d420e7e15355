"""A sheet at rest lies half its thickness above what is under it; hits add no energy. See README.md."""
import numpy

from reading import at_most, largest_rise, near
from scenes import settings

THICKNESS, RADIUS = 3e-3, 0.25
CAP = 20  # the largest angle from the top of the ball that counts [degrees]
PLATE = 0.12  # of sheets on planes, the half width that counts where sand lies on them [m]
PLACES = 0, 0.3, 0.7  # of planes between nodes, in dx
NAMES = ["ball", *(f"plane at {place} dx" for place in PLACES)]
DX = {"quick": 0.03, "full": 0.015}


def scene(dx, name):
    values = {"domain.dx": dx, "bodies.cloth.mesh.across": round(0.6 / dx), "bodies.cloth.mesh.along": round(0.6 / dx)}
    if name != "ball":
        level = float(name.split()[2]) * dx
        values |= {"colliders.under.shape": f"{{plane: {{point: [0, {level!r}, 0], normal: [0, 1, 0]}}}}",
                   "bodies.cloth.mesh.translate": f"[-0.3, {level + 0.02!r}, -0.3]"}
    return settings(values)


RUNS = {size: {name + sand: scene(dx, name) for sand in ("", ", sand") for name in NAMES} for size, dx in DX.items()}
LAYER = "ball, layer of sand"
for size, dx in DX.items():
    RUNS[size][LAYER] = scene(dx, "ball")
TILTED = {"bodies.plate.mesh.rotate": "{axis: [1, 0, 0], angle: 95}",
          "bodies.plate.mesh.translate": "[-0.307, 0.07, -0.313]"}
THROWN = {"plate thrown": {}, "plate thrown, tilted by 5 degrees": TILTED}
for runs in RUNS.values():
    runs.update((name, settings(values)) for name, values in THROWN.items())
DECKS = ({name: "sand.yaml" for name in RUNS["quick"] if "sand" in name} | {LAYER: "layer.yaml"}
         | dict.fromkeys(THROWN, "thrown.yaml"))
ONE_BY_ONE = True


def heights(name, x, dx):
    """Of vertices above the surface, those that surely lie on it [m]."""
    if "ball" in name:
        from_centre = x + [0, RADIUS, 0]
        distance = numpy.linalg.norm(from_centre, axis=1)
        return (distance - RADIUS)[from_centre[:, 1] > numpy.cos(numpy.radians(CAP)) * distance]
    lies = numpy.hypot(x[:, 0], x[:, 2]) < PLATE if "sand" in name else slice(None)
    return x[lies, 1] - float(name.split()[2].rstrip(",")) * dx


def rise(run):
    """Of energy less work in the hit, over the energy of the throw. The first row has no step that ends there."""
    return largest_rise(run["energy_less_work"][1:]) / run["kinetic_energy"][0]


def check(runs, size):
    found, dx = [], DX[size]
    for name, run in runs.items():
        if name in THROWN:
            found.append(at_most(f"{name}: rise of energy less work", rise(run), 1e-6))
            continue
        x = run.frame("cloth", len(run.times("cloth")) - 1)["position"]
        off = (heights(name, x, dx) - THICKNESS / 2) / dx
        found += [near(f"{name}: mean height less half the thickness [dx]", off.mean(), 0, 0.1, scale=1),
                  at_most(f"{name}: the farthest of them [dx]", abs(off).max(), 0.15 if name == "ball, sand" else 0.1)]
    return found
