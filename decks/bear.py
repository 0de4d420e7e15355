#!/usr/bin/env python3
"""Writes bear.obj, the bear of cloth_bear.yaml, with a hole in its head: python3 decks/bear.py > decks/bear.obj

Ellipsoids are joined into one smooth body. Its surface is cut out of the tetrahedra of a body-centred cubic lattice,
whose points are moved onto it where they are near [Labelle and Shewchuk 2007], and then evened out.
"""
import itertools
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "postproc"))
import packages  # noqa: E402

packages.need("numpy")
import numpy  # noqa: E402

# Centre and half axes [m]; z points up and the bear looks along -y.
PARTS = [((0, 0, 0.20), (0.15, 0.13, 0.19)), ((0, 0, 0.44), (0.13, 0.12, 0.115)), ((0, -0.11, 0.42), (0.055, 0.05, 0.045))]
for side in -1, 1:
    PARTS += [((0.105 * side, 0, 0.535), (0.05, 0.04, 0.05)), ((0.18 * side, -0.06, 0.27), (0.10, 0.055, 0.055)),
              ((0.10 * side, -0.12, 0.075), (0.07, 0.11, 0.07))]
BLEND = 0.03  # [m]: over this distance parts flow into one another
CELL = 0.04  # [m] of the lattice; edges are about two thirds of it
HOLE = ((0, 0, 0.56), 0.075)  # triangles within this distance of the point are left out


def distance(x):
    """About the signed distance of points [m]."""
    total = numpy.full(len(x), numpy.inf)
    for center, axes in PARTS:
        scaled = (x - center) / axes
        size = numpy.linalg.norm(scaled, axis=1) + 1e-12
        d = size * (size - 1) / (numpy.linalg.norm(scaled / axes, axis=1) + 1e-12)
        h = numpy.clip(1 - abs(d - total) / BLEND, 0, 1) if numpy.isfinite(total).all() else 0
        total = numpy.minimum(d, total) - BLEND / 4 * h**2
    return total


def outward(x, step=1e-4):
    slope = numpy.stack([distance(x + step * e) - distance(x - step * e) for e in numpy.eye(3)], 1)
    return slope / numpy.linalg.norm(slope, axis=1)[:, None]


def lattice():
    """Points of the lattice and its tetrahedra."""
    low, high = numpy.array([-0.36, -0.32, -0.08]), numpy.array([0.36, 0.24, 0.70])
    n = ((high - low) / CELL).astype(int)
    number = {}

    def at(*twice):  # twice the place in cells: even for corners, odd for middles
        return number.setdefault(twice, len(number))

    tetrahedra = []
    for cell in itertools.product(*map(range, n)):
        for axis in range(3):
            a, b = (axis + 1) % 3, (axis + 2) % 3
            middle = 2 * numpy.array(cell) + 1
            beyond = middle + 2 * numpy.eye(3, dtype=int)[axis]
            face = (middle + beyond) // 2
            ring = [face + da * numpy.eye(3, dtype=int)[a] + db * numpy.eye(3, dtype=int)[b]
                    for da, db in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            for p, q in zip(ring, ring[1:] + ring[:1]):
                tetrahedra.append([at(*middle), at(*beyond), at(*p), at(*q)])
    return low + CELL / 2 * numpy.array(list(number)), tetrahedra


def surface():
    x, tetrahedra = lattice()
    d = distance(x)
    edges = {tuple(sorted(pair)) for t in tetrahedra for pair in itertools.combinations(t, 2)}
    for i, j in sorted(edges):  # move lattice points onto the surface
        if d[i] * d[j] < 0:
            share = d[i] / (d[i] - d[j])
            for vertex, part in (i, share), (j, 1 - share):
                if part < 0.3 and d[vertex] != 0:
                    x[vertex] -= d[vertex] * outward(x[vertex:vertex + 1])[0]
                    d[vertex] = 0
                    break
    points, triangles, number = [], [], {}

    def vertex(i, j):
        if (i, j) not in number:
            number[i, j] = len(points)
            points.append(x[i] if i == j else x[i] + d[i] / (d[i] - d[j]) * (x[j] - x[i]))
        return number[i, j]

    for t in tetrahedra:
        inside, on, outside = ([v for v in t if test(d[v])] for test in (lambda s: s < 0, lambda s: s == 0, lambda s: s > 0))
        if not inside or (not outside and len(on) < 3):
            continue
        corners = [vertex(v, v) for v in on]
        if len(inside) == 2 and len(outside) == 2:
            corners = [vertex(*sorted((inside[i], outside[o]))) for i, o in ((0, 0), (0, 1), (1, 1), (1, 0))]
        else:
            corners += [vertex(*sorted((i, o))) for i in inside for o in outside]
        triangles += [[corners[0], corners[k], corners[k + 1]] for k in range(1, len(corners) - 1)]
    return numpy.array(points), numpy.array(triangles)


def evened(x, triangles, rounds=30):
    """Every vertex moves towards the mean of its neighbours, and back onto the surface."""
    pairs = numpy.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    for _ in range(rounds):
        mean, count = numpy.zeros_like(x), numpy.zeros(len(x))
        numpy.add.at(mean, pairs[:, 0], x[pairs[:, 1]])
        numpy.add.at(mean, pairs[:, 1], x[pairs[:, 0]])
        numpy.add.at(count, pairs.ravel(), 1)
        x = 0.5 * x + 0.5 * mean / count[:, None]
        for _ in range(2):
            x = x - distance(x)[:, None] * outward(x)
    return x


def main():
    x, triangles = surface()
    x = evened(x, triangles)
    a, b, c = (x[triangles[:, k]] for k in range(3))
    turned = (numpy.cross(b - a, c - a) * outward((a + b + c) / 3)).sum(axis=1) < 0
    triangles[turned] = triangles[turned][:, [0, 2, 1]]
    triangles = triangles[numpy.linalg.norm((a + b + c) / 3 - HOLE[0], axis=1) > HOLE[1]]
    used = numpy.unique(triangles)
    new = numpy.zeros(len(x), int)
    new[used] = numpy.arange(1, len(used) + 1)
    print("# A bear with a hole in its head, written by bear.py.")
    for point in x[used]:
        print("v %.4f %.4f %.4f" % tuple(point))
    for triangle in new[triangles]:
        print("f %d %d %d" % tuple(triangle))


if __name__ == "__main__":
    main()
