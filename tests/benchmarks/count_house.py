#!/usr/bin/env python3
"""Counts what docs/architecture.md says of the size of rooms, as a Markdown table.

    tests/benchmarks/count_house.py [TREE [LATER]] [--functions] [--places] [--most 60]

TREE is a checkout [this one]; with LATER, another, a column for each. Lines of code are those of include/weft/<room> and
src/<room> without comments and blank lines, after clang-format-19 with the style of this checkout has formatted a copy.
--functions lists those of the upper rooms that have more than --most lines, from the first of their declaration to the
closing brace, comments included. Places are counted by patterns (PLACES below), which must follow when code gets new names;
--places lists what they find.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parents[2]
UPPER = "bodies", "coupling", "solve", "scene", "run"
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".cc"}

# Places that there should be one of, by room (None: any): each pattern finds one line a place, in code without comments.
PLACES = {
    "`dynamic_cast` in run": ("run", [r"\bdynamic_cast\b"]),
    "places that make an SNES": (None, [r"\bSNESCreate\("]),
    "places that solve for handles": (None, [
        r"\bHeldSums::solve\(",                       # of the explicit step: a few conjugate gradients
        r"\bunbalanced\(const PetscScalar\* multiplier|\bStaticProblem::find_unbalanced\(",  # of statics: Newton's unknowns
        r"\bSchurComplement::solve\(",                # of vertices, own freedoms and implicit steps: factors of W A W^T
    ]),
    # A loop over the bodies of a deck makes objects of them.
    "places that build bodies from a deck": ("scene", [r"= make_body\("]),
    # A loop of steps asks the schedule what is due after each.
    "run loops": ("run", [r"\bschedule_?\w*(\.|->)due\("]),
}

TOKEN = re.compile(r"""
    //[^\n]*                                   # comments
  | /\*.*?\*/
  | R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"   # texts and characters
  | "(?:\\.|[^"\\\n])*"
  | (?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'
""", re.X | re.S)


def bare(text):
    """Code without comments; texts are empty. Lines stay where they are."""
    def replaced(match):
        token = match.group()
        return ('""' if token[0] in "R\"'" else "") + "\n" * token.count("\n")
    return TOKEN.sub(replaced, text)


def code_lines(text):
    return sum(bool(line.strip()) for line in bare(text).splitlines())


Function = collections.namedtuple("Function", "name lines")
NOT_NAMES = {"requires", "decltype", "noexcept", "alignas", "explicit", "if", "for", "while", "switch", "catch", "return"}
SCOPE = re.compile(r"^(?:inline\s+)?namespace\b|\b(?:class|struct|union|enum|concept)\b[^()=]*$|^extern\s*\"\"$"
                   r"|^template\s*<[^()]*>\s*(?:class|struct|union)\b.*$", re.S)
BODY = re.compile(r"\)\s*(?:const|noexcept(?:\(.*\))?|override|final|mutable|&{1,2}|->\s*[\w:<>,*&\s\[\]()]+|requires.*)*$", re.S)


def name_of(head):
    """The function that a text before a brace declares, or None."""
    without_template = re.sub(r"^(?:template\s*<[^{]*?>\s*(?=[\w\[:~]))+", "", head)
    for match in re.finditer(r"(operator\s*(?:\(\)|[^\s\w(]+|\w+)|[\w:~]+(?:<[^<>()]*>)?)\s*\(", without_template):
        if match.group(1).split("<")[0] not in NOT_NAMES:
            return match.group(1)
    return "a lambda" if "[" in head else None


def functions(text):
    """Functions of a file, the outermost ones: name and lines from their first to their closing brace."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", bare(text), flags=re.M)
    line_at = lambda place: code.count("\n", 0, place) + 1
    found, scopes, head_start, function, parens = [], [], 0, None, 0
    for place, c in enumerate(code):
        if c in "([":
            parens += 1
        elif c in ")]":
            parens -= 1
        elif c == "{":
            head = code[head_start:place].strip()
            outer = all(kind == "scope" for kind in scopes)
            if outer and parens == 0 and SCOPE.search(head):
                scopes.append("scope")
                head_start = place + 1
            elif outer and parens == 0 and BODY.search(head) and not head.endswith("="):
                scopes.append("function")
                first = head_start + len(code[head_start:place]) - len(code[head_start:place].lstrip())
                function = name_of(head) or head.split()[-1], line_at(first)
            else:
                scopes.append("other")
        elif c == "}" and scopes:
            kind = scopes.pop()
            if kind == "function":
                found.append(Function(function[0], line_at(place) - function[1] + 1))
            if kind != "other":
                head_start = place + 1
        elif c == ";" and parens == 0 and all(kind == "scope" for kind in scopes):
            head_start = place + 1
        elif c == ":" and re.search(r"\b(?:public|private|protected)\s*$", code[head_start:place]):
            head_start = place + 1
    return found


class Tree:
    """The rooms of a checkout, formatted: {room: {file: text}}."""

    def __init__(self, root):
        self.rooms = collections.defaultdict(dict)
        with tempfile.TemporaryDirectory() as scratch:
            copy = pathlib.Path(scratch)
            (copy / ".clang-format").write_text((HERE / ".clang-format").read_text())
            files = []
            for base in root / "include" / "weft", root / "src":
                for file in sorted(path for path in base.rglob("*") if path.suffix in SUFFIXES):
                    room = file.relative_to(base).parts[0]
                    to = copy / file.relative_to(root)
                    to.parent.mkdir(parents=True, exist_ok=True)
                    to.write_text(file.read_text())
                    files.append((room, str(file.relative_to(root)), to))
            subprocess.run(["clang-format-19", "-i", *(str(to) for _, _, to in files)], check=True)
            for room, name, to in files:
                self.rooms[room][name] = to.read_text()

    def lines(self, room):
        return sum(map(code_lines, self.rooms.get(room, {}).values()))

    def long_functions(self, most):
        found = [(function.lines, function.name, name) for room in UPPER
                 for name, text in self.rooms.get(room, {}).items() for function in functions(text)]
        return sorted((one for one in found if one[0] > most), reverse=True)

    def places(self, room, patterns):
        """File and text of what patterns find."""
        files = self.rooms.get(room, {}) if room else {n: t for files in self.rooms.values() for n, t in files.items()}
        pattern = re.compile("|".join(f"(?:{p})" for p in patterns))
        return [(name, found.group()) for name, text in files.items() for found in pattern.finditer(bare(text))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", type=pathlib.Path, default=[HERE], metavar="TREE")
    parser.add_argument("--functions", action="store_true", help="list functions that are too long")
    parser.add_argument("--places", action="store_true", help="list what the patterns find")
    parser.add_argument("--most", type=int, default=60, help="lines of a function")
    options = parser.parse_args()
    if len(options.trees) > 2:
        parser.error("two trees at most")
    trees = [Tree(path.resolve()) for path in options.trees]

    def row(name, count, change=True):
        counts = [count(tree) for tree in trees]
        more = [f"{counts[1] - counts[0]:+d}"] if len(counts) == 2 else []
        print("| " + " | ".join([name, *map(str, counts), *more]) + " |")

    heads = ["count"] if len(trees) == 1 else ["before", "after", "change"]
    print("| | " + " | ".join(heads) + " |\n|---|" + "---:|" * len(heads))
    for room in sorted({room for tree in trees for room in tree.rooms if "." not in room}, key=lambda r: (r not in UPPER, r)):
        row(f"lines of `{room}`", lambda tree: tree.lines(room))
    row("**lines of " + ", ".join(UPPER) + "**", lambda tree: sum(map(tree.lines, UPPER)))
    row(f"functions of these over {options.most} lines", lambda tree: len(tree.long_functions(options.most)))
    for name, (room, patterns) in PLACES.items():
        row(name, lambda tree: len(tree.places(room, patterns)))
    if options.functions:
        for path, tree in zip(options.trees, trees):
            print(f"\n{path}: functions over {options.most} lines\n\n| function | file | lines |\n|---|---|---:|")
            for lines, name, file in tree.long_functions(options.most):
                print(f"| `{name}` | `{file}` | {lines} |")
    if options.places:
        for path, tree in zip(options.trees, trees):
            print(f"\n{path}: places\n\n| what | file | text |\n|---|---|---|")
            for name, (room, patterns) in PLACES.items():
                for file, text in tree.places(room, patterns):
                    print(f"| {name} | `{file}` | `{text}` |")


if __name__ == "__main__":
    main()
