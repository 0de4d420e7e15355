#!/usr/bin/env python3
"""Proves that impulses between strands keep momentum, add no energy and are the same on any ranks:
tests/end_to_end/test_strand_impulses.py WEFT."""
import unittest

from program import Case, checkpoints, history, weft
import numpy

# Two balls of strands that fly into one another, and a held one in their way; no grid.
TANGLE = """
weft: 1
domain: {dx: 0.1, gravity: [0, 0, -9.81]}
time: {end: 1, frame_interval: 0.1, max_dt: 0.2 ms}
materials: {wire: {law: rod, density: 1000, youngs_modulus: 2e6, poisson_ratio: 0.3}}
bodies:
  - {name: left, kind: strand, material: wire, radius: 4 mm, velocity: [3, 0, 0],
     curves: {hair_ball: {radius: 0.02, length: 0.3, strands: 25}, spacing: 0.03, translate: [-0.12, 0, 0]},
     impulses: {distance: 8 mm, friction: MU, averaging: AVERAGING, swept: SWEPT}, stretch_limit: 1 %}
  - {name: right, kind: strand, material: wire, radius: 3 mm, velocity: [-3, 0, 0],
     curves: {hair_ball: {radius: 0.02, length: 0.3, strands: 25}, spacing: 0.03, rotate: {axis: [1, 2, 3], angle: 40},
              translate: [0.12, 0.01, 0.02]},
     impulses: {distance: 6 mm, friction: MU, averaging: AVERAGING, swept: SWEPT}}
  - {name: bar, kind: strand, material: wire, radius: 4 mm,
     curves: {hair_tube: {inner_radius: 0, outer_radius: 0.01, length: 0.6, strands: 1}, spacing: 0.03,
              rotate: {axis: [1, 0, 0], angle: 90}, translate: [0, 0.3, -0.25]},
     impulses: {distance: 8 mm, friction: MU, averaging: AVERAGING, swept: SWEPT}}
handles:
  - {name: hold, body: bar, where: {box: {lower: [-1, -1, -1], upper: [1, 1, 1]}}, hold: {keep: place}}
output: {diagnostics_every: 1}
"""


def tangle(friction=0.3, averaging="largest_count", swept="false"):
    return TANGLE.replace("MU", str(friction)).replace("AVERAGING", averaging).replace("SWEPT", swept)


def numbers(run):
    rows = history(run)
    return {name: numpy.array([float(row[name]) for row in rows]) for name in rows[0]}


class Impulses(Case):
    def test_ranks_and_threads_change_no_bit(self):
        for averaging, swept in ("largest_count", "true"), ("per_vertex", "false"):
            deck = self.deck(tangle(0.3, averaging, swept))
            alone = self.run_deck(deck, f"{averaging}_1", "--steps", 300)
            self.assertGreater(numbers(alone)["impulses"].sum(), 1000)
            for ranks in 2, 3, 4, 7:
                with self.subTest(averaging=averaging, ranks=ranks):
                    run = self.run_deck(deck, f"{averaging}_{ranks}", "--steps", 300, ranks=ranks)
                    self.assert_same_state(alone, run, 0)
            self.assert_same_state(alone, self.run_deck(deck, f"{averaging}_threads", "--steps", 300, threads=2), 0)

    def test_runs_go_on_amid_contact_to_the_bit(self):
        deck = self.deck(tangle(swept="true"))
        unbroken = self.run_deck(deck, "unbroken", "--steps", 300, ranks=2)
        self.run_deck(deck, "broken", "--steps", 170, ranks=2)
        broken = self.run_deck(deck, "broken", "--steps", 300, "--resume", "auto", ranks=2)
        self.assert_same_state(unbroken, broken, 0)
        elsewhere = self.run_deck(deck, "elsewhere", "--steps", 300, "--resume", checkpoints(broken)[0], ranks=3)
        self.assert_same_state(unbroken, elsewhere, 0)
        self.assertAlmostEqual(numbers(broken)["energy_taken_by_impulses"][-1],
                               numbers(unbroken)["energy_taken_by_impulses"][-1], delta=1e-15)

    def test_momentum_is_kept_and_energy_only_taken(self):
        for friction in 0, 0.3:
            for swept in "false", "true":
                with self.subTest(friction=friction, swept=swept):
                    deck = self.deck(tangle(friction, swept=swept).replace("-9.81", "0"))
                    run = numbers(self.run_deck(deck, f"{friction}_{swept}", "--steps", 500))
                    size = run["mass"][0] * 3
                    given = numpy.cumsum(run["dt"][1:, None] * numpy.stack(
                        [run[f"force_hold_{axis}"][1:] for axis in "xyz"], axis=1), axis=0)
                    gained = numpy.stack([run[f"momentum_{axis}"][1:] - run[f"momentum_{axis}"][0] for axis in "xyz"],
                                         axis=1)
                    self.assertLess(numpy.abs(gained - given).max(), 1e-12 * size)
                    energy = run["energy_less_work"]
                    self.assertLess(energy[-1], 0.95 * energy[0])
                    # Explicit steps find velocities between places: hits raise what they find by the square of dt.
                    self.assertLess((energy - numpy.minimum.accumulate(energy)).max(), 2e-4 * energy[0])
                    balance = energy + run["energy_taken_by_impulses"]
                    self.assertLess(numpy.abs(balance / balance[0] - 1).max(), 1e-3)
                    if swept == "true":
                        self.assertEqual(run["crossings"].sum(), 0)

    def test_a_weak_hanging_strand_keeps_to_its_limit(self):
        text = """
weft: 1
domain: {dx: 0.1, gravity: [0, 0, -9.81]}
time: {end: 1, frame_interval: 1, max_dt: 0.5 ms}
materials: {gum: {law: rod, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0.3, viscosity: 10}}
bodies:
  - {name: hair, kind: strand, material: gum, radius: 5 mm, LIMIT
     curves: {hair_tube: {inner_radius: 0, outer_radius: 0.001, length: 1, strands: 1}, spacing: 0.05,
              rotate: {axis: [1, 0, 0], angle: 180}}}
handles:
  - {name: root, body: hair, where: {box: {lower: [-1, -1, -0.001], upper: [1, 1, 1]}}, hold: {keep: place}}
probes: [{name: most, body: hair, bounding_box: {}}]
output: {diagnostics_every: 10}
"""
        free = numbers(self.run_deck(self.deck(text.replace("LIMIT", "")), "free"))
        held = numbers(self.run_deck(self.deck(text.replace("LIMIT", "stretch_limit: 5 %,")), "held"))
        self.assertLess(free["most_lower_z"].min(), -1.3)
        self.assertGreater(held["most_lower_z"].min(), -1.06)

    def test_pairs_at_the_start_are_advice(self):
        near = weft("check", self.deck(tangle()))
        self.assertEqual(near.returncode, 0, near.stderr)
        self.assertIn("25 strands, 250 segments", near.stdout)
        self.assertIn("substeps: 1 of left, 1 of right, 1 of bar\n", near.stdout)
        self.assertIn("pairs of segments of strands begin nearer", near.stdout)
        thin = tangle().replace("8 mm", "0.1 mm").replace("6 mm", "0.1 mm")
        self.assertNotIn("begin nearer", weft("check", self.deck(thin)).stdout)

    def test_impulses_that_make_no_sense_are_refused(self):
        for old, new, words in (
                ("distance: 8 mm", "distance: 4 cm", "more than the shortest segment of left, 0.03 m"),
                ("distance: 8 mm", "distance: 0", "distance"),
                ("distance: 8 mm, friction", "friction", "distance"),
                ("friction: 0.3", "friction: -0.1", "friction"),
                ("friction: 0.3", "friction: 0.3, iterations: 0", "iterations"),
                ("friction: 0.3", "friction: 0.3, iterations: 9", "another body has other iterations"),
                ("averaging: largest_count", "averaging: mean", "largest_count, per_vertex"),
                ("averaging: largest_count", "averaging: per_vertex", "another body has other averaging"),
                ("swept: false", "swept: true", "another body has other swept"),
                ("stretch_limit: 1 %", "stretch_limit: 100 %", "stretch_limit"),
                ("stretch_limit: 1 %", "stretch_limit: 1 %, stage: {substeps: 4}", "act once in a step"),
                ("time: {", "time: {scheme: static, ", "has no meaning")):
            with self.subTest(new=new):
                self.assertIn(old, tangle())
                done = weft("check", self.deck(tangle().replace(old, new, 1)), folder=self.folder)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
