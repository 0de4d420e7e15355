#!/usr/bin/env python3
"""Proves that decks, files and surroundings that no run can be made of end in a sentence.
tests/end_to_end/test_absurd.py WEFT."""
import os
import pathlib
import re
import resource
import signal
import subprocess
import time
import unittest

from program import JELLIES, WEFT, Case, command, count, environment, print_figures, run_json, small, wait_until

SHEET = """
weft: 1
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
time: {end: 1, frame_interval: 0.5}
materials:
  cotton: {law: sheet, density: 400, youngs_modulus: 2e4, poisson_ratio: 0.3,
           contact: {stiffness: 2e4, shear_stiffness: 4e3, friction: 0.3}}
bodies:
  - {name: cloth, kind: membrane, material: cotton, thickness: 5 mm, mesh: {MESH}}
"""
YARN = """
weft: 1
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
time: {end: 1, frame_interval: 0.5}
materials:
  wool: {law: fiber, density: 400, stretch_modulus: 8e4, shear_modulus: 5e3, youngs_modulus: 2e4, poisson_ratio: 0.3,
         friction_angle: 20}
bodies:
  - {name: yarn, kind: fiber, material: wool, radius: 1 mm, curves: {CURVES}}
"""
FOIL = """
weft: 1
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
time: {end: 1, frame_interval: 0.5}
materials:
  foil: {law: stvk_hencky, density: 2700, youngs_modulus: 1e6, poisson_ratio: 0.3}
bodies:
  - {name: foil, kind: shell, material: foil, thickness: 1 mm, mesh: {MESH},
     contact: {stiffness: 1e4, shear_stiffness: 1e3, friction: 0.3}}
"""
MANY = 2**25
# What would fill any memory or overflow a count, each refused in words with a number.
TOO_LARGE = {
    "faces of a sheet": SHEET.replace("MESH", "rectangle: {width: 1, height: 1}, across: 200000, along: 200000"),
    "faces of a shell": FOIL.replace("MESH", "rectangle: {width: 1, height: 1}, across: 200000, along: 200000"),
    "a sheet in millimetres": SHEET.replace("MESH", "rectangle: {width: 1e6, height: 1e6}"),
    "a shell in millimetres": FOIL.replace("MESH", "rectangle: {width: 1e6, height: 1e6}"),
    "a weave": YARN.replace("CURVES", f"weave: {{warp: 1, weft: {MANY}, gap: 1 cm, amplitude: 1 mm}}"),
    "a fine weave": YARN.replace("CURVES", "weave: {warp: 20000, weft: 20000, gap: 1 cm, amplitude: 1 mm}"),
    "a knit": YARN.replace("CURVES", f"knit: {{stitches: {MANY}, rows: 1, width: 1 cm, depth: 3 mm}}"),
    "many rows": YARN.replace("CURVES", "knit: {stitches: 5, rows: 2147483647, width: 1 cm, depth: 3 mm}"),
    "a braid": YARN.replace("CURVES", "braid: {strands: 3, width: 1 cm, depth: 1 cm, pitch: 1e-9, length: 1}"),
    "strands": YARN.replace("CURVES", "hair_ball: {radius: 1, length: 1, strands: 2000000000}"),
    "a carpet": YARN.replace("CURVES", "shag_carpet: {width: 1e3, depth: 1e3, height: 1, gap: 1 mm}"),
    "plies": YARN.replace("CURVES", "hair_ball: {radius: 1, length: 1, strands: 1000}, "
                          "plies: {count: 100000000, radius: 1 mm, twist: 1 cm}"),
    "a yarn in millimetres": YARN.replace("CURVES", "hair_ball: {radius: 1, length: 1e12, strands: 3}, spacing: 1e6"),
    "a body in millimetres": JELLIES.replace("radius: 0.14", "radius: 1400"),
    "twelve bodies that fit one by one": JELLIES.replace("dx: 0.05", "dx: 0.005").replace("colliders:", "".join(
        f"  - {{name: b{i}, kind: continuum, material: soft,"
        f" shape: {{box: {{lower: [{i}, 0, 0], upper: [{i}.3, 0.3, 0.3]}}}}}}\n" for i in range(12)) + "colliders:"),
    "laminae and contact points of a shell": FOIL.replace(
        "MESH", "rectangle: {width: 1, height: 1}, across: 150, along: 150").replace(
        "kind: shell", "kind: shell, laminae: 64, in_plane: 4, contact_points: 16"),
    "a source in millimetres": JELLIES + "sources:\n  - {name: tap, body: left, velocity: [0, -1, 0],"
                                         " shape: {sphere: {center: [0, 1e4, 0], radius: 1000}}}\n",
}


class Absurd(Case):
    """Decks, files and surroundings that no run can be made of end in a sentence, at once and in little memory."""

    def refuses(self, *arguments, code, words, seconds=60, memory=3e9, **more):
        """Asserts that the program ends by itself, with this code and these words, in less memory than that."""

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))

        done = subprocess.run([WEFT, *map(str, arguments)], cwd=self.folder, capture_output=True, timeout=seconds,
                              preexec_fn=limit, env=environment() | more.pop("env", {}), **more)
        said = (done.stdout + done.stderr).decode(errors="replace")
        self.assertEqual(done.returncode, code, said)
        self.assertRegex(said, words)

    def test_what_is_too_large_is_refused_before_it_is_made(self):
        for what, deck in TOO_LARGE.items():
            with self.subTest(what):
                words = r"GB at least|cannot be numbered|are not made|too large"
                self.refuses("check", self.deck(deck), code=3, words=words)
                count("absurdly large scenes")

    def test_pipes_and_endless_files_are_no_decks_and_no_meshes(self):
        pipe, endless, huge = self.folder / "pipe", self.folder / "endless.yaml", self.folder / "huge.yaml"
        os.mkfifo(pipe)
        endless.symlink_to("/dev/zero")
        with open(huge, "w") as file:
            file.truncate(20 * 2**30)
        for deck in pipe, endless, huge, "/proc/kmsg", "/proc/self/mem":
            with self.subTest(deck):
                self.refuses("check", deck, code=2, words="cannot be read|bytes|no such|empty", seconds=20)
        mesh = self.folder / "mesh.obj"
        mesh.write_text("v 0 0 0")
        deck = self.deck(SHEET.replace("MESH", "file: {path: mesh.obj}"))
        self.refuses("check", deck, code=3, words="mesh.obj", seconds=20)

    def test_a_path_that_is_no_text_and_a_lack_of_room_end_in_sentences(self):
        output = self.run_deck(self.deck(JELLIES), "out", *small(1, 1))
        strange = os.fsencode(self.folder) + b"/out_\xff"
        os.rename(output, strange)
        for how in [b"--json"], [b"--print", b"checkpoint"]:
            done = subprocess.run([WEFT, "status", strange, *how], capture_output=True, timeout=20)
            self.assertIn(done.returncode, (0, 10, 11, 12), done.stderr)
        deck = self.deck(JELLIES)
        self.refuses("check", deck, code=1, words="OMP_NUM_THREADS asks for 1000000",
                     env={"OMP_NUM_THREADS": "1000000"})
        for megabytes in 300, 600, 900:
            self.refuses("check", deck, code=1, words="ulimit", memory=megabytes * 1e6)

    def test_a_watchdog_without_end_ends_with_the_run(self):
        self.run_deck(self.deck(JELLIES), "out", *small(1, 1), "--set", "time.watchdog=1e300")
        self.run_deck(self.deck(JELLIES), "out", *small(1, 1), "--set", "time.watchdog=1e12", "--force")

    def test_a_parent_whose_output_nobody_reads_is_no_reason_to_wait(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        writer = os.open(pipe, os.O_WRONLY)
        os.close(reader)
        run = [WEFT, "run", str(self.deck(JELLIES)), "-o", str(self.folder / "out"), *map(str, small(2, 2))]
        done = subprocess.run(["sh", "-c", '"$@" >/dev/null; exit $?', "sh", *run], stdout=writer,
                              stderr=subprocess.PIPE, timeout=60, env=environment())
        os.close(writer)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_signal_while_the_program_starts_asks_for_the_same_as_later(self):
        for delay in (0.1, 0.2, 0.4):
            output = self.folder / f"early{delay}"
            run = subprocess.Popen(command("run", self.deck(JELLIES), "-o", output, *small(10**6, 10**6)),
                                   env=environment(), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            wait_until(lambda: "weft" in pathlib.Path(f"/proc/{run.pid}/maps").read_text(), "the program")
            wait_until(lambda: int(re.search(r"SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{run.pid}/status").read_text())
                                   .group(1), 16) >> signal.SIGTERM - 1 & 1, "the handlers")
            time.sleep(delay / 10)
            run.send_signal(signal.SIGTERM)
            _, said = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 0, said)
            self.assertEqual(run_json(output)["state"], "stopped")

    def test_options_for_petsc_from_a_deck_touch_no_file(self):
        victim = self.folder / "victim"
        victim.write_text("mine")
        deck = self.deck(JELLIES + "solve: {petsc: '-ksp_view_solution binary:victim'}\n")
        self.refuses("check", deck, code=2, words="-ksp_view_solution is not among")
        self.refuses("run", self.deck(JELLIES), "--petsc", "-ksp_monitor ascii:victim", code=2, words="--petsc: ")
        self.assertEqual(victim.read_text(), "mine")


tearDownModule = print_figures


if __name__ == "__main__":
    unittest.main()
