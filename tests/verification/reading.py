"""Reads what a run leaves and states what is found; shared by the checks of all cases."""
import csv
import dataclasses
import json
import math
import pathlib

import h5py
import numpy


class Run:
    """A finished run: its history by column name, its frames by body."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        history = self.folder / "diagnostics.csv"
        if not history.exists():
            history = self.folder / "load_displacement.csv"  # of a static analysis
        with open(history, newline="") as file:
            names, *rows = csv.reader(file)
        values = numpy.array(rows, dtype=float)
        self.history = {name.split(" [")[0]: values[:, column] for column, name in enumerate(names)}

    def __getitem__(self, column):
        """A column of diagnostics.csv, without its unit in the name."""
        return self.history[column]

    def vector(self, name):
        """Three columns name_x, name_y, name_z: an array of (rows, 3)."""
        return numpy.stack([self.history[f"{name}_{axis}"] for axis in "xyz"], axis=1)

    def times(self, body):
        """Times of the frames of a body [s]."""
        index = json.loads((self.folder / "frames" / f"{body}.hdf.series").read_text())
        return numpy.array([entry["time"] for entry in index["files"]])

    def frame(self, body, number):
        """One frame: a dictionary of arrays, "position" among them."""
        with h5py.File(self.folder / "frames" / f"{body}_{number:06d}.hdf") as file:
            fields = {name: data[:] for name, data in file["VTKHDF/PointData"].items()}
            return fields | {"position": file["VTKHDF/Points"][:]}


def largest_rise(values):
    """Above the least value so far."""
    return (values - numpy.minimum.accumulate(values)).max()


@dataclasses.dataclass
class Finding:
    """A number, what it should be, and whether it is."""
    quantity: str
    value: float
    reference: float
    error: float  # relative, or as `scale` says
    passed: bool


def near(quantity, value, reference, tolerance, scale=None):
    """value = reference within tolerance * scale; the scale is the reference unless given."""
    scale = abs(reference) if scale is None else scale
    error = abs(value - reference) / scale
    return Finding(quantity, value, reference, error, bool(error <= tolerance))


def at_most(quantity, value, bound):
    return Finding(quantity, value, bound, (value - bound) / (abs(bound) or 1), bool(value <= bound))


def at_least(quantity, value, bound):
    return Finding(quantity, value, bound, (value - bound) / (abs(bound) or 1), bool(value >= bound))


def for_the_record(quantity, value):
    """A number without a reference."""
    return Finding(quantity, value, math.nan, math.nan, math.isfinite(value))


def zeros(t, u):
    """Times at which u changes its sign, interpolated."""
    return [t[k] - u[k] * (t[k + 1] - t[k]) / (u[k + 1] - u[k]) for k in range(len(t) - 1) if u[k] * u[k + 1] < 0]


def order(errors, ratio=2):
    """Observed order of convergence between neighbours in a list of errors, the coarsest first."""
    return [math.log(coarse / fine) / math.log(ratio) for coarse, fine in zip(errors, errors[1:])]


def peak(t, x, near_to):
    """The frequency within an eighth of `near_to` [rad/s] at which the signal, without its mean and its drift and with
    a Hann window, is strongest."""
    x = (x - numpy.polyval(numpy.polyfit(t, x, 1), t)) * numpy.hanning(len(t))
    for width in near_to / 8, near_to / 300:
        tried = numpy.linspace(near_to - width, near_to + width, 201)
        near_to = tried[numpy.argmax([abs(numpy.sum(x * numpy.exp(-1j * w * t))) for w in tried])]
    return near_to
