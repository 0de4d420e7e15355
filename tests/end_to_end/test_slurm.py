#!/usr/bin/env python3
"""Proves the job scripts on a real Slurm of one node: tests/end_to_end/test_slurm.py WEFT. Ends with 77 where Slurm
cannot be started."""
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from one_node_slurm import NoSlurm, Slurm  # noqa: E402
from program import JELLIES, WEFT, checkpoints, run_json, wait_until, weft  # noqa: E402

BATCH, CHAIN, SWEEP = (ROOT / "jobs" / name for name in ("slurm.sbatch", "slurm-chain.sh", "slurm-sweep.sh"))
TWO_RANKS = "--nodes=1", "--ntasks-per-node=2", "--cpus-per-task=1"
# A run that does not end while a test looks on. A checkpoint after each step, which changes no bit of a result, keeps
# it slow, so that the unbroken run without them is done in a second.
LONG = JELLIES.replace("time: {end: 2, frame_interval: 0.25}", "time: {end: 1000, frame_interval: 0.02}")
SLOW = "--checkpoint-every", "1"
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED"}


class Jobs(unittest.TestCase):
    slurm: Slurm  # one for all tests

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weft_job_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.deck = self.folder / "deck.yaml"
        self.deck.write_text(LONG)
        self.output = self.folder / "out"

    def submit(self, *arguments, script=(), **environment):
        """The number of the job that this makes, or the numbers of several."""
        front = list(map(str, script)) or ["sbatch", "--parsable"]
        said = self.slurm.call(*front, *TWO_RANKS, "--time=20", f"--chdir={self.folder}",
                               "--output=job-%j.txt", *arguments, WEFT=str(pathlib.Path(WEFT).resolve()), **environment)
        numbers = [int(number) for number in re.findall(r"(\d+)$", said, re.M)]
        for number in numbers:
            self.addCleanup(self.slurm.call, "scancel", "--quiet", number)
        return numbers if len(numbers) > 1 else numbers[0]

    def said(self):
        """Everything that the jobs of this test printed."""
        return "".join(f"--- {file.name}\n{file.read_text()}" for file in sorted(self.folder.glob("job-*.txt")))

    def await_state(self, job, *states):
        try:
            wait_until(lambda: self.slurm.job(job)["JobState"] in states, f"job {job} {' or '.join(states)}", 200)
        except TimeoutError as late:
            self.fail(f"{late}; it is {self.slurm.job(job)['JobState']}\n{self.said()}")

    def await_progress(self):
        try:
            wait_until(lambda: checkpoints(self.output), "the first checkpoint", 300)
        except TimeoutError as late:
            self.fail(f"{late}\n{self.slurm.call('squeue', '--long')}\n{self.said()}")

    def give_time(self, job):
        """A limit that is enough however busy the machine; refused between a job's end and its place in the queue."""
        def given():
            try:
                self.slurm.call("scontrol", "update", f"JobId={job}", "TimeLimit=20")
            except RuntimeError:
                return False
            return True
        wait_until(given, f"job {job} in the queue")

    def end_soon(self):
        """Moves the end of the run to a little after the newest checkpoint; a resumed run may do so."""
        end = run_json(self.output)["time"] + 0.05
        self.deck.write_text(LONG.replace("end: 1000", f"end: {end}"))

    def assert_as_if_unbroken(self):
        """The run is finished, and its last state has the bits of a run that nothing interrupted."""
        self.assertEqual(run_json(self.output)["state"], "finished", self.said())
        unbroken = self.folder / "unbroken"
        done = weft("run", self.deck, "-o", unbroken, ranks=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(checkpoints(unbroken)[-1].name, checkpoints(self.output)[-1].name)
        done = weft("compare", unbroken, self.output)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_run_stopped_by_its_time_limit_queues_itself_again_and_ends_as_if_unbroken(self):
        # The limit is a minute and the warning comes at most 50 s before; Slurm looks at its clock twice a minute.
        job = self.submit("--time=1", "--signal=B:USR1@50", BATCH, self.deck, self.output, *SLOW)
        self.await_state(job, "RUNNING")
        self.await_state(job, "PENDING", "REQUEUED", "REQUEUE_HOLD", *ENDED)
        self.assertEqual(run_json(self.output)["state"], "stopped", self.said())
        self.end_soon()
        self.give_time(job)
        self.await_state(job, *ENDED)
        self.assertEqual(self.slurm.job(job)["JobState"], "COMPLETED", self.said())
        self.assertEqual(self.slurm.job(job)["Restarts"], "1", self.said())
        self.assert_as_if_unbroken()

    def test_a_preempted_run_goes_on_when_there_is_room_again(self):
        job = self.submit("--partition=spare", BATCH, self.deck, self.output, *SLOW)
        self.await_progress()
        urgent = self.submit("--partition=urgent", "--wrap=sleep 1")
        self.await_state(urgent, *ENDED)
        self.assertEqual(run_json(self.output)["state"], "stopped", self.said())
        self.end_soon()
        self.await_state(job, *ENDED)
        self.assertEqual(self.slurm.job(job)["JobState"], "COMPLETED", self.said())
        self.assert_as_if_unbroken()

    def test_the_legs_of_a_chain_go_on_one_after_another_and_end_at_once_when_all_is_done(self):
        # Here the ranks are started by mpiexec, as at sites whose srun knows no PMIx.
        first, second, third = self.submit(BATCH, self.deck, self.output, *SLOW, script=[CHAIN, 3],
                                           WEFT_LAUNCH="mpiexec -n 2", OMPI_ALLOW_RUN_AS_ROOT="1",
                                           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.await_progress()
        self.slurm.call("scancel", "--batch", "--signal=USR1", first)
        self.await_state(first, "COMPLETED")
        self.end_soon()
        self.await_state(third, *ENDED)
        for leg in first, second, third:
            self.assertEqual(self.slurm.job(leg)["JobState"], "COMPLETED", self.said())
            self.assertEqual(self.slurm.job(leg)["Restarts"], "0")
        self.assertIn("is finished", (self.folder / f"job-{third}.txt").read_text())
        self.assert_as_if_unbroken()

    def test_a_chain_stops_after_a_failure(self):
        self.deck.write_text(LONG.replace("time: {", "time: {max_strain: 1e-9, max_retries: 1, "))
        first, second = self.submit(BATCH, self.deck, self.output, script=[CHAIN, 2])
        self.await_state(second, *ENDED)
        self.assertEqual(self.slurm.job(first)["ExitCode"], "4:0", self.said())
        self.assertIn("failed in an earlier leg", (self.folder / f"job-{second}.txt").read_text())

    def test_a_sweep_runs_each_case_with_its_settings(self):
        cases = self.folder / "cases"
        cases.write_text("# name: settings\nlight: materials.soft.density=500; bodies.left.spin=[0, 0, 60 rpm]\n\n"
                         "heavy: materials.soft.density=2000\n")
        self.submit("--ntasks-per-node=1", BATCH, self.deck, self.output, "--until", 0.02, script=[SWEEP, cases])
        finished = lambda name: (self.output / name / "run.json").exists() and run_json(
            self.output / name)["state"] == "finished"
        wait_until(lambda: finished("light") and finished("heavy"), "both cases")
        resolved = {name: (self.output / name / "resolved.yaml").read_text() for name in ("light", "heavy")}
        self.assertIn("density: 500", resolved["light"])
        self.assertIn("density: 2000", resolved["heavy"])
        self.assertNotIn("spin: [0, 0, 6.28", resolved["heavy"])
        self.assertIn("6.28", resolved["light"])

    def test_a_run_that_stops_where_it_started_is_not_queued_again(self):
        # A program that makes no step: it waits for the warning and leaves what was there.
        idle = self.folder / "idle"
        idle.write_text(f"#!/bin/sh\n[ \"$1\" = run ] || exec {WEFT} \"$@\"\n"
                        "trap 'exit 0' USR1\ntouch started\nwhile :; do sleep 0.1; done\n")
        idle.chmod(0o755)
        self.assertEqual(weft("run", self.deck, "-o", self.output, "--steps", 3).returncode, 0)
        number = int(self.slurm.call("sbatch", "--parsable", *TWO_RANKS, f"--chdir={self.folder}",
                                     "--output=job-%j.txt", BATCH, self.deck, self.output, WEFT=str(idle)))
        self.addCleanup(self.slurm.call, "scancel", "--quiet", number)
        wait_until((self.folder / "started").exists, "the start")
        self.slurm.call("scancel", "--batch", "--signal=USR1", number)
        self.await_state(number, *ENDED)
        self.assertEqual(self.slurm.job(number)["ExitCode"], "1:0", self.said())
        self.assertIn("no step was made", self.said())

    def test_three_starts_that_come_no_further_are_enough(self):
        self.output.mkdir()
        (self.output / "legs").write_text("0\n0\n0\n")
        job = self.submit(BATCH, self.deck, self.output)
        self.await_state(job, *ENDED)
        self.assertEqual(self.slurm.job(job)["ExitCode"], "1:0")
        self.assertIn("made no progress", self.said())
        self.assertFalse((self.output / "run.json").exists())

    def test_a_cancelled_run_does_not_come_back(self):
        job = self.submit(BATCH, self.deck, self.output, *SLOW)
        self.await_progress()
        self.slurm.call("scancel", job)
        self.await_state(job, "CANCELLED")
        wait_until(lambda: "COMPLETING" not in self.slurm.call("squeue", "-h", "-j", job, "-o", "%T"), "the end")
        self.assertEqual(self.slurm.job(job)["JobState"], "CANCELLED", self.said())


def main():
    with tempfile.TemporaryDirectory(prefix="weft_slurm_") as scratch:
        try:
            Jobs.slurm = Slurm(pathlib.Path(scratch) / "slurm")
        except NoSlurm as reason:
            print(f"Skipped: the job scripts were not tested. {reason}")
            return 77
        with Jobs.slurm:
            return 0 if unittest.main(exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
