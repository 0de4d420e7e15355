#!/usr/bin/env python3
"""Runs the physical verification cases and compares them with independent truths.

    tests/verification/run.py [PATTERN] [--weft PATH] [--full] [--keep FOLDER]

Each folder here is a case: deck.yaml, README.md (formula and source) and check.py, which holds

    RUNS = {"quick": {name: [arguments of weft run, ...]}, "full": {...}}
    RANKS = 2                          optional; 1 without
    DECKS = {name: file}               optional; runs of another deck than deck.yaml
    ONE_BY_ONE = True                  optional; check sees one run at a time, and one that fails leaves the others
    def check(runs, size): ...         from {name: reading.Run} to a list of findings

One line is printed for each number: case, quantity, value, reference, relative error, pass or fail. The exit code is
1 if any fails.
"""
import argparse
import fnmatch
import importlib.util
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "postproc")]
import packages  # noqa: E402

packages.need("h5py", "numpy")
import reading  # noqa: E402

ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
               "OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1"}


def load(case):
    spec = importlib.util.spec_from_file_location(f"check_{case.name}", case / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def finished(case, module, name, arguments, weft, scratch):
    """Takes one run of a case, in a folder of its own."""
    ranks = getattr(module, "RANKS", 1)
    launcher = ["mpiexec", "-n", str(ranks)] if ranks > 1 else []
    output = scratch / case.name / name
    deck = getattr(module, "DECKS", {}).get(name, "deck.yaml")
    done = subprocess.run([*launcher, weft, "run", str(case / deck), "-o", str(output), *arguments],
                          env=os.environ | ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"run {name} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return reading.Run(output)


def findings(case, size, weft, scratch):
    """What the check of a case finds; in place of the findings of runs that failed, the error."""
    module = load(case)
    runs = module.RUNS[size]
    for group in ([name] for name in runs) if getattr(module, "ONE_BY_ONE", False) else [runs]:
        try:
            yield from module.check({name: finished(case, module, name, runs[name], weft, scratch) for name in group},
                                    size)
        except RuntimeError as error:
            yield error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default="*", help="which cases, as a file name pattern")
    parser.add_argument("--weft", help="the program [build/release/bin/weft, else the one in PATH]")
    parser.add_argument("--full", action="store_true", help="full size instead of quick")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the runs in this folder")
    arguments = parser.parse_args()

    built = HERE.parent.parent / "build" / "release" / "bin" / "weft"
    weft = arguments.weft or (str(built) if built.exists() else shutil.which("weft"))
    if not weft:
        parser.error("there is no program weft; build it or name it with --weft")
    cases = [p.parent for p in sorted(HERE.glob("*/check.py")) if fnmatch.fnmatch(p.parent.name, arguments.pattern)]
    if not cases:
        parser.error(f"no case matches {arguments.pattern}")

    failed = 0
    print(f"{'case':<18} {'quantity':<57} {'value':>13} {'reference':>13} {'rel. error':>11}")
    with tempfile.TemporaryDirectory(prefix="weft_verification_") as temporary:
        scratch = arguments.keep or pathlib.Path(temporary)
        for case in cases:
            for f in findings(case, "full" if arguments.full else "quick", weft, scratch):
                if isinstance(f, RuntimeError):
                    print(f"{case.name:<18} {f}  fail", flush=True)
                    failed += 1
                    continue
                failed += not f.passed
                bounds = f"{'-':>13} {'-':>11}" if math.isnan(f.reference) else f"{f.reference:>13.6g} {f.error:>11.2e}"
                print(f"{case.name:<18} {f.quantity:<57} {f.value:>13.6g} {bounds}  {'pass' if f.passed else 'fail'}",
                      flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
