#!/usr/bin/env python3
"""How near the program comes to what the machine allows: `weft bench` and the bare loop in turn, on one thread.

    tests/benchmarks/beside_bare.py path/to/weft path/to/bench_bare_step [--rounds 5] [--particles 1000000] [--steps 20]

Prints for each law the best and the median of all rounds [ns for a particle step], of the bare loop in two passes and
fused. Ratios are those of the bare loop over the program in one round, and of them the median: machines that are shared
change their speed from minute to minute, and so does everything in a round. Then for each standard mesh the same, and its
rate on a machine whose bare loop does 19.5 million elastic steps a second.
"""
import argparse
import json
import os
import statistics
import subprocess

LAWS = ["fixed_corotated", "drucker_prager"]
MESHES = ["membrane", "membrane --bending", "fiber", "fiber --bending", "shell", "shell --fabric silk",
          "strand", "strand --contact"]
REFERENCE = 1e9 / 19.5e6  # of the bare loop [ns]


def nanoseconds(*words):
    """For a particle step."""
    done = subprocess.run(words, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return 1e9 / json.loads(done.stdout)["particle_steps_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft", help="the program")
    parser.add_argument("bare", help="the bare loop, bench_bare_step")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--particles", type=int, default=1000000)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    programs = {"weft": [options.weft, "bench"], "two passes": [options.bare], "fused": [options.bare, "--fused"]}

    sizes = ["--particles", str(options.particles), "--steps", str(options.steps), "--json"]
    found = {(law, name): [] for law in LAWS for name in programs}
    meshes = {mesh: [] for mesh in MESHES}
    for _ in range(options.rounds):
        for law, name in found:
            found[law, name].append(nanoseconds(*programs[name], "--law", law, *sizes))
        for mesh, times in meshes.items():
            times.append(nanoseconds(*programs["weft"], "--kind", *mesh.split(), *sizes))

    print("| law | ns | best | median | over weft, median of rounds | rounds |")
    print("| --- | --- | --- | --- | --- | --- |")
    for (law, name), times in found.items():
        ratios = sorted(bare / weft for bare, weft in zip(times, found[law, "weft"]))
        print(f"| `{law}` | {name} | {min(times):.1f} | {statistics.median(times):.1f} | {statistics.median(ratios):.2f} | "
              f"{ratios[0]:.2f} to {ratios[-1]:.2f} |")

    print("\n| mesh | best [ns] | median | M steps/s at 19.5 of the bare loop, median of rounds |")
    print("| --- | --- | --- | --- |")
    for mesh, times in meshes.items():
        ratios = [bare / weft for bare, weft in zip(found[LAWS[0], "two passes"], times)]
        print(f"| {mesh} | {min(times):.1f} | {statistics.median(times):.1f} | "
              f"{1e3 / REFERENCE * statistics.median(ratios):.2f} |")


if __name__ == "__main__":
    main()
