"""a = g (sin(theta) - mu cos(theta)) or rest, wherever the plane lies; see README.md."""
from scenes import settings, turn, turned, vector
from sliding import FRICTION, JUST_SLIDES, RESTS, SLIDES, slides_on_wall, slope

DX = 0.05
PLACES = {  # of the plane: offset from a node in dx, angle of drawing
    "quick": [(0, 0), (0.3, 0), (0.6, 0), (0.4, 17)],
    "full": [(0.1 * k, degrees) for degrees in (0, 17) for k in range(10)]}
BESIDE = {"quick": [(0.3, 0), (0.4, 17)], "full": [(0, 0), (0.3, 0), (0.6, 0), (0, 17), (0.4, 17)]}
CASES = {size: {f"{mu}, {place:g} dx, {degrees} degrees" + (f", {share}" if share != SLIDES else ""):
                (mu, share, place, degrees)
                for mu in FRICTION for share in (SLIDES, JUST_SLIDES, RESTS)
                for place, degrees in (PLACES if share == SLIDES else BESIDE)[size]} for size in PLACES}


DECKS = {name: "slowly.yaml" for name, case in CASES["full"].items() if case[1] == RESTS}


def scene(friction, share, place, degrees):
    keys = slope(friction, share, place * DX, degrees)
    if share == RESTS:
        keys["handles.weight.gravity.acceleration"] = keys.pop("domain.gravity")
    return settings(keys | {
        "time.end": 0.6 if share == SLIDES else 1.6,
        "bodies.body.shape.rotate": turn(degrees),
        "bodies.body.shape.translate": vector(*turned(0, place * DX, degrees), 0)})


RUNS = {size: {name: scene(*case) for name, case in cases.items()} for size, cases in CASES.items()}
ONE_BY_ONE = True


def check(runs, size):
    found = []
    for name, run in runs.items():
        mu, share, place, degrees = CASES[size][name]
        found.append(slides_on_wall(f"{mu}, {place:g} dx, {degrees} degrees", run, mu, share, degrees, DX,
                                    shakes=mu > 0.3))
    return found
