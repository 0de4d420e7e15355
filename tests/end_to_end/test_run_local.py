#!/usr/bin/env python3
"""Proves that jobs/run-local.sh works from any folder and that scripts find their packages whichever Python stands first
on the path: tests/end_to_end/test_run_local.py WEFT."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from program import JELLIES, WEFT, Case, environment, run_json, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]


class OtherPython(Case):
    def setUp(self):
        super().setUp()
        # A Python that has no packages, first on the path.
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", self.folder / "python"], check=True)
        self.environment = environment() | {"PATH": f"{self.folder}/python/bin:{os.environ['PATH']}"}
        found = subprocess.run(["python3", "-c", "import numpy"], env=self.environment, capture_output=True)
        self.assertNotEqual(found.returncode, 0)

    def run_script(self, *arguments, code=0):
        done = subprocess.run(list(map(str, arguments)), env=self.environment, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_scripts_find_their_packages(self):
        output = self.run_deck(self.deck(JELLIES), "out", "--steps", 2)
        for call in [], ["python3"]:
            self.assertIn("corner [Pa]", self.run_script(*call, ROOT / "postproc/plot.py", output, "--list"))
            self.assertIn("0", self.run_script(*call, ROOT / "postproc/compare.py", output, output))
        self.run_script(ROOT / "postproc/plot.py", output)
        self.assertTrue((output / "plot.png").exists())
        self.assertIn("usage", self.run_script(ROOT / "postproc/crossings.py", "--help"))
        self.assertIn("v ", self.run_script("python3", ROOT / "decks/bear.py"))

    def test_tests_and_benchmarks_find_theirs(self):
        for script in sorted([*ROOT.glob("tests/test_*.py"), *ROOT.glob("tests/end_to_end/test_*.py"),
                              *ROOT.glob("tests/benchmarks/*.py")]):
            words = ["."] if script.name in ("test_documents.py", "test_install.py") else []
            self.assertIn("usage", self.run_script("python3", script, *words, "--help"), script)

    def test_a_verification_case_runs(self):
        self.assertIn("pass", self.run_script(ROOT / "tests/verification/run.py", "free_fall", "--weft", WEFT))

    def test_a_picture_is_drawn(self):
        output = self.run_deck(self.deck(JELLIES), "out", "--steps", 2)
        self.run_script(ROOT / "postproc/render.py", output, "--size", "320x240")
        self.assertTrue((output / "picture.png").exists())

    def test_packages_that_are_nowhere_are_named(self):
        shutil.copy(ROOT / "postproc/packages.py", self.folder)
        (self.folder / "script.py").write_text("import packages\npackages.need('math', 'no_such_package')\n")
        done = subprocess.run(["python3", "script.py"], env=self.environment, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("script.py needs the Python packages no_such_package", done.stderr)


class Linked(Case):
    def test_a_link_to_run_local_finds_the_rest(self):
        (self.folder / "weft-local").symlink_to(ROOT / "jobs/run-local.sh")
        done = subprocess.run([self.folder / "weft-local", "no_deck.yaml"], cwd=self.folder, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("quickstart", done.stderr)


class Batch(Case):
    """jobs/slurm.sbatch without Slurm, in place of whose srun stands what is told."""

    def start(self, launch, **more):
        launcher = self.folder / "launch.sh"
        launcher.write_text(f"#!/bin/sh\n{launch}\n")
        launcher.chmod(0o755)
        more |= {"WEFT": WEFT, "WEFT_LAUNCH": str(launcher)}
        job = ["bash", ROOT / "jobs/slurm.sbatch", self.deck(JELLIES), self.folder / "out", "--steps", "3"]
        return subprocess.Popen(job, env=environment() | more, cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def test_a_warning_that_meets_a_program_before_it_heeds_signals_is_a_stop(self):
        job = self.start(f"touch {self.folder}/begun\nexec sleep 60", WEFT_LEG="1")  # sleep heeds none
        wait_until((self.folder / "begun").exists, "the program")
        job.send_signal(signal.SIGUSR1)
        said, _ = job.communicate(timeout=50)
        self.assertEqual(job.returncode, 0, said)
        self.assertIn("stopped at step 0", said)
        job = self.start("exit 138", WEFT_LEG="1")  # nobody warned it
        said, _ = job.communicate(timeout=50)
        self.assertEqual(job.returncode, 138, said)

    def test_a_warning_at_any_moment_of_the_start_ends_in_order(self):
        for delay in (0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5):
            job = self.start('exec "$@"', WEFT_LEG="1")
            status = pathlib.Path(f"/proc/{job.pid}/status")
            heeded = lambda: int(re.search(r"SigCgt:\s*(\w+)", status.read_text()).group(1), 16)
            wait_until(lambda: heeded() >> signal.SIGUSR1 - 1 & 1, "the script")
            time.sleep(delay)
            job.send_signal(signal.SIGUSR1)
            said, _ = job.communicate(timeout=50)
            self.assertEqual(job.returncode, 0, f"{delay} s\n{said}")
            shutil.rmtree(self.folder / "out", ignore_errors=True)


class RunLocal(Case):
    """The script in a clone of its own, where all packages are installed and the program is built."""

    def setUp(self):
        super().setUp()
        self.clone = self.folder / "a clone"
        for name in "jobs", "postproc":
            shutil.copytree(ROOT / name, self.clone / name)
        (self.clone / "jobs/install-packages.sh").write_text("#!/bin/sh\n")
        (self.clone / "build/release/bin").mkdir(parents=True)
        (self.clone / "build/release/bin/weft").symlink_to(WEFT)
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "cmake").write_text("#!/bin/sh\ntest -d postproc\n")  # stands in the clone
        (tools / "cmake").chmod(0o755)
        self.environment = environment() | {"PATH": f"{tools}:{os.environ['PATH']}"}
        for name in [name for name in self.environment if name.startswith("OMP")]:
            del self.environment[name]  # the script sets what is needed
        self.here = self.folder / "some place"
        (self.here / "decks").mkdir(parents=True)
        (self.here / "decks/jellies.yaml").write_text(JELLIES)

    def run_local(self, *arguments, code=0):
        done = subprocess.run([self.clone / "jobs/run-local.sh", *map(str, arguments)], env=self.environment, cwd=self.here,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_relative_paths_are_those_of_the_caller(self):
        said = self.run_local("decks/jellies.yaml", "--steps", 2, "--output", "results/one")
        output = self.here / "results/one"
        self.assertEqual(run_json(output)["step"], 2)
        self.assertEqual(run_json(output)["provenance"]["ranks"], 2)
        self.assertTrue((output / "picture.png").exists())
        self.assertIn("results/one/diagnostics.csv", said)
        self.run_local("decks/jellies.yaml", "-o", "results/one", "--steps", 3, "--resume", "auto")
        self.assertEqual(run_json(output)["step"], 3)

    def test_results_go_to_the_next_free_folder_of_the_clone(self):
        for name in "jellies", "jellies-2":
            self.run_local("decks/jellies.yaml", "--steps", 1)
            self.assertEqual(run_json(self.clone / "out" / name)["step"], 1)

    def test_what_is_not_there_is_named(self):
        self.run_local("decks/absent.yaml", code=2)


if __name__ == "__main__":
    unittest.main()
