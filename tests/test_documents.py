#!/usr/bin/env python3
"""Proves that what is written agrees with the program: tests/test_documents.py WEFT."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "postproc"))
import packages  # noqa: E402

packages.need("jsonschema", "yaml")
import jsonschema  # noqa: E402
import yaml  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
DECKS = sorted((ROOT / "decks").glob("*.yaml"))
WEFT = sys.argv.pop(1) if len(sys.argv) > 1 else "weft"


def weft(*arguments):
    return subprocess.run([WEFT, *arguments], capture_output=True, text=True, check=True).stdout


class Documents(unittest.TestCase):
    def test_the_deck_reference_is_what_the_program_prints(self):
        self.assertTrue(weft("reference") == (ROOT / "docs" / "deck_reference.md").read_text(),
                        "stale: weft reference > docs/deck_reference.md")

    def test_the_schema_is_what_the_program_prints(self):
        self.assertTrue(weft("schema") == (ROOT / "docs" / "deck.schema.json").read_text(),
                        "stale: weft schema > docs/deck.schema.json")

    def test_every_deck_satisfies_the_schema(self):
        schema = json.loads((ROOT / "docs" / "deck.schema.json").read_text())
        for deck in DECKS:
            with self.subTest(deck.name):
                jsonschema.Draft7Validator(schema).validate(yaml.safe_load(deck.read_text()))

    def test_the_schema_refuses_a_misspelt_key(self):
        schema = json.loads((ROOT / "docs" / "deck.schema.json").read_text())
        deck = yaml.safe_load(DECKS[0].read_text())
        deck["domain"]["gravitee"] = deck["domain"].pop("gravity")
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.Draft7Validator(schema).validate(deck)

    def test_every_deck_names_its_schema_and_stands_in_the_list(self):
        listed = (ROOT / "docs" / "getting_started.md").read_text()
        for deck in DECKS:
            with self.subTest(deck.name):
                first = deck.read_text().splitlines()[0]
                self.assertEqual(first, "# yaml-language-server: $schema=../docs/deck.schema.json")
                self.assertIn(f"`{deck.name}`", listed)

    def test_the_deck_in_getting_started_is_a_deck(self):
        text = (ROOT / "docs" / "getting_started.md").read_text()
        lines = re.search(r"^    weft: 1\n(    .*\n)+", text, re.M).group()
        deck = yaml.safe_load("".join(line[4:] for line in lines.splitlines(keepends=True)))
        schema = json.loads((ROOT / "docs" / "deck.schema.json").read_text())
        jsonschema.Draft7Validator(schema).validate(deck)

    def test_every_link_leads_somewhere(self):
        for page in [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]:
            for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
                if not target.startswith("http"):
                    with self.subTest(f"{page.name}: {target}"):
                        self.assertTrue((page.parent / target).exists())


if __name__ == "__main__":
    unittest.main()
