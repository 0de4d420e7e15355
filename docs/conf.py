"""How Sphinx makes the site from the Markdown pages:  sphinx-build -c docs . build/site  and open build/site/index.html.

The source folder is the repository, so that links to pages of verification cases are links within the site.
"""
import pathlib

project = "Weft"
author = "the Weft developers"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["docs/*.md", "docs/theory/*.md", "tests/verification/*/README.md", "tests/benchmarks/*.md",
                    "CHANGELOG.md"]
exclude_patterns = ["build*", "out"]
myst_heading_anchors = 4  # links to headings are checked
nitpicky = True
html_theme = "furo"
html_title = "Weft"
html_theme_options = {"light_css_variables": {"code-font-size": "72%"}}  # a hundred columns fit
html_copy_source = False
html_show_copyright = False
pygments_style = "friendly"


def add_front_door(app, problem):
    """The first page lies in docs/; index.html of the site leads there."""
    if problem is None and app.builder.name == "html":
        page = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=docs/index.html">\n'
        (pathlib.Path(app.outdir) / "index.html").write_text(page)


def setup(app):
    app.connect("build-finished", add_front_door)
