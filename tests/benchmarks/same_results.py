#!/usr/bin/env python3
"""Says whether two builds of the program give the same results: every deck at a test size, on 1 and 3 ranks.

    tests/benchmarks/same_results.py OLD NEW [--only NAME ...] [--skip NAME ...] [--quick] [--jobs N]
                                     [--tolerance X] [--kept FOLDER]

OLD and NEW are programs `weft`. OLD runs each case twice. Where its two checkpoints are equal to the bit, that of NEW must
be, too. Static analyses, and cases that OLD does not repeat, run with solve.tolerance=1e-10 by both builds, and must agree
to 1e-8 of the largest number of each field. Exit code 0: all cases pass. See README.md beside this file.
"""
import argparse
import collections
import concurrent.futures
import csv
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "postproc"))
import packages  # noqa: E402

packages.need("h5py", "numpy")
import h5py  # noqa: E402
import numpy  # noqa: E402

DECKS = pathlib.Path(__file__).resolve().parents[2] / "decks"
RANKS = 1, 3
SOLVED = 1e-10   # solve.tolerance of cases that need not agree to the bit
AGREED = 1e-8    # and how far they may differ, relative to the largest number of the field
LIMIT = 900      # of one run [s]
# Columns of diagnostics.csv that say how the computer fared; all others are physics.
MACHINE = {"wall_seconds", "particle_steps_per_second", "imbalance", "memory_bytes"}

Case = collections.namedtuple("Case", "deck variant scheme steps settings quick")


def mesh(body, across, along):
    return f"bodies.{body}.mesh.across={across}", f"bodies.{body}.mesh.along={along}"


def explicit(steps, *settings, quick=False):
    return [("", "explicit", steps, settings, quick)]


def implicit(steps, *settings, quick=False):
    return [("", "implicit", steps, (*settings, "time.scheme=implicit"), quick)]


def static(*settings, quick=False):
    return [("", "static", None, settings, quick)]


def named(name, cases):
    """Of a deck with more than one case of a scheme."""
    return [(name, *case[1:]) for case in cases]


def handles(text):
    """In place of the deck's own; FULLY stands for a load that is there from the start."""
    return "handles=" + " ".join(text.replace("FULLY", "amplitude: [{time: 0, factor: 1}]").split())


CURTAIN = "domain.dx=0.04", *mesh("curtain", 25, 25), "colliders.ball.shape.sphere.center=[0.5, 0.35, -0.22]", \
    "colliders.ball.motion.keyframes=[{time: 0}, {time: 0.5, translate: [0, 0, 0.6]}]"
CURTAIN_LOADS = handles("""[
    {name: rod, body: curtain, where: {box: {lower: [-1, 0.99, -1], upper: [2, 2, 1]}}, hold: {until: 0.1}},
    {name: hem, body: curtain, where: {box: {lower: [-1, -1, -1], upper: [2, 0.01, 1]}}, hold: {axes: [y]}},
    {name: wind, body: curtain, pressure: {value: 2, FULLY}},
    {name: tug, body: curtain, vertices: [12],
     force: {total: [0.1, 0, 0.2], amplitude: [{time: 0, factor: 0}, {time: 0.2, factor: 1}]}}]""")
FOIL = "domain.dx=0.02", *mesh("foil", 12, 12), "colliders.rod.shape.capsule.from=[0.02, 0.02, 0.025]", \
    "colliders.rod.motion.keyframes=[{time: 0}, {time: 0.05, translate: [0, 0, -0.02]}]"
FOIL_LOADS = handles("""[
    {name: left, body: foil, where: {plane: {point: [-0.119, 0, 0], normal: [1, 0, 0]}}, hold: {keep: clamp}},
    {name: lift, body: foil, traction: {per_area: [0, 0, 20], FULLY}},
    {name: weight, body: foil, gravity: {acceleration: [0, 3, 0], FULLY}},
    {name: blow, body: foil, where: {sphere: {center: [0, 0, 0], radius: 0.06}}, pressure: {value: 30, FULLY}},
    {name: bend, body: foil, where: {plane: {point: [0.119, 0, 0], normal: [-1, 0, 0]}}, edge_moment: {per_length: 0.01, FULLY}},
    {name: pull, body: foil, where: {plane: {point: [0.119, 0, 0], normal: [-1, 0, 0]}},
     edge_force: {per_length: [2, 0, 1], FULLY}}]""")
CAUGHT = "domain.dx=0.04", *mesh("cloth", 20, 20), "time.max_dt=4 ms", "bodies.sand.velocity=[0, -1, 0]"
SLUSH = "domain.dx=0.02", *mesh("cup", 16, 6), "bodies.slush.velocity=[0, 0, -2]"
SHEET = "domain.dx=0.1", *mesh("sheet", 7, 7)
TOWER = "domain.dx=0.1",

# Each deck's cases: steps, and settings that make it small and let bodies meet soon.
SIZES = {
    "afloat": explicit(100, "domain.dx=0.05", "bodies.hard.velocity=[0, 0, -5]", "bodies.soft.velocity=[0, 0, -5]"),
    "bunnies": explicit(100, "domain.dx=0.04", "sources.on_left.velocity=[0, 0, -8]"),
    "clamped_strip": implicit(4, "domain.dx=0.1", *mesh("strip", 8, 2), quick=True),
    "cloth_ball": explicit(200, "domain.dx=0.04", *mesh("cloth", 25, 25), "bodies.cloth.mesh.translate=[-0.5, 0.27, -0.5]"),
    "cloth_bear": explicit(100, "sources.spout.velocity=[0, 0, -5]"),
    "cloth_curtain": explicit(200, *CURTAIN) + named("loaded", explicit(200, *CURTAIN, CURTAIN_LOADS, quick=True))
                     + named("loaded", implicit(3, *CURTAIN, CURTAIN_LOADS, "time.max_dt=4 ms")),
    "cloth_sand": explicit(200, "domain.dx=0.04", *mesh("cloth", 20, 20), quick=True)
                  + implicit(3, *CAUGHT) + named("multigrid", implicit(3, *CAUGHT, "solve.preconditioner=multigrid")),
    "cloth_slime": explicit(200, "domain.dx=0.05", *mesh("bag", 24, 9)),
    "cloth_twister": explicit(200, "domain.dx=0.04", *mesh("cloth", 25, 25)),
    "cup_of_slush": explicit(200, *SLUSH) + implicit(4, *SLUSH, "time.max_dt=2 ms"),
    "curtain_goo": explicit(200, "domain.dx=0.04", *mesh("curtain", 20, 20)),
    "curtain_sand": explicit(200, "domain.dx=0.04", *mesh("curtain", 20, 20)),
    "dam_break": explicit(200, "domain.dx=0.009525"),
    "dented_foil": explicit(200, *FOIL) + named("loaded", explicit(150, *FOIL, FOIL_LOADS, quick=True))
                   + named("loaded", implicit(3, *FOIL, FOIL_LOADS, "time.max_dt=1 ms")),
    "dented_strip": static("time.end=1", "loading.steps=6", "bodies.strip.laminae=2"),
    "diving_boards": explicit(200, "domain.dx=0.02", *mesh("board_1", 8, 4), *mesh("board_2", 8, 4), *mesh("ball_1", 12, 6),
                              *mesh("ball_2", 12, 6)),
    "fabric_curtain": explicit(200, "domain.dx=0.06", *mesh("curtain", 10, 10),
                               "colliders.ball.shape.sphere.center=[0.3, 0.2, 0.12]"),
    "fabric_twister": explicit(200, "domain.dx=0.04", *mesh("sleeve", 20, 10)),
    "goo_wheel": explicit(200, "domain.dx=0.03", "sources.spout.velocity=[0, -2, 0]", quick=True),
    "hair_tubes": explicit(200, "domain.dx=0.04", *(f"bodies.{name}.curves.hair_tube.strands=40" for name in ("lower", "upper")))
                  + implicit(3, "domain.dx=0.04", *(f"bodies.{name}.curves.hair_tube.strands=20" for name in ("lower", "upper")),
                             "time.max_dt=4 ms", "bodies.upper.velocity=[0, -10, 0]"),
    "hanging_cable": static(quick=True),
    "hanging_sheet": implicit(4, *SHEET, quick=True) + explicit(200, *SHEET, "time.scheme=explicit", quick=True)
                     + named("quasi-static", implicit(2, *SHEET, "solve.inertia=false")),
    "hinged_roof": static("loading.max_steps=9"),
    "hung_towel": static(*mesh("towel", 10, 8), "loading.steps=3", quick=True),
    "inflated_sheet": static(*mesh("sheet", 12, 12), "loading.steps=4"),
    "jellies": explicit(200, "domain.dx=0.04", quick=True)
               + named("cubic", explicit(200, "domain.dx=0.05", "transfer.kernel=cubic"))
               + named("linear", explicit(200, "domain.dx=0.05", "transfer.kernel=linear"))
               + implicit(5, "domain.dx=0.04", "time.max_dt=0.02", quick=True)
               + named("multigrid", implicit(3, "domain.dx=0.04", "time.max_dt=0.02", "solve.preconditioner=multigrid")),
    "knit_anisotropy": explicit(200, "handles.right.hold.until=10 ms"),
    "knit_curtain": explicit(200, "colliders.ball.shape.sphere.center=[0.16, 0.13, -0.07]",
                             "colliders.ball.motion.keyframes=[{time: 0}, {time: 0.1, translate: [0, 0, 0.05]}]"),
    "knit_poncho": explicit(50, "colliders.shoulders.shape.capsule.radius=0.1"),
    "knit_sweater": explicit(50, "colliders.ball.shape.sphere.radius=0.165"),
    "knit_twister": explicit(100, quick=True),
    "metal_dent": explicit(200, "domain.dx=3 mm"),
    "pants_twister": explicit(100),
    "plastic_twister": explicit(100, "handles.above_1.hold.until=15 ms"),
    "pinwheel_cabinet": explicit(60, "domain.dx=0.05", "sources.left_spout.velocity=[0, 0, -8]"),
    "playing_cards": explicit(100),
    "pressed_dome": static("loading.max_steps=3"),
    "quickstart": explicit(200, "domain.dx=0.04") + implicit(4, "domain.dx=0.04", "time.max_dt=5 ms"),
    "ribbons_fixed": explicit(100),
    "ribbons_free": explicit(100),
    "rolled_strip": static("loading.steps=5", *mesh("strip", 12, 1)),
    "round_plate": static("loading.steps=2"),
    "rubber_bridge": explicit(200, "domain.dx=0.04", "bodies.bridge.mesh.size=0.1", quick=True),
    "sand_column": explicit(200, "domain.dx=0.025", quick=True) + implicit(4, "domain.dx=0.04", "time.max_dt=5 ms"),
    "sand_on_jelly": explicit(200, "domain.dx=0.06", quick=True),
    "sand_wheel": explicit(200, "domain.dx=0.06", quick=True),
    "scordelis_lo": static(*mesh("roof", 8, 8), quick=True),
    "shag_carpet": explicit(100, "domain.dx=0.02"),
    "shirt_twister": explicit(100),
    "six_cylinders": explicit(200, "domain.dx=0.02"),
    "sleeves": explicit(100, "domain.dx=0.025", *(word for i in range(1, 5) for word in mesh(f"sleeve_{i}", 25, 8))),
    "skin_and_shirt": explicit(60, "domain.dx=0.02"),
    "slit_annulus": static("loading.steps=4", *mesh("ring", 2, 16)),
    "snowball": explicit(200, "domain.dx=0.04"),
    "stiff_banner": implicit(4, "domain.dx=0.08", *mesh("banner", 10, 10))
                    + named("in the loop", implicit(2, "domain.dx=0.08", *mesh("banner", 10, 10), "solve.plasticity=in_loop")),
    "chimes": explicit(30, quick=True),
    "stiff_plough": explicit(20, "domain.dx=0.05"),
    "stiff_tower": implicit(4, *TOWER, quick=True)
                   + named("direct", implicit(4, *TOWER, "solve.preconditioner=direct"))
                   + named("minimise", implicit(4, *TOWER, "solve.solver=minimise")),
    "hair_ball": explicit(60),
    "squashed_ring": explicit(100),
    "strand_ball": explicit(60, quick=True),
    "strand_braiding": explicit(60),
    "strand_braids": explicit(60),
    "strand_dancer": explicit(60),
    "strand_head": explicit(60),
    "strand_pair": explicit(100),
    "strand_snow": explicit(60, "bodies.snow.shape.sphere.center=[0.85, 0, 0.1]"),
    "strand_tubes": explicit(60, "bodies.upper.curves.translate=[0, -1, 0.41]"),
    "strand_drape": explicit(100, "bodies.bundle.curves.translate=[-0.4, 0, 0.08]", quick=True),
    "strand_bundle": explicit(60, quick=True),
    "strand_elastica": static("loading.steps=20", quick=True),
    "tearing_fibers": explicit(200, "domain.dx=0.025"),
    "threads_elastic": explicit(200),
    "threads_full": explicit(200),
    "threads_lagrangian": explicit(200),
    "threads_standard": explicit(200),
    "three_jellies": explicit(100, "domain.dx=0.06", "sources.on_soft.velocity=[0, 0, -8]"),
    "three_curtains": explicit(200, "domain.dx=0.04", *(word for name in ("first", "second", "third") for word in mesh(name, 20, 20)),
                               "colliders.ball.shape.sphere.center=[0.4, 0.3, -0.17]",
                               "colliders.ball.motion.keyframes=[{time: 0}, {time: 0.3, translate: [0, 0, 0.3]}]"),
    "walk_cycle": explicit(100),
    "walking_mannequins": explicit(60, "domain.dx=0.1"),
    "wall_breaker": explicit(60, "domain.dx=0.1"),
    "wrung_jelly": explicit(200, "domain.dx=0.08", quick=True) + implicit(4, "domain.dx=0.08", "time.max_dt=0.01"),
}


def cases_of(deck):
    return [Case(deck, variant, scheme, steps, tuple(settings), quick)
            for variant, scheme, steps, settings, quick in SIZES[deck]]


class Failed(Exception):
    """A run that did not end as it should."""


class Builds:
    """Runs cases with two builds. What OLD gives is taken from the folder `kept`, if it is there."""

    def __init__(self, old, new, scratch, kept):
        self.programs = {"OLD": pathlib.Path(old).resolve(), "NEW": pathlib.Path(new).resolve()}
        self.scratch, self.kept = scratch, kept
        self.running, self.stopped = set(), False
        digest = hashlib.sha256(self.programs["OLD"].read_bytes())
        for file in sorted(DECKS.iterdir()):
            if file.suffix not in (".yaml", ".py"):  # what decks read
                digest.update(file.read_bytes())
        self.old_digest = digest.hexdigest()

    def folder(self, build, words, deck):
        """Of a run, and whether it stays."""
        name = hashlib.sha256("\n".join(words).encode() + deck.read_bytes() + self.old_digest.encode()).hexdigest()[:24]
        if build == "OLD" and self.kept:
            return self.kept / name, True
        return pathlib.Path(tempfile.mkdtemp(dir=self.scratch)) / name, False

    def run(self, build, case, ranks, settings, turn):
        """The folder with state.h5 and the table of a run."""
        deck = DECKS / f"{case.deck}.yaml"
        words = [word for setting in settings for word in ("--set", setting)]
        words += ["--steps", str(case.steps)] if case.steps else []
        result, stays = self.folder(build, [*words, str(ranks), str(turn)], deck)
        if stays and result.is_dir():
            return result
        output = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        launcher = ["mpiexec", "-n", str(ranks)] if ranks > 1 else []
        command = [*launcher, str(self.programs[build]), "run", str(deck), "-o", str(output / "out"), *words]
        code, errors = self.ended(command, build)
        if code != 0:
            raise Failed(f"{build} ended with code {code}{' (' + errors[0] + ')' if errors else ''}")
        keep_results(output / "out", result)
        shutil.rmtree(output)
        return result

    def ended(self, command, build):
        """Exit code and errors of a command."""
        if self.stopped:
            raise Failed("not run")
        process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.running.add(process)
        try:
            _, text = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.communicate()
            raise Failed(f"{build} took more than {LIMIT} s") from None
        finally:
            self.running.discard(process)
        return process.returncode, [line for line in text.splitlines() if line.startswith("error: ")]

    def stop(self, *_):
        """Ends what runs; further cases are not run. For signals."""
        self.stopped = True
        for process in list(self.running):
            process.terminate()


def environment():
    return os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_mpi_yield_when_idle": "1", "HWLOC_COMPONENTS": "-gl", "OMP_NUM_THREADS": "1"}


def keep_results(output, result):
    """Moves the newest checkpoint's numbers and the table of a run into a folder, which appears whole."""
    checkpoints = sorted(p for p in (output / "checkpoints").glob("step_*") if not p.name.endswith(".tmp"))
    if not checkpoints:
        raise Failed("there is no checkpoint")
    unfinished = result.with_name(result.name + ".tmp")
    unfinished.mkdir(parents=True)
    shutil.move(checkpoints[-1] / "state.h5", unfinished)
    for name in "diagnostics.csv", "load_displacement.csv":
        if (output / name).exists():
            shutil.move(output / name, unfinished)
    unfinished.rename(result)


# Of two runs: the largest relative difference of any field, where it is, and notes on what cannot be compared.
Difference = collections.namedtuple("Difference", "largest where notes")


def rows_by_id(table):
    """Rows of a table in the order of ids, or as they lie where it has none."""
    ids = table["id"][()] if "id" in table else numpy.arange(len(next(iter(table.values()))))
    order = numpy.argsort(ids, kind="stable")
    return ids[order], order


def field_difference(a, b):
    """Largest difference of two arrays relative to their largest finite number. Equal infinities and two NaN are equal."""
    if a.dtype == b.dtype and a.tobytes() == b.tobytes():
        return 0.0
    a, b = a.astype(float), b.astype(float)
    same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
    if same.all():
        return 0.0
    finite = numpy.isfinite(a) & numpy.isfinite(b)
    if not (same | finite).all():
        return numpy.inf
    size = max(numpy.abs(a[finite]).max(), numpy.abs(b[finite]).max())
    return numpy.abs(a[finite] - b[finite]).max() / size


def in_both(a, b, what, notes):
    """Names in both; notes those in one only."""
    notes += [f"only OLD has {what}{name}" for name in sorted(set(a) - set(b))]
    notes += [f"only NEW has {what}{name}" for name in sorted(set(b) - set(a))]
    return sorted(set(a) & set(b))


def table_differences(name, a, b, notes):
    """Yields (difference, field) of a table of two checkpoints."""
    fields = in_both(a, b, f"{name}/", notes)
    if not fields:
        return
    (ids_a, order_a), (ids_b, order_b) = rows_by_id(a), rows_by_id(b)
    if not numpy.array_equal(ids_a, ids_b):
        lone = len(numpy.setxor1d(ids_a, ids_b))
        yield numpy.inf, f"{name}: {lone} ids are in one of the checkpoints only"
        return
    for field in fields:
        x, y = a[field][()][order_a], b[field][()][order_b]
        if x.shape != y.shape:
            notes.append(f"{name}/{field} has another shape in NEW")
        else:
            yield field_difference(x, y), f"{name}/{field}"


def state_difference(a, b):
    """Of two folders with state.h5: fields that both have, rows in the order of ids."""
    notes = []
    with h5py.File(a / "state.h5", "r") as old, h5py.File(b / "state.h5", "r") as new:
        found = [(abs(old.attrs["time"] - new.attrs["time"]) / max(abs(old.attrs["time"]), 1e-300), "time")]
        if old.attrs["step"] != new.attrs["step"]:
            found.append((numpy.inf, f"step {old.attrs['step']} of OLD, {new.attrs['step']} of NEW"))
        else:
            for name in in_both(old["tables"], new["tables"], "", notes):
                found += table_differences(name, old["tables"][name], new["tables"][name], notes)
    if len(found) < 2:
        found.append((numpy.inf, "the checkpoints have no field in common"))
    return Difference(*max(found, key=lambda one: one[0]), notes)


def physics(folder):
    """The table of a run as columns of texts by name, without what depends on the machine."""
    files = [folder / name for name in ("diagnostics.csv", "load_displacement.csv") if (folder / name).exists()]
    if not files:
        return {}
    with open(files[0], newline="") as file:
        head, *rows = csv.reader(file)
    columns = {column.split(" [")[0]: [row[i] for row in rows] for i, column in enumerate(head)}
    return {name: column for name, column in columns.items() if name not in MACHINE}


def difference(a, b):
    """Of two runs that should be equal to the bit: their checkpoints, then their tables."""
    found = state_difference(a, b)
    if found.largest > 0:
        return found
    a, b = physics(a), physics(b)
    for column in in_both(a, b, "the column ", found.notes):
        if a[column] != b[column]:
            return Difference(numpy.inf, f"column {column} of the table", found.notes)
    return found


Verdict = collections.namedtuple("Verdict", "passed text notes unrepeated")


def said(found, what="differs"):
    return f"{what} by {found.largest:.2g}: {found.where}" if numpy.isfinite(found.largest) else f"{what}: {found.where}"


def to_the_bit(builds, case, ranks, settings, tolerance):
    """The verdict where OLD gives equal bits twice, else what differs between its two runs."""
    first, again = (builds.run("OLD", case, ranks, settings, turn) for turn in (1, 2))
    repeated = difference(first, again)
    if repeated.largest > 0:
        return repeated
    new = builds.run("NEW", case, ranks, settings, 1)
    found = difference(first, new)
    if found.largest == 0:
        return Verdict(True, "bits equal", found.notes, "")
    within = state_difference(first, new)
    if within.largest <= tolerance:
        return Verdict(True, f"equal within {within.largest:.2g} ({within.where})", found.notes, "")
    return Verdict(False, said(found), found.notes, "")


def to_the_solve(builds, case, ranks, settings, unrepeated):
    """The verdict of what solves leave open: both builds solve exactly."""
    settings = [*settings, f"solve.tolerance={SOLVED}"]
    old, new = (builds.run(build, case, ranks, settings, 1) for build in ("OLD", "NEW"))
    found = state_difference(old, new)
    if found.largest > AGREED:
        return Verdict(False, said(found), found.notes, unrepeated)
    text = f"equal within {found.largest:.2g} ({found.where})" if found.largest > 0 else "bits equal"
    return Verdict(True, text, found.notes, unrepeated)


def judge(builds, case, ranks, tolerance):
    settings = list(case.settings)
    if ranks > 1 and case.scheme != "static":  # dealt out anew now and then
        settings += [f"balance.every={max(1, case.steps // 10)}", "balance.threshold=1.01"]
    try:
        if case.scheme == "static":
            return to_the_solve(builds, case, ranks, settings, "")
        found = to_the_bit(builds, case, ranks, settings, tolerance)
        if isinstance(found, Verdict):
            return found
        return to_the_solve(builds, case, ranks, settings, said(found, "OLD run twice differs"))
    except Failed as failure:
        return Verdict(False, str(failure), [], "")


def chosen(options):
    """The cases that are asked for; refuses what is unknown."""
    decks = {path.stem for path in DECKS.glob("*.yaml")}
    unknown = [f"decks/{name}.yaml has no size in {__file__}: add it to SIZES" for name in sorted(decks - SIZES.keys())]
    unknown += [f"there is no decks/{name}.yaml, which SIZES lists" for name in sorted(SIZES.keys() - decks)]
    unknown += [f"there is no deck {name}" for name in {*options.only, *options.skip} - decks]
    if unknown:
        sys.exit("\n".join(unknown))
    cases = [case for deck in sorted(decks - set(options.skip)) for case in cases_of(deck)]
    return [case for case in cases
            if (not options.only or case.deck in options.only) and (not options.quick or case.quick)]


def sweep(builds, cases, options):
    """Judges all cases, prints a line for each and returns the verdicts. Several ranks get all cores to themselves."""
    verdicts = []
    for ranks in RANKS:
        workers = max(1, options.jobs * 2 // (ranks + 1))
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            def timed(case):
                start = time.monotonic()
                return judge(builds, case, ranks, options.tolerance), time.monotonic() - start
            for case, (verdict, seconds) in zip(cases, pool.map(timed, cases)):
                verdicts.append(verdict)
                name = f"{case.deck} {case.variant}".strip()
                more = "; ".join([text for text in (verdict.unrepeated, *verdict.notes) if text])
                print(f"{name:<32} {case.scheme:<9} {ranks}  {'' if verdict.passed else 'FAIL '}{verdict.text}"
                      f"{'; ' + more if more else ''}  [{seconds:.0f} s]", flush=True)
    return verdicts


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD", help="a program weft")
    parser.add_argument("new", metavar="NEW", help="another")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="decks [all]")
    parser.add_argument("--skip", nargs="+", default=[], metavar="NAME", help="decks that OLD does not know")
    parser.add_argument("--quick", action="store_true", help="a few decks of every kind")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="runs at a time [cores]")
    parser.add_argument("--tolerance", type=float, default=0, metavar="X",
                        help="relative difference to pass where additions changed their order [0]")
    parser.add_argument("--kept", type=pathlib.Path, metavar="FOLDER", help="keep results of OLD for the next time")
    return parser.parse_args(arguments)


def main():
    options = parsed(sys.argv[1:])
    cases = chosen(options)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="weft_same_") as scratch:
        builds = Builds(options.old, options.new, scratch, options.kept)
        for number in signal.SIGINT, signal.SIGTERM:
            signal.signal(number, builds.stop)
        verdicts = sweep(builds, cases, options)
    failed = sum(not verdict.passed for verdict in verdicts)
    to_the_bit_count = sum(verdict.text == "bits equal" for verdict in verdicts)
    print(f"{len(verdicts)} cases in {time.monotonic() - start:.0f} s: {to_the_bit_count} equal to the bit, "
          f"{len(verdicts) - to_the_bit_count - failed} within bounds, {failed} failed; "
          f"{sum(bool(verdict.unrepeated) for verdict in verdicts)} that OLD does not repeat")
    sys.exit(1 if failed or not verdicts else 0)


if __name__ == "__main__":
    main()
