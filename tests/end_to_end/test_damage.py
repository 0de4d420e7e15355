#!/usr/bin/env python3
"""Proves that damaged files and numbers that are none are found and named.
tests/end_to_end/test_damage.py WEFT [--full]; docs/reliability.md has the figures of --full."""
import ctypes
import ctypes.util
import json
import os
import random
import re
import shutil
import struct
import unittest

from program import (CLOTH, FULL, HINGED_ROOF, JELLIES, PLATE, TORN, Case, checkpoints, count, damaged, flip_bit,
                     print_figures, run_json, small, step_of, weft)
import h5py
import numpy


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
            ends = range(size - (64 if FULL else 3), size)
            lengths = {*range(0, size, 64 if FULL else max(size // 15, 1)), *ends}
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
        roof = HINGED_ROOF.read_text()
        for text, body in (CLOTH, "cloth"), (PLATE, "plate"), (TORN, "sheet"), (TORN, "ropes"), (roof, ""):
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


tearDownModule = print_figures


if __name__ == "__main__":
    unittest.main()
