"""Decks of strands count what fig. 4.1 and 4.7 of the text show; see README.md."""
import numpy

import crossings
import weft_read
from reading import at_least, at_most, for_the_record

DECKS = {"tubes": "../../../decks/strand_tubes.yaml", "tubes without impulses": "without_impulses.yaml",
         "pair": "../../../decks/strand_pair.yaml", "strands": "../../../decks/strand_ball.yaml",
         "fibers": "../../../decks/hair_ball.yaml"}
FINE = ["--set", "time.frame_interval=0.01"]
RUNS = {"quick": {"tubes": FINE, "tubes without impulses": FINE, "pair": []}}
RUNS["full"] = RUNS["quick"] | {"strands": [], "fibers": []}
CELL = 0.05  # of which the volume of a bundle is made [m]
WAYS = "fiber", "on_grid", ""


def crossed(run, *bodies):
    """Segments that went through another one between two frames, in all frames, and segment frames."""
    run, found, all_segments = weft_read.Run(run.folder), 0, 0
    frames = [crossings.joined(run, bodies, k)[1:] for k in range(len(run.times(bodies[0])))]
    for (before, _), (after, segments) in zip(frames, frames[1:]):
        found += len(crossings.passed_segments(before, after, segments))
        all_segments += len(segments)
    return found, all_segments


def volume(frame):
    """Of the cells that a bundle touches, a mean over places of the grid."""
    share = (numpy.arange(9) + 0.5)[:, None] / 9
    ends = frame.points[frame.cells]
    points = (ends[:, :1] * (1 - share) + ends[:, 1:] * share).reshape(-1, 3)
    places = numpy.array([[0, 0, 0], [0.5, 0.5, 0.5], [0.3, 0.6, 0.1]])
    return numpy.mean([len(numpy.unique(numpy.floor(points / CELL + place), axis=0)) for place in places]) * CELL**3


def least_volume(run, body):
    """Over that at the start."""
    frames = weft_read.Run(run.folder)
    volumes = [volume(frames.frame(body, k)) for k in range(0, len(frames.times(body)), 5)]
    return min(volumes) / volumes[0]


def between(run, body):
    """Of each vertex the distance to the nearest one of another strand, and its velocity less that one's, per frame."""
    frames, all_gaps, all_speeds = weft_read.Run(run.folder), [], []
    for k in range(len(frames.times(body)) // 2, len(frames.times(body))):
        frame = frames.frame(body, k)
        order = numpy.argsort(frame["id"])
        x, v = frame.points[order].astype(float), frame["velocity"][order].astype(float)
        place = numpy.empty(len(order), int)
        place[order] = numpy.arange(len(order))
        follows = numpy.zeros(len(order), bool)
        follows[place[frame.cells].max(axis=1)] = True
        strand = numpy.cumsum(~follows)
        gaps = numpy.linalg.norm(x[:, None] - x[None], axis=2) + 1e9 * (strand[:, None] == strand[None])
        nearest = gaps.argmin(axis=1)
        all_gaps.append(gaps.min(axis=1))
        all_speeds.append(((v - v[nearest])**2).sum(axis=1) / 2)
    return numpy.median(all_gaps), numpy.mean(all_speeds)


def slide(run, way):
    """How far the middle of the falling strand moved along the held one in the last 0.2 s [m]."""
    frames = weft_read.Run(run.folder)
    name = lambda colour: f"{colour}_{way}" if way else colour
    held = frames.frame(name("red"), 0)
    ends = held.points[numpy.argsort(held["id"])][[0, -1]]
    along = (ends[1] - ends[0]) / numpy.linalg.norm(ends[1] - ends[0])
    middle = lambda k: frames.frame(name("black"), k).points.astype(float).mean(axis=0)
    return abs((middle(-1) - middle(-11)) @ along)


def check(runs, size):
    found = []
    for name in "tubes", "tubes without impulses":
        count, segment_frames = crossed(runs[name], "lower", "upper")
        rate = 1e6 * count / segment_frames
        found.append(at_most(f"{name}: crossings per million segment frames", rate, 2.5) if name == "tubes" else
                     for_the_record(f"{name}: crossings per million segment frames", rate))
        for body in "lower", "upper":
            found.append(at_least(f"{name}: least volume of the {body} bundle over the first",
                                  least_volume(runs[name], body), 0.95))
    found.append(at_most("tubes: crossings that steps count", runs["tubes"]["crossings"].sum(), 0))
    through = {way: crossed(runs["pair"], *(f"{colour}_{way}" if way else colour for colour in ("red", "black")))[0]
               for way in WAYS}
    found.append(at_least("pair on the grid alone: segments that went through", through["on_grid"], 1))
    found.append(at_most("pair with impulses: segments that went through", through[""], 0))
    found.append(at_most("pair of fibers: segments that went through", through["fiber"], 0))
    slides = {way: slide(runs["pair"], way) for way in WAYS}
    found.append(for_the_record("pair of fibers: slides in 0.2 s by [m]", slides["fiber"]))
    found.append(at_least("pair with impulses: slides in 0.2 s over what fibers do", slides[""] / slides["fiber"], 3))
    if size == "full":
        gap, energy = between(runs["strands"], "hair")
        gap_of_fibers, energy_of_fibers = between(runs["fibers"], "hair")
        found.append(for_the_record("ball of strands: median distance to the nearest other one [m]", gap))
        found.append(for_the_record("ball of fibers: median distance to the nearest other one [m]", gap_of_fibers))
        found.append(at_least("ball: kinetic energy of neighbours against one another, strands over fibers",
                              energy / energy_of_fibers, 2))
    return found
