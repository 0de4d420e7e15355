#!/usr/bin/env python3
"""Proves that tests/check_includes.py sees what it is there to see, on small trees with one fault each."""
import pathlib
import tempfile
import unittest

import check_includes

TABLE = """
| room | what lives there | may include | the only place of |
| --- | --- | --- | --- |
| `base` | types | - | Eigen |
| `math` | numbers | base | Eigen |
| `deck` | decks | - | yaml-cpp |
| `fields` | tables | - | |
| `parallel` | ranks | fields | MPI, PETSc |
| `output` | files | fields, parallel | HDF5 |
| `app` | commands | all | CLI11 |
"""


class CheckIncludes(unittest.TestCase):
    def breaches(self, files, table=TABLE):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"docs/architecture.md": table, **files}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_includes.breaches(root)

    def only_breach(self, files, table=TABLE):
        found = self.breaches(files, table)
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.breaches({
            "include/weft/output/frame.hpp": '#pragma once\n#include "weft/parallel/comm.hpp"\n#include <vector>\n',
            "src/output/frame.cpp": '#include "weft/output/frame.hpp"\n#include "output/frame_kernel.hpp"\n'
                                    '#include <hdf5.h>\nvoid f() { H5Fclose(f); }\n',
            "src/parallel/comm.cpp": "#include <petscsf.h>\nvoid g() { MPI_Barrier(c); PetscSFCreate(c, &s); }\n",
            "src/app/main.cpp": '#include "weft/deck/deck.hpp"\n#include "weft/output/frame.hpp"\n'
                                '#include <CLI/CLI.hpp>\n',
            "src/CMakeLists.txt": "weft_room(base)\nweft_room(output ROOMS fields parallel LIBRARIES hdf5::hdf5)\n",
        }), [])

    def test_an_include_against_the_arrows_is_named_with_its_line(self):
        self.assertIn("include/weft/fields/a.hpp:2: room `fields` may not include room `parallel`",
                      self.only_breach({"include/weft/fields/a.hpp": '// first\n#include "weft/parallel/comm.hpp"\n',
                                        "src/app/main.cpp": '#include "weft/fields/a.hpp"\n'}))

    def test_a_kernel_header_of_another_room_is_seen(self):
        self.assertIn("src/fields/a.cpp:1", self.only_breach({"src/fields/a.cpp": '#include "output/a_kernel.hpp"\n'}))

    def test_a_folder_that_is_no_room_is_seen(self):
        self.assertIn("`util`", self.only_breach({"src/util/a.cpp": "int a;\n"}))

    def test_each_library_is_kept_to_its_room(self):
        for text in ("#include <yaml-cpp/yaml.h>", "#include <hdf5.h>", "#include <Eigen/Dense>",
                     "#include <CLI/CLI.hpp>", "#include <petscsf.h>", "int n = MPI_Comm_rank(c, &r);", "H5Fopen(a);",
                     "YAML::Node n;"):
            with self.subTest(text):
                self.assertIn("src/fields/a.cpp:1", self.only_breach({"src/fields/a.cpp": text + "\n"}))

    def test_comments_and_strings_are_not_code(self):
        self.assertEqual(self.breaches({
            "src/fields/a.cpp": '// MPI_Barrier(c)\n/* #include "weft/output/a.hpp"\n H5Fopen(x) */\n'
                                'const char* s = "MPI_Barrier(c)";\nMPI_Comm handle;\n'}), [])

    def test_a_link_arrow_that_the_table_forbids_is_seen(self):
        self.assertIn("src/CMakeLists.txt:1: room `fields` may not link room `output`",
                      self.only_breach({"src/CMakeLists.txt": "weft_room(fields ROOMS base output)\n"}))

    def test_a_header_that_only_its_room_needs_is_private(self):
        self.assertIn("include/weft/output/frame.hpp:1: no other room needs this header, "
                      "so it belongs to src/output/frame.hpp",
                      self.only_breach({"include/weft/output/frame.hpp": "#pragma once\n",
                                        "src/output/frame.cpp": '#include "weft/output/frame.hpp"\n'}))

    def test_a_header_is_public_if_a_public_one_includes_it(self):
        needed = {"include/weft/output/frame.hpp": '#pragma once\n#include "weft/output/rows.hpp"\n',
                  "include/weft/output/rows.hpp": "#pragma once\n"}
        self.assertEqual(self.breaches({**needed, "src/app/main.cpp": '#include "weft/output/frame.hpp"\n'}), [])
        self.assertEqual(len(self.breaches(needed)), 2)

    def test_a_permission_that_a_room_does_not_use_is_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            code = root / "src" / "output" / "frame.cpp"
            code.parent.mkdir(parents=True)
            rooms = check_includes.read_table(TABLE)
            unused = lambda: [line for line in check_includes.check_unused(root, rooms) if "room `output`" in line]
            code.write_text('#include "weft/fields/table.hpp"\n// #include "weft/parallel/comm.hpp"\n')
            self.assertEqual(
                unused(), ["docs/architecture.md: room `output` may include room `parallel`, and does not"])
            code.write_text('#include "weft/fields/table.hpp"\n#include "weft/parallel/comm.hpp"\n')
            self.assertEqual(unused(), [])
            self.assertFalse([line for line in check_includes.check_unused(root, rooms) if "`app`" in line])

    def test_a_stage_that_reads_the_deck_is_seen_and_what_it_includes(self):
        table = TABLE.replace("| `app`", "| `run` | steps | deck | |\n| `app`")
        stage = {"src/run/stages/edit.cpp": '#include "run/motion.hpp"\n'}
        for text in ("const StageDeck& stage;", "f(scene.deck.bodies);", '#include "weft/deck/deck.hpp"'):
            with self.subTest(text):
                self.assertIn("src/run/stages/edit.cpp:1: steps read the settings",
                              self.only_breach({"src/run/stages/edit.cpp": text + "\n"}, table))
                included = {**stage, "src/run/motion.hpp": "\n", "src/run/motion.cpp": "\n" + text + "\n"}
                self.assertIn("src/run/motion.cpp:2: steps read the settings", self.only_breach(included, table))
                self.assertEqual(self.breaches({**stage, "src/run/session.cpp": text + "\n"}, table), [])

    def test_a_cycle_in_the_table_is_seen(self):
        table = TABLE.replace("| `fields` | tables | - | |", "| `fields` | tables | output | |")
        self.assertTrue(any("form a cycle" in line for line in self.breaches({}, table)))

    def test_a_page_without_a_table_is_an_error(self):
        self.assertIn("found no table of rooms", self.only_breach({}, "# Architecture\n"))


if __name__ == "__main__":
    unittest.main()
