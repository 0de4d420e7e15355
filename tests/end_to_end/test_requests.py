#!/usr/bin/env python3
"""Proves that runs stop and save on request, and say how they stand: tests/end_to_end/test_requests.py WEFT."""
import json
import os
import signal
import subprocess
import time
import unittest

from program import (DROP, FAR, HOPELESS, JELLIES, Case, checkpoints, command, environment, history, run_json, step_of,
                     wait_until, weft)


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
        self.run_deck(self.deck(DROP), "out", *HOPELESS, code=4)
        told = self.status("out", 12)
        self.assertEqual((told["state"], told["exit_code"]), ("failed", 4))
        self.assertIn("time.max_strain", told["reason"])

    def test_where_there_is_no_run_status_says_so(self):
        done = weft("status", self.folder)
        self.assertEqual(done.returncode, 5)
        self.assertIn("no run", done.stderr)


if __name__ == "__main__":
    unittest.main()
