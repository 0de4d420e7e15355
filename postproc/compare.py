#!/usr/bin/env python3
"""Compares two runs: their diagnostics at common times, and their last common frames particle by particle.

    python3 postproc/compare.py A B                    a line for each quantity that differs
    python3 postproc/compare.py A B --tolerance 1e-6   ends with 1 if a relative difference is larger

The runs may have different steps: diagnostics of B are interpolated to the times of A. (`weft compare A B` compares
checkpoints, to the bit.)
"""
import argparse
import pathlib
import sys

import packages

packages.need("h5py", "numpy")
import numpy  # noqa: E402
import weft_read  # noqa: E402

# What depends on the computer, and how time was cut into steps.
IGNORED = {"step", "time", "dt", "wall_seconds", "particle_steps_per_second", "imbalance", "memory_bytes"}


def parse(arguments):
    parser = argparse.ArgumentParser(prog="compare.py", description="Compares two runs.")
    parser.add_argument("a", type=pathlib.Path)
    parser.add_argument("b", type=pathlib.Path)
    parser.add_argument("--tolerance", type=float, help="end with 1 if a relative difference is larger")
    return parser.parse_args(arguments)


def difference(a, b, least_scale=0.0):
    """Largest difference, absolute and relative to the largest magnitude in either, or to `least_scale` if that is larger;
    infinity if only one is finite."""
    good = numpy.isfinite(a) & numpy.isfinite(b)
    if (numpy.isfinite(a) != numpy.isfinite(b)).any():
        return numpy.inf, numpy.inf
    if not good.any():
        return 0.0, 0.0
    absolute = abs(a[good] - b[good]).max()
    scale = max(abs(a[good]).max(), abs(b[good]).max(), least_scale)
    return absolute, absolute / scale if scale > 0 else 0.0


def size_of_vector(columns, name):
    """Largest finite component of the vector that a column _x, _y or _z belongs to: others of it may be round-off."""
    if name[-2:] not in ("_x", "_y", "_z"):
        return 0.0
    parts = [abs(columns[name[:-1] + axis]) for axis in "xyz" if name[:-1] + axis in columns]
    return max((part[numpy.isfinite(part)].max(initial=0.0) for part in parts), default=0.0)


def compare_diagnostics(a, b):
    """Yields (name, unit, absolute, relative)."""
    times, other = a.diagnostics["time"], b.diagnostics["time"]
    common = (times >= other[0]) & (times <= other[-1])
    if not common.any():
        yield "times in common", "1", numpy.inf, numpy.inf
        return
    for name, column in a.diagnostics.items():
        if name in IGNORED:
            continue
        if name not in b.diagnostics:
            yield f"{name} (in {a.output} only)", "1", numpy.inf, numpy.inf
        else:
            there = numpy.interp(times[common], other, b.diagnostics[name])
            yield name, a.units[name], *difference(column[common], there, size_of_vector(a.diagnostics, name))


def compare_frames(a, b, name):
    """Yields (name, unit, absolute, relative) for the fields of the last frame time that both runs have."""
    common = [t for t in a.times(name) if (abs(b.times(name) - t) <= 1e-9 * max(1.0, abs(t))).any()]
    if not common:
        yield f"{name}: frames in common", "1", numpy.inf, numpy.inf
        return
    frames = [run.frame_at(name, common[-1]) for run in (a, b)]
    ids = [frame["id"] if "id" in frame.fields else numpy.arange(len(frame.points)) for frame in frames]
    _, *rows = numpy.intersect1d(*ids, return_indices=True)
    alone = len(ids[0]) + len(ids[1]) - 2 * len(rows[0])
    if alone:
        yield f"{name}: particles that one run lacks", "1", float(alone), numpy.inf
    here = f"{name} at t = {common[-1]:.6g} s:"
    positions = [frame.points[r] for frame, r in zip(frames, rows)]
    yield f"{here} position", "m", *difference(*positions)
    cells = [numpy.sort(of[frame.cells], axis=1) for frame, of in zip(frames, ids)]  # by the ids of their points
    orders = [numpy.lexsort(corners.T) for corners in cells]
    same_cells = numpy.array_equal(*(corners[order] for corners, order in zip(cells, orders)))
    if not same_cells:
        yield f"{name}: cells that are not in both runs", "1", numpy.inf, numpy.inf
    for field in frames[0].fields:
        if field == "id" or field not in frames[1].fields:
            continue
        values = [frame[field] for frame in frames]
        if all(len(v) == len(frame.points) for v, frame in zip(values, frames)):
            yield f"{here} {field}", frames[0].unit(field), *difference(*(v[r] for v, r in zip(values, rows)))
        elif same_cells:
            yield f"{here} {field}", frames[0].unit(field), *difference(*(v[o] for v, o in zip(values, orders)))


def main(arguments):
    options = parse(arguments)
    a, b = weft_read.Run(options.a), weft_read.Run(options.b)
    found = list(compare_diagnostics(a, b))
    for name in a.names:
        if name in b.names:
            found += compare_frames(a, b, name)
        else:
            found.append((f"{name} (in {a.output} only)", "1", numpy.inf, numpy.inf))
    worst = max(relative for *_, relative in found)
    for name, unit, absolute, relative in found:
        if relative > 0:
            print(f"{name}: {absolute:.3g} {unit if unit != '1' else ''} ({relative:.2g} of the largest)")
    print(f"largest relative difference: {worst:.3g}")
    return int(options.tolerance is not None and worst > options.tolerance)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
