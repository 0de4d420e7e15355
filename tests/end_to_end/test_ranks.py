#!/usr/bin/env python3
"""Proves that ranks, threads and repetition change nothing that they may not: tests/end_to_end/test_ranks.py WEFT."""
import unittest

from program import (CLOTH, GRIPPED, JELLIES, OWN, PLATE, SPOUT, TORN, Case, checkpoints, history, physics, weft,
                     write_unlike_triangles)
import weft_read

# A jelly of one cell: its points stand in one or two blocks, so most of seven ranks have none.
CRUMB = """
weft: 1
domain: {dx: 0.05, gravity: [0, 0, 0]}
time: {end: 2, frame_interval: 1}
materials:
  soft: {law: fixed_corotated, density: 1000, youngs_modulus: 2e4, poisson_ratio: 0.3}
bodies:
  - {name: crumb, kind: continuum, material: soft, shape: {box: {lower: [0, 0, 0], upper: [0.05, 0.05, 0.05]}},
     velocity: [4, 0, 0], spin: [0, 0, 5]}
"""


class RanksAndThreads(Case):
    def test_1_2_3_4_and_7_ranks_agree_to_1e_10_after_200_steps(self):
        deck = self.deck(JELLIES)
        alone = self.run_deck(deck, "1", "--steps", 200)
        moved = max(abs(float(row["centre_x"]) - float(history(alone)[0]["centre_x"])) for row in history(alone))
        self.assertGreater(moved, 0.03)  # or the comparison would prove nothing
        for ranks in 2, 3, 4, 7:
            with self.subTest(ranks=ranks):
                self.assert_same_state(alone, self.run_deck(deck, str(ranks), "--steps", 200, ranks=ranks), 1e-10)

    def test_cloth_agrees_on_1_2_3_4_and_7_ranks_to_1e_10(self):
        deck = self.deck(CLOTH)
        often = ["--steps", 120, "--set", "balance.every=10", "--set", "balance.threshold=1.01"]
        alone = self.run_deck(deck, "1", *often)
        self.assertGreater(float(history(alone)[-1]["elastic_energy"]), 0.01)
        for ranks in 2, 3, 4, 7:
            with self.subTest(ranks=ranks):
                self.assert_same_state(alone, self.run_deck(deck, str(ranks), *often, ranks=ranks), 1e-10)

    def test_handles_of_continua_agree_on_1_2_3_4_and_7_ranks_to_1e_10(self):
        deck = self.deck(GRIPPED)
        often = ["--steps", 200, "--set", "balance.every=10", "--set", "balance.threshold=1.01", "--set",
                 "output.diagnostics_every=1"]
        alone = self.run_deck(deck, "1", *often)
        self.assertGreater(float(history(alone)[-1]["work_turn"]), 0.1)
        self.assertGreater(float(history(alone)[-1]["time"]), 0.31)  # it has let go
        for ranks in 2, 3, 4, 7:
            with self.subTest(ranks=ranks):
                many = self.run_deck(deck, str(ranks), *often, ranks=ranks)
                self.assert_same_state(alone, many, 1e-10)
                for column in "force_turn_x", "torque_turn_z", "force_rail_y", "work_pull", "work_wind":
                    one, other = ([float(row[column]) for row in history(run)] for run in (alone, many))
                    size = max(map(abs, one))
                    self.assertLess(max(abs(a - b) for a, b in zip(one, other, strict=True)), 1e-9 * size, column)

    def test_shells_agree_on_1_2_3_4_and_7_ranks_to_1e_10(self):
        deck = self.deck(PLATE)
        often = ["--steps", 80, "--set", "balance.every=10", "--set", "balance.threshold=1.01"]
        alone = self.run_deck(deck, "1", *often)
        self.assertGreater(float(history(alone)[-1]["elastic_energy"]), 0.01)
        for ranks in 2, 3, 4, 7:
            with self.subTest(ranks=ranks):
                self.assert_same_state(alone, self.run_deck(deck, str(ranks), *often, ranks=ranks), 1e-10)

    def test_bodies_that_move_by_themselves_agree_on_1_2_3_4_and_7_ranks(self):
        for stage, tolerance in ("explicit", 1e-10), ("implicit", 1e-7):  # factors of several ranks are not the same
            deck = self.deck(OWN.replace("STAGE", stage))
            alone = self.run_deck(deck, f"{stage}_1", "--steps", 60)
            for ranks in 2, 3, 4, 7:
                with self.subTest(stage=stage, ranks=ranks):
                    self.assert_same_state(alone, self.run_deck(deck, f"{stage}_{ranks}", "--steps", 60, ranks=ranks),
                                           tolerance)

    def test_woven_sheets_and_fibers_that_bend_and_tear_agree_on_any_ranks(self):
        write_unlike_triangles(self.folder / "unlike.obj", 6, 9, 0.3, 0.45)
        alike = "rectangle: {width: 0.3, height: 0.45}, across: 6, along: 9"
        self.assertIn(alike, TORN)
        often = ["--steps", 50, "--set", "balance.every=10", "--set", "balance.threshold=1.01"]
        for mesh in alike, "file: {path: unlike.obj}":
            deck = self.deck(TORN.replace(alike, mesh))
            alone = self.run_deck(deck, mesh[:4] + "_1", *often)
            for body in "sheet", "ropes":
                left, dust = (len(weft_read.Run(alone).checkpoint()[body + part]["id"])
                              for part in ("_contact", "_dust"))
                torn = dust / (left + dust)
                self.assertTrue(0.02 < torn < 0.6, f"{torn:.0%} of {body} are torn")
            for ranks in 2, 3, 4, 7:
                with self.subTest(mesh=mesh, ranks=ranks):
                    again = self.run_deck(deck, f"{mesh[:4]}_{ranks}", *often, ranks=ranks)
                    self.assert_same_state(alone, again, 1e-10)

    def test_a_probe_of_a_vertex_without_elements_has_no_value_and_the_log_tells_of_handles_and_probes_once(self):
        deck = self.deck(TORN + "probes:\n"
                         "  - {name: lost, body: sheet, nearest: {point: [0.05, 0.45, 0], field: position_y}}\n"
                         "  - {name: split, body: sheet, nearest: {point: [0.3, 0.4, 0], field: position_y}}\n")
        output = self.run_deck(deck, "out", "--steps", 50, ranks=2)
        self.assertAlmostEqual(float(history(output)[0]["lost"]), 0.45, places=12)
        self.assertEqual(history(output)[-1]["lost"], "nan")
        self.assertGreater(float(history(output)[-1]["split"]), 0.4)
        log = (output / "log.txt").read_text()
        self.assertEqual(log.count("probe lost has no values from t ="), 1)
        self.assertNotIn("probe split", log)
        for handle in "foot", "feet", "hand", "hands":
            self.assertEqual(log.count(f"handle {handle} lets go of what has left"), 1)

    def test_threads_change_no_bit_of_cloth_and_shells(self):
        for number, text in enumerate((CLOTH, PLATE, TORN, OWN.replace("STAGE", "explicit"))):
            deck = self.deck(text)
            one, two = (self.run_deck(deck, f"{number}_{threads}", "--steps", 60, threads=threads)
                        for threads in (1, 2))
            self.assert_same_state(one, two, 0)

    def test_threads_change_no_bit(self):
        deck = self.deck(JELLIES)
        one = self.run_deck(deck, "one", "--steps", 100)
        for threads in 2, 3:
            with self.subTest(threads=threads):
                many = self.run_deck(deck, str(threads), "--steps", 100, threads=threads)
                self.assert_same_state(one, many, 0)
                self.assertEqual(physics(one), physics(many))

    def test_a_run_repeated_on_the_same_ranks_changes_no_bit(self):
        deck = self.deck(JELLIES)
        first = self.run_deck(deck, "first", "--steps", 60, ranks=3)
        again = self.run_deck(deck, "again", "--steps", 60, ranks=3)
        self.assert_same_state(first, again, 0)
        self.assertEqual(physics(first), physics(again))

    def test_more_ranks_than_blocks_and_ranks_without_particles_change_nothing(self):
        deck = self.deck(CRUMB)
        alone = self.run_deck(deck, "1", "--steps", 200)
        self.assertGreater(float(history(alone)[-1]["momentum_x"]), 0)
        crowd = self.run_deck(deck, "7", "--steps", 200, ranks=7)
        self.assert_same_state(alone, crowd, 1e-10)

    def test_points_are_born_and_removed_alike_on_any_ranks(self):
        deck = self.deck(SPOUT)
        alone = self.run_deck(deck, "1", "--steps", 250)
        many = self.run_deck(deck, "3", "--steps", 250, ranks=3)
        for one, other in zip(history(alone), history(many), strict=True):
            born = [int(row["particles"]) + int(row["removed_particles"]) for row in (one, other)]
            self.assertEqual(born[0], born[1])
            # Grains that roll apart magnify rounding, so a few may cross the bounds a row earlier or later.
            self.assertAlmostEqual(int(one["removed_particles"]), int(other["removed_particles"]), delta=0.01 * born[0])
        self.assertGreater(int(one["removed_particles"]), 100)
        self.assertGreater(int(one["particles"]), 100)

    def test_a_source_fills_an_empty_scene_from_the_start_and_keeps_its_rate(self):
        output = self.run_deck(self.deck(SPOUT), "out", "--steps", 100)
        first = history(output)[0]
        cells = 4 * 1 * 4  # of the spout, 8 points each
        self.assertEqual(int(first["particles"]), 8 * cells)
        for row in history(output)[1:]:
            poured = 8 * cells * (1 + 1.5 * min(float(row["time"]), 0.3) / 0.05)
            born = int(row["particles"]) + int(row["removed_particles"])
            self.assertAlmostEqual(born, poured, delta=8 * cells)  # points come in layers of up to a cell

    def test_compare_tells_runs_apart(self):
        deck = self.deck(JELLIES)
        a = checkpoints(self.run_deck(deck, "a", "--steps", 2))[-1]
        b = checkpoints(self.run_deck(deck, "b", "--steps", 2, "--set", "bodies.left.velocity=[1.0000001, 0, 0]"))[-1]
        for tolerance, code in (0, 1), (1e-10, 1), (1e-3, 0):
            self.assertEqual(weft("compare", a, b, "--tolerance", tolerance).returncode, code, tolerance)
        table = weft("compare", a, b).stdout
        self.assertRegex(table, r"left +velocity ")
        self.assertRegex(table, r"right +velocity +0 +0 ")  # the other body has not been touched yet


if __name__ == "__main__":
    unittest.main()
