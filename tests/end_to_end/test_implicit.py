#!/usr/bin/env python3
"""Proves that implicit runs are what they are on any ranks and threads, go on after a stop to the bit, and refuse bad
settings: tests/end_to_end/test_implicit.py WEFT."""
import unittest

from program import JELLIES, Case, history, physics, run_json, weft

IMPLICIT = ["--set", "time.scheme=implicit", "--set", "time.max_dt=0.01"]
SAND = """
weft: 1
domain: {dx: 0.05}
time: {end: 1, frame_interval: 1, scheme: implicit, max_dt: 5 ms}
materials:
  sand: {law: drucker_prager, density: 2000, youngs_modulus: 1e6, poisson_ratio: 0.3}
bodies:
  - {name: heap, kind: continuum, material: sand, shape: {box: {lower: [0, 0, 0], upper: [0.2, 0.2, 0.2]}}}
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, condition: separate, friction: 0.4}
"""


class Implicit(Case):
    def test_ranks_agree_to_the_tolerance_of_the_solve(self):
        deck, exact = self.deck(JELLIES), [*IMPLICIT, "--set", "solve.tolerance=1e-10"]
        alone = self.run_deck(deck, "1", "--steps", 6, *exact)
        steps = [float(row["newton_steps"]) for row in history(alone)]
        self.assertGreater(steps[-1], 6)
        for ranks in 2, 3, 4, 7:
            with self.subTest(ranks=ranks):
                self.assert_same_state(alone, self.run_deck(deck, str(ranks), "--steps", 6, *exact, ranks=ranks), 1e-7)

    def test_threads_change_no_bit(self):
        deck = self.deck(JELLIES)
        one = self.run_deck(deck, "one", "--steps", 5, *IMPLICIT)
        for threads in 2, 3:
            with self.subTest(threads=threads):
                many = self.run_deck(deck, str(threads), "--steps", 5, *IMPLICIT, threads=threads)
                self.assert_same_state(one, many, 0)
                self.assertEqual(physics(one), physics(many))

    def test_a_resumed_run_equals_the_unbroken_one_to_the_bit(self):
        for name, text, ranks in ("jellies", JELLIES, 1), ("sand", SAND, 2):
            with self.subTest(name):
                deck, how = self.deck(text), {"ranks": ranks}
                unbroken = self.run_deck(deck, name, "--steps", 6, *IMPLICIT, **how)
                broken = self.run_deck(deck, name + "_broken", "--steps", 3, *IMPLICIT, **how)
                self.run_deck(deck, name + "_broken", "--steps", 6, "--resume", "auto", *IMPLICIT, **how)
                self.assertEqual(run_json(broken)["step"], 6)
                self.assert_same_state(unbroken, broken, 0)
                self.assertEqual(physics(unbroken)[-1], physics(broken)[-1])

    def test_bad_settings_are_refused_as_mistakes_of_the_deck(self):
        for settings, words in (["solve.tolerance=0"], "solve.tolerance"), \
                               (["solve.max_iterations=0"], "solve.max_iterations"), \
                               (["solve.plasticity=sometimes"], "solve.plasticity"), \
                               (["solve.preconditioner=magic"], "solve.preconditioner"), \
                               (["solve.solver=minimise"], "heap"), \
                               (["solve.petsc=-ksp_type nonsense"], "-ksp_type nonsense"), \
                               (["solve.petsc=-ksp_typo 1"], "-ksp_typo"), \
                               (["solve.petsc=-ksp_rtol fast"], "-ksp_rtol fast"), \
                               (["time.scheme=imaginary"], "time.scheme"):
            with self.subTest(settings):
                arguments = [word for setting in settings for word in ("--set", setting)]
                result = weft("run", self.deck(SAND), "-o", self.folder / "refused", "--steps", 2, "--force", *arguments)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(words, result.stderr)

    def test_petsc_takes_options_from_the_command_line_and_is_profiled(self):
        result = weft("run", self.deck(SAND), "-o", self.folder / "out", "--steps", 2, "--petsc",
                      "-snes_monitor -log_view")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("SNES Function norm", result.stdout)
        self.assertRegex(result.stdout, r"KSPSolve +\d+")


if __name__ == "__main__":
    unittest.main()
