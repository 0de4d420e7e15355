#!/usr/bin/env python3
"""Checks that every type, concept and alias of namespace weft has one header.

    tests/check_names.py [ROOT]

Two types of one name in two headers break the rule of one definition in silence: each file compiles, and the linker
picks either. Names inside of classes and functions, and in namespaces without a name, are their own affair.
"""
import collections
import pathlib
import re
import sys

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
HEAD = re.compile(
    r"(?:^|[;{}>\s])(?:struct|class|union|enum(?:\s+class|\s+struct)?|concept)\s+(?:alignas\([^)]*\)\s*)?(\w+)[^;{}()=<]*$"
)
ALIAS = re.compile(r"(?:^|\s)using\s+(\w+)\s*=|(?:^|\s)concept\s+(\w+)\s*=")
NAMESPACE = re.compile(r"\bnamespace\s*([\w:]*)\s*$")


def definitions(text):
    """(namespace, name) of what a header defines outside of classes and functions."""
    code = TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    scopes, head = [], ""
    for c in code:
        if c not in "{};":
            head += c
            continue
        if c == "}":
            if scopes:
                scopes.pop()
        elif all(scope is not None for scope in scopes):
            space = NAMESPACE.search(head)
            found = None if space else (c == "{" and HEAD.search(head)) or ALIAS.search(head)
            if found and "" not in scopes:
                yield "::".join(scopes), next(group for group in found.groups() if group)
            if c == "{":
                scopes.append(space.group(1) if space else None)
        elif c == "{":
            scopes.append(None)
        head = ""


def doubles(root):
    """A message for each name that two headers define."""
    places = collections.defaultdict(set)
    for top in (root / "include" / "weft", root / "src"):
        for header in sorted(top.rglob("*.hpp")):
            for space, name in definitions(header.read_text()):
                places[f"{space}::{name}"].add(header.relative_to(root).as_posix())
    for name, headers in sorted(places.items()):
        if len(headers) > 1:
            yield f"{name} is defined in {' and in '.join(sorted(headers))}. Give one of them another name."


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1]
    found = list(doubles(root))
    print("\n".join(found) if found else "No two headers define one name.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
