#!/usr/bin/env python3
"""Proves that tests/benchmarks/same_results.py tells equal results from others, and knows a size for every deck."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "postproc"))
import packages  # noqa: E402

packages.need("h5py", "numpy")
import h5py  # noqa: E402
import numpy  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "benchmarks"))
import same_results  # noqa: E402

IDS = numpy.array([4, 1, 9], numpy.uint64)
X = numpy.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 10]])


class Comparison(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def state(self, name, step=5, time=0.25, table="wall_seconds [s],force_x [N]\n1,0.5\n", **fields):
        """A folder with what is kept of a run of one body."""
        folder = self.folder / name
        folder.mkdir()
        with h5py.File(folder / "state.h5", "w") as file:
            file.attrs["step"], file.attrs["time"] = step, time
            for field, values in {"id": IDS, "position": X, **fields}.items():
                file[f"tables/body/{field}"] = values
        (folder / "diagnostics.csv").write_text(table)
        return folder

    def test_rows_are_compared_by_id(self):
        order = [2, 0, 1]
        found = same_results.difference(self.state("a"), self.state("b", id=IDS[order], position=X[order]))
        self.assertEqual(found.largest, 0)
        self.assertEqual(found.notes, [])

    def test_the_largest_difference_is_relative_to_the_largest_number(self):
        moved = X.copy()
        moved[0, 1] += 0.5
        found = same_results.state_difference(self.state("a"), self.state("b", position=moved))
        self.assertEqual(found.largest, 0.05)
        self.assertEqual(found.where, "body/position")

    def test_what_is_not_finite_is_equal_to_its_like_only(self):
        odd = X.copy()
        odd[0, 0], odd[1, 1] = numpy.nan, numpy.inf
        self.assertEqual(same_results.field_difference(odd, odd.copy() + 0), 0)
        self.assertEqual(same_results.field_difference(odd, X), numpy.inf)
        self.assertEqual(same_results.field_difference(numpy.array([0.0]), numpy.array([-0.0])), 0)

    def test_other_ids_steps_and_times_are_differences(self):
        a = self.state("a")
        for name, changed in ("ids", {"id": IDS + 1}), ("step", {"step": 6}), ("time", {"time": 0.2500000001}):
            self.assertGreater(same_results.state_difference(a, self.state(name, **changed)).largest, 0, name)

    def test_fields_that_one_checkpoint_has_are_named_and_fail_nothing(self):
        found = same_results.difference(self.state("a", old=X), self.state("b", new=X))
        self.assertEqual(found.largest, 0)
        self.assertEqual(found.notes, ["only OLD has body/old", "only NEW has body/new"])

    def test_tables_are_compared_but_for_what_depends_on_the_machine(self):
        a = self.state("a")
        slower = self.state("b", table="wall_seconds [s],force_x [N]\n2,0.5\n")
        self.assertEqual(same_results.difference(a, slower).largest, 0)
        stronger = self.state("c", table="wall_seconds [s],force_x [N]\n1,0.6\n")
        self.assertEqual(same_results.difference(a, stronger).where, "column force_x of the table")


class Sizes(unittest.TestCase):
    def test_every_deck_has_a_size(self):
        options = same_results.parsed(["old", "new"])
        cases = same_results.chosen(options)
        self.assertEqual({case.deck for case in cases}, {path.stem for path in same_results.DECKS.glob("*.yaml")})
        quick = same_results.chosen(same_results.parsed(["old", "new", "--quick"]))
        self.assertEqual({case.scheme for case in quick}, {"explicit", "implicit", "static"})

    def test_names_of_no_deck_are_refused(self):
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            same_results.chosen(same_results.parsed(["old", "new", "--only", "nothing"]))


if __name__ == "__main__":
    unittest.main()
