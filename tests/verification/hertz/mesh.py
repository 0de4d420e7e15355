#!/usr/bin/env python3
"""Writes eighth.obj: the eighth x, y, z > 0 of a ball of radius 1 about the origin."""
import math

N = 24


def point(i, j):
    """Of a division of the octant's triangle into N rows."""
    a, b = i / N * math.pi / 2, j / i * math.pi / 2 if i else 0
    return math.sin(a) * math.cos(b), math.cos(a), math.sin(a) * math.sin(b)


numbers = {(i, j): k + 2 for k, (i, j) in enumerate((i, j) for i in range(N + 1) for j in range(i + 1))}
faces = [(numbers[i, j], numbers[i + 1, j + 1], numbers[i + 1, j]) for i in range(N) for j in range(i + 1)]
faces += [(numbers[i, j], numbers[i, j + 1], numbers[i + 1, j + 1]) for i in range(N) for j in range(i)]
for k in range(N):  # the flat sides, as fans about the origin
    faces += [(1, numbers[k, 0], numbers[k + 1, 0]), (1, numbers[k + 1, k + 1], numbers[k, k]),
              (1, numbers[N, k], numbers[N, k + 1])]
with open("eighth.obj", "w") as file:
    file.write("v 0 0 0\n")
    file.writelines("v {:.6f} {:.6f} {:.6f}\n".format(*point(*ij)) for ij in numbers)
    file.writelines("f {} {} {}\n".format(*face) for face in faces)
