#!/usr/bin/env python3
"""Counts the triangles of a surface that cross others, by exact tests of edges against triangles.

    python3 postproc/crossings.py OUTPUT BODY              the last frame
    python3 postproc/crossings.py OUTPUT BODY --frame 3    another one; all: every frame

Triangles that share a point are not compared. Prints, for each frame, its time, the number of triangles that an edge of
another one goes through, and their share of all.
"""
import argparse
import sys

import numpy

import weft_read


def crossed_triangles(points, triangles):
    """The numbers of triangles that an edge of another triangle goes through."""
    edges = numpy.unique(numpy.sort(numpy.concatenate([triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])]), axis=1),
                         axis=0)
    size = numpy.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1).max()
    cells = {}
    for number, box in enumerate(boxes(points[triangles], size)):
        for cell in box:
            cells.setdefault(cell, ([], []))[0].append(number)
    for number, box in enumerate(boxes(points[edges], size)):
        for cell in box:
            if cell in cells:
                cells[cell][1].append(number)
    pairs = [numpy.array(numpy.meshgrid(t, e)).reshape(2, -1) for t, e in cells.values() if t and e]
    if not pairs:
        return numpy.array([], int)
    t, e = numpy.unique(numpy.concatenate(pairs, axis=1), axis=1)
    apart = (triangles[t][:, :, None] != edges[e][:, None, :]).all(axis=(1, 2))
    t, e = t[apart], e[apart]
    a, b, c = (points[triangles[t, k]] for k in range(3))
    p, q = (points[edges[e, k]] for k in range(2))
    volume = lambda u, v, w, x: numpy.einsum("ij,ij->i", numpy.cross(v - u, w - u), x - u)
    across = volume(a, b, c, p) * volume(a, b, c, q) < 0
    round_it = numpy.sign([volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)])
    inside = (round_it == round_it[0]).all(axis=0) & (round_it[0] != 0)
    return numpy.unique(t[across & inside])


def boxes(corners, size):
    """For each element the cells of a grid that its box touches."""
    low = numpy.floor(corners.min(axis=1) / size).astype(int)
    high = numpy.floor(corners.max(axis=1) / size).astype(int)
    for l, h in zip(low.tolist(), high.tolist()):
        yield [(i, j, k) for i in range(l[0], h[0] + 1) for j in range(l[1], h[1] + 1) for k in range(l[2], h[2] + 1)]


def main(arguments):
    parser = argparse.ArgumentParser(prog="crossings.py", description="Counts triangles that cross others.")
    parser.add_argument("output", help="output folder of a run")
    parser.add_argument("body", help="a body drawn as triangles")
    parser.add_argument("--frame", default="-1", help="number of a frame, -1 for the last (default), or all")
    options = parser.parse_args(arguments)
    run = weft_read.Run(options.output)
    frames = range(len(run.times(options.body))) if options.frame == "all" else [int(options.frame)]
    for number in frames:
        frame = run.frame(options.body, number)
        if frame.kind != "triangle":
            sys.exit(f"{options.body} is drawn as cells of kind {frame.kind}, not as triangles.")
        count = len(crossed_triangles(frame.points, frame.cells))
        print(f"t = {frame.time:.4g} s: {count} of {len(frame.cells)} triangles are crossed, {count / len(frame.cells):.4%}")


if __name__ == "__main__":
    main(sys.argv[1:])
