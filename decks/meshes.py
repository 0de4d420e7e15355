#!/usr/bin/env python3
"""Writes the meshes that the decks of garments, ribbons, cards, a disc, a dome and a pinwheel read.

    python3 decks/meshes.py [--cells N]      into this folder; N: cells across a leg (default 4)

Garments are the skins of bodies made of cubes, without the openings, smoothed; ribbons and cards are rectangles; the disc is
round, the dome is of triangles, and the pinwheel is closed.
Lengths are in edges of a face: `scale` in the deck gives them a size.
"""
import argparse
import itertools
import math
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent


def write(name, points, faces):
    lines = [f"# {len(faces)} faces, written by meshes.py\n"]
    lines += [f"v {x:.6g} {y:.6g} {z:.6g}\n" for x, y, z in points]
    lines += ["f " + " ".join(str(p + 1) for p in face) + "\n" for face in faces]
    (FOLDER / name).write_text("".join(lines))


def skin(cells, is_open):
    """The faces between cells and their surroundings, but for those whose middle `is_open`."""
    number, faces = {}, []
    for cell in sorted(cells):
        for axis, side in itertools.product(range(3), (0, 1)):
            beyond = list(cell)
            beyond[axis] += 2 * side - 1
            if tuple(beyond) in cells:
                continue
            u, v = (axis + 1) % 3, (axis + 2) % 3
            corners = []
            for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1)):
                corner = list(cell)
                corner[axis] += side
                corner[u] += du
                corner[v] += dv
                corners.append(tuple(corner))
            middle = [sum(c) / 4 for c in zip(*corners)]
            if not is_open(middle, axis):
                faces.append([number.setdefault(c, len(number)) for c in (corners if side else corners[::-1])])
    return [list(map(float, c)) for c in number], faces


def smooth(points, faces, rounds):
    """Points move to the mean of their neighbours again and again; those of openings stay in their plane."""
    edges = {}
    for face in faces:
        for p, q in zip(face, face[1:] + face[:1]):
            edges[frozenset((p, q))] = edges.get(frozenset((p, q)), 0) + 1
    around = [set() for _ in points]
    rim = [set() for _ in points]
    for (p, q), count in ((tuple(edge), count) for edge, count in edges.items()):
        for of in (around, rim) if count == 1 else (around,):
            of[p].add(q)
            of[q].add(p)
    for _ in range(rounds):
        means = [[sum(points[q][a] for q in (rim[p] or around[p])) / len(rim[p] or around[p]) for a in range(3)]
                 for p in range(len(points))]
        # A step back after each one ahead keeps the size [Taubin 1995].
        points = [[x + 0.5 * (m - x) for x, m in zip(*pair)] for pair in zip(points, means)]
        means = [[sum(points[q][a] for q in (rim[p] or around[p])) / len(rim[p] or around[p]) for a in range(3)]
                 for p in range(len(points))]
        points = [[x - 0.5 * (m - x) for x, m in zip(*pair)] for pair in zip(points, means)]
    return points


def block(low, high):
    return set(itertools.product(*(range(a, b) for a, b in zip(low, high))))


def pants(n):
    """Legs n x n cells wide and 4 n long from z = -4 n to 0, one cell apart; the waist is at z = 3 n / 2."""
    top = 3 * n // 2
    cells = block((-n - 1, 0, -4 * n), (-1, n, 0)) | block((0, 0, -4 * n), (n, n, 0)) | block((-n - 1, 0, 0), (n, n, top))
    points, faces = skin(cells, lambda m, axis: axis == 2 and m[2] in (-4 * n, top))
    write("pants.obj", [(x + 0.5, y - n / 2, z) for x, y, z in smooth(points, faces, 8)], faces)


def shirt(n):
    """A trunk 2 n wide, n deep and 3 n high, with sleeves 2 n long and open at bottom, neck and sleeves."""
    trunk = block((-n, 0, 0), (n, n, 3 * n))
    sleeves = block((-3 * n, 0, 2 * n), (-n, n, 3 * n)) | block((n, 0, 2 * n), (3 * n, n, 3 * n))
    q = n // 4

    def is_open(m, axis):
        return (axis == 2 and (m[2] == 0 or (m[2] == 3 * n and abs(m[0]) < n / 2 and q <= m[1] <= n - q))) or (
            axis == 0 and abs(m[0]) == 3 * n)
    points, faces = skin(trunk | sleeves, is_open)
    write("shirt.obj", [(x, y - n / 2, z) for x, y, z in smooth(points, faces, 8)], faces)


def rectangles(name, places, across, along):
    """Rectangles from each place along two unit vectors."""
    points, faces = [], []
    for origin, u, v in places:
        first = len(points)
        points += [[o + i * a + j * b for o, a, b in zip(origin, u, v)] for j in range(along + 1) for i in range(across + 1)]
        at = lambda i, j: first + j * (across + 1) + i
        faces += [[at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)] for j in range(along) for i in range(across)]
    write(name, points, faces)


def disc(n):
    """A disc of radius 1: n x n faces in its middle and n / 2 rings of 4 n faces around; points in the middle of their
    neighbours."""
    rim = [(k, 0) for k in range(n)] + [(n, k) for k in range(n)] + [(n - k, n) for k in range(n)] + [
        (0, n - k) for k in range(n)]
    at = lambda i, j: j * (n + 1) + i
    out = lambda k, ring: at(*rim[k % len(rim)]) if ring == 0 else (n + 1) ** 2 + (ring - 1) * len(rim) + k % len(rim)
    faces = [[at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)] for j in range(n) for i in range(n)]
    faces += [[out(k, r), out(k, r + 1), out(k + 1, r + 1), out(k + 1, r)] for r in range(n // 2) for k in range(len(rim))]
    angles = [2 * math.pi * k / len(rim) - 3 * math.pi / 4 for k in range(len(rim))]
    points = [[0.0, 0.0, 0.0] for _ in range(out(0, n // 2))] + [[math.cos(a), math.sin(a), 0.0] for a in angles]
    around = [set() for _ in points]
    for face in faces:
        for p, q in zip(face, face[1:] + face[:1]):
            around[p].add(q)
            around[q].add(p)
    for _ in range(50 * n):
        for p in range(out(0, n // 2)):
            points[p] = [sum(points[q][a] for q in around[p]) / len(around[p]) for a in range(3)]
    write("disc.obj", points, faces)


def dome(rings, half_angle):
    """A cap of the unit sphere about its top: rings of triangles, six in the first."""
    rows, points = [[0]], [(0.0, 0.0, 1.0)]
    for r in range(1, rings + 1):
        rows.append([len(points) + k for k in range(6 * r)])
        for k in range(6 * r):
            polar, turn = half_angle * r / rings, math.pi * k / (3 * r)
            points.append((math.sin(polar) * math.cos(turn), math.sin(polar) * math.sin(turn), math.cos(polar)))
    faces = []
    for r in range(1, rings + 1):
        out, inn = (lambda k: rows[r][k % (6 * r)]), (lambda k: rows[r - 1][k % max(1, 6 * r - 6)])
        for side in range(6):
            for k in range(r):
                o, i = side * r + k, side * (r - 1) + k
                faces.append([out(o), out(o + 1), inn(i)])
                if k + 1 < r:
                    faces.append([out(o + 1), inn(i + 1), inn(i)])
    write("dome.obj", points, faces)


def pinwheel(arm, width):
    """A wheel about the y axis: four paddles of cubes, as thick as one, around one."""
    across = {(x, 0) for x in range(-arm, arm + 1)} | {(0, z) for z in range(-arm, arm + 1)}
    points, faces = skin({(x, y, z) for x, z in across for y in range(width)}, lambda middle, axis: False)
    write("pinwheel.obj", [[x - 0.5, y - width / 2, z - 0.5] for x, y, z in points], faces)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=4, help="cells across a leg or a ribbon")
    n = parser.parse_args().cells
    pants(n)
    shirt(n)
    # Four ribbons on the sides of a square, as high as five times its side.
    m, s = max(2, n // 2), n
    rectangles("ribbons.obj", [((-m / 2, -s, 0), (1, 0, 0), (0, 0, 1)), ((m / 2, s, 0), (-1, 0, 0), (0, 0, 1)),
                               ((s, -m / 2, 0), (0, 1, 0), (0, 0, 1)), ((-s, m / 2, 0), (0, -1, 0), (0, 0, 1))], m, 5 * n)
    # Ten cards of n x 3 n / 2 faces, 1.6 edges apart.
    rectangles("cards.obj", [((0, 0, 1.6 * k), (1, 0, 0), (0, 1, 0)) for k in range(10)], n, 3 * n // 2)
    disc(2 * n)
    dome(2 * n, math.radians(25))
    pinwheel(n, n + 1)


if __name__ == "__main__":
    main()
