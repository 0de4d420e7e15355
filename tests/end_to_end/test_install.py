#!/usr/bin/env python3
"""Proves that what is installed works without the source: tests/end_to_end/test_install.py BUILD_FOLDER."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1"}


def run(*command, code=0):
    done = subprocess.run(list(map(str, command)), env=ENVIRONMENT, cwd="/", capture_output=True, text=True)
    if done.returncode != code:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="weft_install_"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        run("cmake", "--install", BUILD, "--prefix", cls.scratch / "built here")
        # An installation may be moved as a whole.
        cls.prefix = cls.scratch / "moved there"
        (cls.scratch / "built here").rename(cls.prefix)
        cls.weft = cls.prefix / "bin" / "weft"

    def test_the_program_says_what_it_is_made_of(self):
        said = run(self.weft, "--version", "--verbose")
        for word in ("weft 0.", "compiler:", "flags:", "Open MPI", "Petsc", "HDF5", "Eigen", "OpenVDB", "TBB", "yaml-cpp",
                     "fmt", "CLI11", "nlohmann/json", "xxHash", "OpenMP"):
            self.assertIn(word, said)
        self.assertEqual(len(run(self.weft, "--version").splitlines()), 1)

    def test_the_selftest_passes_on_one_and_two_ranks_and_leaves_nothing(self):
        for ranks in 1, 2:
            with self.subTest(ranks=ranks):
                output = self.scratch / f"selftest {ranks}"
                said = run("mpiexec", "-n", ranks, self.weft, "selftest", "-o", output)
                self.assertEqual(said.count("\nok"), 6, said)
                self.assertIn("All is well", said)
                self.assertIn(f"{ranks} ranks", said)
                self.assertFalse(output.exists())

    def test_installed_decks_are_good_and_find_their_schema(self):
        decks = sorted((self.prefix / "share/weft/decks").glob("*.yaml"))
        self.assertTrue(decks)
        for deck in decks:
            schema = deck.read_text().splitlines()[0].split("$schema=")[1]
            self.assertTrue((deck.parent / schema).exists())
        run(self.weft, "check", self.prefix / "share/weft/decks/quickstart.yaml")

    def test_scripts_for_clusters_and_results_are_there_and_start(self):
        for script in "slurm.sbatch", "slurm-chain.sh", "slurm-sweep.sh", "environment.sh":
            self.assertTrue((self.prefix / "share/weft/jobs" / script).exists(), script)
        for script in "render.py", "plot.py", "compare.py":
            run("/usr/bin/python3", self.prefix / "share/weft/postproc" / script, "--help")

    def test_licence_and_citation_are_there(self):
        for name in "LICENSE", "licences.md", "CITATION.cff":
            self.assertTrue((self.prefix / "share/doc/weft" / name).exists(), name)

    def test_another_program_finds_links_and_uses_the_libraries(self):
        build = self.scratch / "consumer"
        run("cmake", "-G", "Ninja", "-S", HERE / "consumer", "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            "-DCMAKE_BUILD_TYPE=Release")
        run("cmake", "--build", build)
        said = run(build / "consumer", self.prefix / "share/weft/decks/quickstart.yaml")
        self.assertIn("particles", said)
        self.assertIn("volume 1\n", said)


if __name__ == "__main__":
    unittest.main()
