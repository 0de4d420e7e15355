"""Writes small output folders by h5py, as the program writes them, for tests of the scripts that read frames."""
import json
import pathlib

import h5py
import numpy

VERTEX, TRIANGLE = 1, 5


def write_frame(path, time, number, points, cells, cell_type, fields):
    """One VTKHDF unstructured grid of version 1.0. fields: {name: (array, unit)}."""
    with h5py.File(path, "w") as file:
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = numpy.array([1, 0])
        root.attrs.create("Type", b"UnstructuredGrid", dtype=h5py.string_dtype("ascii", 16))
        root.attrs["cell_kind"] = {VERTEX: "vertex", TRIANGLE: "triangle"}[cell_type]
        root.attrs["frame"], root.attrs["step"], root.attrs["time"] = number, 10 * number, float(time)
        width = cells.shape[1]
        for name, value in (("NumberOfPoints", len(points)), ("NumberOfCells", len(cells)),
                            ("NumberOfConnectivityIds", cells.size)):
            root[name] = numpy.array([value])
        root["Points"] = points.astype("f4")
        root["Connectivity"] = cells.ravel()
        root["Offsets"] = numpy.arange(len(cells) + 1) * width
        root["Types"] = numpy.full(len(cells), cell_type, "u1")
        data = root.create_group("PointData")
        for name, (array, unit) in fields.items():
            data[name] = array
            data[name].attrs["unit"] = unit


def write_series(output, name, frames):
    """frames: [(time, points, cells or None for particles, fields)]."""
    folder = pathlib.Path(output) / "frames"
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for number, (time, points, cells, fields) in enumerate(frames):
        file = f"{name}_{number:06d}.hdf"
        if cells is None:
            write_frame(folder / file, time, number, points, numpy.arange(len(points))[:, None], VERTEX, fields)
        else:
            write_frame(folder / file, time, number, points, cells, TRIANGLE, fields)
        listed.append({"name": file, "time": time})
    (folder / f"{name}.hdf.series").write_text(json.dumps({"file-series-version": "1.0", "files": listed}))


def particles(points, velocity):
    """Points with the fields that frames of a continuum carry."""
    return points, None, {
        "id": (numpy.arange(len(points), dtype="u8"), "1"),
        "velocity": (numpy.broadcast_to(velocity, points.shape).astype("f4"), "m/s"),
        "pressure": ((1 - points[:, 1]).astype("f4") * 1e3, "Pa"),
    }


def lattice(lower, upper, spacing):
    axes = [numpy.arange(a + spacing / 2, b, spacing) for a, b in zip(lower, upper)]
    return numpy.stack(numpy.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)


def sphere_mesh(center, radius, rings=32):
    """Triangles with their normals outward."""
    polar, turn = numpy.meshgrid(numpy.linspace(0, numpy.pi, rings + 1),
                                 numpy.linspace(0, 2 * numpy.pi, 2 * rings + 1))
    width = numpy.sin(polar)
    points = numpy.stack([width * numpy.cos(turn), numpy.cos(polar), -width * numpy.sin(turn)], -1)
    a = numpy.arange(points[..., 0].size).reshape(points.shape[:2])
    quads = numpy.stack([a[:-1, :-1], a[:-1, 1:], a[1:, 1:], a[1:, :-1]], -1).reshape(-1, 4)
    return points.reshape(-1, 3) * radius + center, numpy.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def floor_mesh(size):
    """A square of this half width at y = 0 with its normal upward."""
    corners = numpy.array([[-1, 0, -1], [-1, 0, 1], [1, 0, 1], [1, 0, -1]])
    return size * corners, numpy.array([[0, 1, 2], [0, 2, 3]])
