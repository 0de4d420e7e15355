#!/usr/bin/env python3
"""Proves that tests/check_sentences.py sees what it is there to see, on small pages."""
import pathlib
import tempfile
import unittest

import check_sentences

WORDS = " ".join(["word"] * 24)


class CheckSentences(unittest.TestCase):
    def breaches(self, text, name="page.md"):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            page = root / "docs" / "theory" / name
            page.parent.mkdir(parents=True)
            page.write_text(text)
            return list(check_sentences.breaches(root))

    def test_a_sentence_that_is_too_long_is_named_with_its_line(self):
        self.assertEqual(self.breaches(f"# Title\n\nA {WORDS}.\n"), [])
        found = self.breaches(f"# Title\n\nShort one.\n\nA {WORDS} more. The next.\n")
        self.assertEqual(found, [f"docs/theory/page.md:5: 26 words, 25 at most: A {WORDS} more."])

    def test_sentences_end_at_full_stops_alone(self):
        for mark, count in ((";", 1), (":", 1), (",", 1), (".", 0), ("!", 0), ("?**", 0)):
            with self.subTest(mark):
                self.assertEqual(len(self.breaches(f"A {WORDS}{mark} One more\nword.\n")), count)

    def test_sentences_do_not_begin_with_a_pronoun_for_something(self):
        for first in ("What", "That", "Which"):
            with self.subTest(first):
                self.assertEqual(self.breaches(f"It is so. {first} it is.\n"),
                                 [f'docs/theory/page.md:1: begins with "{first}": {first} it is.'])
        self.assertEqual(self.breaches("It is what that is, which is so.\n"), [])

    def test_lists_are_read_item_by_item(self):
        self.assertEqual(self.breaches(f"- A {WORDS}\n- more words\n  of it\n"), [])
        self.assertEqual(len(self.breaches(f"- A {WORDS}\n  more words\n")), 1)

    def test_code_tables_headings_and_numbers_do_not_count(self):
        for text in (f"```\nA {WORDS} more\n```\n", f"| A {WORDS} more |\n", f"# A {WORDS} more\n",
                     f"Text.\n\n    A {WORDS} more\n", f"A {WORDS} `in code of some words`.\n".replace("word ", "", 1),
                     f"A {WORDS} 1 2.5 3e-4.\n", f"A {WORDS} = x.\n"):
            with self.subTest(text):
                self.assertEqual(self.breaches(text), [])

    def test_the_generated_reference_does_not_count(self):
        self.assertEqual(self.breaches(f"A {WORDS} more.\n", "deck_reference.md"), [])


if __name__ == "__main__":
    unittest.main()
