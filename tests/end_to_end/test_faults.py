#!/usr/bin/env python3
"""Proves that no fault ruins a run: disks that fail or fill up, ranks that die or hang, damaged files, numbers that are
none. tests/end_to_end/test_faults.py WEFT [--full]; docs/reliability.md has the figures of --full."""
import ctypes
import ctypes.util
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest

from program import (CLOTH, FULL, JELLIES, PLATE, TORN, WEFT, Case, checkpoints, command, environment, flip_bit, history, mounting,
                     physics, run_json, step_of, wait_until, weft)
import h5py
import numpy

FAILING_DISK = str(pathlib.Path(WEFT).parent.parent / "tests" / "libfailing_disk.so")
HINGED_ROOF = pathlib.Path(__file__).resolve().parents[2] / "decks" / "hinged_roof.yaml"  # a static analysis
FIGURES = {}  # what was counted, printed at the end


def small(steps, every):
    """Two coarse jellies that take milliseconds for a step; a checkpoint after `every` steps."""
    return ["--steps", steps, "--checkpoint-every", every, "--set", "domain.dx=0.1", "--set",
            "output.diagnostics_every=1"]


def count(what, number=1):
    FIGURES[what] = FIGURES.get(what, 0) + number


def damaged(folder):
    """The names of the checkpoints of a folder that `weft verify` finds damaged, and those that it finds whole."""
    done = weft("verify", folder)
    said = re.findall(r"^\S*?([^/\s]+): (whole|damaged)$", done.stdout, re.MULTILINE)
    bad = [name for name, state in said if state == "damaged"]
    assert done.returncode == (6 if bad else 0), done.stdout + done.stderr
    return bad, [name for name, state in said if state == "whole"]


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
        variables |= {"LD_PRELOAD": FAILING_DISK, "WEFT_DISK": str(output), "WEFT_DISK_LOG": str(log)}
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
        slow = {"LD_PRELOAD": FAILING_DISK, "WEFT_DISK_DELAY": "8"}
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


class Damaged(Case):
    """Checkpoints that the disk or somebody spoilt."""

    def setUp(self):
        super().setUp()
        self.jellies = self.deck(JELLIES)
        self.output = self.run_deck(self.jellies, "out", *small(30, 10))
        self.assertEqual([step_of(c) for c in checkpoints(self.output)], [10, 20, 30])

    def assert_damaged(self, checkpoint, *words):
        done = weft("verify", checkpoint)
        self.assertEqual(done.returncode, 6, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stdout)

    def verify_copies(self, changes):
        """Makes a copy of the newest checkpoint for each change (a function of the copy), has all verified at once, and
        fails unless each is found damaged."""
        newest = checkpoints(self.output)[-1]
        for begin in range(0, len(changes), 200):  # for the sake of the disk
            folder = self.folder / "copies"
            for number, change in enumerate(changes[begin:begin + 200]):
                copy = folder / f"step_{number:012d}"
                shutil.copytree(newest, copy)
                change(copy)
            bad, whole = damaged(folder)
            self.assertEqual(whole, [])
            self.assertEqual(len(bad), len(changes[begin:begin + 200]))
            shutil.rmtree(folder)

    def structure(self, checkpoint):
        """Bytes of state.h5 that are of no data set."""
        manifest = json.loads((checkpoint / "manifest.json").read_text())
        free = numpy.ones(manifest["state.h5"]["bytes"], bool)
        for rows in manifest["data_sets"].values():
            free[rows["offset"]:rows["offset"] + rows["rows"] * rows["row_bytes"]] = False
        return numpy.flatnonzero(free)

    def test_every_flipped_bit_is_found(self):
        random.seed(3)
        newest = checkpoints(self.output)[-1]
        structure = self.structure(newest)

        def flip(file, place):
            def change(copy):
                data = bytearray((copy / file).read_bytes())
                data[place] ^= 1 << random.randrange(8)
                (copy / file).write_bytes(data)
            return change

        flips = []
        for number in range(2000 if FULL else 60):
            file = "manifest.json" if number % 4 == 1 else "state.h5"
            size = (newest / file).stat().st_size
            # Half of all in metadata: the manifest, and HDF5's structure.
            place = int(random.choice(structure)) if number % 4 == 3 else random.randrange(size)
            flips.append(flip(file, place))
        self.verify_copies(flips)
        count("flipped bits", len(flips))

    def test_every_truncation_is_found(self):
        newest = checkpoints(self.output)[-1]

        def cut(file, length):
            return lambda copy: os.truncate(copy / file, length)

        cuts = []
        for file in "state.h5", "manifest.json":
            size = (newest / file).stat().st_size
            lengths = set(range(0, size, 64 if FULL else max(size // 15, 1))) | set(range(size - (64 if FULL else 3), size))
            cuts += [cut(file, length) for length in sorted(lengths)]
        self.verify_copies(cuts)
        count("truncations", len(cuts))

    def test_missing_and_swapped_files_and_other_layouts_are_refused_by_name(self):
        oldest, _, newest = checkpoints(self.output)
        for file in "state.h5", "manifest.json":
            whole = (newest / file).read_bytes()
            for what, change in (("missing", lambda: (newest / file).unlink()),
                                 ("swapped", lambda: shutil.copy(oldest / file, newest / file)),
                                 ("empty", lambda: (newest / file).write_bytes(b""))):
                with self.subTest(what, file=file):
                    change()
                    self.assert_damaged(newest)
                    (newest / file).write_bytes(whole)
        with self.subTest("missing"):
            (newest / "state.h5").unlink()
            self.assert_damaged(newest, "state.h5: the file is missing")

    def test_damage_in_the_middle_of_a_field_names_the_field(self):
        newest = checkpoints(self.output)[-1]
        with h5py.File(newest / "state.h5") as file:
            velocity = file["tables/left/velocity"]
            place = velocity.id.get_offset() + velocity.id.get_storage_size() // 2
        data = bytearray((newest / "state.h5").read_bytes())
        data[place] ^= 1
        (newest / "state.h5").write_bytes(data)
        self.assert_damaged(newest, "/tables/left/velocity")

    def test_a_damaged_newest_checkpoint_is_passed_over_with_a_reason(self):
        for ranks in 1, 2:
            with self.subTest(ranks=ranks):
                output = self.folder / f"copy_{ranks}"
                shutil.copytree(self.output, output)
                flip_bit(checkpoints(output)[-1] / "state.h5", 0.5)
                self.run_deck(self.jellies, output.name, *small(30, 10), "--resume", "auto", ranks=ranks)
                for said in self.last.stdout + self.last.stderr, (output / "log.txt").read_text():
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
                self.run_deck(self.jellies, "out", *small(40, 10), "--resume", "auto", ranks=ranks, code=6)
                for checkpoint in checkpoints(self.output):
                    self.assertIn(checkpoint.name, self.last.stderr)
        self.assertEqual((self.output / "diagnostics.csv").read_text(), before)

    def test_a_damaged_checkpoint_that_is_asked_for_is_refused_by_name(self):
        newest = checkpoints(self.output)[-1]
        flip_bit(newest / "state.h5", 0.5)
        self.run_deck(self.jellies, "out", *small(40, 10), "--resume", newest, code=6)
        self.assertIn(newest.name, self.last.stderr)

    def test_info_says_what_a_checkpoint_and_a_frame_hold(self):
        text = weft("info", checkpoints(self.output)[-1]).stdout
        for word in "left", "right", "velocity", "m/s", "step 30", "commit":
            self.assertIn(word, text)
        text = weft("info", self.output / "frames" / "left_000000.hdf").stdout
        for word in "left_000000.hdf", "velocity", "m/s", "step 0":
            self.assertIn(word, text)


def forge(checkpoint, data_set, row, component, value, form="d"):
    """Puts a number of 8 bytes into a checkpoint and mends its digests: as if the run itself had saved it."""
    library = ctypes.CDLL("libxxhash.so.0")
    digest = library.XXH3_64bits_withSeed
    digest.restype, digest.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    text = (checkpoint / "manifest.json").read_text()
    rows = json.loads(text)["data_sets"][data_set]
    data = bytearray((checkpoint / "state.h5").read_bytes())
    place = rows["offset"] + row * rows["row_bytes"] + 8 * component
    data[place:place + 8] = struct.pack(form, value)
    (checkpoint / "state.h5").write_bytes(data)
    total = 0
    for r in range(rows["rows"]):
        begin = rows["offset"] + r * rows["row_bytes"]
        total += digest(bytes(data[begin:begin + rows["row_bytes"]]), rows["row_bytes"], r)
    at = text.index(f'"{data_set}"')  # others may hold the same
    text = text[:at] + text[at:].replace(rows["digest"], f"{total % 2**64:016x}", 1)
    head = text[:text.rindex(",\n  \"digest\"")].encode()
    text = head.decode() + f",\n  \"digest\": \"{digest(head, len(head), 0):016x}\"\n}}\n"
    (checkpoint / "manifest.json").write_text(text)


@unittest.skipUnless(ctypes.util.find_library("xxhash"), "no shared xxHash library to forge a checkpoint with")
class Forged(Case):
    """Checkpoints whose digests are right and whose numbers cannot be."""

    def numbers(self, checkpoint, body):
        """The data sets that number the vertices and elements of a body, with what they hold."""
        with h5py.File(checkpoint / "state.h5") as file:
            return {f"/tables/{table}/id": rows["id"][:] for table, rows in file["tables"].items()
                    if table.startswith(body) and len(rows["id"]) > 1}

    def test_numbers_of_vertices_and_elements_that_cannot_be_are_refused(self):
        tried = 0
        for text, body in (CLOTH, "cloth"), (PLATE, "plate"), (TORN, "sheet"), (TORN, "ropes"), (HINGED_ROOF.read_text(), ""):
            deck = self.deck(text)
            whole = self.run_deck(deck, "whole", "--steps", 2)
            numbers = self.numbers(checkpoints(whole)[-1], body)
            self.assertTrue(numbers)
            for data_set, there in numbers.items():
                wrong = [2**64 - 1, 2**63, 2**40, len(there), int(there[0])]  # the last stands there twice
                for value in wrong if FULL else (wrong[tried % 4], wrong[4]):
                    tried += 1
                    output = self.folder / "forged"
                    shutil.copytree(whole, output)
                    forge(checkpoints(output)[-1], data_set, 1 + tried % (len(there) - 1), 0, value, "Q")
                    self.assertEqual(damaged(output)[0], [])
                    with self.subTest(data_set, value=value):
                        self.run_deck(deck, "forged", "--steps", 4, "--resume", "auto", ranks=1 + tried % 3, code=6)
                    shutil.rmtree(output)
            shutil.rmtree(whole)
        count("forged numbers of vertices and elements", tried)


class BadNumbers(Case):
    """States and steps that cannot be computed on."""

    def suspects(self, output, body):
        """ids and suspicions of the crash frame, and its step."""
        frame, = (output / "crash").glob(f"{body}_*.hdf")
        with h5py.File(frame) as file:
            marks = dict(zip(file["VTKHDF/PointData/id"][:], file["VTKHDF/PointData/suspect"][:]))
            return marks, int(file["VTKHDF"].attrs["step"])

    def test_a_number_that_is_none_in_one_particle_is_found_in_the_same_step_and_blamed_on_it(self):
        try:
            ctypes.CDLL("libxxhash.so.0")
        except OSError:
            self.skipTest("no shared xxHash library to forge a checkpoint with")
        deck = self.deck(JELLIES)
        whole = self.run_deck(deck, "whole", *small(10, 10), ranks=2)
        for data_set, component, ranks in (("velocity", 1, 1), ("elastic_deformation", 4, 2), ("position", 0, 3),
                                           ("velocity_gradient", 8, 2), ("position", 2, 1)):
            with self.subTest(data_set, ranks=ranks):
                output = self.folder / f"bad_{data_set}_{ranks}"
                shutil.copytree(whole, output)
                newest, = checkpoints(output)
                with h5py.File(newest / "state.h5") as file:
                    row = len(file["tables/right/id"]) // 2
                    victim = int(file["tables/right/id"][row])
                forge(newest, f"/tables/right/{data_set}", row, component, float("nan"))
                self.assertEqual(damaged(output)[0], [])
                self.run_deck(deck, output.name, *small(20, 10), "--resume", "auto", ranks=ranks, code=4)
                for words in f"id {victim} of right", "not finite", "Likely cause", "crash":
                    self.assertIn(words, self.last.stderr + self.last.stdout)
                self.assertEqual((run_json(output)["state"], run_json(output)["step"]), ("failed", 10))
                marks, step = self.suspects(output, "right")
                self.assertEqual(step, 10)
                self.assertEqual({i for i, mark in marks.items() if mark == 2}, {victim})
                self.assertNotIn(2, self.suspects(output, "left")[0].values())
                # What is spoilt does not drive out what may be whole.
                self.assertEqual([step_of(c) for c in checkpoints(output)], [10])

    def test_a_stiffness_beyond_reason_ends_with_4(self):
        self.run_deck(self.deck(JELLIES), "out", *small(5, 5), "--set", "materials.firm.youngs_modulus=1e300", code=4)
        for words in "waves in right", "too small ever to reach time.end", "stiffness":
            self.assertIn(words, self.last.stderr)

    def test_a_step_too_large_for_what_happens_is_halved_and_blamed_on_those_it_would_tear(self):
        output = self.run_deck(self.deck(JELLIES), "out", *small(400, 1000), "--set", "time.max_strain=0.02", "--set",
                               "time.max_retries=1", "--set", "bodies.left.velocity=[30, 0, 0]", ranks=2, code=4)
        for words in "was refused 2 times", "would deform", "suspect", "Likely cause":
            self.assertIn(words, self.last.stderr + self.last.stdout)
        marks = {**self.suspects(output, "left")[0], **self.suspects(output, "right")[0]}
        named = int(re.search(r"id (\d+) of", self.last.stderr).group(1))
        self.assertIn(1, marks.values())
        self.assertLess(list(marks.values()).count(1), len(marks))
        self.assertIn(named, marks)
        self.assertEqual(step_of(checkpoints(output)[-1]), run_json(output)["step"])
        self.assertEqual(weft("verify", output).returncode, 0)


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
                self.refuses("check", self.deck(deck), code=3, words=r"GB at least|cannot be numbered|are not made|too large")
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
        self.refuses("check", deck, code=1, words="OMP_NUM_THREADS asks for 1000000", env={"OMP_NUM_THREADS": "1000000"})
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
        done = subprocess.run(["sh", "-c", '"$@" >/dev/null; exit $?', "sh", *run], stdout=writer, stderr=subprocess.PIPE,
                              timeout=60, env=environment())
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


def tearDownModule():
    for what, number in FIGURES.items():
        print(f"{what}: {number}")


if __name__ == "__main__":
    unittest.main()
