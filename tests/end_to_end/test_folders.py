#!/usr/bin/env python3
"""Proves that results go to any folder that can hold them, whatever its name, and that any other folder is refused
before the first step with the cure: tests/end_to_end/test_folders.py WEFT."""
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

from program import (CUBE, FAR, JELLIES, Case, checkpoints, command, environment, history, mounting, physics, run_json,
                     step_of, wait_until, weft)

SPHERE = "sphere: {center: [0.25, 0.2, 0.03], radius: 0.14}"
NOBODY = 65534


class Refused(Case):
    def refusal(self, output, prefix=(), suffix=":"):
        """Runs into a folder that must be refused; returns what was said. `prefix` is a command that starts commands,
        `suffix` what the shell does afterwards, in the same place."""
        deck = self.deck(JELLIES)
        script = 'output=$1; shift; "$@"; code=$?; ' + suffix + "; exit $code"
        done = subprocess.run(
            [*prefix, "sh", "-c", script, "sh", str(output), *command("run", deck, "-o", output, "--steps", 1)],
            env=environment(), cwd=self.folder, capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertIn("--output", done.stderr)  # the cure
        self.assertNotIn("step ", done.stdout)
        return done.stdout + done.stderr

    def mounting(self, options):
        (self.folder / "mounted").mkdir()
        return mounting(self, self.folder / "mounted", options)

    def test_a_read_only_file_system(self):
        prefix = self.mounting("ro")
        for output in "mounted", "mounted/out":
            said = self.refusal(self.folder / output, prefix)
            self.assertIn("Read-only file system", said)

    def test_a_full_file_system(self):
        prefix = self.mounting("size=256k")
        said = self.refusal(self.folder / "mounted" / "out", prefix, 'echo "files: [$(find "$output" -type f)]"')
        self.assertIn("Make room there", said)
        self.assertIn("files: []", said)  # none was begun

    def test_a_folder_without_permission(self):
        self.folder.chmod(0o755)
        prefix = []
        if os.geteuid() == 0:  # root may write anywhere, so somebody else has to try
            prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            # A refusal of the program says that it can run at all, MPI included.
            if shutil.which("setpriv") is None or subprocess.run([*prefix, *command("verify", "nowhere")],
                                                                 env=environment(), capture_output=True).returncode != 6:
                self.skipTest("root cannot become somebody else who may run the program")
        (self.folder / "closed").mkdir()
        (self.folder / "closed").chmod(0o555)
        for output in "closed", "closed/out":
            said = self.refusal(self.folder / output, prefix)
            self.assertIn("may write", said)

    def test_a_path_through_a_file(self):
        (self.folder / "file").write_text("")
        self.refusal(self.folder / "file")
        self.refusal(self.folder / "file" / "out")

    def test_a_folder_that_holds_a_run(self):
        self.run_deck(self.deck(JELLIES), "out", "--steps", 1)
        said = self.refusal(self.folder / "out")
        for cure in "--resume auto", "--force":
            self.assertIn(cure, said)

    def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(self):
        output = self.run_deck(self.deck(JELLIES), "out", "--steps", 1)
        checkpoint = checkpoints(output)[-1]
        again = "run", self.deck(JELLIES), "-o", output, "--steps", 2, "--resume", "auto"
        frame = output / "frames" / "left_000000.hdf"
        for file, code, *calls in (
                (frame, 5, ("info", frame)),
                (output / "log.txt", 5, again),
                (checkpoint / "state.h5", 6, ("info", checkpoint), ("verify", checkpoint), ("verify", output), again)):
            file.rename(self.folder / "moved")
            os.mkfifo(file)
            for call in calls:
                done = subprocess.run(command(*call), env=environment(), capture_output=True, text=True, timeout=30)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.assertIn(f"{file}: cannot be opened: it is no plain file", done.stdout + done.stderr)
            (self.folder / "moved").rename(file)
        self.assertEqual(weft(*again).returncode, 0)


class Runs(Case):
    """Folders that have a run, or something else."""

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
        run = command("run", deck, "-o", self.folder / "out", "--until", FAR, "--checkpoint-every", 5)
        process = subprocess.Popen(run, env=environment(), cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        output = self.folder / "out"
        wait_until(lambda: (output / "run.json").exists() and run_json(output).get("saved_step") is not None,
                   "a checkpoint")
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
                                   env=environment(), cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True) for ranks in (1, 2)]
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
        a = self.run_deck(deck, "a", "--steps", 3)
        b = self.run_deck(deck, "b", "--steps", 3, "--set", "time.max_dt=1e-4")
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


class OddNames(Case):
    def run_and_resume(self, place, ranks):
        """Runs a deck with a mesh beside it, both in `place`, into a folder there, and goes on."""
        os.makedirs(place)
        deck, output = os.path.join(place, os.fsencode("the deck.yaml")), os.path.join(place, b"out")
        with open(os.path.join(place, b"mesh.obj"), "w") as mesh:
            mesh.write(CUBE)
        with open(deck, "w") as file:
            file.write(JELLIES.replace(SPHERE, "mesh: {file: mesh.obj}, scale: 0.25, translate: [0.2, 0.1, 0]"))
        deck, output = os.fsdecode(deck), os.fsdecode(output)
        for arguments in (("--steps", 2), ("--steps", 4, "--resume", "auto")):
            done = weft("run", deck, "-o", output, *arguments, folder=self.folder, ranks=ranks)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([step_of(checkpoint) for checkpoint in checkpoints(output)], [2, 4])
        self.assertEqual(run_json(output)["step"], 4)
        for arguments in ("verify", output), ("info", checkpoints(output)[-1]), (
                "info", os.path.join(output, "frames", "left_000000.hdf")):
            done = weft(*arguments)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(os.path.join(output, "frames", "left.hdf.series")) as index:
            series = json.load(index)
        self.assertEqual(series["files"][0]["name"], "left_000000.hdf")  # beside the index, wherever that is
        return output

    def test_blanks_quotes_and_signs_that_mean_something_elsewhere(self):
        place = self.folder / "with blanks" / "ünïcödé 雪" / "it's \"quoted\" \\ `id` $(id)" / "ufs:a;b&c|d#e%s{}*?~" / "-o"
        output = self.run_and_resume(os.fsencode(place), ranks=2)
        # The resolved deck names the mesh by its absolute path, and runs.
        done = weft("check", os.path.join(output, "resolved.yaml"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_letters_that_are_not_UTF_8_are_refused_where_a_deck_must_name_them(self):
        place = os.path.join(os.fsencode(self.folder), b"caf\xe9")
        os.makedirs(place)
        deck = os.path.join(place, b"deck.yaml")
        with open(deck, "w") as file:
            file.write(JELLIES)
        output = os.fsdecode(os.path.join(place, b"out"))
        for arguments in (("--steps", 2), ("--steps", 4, "--resume", "auto")):
            done = subprocess.run(command("run", os.fsdecode(deck), "-o", output, *arguments), env=environment(),
                                  capture_output=True, timeout=240)
            self.assertEqual(done.returncode, 0, done.stderr)
        # A mesh there could not be named in the resolved deck, which is UTF-8.
        with open(os.path.join(place, b"mesh.obj"), "w") as mesh:
            mesh.write(CUBE)
        with open(deck, "w") as file:
            file.write(JELLIES.replace(SPHERE, "mesh: {file: mesh.obj}, scale: 0.25"))
        done = subprocess.run(command("check", os.fsdecode(deck)), env=environment(), capture_output=True, timeout=240)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"UTF-8", done.stderr)


if __name__ == "__main__":
    unittest.main()
