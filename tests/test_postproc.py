#!/usr/bin/env python3
"""Proves that the scripts of postproc/ that need no ParaView read, plot and compare runs as they are:
tests/test_postproc.py WEFT."""
import pathlib
import subprocess
import sys
import unittest

sys.path += [str(pathlib.Path(__file__).parent / "end_to_end"), str(pathlib.Path(__file__).parents[1] / "postproc")]
from program import JELLIES, TORN, Case, history  # noqa: E402
import crossings  # noqa: E402
import numpy  # noqa: E402
import weft_read  # noqa: E402

POSTPROC = pathlib.Path(__file__).resolve().parents[1] / "postproc"


def script(name, *arguments):
    return subprocess.run([sys.executable, POSTPROC / name, *map(str, arguments)], capture_output=True, text=True,
                          timeout=100)


class Crossings(unittest.TestCase):
    # A sheet of two triangles in the plane z = 0, and one that stands across it or above it.
    sheet = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]

    def crossed(self, other):
        points = numpy.array(self.sheet + other, float)
        return crossings.crossed_triangles(points, numpy.array([[0, 1, 2], [0, 2, 3], [4, 5, 6]])).tolist()

    def test_triangles_that_an_edge_goes_through_are_counted_once_each(self):
        self.assertEqual(self.crossed([[0.6, 0.2, 0.5], [0.7, 0.3, -0.5], [0.8, 0.2, 0.5]]), [0])
        self.assertEqual(self.crossed([[0.7, 0.2, 0.5], [0.2, 0.7, 0.5], [0.45, 0.4, -0.5]]), [0, 1, 2])
        self.assertEqual(self.crossed([[0.6, 0.2, 0.5], [0.7, 0.3, 0.1], [0.8, 0.2, 0.5]]), [])

    def test_neighbours_that_share_a_point_do_not_cross(self):
        fold = numpy.array(self.sheet, float)
        fold[3] = [0.9, 0.1, 1e-3]  # nearly folded back on the other
        self.assertEqual(crossings.crossed_triangles(fold, numpy.array([[0, 1, 2], [0, 2, 3]])).tolist(), [])


class Passing(unittest.TestCase):
    # A segment along x moves up through or past one along y, which moves as well.
    def passed(self, way, other=(0, 0, 0)):
        before = numpy.array([[-1, 0.2, -1], [1, 0.2, -1], [0.1, -1, 0], [0.1, 1, 0]], float)
        after = before + numpy.array([way, way, other, other], float)
        return crossings.passed_segments(before, after, numpy.array([[0, 1], [2, 3]])).tolist()

    def test_segments_that_go_through_each_other_are_counted(self):
        self.assertEqual(self.passed([0, 0, 2]), [0, 1])
        self.assertEqual(self.passed([0, 0, -2], [0, 0, -4]), [0, 1])

    def test_segments_that_miss_each_other_are_not(self):
        self.assertEqual(self.passed([0, 0, 0.9]), [])
        self.assertEqual(self.passed([0, 0, 2], [0, 0, 2]), [])
        self.assertEqual(self.passed([0, 3, 2]), [])  # beside its end when it is as high

    def test_parallel_segments_that_move_alike_but_for_rounding_do_not(self):
        random = numpy.random.default_rng(1)
        x = numpy.repeat(random.uniform(size=(40, 3)), 2, axis=0)
        x[1::2, 2] += 0.5
        after = (x + [0, -0.1, 0]).astype(numpy.float32).astype(float)
        self.assertEqual(crossings.passed_segments(x, after, numpy.arange(80).reshape(40, 2)).tolist(), [])

    def test_at_rest_none_goes_through_another(self):
        x = numpy.array([[-1, 0.2, -1], [1, 0.2, -1], [0.1, -1, 0], [0.1, 1, 0]], float)
        self.assertEqual(crossings.passed_segments(x, x, numpy.array([[0, 1], [2, 3]])).tolist(), [])


class Postproc(Case):
    def setUp(self):
        super().setUp()
        self.output = self.run_jellies("out")
        self.read = weft_read.Run(self.output)

    def run_jellies(self, output, *more):
        return self.run_deck(self.deck(JELLIES), output, "--until", 0.03, "--set", "time.frame_interval=0.01", "--set",
                             "output.diagnostics_every=1", *more)

    def test_arrays_of_frames_checkpoints_and_diagnostics_agree(self):
        run = self.read
        self.assertEqual(run.names, ["collider_floor", "left", "right"])
        self.assertEqual(run.status["state"], "finished")
        numpy.testing.assert_allclose(run.times("left"), [0, 0.01, 0.02, 0.03], rtol=1e-12)
        state, last = run.checkpoint(), run.frame("left", -1)
        self.assertEqual((state.step, state.time), (last.step, last.time))
        self.assertEqual(state.names, ["left", "right"])
        self.assertIn("title: \"Two jellies meet over a floor\"", state.deck)
        left = state["left"]
        of_id = dict(zip(left["id"].tolist(), left["position"]))
        there = numpy.array([of_id[number] for number in last["id"].tolist()])
        numpy.testing.assert_allclose(last.points, there, rtol=1e-6)
        self.assertEqual(last["velocity"].shape, (len(last.points), 3))
        self.assertEqual((last.kind, last.unit("velocity"), last.cells.shape), ("vertex", "m/s", (len(last.points), 1)))
        momentum = sum((body["mass"][:, None] * body["velocity"]).sum(axis=0) for body in (left, state["right"]))
        for axis, value in zip("xyz", momentum):
            self.assertAlmostEqual(run.diagnostics[f"momentum_{axis}"][-1], value, delta=1e-9)
        self.assertEqual(run.units["momentum_x"], "kg m/s")
        self.assertEqual(len(run.diagnostics["step"]), len(history(self.output)))

    def test_matrices_of_checkpoints_are_not_transposed(self):
        # At the start the left jelly only spins: the velocity gradient is that of v = w x r, whose matrix is skew.
        begun = self.run_deck(self.deck(JELLIES), "begun", "--steps", 1, "--set", "time.max_dt=1e-9")
        gradient = weft_read.Run(begun).checkpoint()["left"]["velocity_gradient"]
        self.assertEqual(gradient.shape[1:], (3, 3))
        inner = numpy.median(gradient, axis=0)
        numpy.testing.assert_allclose(inner, [[0, -3, 2], [3, 0, -1], [-2, 1, 0]], atol=1e-3)

    def test_what_stands_still_is_found_at_every_time(self):
        floor = self.read.frame_at("collider_floor", 0.02)
        self.assertEqual((floor.time, floor.kind, floor.cells.shape[1]), (0, "triangle", 3))
        self.assertIsNone(self.read.frame_at("left", -1))
        self.assertEqual(self.read.frame_at("left", 0.019999).time, self.read.times("left")[1])

    def test_what_is_not_there_is_named(self):
        for what, word in ((lambda: self.read.frame("middle", 0), "left, right"),
                           (lambda: self.read.frame("left", 0)["heat"], "velocity"),
                           (lambda: self.read.checkpoint(7), "no checkpoint 7")):
            with self.assertRaisesRegex(KeyError, word):
                what()
        with self.assertRaisesRegex(FileNotFoundError, "frames"):
            weft_read.Run(self.folder)

    def test_plots_of_one_run_and_of_two(self):
        done = script("plot.py", self.output)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater((self.output / "plot.png").stat().st_size, 10000)
        file = self.folder / "both.svg"
        done = script("plot.py", self.output, self.output, "momentum_x", "momentum_y", "corner", "--out", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("<svg", file.read_text())
        done = script("plot.py", self.output, "momentum_w")
        self.assertEqual(done.returncode, 1)
        self.assertIn("momentum_x", done.stderr)
        self.assertIn("corner [Pa]", script("plot.py", self.output, "--list").stdout)

    def test_equal_runs_compare_equal_and_different_ones_do_not(self):
        same = script("compare.py", self.output, self.output, "--tolerance", 0)
        self.assertEqual((same.returncode, same.stdout), (0, "largest relative difference: 0\n"), same.stderr)
        other = self.run_jellies("other", "--set", "time.cfl=0.15", "--set", "time.max_dt=1e-3")
        done = script("compare.py", self.output, other, "--tolerance", 1e-9)
        self.assertEqual(done.returncode, 1)
        self.assertIn("left at t = 0.03 s: position", done.stdout)
        self.assertEqual(script("compare.py", self.output, other, "--tolerance", 2).returncode, 0)

    def test_sheets_and_fibers_are_compared_cell_by_cell_whichever_rank_wrote_them(self):
        # Long enough for the sheet to be pressed by more than round-off.
        deck, how = self.deck(TORN), ("--until", 0.06, "--set", "time.frame_interval=0.06")
        one, two, other = (self.run_deck(deck, name, *how, "--set", f"time.max_dt={dt}", ranks=ranks)
                           for name, ranks, dt in (("one", 1, 1e-3), ("two", 2, 1e-3), ("other", 2, 5e-4)))
        same = script("compare.py", one, two, "--tolerance", 1e-9)
        self.assertEqual(same.returncode, 0, same.stdout + same.stderr)
        done = script("compare.py", one, other, "--tolerance", 1e-9)
        for name in "sheet", "ropes":
            self.assertRegex(done.stdout, f"{name} at t = .*: pressure: ")


if __name__ == "__main__":
    unittest.main()
