#!/usr/bin/env python3
"""Counts the elements of sheets and fibers that went through others, by exact tests.

    python3 postproc/crossings.py OUTPUT BODY...           bodies against themselves and each other, in the last frame
    python3 postproc/crossings.py OUTPUT BODY --frame 3    another one; all: every frame

Of a surface the triangles are counted that an edge of another one goes through in this frame. A line has no inside, so
of fibers the segments are counted that went through another one since the frame before, both moving straight and
evenly between frames; frames should be so near each other that this is about what happened. Elements that share a
point are not compared. Prints, for each frame, its time, the number, and its share of all.
"""
import argparse
import sys

import packages

packages.need("h5py", "numpy")
import numpy  # noqa: E402
import weft_read  # noqa: E402


def crossed_triangles(points, triangles):
    """The numbers of triangles that an edge of another triangle goes through."""
    edges = numpy.unique(numpy.sort(numpy.concatenate([triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])]), axis=1),
                         axis=0)
    size = numpy.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1).max()
    t, e = close_pairs(points[triangles], points[edges], size)
    apart = (triangles[t][:, :, None] != edges[e][:, None, :]).all(axis=(1, 2))
    t, e = t[apart], e[apart]
    a, b, c = (points[triangles[t, k]] for k in range(3))
    p, q = (points[edges[e, k]] for k in range(2))
    across = volume(a, b, c, p) * volume(a, b, c, q) < 0
    round_it = numpy.sign([volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)])
    inside = (round_it == round_it[0]).all(axis=0) & (round_it[0] != 0)
    return numpy.unique(t[across & inside])


def passed_segments(before, after, segments, pieces=8, halvings=40):
    """The numbers of segments that went through another one while points moved evenly from `before` to `after`.

    Two segments can meet when their ends are in one plane: at a root of a cubic in time, which is looked for by its
    changes of sign between `pieces` equal parts of the time."""
    swept = numpy.concatenate([before[segments], after[segments]], axis=1)
    size = numpy.median(numpy.linalg.norm(swept.max(axis=1) - swept.min(axis=1), axis=1))
    i, j = close_pairs(swept, swept, size)
    apart = (i < j) & (segments[i][:, :, None] != segments[j][:, None, :]).all(axis=(1, 2))
    i, j = i[apart], j[apart]

    def ends(time, which):
        corners = numpy.concatenate([segments[i[which]], segments[j[which]]], axis=1)
        return [before[c] + time[:, None] * (after[c] - before[c]) for c in corners.T]

    passed = []
    everyone = numpy.arange(len(i))
    side = lambda times, which: numpy.where(volume(*ends(times, which)) < 0, -1, 1)
    low_sign = side(numpy.zeros(len(i)), everyone)
    for piece in range(pieces):
        high_sign = side(numpy.full(len(i), (piece + 1) / pieces), everyone)
        which = numpy.flatnonzero(low_sign != high_sign)
        low, high = (numpy.full(len(which), (piece + k) / pieces) for k in (0, 1))
        for _ in range(halvings):
            middle = (low + high) / 2
            is_low = side(middle, which) == low_sign[which]
            low, high = numpy.where(is_low, middle, low), numpy.where(is_low, high, middle)
        a, b, c, d = ends(low, which)
        # Where the two lines, now in one plane, meet: a + s (b - a) = c + u (d - c).
        normal = numpy.cross(b - a, d - c)
        square = numpy.einsum("ij,ij->i", normal, normal) + 1e-300
        s = numpy.einsum("ij,ij->i", numpy.cross(c - a, d - c), normal) / square
        u = numpy.einsum("ij,ij->i", numpy.cross(c - a, b - a), normal) / square
        # Parallel segments are always in one plane, but for rounding, and their lines meet nowhere.
        gap = numpy.linalg.norm(a + s[:, None] * (b - a) - c - u[:, None] * (d - c), axis=1)
        met = which[(0 <= s) & (s <= 1) & (0 <= u) & (u <= 1) & (gap < 1e-6 * size)]
        passed += [i[met], j[met]]
        low_sign = high_sign
    return numpy.unique(numpy.concatenate(passed)) if passed else numpy.array([], int)


def volume(u, v, w, x):
    """Six times the volumes of tetrahedra."""
    return numpy.einsum("ij,ij->i", numpy.cross(v - u, w - u), x - u)


def close_pairs(first, second, size):
    """Pairs of elements of two lists, given by their corners, whose boxes touch a common cell of a grid."""
    cells = {}
    for side, corners in enumerate((first, second)):
        for number, box in enumerate(boxes(corners, size)):
            for cell in box:
                cells.setdefault(cell, ([], []))[side].append(number)
    pairs = [numpy.array(numpy.meshgrid(a, b)).reshape(2, -1) for a, b in cells.values() if a and b]
    return numpy.unique(numpy.concatenate(pairs, axis=1), axis=1) if pairs else numpy.zeros((2, 0), int)


def boxes(corners, size):
    """For each element the cells of a grid that its box touches."""
    low = numpy.floor(corners.min(axis=1) / size).astype(int)
    high = numpy.floor(corners.max(axis=1) / size).astype(int)
    for l, h in zip(low.tolist(), high.tolist()):
        yield [(i, j, k) for i in range(l[0], h[0] + 1) for j in range(l[1], h[1] + 1) for k in range(l[2], h[2] + 1)]


def main(arguments):
    parser = argparse.ArgumentParser(prog="crossings.py", description="Counts elements that went through others.")
    parser.add_argument("output", help="output folder of a run")
    parser.add_argument("bodies", nargs="+", metavar="body", help="drawn as triangles, or as lines")
    parser.add_argument("--frame", default="-1", help="number of a frame, -1 for the last (default), or all")
    options = parser.parse_args(arguments)
    try:
        run = weft_read.Run(options.output)
        kinds = {run.frame(body, 0).kind for body in options.bodies}
    except (FileNotFoundError, KeyError) as error:
        sys.exit(error.args[0])
    if kinds not in ({"triangle"}, {"line"}):
        sys.exit(f"{' '.join(options.bodies)}: expected bodies all drawn as triangles, or all as lines; these are drawn by "
                 f"{' and '.join(sorted(kinds))}.")
    count = len(run.times(options.bodies[0]))
    frames = range(count) if options.frame == "all" else [int(options.frame) % count]
    for number in frames:
        time, points, cells = joined(run, options.bodies, number)
        if kinds == {"triangle"}:
            crossed, what = len(crossed_triangles(points, cells)), "triangles are crossed"
        else:
            before = joined(run, options.bodies, max(number - 1, 0))[1]
            crossed, what = len(passed_segments(before, points, cells)), "segments went through another since the frame before"
        print(f"t = {time:.4g} s: {crossed} of {len(cells)} {what}, {crossed / len(cells):.4%}")


def joined(run, bodies, number):
    """Time, points and cells of a frame of bodies of one kind together; points in the order of their id."""
    points, cells, start = [], [], 0
    for body in bodies:
        frame = run.frame(body, number)
        order = numpy.argsort(frame["id"]) if "id" in frame.fields else numpy.arange(len(frame.points))
        place = numpy.empty(len(order), int)
        place[order] = numpy.arange(len(order))
        points.append(frame.points[order].astype(float))
        cells.append(place[frame.cells] + start)
        start += len(order)
    return frame.time, numpy.concatenate(points), numpy.concatenate(cells)


if __name__ == "__main__":
    main(sys.argv[1:])
