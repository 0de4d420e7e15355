#!/usr/bin/env python3
"""What ranks send one another, counted for 1 to 64 ranks, and what that means for ten thousand.

    tests/benchmarks/exchange.py path/to/weft [--ranks 1 2 4 8] [--blocks 300] [--steps 20] [--scene cube]
    tests/benchmarks/exchange.py path/to/weft --balance --steps 3000 [--ranks 2 4 8] [--scene sand]

Weak scaling: the grid is chosen so that every rank holds about --blocks blocks of 4x4x4 nodes. Counts do not depend on the
machine or on how busy it is, so ranks may be many more than cores; only one particle is put into a cell, since what is
exchanged for nodes does not depend on it. See DIARY.md, Exchange.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
# Deck, name of the body, its volume [m^3], changes.
SCENES = {
    "cube": (HERE / "cube.yaml", "cube", 1.0, []),
    "flight": (HERE / "cube.yaml", "cube", 1.0,
               ["bodies.cube.velocity=[17, 17, 17]", "bodies.cube.spin=[0, 0, 0]"]),  # 0.3 cells a step
    "dam": (HERE / "../../decks/dam_break.yaml", "water", 0.05715 * 0.1143 * 0.028575, []),
    "sand": (HERE / "../../decks/sand_column.yaml", "sand", math.pi * 0.1**2 * 0.2, []),
}
NODES = 64  # of a block

# A fabric of today, as LogGP has it: [Alexandrov et al. 1995, LogGP: incorporating long messages into the LogP model].
LATENCY = 1.5e-6  # L + 2 o [s].
PER_MESSAGE = 0.5e-6  # max(o, g) [s].
PER_BYTE = 64 / 25e9  # G [s/byte]: 64 ranks of a node share 25 GB/s, and every message leaves the node.
REDUCTION = 2e-6  # One level of the tree of a reduction [s].
PARTICLE_STEP = 0.1e-6  # Of one core [s]; elastic, quadratic.


def measure(weft, scene, ranks, blocks, steps):
    deck, body, volume, changes = SCENES[scene]
    dx = (volume / (blocks * ranks * NODES)) ** (1 / 3)
    words = [weft, "bench", str(deck.resolve()), "--here", "--json", "--steps", str(steps)]
    for change in [f"domain.dx={dx:.6g}", f"bodies.{body}.particles_per_cell=1", *changes]:
        words += ["--set", change]
    environment = dict(os.environ, OMP_NUM_THREADS="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                       OMPI_MCA_hwloc_base_binding_policy="none", OMPI_MCA_mpi_yield_when_idle="1")
    if os.geteuid() == 0:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run(["mpirun", "-n", str(ranks), *words], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def show(heads, rows):
    """Prints a table of Markdown."""
    for cells in (heads, ["---"] * len(heads), *rows):
        print("| " + " | ".join(cells) + " |")


def table(rows):
    def cells(scene, result):
        e = result["exchange"]
        return [scene, f"{result['ranks']}", f"{e['owned_blocks']:.0f}", f"{e['ghost_blocks']:.0f}",
                f"{e['neighbours']:.1f}, {e['most_neighbours']:.0f}", f"{e['ghost_messages']:.1f}",
                f"{e['ghost_bytes'] / 1e3:.0f}", f"{e['shipped_bytes'] / 1e3:.1f}", f"{e['asked_bytes'] / 1e3:.2f}",
                f"{e['most_bytes'] / 1e3:.0f}", f"{e['reductions']:.1f}",
                f"{e['imbalance_cut']:.3f}, {e['imbalance_most']:.3f}"]

    show(["scene", "ranks", "blocks", "ghosts", "neighbours, mean and most", "messages for nodes", "kB for nodes",
          "kB for points", "kB for who owns what", "busiest, kB", "reductions", "imbalance, cut and worst"],
         [cells(*row) for row in rows])


def balance_table(rows):
    """How evenly the work stays shared over a long run, and what that takes."""
    def cells(scene, result):
        e = result["exchange"]
        return [scene, f"{result['ranks']}", f"{result['particles']}", f"{result['steps']}", f"{e['cuts']:.0f}",
                f"{e['imbalance_cut']:.3f}, {e['imbalance_most']:.3f}", f"{e['shipped_bytes'] / 1e3:.1f}",
                f"{e['reductions']:.1f}"]

    show(["scene", "ranks", "particles", "steps", "new cuts", "imbalance after a cut, after a step, at most",
          "kB for points", "reductions"], [cells(*row) for row in rows])


def step_time(ranks, particles, seen):
    """Time of a step [s] by parts, for the busiest rank with so many particles, from what was counted for `seen`.

    What crosses the borders of a rank grows as their surface; one particle in a cell was counted, eight are there.
    """
    e = seen["exchange"]
    counted = 8 * seen["particles"] / seen["ranks"]
    surface = (particles / counted) ** (2 / 3)
    messages = (e["ghost_messages"] + e["shipped_messages"] + e["asked_messages"]) * e["most_neighbours"] / e["neighbours"]
    return {
        "work": particles * PARTICLE_STEP,
        "imbalance": particles * PARTICLE_STEP * (e["imbalance_most"] - 1),
        "bytes": (e["most_bytes"] + 7 * e["shipped_bytes"]) * surface * PER_BYTE,
        "messages": messages * PER_MESSAGE + 4 * LATENCY,
        "reductions": e["reductions"] * math.log2(ranks) * REDUCTION,
    }


def efficiency(t):
    return t["work"] / sum(t.values())


def project(seen):
    print(f"\nFrom the counts of {seen['ranks']} ranks; efficiency against one rank without neighbours:\n")
    print("| particles on a rank | ranks | work [ms] | imbalance | bytes | messages | reductions | efficiency |")
    print("|" + " --- |" * 8)
    for particles in (1000000, 200000, 50000, 20000, 5000):
        for ranks in (64, 1000, 10000):
            t = step_time(ranks, particles, seen)
            print(f"| {particles} | {ranks} | " + " | ".join(f"{1e3 * t[k]:.3f}" for k in t) + f" | {efficiency(t):.2f} |")
    print()
    for ranks in (64, 1000, 10000):
        particles = 1e7
        while particles > 100 and efficiency(step_time(ranks, particles, seen)) > 0.8:
            particles *= 0.99
        t = step_time(ranks, particles, seen)
        lost = {k: t[k] for k in t if k != "work"}
        most = max(lost, key=lost.get)
        print(f"{ranks} ranks: less than 80 % below {particles:.0f} particles on a rank, most of the loss by {most} "
              f"({100 * lost[most] / sum(lost.values()):.0f} % of it).")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--scene", nargs="+", choices=SCENES, default=list(SCENES))
    parser.add_argument("--ranks", nargs="+", type=int, default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--blocks", type=float, default=300)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--balance", action="store_true", help="only how the work stays shared, for long runs")
    parser.add_argument("--save", help="write all results there as JSON")
    a = parser.parse_args()
    rows = [(scene, measure(a.weft, scene, ranks, a.blocks, a.steps)) for scene in a.scene for ranks in a.ranks]
    (balance_table if a.balance else table)(rows)
    if a.save:
        pathlib.Path(a.save).write_text(json.dumps(rows, indent=1))
    if a.balance:
        return
    seen = max((result for scene, result in rows if scene == a.scene[0]), key=lambda r: r["ranks"])
    if seen["ranks"] > 1:
        project(seen)


if __name__ == "__main__":
    main()
