#!/usr/bin/env python3
"""Proves that weft bench measures what it is asked to: tests/end_to_end/test_bench.py WEFT."""
import json
import os
import unittest

from program import CLOTH, HINGED_ROOF, JELLIES, Case, weft

MESHES_OF_BENCH = [("--particles", 3000, "--kind", *words) for words in (
    ("membrane",), ("membrane", "--bending"), ("fiber",), ("fiber", "--bending"), ("shell",),
    ("shell", "--fabric", "wool"))]


class Bench(Case):
    def test_standard_meshes_have_about_the_points_that_are_asked_for(self):
        for words in MESHES_OF_BENCH:
            result = json.loads(weft("bench", *words, "--steps", 1, "--json").stdout)
            self.assertTrue(0.8 < result["particles"] / 3000 < 1.25, (words, result["particles"]))
            elements = result["phases"]["elements"]
            self.assertGreater(elements["memory_floor"], 0)
            self.assertEqual(elements["arithmetic_floor"] > 0, len(words) == 4, words)  # for a bare kind

    def test_solids_and_strands_are_measured_by_their_elements(self):
        brief = "--particles", 3000, "--steps", 2, "--json"
        for ranks in 1, 2:
            for words, has_contact in ((), False), (("--contact",), True):
                done = weft("bench", *brief, "--kind", "solid", *words, ranks=ranks)
                result = json.loads(done.stdout)
                self.assertEqual(result["elements"], 6 * 13 ** 3, done.stderr)
                self.assertEqual(result["particles"], 14 ** 3)
                self.assertEqual(result["contact_points"] > 0, has_contact)
                self.assertGreater(result["phases"]["predict"]["nanoseconds"], 0)
                done = weft("bench", *brief, "--kind", "strand", *words, ranks=ranks)
                result = json.loads(done.stdout)
                self.assertTrue(0.8 < result["elements"] / 3000 < 1.25, done.stderr)
                self.assertEqual(result["contact_points"], result["particles"] if has_contact else 0)
        self.assertIn("13182 elements, 0 contact points", weft("bench", "--particles", 3000, "--kind", "solid").stdout)

    def test_a_block_and_a_deck_are_measured_phase_by_phase(self):
        block = "--particles", 3000, "--law", "snow", "--kernel", "cubic"
        for what, has_mesh in (block, False), ((self.deck(JELLIES, "jellies.yaml"), "--here"), False), \
                ((self.deck(CLOTH, "cloth.yaml"), "--here"), True), *((kind, True) for kind in MESHES_OF_BENCH):
            for ranks in 1, 2:
                done = weft("bench", *what, "--steps", 3, "--json", ranks=ranks)
                self.assertEqual(done.returncode, 0, done.stderr)
                result = json.loads(done.stdout)
                self.assertEqual((result["ranks"], result["steps"]), (ranks, 3))
                self.assertGreater(result["particle_steps_per_second"], 0)
                spent = {name: phase["nanoseconds"] for name, phase in result["phases"].items()}
                for name in "scatter", "grid", "gather", "law", "sort":
                    self.assertGreater(spent[name], 0, name)
                if has_mesh:
                    self.assertGreater(spent["elements"], 0)
                # Phases do not overlap. What lies between them is more the busier the machine.
                self.assertLess(sum(spent.values()) * 1e-9 * result["particle_steps_per_second"], 1.05)
                sent = result["exchange"]
                self.assertGreaterEqual(sent["imbalance_most"], 1)
                self.assertEqual(sent["neighbours"], ranks - 1)
                self.assertGreater(sent["reductions"], 0)
                # Ghosts add to their owners and hear from them, once a step each: two messages for each pair of ranks.
                # Those of vertices hear once more where handles hold some. Contacts with walls are counted once, and
                # each of their two passes hears of nodes and adds to them: six more.
                self.assertGreaterEqual(sent["ghost_messages"], ranks - 1)
                self.assertLessEqual(sent["ghost_messages"], (9 if has_mesh else 8) * (ranks - 1))
                if ranks == 1:
                    self.assertEqual((sent["ghost_blocks"], sent["most_bytes"]), (0, 0))
                else:
                    self.assertGreater(sent["ghost_bytes"], 0)

    def test_both_writers_are_measured_and_leave_nothing(self):
        for what in (("--particles", 3000), (self.deck(CLOTH), "--set", "output.hints.cb_nodes=1"), (HINGED_ROOF,)):
            for ranks in 1, 3:
                done = weft("bench", *what, "--write", self.folder, "--json", ranks=ranks)
                self.assertEqual(done.returncode, 0, done.stderr)
                result = json.loads(done.stdout)
                self.assertEqual(set(result["writers"]), {"direct", "collective"})
                for times in result["writers"].values():
                    self.assertGreater(min(times.values()), 0)
                self.assertGreater(min(result["checkpoint_bytes"], result["frame_bytes"]), 0)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.is_dir()], [])
        self.assertIn("MB/s", weft("bench", "--particles", 3000, "--write", self.folder).stdout)
        self.assertEqual(weft("bench", "--particles", 3000, "--write", self.folder / "deck.yaml").returncode, 5)

    def test_a_deck_is_measured_in_all_layouts_and_the_best_is_named(self):
        done = weft("bench", self.deck(JELLIES), "--steps", 2)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = [line.split() for line in done.stdout.splitlines()[1:-1]]
        cores = len(os.sched_getaffinity(0))
        self.assertEqual([(int(r), int(t)) for r, t, _ in rows],
                         [(r, cores // r) for r in range(1, cores + 1) if cores % r == 0])
        ranks, threads, _ = max(rows, key=lambda row: float(row[2]))
        self.assertIn(f"OMP_NUM_THREADS={threads} mpiexec -n {ranks} ", done.stdout.splitlines()[-1])

    def test_layouts_are_printed_for_scripts_too(self):
        done = weft("bench", self.deck(JELLIES), "--steps", 1, "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = json.loads(done.stdout)
        best = max(found["layouts"], key=lambda layout: layout["particle_steps_per_second"])
        self.assertEqual(found["best"], {"ranks": best["ranks"], "threads": best["threads"]})

    def test_what_cannot_be_measured_is_refused(self):
        for words in (("--law", "mud"), ("--kernel", "quintic"), ("--particles", 0), ("--steps", 0), ("none.yaml",),
                      (self.deck(JELLIES), "--law", "snow"), ("--set", "domain.dx=1"), (HINGED_ROOF,),
                      ("--kind", "rod"), ("--kind", "membrane", "--law", "snow"), ("--kind", "shell", "--bending"),
                      ("--fabric", "silk"), ("--kind", "shell", "--fabric", "mud"), ("--contact",),
                      ("--kind", "fiber", "--contact"),
                      (self.deck(JELLIES), "--kind", "shell")):
            self.assertEqual(weft("bench", *words).returncode, 2, words)


if __name__ == "__main__":
    unittest.main()
