#!/usr/bin/env python3
"""Proves that ParaView opens the frames of a run as time series: tests/end_to_end/test_frames.py WEFT."""
import pathlib
import subprocess
import sys
import unittest

from program import SPOUT, Case

OPEN_IN_PARAVIEW = pathlib.Path(__file__).parents[1] / "support" / "paraview_frames.py"

# Beside grains that are born and removed: a wall that moves, one that stands, and the nodes of the grid.
WALLS = """
  - {name: wheel, shape: {cylinder: {from: [0.4, 0.1, -0.1], to: [0.4, 0.1, 0.1], radius: 0.1}}, condition: sticky,
     motion: {spin: [0, 0, 3], center: [0.4, 0.1, 0]}}
"""


class Frames(Case):
    def test_every_body_wall_and_the_grid_open_as_time_series_from_two_ranks(self):
        self.assertIn("colliders:\n", SPOUT)
        deck = self.deck(SPOUT.replace("colliders:\n", "colliders:" + WALLS))
        output = self.run_deck(deck, "out", "--until", 0.4, "--set", "time.frame_interval=0.1",
                               "--set", "output.grid=true", ranks=2)
        names = {index.name.removesuffix(".hdf.series") for index in (output / "frames").glob("*.hdf.series")}
        self.assertLessEqual({"sand", "collider_wheel", "grid"}, names)
        self.assertEqual(len(list((output / "frames").glob("sand_*.hdf"))), 5)
        seen = subprocess.run([OPEN_IN_PARAVIEW, output], capture_output=True, text=True, timeout=250)
        self.assertEqual(seen.returncode, 0, seen.stdout + seen.stderr)
        for name in names:
            self.assertIn(f"{name}.hdf.series", seen.stdout)
            self.assertIn(f"{name}.xmf", seen.stdout)


if __name__ == "__main__":
    unittest.main()
