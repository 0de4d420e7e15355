#!/usr/bin/env python3
"""Proves that ParaView opens the frames of a run as time series: tests/end_to_end/test_frames.py WEFT."""
import math
import pathlib
import shutil
import subprocess
import unittest

from program import SPOUT, Case
import numpy
import weft_read
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]

OPEN_IN_PARAVIEW = pathlib.Path(__file__).parents[1] / "support" / "paraview_frames.py"

# Beside grains that are born and removed: a wall that moves, one that stands, and the nodes of the grid.
WALLS = """
  - {name: wheel, shape: {cylinder: {from: [0.4, 0.1, -0.1], to: [0.4, 0.1, 0.1], radius: 0.1}}, condition: sticky,
     motion: {spin: [0, 0, 3], center: [0.4, 0.1, 0]}}
"""


def si(text):
    """Metres or seconds; decks may carry units."""
    number, _, unit = str(text).partition(" ")
    return float(number) * {"": 1, "m": 1, "cm": 1e-2, "mm": 1e-3, "s": 1, "ms": 1e-3}[unit]


class Frames(Case):
    def open_in_paraview(self, *outputs):
        """What was seen in ParaView, having been compared with what the files hold."""
        seen = subprocess.run([OPEN_IN_PARAVIEW, *outputs], capture_output=True, text=True, timeout=500)
        self.assertEqual(seen.returncode, 0, seen.stdout + seen.stderr)
        return seen.stdout

    def test_every_body_wall_and_the_grid_open_as_time_series_from_two_ranks(self):
        self.assertIn("colliders:\n", SPOUT)
        deck = self.deck(SPOUT.replace("colliders:\n", "colliders:" + WALLS))
        output = self.run_deck(deck, "out", "--until", 0.4, "--set", "time.frame_interval=0.1",
                               "--set", "output.grid=true", ranks=2)
        names = {index.name.removesuffix(".hdf.series") for index in (output / "frames").glob("*.hdf.series")}
        self.assertLessEqual({"sand", "collider_wheel", "grid"}, names)
        self.assertEqual(len(list((output / "frames").glob("sand_*.hdf"))), 5)
        seen = self.open_in_paraview(output)
        for name in names:
            self.assertIn(f"{name}.hdf.series", seen)
            self.assertIn(f"{name}.xmf", seen)

    def small(self, file):
        """A deck at twice its dx, up to its third frame, with a row for each step and a probe around each body. Meshes
        take many steps to a frame: theirs come ten times as often."""
        deck = yaml.safe_load(file.read_text())
        if deck["time"].get("scheme") == "static":
            return file, deck
        deck["domain"]["dx"] = 2 * si(deck["domain"]["dx"])
        if any(body["kind"] != "continuum" for body in deck["bodies"]):
            deck["time"]["frame_interval"] = si(deck["time"]["frame_interval"]) / 10
        deck["output"] = deck.get("output", {}) | {"diagnostics_every": 1}
        deck["probes"] = [{"name": f"box_{body['name']}", "body": body["name"], "bounding_box": {}}
                          for body in deck["bodies"] if body["kind"] != "rigid"]
        text = yaml.safe_dump(deck)
        for curves in file.parent.glob("*.obj"):  # paths in a deck are relative to it
            shutil.copy(curves, self.folder)
        return self.deck(text, file.name), deck

    def test_frames_of_every_deck_are_in_paraview_what_the_diagnostics_say(self):
        outputs = []
        for file in sorted((ROOT / "decks").glob("*.yaml")):
            with self.subTest(file.stem):
                path, deck = self.small(file)
                if path == file:  # no particles and a table of its own: the frames of the first load only
                    outputs.append(self.run_deck(path, file.stem, "--steps", 1))
                    continue
                interval = si(deck["time"]["frame_interval"])
                outputs.append(self.run_deck(path, file.stem, "--until", 2 * interval))
                self.compare_with_diagnostics(weft_read.Run(outputs[-1]), deck["bodies"])
        self.open_in_paraview(*outputs)

    def compare_with_diagnostics(self, run, bodies):
        table = run.diagnostics
        # Meshes are drawn by their vertices; particles count the samples of their elements besides. Shells are drawn by
        # their limit surface, which lies within the hull of their control points.
        has_mesh = any(body["kind"] != "continuum" for body in bodies)
        shells = {body["name"] for body in bodies if body["kind"] == "shell"}
        rigid = {body["name"] for body in bodies if body["kind"] == "rigid"}  # drawn by their surface, about the centre
        bodies = [body["name"] for body in bodies]
        for number, time in enumerate(run.times(bodies[0])):
            frames = [run.frame(body, number) for body in bodies]
            row = numpy.flatnonzero(table["step"] == frames[0].step)[-1]
            self.assertEqual(table["time"][row], time)
            points = sum(len(frame.points) for body, frame in zip(bodies, frames) if body not in shells | rigid)
            (self.assertLessEqual if has_mesh else self.assertEqual)(points, table["particles"][row])
            for body, frame in zip(bodies, frames):
                self.assertEqual(frame.time, time)
                if len(frame.points) == 0:
                    continue
                if body in rigid:
                    centre = [table[f"position_{body}_{axis}"][row] for axis in "xyz"]
                    self.assertTrue((frame.points.min(axis=0) < centre).all() and
                                    (centre < frame.points.max(axis=0)).all(), body)
                    continue
                for side, corner in ("lower", frame.points.min(axis=0)), ("upper", frame.points.max(axis=0)):
                    for axis, seen in zip("xyz", corner):
                        said = table[f"box_{body}_{side}_{axis}"][row]
                        if body in shells:
                            self.assertGreaterEqual((seen - said) * (1 if side == "lower" else -1), -1e-7)
                            continue
                        # Frames are in single precision.
                        self.assertTrue(math.isclose(seen, said, rel_tol=2e-7, abs_tol=1e-9), (body, side, seen, said))


if __name__ == "__main__":
    unittest.main()
