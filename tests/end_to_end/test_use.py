#!/usr/bin/env python3
"""Proves what users see: exit codes, refusals, stopping on request, the files of a run:
tests/end_to_end/test_use.py WEFT."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from program import (CLOTH, JELLIES, PLATE, Case, checkpoints, command, environment, history, physics, run_json, step_of, wait_until,
                     weft)
import h5py
import numpy

CUBE = """
v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1
f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\nf 4 5 8
"""

# A jelly falls on a floor; it does not deform before it meets it.
DROP = """
weft: 1
domain: {dx: 0.05, gravity: [0, -9.81, 0]}
time: {end: 0.3, frame_interval: 0.1}
materials:
  soft: {law: fixed_corotated, density: 1000, youngs_modulus: 2e4, poisson_ratio: 0.3}
bodies:
  - {name: jelly, kind: continuum, material: soft, shape: {box: {lower: [0, 0.15, 0], upper: [0.2, 0.35, 0.2]}}}
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}}
"""


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

# A block that turns and falls obliquely onto an inclined floor, and a mill that hits it from the side.
HIT = """
weft: 1
domain: {dx: 0.05, gravity: [1, -9, 2]}
time: {end: 1, frame_interval: 1}
materials: {soft: {law: neo_hookean, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0.3}}
bodies:
  - {name: a, kind: continuum, material: soft, shape: {box: {lower: [0, 0, 0], upper: [0.4, 0.3, 0.2]}},
     velocity: [1, -2, 0.5], spin: [1, 2, 3]}
colliders:
  - {name: floor, shape: {plane: {point: [0, -0.11, 0], normal: [0.2, 1, 0.1]}}, friction: 0.3, contact: CONTACT}
  - {name: mill, shape: {box: {lower: [0.45, -0.5, -0.2], upper: [0.8, 0.5, 0.5]}}, friction: 0.3, contact: CONTACT,
     motion: {velocity: [-1, 0, 0], spin: [0, 2, 3], center: [0.8, 0, 0.2]}}
probes: [{name: centre, body: a, centre_of_mass: {}}]
output: {diagnostics_every: 1}
"""

FAR = 100  # [s] of the scene: no machine gets there while a test looks on


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
            self.refusal(JELLIES.replace("radius: 0.14", "radius: 140"), "right", "Are its lengths in millimetres?", code=3)
        with self.subTest("too small for a particle"):
            self.refusal(JELLIES.replace("radius: 0.14", "radius: 1e-4"), "right", code=3)


class Numerics(Case):
    hopeless = "--set", "time.max_strain=1e-4", "--set", "time.max_retries=2"

    def test_a_hopeless_step_ends_with_4_and_leaves_the_last_good_state(self):
        deck = self.deck(DROP)
        for ranks in 1, 2:
            with self.subTest(ranks=ranks):
                output = self.run_deck(deck, f"out_{ranks}", *self.hopeless, code=4, ranks=ranks)
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
        failed = self.run_deck(deck, "failed", *self.hopeless, code=4)
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

    def test_coarse_bodies_keep_their_mass_and_are_told_of(self):
        deck = self.deck(FLIGHT.replace("radius: 0.3", "radius: 0.07"))
        done = weft("check", deck, folder=self.folder)
        self.assertIn("whose cells have", done.stderr)
        mass = float(re.search(r"body ball: \d+ particles; (\S+) kg in (\S+) m\^3", done.stdout)[1])
        self.assertAlmostEqual(mass, 1000 * 4 / 3 * numpy.pi * 0.07**3, delta=1e-5)


class Places(Case):
    def test_an_existing_run_is_refused_with_a_cure_and_replaced_only_by_force(self):
        deck = self.deck(JELLIES)
        output = self.run_deck(deck, "out", "--steps", 3)
        before = {p: p.read_bytes() for p in output.rglob("*") if p.is_file()}
        self.run_deck(deck, "out", "--steps", 4, code=5)
        for word in "--resume auto", "--force", "--output":
            self.assertIn(word, self.last.stderr)
        self.assertEqual({p: p.read_bytes() for p in output.rglob("*") if p.is_file()}, before)
        self.run_deck(deck, "out", "--steps", 1, "--force")
        self.assertEqual([step_of(c) for c in checkpoints(output)], [1])

    def test_force_leaves_alone_what_is_not_a_run(self):
        deck = self.deck(JELLIES)
        output = self.run_deck(deck, "out", "--steps", 1)
        (output / "notes.txt").write_text("mine")
        self.run_deck(deck, "out", "--steps", 1, "--force")
        self.assertEqual((output / "notes.txt").read_text(), "mine")

    def test_resume_auto_deletes_nothing_that_no_run_left(self):
        deck = self.deck(JELLIES)
        mine = self.folder / "out"
        files = [mine / name for name in ("log.txt", "frames/left_000000.hdf", "crash/notes", "checkpoints/notes")]
        for file in files:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("mine")
        for how in ("--resume", "auto"), ("--force",):
            self.run_deck(deck, "out", "--steps", 1, *how, code=5)
            for word in "log.txt", "nothing is deleted", "--output":
                self.assertIn(word, self.last.stderr)
            self.assertEqual([file.read_text() for file in files], ["mine"] * 4)
            self.assertEqual(len([path for path in mine.rglob("*") if path.is_file()]), 4)

    def test_a_killed_run_whose_checkpoints_were_moved_away_loses_nothing(self):
        deck = self.deck(JELLIES)
        process = subprocess.Popen(command("run", deck, "-o", self.folder / "out", "--until", FAR, "--checkpoint-every", 5),
                                   env=environment(), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        output = self.folder / "out"
        wait_until(lambda: (output / "run.json").exists() and run_json(output).get("saved_step") is not None, "a checkpoint")
        process.kill()
        process.wait()
        (output / "checkpoints").rename(self.folder / "moved")
        frames, rows = sorted((output / "frames").iterdir()), history(output)
        self.run_deck(deck, "out", "--resume", "auto", code=6)
        for word in "checkpoint at step", "--force":
            self.assertIn(word, self.last.stderr)
        self.assertEqual((sorted((output / "frames").iterdir()), history(output)), (frames, rows))
        (self.folder / "moved").rename(output / "checkpoints")
        self.run_deck(deck, "out", "--resume", "auto", "--steps", step_of(checkpoints(output)[-1]) + 1)

    def test_a_folder_takes_one_run_at_a_time(self):
        deck = self.deck(JELLIES)
        output = self.folder / "out"
        starts = [subprocess.Popen(command("run", deck, "-o", output, "--until", FAR, "--resume", "auto", ranks=ranks),
                                   env=environment(), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True) for ranks in (1, 2)]
        for process in starts:
            self.addCleanup(process.communicate)
            self.addCleanup(process.kill)
        wait_until(lambda: any(process.poll() is not None for process in starts), "the end of one of two")
        refused, lives = sorted(starts, key=lambda process: process.poll() is None)
        self.assertEqual(refused.wait(), 5)
        wait_until(lambda: (output / "diagnostics.csv").exists() and len(history(output)) > 2, "the first rows")
        said = refused.stderr.read()
        for word in "another run", f"process {run_json(output)['process']['id']} on", "--output":
            self.assertIn(word, said)
        for how in ("--resume", "auto"), ("--force",), ():
            self.run_deck(deck, "out", "--steps", 1, *how, code=5)
            self.assertIn("another run", self.last.stderr)
        lives.send_signal(signal.SIGUSR1)
        self.assertEqual(lives.wait(60), 0)
        self.assertEqual(run_json(output)["state"], "stopped")
        self.assertFalse((output / "run.lock").exists())
        self.assertEqual(weft("verify", output).returncode, 0)

    def test_a_selftest_deletes_only_what_it_made(self):
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "notes.txt").write_text("mine")
        done = weft("selftest", "-o", self.folder / "mine")
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertIn("new or empty", done.stderr)
        self.assertEqual((self.folder / "mine" / "notes.txt").read_text(), "mine")
        (self.folder / "empty").mkdir()
        done = weft("selftest", "-o", self.folder / "empty")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(list((self.folder / "empty").iterdir()), [])

    def test_compare_marks_what_exceeds_the_tolerance(self):
        deck = self.deck(JELLIES)
        a, b = self.run_deck(deck, "a", "--steps", 3), self.run_deck(deck, "b", "--steps", 3, "--set", "time.max_dt=1e-4")
        done = weft("compare", a, b, "--tolerance", 1e-9)
        self.assertEqual(done.returncode, 1)
        marked = [line.split()[:2] for line in done.stdout.splitlines() if line.endswith("exceeds")]
        self.assertIn(["left", "position"], marked)
        self.assertNotIn(["left", "mass"], marked)
        self.assertNotIn("exceeds", weft("compare", a, b, "--tolerance", 10).stdout)

    def test_a_place_that_cannot_be_written_ends_with_5(self):
        deck = self.deck(JELLIES)
        (self.folder / "file").write_text("")
        self.run_deck(deck, "file", "--steps", 1, code=5)
        self.run_deck(deck, "file/out", "--steps", 1, code=5, ranks=2)
        self.assertIn("--output", self.last.stderr)

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_a_folder_without_permission_ends_with_5(self):
        (self.folder / "out").mkdir(mode=0o500)
        self.run_deck(self.deck(JELLIES), "out", "--steps", 1, code=5)
        self.assertIn("may write", self.last.stderr)

    def test_the_resolved_deck_runs_to_the_same_bits_from_anywhere(self):
        (self.folder / "mesh.obj").write_text(CUBE)
        shape = "mesh: {file: mesh.obj}, scale: 0.25, rotate: {axis: [1, 2, 3], angle: 20}, translate: [0.2, 0.1, 0]"
        deck = self.deck(JELLIES.replace("sphere: {center: [0.25, 0.2, 0.03], radius: 0.14}", shape))
        first = self.run_deck(deck, "first", "--steps", 10, "--set", "bodies.left.spin=[0, 0, 60 rpm]", "--set",
                              "domain.dx=5 cm")
        (self.folder / "elsewhere").mkdir()
        moved = self.folder / "elsewhere" / "copy.yaml"
        shutil.copy(first / "resolved.yaml", moved)
        again = self.run_deck(moved, "again", "--steps", 10)
        self.assert_same_state(first, again, 0)
        self.assertEqual(physics(first), physics(again))
        self.assertEqual((first / "resolved.yaml").read_text(), (again / "resolved.yaml").read_text())

    def test_check_describes_the_run_and_writes_nothing(self):
        deck = self.deck(JELLIES)
        before = sorted(self.folder.iterdir())
        done = weft("check", deck, folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in "left", "right", "particles", "dt", "waves in right", "memory", "steps":
            self.assertIn(word, done.stdout)
        self.assertEqual(sorted(self.folder.iterdir()), before)
        self.assertNotIn("poisson_ratio", done.stdout)
        self.assertIn("poisson_ratio", weft("check", deck, "--resolved", folder=self.folder).stdout)
        peak = float(re.search(r"memory: (\S+) GB at most", done.stdout)[1])
        self.assertTrue(0.03 < peak < 1, peak)  # libraries take some 70 MB
        said = weft("run", deck, "-o", self.folder / "out", "--steps", 1).stdout
        particles = int(said.split(" particles")[0].split()[-1])
        counts = [int(line.split()[2]) for line in done.stdout.splitlines() if line.startswith("body ")]
        self.assertEqual(sum(counts), particles)


HINGED_ROOF = pathlib.Path(__file__).resolve().parents[2] / "decks/hinged_roof.yaml"  # a static analysis


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
                # Ghosts add to their owners and hear from them, once a step each: two messages for each pair of ranks. Those
                # of vertices hear once more where handles hold some. Contacts with walls are counted once, and each of
                # their two passes hears of nodes and adds to them: six more.
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


class Started(Case):
    """Runs that are started and watched."""

    def start(self, output, *arguments, ranks=1):
        process = subprocess.Popen(
            command("run", self.deck(JELLIES), "-o", self.folder / output, "--until", FAR, *arguments,
                    ranks=ranks),
            env=environment(), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        diagnostics = self.folder / output / "diagnostics.csv"
        wait_until(lambda: diagnostics.exists() and diagnostics.read_text().count("\n") > 2, "the first rows")
        return process

    def assert_stopped_whole(self, process, output):
        self.assertEqual(process.wait(60), 0)
        self.assertEqual(run_json(output)["state"], "stopped")
        self.assertEqual(step_of(checkpoints(output)[-1]), run_json(output)["step"])
        self.assertEqual(weft("verify", output).returncode, 0)
        self.assertEqual(int(history(output)[-1]["step"]), run_json(output)["step"])


class Requests(Started):
    """Stopping and saving on request."""

    def test_USR1_TERM_and_INT_stop_with_a_checkpoint(self):
        for number in signal.SIGUSR1, signal.SIGTERM, signal.SIGINT:
            with self.subTest(number.name):
                process = self.start(number.name)
                process.send_signal(number)
                self.assert_stopped_whole(process, self.folder / number.name)

    def test_USR1_reaches_all_ranks(self):
        process = self.start("out", ranks=2)
        process.send_signal(signal.SIGUSR1)  # mpiexec passes it on
        self.assert_stopped_whole(process, self.folder / "out")

    def test_USR2_saves_and_goes_on(self):
        process = self.start("out")
        process.send_signal(signal.SIGUSR2)
        wait_until(lambda: checkpoints(self.folder / "out"), "a checkpoint")
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGUSR1)
        self.assert_stopped_whole(process, self.folder / "out")

    def test_a_wall_clock_limit_stops_in_time(self):
        output = self.run_deck(self.deck(JELLIES), "out", "--until", FAR, "--walltime", "00:00:03", "--set",
                               "domain.dx=0.025")
        self.assertEqual(run_json(output)["state"], "stopped")
        self.assertEqual(step_of(checkpoints(output)[-1]), run_json(output)["step"])
        self.assertLess(run_json(output)["time"], FAR)

    def test_until_ends_at_that_time_exactly(self):
        output = self.run_deck(self.deck(JELLIES), "out", "--until", 0.031)
        self.assertEqual(run_json(output)["state"], "finished")
        self.assertEqual(run_json(output)["time"], 0.031)
        self.assertEqual(float(history(output)[-1]["time"]), 0.031)

    def test_old_checkpoints_make_room_for_new_ones(self):
        output = self.run_deck(self.deck(JELLIES), "out", "--steps", 12, "--checkpoint-every", 2, "--set",
                               "output.checkpoint.keep=2")
        self.assertEqual([step_of(c) for c in checkpoints(output)], [10, 12])


class Status(Started):
    """What `weft status` says of a run, and how it ends."""

    def status(self, output, code):
        done = weft("status", self.folder / output, "--json")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_a_run_is_running_then_stopped_then_finished(self):
        process = self.start("out")
        told = self.status("out", 11)
        self.assertEqual((told["state"], told["checkpoint"], told["end"]), ("running", None, FAR))
        process.send_signal(signal.SIGUSR1)
        self.assert_stopped_whole(process, self.folder / "out")
        told = self.status("out", 10)
        newest = checkpoints(self.folder / "out")[-1]
        self.assertEqual((told["state"], told["checkpoint"]), ("stopped", str(newest)))
        self.assertEqual((told["step"], told["checkpoint_step"]), (step_of(newest), step_of(newest)))
        self.assertGreater(told["steps_per_second"], 0)
        self.assertGreater(told["remaining_seconds"], 0)
        self.assertEqual(weft("status", self.folder / "out", "--print", "checkpoint_step").stdout.strip(),
                         str(step_of(newest)))
        self.assertIn(newest.name, weft("status", self.folder / "out").stdout)
        self.run_deck(self.deck(JELLIES), "out", "--resume", "auto", "--until", told["time"] + 0.01)
        self.assertEqual(self.status("out", 0)["state"], "finished")

    def test_a_killed_run_is_dead_at_once_on_its_own_machine(self):
        process = self.start("out")
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and nobody has asked how yet
        self.assertEqual(self.status("out", 10)["state"], "dead")
        process.wait()
        self.assertEqual(self.status("out", 10)["state"], "dead")

    def test_a_run_elsewhere_is_dead_when_it_is_silent_for_a_minute(self):
        process = self.start("out")
        process.send_signal(signal.SIGSTOP)
        file = self.folder / "out" / "run.json"
        (self.folder / "out" / "run.lock").unlink()  # as where locks of other hosts are not seen
        file.write_text(file.read_text().replace('"host": "', '"host": "not_'))
        self.assertEqual(self.status("out", 11)["state"], "running")
        os.utime(file, (time.time() - 61,) * 2)
        self.assertEqual(self.status("out", 10)["state"], "dead")

    def test_a_suspended_run_is_not_dead_while_its_process_lives(self):
        process = self.start("out")
        process.send_signal(signal.SIGSTOP)
        file, lock = self.folder / "out" / "run.json", self.folder / "out" / "run.lock"
        silent = lambda: os.utime(file, (time.time() - 3600,) * 2)
        silent()
        self.assertEqual(self.status("out", 11)["state"], "running")
        file.write_text(file.read_text().replace('"host": "', '"host": "not_'))
        silent()
        self.assertEqual(self.status("out", 11)["state"], "running")  # its lock is held, wherever it is
        file.write_text(file.read_text().replace('"host": "not_', '"host": "'))
        lock.unlink()
        silent()
        self.assertEqual(self.status("out", 11)["state"], "running")  # its process is here
        process.kill()
        process.wait()
        self.assertEqual(self.status("out", 10)["state"], "dead")

    def test_a_failed_run_says_why(self):
        self.run_deck(self.deck(DROP), "out", *Numerics.hopeless, code=4)
        told = self.status("out", 12)
        self.assertEqual((told["state"], told["exit_code"]), ("failed", 4))
        self.assertIn("time.max_strain", told["reason"])

    def test_where_there_is_no_run_status_says_so(self):
        done = weft("status", self.folder)
        self.assertEqual(done.returncode, 5)
        self.assertIn("no run", done.stderr)


# A block slides over the edge of a table that holds it.
OVER_EDGE = """
weft: 1
domain: {dx: 0.1, gravity: [0, -9.81, 0]}
time: {end: 0.5, frame_interval: 0.5}
transfer: {rpic_damping: 0.1}
materials: {jelly: {law: fixed_corotated, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}}
bodies:
  - {name: block, kind: continuum, material: jelly, velocity: [1.5, 0, 0],
     shape: {box: {lower: [-0.25, 0.03, 0], upper: [0.15, 0.43, 0.3]}}}
colliders: [{name: table, shape: {box: {lower: [-1, -1, -1], upper: [0.03, 0.03, 1]}}, condition: slip}]
output: {diagnostics_every: 1}
"""


class Records(Case):
    def test_diagnostics_have_the_promised_columns_and_add_up(self):
        output = self.run_deck(self.deck(JELLIES), "out", "--steps", 80)
        header = (output / "diagnostics.csv").read_text().splitlines()[0].split(",")
        for column in ("step", "time [s]", "dt [s]", "particles", "mass [kg]", "momentum_y [kg m/s]",
                       "angular_momentum_z [kg m^2/s]", "kinetic_energy [J]", "affine_energy [J]",
                       "elastic_energy [J]", "gravitational_energy [J]", "energy_less_work [J]",
                       "work_of_colliders [J]", "impulse_floor_y [kg m/s]",
                       "angular_impulse_floor_z [kg m^2/s]", "wall_seconds [s]",
                       "particle_steps_per_second [1/s]", "imbalance", "memory_bytes [byte]", "centre_x [m]",
                       "corner [Pa]"):
            self.assertIn(column, header)
        rows = history(output)
        self.assertEqual([int(row["step"]) for row in rows], list(range(0, 81, 10)))
        for row in rows:
            n = {name: float(text) for name, text in row.items()}
            mass = float(rows[0]["mass"])
            self.assertAlmostEqual(n["mass"], mass, delta=1e-13 * mass)
            given = -mass * 9.81 * n["time"] - n["impulse_floor_y"]
            self.assertAlmostEqual(n["momentum_y"], given, delta=1e-11 * mass)
        balance = [float(row["energy_less_work"]) for row in rows]
        for before, after in zip(balance, balance[1:]):
            self.assertLess(after, before + 1e-5 * abs(balance[0]))

    def test_energy_does_not_jump_where_normals_of_colliders_do(self):
        rows = history(self.run_deck(self.deck(OVER_EDGE), "edge"))
        energy = [float(row["energy_less_work"]) for row in rows]
        jump = max(after - before for before, after in zip(energy, energy[1:]))
        self.assertLess(jump, 0.01 * float(rows[0]["kinetic_energy"]))
        self.assertLess(float(rows[-1]["momentum_y"]), -1)  # it has gone over the edge

    def test_momenta_are_what_gravity_and_colliders_give_on_any_ranks(self):
        for contact, ranks in (("surface", 1), ("surface", 3), ("nodes", 1), ("nodes", 3)):
            with self.subTest(contact, ranks=ranks):
                deck = self.deck(HIT.replace("CONTACT", contact))
                rows = history(self.run_deck(deck, f"{contact}{ranks}", "--steps", 80, ranks=ranks))
                of = {name: numpy.array([[float(row[f"{name}_{axis}"]) for axis in "xyz"] for row in rows])
                      for name in ("momentum", "angular_momentum", "centre", "impulse_floor", "angular_impulse_floor",
                                   "impulse_mill", "angular_impulse_mill")}
                # Gravity acts where points are before they move.
                weight = float(rows[0]["mass"]) * numpy.array([1, -9, 2])
                dt = numpy.array([[float(row["dt"])] for row in rows[1:]])
                gravity = {"": dt * weight, "angular_": dt * numpy.cross(of["centre"][:-1], weight)}
                size = abs(of["momentum"][0]).max()
                for kind, given in gravity.items():
                    walls = [of[f"{kind}impulse_{wall}"] for wall in ("floor", "mill")]
                    for received in walls:
                        self.assertGreater(abs(received[-1]).max(), 0.1 * size)
                    lost = numpy.diff(of[f"{kind}momentum"] + sum(walls), axis=0).cumsum(axis=0) - given.cumsum(axis=0)
                    self.assertLess(abs(lost).max(), 1e-12 * size, f"{kind}momentum")

    def test_the_last_frame_is_there_whatever_its_time_rounds_to(self):
        output = self.run_deck(self.deck(DROP), "out")  # 3 * 0.1 > 0.3 for computers
        self.assertEqual(len(list((output / "frames").glob("jelly_*.hdf"))), 4)
        self.assertEqual(run_json(output)["time"], 0.3)

    def test_frames_hold_the_particles_and_their_fields(self):
        deck = self.deck(JELLIES + "output: {fields: [id, mass, velocity, pressure], double_precision: true, grid: true}\n")
        output = self.run_deck(deck, "out", "--until", 0.02, "--set", "time.frame_interval=0.01")
        row = history(output)[-1]
        momentum = numpy.zeros(3)
        count = 0
        for body in "left", "right":
            with h5py.File(output / "frames" / f"{body}_000002.hdf") as file:
                data = file["VTKHDF/PointData"]
                self.assertEqual(sorted(data), ["id", "mass", "pressure", "velocity"])
                velocity = data["velocity"][:]
                self.assertEqual(velocity.dtype, numpy.float64)
                self.assertEqual(len(set(data["id"][:])), len(velocity))
                momentum += data["mass"][:] @ velocity
                count += len(velocity)
        self.assertEqual(count, int(row["particles"]))
        for axis, p in zip("xyz", momentum):
            self.assertAlmostEqual(p, float(row[f"momentum_{axis}"]), delta=1e-9 * float(row["mass"]))
        with h5py.File(output / "frames" / "grid_000002.hdf") as file:
            # What is shown of the grid is of the step before, at whose end the points moved: the mass is all there.
            mass = file["VTKHDF/PointData/mass"][:].sum()
            self.assertAlmostEqual(mass, float(row["mass"]), delta=1e-12 * mass)

    def test_run_json_says_where_the_run_came_from(self):
        output = self.run_deck(self.deck(JELLIES), "out", "--steps", 1, ranks=2)
        told = run_json(output)
        self.assertEqual((told["state"], told["step"], told["title"]), ("stopped", 1, "Two jellies meet over a floor"))
        self.assertEqual(told["provenance"]["ranks"], 2)
        for key in "version", "commit", "compiler", "flags", "libraries", "threads":
            self.assertIn(key, told["provenance"])
        log = (output / "log.txt").read_text()
        for word in "particles", "phase", "Advice", "Stopped at step 1":
            self.assertIn(word, log)

    def test_the_log_says_who_ran_what_and_why_it_stopped(self):
        deck = self.deck(JELLIES)
        output = self.run_deck(deck, "out", "--steps", 1, ranks=2, threads=2)
        first, second, third, *_ = (output / "log.txt").read_text().splitlines()
        self.assertRegex(first, r"^weft \S+ \(.+\) on \S+, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, 2 ranks of 2 threads$")
        self.assertRegex(second, r"^command: \S*weft\S* run .*--steps 1")
        self.assertEqual(third, f"deck: {deck.resolve()}")
        self.assertRegex(self.last.stdout, r"Stopped at step 1, .*: --steps asks for no more\.")
        self.run_deck(deck, "out", "--resume", "auto", "--walltime", "00:00:01")
        self.assertRegex(self.last.stdout, r"Stopped at step 2, .*: --walltime leaves no room for more\.")

    def test_the_phases_add_up_to_the_wall_time(self):
        self.run_deck(self.deck(JELLIES), "out", "--steps", 20, ranks=2)
        table = self.last.stdout[self.last.stdout.index("phase "):].splitlines()[1:]
        rows = {line.split()[0]: float(line.split()[2]) for line in table if line.split()[0] not in ("all", "Advice:")}
        everything = float(next(line for line in table if line.startswith("all ")).split()[1])
        self.assertAlmostEqual(sum(rows.values()), everything, delta=0.005 * (len(rows) + 1))
        advice = next(line for line in table if line.startswith("Advice"))
        self.assertIn(f'"{max(rows, key=rows.get)}" takes the largest part', advice)
        self.assertGreater(rows["start"], 0.01)  # the scene is part of it

    def test_frames_show_what_their_kind_of_body_is_looked_at_for(self):
        for text, body, points, cells in (
                (JELLIES, "left", {"id", "velocity", "volume_ratio", "plastic_measure", "pressure", "von_mises_stress"}, set()),
                (CLOTH, "cloth", {"id", "velocity"}, {"stretch", "pressure"}),
                (PLATE, "plate", {"id", "velocity"},
                 {"membrane_strain", "curvature", "plastic_strain", "contact_pressure"})):
            with self.subTest(body):
                output = self.run_deck(self.deck(text), body, "--steps", 1)
                with h5py.File(output / "frames" / f"{body}_000000.hdf") as file:
                    self.assertEqual((set(file["VTKHDF/PointData"]), set(file["VTKHDF/CellData"])), (points, cells))
        both = self.deck(PLATE + "output: {fields: [default, mass]}\n")
        output = self.run_deck(both, "both", "--steps", 1)
        with h5py.File(output / "frames" / "jelly_000000.hdf") as file:
            self.assertLess({"mass", "velocity", "pressure"}, set(file["VTKHDF/PointData"]))


if __name__ == "__main__":
    unittest.main()
