#!/usr/bin/env python3
"""Proves that a run can be stopped, killed and damaged and still goes on as if nothing had been:
tests/end_to_end/test_restart.py WEFT."""
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

import h5py

from program import (CLOTH, JELLIES, SPOUT, Case, checkpoints, command, environment, flip_bit, history, physics, run_json,
                     step_of, wait_until, weft)


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
        for ranks in 1, 3:
            with self.subTest(ranks=ranks):
                how = {"ranks": ranks}
                unbroken, broken = self.halves(self.deck(JELLIES), how, how, 60, 120)
                self.assert_same_state(unbroken, broken, 0)
                self.assertEqual(physics(unbroken), physics(broken))
                shutil.rmtree(unbroken)
                shutil.rmtree(broken)

    def test_a_run_goes_on_on_other_rank_counts_to_1e_10(self):
        deck = self.deck(JELLIES)
        unbroken = self.run_deck(deck, "unbroken", "--steps", 120)
        for before, after in (1, 3), (4, 2):
            with self.subTest(before=before, after=after):
                broken = self.run_deck(deck, f"{before}_{after}", "--steps", 60, ranks=before)
                self.run_deck(deck, f"{before}_{after}", "--steps", 120, "--resume", "auto", ranks=after)
                self.assert_same_state(unbroken, broken, 1e-10)

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

    def test_resume_from_a_named_checkpoint_goes_back_to_it(self):
        deck = self.deck(JELLIES)
        unbroken = self.run_deck(deck, "unbroken", "--steps", 60, "--checkpoint-every", 20)
        again = self.folder / "again"
        shutil.copytree(unbroken, again)
        self.run_deck(deck, "again", "--steps", 60, "--resume", again / "checkpoints" / "step_000000000020")
        self.assert_same_state(unbroken, again, 0)
        self.assertEqual(physics(unbroken), physics(again))

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

    def test_a_run_killed_before_its_first_checkpoint_starts_again_at_the_beginning(self):
        deck = self.deck(JELLIES)
        output = self.folder / "out"
        process = subprocess.Popen(command("run", deck, "-o", output, "--checkpoint-every", 1000000), env=environment(),
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: (output / "run.json").exists(), "the start of the run")
        process.kill()
        process.wait()
        self.run_deck(deck, "out", "--steps", 4, "--resume", "auto")
        self.assertIn("starts at the beginning", self.last.stdout + self.last.stderr)
        self.assertEqual(run_json(output)["state"], "stopped")

    def test_another_deck_is_not_resumed(self):
        deck = self.deck(JELLIES)
        output = self.run_deck(deck, "out", "--steps", 2)
        self.run_deck(deck, "out", "--steps", 4, "--resume", "auto", "--set", "materials.soft.density=900", code=6)
        self.assertIn("different deck", self.last.stderr)
        self.assertEqual(step_of(checkpoints(output)[-1]), 2)

    def test_what_may_change_on_resume_may_change(self):
        deck = self.deck(JELLIES)
        self.run_deck(deck, "out", "--steps", 2)
        self.run_deck(deck, "out", "--steps", 4, "--resume", "auto", "--set", "time.cfl=0.2", "--set",
                      "output.checkpoint.keep=7")


class Killed(Case):
    """Runs that are killed without warning."""

    def kill_after_checkpoint(self, deck, output, beyond, ranks):
        """Starts or resumes the run, kills one process with SIGKILL once a checkpoint beyond this step is there."""
        process = subprocess.Popen(
            command("run", deck, "-o", output, "--steps", 120, "--checkpoint-every", 5, "--resume", "auto",
                    ranks=ranks),
            env=environment(), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: process.poll() is not None or any(step_of(c) > beyond for c in checkpoints(output)),
                   f"a checkpoint beyond step {beyond}")
        self.assertIsNone(process.poll(), "the run ended before it could be killed")
        victim = process.pid
        if ranks > 1:
            victim = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[-1])
        os.kill(victim, signal.SIGKILL)
        self.assertNotEqual(process.wait(60), 0)
        return step_of(checkpoints(output)[-1])

    def test_a_run_killed_three_times_ends_as_if_it_had_not_been(self):
        deck = self.deck(JELLIES)
        for ranks in 1, 2:
            with self.subTest(ranks=ranks):
                unbroken = self.run_deck(deck, f"unbroken_{ranks}", "--steps", 120, ranks=ranks)
                output = self.folder / f"killed_{ranks}"
                reached = 0
                for beyond in 5, 35, 70:
                    reached = self.kill_after_checkpoint(deck, output, max(reached, beyond), ranks)
                self.assertEqual(run_json(output)["state"], "running")
                self.run_deck(deck, output.name, "--steps", 120, "--resume", "auto", ranks=ranks)
                self.assertEqual(run_json(output)["state"], "stopped")
                self.assert_same_state(unbroken, output, 0)
                self.assertEqual(physics(unbroken), physics(output))
                self.assertEqual([p.name for p in (output / "checkpoints").glob("*.tmp")], [])

    def test_what_a_crash_left_half_written_is_ignored_and_cleared(self):
        deck = self.deck(JELLIES)
        output = self.run_deck(deck, "out", "--steps", 20)
        torn = output / "checkpoints" / "step_000000000030.tmp"
        torn.mkdir()
        (torn / "state.h5").write_bytes(b"half")
        (output / "run.json.tmp").write_text("{")
        with open(output / "diagnostics.csv", "a") as file:
            file.write("30,0.09,0.0")  # torn in the middle of a row
        self.run_deck(deck, "out", "--steps", 40, "--resume", "auto")
        self.assertFalse(torn.exists())
        unbroken = self.run_deck(deck, "unbroken", "--steps", 40)
        self.assert_same_state(unbroken, output, 0)
        self.assertEqual(physics(unbroken), physics(output))


class Damaged(Case):
    """Checkpoints that the disk or somebody spoilt."""

    def setUp(self):
        super().setUp()
        self.jellies = self.deck(JELLIES)
        self.output = self.run_deck(self.jellies, "out", "--steps", 30, "--checkpoint-every", 10)
        self.assertEqual([step_of(c) for c in checkpoints(self.output)], [10, 20, 30])

    def assert_damaged(self, checkpoint, *words):
        done = weft("verify", checkpoint)
        self.assertEqual(done.returncode, 6, done.stdout + done.stderr)
        for word in (checkpoint.name, *words):
            self.assertIn(word, done.stdout + done.stderr)

    def test_whole_checkpoints_verify(self):
        for what in [self.output, *checkpoints(self.output)]:
            done = weft("verify", what)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_flipped_bit_truncation_and_swap_is_found(self):
        newest = checkpoints(self.output)[-1]
        whole = (newest / "state.h5").read_bytes()
        for place in 0, 0.003, 0.1, 0.35, 0.5, 0.77, 0.999, 1:
            with self.subTest(flipped=place):
                flip_bit(newest / "state.h5", place)
                self.assert_damaged(newest)
                (newest / "state.h5").write_bytes(whole)
        with self.subTest("truncated"):
            (newest / "state.h5").write_bytes(whole[:-1])
            self.assert_damaged(newest, "cut off")
        with self.subTest("swapped"):
            shutil.copy(checkpoints(self.output)[0] / "state.h5", newest / "state.h5")
            self.assert_damaged(newest)
        with self.subTest("missing"):
            (newest / "state.h5").unlink()
            self.assert_damaged(newest, "missing")
        (newest / "state.h5").write_bytes(whole)
        with self.subTest("manifest"):
            flip_bit(newest / "manifest.json", 0.5)
            self.assert_damaged(newest)

    def test_damage_in_the_middle_of_a_field_names_the_field(self):
        newest = checkpoints(self.output)[-1]
        with h5py.File(newest / "state.h5") as file:
            found = []
            file.visititems(lambda name, item: found.append((name, item)) if isinstance(item, h5py.Dataset)
                            and name.endswith("left/velocity") else None)
            name, data_set = found[0]
            chunk = data_set.id.get_chunk_info(0)
            place = chunk.byte_offset + chunk.size // 2
        data = bytearray((newest / "state.h5").read_bytes())
        data[place] ^= 1
        (newest / "state.h5").write_bytes(data)
        self.assert_damaged(newest, "left/velocity")

    def test_a_damaged_newest_checkpoint_is_passed_over_with_a_reason(self):
        for ranks in 1, 2:
            with self.subTest(ranks=ranks):
                output = self.folder / f"copy_{ranks}"
                shutil.copytree(self.output, output)
                flip_bit(checkpoints(output)[-1] / "state.h5", 0.5)
                self.run_deck(self.jellies, output.name, "--steps", 30, "--resume", "auto", ranks=ranks)
                said = self.last.stdout + self.last.stderr
                self.assertIn("step_000000000030", said)
                self.assertRegex(said, r"Resuming from \S*step_000000000020")
                self.assert_same_state(self.output, output, 1e-10)
                self.assertEqual(weft("verify", output).returncode, 0)

    def test_without_a_whole_checkpoint_the_run_ends_with_6_and_starts_nothing(self):
        for checkpoint in checkpoints(self.output):
            flip_bit(checkpoint / "state.h5", 0.5)
        before = (self.output / "diagnostics.csv").read_text()
        for ranks in 1, 2:
            with self.subTest(ranks=ranks):
                self.run_deck(self.jellies, "out", "--steps", 40, "--resume", "auto", ranks=ranks, code=6)
                for checkpoint in checkpoints(self.output):
                    self.assertIn(checkpoint.name, self.last.stderr)
        self.assertEqual((self.output / "diagnostics.csv").read_text(), before)

    def test_a_damaged_checkpoint_that_is_asked_for_is_refused_by_name(self):
        newest = checkpoints(self.output)[-1]
        flip_bit(newest / "state.h5", 0.5)
        self.run_deck(self.jellies, "out", "--steps", 40, "--resume", newest, code=6)
        self.assertIn(newest.name, self.last.stderr)

    def test_info_says_what_a_checkpoint_and_a_frame_hold(self):
        text = weft("info", checkpoints(self.output)[-1]).stdout
        for word in "left", "right", "velocity", "m/s", "step 30", "commit":
            self.assertIn(word, text)
        text = weft("info", self.output / "frames" / "left_000000.hdf").stdout
        for word in "left_000000.hdf", "velocity", "m/s", "step 0":
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
