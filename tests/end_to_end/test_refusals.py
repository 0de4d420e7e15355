#!/usr/bin/env python3
"""Proves that decks, shapes and steps that cannot be are refused in words, and that wrong results are told of:
tests/end_to_end/test_refusals.py WEFT."""
import re
import unittest

from program import CUBE, DROP, HOPELESS, JELLIES, Case, checkpoints, history, run_json, step_of, weft
import numpy

# A ball that flies, in a box of 1 m.
FLIGHT = """
weft: 1
domain: {dx: 0.1, gravity: [0, 0, 0], bounds: {lower: [0, 0, 0], upper: [1, 1, 1]}}
time: {end: 0.05, frame_interval: 0.01}
materials:
  soft: {law: fixed_corotated, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}
bodies:
  - {name: ball, kind: continuum, material: soft, velocity: [50, 0, 0],
     shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.3}}}
"""


class BadDecks(Case):
    def refusal(self, text, *words, code=2, arguments=(), ranks=1):
        """Runs a deck that must be refused at once with nothing written; returns what was said."""
        deck = self.deck(text) if text is not None else self.folder / "absent.yaml"
        self.run_deck(deck, "new/out", *arguments, code=code, ranks=ranks)
        for word in words:
            self.assertIn(word, self.last.stderr)
        self.assertFalse((self.folder / "new").exists())
        return self.last.stderr

    def test_all_errors_of_a_deck_are_told_in_one_go_with_their_places(self):
        text = JELLIES.replace("gravity", "gravitee").replace("0.3}\n  firm", "0.7}\n  firm")
        text = text.replace("friction: 0.4", "friction: slippery").replace("law: neo_hookean", "law: neo_hokean")
        said = self.refusal(text, "deck.yaml:4:", 'Did you mean "gravity"', "poisson_ratio", "slippery", "neo_hookean")
        self.assertEqual(len([line for line in said.splitlines() if "deck.yaml:" in line]), 4, said)

    def test_malformed_decks_are_refused(self):
        laughs = "a: &a [1, 1]\n" + "".join(f"{c}: &{c} [*{b}, *{b}, *{b}]\n" for b, c in zip("abcdefghi", "bcdefghij"))
        cases = {
            "no such file": (None, "absent.yaml"),
            "empty": ("", "deck.yaml"),
            "not YAML": ("weft: [1\nbodies: }", "deck.yaml:"),
            "not text": ("\x00\x01\x02", "deck.yaml"),
            "duplicate key": (JELLIES + "title: again\n", "deck.yaml:", "title"),
            "duplicate name": (JELLIES.replace("name: right", "name: left"), "left"),
            "unknown material": (JELLIES.replace("material: firm", "material: fir"), "firm"),
            "not a number": (JELLIES.replace("dx: 0.05", "dx: .nan"), "domain.dx"),
            "infinite": (JELLIES.replace("dx: 0.05", "dx: .inf"), "domain.dx"),
            "out of range": (JELLIES.replace("dx: 0.05", "dx: -0.05"), "domain.dx"),
            "octal": (JELLIES.replace("spin: [1, 2, 3]", "seed: 0o17"), "seed"),
            "old boolean": (JELLIES + "output: {grid: yes}\n", "output.grid"),
            "alias bomb": (laughs + JELLIES, "deck.yaml:"),
            "no bodies": (JELLIES.split("bodies:")[0], "bodies"),
            "no such mesh": (JELLIES.replace("sphere: {center: [0.25, 0.2, 0.03], radius: 0.14}",
                                             "mesh: {file: absent.obj}"), "absent.obj"),
        }
        for name, (text, *words) in cases.items():
            with self.subTest(name):
                self.refusal(text, *words)

    def test_bad_settings_on_the_command_line_are_refused(self):
        for setting, word in ("domain.dy=1", "domain.dy"), ("time.end=soon", "time.end"), ("nonsense", "nonsense"), (
                "bodies.middle.seed=1", "middle"):
            with self.subTest(setting):
                self.refusal(JELLIES, word, arguments=("--set", setting))
        for arguments in ("--walltime", "soon"), ("--steps", "few"), ("--steps", "-1"), ("--until", "nan"), (
                "--until", "-1"), ("--checkpoint-every", "-3"), ("--no-such-option",):
            with self.subTest(arguments):
                self.refusal(JELLIES, arguments=arguments)
        self.assertEqual(weft("fly").returncode, 2)

    def test_a_field_or_probe_that_no_body_has_is_refused(self):
        line = JELLIES.count("\n") + 1
        text = JELLIES.replace("field: pressure", "field: pleasure") + "output: {fields: [temperature, velocity]}\n"
        self.refusal(text, f"deck.yaml:{line}:9: output: ", "temperature", "continuum: velocity, volume_ratio",
                     f"deck.yaml:{line - 1}:5: probes.corner: ", "pleasure", "pressure")

    def test_a_probe_named_like_another_column_is_refused(self):
        line = JELLIES.count("\n")
        for name, column in ("kinetic_energy", "kinetic_energy"), ("force_of", None):
            text = JELLIES.replace("name: corner", f"name: {name}")
            if column:
                self.refusal(text, f"deck.yaml:{line}:5: probes.{name}: ", column)
            else:
                self.run_deck(self.deck(text), name, "--steps", 1)

    def test_several_ranks_refuse_as_one_does(self):
        said = self.refusal(JELLIES.replace("gravity", "gravitee"), ranks=3)
        self.assertEqual(said.count("Did you mean"), 1)

    def test_shapes_that_cannot_be_used_end_with_3(self):
        sphere = "sphere: {center: [0.25, 0.2, 0.03], radius: 0.14}"
        open_mesh = "\n".join(CUBE.strip().splitlines()[:-1])
        meshes = {"open": open_mesh, "empty": "", "not numbers": "v a b c\nf 1 2 3\n", "cut off": CUBE[:40]}
        for name, text in meshes.items():
            with self.subTest(name):
                (self.folder / "mesh.obj").write_text(text)
                self.refusal(JELLIES.replace(sphere, "mesh: {file: mesh.obj}"), "mesh.obj", code=3)
        with self.subTest("in millimetres"):
            self.refusal(JELLIES.replace("radius: 0.14", "radius: 140"), "right", "Are its lengths in millimetres?",
                         code=3)
        with self.subTest("too small for a particle"):
            self.refusal(JELLIES.replace("radius: 0.14", "radius: 1e-4"), "right", code=3)


class Numerics(Case):
    def test_a_hopeless_step_ends_with_4_and_leaves_the_last_good_state(self):
        deck = self.deck(DROP)
        for ranks in 1, 2:
            with self.subTest(ranks=ranks):
                output = self.run_deck(deck, f"out_{ranks}", *HOPELESS, code=4, ranks=ranks)
                for word in "jelly", "time.max_strain", "Usual cures":
                    self.assertIn(word, self.last.stderr)
                self.assertEqual(run_json(output)["state"], "failed")
                self.assertIn("time.max_strain", run_json(output)["reason"])
                saved = checkpoints(output)
                self.assertEqual(step_of(saved[-1]), run_json(output)["step"])
                self.assertGreater(step_of(saved[-1]), 5)
                self.assertEqual(weft("verify", output).returncode, 0)

    def test_the_last_good_state_is_that_of_an_undisturbed_run_and_can_go_on(self):
        deck = self.deck(DROP)
        failed = self.run_deck(deck, "failed", *HOPELESS, code=4)
        step = run_json(failed)["step"]
        # Refused steps leave no trace: the state is that of a run which stopped before them of its own accord.
        self.assert_same_state(failed, self.run_deck(deck, "stopped", "--steps", step), 0)
        self.run_deck(deck, "failed", "--steps", step + 10, "--resume", "auto")
        whole = self.run_deck(deck, "whole", "--steps", step + 10)
        self.assert_same_state(failed, whole, 0)

    def test_a_refused_step_is_taken_again_smaller_and_the_run_goes_on(self):
        output = self.run_deck(self.deck(DROP), "out", "--set", "time.max_strain=0.01", "--set", "time.max_retries=20")
        self.assertIn("taken again with a smaller dt", self.last.stderr)
        self.assertEqual(run_json(output)["state"], "finished")
        first, last = history(output)[0], history(output)[-1]
        self.assertEqual(first["mass"], last["mass"])
        # Momentum is what gravity and the floor gave, refused tries left out: both sums run over accepted steps.
        given = -float(first["mass"]) * 9.81 * float(last["time"]) - float(last["impulse_floor_y"])
        self.assertAlmostEqual(float(last["momentum_y"]), given, delta=1e-11 * float(first["mass"]) * 9.81)


class WhatNobodyAskedFor(Case):
    """Results that are wrong, or nothing at all, are not met with silence."""

    def test_a_body_outside_the_bounds_is_refused(self):
        deck = self.deck(FLIGHT.replace("[0.5, 0.5, 0.5]", "[5, 0.5, 0.5]"))
        for ranks in 1, 3:
            self.run_deck(deck, "out", code=3, ranks=ranks)
            self.assertIn("deck.yaml:8:", self.last.stderr)
            self.assertIn("outside domain.bounds", self.last.stderr)
            self.assertFalse((self.folder / "out").exists())

    def test_particles_that_leave_are_told_of(self):
        output = self.run_deck(self.deck(FLIGHT), "out", ranks=2)
        for words in "particles of ball left domain.bounds", "the last particle of ball left domain.bounds", \
                "nothing is left to simulate":
            self.assertEqual(self.last.stderr.count(words), 1, self.last.stderr)
        last = history(output)[-1]
        self.assertEqual(float(last["particles"]), 0)
        self.assertEqual(float(last["removed_particles"]), float(history(output)[0]["particles"]))

    def test_energies_and_fields_that_overflow_are_told_of(self):
        heavy = FLIGHT.replace("1000", "1e305").replace("youngs_modulus: 1e5", "youngs_modulus: 1e307")
        heavy += "output: {fields: [mass]}\n"
        output = self.run_deck(self.deck(heavy.replace("[50, 0, 0]", "[1000, 0, 0]")), "out", code=4)
        self.assertIn("is not a finite number", self.last.stderr)
        self.assertIn("stands as inf in this frame", self.last.stderr)
        self.assertEqual(run_json(output)["state"], "failed")
        light = heavy.replace("1e305", "1e100").replace("1e307", "1e102")
        self.run_deck(self.deck(light), "fine", "--steps", 1, "--set", "output.double_precision=true")
        self.assertNotIn("inf in this frame", self.last.stderr)

    def test_materials_that_fill_the_same_place_are_told_of(self):
        words = "bodies left and right: both fill the place around"
        for centre, is_told in ("0.25", False), ("0.10", False), ("0.03", True):
            deck = self.deck(JELLIES.replace("[0.25, 0.2, 0.03]", f"[{centre}, 0.2, 0.03]"))
            for ranks in 1, 3:
                done = weft("check", deck, folder=self.folder, ranks=ranks)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(words in done.stdout + done.stderr, is_told)
            self.run_deck(deck, centre, "--steps", 1)
            self.assertEqual(words in self.last.stderr, is_told)

    def test_meshes_that_are_much_coarser_than_the_grid_are_told_of(self):
        deck = self.deck("""
weft: 1
domain: {dx: 0.05}
time: {end: 0.1, frame_interval: 0.1}
materials:
  rubber: {law: neo_hookean, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}
  card: {law: stvk_hencky, density: 400, youngs_modulus: 1e6, poisson_ratio: 0.3}
  cloth: {law: sheet, density: 300, youngs_modulus: 1e5, poisson_ratio: 0.3, contact: {stiffness: 1e4}}
  yarn: {law: fiber, density: 500, stretch_modulus: 1e6, youngs_modulus: 1e5, poisson_ratio: 0.3, friction_angle: 20}
  hair: {law: rod, density: 1000, youngs_modulus: 1e6, poisson_ratio: 0.3}
bodies:
  - {name: block, kind: solid, material: rubber, mesh: {block: {lower: [0, 0, 0], upper: [0.4, 0.4, 0.4]}, size: SIZE}}
  - {name: plate, kind: shell, material: card, thickness: 1 cm, contact: {stiffness: 1e5},
     mesh: {rectangle: {width: 0.4, height: 0.4}, across: NUMBER, along: NUMBER, translate: [1, 0, 0]}}
  - {name: sheet, kind: membrane, material: cloth, thickness: 1 cm,
     mesh: {rectangle: {width: 0.4, height: 0.4}, across: NUMBER, along: NUMBER, translate: [2, 0, 0]}}
  - {name: cord, kind: fiber, material: yarn, radius: 1 cm, curves: {spacing: SIZE,
     hair_tube: {inner_radius: 0, outer_radius: 0.01, length: 0.4, strands: 1}, translate: [3, 0, 0]}}
  - {name: free, kind: solid, material: rubber, carrier: own, meets_grid: true,
     mesh: {block: {lower: [4, 0, 0], upper: [4.4, 0.4, 0.4]}, size: SIZE}}
  - {name: lock, kind: strand, material: hair, radius: 1 mm, meets_grid: true, curves: {spacing: SIZE,
     hair_tube: {inner_radius: 0, outer_radius: 0.01, length: 0.4, strands: 1}, translate: [5, 0, 0]},
     contact: {youngs_modulus: 1e5, poisson_ratio: 0.3, friction: 0.3, packing: 0.6}}
  - {name: stretched, kind: membrane, material: cloth, thickness: 1 cm,
     mesh: {rectangle: {width: 0.6, height: 0.4}, across: NUMBER, along: 24, translate: [6, 0, 0]}}
""")
        text = deck.read_text()
        # Solids plough into one another and tip from 1.3 dx on, other meshes let things in from 1.5 dx on.
        for number, names in (4, {"block", "plate", "sheet", "cord", "lock", "stretched"}), (6, {"block"}), (7, set()):
            deck.write_text(text.replace("NUMBER", str(number)).replace("SIZE", str(0.4 / number)))
            for ranks in 1, 3:
                done = weft("check", deck, ranks=ranks)
                self.assertEqual(done.returncode, 0, done.stderr)
                told = re.findall(r"body (\w+): its elements are", done.stdout + done.stderr)
                self.assertEqual(set(told), names)
        self.run_deck(deck, "fine", "--steps", 1)
        self.assertNotIn("its elements are", self.last.stderr)

    def test_coarse_bodies_keep_their_mass_and_are_told_of(self):
        deck = self.deck(FLIGHT.replace("radius: 0.3", "radius: 0.07"))
        done = weft("check", deck, folder=self.folder)
        self.assertIn("whose cells have", done.stderr)
        mass = float(re.search(r"body ball: \d+ particles; (\S+) kg in (\S+) m\^3", done.stdout)[1])
        self.assertAlmostEqual(mass, 1000 * 4 / 3 * numpy.pi * 0.07**3, delta=1e-5)


if __name__ == "__main__":
    unittest.main()
