#!/usr/bin/env python3
"""Proves that static analyses of shells meet published results on any number of ranks: test_static.py WEFT."""
import csv
import pathlib
import unittest

from program import Case, checkpoints, run_json, weft

DECKS = pathlib.Path(__file__).resolve().parents[2] / "decks"


def curve(output):
    """load_displacement.csv as a list of rows: numbers by column name without unit."""
    with open(pathlib.Path(output) / "load_displacement.csv", newline="") as file:
        rows = list(csv.reader(file))
    names = [column.split(" [")[0] for column in rows[0]]
    return [{name: float(text) for name, text in zip(names, row)} for row in rows[1:]]


class Static(Case):
    def test_the_roof_of_scordelis_and_lo_sinks_as_far_as_kirchhoff_love_shells_do(self):
        last = curve(self.run_deck(DECKS / "scordelis_lo.yaml", "out"))[-1]
        # Series solution of the linear shell; at a thousandth of the load the nonlinear part is below 1e-3.
        self.assertAlmostEqual(last["edge"] / -3.005924566e-4, 1, delta=1e-3)
        self.assertAlmostEqual(last["top"] / 4.50741605e-5, 1, delta=1e-3)
        # The diaphragm carries all of the weight: 0.09 on 25 x 25 times the angle of 40 degrees.
        self.assertAlmostEqual(last["force_diaphragm_z"] / 39.2699081698724, 1, delta=1e-6)

    def test_a_strip_is_rolled_into_a_circle_by_its_moment_on_any_number_of_ranks(self):
        ends = []
        for ranks in (1, 2, 3, 4, 7):
            output = self.run_deck(DECKS / "rolled_strip.yaml", f"on_{ranks}", ranks=ranks)
            self.assertEqual(run_json(output)["state"], "finished")
            rows = curve(output)
            ends.append((rows[-1]["end_x"], rows[-1]["end_z"], rows[-1]["torque_clamp_y"]))
            half = min(rows, key=lambda row: abs(row["time"] - 0.5))
            # Closed form of the elastica: with half of the moment the strip is half a circle. Tolerance 1e-3 L.
            self.assertAlmostEqual(half["end_x"], -12, delta=0.012)
            self.assertAlmostEqual(abs(half["end_z"]), 7.639437, delta=0.012)
        x, z, torque = ends[0]
        self.assertAlmostEqual(x, -12, delta=0.012)
        self.assertAlmostEqual(z, 0, delta=0.012)
        self.assertAlmostEqual(abs(torque), 52.35987755982989, delta=1e-5)
        for end in ends[1:]:
            for a, b in zip(end, ends[0]):
                # What is left of a solver tolerance of 1e-8 after twenty steps of large rotation.
                self.assertAlmostEqual(a, b, delta=1e-5)

    def test_the_hinged_roof_snaps_through_along_its_load_path(self):
        for ranks in (1, 3):
            rows = curve(self.run_deck(DECKS / "hinged_roof.yaml", f"on_{ranks}", ranks=ranks))
            loads = [row["time"] for row in rows]
            top = max(range(len(rows)), key=lambda i: loads[i] if rows[i]["displacement_push_z"] > -14 else 0)
            bottom = min(range(top, len(rows)), key=lambda i: loads[i])
            # Limit loads 2225 N and 511 N of 3000 N for Kirchhoff-Love shells; steps may pass beside the extremes.
            self.assertAlmostEqual(loads[top], 2225 / 3000, delta=0.01)
            self.assertAlmostEqual(loads[bottom], 511 / 3000, delta=0.01)
            self.assertGreaterEqual(loads[-1], 1)

    def test_what_nothing_holds_ends_with_code_4_and_keeps_the_last_balance(self):
        deck = (DECKS / "rolled_strip.yaml").read_text().replace("hold: {keep: clamp}", "hold: {axes: [x]}")
        output = self.run_deck(self.deck(deck), "out", "--set", "time.max_retries=1", code=4)
        self.assertEqual(run_json(output)["state"], "failed")
        self.assertEqual(len(checkpoints(output)), 1)

    def test_decks_that_cannot_be_are_refused(self):
        text = (DECKS / "rolled_strip.yaml").read_text()
        for old, new, part in (
                ("upper: [0.01, 2, 1]", "upper: [-0.005, 2, 1]", "no vertex of strip is inside"),
                ("scheme: static", "scheme: explicit", "needs \"scheme: static\""),
                ("law: stvk_hencky", "law: neo_hookean", "law stvk_hencky or von_mises"),
                ("field: displacement_x", "field: pressure", "displacement_x, _y, _z"),
                ("loading: {steps: 20}", "solve: {petsc: -pc_type nonsense}", "solve.petsc")):
            self.assertIn(old, text)
            done = weft("run", self.deck(text.replace(old, new)), "-o", self.folder / "out", "--force")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(part, done.stderr)

    def test_check_says_what_handles_take(self):
        done = weft("check", DECKS / "hinged_roof.yaml")
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in ("64 faces", "handle push: 1 vertices", "handle hinge: 9 vertices, 33 conditions",
                     "at most 500 along the load path"):
            self.assertIn(part, done.stdout)


if __name__ == "__main__":
    unittest.main()
