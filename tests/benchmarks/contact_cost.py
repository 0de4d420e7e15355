#!/usr/bin/env python3
"""Says how much longer a step takes when everything is in contact.

    tests/benchmarks/contact_cost.py WEFT [DECK] [--body cloth] [--free 0.02] [--full 1.2] [--steps 200] [--rounds 5]

Runs a deck (decks/cloth_twister.yaml) to two times, at one of which nothing and at the other most of the body is in
contact. Then takes some steps from each of the two checkpoints in turn, again and again, and prints the processor time
of a step on one rank. Time of starting and writing is taken off by runs of a tenth of the steps. Processor time and
turns of a few seconds are fair to both on a machine that is busy otherwise.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "postproc"))
import packages  # noqa: E402

packages.need("h5py", "numpy")
import weft_read  # noqa: E402


def processor_seconds(*command):
    """User time of a command, which must succeed [s]."""
    before = os.times().children_user
    subprocess.run(command, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"}, stdout=subprocess.DEVNULL)
    return os.times().children_user - before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft", help="the program")
    parser.add_argument("deck", nargs="?", default=str(ROOT / "decks" / "cloth_twister.yaml"))
    parser.add_argument("--body", default="cloth", help="whose contact is looked at")
    parser.add_argument("--free", type=float, default=0.02, help="time without contact [s]")
    parser.add_argument("--full", type=float, default=1.2, help="time with contact [s]")
    parser.add_argument("--pressed", type=float, default=54, help="pressure of elements that count as in contact [Pa]")
    parser.add_argument("--steps", type=int, default=200, help="measured at once")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="weft_contact_") as scratch:
        start = {}
        for name, time in ("free", options.free), ("full", options.full):
            output = pathlib.Path(scratch) / name
            processor_seconds(options.weft, "run", options.deck, "-o", str(output), "--until", str(time),
                              "--set", f"time.frame_interval={time}")
            start[name] = max((output / "checkpoints").glob("step_*"), key=lambda path: int(path.name[5:]))
            frame = weft_read.Run(output).frame(options.body, -1)
            share = (frame["pressure"] > options.pressed).mean()
            print(f"{name}: {time} s, {share:.1%} of the elements are in contact")

        def seconds_of_step(name):
            def take(steps):
                last = int(start[name].name[5:]) + steps
                return processor_seconds(options.weft, "run", options.deck, "-o", f"{scratch}/measured", "--force",
                                         "--resume", str(start[name]), "--steps", str(last))
            few = options.steps // 10
            return (take(options.steps) - take(few)) / (options.steps - few)

        found = {name: [] for name in start}
        for _ in range(options.rounds):
            for name in found:
                found[name].append(seconds_of_step(name))
        for name, times in found.items():
            print(f"{name}: {1e3 * statistics.median(times):.3f} ms of a processor a step "
                  f"({1e3 * min(times):.3f} to {1e3 * max(times):.3f})")
        ratios = sorted(full / free for free, full in zip(found["free"], found["full"]))
        print(f"full over free, by round: {', '.join(f'{ratio:.3f}' for ratio in ratios)}")


if __name__ == "__main__":
    main()
