#!/usr/bin/env python3
"""Compares the code with the table of rooms in docs/architecture.md, so that the picture cannot rot.

    tests/check_includes.py [ROOT]

Checks every #include of include/ and src/, the libraries that only one room may use, the arrows of
src/CMakeLists.txt, that headers in include/ are those that other rooms need, that rooms use what they may, and that
steps read settings, not the deck. Prints file:line for each breach and exits 1 if there is one.
"""
import pathlib
import re
import sys

ALWAYS = {"base", "math"}

# What marks the use of a library: a pattern for the included header, and one for identifiers (None: headers suffice).
LIBRARIES = {
    "Eigen": (r"Eigen/|unsupported/Eigen/", None),
    "yaml-cpp": (r"yaml-cpp/", r"\bYAML::"),
    "OpenVDB": (r"openvdb/|tbb/", r"\bopenvdb::"),
    "OpenSubdiv": (r"opensubdiv/", r"\bOpenSubdiv::"),
    "HDF5": (r"hdf5", r"\bH5[A-Z]{1,2}[a-z]\w*\s*\("),
    "CLI11": (r"CLI/", r"\bCLI::"),
    "MPI": (r"mpi\.h", r"\bMPI_[A-Z][a-z]\w*\s*\("),
    "PETSc": (r"petsc", r"\bPetsc\w*\s*\("),
}


def read_table(text):
    """Returns {room: (rooms it may include, libraries it may use)} from the Markdown table of rooms."""
    rooms = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 4 and re.fullmatch(r"`[a-z]+`", cells[0]):
            names = lambda cell: {name.strip() for name in cell.split(",")} - {"", "-"}
            rooms[cells[0].strip("`")] = (names(cells[2]), names(cells[3]))
    for room, (allowed, _) in rooms.items():
        if "all" in allowed:
            allowed.remove("all")
            allowed |= rooms.keys() - {room}
        allowed |= (ALWAYS if room not in ALWAYS else set()) | {room}
    return rooms


def check_table(rooms, where):
    """Yields what is wrong with the table itself: unknown names and cycles."""
    if not rooms:
        yield f"{where}: found no table of rooms"
    for room, (allowed, libraries) in rooms.items():
        for name in sorted(allowed - rooms.keys()):
            yield f"{where}: room `{room}` may include `{name}`, which is no room"
        for name in sorted(libraries - LIBRARIES.keys()):
            yield f"{where}: room `{room}` is the place of {name}, which tests/check_includes.py does not know"
    finished, open_rooms = set(), []

    def visit(room):
        if room in open_rooms:
            yield f"{where}: the rooms {' -> '.join(open_rooms[open_rooms.index(room):] + [room])} form a cycle"
        elif room not in finished:
            open_rooms.append(room)
            for other in sorted(rooms[room][0] & rooms.keys() - {room}):
                yield from visit(other)
            open_rooms.pop()
            finished.add(room)

    for room in sorted(rooms):
        yield from visit(room)


def without_comments(text):
    """The code with comments and the insides of strings blanked (includes kept), line numbers unchanged."""
    tokens = re.compile(r'//[^\n]*|/\*.*?\*/|(?P<keep>^[ \t]*#[ \t]*include[^\n]*)|"(?:\\.|[^"\\\n])*"', re.S | re.M)

    def blank(match):
        return match.group() if match.group("keep") else re.sub(r"[^\n]", " ", match.group())

    return tokens.sub(blank, text)


def check_file(path, name, room, rooms):
    allowed, own_libraries = rooms[room]
    library_of_room = {library for _, libraries in rooms.values() for library in libraries} - own_libraries
    for number, line in enumerate(without_comments(path.read_text()).splitlines(), 1):
        place = f"{name}:{number}"
        include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if include:
            bracket, header = include.groups()
            parts = header.removeprefix("weft/").split("/")
            target = parts[0] if header.startswith("weft/") or bracket == '"' and len(parts) > 1 else room
            if bracket == '"' and target not in rooms:
                yield f"{place}: includes {header}, which belongs to no room of the table"
            elif bracket == '"' and target not in allowed:
                yield f"{place}: room `{room}` may not include room `{target}` ({header})"
            for library in sorted(library_of_room):
                # Types of MPI stand in the headers of `parallel`, so only calls count against other rooms.
                if bracket == "<" and library != "MPI" and re.match(LIBRARIES[library][0], header):
                    yield f"{place}: room `{room}` may not include {library} ({header})"
            continue
        for library in sorted(library_of_room):
            pattern = LIBRARIES[library][1]
            found = pattern and re.search(pattern, line)
            if found:
                yield f"{place}: room `{room}` may not use {library} ({found.group().rstrip('( ')})"


def check_arrows(text, name, rooms):
    """Yields arrows of weft_room(... ROOMS ...) that the table does not allow."""
    for number, line in enumerate(text.splitlines(), 1):
        call = re.match(r"weft_room\((\w+)(.*)\)", line)
        if not call:
            continue
        room = call.group(1)
        linked = re.search(r"\bROOMS((?: +[a-z]\w*)*)", call.group(2))
        if room not in rooms:
            yield f"{name}:{number}: room `{room}` is not in the table"
            continue
        for other in (linked.group(1).split() if linked else []):
            if other not in rooms[room][0]:
                yield f"{name}:{number}: room `{room}` may not link room `{other}`"


def check_public(root):
    """Yields headers of include/ that are private: no other room includes them, nor does a public header."""
    users = {path.relative_to(root / "include").as_posix(): [] for path in (root / "include" / "weft").rglob("*.hpp")}
    for top in (root / "include" / "weft", root / "src"):
        for path in sorted(top.rglob("*")):
            if path.suffix not in {".hpp", ".cpp"}:
                continue
            room = path.relative_to(top).parts[0]
            header = path.relative_to(root / "include").as_posix() if top.parent.name == "include" else None
            text = without_comments(path.read_text())
            for _, name in re.findall(r'^\s*#\s*include\s*(["<])(weft/[^">]+)', text, re.M):
                users.get(name, []).append((room, header))
    public, found = set(), True
    while found:
        found = {name for name in users.keys() - public
                 if any(room != name.split("/")[1] or header in public for room, header in users[name])}
        public |= found
    for name in sorted(users.keys() - public):
        _, room, rest = name.split("/", 2)
        yield f"include/{name}:1: no other room needs this header, so it belongs to src/{room}/{rest}"


def includes_of(text):
    """What code includes by quotes, as room/header."""
    return [name.removeprefix("weft/") for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M)]


def check_unused(root, rooms):
    """Yields what a room may include by name, and does not."""
    used = {room: set(ALWAYS) for room in rooms}
    for top in (root / "include" / "weft", root / "src"):
        for path in sorted(top.rglob("*.[hc]pp")):
            room = path.relative_to(top).parts[0]
            used.get(room, set()).update(name.split("/")[0] for name in includes_of(without_comments(path.read_text())))
    for room, (allowed, _) in rooms.items():
        if allowed == rooms.keys():
            continue  # all
        for other in sorted(allowed - used[room] - {room}):
            yield f"docs/architecture.md: room `{room}` may include room `{other}`, and does not"


def check_steps(root):
    """Yields where stages of a step, or headers of their room that they include, know the deck."""
    stages = root / "src" / "run" / "stages"
    seen, left = set(), sorted(stages.glob("*.[hc]pp"))
    while left:
        path = left.pop()
        if path in seen:
            continue
        seen.add(path)
        text = without_comments(path.read_text())
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(text.splitlines(), 1):
            if found := re.search(r"\b[A-Z]\w*Deck\b|[.>]deck\b|weft/deck/", line):
                yield f"{name}:{number}: steps read the settings that `scene` makes, not the deck ({found.group()})"
        near = [root / "src" / header for header in includes_of(text) if header.startswith("run/")]
        left += [file for header in near for file in (header, header.with_suffix(".cpp")) if file.exists()]


def breaches(root):
    table = root / "docs" / "architecture.md"
    rooms = read_table(table.read_text())
    found = list(check_table(rooms, "docs/architecture.md"))
    for top in (root / "include" / "weft", root / "src"):
        for path in sorted(top.rglob("*")):
            if path.suffix not in {".hpp", ".cpp", ".h", ".c", ".inl", ".cu", ".cuh"}:
                continue
            name, room = path.relative_to(root).as_posix(), path.relative_to(top).parts[0]
            if path.stem == "common_headers":
                continue  # what is precompiled for all rooms
            if room not in rooms:
                found.append(f"{name}:1: lies in `{room}`, which is not a room of docs/architecture.md")
            else:
                found += check_file(path, name, room, rooms)
    found += check_public(root)
    found += check_steps(root)
    cmake = root / "src" / "CMakeLists.txt"
    if cmake.exists():
        found += check_arrows(cmake.read_text(), "src/CMakeLists.txt", rooms)
    return found


if __name__ == "__main__":
    here = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    wrong = breaches(here)
    wrong += check_unused(here, read_table((here / "docs" / "architecture.md").read_text()))
    print("\n".join(wrong) if wrong else "Every include is one that docs/architecture.md allows.")
    sys.exit(1 if wrong else 0)
