#!/usr/bin/env python3
"""Proves that results go to any folder that can hold them, whatever its name, and that any other folder is refused
before the first step with the cure: tests/end_to_end/test_folders.py WEFT."""
import json
import os
import shutil
import subprocess
import unittest

from program import JELLIES, Case, checkpoints, command, environment, mounting, run_json, step_of, weft

CUBE = """
v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1
f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\nf 4 5 8
"""
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
