#!/usr/bin/env python3
"""Plots columns of diagnostics.csv over time: energies and probes unless others are named. Needs matplotlib.

    python3 postproc/plot.py OUTPUT                                   OUTPUT/plot.png
    python3 postproc/plot.py OUTPUT momentum_y impulse_floor_y        these columns
    python3 postproc/plot.py OUTPUT OTHER --out both.png              the same columns of two runs
    python3 postproc/plot.py OUTPUT --list                            what there is to plot
"""
import argparse
import pathlib
import sys

import packages

packages.need("h5py", "matplotlib", "numpy")
import weft_read  # noqa: E402

ENERGIES = ["kinetic_energy", "affine_energy", "elastic_energy", "gravitational_energy", "energy_less_work"]
# Columns that say how the run went rather than what happened in it.
RUN = {"step", "time", "wall_seconds"}


def parse(arguments):
    parser = argparse.ArgumentParser(prog="plot.py", description="Plots diagnostics and probes of runs over time.")
    parser.add_argument("words", nargs="+", metavar="OUTPUT|COLUMN", help="output folders, then columns")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="png, pdf or svg (first OUTPUT/plot.png)")
    parser.add_argument("--list", action="store_true", help="print the columns and their units")
    options = parser.parse_args(arguments)
    folders = [word for word in options.words if (pathlib.Path(word) / "run.json").exists()]
    options.columns = [word for word in options.words if word not in folders]
    if not folders:
        parser.error(f"{options.words[0]} is not the output folder of a run")
    options.runs = [weft_read.Run(folder) for folder in folders]
    return options


def chosen_columns(runs, asked):
    """The columns to plot; without a word the energies and the probes, which come after all others."""
    names = [name for name in runs[0].diagnostics if name not in RUN]
    unknown = [name for name in asked if any(name not in run.diagnostics for run in runs)]
    if unknown:
        sys.exit(f"There is no column {', '.join(unknown)}. There are: {', '.join(names)}.")
    return asked or ENERGIES + names[names.index("removed_particles") + 1:]


def panels(columns, units):
    """Columns that belong on common axes: same unit and same first word, as momentum_x, _y and _z do."""
    groups = {}
    for name in columns:
        kind = "energy" if name in ENERGIES else name.rsplit("_", 1)[0] if name[-2:] in ("_x", "_y", "_z") else name
        groups.setdefault((kind, units[name]), []).append(name)
    return groups


def draw(runs, columns, file):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    groups = panels(columns, runs[0].units)
    across = min(2, len(groups))
    down = -(-len(groups) // across)
    figure, axes = pyplot.subplots(down, across, figsize=(5.4 * across, 3.2 * down), squeeze=False,
                                   layout="constrained")
    for (kind, unit), names, place in zip(groups, groups.values(), axes.flat):
        for number, run in enumerate(runs):
            for index, name in enumerate(names):
                label = name if len(runs) == 1 else f"{run.output.name}: {name}"
                place.plot(run.diagnostics["time"], run.diagnostics[name], f"C{index}", label=label,
                           linestyle=["-", "--", ":", "-."][number % 4])
        place.set_xlabel("time [s]")
        place.set_ylabel(kind.replace("_", " ") + (f" [{unit}]" if unit != "1" else ""))
        if len(names) * len(runs) > 1:
            place.legend(fontsize="small", frameon=False)
        place.spines[["top", "right"]].set_visible(False)
    for unused in list(axes.flat)[len(groups):]:
        unused.remove()
    figure.savefig(file, dpi=120)


def main(arguments):
    options = parse(arguments)
    if options.list:
        for name, unit in options.runs[0].units.items():
            print(f"{name} [{unit}]")
        return 0
    file = options.out or options.runs[0].output / "plot.png"
    draw(options.runs, chosen_columns(options.runs, options.columns), file)
    print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
