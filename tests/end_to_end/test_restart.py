#!/usr/bin/env python3
"""Proves that a run that was stopped goes on as if nothing had been: tests/end_to_end/test_restart.py WEFT [--full].
What kills and failing disks do is in test_faults.py, what damage does in test_damage.py."""
import json
import pathlib
import shutil
import subprocess
import unittest

from program import (CLOTH, FULL, GRIPPED, JELLIES, OWN, PLATE, SPOUT, SPUN, TORN, Case, checkpoints,
                     command, environment, history, physics, run_json, step_of, wait_until, weft,
                     write_unlike_triangles)
import weft_read

CUBE = """
v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1
f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\nf 4 5 8
"""
# A solid, a sheet and a shell that move by implicit steps of their own, and are held at one side.
IMPLICIT = """
weft: 1
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
time: {end: 1, frame_interval: 1, max_dt: 5 ms}
materials:
  jelly: {law: fixed_corotated, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}
  cloth: {law: sheet, density: 500, youngs_modulus: 1e6, poisson_ratio: 0.3, contact: {stiffness: 1e5, friction: 0.3}}
  metal: {law: stvk_hencky, density: 500, youngs_modulus: 1e6, poisson_ratio: 0.3}
bodies:
  - {name: beam, kind: solid, material: jelly, carrier: own, stage: {scheme: implicit},
     mesh: {block: {lower: [0, 0, 0], upper: [1, 0.25, 0.25]}, size: 0.07}}
  - {name: flag, kind: membrane, material: cloth, thickness: 5 mm, bending: {youngs_modulus: 1e6}, carrier: own,
     stage: {scheme: implicit}, mesh: {rectangle: {width: 1, height: 1}, across: 12, along: 12, translate: [0, 2, 0]}}
  - {name: plate, kind: shell, material: metal, thickness: 10 mm, carrier: own, stage: {scheme: implicit},
     mesh: {rectangle: {width: 1, height: 1}, across: 9, along: 9, translate: [0, 4, 0]}}
handles:
  - {name: wall, body: beam, where: {box: {lower: [-1, -1, -1], upper: [0.01, 9, 1]}}, hold: {}}
  - {name: pole, body: flag, where: {box: {lower: [-1, -1, -1], upper: [0.01, 9, 1]}}, hold: {}}
  - {name: vice, body: plate, where: {box: {lower: [-1, -1, -1], upper: [0.01, 9, 1]}}, hold: {keep: clamp}}
"""
DECKS = pathlib.Path(__file__).resolve().parents[2] / "decks"


class Restart(Case):
    def halves(self, deck, first, second, middle, end, **how):
        """One run to `end` without a break and one with a break at step `middle`: their folders."""
        unbroken = self.run_deck(deck, "unbroken", "--steps", end, **first)
        broken = self.run_deck(deck, "broken", "--steps", middle, **first)
        self.assertEqual(run_json(broken)["state"], "stopped")
        self.assertEqual(run_json(broken)["step"], middle)
        self.run_deck(deck, "broken", "--steps", end, "--resume", "auto", **second)
        return unbroken, broken

    def test_a_resumed_run_equals_the_unbroken_one_to_the_bit(self):
        for text, ranks in (JELLIES, 1), (JELLIES, 3), (GRIPPED, 1), (GRIPPED, 3):
            with self.subTest(text=text[:40], ranks=ranks):
                how = {"ranks": ranks}
                unbroken, broken = self.halves(self.deck(text), how, how, 60, 120)
                self.assert_same_state(unbroken, broken, 0)
                self.assertEqual(physics(unbroken), physics(broken))
                shutil.rmtree(unbroken)
                shutil.rmtree(broken)

    def test_a_run_goes_over_1_2_4_and_3_ranks_to_1e_10(self):
        for name, text in ("jellies", JELLIES), ("gripped", GRIPPED):
            deck = self.deck(text)
            unbroken = self.run_deck(deck, f"{name}_unbroken", "--steps", 120)
            for step, ranks in (30, 1), (60, 2), (90, 4), (120, 3):
                changing = self.run_deck(deck, f"{name}_changing", "--steps", step, "--resume", "auto", ranks=ranks)
            with self.subTest(name):
                self.assert_same_state(unbroken, changing, 1e-10)

    def test_either_writer_goes_on_from_the_other_s_checkpoints_on_other_ranks(self):
        deck, collective = self.deck(JELLIES), ["--set", "output.writer=collective", "--set",
                                                "output.hints={cb_nodes: 2, cb_buffer_size: 1 MiB, alignment: 64 KiB}"]
        for ranks in 1, 3:
            direct = self.run_deck(deck, f"direct{ranks}", "--steps", 60, ranks=ranks)
            together = self.run_deck(deck, f"collective{ranks}", "--steps", 60, *collective, ranks=ranks)
            self.assert_same_state(direct, together, 0)
        self.run_deck(deck, direct.name, "--steps", 90, "--resume", "auto", *collective, ranks=2)
        self.run_deck(deck, together.name, "--steps", 90, "--resume", "auto", ranks=2)
        self.assert_same_state(direct, together, 0)

    def test_cloth_goes_on_to_the_bit_on_the_same_ranks_and_to_1e_10_on_others(self):
        deck = self.deck(CLOTH)
        how = {"ranks": 3}
        unbroken, broken = self.halves(deck, how, how, 70, 120)
        self.assert_same_state(unbroken, broken, 0)
        self.assertEqual(physics(unbroken), physics(broken))
        shutil.rmtree(broken)
        broken = self.run_deck(deck, "broken", "--steps", 70, ranks=2)
        self.run_deck(deck, "broken", "--steps", 120, "--resume", "auto", ranks=4)
        self.assert_same_state(unbroken, broken, 1e-10)

    def test_what_has_torn_stays_torn_to_the_bit_on_the_same_ranks_and_to_1e_10_on_others(self):
        deck = self.deck(TORN)
        how = {"ranks": 3}
        unbroken, broken = self.halves(deck, how, how, 36, 50)
        self.assert_same_state(unbroken, broken, 0)
        shutil.rmtree(broken)
        broken = self.run_deck(deck, "broken", "--steps", 36, ranks=1)
        self.run_deck(deck, "broken", "--steps", 50, "--resume", "auto", ranks=2)
        self.assert_same_state(unbroken, broken, 1e-10)

    def test_split_vertices_and_what_handles_do_to_them_go_on_to_the_bit_and_to_1e_10_on_other_ranks(self):
        write_unlike_triangles(self.folder / "unlike.obj", 15, 15, 0.5, 0.5)
        alike = "rectangle: {width: 0.5, height: 0.5}, across: 15, along: 15"
        self.assertIn(alike, SPUN)
        for mesh in alike, "file: {path: unlike.obj}":
            with self.subTest(mesh=mesh):
                self.check_split_vertices(self.deck(SPUN.replace(alike, mesh)))
                shutil.rmtree(self.folder / "unbroken")
                shutil.rmtree(self.folder / "broken")

    def check_split_vertices(self, deck):
        how = {"ranks": 3}
        unbroken, broken = self.halves(deck, how, how, 40, 70)
        self.assertGreater(weft_read.Run(unbroken).checkpoint()["sheet"]["id"].max(), 16 * 16 + 10)
        self.assert_same_state(unbroken, broken, 0)
        self.assertEqual(physics(unbroken)[-1], physics(broken)[-1])
        for before, after in (1, 2), (4, 1):
            shutil.rmtree(broken)
            broken = self.run_deck(deck, "broken", "--steps", 40, ranks=before)
            self.run_deck(deck, "broken", "--steps", 70, "--resume", "auto", ranks=after)
            self.assert_same_state(unbroken, broken, 1e-10)

    def test_shells_go_on_to_the_bit_on_the_same_ranks_and_to_1e_10_on_others(self):
        deck = self.deck(PLATE)
        how = {"ranks": 2}
        unbroken, broken = self.halves(deck, how, how, 50, 80)
        self.assert_same_state(unbroken, broken, 0)
        shutil.rmtree(broken)
        broken = self.run_deck(deck, "broken", "--steps", 50, ranks=1)
        self.run_deck(deck, "broken", "--steps", 80, "--resume", "auto", ranks=3)
        self.assert_same_state(unbroken, broken, 1e-10)

    def test_bodies_that_move_by_themselves_go_on_to_the_bit_and_to_1e_10_on_other_ranks(self):
        deck = self.deck(OWN.replace("STAGE", "explicit"))
        how = {"ranks": 3}
        unbroken, broken = self.halves(deck, how, how, 30, 60)
        self.assert_same_state(unbroken, broken, 0)
        self.assertEqual(physics(unbroken), physics(broken))
        shutil.rmtree(broken)
        broken = self.run_deck(deck, "broken", "--steps", 30, ranks=1)
        self.run_deck(deck, "broken", "--steps", 60, "--resume", "auto", ranks=2)
        self.assert_same_state(unbroken, broken, 1e-10)

    def test_implicit_steps_of_bodies_that_move_by_themselves_repeat_and_go_on_to_the_bit(self):
        own = OWN.replace("STAGE", "implicit")
        for text, ranks, steps in (own, 1, 60), (own, 4, 20), (IMPLICIT, 3, 8), (IMPLICIT, 4, 8):
            with self.subTest(text=text[:40], ranks=ranks):
                deck, how = self.deck(text), {"ranks": ranks}
                unbroken, broken = self.halves(deck, how, how, steps // 2, steps)
                for other in broken, self.run_deck(deck, "again", "--steps", steps, **how):
                    self.assert_same_state(unbroken, other, 0)
                    shutil.rmtree(other)
                shutil.rmtree(unbroken)

    def test_sources_bounds_and_removed_points_go_on_as_they_were(self):
        how = {"ranks": 2}
        unbroken, broken = self.halves(self.deck(SPOUT), how, how, 60, 120)
        at_break, last = history(broken)[6], history(broken)[-1]
        self.assertGreater(int(last["particles"]), int(at_break["particles"]))
        self.assertGreater(int(last["removed_particles"]), int(at_break["removed_particles"]))
        self.assert_same_state(unbroken, broken, 0)
        self.assertEqual(physics(unbroken), physics(broken))

    def test_frames_are_not_lost_or_repeated(self):
        deck = self.deck(JELLIES)
        short = ["--set", "time.frame_interval=0.05"]
        unbroken = self.run_deck(deck, "unbroken", "--steps", 90, *short)
        broken = self.run_deck(deck, "broken", "--steps", 50, *short)
        self.run_deck(deck, "broken", "--steps", 90, "--resume", "auto", *short)
        names = sorted(p.name for p in (unbroken / "frames").iterdir())
        self.assertGreater(len([n for n in names if n.startswith("left_")]), 3)
        self.assertEqual(names, sorted(p.name for p in (broken / "frames").iterdir()))
        for index in "left.hdf.series", "right.hdf.series", "collider_floor.hdf.series":
            self.assertEqual((unbroken / "frames" / index).read_text(), (broken / "frames" / index).read_text())

    def test_frames_follow_an_interval_that_changes_when_a_run_goes_on(self):
        deck = self.deck(JELLIES)
        for until, interval in (0.06, 0.06), (0.1, 0.02), (0.16, 0.08):
            resume = ["--resume", "auto"] if until > 0.06 else []
            output = self.run_deck(deck, "out", "--until", until, "--set", f"time.frame_interval={interval}", *resume)
        times = [float(row["time"]) for row in history(output)]
        self.assertEqual(times, sorted(times))
        frames = json.loads((output / "frames" / "left.hdf.series").read_text())["files"]
        for frame, due in zip(frames, [0, 0.06, 0.08, 0.1, 0.16], strict=True):
            self.assertAlmostEqual(frame["time"], due)

    def test_resume_from_a_named_checkpoint_goes_back_to_it(self):
        deck = self.deck(JELLIES)
        unbroken = self.run_deck(deck, "unbroken", "--steps", 60, "--checkpoint-every", 20)
        again = self.folder / "again"
        shutil.copytree(unbroken, again)
        self.run_deck(deck, "again", "--steps", 60, "--resume", again / "checkpoints" / "step_000000000020",
                      "--force")
        self.assert_same_state(unbroken, again, 0)
        self.assertEqual(physics(unbroken), physics(again))

    def test_a_named_checkpoint_costs_no_results_without_force(self):
        deck = self.deck(JELLIES)
        first = self.run_deck(deck, "first", "--steps", 40, "--checkpoint-every", 20)
        other = self.run_deck(deck, "other", "--steps", 7)
        old, newest = (first / "checkpoints" / f"step_{step:012d}" for step in (20, 40))
        for output, checkpoint, words in (other, newest, ["that run"]), (first, old, ["older than", newest.name]):
            before = {p: p.read_bytes() for p in output.rglob("*") if p.is_file()}
            self.run_deck(deck, output.name, "--steps", 60, "--resume", checkpoint, code=2)
            for word in *words, str(checkpoint), str(output), "--force":
                self.assertIn(word, self.last.stderr)
            self.assertEqual({p: p.read_bytes() for p in output.rglob("*") if p.is_file()}, before)
        link = self.folder / "link"
        link.symlink_to(old)
        self.run_deck(deck, "first", "--steps", 60, "--resume", link, code=2)
        self.assertIn("older than", self.last.stderr)
        self.run_deck(deck, "first", "--steps", 60, "--resume", newest)
        self.run_deck(deck, "other", "--steps", 60, "--resume", newest, "--force")
        self.assertGreater(int(history(other)[0]["step"]), 40)  # the rows of the other run went
        self.assert_same_state(first, other, 0)
        self.run_deck(deck, "first", "--steps", 25, "--resume", link, "--force")
        self.assertEqual([step_of(checkpoint) for checkpoint in checkpoints(first)], [20, 25])

    def test_a_finished_run_can_be_resumed_and_has_nothing_to_do(self):
        deck = self.deck(JELLIES)
        done = self.run_deck(deck, "done", "--until", 0.02)
        self.assertEqual(run_json(done)["state"], "finished")
        before = physics(done)
        self.run_deck(deck, "done", "--until", 0.02, "--resume", "auto")
        self.assertEqual(run_json(done)["state"], "finished")
        self.assertEqual(physics(done), before)

    def test_a_run_that_has_no_checkpoint_yet_starts_at_the_beginning_and_says_so(self):
        deck = self.deck(JELLIES)
        self.run_deck(deck, "new", "--steps", 2, "--resume", "auto")
        self.assertIn("starts at the beginning", self.last.stdout + self.last.stderr)

    def killed_before_a_checkpoint(self, deck, name, *arguments):
        """The folder of a run that left frames and rows, but no checkpoint."""
        output = self.folder / name
        process = subprocess.Popen(command("run", deck, "-o", output, "--checkpoint-every", 1000000, *arguments),
                                   env=environment(), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        wait_until(lambda: any((output / "frames").glob("*.hdf")), "the first frame")
        process.kill()
        process.wait()
        self.assertEqual(checkpoints(output), [])
        return output

    def test_a_run_killed_before_its_first_checkpoint_starts_again_at_the_beginning(self):
        deck = self.deck(JELLIES)
        output = self.killed_before_a_checkpoint(deck, "out")
        self.run_deck(deck, "out", "--steps", 4, "--resume", "auto", "--set", "output.diagnostics_every=2")
        self.assertIn("starts at the beginning", self.last.stdout + self.last.stderr)
        self.assertEqual(run_json(output)["state"], "stopped")
        self.run_deck(deck, "out", "--steps", 6, "--resume", "auto")
        # A link to a checkpoint of its own is that checkpoint, and the run goes on.
        before = checkpoints(output)
        (self.folder / "link").symlink_to(before[-1])
        self.run_deck(deck, "out", "--steps", 8, "--resume", self.folder / "link", "--force")
        self.assertEqual(checkpoints(output)[:len(before)], before)

    def test_what_a_run_killed_before_its_first_checkpoint_left_goes_for_no_other_deck_without_force(self):
        (self.folder / "block.obj").write_text(CUBE)
        deck = self.deck(JELLIES.replace("plane: {point: [0, 0, 0], normal: [0, 1, 0]}",
                                         "mesh: {file: block.obj}, translate: [0, -1, 0]"))
        output = self.killed_before_a_checkpoint(deck, "out")
        before = {p: p.read_bytes() for p in output.rglob("*") if p.is_file() and p.name != "run.lock"}
        again = "out", "--steps", 4, "--resume", "auto"
        for ranks in (1, 3):
            self.run_deck(deck, *again, "--set", "materials.soft.density=900", code=2, ranks=ranks)
            for word in "materials.soft.density is 900 kg/m^3, and was 1000 kg/m^3", str(output), "--force":
                self.assertIn(word, self.last.stderr)
        (self.folder / "block.obj").write_text(CUBE.replace("v 1 1 1", "v 1 1.01 1"))
        self.run_deck(deck, *again, code=2)
        self.assertIn("block.obj is not the file that it began with", self.last.stderr)
        self.assertEqual({p: p.read_bytes() for p in output.rglob("*") if p.is_file()}, before)
        self.run_deck(deck, *again, "--force")

    def test_a_run_that_began_from_elsewhere_and_was_killed_before_a_checkpoint_loses_nothing(self):
        deck = self.deck(JELLIES)
        first = self.run_deck(deck, "first", "--steps", 6)
        begun = self.killed_before_a_checkpoint(deck, "begun", "--resume", checkpoints(first)[0], "--set",
                                                "time.frame_interval=0.01")
        frames = sorted(begun.glob("frames/*.hdf"))
        self.run_deck(deck, "begun", "--steps", 60, "--resume", "auto", code=6)
        self.assertIn("began from a checkpoint at step 6", self.last.stderr)
        self.assertEqual(sorted(begun.glob("frames/*.hdf")), frames)
        shutil.copytree(checkpoints(first)[0], begun / "checkpoints" / checkpoints(first)[0].name)
        self.run_deck(deck, "begun", "--steps", 60, "--resume", "auto")

    def test_another_deck_is_not_resumed(self):
        deck = self.deck(JELLIES)
        output = self.run_deck(deck, "out", "--steps", 2)
        self.run_deck(deck, "out", "--steps", 4, "--resume", "auto", "--set", "materials.soft.density=900", code=6)
        self.assertIn("different deck: materials.soft.density is 900 kg/m^3, and was 1000 kg/m^3", self.last.stderr)
        self.assertEqual(step_of(checkpoints(output)[-1]), 2)

    def test_a_mesh_whose_file_lost_a_face_is_not_resumed(self):
        mesh = self.folder / "plate.obj"
        points = [f"v {i / 4} {j / 4} 0" for j in range(5) for i in range(5)]
        faces = [f"f {c} {c + 1} {c + 6} {c + 5}" for c in (5 * j + i + 1 for j in range(4) for i in range(4))]
        mesh.write_text("\n".join(points + faces))
        deck = self.deck(
            PLATE.replace("rectangle: {width: 0.5, height: 0.4}, across: 9, along: 8", "file: {path: plate.obj}"))
        self.run_deck(deck, "out", "--steps", 2)
        mesh.write_text("\n".join(points + faces[:-1]))
        for ranks in (1, 3):
            self.run_deck(deck, "out", "--steps", 4, "--resume", "auto", ranks=ranks, code=6)
            for word in "bodies.plate.mesh.file.path", str(mesh), "its digest (XXH3)", "and was":
                self.assertIn(word, self.last.stderr)

    def test_a_collider_whose_file_changed_is_not_resumed(self):
        (self.folder / "block.obj").write_text(CUBE)
        deck = self.deck(JELLIES.replace("plane: {point: [0, 0, 0], normal: [0, 1, 0]}",
                                         "mesh: {file: block.obj}, translate: [0, -1, 0]"))
        output = self.run_deck(deck, "out", "--steps", 2)
        files = run_json(output)["provenance"]["files"]
        self.assertEqual([(file["key"], file["file"]) for file in files],
                         [("colliders.floor.shape.mesh.file", "../block.obj")])
        (self.folder / "block.obj").write_text(CUBE.replace("v 1 1 1", "v 1 1.01 1"))
        before = {p: p.read_bytes() for p in output.rglob("*") if p.is_file()}
        self.run_deck(deck, "out", "--steps", 4, "--resume", "auto", code=6)
        for word in "colliders.floor.shape.mesh.file", "block.obj", files[0]["digest"]:
            self.assertIn(word, self.last.stderr)
        self.assertEqual({p: p.read_bytes() for p in output.rglob("*") if p.is_file()}, before)
        (self.folder / "block.obj").write_text(CUBE)
        self.run_deck(deck, "out", "--steps", 4, "--resume", "auto")

    def test_a_project_that_was_moved_goes_on_and_is_exported(self):
        (self.folder / "old").mkdir()
        square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\n"
        (self.folder / "old" / "square.obj").write_text(square)
        deck = CLOTH.replace("rectangle: {width: 0.8, height: 0.7}, across: 16, along: 14", "file: {path: square.obj}")
        deck = deck.replace("sphere: {center: [0.4, 0.26, 0.34], radius: 0.12}", "box: {lower: [-1, -1, -1], upper: [1, 1, 1]}")
        (self.folder / "old" / "deck.yaml").write_text(deck)
        self.run_deck(self.folder / "old" / "deck.yaml", "old/out", "--steps", 2)
        (self.folder / "old").rename(self.folder / "new")
        output = self.run_deck(self.folder / "new" / "deck.yaml", "new/out", "--steps", 4, "--resume", "auto")
        done = weft("export", output, "--to", "obj", "--only", "cloth")
        self.assertEqual(done.returncode, 0, done.stderr)
        exported = (output / "export" / "cloth_000000.obj").read_text()
        self.assertIn("f 1/1 2/2 3/3 4/4", exported)
        # Another file of that name is no part of the run.
        (self.folder / "new" / "square.obj").write_text(square.replace("v 1 1 0", "v 1 1 0.5"))
        done = weft("export", output, "--to", "obj", "--only", "cloth", "--folder", self.folder / "drawn")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the mesh of \"cloth\"", done.stderr)
        self.assertEqual((self.folder / "drawn" / "cloth_000000.obj").read_text().count("\nf "), 2)

    def test_what_may_change_on_resume_may_change(self):
        deck = self.deck(JELLIES)
        self.run_deck(deck, "out", "--steps", 2)
        self.run_deck(deck, "out", "--steps", 4, "--resume", "auto", "--set", "time.cfl=0.2", "--set",
                      "output.checkpoint.keep=7")


class Everywhere(Case):
    """Every deck, stopped at every step."""

    @unittest.skipUnless(FULL, "minutes: with --full")
    def test_every_deck_that_stops_after_each_of_ten_steps_ends_as_if_it_had_not(self):
        for deck in sorted(DECKS.glob("*.yaml")):
            with self.subTest(deck.stem):
                how = ["--resume", "auto", "--set", "output.diagnostics_every=1"]
                unbroken = self.run_deck(deck, f"{deck.stem}_unbroken", "--steps", 11, *how, ranks=2)
                for step in range(1, 12):
                    broken = self.run_deck(deck, f"{deck.stem}_broken", "--steps", step, *how, ranks=2)
                if "scheme: static" in deck.read_text():  # a factorisation by several ranks is never the same twice
                    self.assert_same_state(unbroken, broken, 1e-5)
                else:
                    self.assert_same_state(unbroken, broken, 0)
                    self.assertEqual(physics(unbroken), physics(broken))
                shutil.rmtree(unbroken)
                shutil.rmtree(broken)


if __name__ == "__main__":
    unittest.main()
