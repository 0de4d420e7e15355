#!/usr/bin/env python3
"""Proves that no fault ruins a run: disks that fail or fill up, ranks that die or hang.
tests/end_to_end/test_faults.py WEFT [--full]; docs/reliability.md has the figures of --full."""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time
import unittest

from program import (FULL, HINGED_ROOF, JELLIES, WEFT, Case, checkpoints, command, count, damaged, environment,
                     history, mounting, physics, print_figures, run_json, small, step_of, wait_until, weft)

FAILING_DISK = str(pathlib.Path(WEFT).parent.parent / "tests" / "libfailing_disk.so")
PRELOADED = " ".join([FAILING_DISK, *os.environ.get("LD_PRELOAD", "").split()])


class Disk(Case):
    """Runs on a disk of which calls that open, write, flush, close or rename a file fail once, or from then on."""
    how = small(8, 4) + ["--set", "time.frame_interval=0.03"]
    may_hang = False  # and is ended by the watchdog then
    variables = {}

    def setUp(self):
        super().setUp()
        self.jellies = self.deck(JELLIES)

    def run_on(self, output, ranks=2, **disk):
        """A run whose disk fails as told: its exit code, what it said, and the calls that failed."""
        log = self.folder / "failed_calls"
        log.unlink(missing_ok=True)
        variables = self.variables | {f"WEFT_DISK_{name.upper()}": str(value) for name, value in disk.items()}
        policy = variables.pop("WEFT_DISK_POLICY", "stop")
        variables |= {"LD_PRELOAD": PRELOADED, "WEFT_DISK": str(output), "WEFT_DISK_LOG": str(log)}
        done = subprocess.run(
            command("run", self.jellies, "-o", output, *self.how, "--set", f"output.on_io_error={policy}",
                    ranks=ranks), env=environment() | variables, cwd=self.folder, capture_output=True, text=True,
            timeout=240)  # a hang is an error here
        return done.returncode, done.stdout + done.stderr, log.read_text() if log.exists() else ""

    def calls_of_a_run(self):
        """How many calls each of two ranks makes in a run that nothing disturbs; the run."""
        output = self.folder / "unbroken"
        code, said, _ = self.run_on(output, count=self.folder / "count")
        self.assertEqual(code, 0, said)
        return [int((self.folder / f"count.{rank}").read_text()) for rank in range(2)], output

    def assert_run_survives(self, unbroken, **disk):
        output = self.folder / "disturbed"
        shutil.rmtree(output, ignore_errors=True)
        code, said, failed = self.run_on(output, **disk)
        about = f"{disk}\n{failed}\n{said}"
        self.assertTrue(failed, about)
        self.assertIn(code, (0, 5, 7) if self.may_hang else (0, 5), about)
        if code == 7:
            self.assertIn("All ranks were writing a file together (output.writer: collective)", said, about)
        if code == 5 and not self.may_hang:  # MPI-IO does not say why
            reason = os.strerror({"EIO": 5, "ENOSPC": 28, "EDQUOT": 122}[disk.get("error", "EIO")])
            self.assertIn(reason, said, about)
        count(f"failing calls, exit code {code}, on_io_error: {disk.get('policy', 'stop')}")
        if code != 0 and checkpoints(output):
            self.assertEqual(damaged(output)[0], [], about)
        if disk.get("calls", 1) == 1 and code != 7:
            self.assertEqual([str(p) for p in output.rglob("*.tmp")], [], about)
        if code != 0:  # the disk has been mended
            self.run_deck(self.jellies, output.name, *self.how, "--resume", "auto", ranks=2)
        self.assert_same_state(unbroken, output, 0)
        self.assertEqual(physics(unbroken), physics(output), about)
        self.assert_same_frames(unbroken, output, about)
        return code, said

    def assert_same_frames(self, a, b, about):
        """The frames that the second folder has are those of the first to the byte; some may be missing."""
        for path in sorted((b / "frames").glob("*.hdf")):
            self.assertEqual(path.read_bytes(), (a / "frames" / path.name).read_bytes(), f"{path.name}\n{about}")


class FailingDisk(Disk):
    """Each rank writes for itself."""

    def test_whichever_call_fails_the_run_ends_with_5_or_goes_on_and_nothing_is_lost(self):
        (of_root, of_other), unbroken = self.calls_of_a_run()
        count("calls of rank 0 in a run", of_root)
        count("calls of rank 1 in a run", of_other)
        errors = "EIO", "ENOSPC", "EDQUOT"
        cases = [(0, k) for k in range(1, of_root + 1)] + [(1, k) for k in range(1, of_other + 1)]
        if not FULL:
            cases = cases[5::60] + [(1, of_other)]
        for number, (rank, k) in enumerate(cases):
            with self.subTest(rank=rank, call=k):
                self.assert_run_survives(unbroken, rank=rank, first=k, error=errors[number % 3],
                                         policy=("stop", "continue")[number % 2])

    def test_a_disk_that_is_gone_for_good_ends_the_run_with_5(self):
        (of_root, _), unbroken = self.calls_of_a_run()
        # The last few calls put lines into the log.
        for number, k in enumerate(range(2, of_root - 10, 10 if FULL else of_root // 2)):
            policy = ("stop", "continue")[number % 2]
            code, _ = self.assert_run_survives(unbroken, first=k, calls=0, error="ENOSPC", policy=policy)
            self.assertEqual(code, 5)

    def test_a_run_that_may_goes_on_past_failures_and_says_so_once(self):
        (of_root, _), unbroken = self.calls_of_a_run()
        # From the first checkpoint on: it fails, and a frame and rows of diagnostics after it.
        code, said = self.assert_run_survives(unbroken, first=of_root // 2, calls=5, policy="continue")
        self.assertEqual(code, 0, said)
        self.assertIn("on_io_error: continue", said)
        self.assertIn("can be written again", said)
        self.assertEqual(said.count("goes on without diagnostics.csv"), 1, said)

    def test_a_static_analysis_goes_on_past_failures_too(self):
        self.jellies, self.how = HINGED_ROOF, ["--set", "loading.max_steps=6"]
        (of_root, _), unbroken = self.calls_of_a_run()
        output = self.folder / "disturbed"
        code, said, failed = self.run_on(output, first=of_root // 2, calls=3, policy="continue")
        self.assertTrue(failed)
        self.assertEqual(code, 0, said)
        self.assertIn("on_io_error: continue", said)
        self.assertEqual([row["step"] for row in history(output)], [row["step"] for row in history(unbroken)])

    def test_a_full_file_system_stops_the_run_and_leaves_whole_checkpoints(self):
        for number, kilobytes in enumerate((400, 500, 700, 900, 1100) if FULL else (700,)):
            mounted = self.folder / f"mounted{kilobytes}"
            mounted.mkdir()
            prefix = mounting(self, mounted, f"size={kilobytes}k")
            output = mounted / "out"
            policy = ("stop", "continue")[number % 2]
            script = '"$@"; code=$?; for c in "$OUT"/checkpoints/step_*; do "$WEFT" verify "$c"; done; exit $code'
            run = command("run", self.jellies, "-o", output, *small(40, 2), "--set", "output.checkpoint.keep=1000",
                          "--set", f"output.on_io_error={policy}", ranks=2)
            done = subprocess.run([*prefix, "sh", "-c", script, "sh", *run], capture_output=True, text=True, timeout=120,
                                  env=environment() | {"OUT": str(output), "WEFT": WEFT}, cwd=self.folder)
            self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
            self.assertRegex(done.stderr, "Make room there|No space left")
            self.assertIn(": whole", done.stdout)
            self.assertNotIn(": damaged", done.stdout)
            count("full file systems")


class FailingDiskOfAllRanks(Disk):
    """All ranks write together. A rank whose disk fails may leave the others waiting; the watchdog ends them."""
    how = Disk.how + ["--set", "output.writer=collective", "--set", "output.hints.cb_nodes=1", "--set",
                      "time.watchdog=5"]
    may_hang = True

    def test_whichever_call_fails_the_run_ends_and_nothing_is_lost(self):
        (of_root, of_other), unbroken = self.calls_of_a_run()
        count("calls of rank 0 in a run with the collective writer", of_root)
        cases = [(0, k) for k in range(1, of_root + 1)] + [(1, k) for k in range(1, of_other + 1)]
        if not FULL:
            cases = cases[7::60] + [(1, of_other)]
        for number, (rank, k) in enumerate(cases):
            with self.subTest(rank=rank, call=k):
                self.assert_run_survives(unbroken, rank=rank, first=k, error=("EIO", "ENOSPC")[number % 2],
                                         policy=("stop", "continue")[number // 2 % 2])

    def test_a_disk_that_is_gone_for_good_ends_the_run(self):
        (of_root, _), unbroken = self.calls_of_a_run()
        for k in range(2, of_root - 10, 10 if FULL else of_root // 2):
            code, _ = self.assert_run_survives(unbroken, first=k, calls=0, error="ENOSPC")
            self.assertIn(code, (5, 7))


@unittest.skipUnless(FULL, "hours: with --full")
class FailingDiskOfOmpio(FailingDiskOfAllRanks):
    """The same with what Open MPI takes unless told otherwise."""
    variables = {"OMPI_MCA_io": "ompio"}


class Killed(Case):
    """Runs that end without warning."""

    def ranks_of(self, process, ranks):
        if ranks == 1:
            return [process.pid]
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        return [int(child) for child in children]

    def kill_now(self, process, ranks, everyone):
        """Kills a rank, or all ranks and their launcher. True if the run was still there."""
        try:
            victims = self.ranks_of(process, ranks)
        except (FileNotFoundError, ProcessLookupError):
            victims = []
        if ranks > 1 and everyone:
            victims.append(process.pid)
        elif victims:
            victims = [random.choice(victims)]
        if process.poll() is not None or not victims:
            return False
        for victim in victims:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return True

    def test_runs_killed_at_random_moments_lose_two_intervals_at_most_and_end_with_the_same_bits(self):
        random.seed(1)
        deck, every, steps = self.deck(JELLIES), 5, 60
        # Flushing takes its time here, so that many kills hit a checkpoint that is being written.
        slow = {"LD_PRELOAD": PRELOADED, "WEFT_DISK_DELAY": "8"}
        unbroken = {ranks: self.run_deck(deck, f"unbroken{ranks}", *small(steps, every), ranks=ranks) for ranks in (1, 2)}
        wanted = 200 if FULL else 20
        kills = chain = 0
        while kills < wanted:
            chain += 1
            ranks = 1 + chain % 2
            output = self.folder / f"killed{chain}"
            writer = ["--set", f"output.writer={('direct', 'collective')[chain // 2 % 2]}"]
            ended = False
            while not ended:
                began = time.time()
                process = subprocess.Popen(command("run", deck, "-o", output, *small(steps, every), *writer,
                                                   "--resume", "auto", ranks=ranks), env=environment() | slow, cwd=self.folder,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                # At any moment after so many checkpoints, or while the next one is written.
                passed, in_checkpoint = random.randrange(4), random.random() < 0.5
                wait_until(lambda: process.poll() is not None or len(self.made_since(began, output, "")) >= passed,
                           "checkpoints")
                if in_checkpoint:
                    wait_until(lambda: process.poll() is not None or self.made_since(began, output, ".tmp"),
                               "the next checkpoint")
                time.sleep(random.uniform(0, 0.07 if in_checkpoint else 0.5))
                everyone = random.random() < 0.5
                killed = kills < wanted and self.kill_now(process, ranks, everyone)
                code = process.wait(60)  # longer is a hang
                if not killed or code == 0:
                    self.assertEqual(code, 0)
                    ended = True
                    continue
                kills += 1
                count("kills of all ranks" if everyone or ranks == 1 else "kills of one of two ranks")
                if (output / "run.json").exists():
                    wait_until(lambda: not self.is_running(output), "the end of the other ranks", 60)
                count("kills while a checkpoint was written", len(self.made_since(began, output, ".tmp")))
                if checkpoints(output):
                    newest = max([int(name[5:]) for name in damaged(output)[1]], default=0)
                    self.assertEqual(damaged(output)[0], [])
                    self.assertLessEqual(int(history(output)[-1]["step"]) - newest, 2 * every)
            self.assertEqual(run_json(output)["state"], "stopped")
            self.assert_same_state(unbroken[ranks], output, 0)
            self.assertEqual(physics(unbroken[ranks]), physics(output))
            self.assertEqual(list((output / "checkpoints").glob("*.tmp")), [])
            shutil.rmtree(output)

    def made_since(self, moment, output, ending):
        """Checkpoints, finished ("") or not (".tmp"), that were made since then."""
        made = []
        for path in (output / "checkpoints").glob(f"step_{'[0-9]' * 12}{ending}"):
            try:
                if path.stat().st_mtime > moment:
                    made.append(path)
            except FileNotFoundError:
                pass  # renamed or deleted meanwhile
        return made

    def is_running(self, output):
        process = run_json(output)["process"]["id"]
        try:
            return f"{output}".encode() in pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            return False

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
        torn.mkdir()
        self.run_deck(deck, "out", "--steps", 40, "--resume", "auto")  # a run that has nothing left to do clears it as well
        self.assertFalse(torn.exists())
        unbroken = self.run_deck(deck, "unbroken", "--steps", 40)
        self.assert_same_state(unbroken, output, 0)
        self.assertEqual(physics(unbroken), physics(output))

    def test_a_run_that_hangs_is_ended_with_7_and_the_stacks_of_its_threads(self):
        output = self.folder / "out"
        process = subprocess.Popen(
            command("run", self.deck(JELLIES), "-o", output, "--until", 100, "--set", "time.watchdog=2", ranks=2),
            env=environment(), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        wait_until(lambda: (output / "diagnostics.csv").exists() and len(history(output)) > 3, "the first steps")
        stopped = self.ranks_of(process, 2)[-1]
        os.kill(stopped, signal.SIGSTOP)
        began = time.monotonic()
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 7, said)
        self.assertGreater(time.monotonic() - began, 1.8)
        for text in said, (output / "log.txt").read_text():
            self.assertIn("time.watchdog", text)
            self.assertIn("rank 0, thread", text)
            self.assertIn("_ZN4weft3run", text)  # which waits somewhere inside
        wait_until(lambda: not pathlib.Path(f"/proc/{stopped}").exists(), "the end of the stopped rank", 20)
        self.assertEqual(weft("status", output).returncode, 10)  # may be resumed

    def test_a_run_that_is_stopped_as_a_whole_and_goes_on_later_is_left_alone(self):
        output = self.folder / "out"
        process = subprocess.Popen(
            command("run", self.deck(JELLIES), "-o", output, "--until", 100, "--set", "time.watchdog=1"),
            env=environment(), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        wait_until(lambda: (output / "diagnostics.csv").exists() and len(history(output)) > 3, "the first steps")
        process.send_signal(signal.SIGSTOP)
        time.sleep(2.5)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.wait(60), 0)

    @unittest.skipUnless(FULL, "minutes: with --full")
    def test_a_hundred_signals_at_random_moments_each_leave_a_checkpoint_and_exit_code_0(self):
        random.seed(2)
        deck, output = self.deck(JELLIES), self.folder / "out"
        for number in range(100):
            ranks = 1 + number % 2
            process = subprocess.Popen(command("run", deck, "-o", output, "--until", 1000, "--resume", "auto", ranks=ranks),
                                       env=environment(), cwd=self.folder, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            before = run_json(output)["wall_seconds"] if number else None
            wait_until(lambda: (output / "run.json").exists() and run_json(output)["state"] == "running",
                       "the start of the run")
            time.sleep(random.uniform(0, 0.5))
            name = random.choice(["SIGUSR1", "SIGUSR2"] if ranks > 1 else ["SIGUSR1", "SIGUSR2", "SIGTERM", "SIGINT"])
            target = random.choice([process.pid, *self.ranks_of(process, ranks)])
            for _ in range(random.choice([1, 2]) if name != "SIGINT" else 1):  # a second INT ends at once
                os.kill(target, getattr(signal, name))
            if name == "SIGUSR2":
                os.kill(target, signal.SIGUSR1)
            _, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, f"{name}: {said} {before}")
            self.assertEqual(step_of(checkpoints(output)[-1]), run_json(output)["step"])
            count("signals at random moments")
        self.assertEqual(damaged(output)[0], [])


tearDownModule = print_figures


if __name__ == "__main__":
    unittest.main()
