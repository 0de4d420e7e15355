#!/usr/bin/env python3
"""Explicit against implicit steps on six decks: processor time, iterations, and what the result is worth.

    tests/benchmarks/implicit.py path/to/weft [--decks hanging_sheet clamped_strip] [--levels 0 1] [--kinds blocks direct]

Prints for each run what DIARY.md (Implicit steps) has of it. Times are processor seconds of one core without the
start of the program, so that a busy machine falsifies them little; numbers of iterations are exact.
"""
import argparse
import csv
import os
import pathlib
import re
import resource
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
KINDS = ["explicit", "blocks", "multigrid", "direct"]


def mean_of_last_half(rows, name):
    values = [float(row[name]) for row in rows[len(rows) // 2:]]
    return sum(values) / len(values)


def last(rows, name):
    return float(rows[-1][name])


def change(rows, name):
    return last(rows, name) - float(rows[0][name])


def spacing(values):
    return [[f"domain.dx={value}"] for value in values]


def keyframes(*frames):
    """Of the ball of metal_dent, from times [ms] and heights [mm]; 20 times slower than in the deck."""
    rows = ", ".join(f"{{time: {20 * t} ms, translate: [0, {y}e-3, 0]}}" for t, y in frames)
    return f"colliders.ball.motion.keyframes=[{rows}]"


# What each deck is changed by; what implicit steps are told besides; levels from coarse to fine; what is looked at, and
# what that should be: None, what the explicit run of the level says.
CASES = {
    # They turn by 0.05 rad in an implicit step, apart from one another. What balances is the pull towards their axes, in a
    # step a twentieth of their momentum, so that half of it will do.
    "jellies": dict(set=["materials.soft.youngs_modulus=1e7", "materials.firm.youngs_modulus=1e7", "time.end=2",
                         "bodies.ring.velocity=[0, 0, 0]", "bodies.egg.velocity=[0, 0, 0]", "bodies.ring.spin=[0.25, 0.05, 0]",
                         "bodies.cube.spin=[0, 0.15, 0.2]", "bodies.egg.spin=[0, 0, -0.3]", "time.frame_interval=2"],
                    how=["time.max_dt=0.2", "solve.tolerance=0.5"],
                    levels=spacing([0.06, 0.04, 0.03]), column="kinetic_energy [J]", of=last, should=None),
    "metal_dent": dict(set=["time.end=7 ms", "time.frame_interval=7 ms", "output.diagnostics_every=1000000",
                            keyframes((0, 0), (0.25, -3.2), (0.3, -3.2), (0.5, 12))],
                       how=["time.max_dt=0.25 ms", "solve.tolerance=1e-2"],
                       levels=spacing([4e-3, 3e-3, 2e-3]), column="deepest [m]", of=change, should=None),
    "hanging_sheet": dict(set=[], how=[], levels=[[f"domain.dx={dx}", f"bodies.sheet.mesh.across={n}", f"bodies.sheet.mesh.along={n}"]
                                                  for dx, n in ((0.1, 7), (0.05, 14), (0.025, 28))],
                          column="elastic_energy [J]", of=mean_of_last_half, should=2.5062e-6),
    "clamped_strip": dict(set=[], how=[], levels=[[f"domain.dx={dx}", f"bodies.strip.mesh.across={n}", f"bodies.strip.mesh.along={m}"]
                                                  for dx, n, m in ((0.1, 6, 2), (0.05, 12, 3), (0.025, 24, 6))],
                          column="elastic_energy [J]", of=mean_of_last_half, should=6.497e-3),
    "fabric_curtain": dict(set=["time.end=0.05"], how=["solve.plasticity=lagged"], levels=spacing([0.08, 0.06, 0.04]),
                           column="elastic_energy [J]", of=last, should=None),
    "sand_column": dict(set=["time.end=0.1", "time.max_dt=2 ms"], how=[], levels=spacing([0.05, 0.035, 0.025]),
                        column="gravitational_energy [J]", of=last, should=None),
}


def run(weft, deck, kind, changes, folder, limit):
    """The rows of diagnostics.csv and processor seconds; None if it failed or took too long."""
    scheme = ["time.scheme=explicit"] if kind == "explicit" else ["time.scheme=implicit", f"solve.preconditioner={kind}"]
    words = [weft, "run", str(HERE / f"../../decks/{deck}.yaml"), "-o", folder, "--force"]
    for change in [*changes, *scheme]:
        words += ["--set", change]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=limit,
                              env=os.environ | {"OMP_NUM_THREADS": "1"})
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        return None
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    at_start = re.search(r"^start .*?([\d.]+)%", done.stdout, re.MULTILINE)
    seconds *= 1 - float(at_start[1]) / 100
    with open(pathlib.Path(folder) / "diagnostics.csv") as file:
        return list(csv.DictReader(file)), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--decks", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--kinds", nargs="*", default=KINDS, choices=KINDS)
    parser.add_argument("--levels", nargs="*", type=int, default=[0, 1])
    parser.add_argument("--limit", type=float, default=600, help="wall-clock seconds of a run")
    options = parser.parse_args()
    print("| deck, level | steps by | steps | processor s | Newton / step | products / Newton | error |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for deck in options.decks:
        case = CASES[deck]
        for level in options.levels:
            should = case["should"]
            for kind in options.kinds:
                with tempfile.TemporaryDirectory() as folder:
                    changes = case["set"] + case["levels"][level] + (case["how"] if kind != "explicit" else [])
                    result = run(options.weft, deck, kind, changes, folder, options.limit)
                if result is None:
                    print(f"| `{deck}`, {level} | {kind} | - | - | - | - | - |", flush=True)
                    continue
                rows, seconds = result
                value = case["of"](rows, case["column"])
                should = value if should is None else should
                steps, newton, krylov = (float(rows[-1].get(key) or 0) for key in ("step", "newton_steps", "krylov_steps"))
                counts = f"{newton / steps:.1f} | {krylov / newton:.0f}" if newton else " | "
                print(f"| `{deck}`, {level} | {kind} | {steps:.0f} | {seconds:.1f} | {counts} | "
                      f"{abs(value / should - 1):.1%} |", flush=True)


if __name__ == "__main__":
    main()
