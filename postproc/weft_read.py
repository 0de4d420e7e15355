"""Reads what a run of Weft leaves, as numpy arrays; needs h5py and numpy only.

    import weft_read
    run = weft_read.Run("out/quickstart")
    run.names                                   bodies, colliders, ... that have frames
    run.times("sand")                           times of its frames [s]
    frame = run.frame("sand", -1)               by number, or run.frame_at("sand", 0.5) for the newest until then
    frame.points, frame["velocity"], frame.unit("velocity"), frame.cells, frame.time, frame.step
    run.diagnostics["kinetic_energy"]           a column of diagnostics.csv; run.units["kinetic_energy"] its unit
    checkpoint = run.checkpoint()               the newest, or run.checkpoint(step)
    checkpoint["sand"]["position"], checkpoint.time, checkpoint.deck

Fields of points have a row for each point: (n,), (n, 3), or (n, 3, 3) for tensors, [row, column] of the matrix.
"""
import csv
import functools
import json
import os
import pathlib

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # only reading; network file systems may refuse locks

import h5py  # noqa: E402
import numpy  # noqa: E402


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def shaped(rows):
    """Rows of nine numbers as matrices."""
    return rows.reshape(-1, 3, 3) if rows.ndim == 2 and rows.shape[1] == 9 else rows


class Frame:
    """One frame of one object. frame["pressure"] is a field of its points, or of its cells if points have none. Arrays
    are read when they are asked for."""

    def __init__(self, file):
        self.file = pathlib.Path(file)
        with h5py.File(self.file, "r") as stored:
            root = stored["VTKHDF"]
            self.step, self.time = int(root.attrs["step"]), float(root.attrs["time"])
            # vertex, line, triangle, hexahedron, tetrahedron or quadratic_tetrahedron
            self.kind = text(root.attrs["cell_kind"])
            groups = [root[group] for group in ("PointData", "CellData") if group in root]
            self._units = {name: text(data.attrs["unit"]) for group in groups for name, data in group.items()}

    @functools.cached_property
    def points(self):
        with h5py.File(self.file, "r") as stored:
            return stored["VTKHDF/Points"][()]

    @functools.cached_property
    def cells(self):
        """The points of each cell, a row for each."""
        with h5py.File(self.file, "r") as stored:
            offsets = stored["VTKHDF/Offsets"]
            return stored["VTKHDF/Connectivity"][()].reshape(len(offsets) - 1, int(offsets[1]) if len(offsets) > 1 else 1)

    @property
    def fields(self):
        return sorted(self._units)

    def unit(self, field):
        return self._units[field]

    def __getitem__(self, field):
        with h5py.File(self.file, "r") as stored:
            for group in "PointData", "CellData":
                if field in stored["VTKHDF"].get(group, {}):
                    return shaped(stored["VTKHDF"][group][field][()])
        raise KeyError(f"{self.file} has no field {field}; it has {', '.join(self.fields)}")


class Checkpoint:
    """A whole state in double precision; checkpoint["sand"] is a dictionary of the arrays of that body."""

    def __init__(self, folder):
        self.file = pathlib.Path(folder) / "state.h5"
        with h5py.File(self.file, "r") as stored:
            self.step, self.time = int(stored.attrs["step"]), float(stored.attrs["time"])
            self.deck = stored["header/resolved_deck"][()].tobytes().decode()
            self.names = sorted(stored["tables"])

    def __getitem__(self, name):
        with h5py.File(self.file, "r") as stored:
            # Checkpoints hold matrices column by column, as they lie in memory.
            tensors = lambda rows: rows.transpose(0, 2, 1) if rows.ndim == 3 else rows
            return {field: tensors(shaped(data[()])) for field, data in stored["tables"][name].items()}


class Run:
    """The output folder of a run."""

    def __init__(self, output):
        self.output = pathlib.Path(output)
        if not (self.output / "frames").is_dir():
            raise FileNotFoundError(f"{self.output} is not the output folder of a run: it holds no frames")
        self._series = {}
        for index in sorted((self.output / "frames").glob("*.hdf.series")):
            entries = json.loads(index.read_text())["files"]
            frames = sorted((entry["time"], index.parent / entry["name"]) for entry in entries)
            self._series[index.name.removesuffix(".hdf.series")] = frames

    @property
    def names(self):
        return sorted(self._series)

    @property
    def status(self):
        """What run.json says: state, step, time, provenance, ..."""
        return json.loads((self.output / "run.json").read_text())

    def _frames(self, name):
        if name not in self._series:
            raise KeyError(f"{self.output} has no frames of {name}; it has those of {', '.join(self.names)}")
        return self._series[name]

    def times(self, name):
        return numpy.array([time for time, _ in self._frames(name)])

    def frame(self, name, number):
        return Frame(self._frames(name)[number][1])

    def frame_at(self, name, time):
        """The newest frame that is not later; None before the first. What stands still is written once."""
        due = [file for when, file in self._frames(name) if when <= time + 1e-9 * max(1.0, abs(time))]
        return Frame(due[-1]) if due else None

    @functools.cached_property
    def _table(self):
        """The columns of diagnostics.csv and their units, by name."""
        with open(self.output / "diagnostics.csv", newline="") as file:
            header, *rows = csv.reader(file)
        heads = [column.rstrip("]").split(" [") for column in header]
        rows = [row for row in rows if len(row) == len(header)]  # a run under way may be in the middle of one
        numbers = numpy.array([[float(number) for number in row] for row in rows]).reshape(len(rows), len(header))
        return ({head[0]: column for head, column in zip(heads, numbers.T)},
                {head[0]: head[1] if len(head) > 1 else "1" for head in heads})

    @property
    def diagnostics(self):
        """{name: column}; the columns have a number for each row of diagnostics.csv."""
        return self._table[0]

    @property
    def units(self):
        return self._table[1]

    @property
    def checkpoint_steps(self):
        folders = (self.output / "checkpoints").glob("step_*")
        return sorted(int(folder.name[len("step_"):]) for folder in folders if folder.name[len("step_"):].isdigit())

    def checkpoint(self, step=None):
        steps = self.checkpoint_steps
        if not steps or (step is not None and step not in steps):
            raise KeyError(f"{self.output} has no checkpoint {'' if step is None else step}; it has {steps}")
        return Checkpoint(self.output / "checkpoints" / f"step_{steps[-1] if step is None else step:012d}")
