"""a = g (sin(theta) - mu cos(theta)) or rest, of sand, a sheet, a card and fibers; see README.md."""
import math

from reading import at_most
from scenes import G, settings, turn, turned, vector
from sliding import FRICTION, JUST_SLIDES, RESTS, SLIDES, slides_on_wall, slope

DX = 0.05
HALF = {"sand": 0, "sheet": 2e-3, "card": 5e-3, "fibers": 1e-2}  # thickness under what the deck draws [m]
LEVEL, TURNED = (0.3, 0), (0.4, 17)  # of the plane: offset from a node in dx, angle of drawing
PLACES = {"quick": [LEVEL, TURNED], "full": [(0, 0), LEVEL, (0.6, 0), (0, 17), TURNED]}
BESIDE = {"quick": [0.4], "full": FRICTION}
CASES = {size: {f"{body}, {mu}, {place:g} dx, {degrees} degrees" + (f", {share}" if share != SLIDES else ""):
                (body, mu, share, place, degrees)
                for body in HALF for share in (SLIDES, JUST_SLIDES, RESTS)
                for mu in (FRICTION if share == SLIDES else BESIDE[size])
                for place, degrees in (PLACES[size] if share == SLIDES else [LEVEL])} for size in PLACES}
DEEP = {f"{body} that begins {depth:g} dx too deep": (body, depth) for body in HALF for depth in (0.005, 0.015)}
DECK = {"sand": "deck.yaml", "sheet": "sheet.yaml", "card": "shell.yaml", "fibers": "fibers.yaml"}
DECKS = {name: DECK[case[0]] for name, case in (CASES["full"] | DEEP).items()}
ONE_BY_ONE = True


def laid(degrees):
    """A rotation that lays the xy plane into the xz plane and then turns it about z."""
    half = math.radians(degrees) / 2
    c, s, h = math.cos(half), math.sin(half), math.sqrt(0.5)
    w, axis = c * h, (c * h, s * h, s * h)
    return f"{{axis: {vector(*axis)}, angle: {2 * math.degrees(math.acos(w))!r}}}"


def scene(body, friction, share, place, degrees, deep=0):
    part = {"sand": "shape", "fibers": "curves"}.get(body, "mesh")
    height = (place - deep) * DX + HALF[body]
    return settings(slope(friction, share, place * DX, degrees) | {
        "time.end": 0.6 if share == SLIDES else 2.4 if body == "sand" else 1.6,
        f"bodies.body.{part}.rotate": laid(degrees) if part == "mesh" else turn(degrees),
        f"bodies.body.{part}.translate": vector(*turned(0, height, degrees), 0)})


RUNS = {size: {name: scene(*case) for name, case in cases.items()} |
        {name: scene(body, 0.4, RESTS, *TURNED, deep) for name, (body, deep) in DEEP.items()}
        for size, cases in CASES.items()}


def check(runs, size):
    found = []
    for name, run in runs.items():
        if name in DEEP:
            gained = max(run["energy_less_work"]) - run["energy_less_work"][0]
            found.append(at_most(f"{name}: energy it gains, over m g dx", gained / (run["mass"][0] * G * DX), 1e-3))
            continue
        body, mu, share, place, degrees = CASES[size][name]
        found.append(slides_on_wall(f"{body}, {mu}, {place:g} dx, {degrees} degrees", run, mu, share, degrees, DX,
                                    shakes=body == "sand"))
    return found
