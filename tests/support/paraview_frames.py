#!/usr/bin/python3
"""Opens every time series of output folders in ParaView and compares what ParaView sees with what the files hold.

    paraview_frames.py OUTPUT_FOLDER ...

Runs itself under `xvfb-run pvbatch` when needed. Prints a line for each index; ends with 1 if one does not fit.
"""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def run_under_pvbatch():
    """The exit status of this script inside ParaView."""
    for program in ("xvfb-run", "pvbatch"):
        if shutil.which(program) is None:
            sys.exit(f"{program} is missing: install xvfb, xauth and paraview.")
    screen = ["xvfb-run", "-a", "-s", "-screen 0 1280x1024x24 -noreset"]  # without -noreset the display restarts between clients
    return subprocess.run(screen + ["pvbatch", __file__] + sys.argv[1:]).returncode


def held(path):
    """Time, number of points, bounds and the ranges of all fields of a frame file, read without ParaView."""
    import h5py

    def ranges(group):
        """Smallest and largest value of each component of each field."""
        rows = {name: data[:].reshape(len(data), -1) for name, data in group.items() if len(data)}
        return {name: [(v.min(), v.max()) for v in data.T] for name, data in rows.items()}

    with h5py.File(path, "r") as file:
        mesh = file["VTKHDF"]
        points = mesh["Points"][:]
        bounds = [side for a in range(3) for side in (points[:, a].min(), points[:, a].max())] if len(points) else None
        return {
            "time": float(mesh.attrs["time"]),
            "points": len(points),
            "cells": len(mesh["Types"]),
            "bounds": bounds,
            "point_fields": ranges(mesh["PointData"]),
            "cell_fields": ranges(mesh["CellData"]),
        }


def leaves(data):
    """The data sets in what a reader gives, which may be nested blocks."""
    if data is None:
        return []
    if data.IsA("vtkCompositeDataSet"):
        return [leaf for k in range(data.GetNumberOfBlocks()) for leaf in leaves(data.GetBlock(k))]
    return [data]


def close(a, b):
    """True but for the digits that single precision lacks."""
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b))


def difference(reader, frame):
    """What ParaView sees differently at this frame's time, in words; empty if nothing."""
    from paraview import servermanager

    reader.UpdatePipeline(frame["time"])
    data = leaves(servermanager.Fetch(reader))
    counts = [sum(leaf.GetNumberOfPoints() for leaf in data), sum(leaf.GetNumberOfCells() for leaf in data)]
    if counts != [frame["points"], frame["cells"]]:
        return f"{counts} points and cells, held {[frame['points'], frame['cells']]}"
    if frame["points"] == 0:
        return ""
    info = reader.GetDataInformation().DataInformation
    seen = [info.GetBounds()[k] for k in range(6)]
    extent = max(abs(value) for value in frame["bounds"]) + 1e-30
    if any(abs(a - b) > 1e-6 * extent for a, b in zip(seen, frame["bounds"])):
        return f"bounds {seen}, held {frame['bounds']}"
    for leaf in data:  # one, since frames are written as one piece
        for attributes, fields in (
            (leaf.GetPointData(), frame["point_fields"]),
            (leaf.GetCellData(), frame["cell_fields"]),
        ):
            for name, ranges in fields.items():
                array = attributes.GetArray(name)
                if array is None or array.GetNumberOfComponents() != len(ranges):
                    return f"field {name} is missing or has another shape"
                for component, (low, high) in enumerate(ranges):
                    seen = array.GetRange(component)
                    if not close(seen[0], low) or not close(seen[1], high):
                        return f"field {name}, component {component} in {seen}, held [{low}, {high}]"
    return ""


def check(name, reader, frames):
    """Prints whether the reader shows these frames; true if it does."""
    times = list(reader.TimestepValues) if hasattr(reader.TimestepValues, "__len__") else [reader.TimestepValues]
    problem = ""
    if len(times) != len(frames) or any(abs(t - f["time"]) > 1e-9 * (1 + f["time"]) for t, f in zip(times, frames)):
        problem = f"times {times}, held {[frame['time'] for frame in frames]}"
    for frame in frames:
        problem = problem or difference(reader, frame)
    points = sum(frame["points"] for frame in frames)
    print(f"{'FAIL' if problem else 'pass'}  {name}: {len(frames)} times, {points} points in all. {problem}".rstrip())
    return not problem


def check_folder(simple, folder):
    """True if ParaView shows every index of the frames here."""
    if (folder / "frames").is_dir():
        folder = folder / "frames"
    good, count = True, 0
    for index in sorted(folder.glob("*.hdf.series")):
        frames = [held(folder / entry["name"]) for entry in json.loads(index.read_text())["files"]]
        good &= check(index.name, simple.VTKHDFReader(FileName=[str(index)]), frames)
        count += 1
    for index in sorted(folder.glob("*.xmf")):
        frames = []
        for points in xml.parse(index).iterfind(".//Geometry/DataItem"):
            frames.append(held(folder / points.text.split(":")[0]))
        if frames:  # nothing but empty frames: nothing for XDMF to show
            good &= check(index.name, simple.XDMFReader(FileNames=[str(index)]), frames)
        count += 1
    if count == 0:
        print(f"FAIL  {folder} has no index of frames.")
    return good and count > 0


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        from paraview import simple
    except ImportError:
        return run_under_pvbatch()
    if "DISPLAY" not in os.environ:
        return run_under_pvbatch()
    seen = [check_folder(simple, Path(folder).resolve()) for folder in sys.argv[1:]]
    return 0 if all(seen) else 1


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # pvbatch takes no exit code from sys.exit
