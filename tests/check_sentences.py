#!/usr/bin/env python3
"""Checks that the sentences of docs/ are short, and begin with what they are about.

    tests/check_sentences.py [ROOT]

A sentence has at most 25 words and does not begin with what, that or which. Code counts as one word, numbers and
symbols of one letter as none. Tables, headings, code blocks and the generated reference of the deck do not count.
Prints file:line for each breach.
"""
import pathlib
import re
import sys

MOST_WORDS = 25
NOT_FIRST = {"what", "that", "which"}
GENERATED = {"deck_reference.md"}

# Within a sentence: pieces that are one word each, and what ends none.
ONE_WORD = re.compile(r"`[^`]*`|\$[^$]*\$|\b(?:e\.g|i\.e|cf|eq|vs|et al)\.")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
END = re.compile(r"(?<=[.!?])[\"')*_]*\s+(?=[\"'(*_\[]*[A-Z0-9])")
WORD = re.compile(r"(?<![\w^])(?:a\b|[^\W\d_]{2}[\w'’./-]*|[^\W\d_]['’-]\w+)", re.I)
ITEM = re.compile(r"\s*(?:[-*+]|\d+\.)\s+")


def paragraphs(text):
    """(line, text) of prose: paragraphs, and items of lists."""
    text = re.sub(r"^```.*?^```", lambda match: re.sub(r"[^\n]", "", match.group()), text, flags=re.S | re.M)
    first, lines, in_code = 0, [], False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        item = ITEM.match(line)
        # An indented line after a blank one is code, unless it goes on with an item.
        in_code = (in_code or not lines) and line.startswith("    ") and not item
        is_prose = bool(line.strip()) and not in_code and not re.match(r"\s*(?:\||#|\$\$|<|:::|---)", line)
        if lines and (item or not is_prose):
            yield first, " ".join(lines)
            lines = []
        if is_prose:
            first = first if lines else number
            lines.append(line[item.end():] if item else line.strip())


def sentences(text):
    """(line, sentence) of a page."""
    for number, paragraph in paragraphs(text):
        paragraph = LINK.sub(r"\1", paragraph)
        for sentence in END.split(ONE_WORD.sub("Code", paragraph)):
            yield number, sentence


def breaches(root):
    for page in sorted((root / "docs").rglob("*.md")):
        if page.name in GENERATED:
            continue
        name = page.relative_to(root).as_posix()
        for number, sentence in sentences(page.read_text()):
            words = WORD.findall(sentence)
            if len(words) > MOST_WORDS:
                yield f"{name}:{number}: {len(words)} words, {MOST_WORDS} at most: {sentence}"
            if words and words[0].lower() in NOT_FIRST:
                yield f"{name}:{number}: begins with \"{words[0]}\": {sentence}"


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1]
    found = list(breaches(root))
    print("\n".join(found) if found else "All sentences of docs/ are short.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
