#!/usr/bin/env python3
"""Proves that postproc/render.py shows what frames hold: it draws small made-up runs and counts coloured pixels."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "postproc"))
import packages  # noqa: E402

packages.need("numpy", "vtkmodules")
import numpy  # noqa: E402
from vtkmodules.util.numpy_support import vtk_to_numpy  # noqa: E402
from vtkmodules.vtkIOImage import vtkPNGReader  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
from made_frames import floor_mesh, lattice, particles, write_series  # noqa: E402

RENDER = pathlib.Path(__file__).resolve().parent.parent / "postproc" / "render.py"
DECK = """
title: Two cubes
domain: {gravity: [0, -9.81, 0]}
materials:
  water: {law: tait}
  goo: {law: herschel_bulkley}
bodies:
  - {name: left, material: water}
  - {name: right, material: goo}
"""


def render(*arguments):
    return subprocess.run([sys.executable, RENDER, *map(str, arguments)], capture_output=True, text=True, timeout=200)


def pixels(file):
    """Array (rows from the bottom, columns, red green blue) of 0 to 1."""
    reader = vtkPNGReader()
    reader.SetFileName(str(file))
    reader.Update()
    image = reader.GetOutput()
    width, height, _ = image.GetDimensions()
    return vtk_to_numpy(image.GetPointData().GetScalars()).reshape(height, width, -1)[..., :3] / 255


class Render(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """A blue cube on the left at rest and a green one on the right that rises; a floor, and a wall in front whose
        face is turned to the cubes."""
        cls.folder = tempfile.TemporaryDirectory()
        cls.output = pathlib.Path(cls.folder.name) / "a run"
        at = lambda x, y: particles(lattice([x, y, -0.1], [x + 0.2, y + 0.2, 0.1], 0.02), [0, 1, 0])
        write_series(cls.output, "left", [(t, *at(-0.3, 0)) for t in (0, 0.5, 1)])
        write_series(cls.output, "right", [(t, *at(0.1, t)) for t in (0, 0.5, 1)])
        points, cells = floor_mesh(2.0)
        write_series(cls.output, "collider_floor", [(0, points, cells, {})])
        write_series(cls.output, "collider_wall", [(0, points[:, [0, 2, 1]] + [0, 0, 0.5], cells, {})])
        (cls.output / "resolved.yaml").write_text(DECK)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def places(self, colours):
        """Where blue and green stand in a picture: mean (row, column) in 0 to 1, and their shares of all pixels."""
        red, green, blue = numpy.moveaxis(colours, -1, 0)
        marks = (blue > 1.5 * red) & (blue > 1.2 * green), (green > 1.4 * blue) & (green > 1.2 * red)
        for mark in marks:
            self.assertGreater(mark.mean(), 0.003, "a cube is not in the picture")
        return [numpy.argwhere(mark).mean(axis=0) / mark.shape for mark in marks]

    def test_the_last_frame_shows_each_body_in_its_place_and_colour(self):
        done = render(self.output, "--camera", "front", "--size", "640x480")
        self.assertEqual(done.returncode, 0, done.stderr)
        colours = pixels(self.output / "picture.png")
        self.assertEqual(colours.shape, (480, 640, 3))
        (blue_row, blue_column), (green_row, green_column) = self.places(colours)
        self.assertLess(blue_column + 0.1, green_column)
        self.assertLess(blue_row + 0.3, green_row, "the green cube has risen")

    def test_a_frame_by_number_and_another_file(self):
        file = pathlib.Path(self.folder.name) / "new" / "first.png"
        done = render(self.output, "--camera", "front", "--frame", "0", "--out", file, "--size", "640x480")
        self.assertEqual(done.returncode, 0, done.stderr)
        (blue_row, _), (green_row, _) = self.places(pixels(file))
        self.assertAlmostEqual(blue_row, green_row, delta=0.03)

    def test_only_what_is_named_is_drawn(self):
        file = pathlib.Path(self.folder.name) / "left.png"
        done = render(self.output, "--camera", "front", "--only", "left", "--out", file, "--size", "320x240")
        self.assertEqual(done.returncode, 0, done.stderr)
        red, green, blue = numpy.moveaxis(pixels(file), -1, 0)
        self.assertGreater(((blue > 1.5 * red) & (blue > 1.2 * green)).mean(), 0.02)
        self.assertEqual(((green > 1.4 * blue) & (green > 1.2 * red)).mean(), 0)
        done = render(self.output, "--only", "middle")
        self.assertEqual(done.returncode, 1)
        self.assertIn("collider_floor, collider_wall, left, right", done.stderr)

    def test_a_body_that_is_a_surface_is_drawn_in_its_colour_and_by_field(self):
        output = pathlib.Path(self.folder.name) / "sheet"
        points, cells = floor_mesh(1.0)
        write_series(output, "sheet", [(0, points, cells, {"heat": (numpy.zeros(4, "f4"), "K")})])
        plain, by_field = output / "plain.png", output / "field.png"
        for file, more in (plain, []), (by_field, ["--field", "heat", "--range", "0", "1"]):
            done = render(output, "--camera", "top", "--out", file, "--size", "320x240", *more)
            self.assertEqual(done.returncode, 0, done.stderr)
        red, green, blue = pixels(plain)[120, 160]  # the first elastic colour
        self.assertGreater(red, 1.5 * max(green, blue))
        red, green, blue = pixels(by_field)[120, 120]  # the low end of the colours: violet
        self.assertGreater(min(red, blue), 1.3 * green)

    def test_a_movie_has_every_frame(self):
        movie = pathlib.Path(self.folder.name) / "movie.mp4"
        done = render(self.output, "--field", "pressure", "--movie", movie, "--size", "321x241")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list((self.output / "pictures").glob("*.png"))), 3)
        if shutil.which("ffprobe"):
            count = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames",
                                    "-of", "csv=p=0", movie], capture_output=True, text=True).stdout.strip().strip(",")
            self.assertEqual(count, "3")

    def test_an_unknown_field_is_an_error_that_lists_the_known_ones(self):
        done = render(self.output, "--field", "presure")
        self.assertEqual(done.returncode, 1)
        self.assertIn("pressure, velocity", done.stderr)

    def test_a_frame_that_is_not_there_is_an_error(self):
        done = render(self.output, "--frame", "3")
        self.assertEqual(done.returncode, 1)
        self.assertIn("0 to 2", done.stderr)

    def test_a_folder_without_frames_is_an_error(self):
        done = render(pathlib.Path(self.folder.name))
        self.assertEqual(done.returncode, 1)
        self.assertIn("no frames", done.stderr)

    def test_a_body_that_starts_empty_is_drawn_once_it_is_there(self):
        output = pathlib.Path(self.folder.name) / "tap"
        empty, full = particles(numpy.zeros((0, 3)), [0, 0, 0]), particles(lattice([0] * 3, [0.2] * 3, 0.02), [0, 0, 0])
        write_series(output, "water", [(0, *empty), (1, *full)])
        self.assertEqual(render(output, "--frame", "all", "--size", "320x240").returncode, 0)
        self.assertEqual(len(list((output / "pictures").glob("*.png"))), 2)
        alone = render(output, "--frame", "0", "--size", "320x240")
        self.assertEqual(alone.returncode, 1)
        self.assertIn("no particles at t = 0", alone.stderr)


if __name__ == "__main__":
    unittest.main()
