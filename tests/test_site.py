#!/usr/bin/env python3
"""Proves that the pages build into a site without a warning, that every link and picture in it is there, and that it
needs nothing from the net."""
import html.parser
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Page(html.parser.HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    def __init__(self, file):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(file.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.anchors.add(attributes["id"])
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        elif tag in ("link", "script", "img"):
            self.loads += [attributes[key] for key in ("href", "src") if attributes.get(key)]


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="weft_site_")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name) / "site"
        cls.build = subprocess.run(["sphinx-build", "-q", "-W", "--keep-going", "-c", "docs", ".", cls.folder], cwd=ROOT,
                                   capture_output=True, text=True)
        cls.pages = {file: Page(file) for file in cls.folder.rglob("*.html")}

    def test_it_builds_without_a_warning_and_holds_every_page(self):
        self.assertEqual(self.build.returncode, 0, self.build.stderr)
        for page in (ROOT / "docs").rglob("*.md"):
            self.assertIn(self.folder / page.relative_to(ROOT).with_suffix(".html"), self.pages)

    def test_every_link_leads_to_a_page_and_a_place_on_it(self):
        count = 0
        for file, page in self.pages.items():
            for link in page.links:
                parts = urllib.parse.urlsplit(link)
                if parts.scheme:
                    continue
                with self.subTest(page=file.name, link=link):
                    target = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
                    self.assertTrue(target.exists())
                    if parts.fragment and target in self.pages:
                        self.assertIn(urllib.parse.unquote(parts.fragment), self.pages[target].anchors | {""})
                    count += 1
        self.assertGreater(count, 100)

    def test_everything_that_a_page_loads_lies_beside_it(self):
        for file, page in self.pages.items():
            for load in page.loads:
                with self.subTest(page=file.name, load=load):
                    parts = urllib.parse.urlsplit(load)
                    self.assertFalse(parts.scheme or parts.netloc)
                    self.assertTrue((file.parent / urllib.parse.unquote(parts.path)).exists())

    def test_every_deck_has_a_picture_in_the_gallery(self):
        loads = self.pages[self.folder / "docs" / "gallery.html"].loads
        shown = {pathlib.Path(load).stem for load in loads}
        self.assertLessEqual({deck.stem for deck in (ROOT / "decks").glob("*.yaml")}, shown)


if __name__ == "__main__":
    if not shutil.which("sphinx-build"):
        sys.exit("sphinx-build is missing: jobs/install-packages.sh installs it.")
    unittest.main()
