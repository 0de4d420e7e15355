"""No triangle of the limit surface crosses another one and none is turned over; see README.md."""
import pathlib
import sys

import h5py
import numpy

from reading import Finding, at_least, for_the_record

POSTPROC = pathlib.Path(__file__).resolve().parents[3] / "postproc"
sys.path.insert(0, str(POSTPROC))
import crossings  # noqa: E402

RUNS = {"quick": {"stack": []}, "full": {"stack": ["--set", "time.end=4.6", "--set", "time.frame_interval=0.46"]}}


def surface(run, body, number):
    with h5py.File(run.folder / "frames" / f"{body}_{number:06d}.hdf") as file:
        points = file["VTKHDF/Points"][:].astype(float)  # volumes of flat parts drown in the rounding of single numbers
        corners = file["VTKHDF/Connectivity"][:].reshape(-1, 3)
    # Faces have points of their own where they meet: those at the same place are one.
    _, first, number = numpy.unique(numpy.round(points / 1e-9).astype(int), axis=0, return_index=True,
                                    return_inverse=True)
    return points[first], number.reshape(-1)[corners]


def turned(points, triangles):
    """Triangles that a neighbour across an edge is folded back upon, by more than 120 degrees."""
    normal = numpy.cross(points[triangles[:, 1]] - points[triangles[:, 0]],
                         points[triangles[:, 2]] - points[triangles[:, 0]])
    normal /= numpy.linalg.norm(normal, axis=1)[:, None]
    edges = numpy.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]], axis=2).reshape(-1, 2)
    order = numpy.lexsort(edges.T)
    same = (edges[order[1:]] == edges[order[:-1]]).all(axis=1)
    a, b = order[:-1][same] // 3, order[1:][same] // 3
    return int(numpy.count_nonzero((normal[a] * normal[b]).sum(axis=1) < -0.5))


def findings(runs, name, body, size):
    run = runs[name]
    found = []
    crossed = inverted = 0
    for number in range(len(run.times(body))):
        points, triangles = surface(run, body, number)
        crossed = max(crossed, len(crossings.crossed_triangles(points, triangles)))
        inverted = max(inverted, turned(points, triangles))
    found.append(at_least("steps", run["step"][-1], 1e4 if size == "full" else 100))
    found.append(for_the_record("triangles", len(triangles)))
    found.append(Finding("crossed triangles, most of all frames", crossed, 0, crossed, crossed == 0))
    found.append(Finding("neighbours turned over, most of all frames", inverted, 0, inverted, inverted == 0))
    return found


def check(runs, size):
    return findings(runs, "stack", "cards", size)
