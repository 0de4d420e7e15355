#!/usr/bin/env python3
"""Proves that tests/check_names.py sees what it is there to see, on small trees."""
import pathlib
import tempfile
import unittest

import check_names


class CheckNames(unittest.TestCase):
    def doubles(self, one, other):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"include/weft/math/one.hpp": one, "src/motion/other.hpp": other}.items():
                path = root / name
                path.parent.mkdir(parents=True)
                path.write_text(f"namespace weft {{\n{text}\n}}  // namespace weft\n")
            return list(check_names.doubles(root))

    def test_one_type_in_two_headers_is_found(self):
        found = self.doubles("struct Linear { int nodes; };", "/// Keeps.\nclass Linear final : public Kept {\n};")
        self.assertEqual(found, ["weft::Linear is defined in include/weft/math/one.hpp and in src/motion/other.hpp. "
                                 "Give one of them another name."])

    def test_templates_enums_aliases_and_concepts_count(self):
        for one in ("template <class T>\nstruct A {};", "enum class A : int { x };", "using A = int;",
                    "template <class T>\nconcept A = requires(T t) { t.x(); };"):
            self.assertEqual(len(self.doubles(one, "struct A {};")), 1, one)

    def test_declarations_members_and_other_namespaces_do_not_count(self):
        for one in ("struct A;", "struct B { struct A {}; };", "namespace of_b { struct A {}; }",
                    "inline void f() { struct A {}; }", "// struct A {};", 'constexpr auto a = "struct A {";'):
            self.assertEqual(self.doubles(one, "struct A {};"), [], one)


if __name__ == "__main__":
    unittest.main()
