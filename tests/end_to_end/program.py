"""Runs the program weft as a user does, and reads what it leaves; shared by the end-to-end tests."""
import csv
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "postproc"))
import packages  # noqa: E402

packages.need("h5py", "numpy", "yaml")  # of what is imported after this

WEFT = str(pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else "weft")
FULL = "--full" in sys.argv and sys.argv.remove("--full") is None  # sizes for hours of trust, not for every change

# Columns of diagnostics.csv that say how the computer fared; all others are physics.
MACHINE_COLUMNS = {"wall_seconds", "particle_steps_per_second", "imbalance", "memory_bytes"}

# Two jellies of different laws, one spinning, meet above a floor: no contact is grazing and nothing breaks, so
# rounding differences stay rounding differences.
JELLIES = """
weft: 1
title: Two jellies meet over a floor
domain: {dx: 0.05, gravity: [0, -9.81, 0]}
time: {end: 2, frame_interval: 0.25}
materials:
  soft: {law: fixed_corotated, density: 1000, youngs_modulus: 2e4, poisson_ratio: 0.3}
  firm: {law: neo_hookean, density: 1000, youngs_modulus: 4e4, poisson_ratio: 0.3}
bodies:
  - name: left
    kind: continuum
    material: soft
    shape: {box: {lower: [-0.3, 0.02, -0.12], upper: [-0.05, 0.27, 0.13]}}
    velocity: [1, 0, 0]
    spin: [1, 2, 3]
  - name: right
    kind: continuum
    material: firm
    shape: {sphere: {center: [0.25, 0.2, 0.03], radius: 0.14}}
    velocity: [-1, 0, 0]
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, condition: separate, friction: 0.4}
probes:
  - {name: centre, body: left, centre_of_mass: {}}
  - {name: corner, body: left, nearest: {point: [-0.3, 0.02, -0.12], field: pressure}}
"""

# A sheet of cloth, held at one corner, falls over a ball, and a jelly on the cloth.
CLOTH = """
weft: 1
title: Cloth over a ball
domain: {dx: 0.05, gravity: [0, -9.81, 0]}
time: {end: 2, frame_interval: 0.1}
materials:
  cotton:
    law: sheet
    density: 400
    youngs_modulus: 2e4
    poisson_ratio: 0.3
    contact: {stiffness: 2e4, shear_stiffness: 4e3, friction: 0.3}
  soft: {law: fixed_corotated, density: 300, youngs_modulus: 1e4, poisson_ratio: 0.3}
bodies:
  - name: cloth
    kind: membrane
    material: cotton
    thickness: 5 mm
    mesh: {rectangle: {width: 0.8, height: 0.7}, across: 16, along: 14, rotate: {axis: [1, 0, 0], angle: 90},
           translate: [-0.4, 0.26, -0.36]}
    velocity: [0, -1, 0]
  - name: jelly
    kind: continuum
    material: soft
    shape: {sphere: {center: [0.05, 0.4, 0.03], radius: 0.1}}
    velocity: [0, -2, 0]
handles:
  - {name: corner, body: cloth, where: {sphere: {center: [0.4, 0.26, 0.34], radius: 0.12}}, hold: {}}
colliders:
  - {name: ball, shape: {sphere: {center: [0, 0, 0], radius: 0.2}}, condition: separate, friction: 0.4}
"""

# A jelly is turned and carried at one end, let go there, and held along two axes, pulled and blown at elsewhere.
GRIPPED = """
weft: 1
title: A jelly in grips
domain: {dx: 0.05, gravity: [0, -9.81, 0]}
time: {end: 2, frame_interval: 0.1}
materials:
  soft: {law: neo_hookean, density: 1000, youngs_modulus: 4e4, poisson_ratio: 0.3}
bodies:
  - {name: jelly, kind: continuum, material: soft,
     shape: {box: {lower: [-0.4, 0, -0.12], upper: [0.4, 0.25, 0.13]}}}
handles:
  - name: turn
    body: jelly
    where: {box: {lower: [-1, -1, -1], upper: [-0.29, 1, 1]}}
    hold: {motion: {velocity: [-0.3, 0.4, 0], spin: [2, 0, 1], center: [-0.35, 0.12, 0]}, until: 0.3}
  - {name: rail, body: jelly, where: {box: {lower: [0.3, -1, -1], upper: [1, 1, 1]}}, hold: {axes: [y, z]}}
  - {name: pull, body: jelly, where: {box: {lower: [0.35, -1, -1], upper: [1, 1, 1]}},
     force: {total: [40, 0, 0], amplitude: [{time: 0, factor: 1}]}}
  - {name: wind, body: jelly, where: {box: {lower: [-0.2, 0.2, -1], upper: [0.2, 1, 1]}},
     traction: {per_area: [0, -300, 100], amplitude: [{time: 0, factor: 1}]}}
"""

# A woven sheet and fibers, both with bending, are pulled until they tear.
TORN = """
weft: 1
title: Torn
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
time: {end: 1, frame_interval: 0.1}
materials:
  denim: {law: woven_sheet, density: 400, warp_modulus: 8e4, weft_modulus: 4e4, poisson_ratio: 0.2, shear_modulus: 2e4,
          contact: {stiffness: 2e4, shear_stiffness: 4e3, friction: 0.3}}
  hemp: {law: fiber, density: 400, stretch_modulus: 8e4, shear_modulus: 5e3, youngs_modulus: 2e4, poisson_ratio: 0.3,
         friction_angle: 20}
bodies:
  - {name: sheet, kind: membrane, material: denim, thickness: 5 mm, warp: [0, 1, 0], tear_stretch: 1.2,
     bending: {youngs_modulus: 1e6, poisson_ratio: 0.2}, mesh: {rectangle: {width: 0.3, height: 0.45}, across: 6, along: 9}}
  - {name: ropes, kind: fiber, material: hemp, radius: 1 cm, tear_stretch: 1.2, bending_modulus: 1e6,
     curves: {hair_tube: {inner_radius: 0, outer_radius: 0.15, length: 0.45, strands: 5},
              rotate: {axis: [1, 0, 0], angle: -90}, translate: [1.15, 0, -0.3]}}
handles:
  - {name: foot, body: sheet, where: {box: {lower: [-1, -1, -1], upper: [1, 0.01, 1]}}, hold: {}}
  - {name: feet, body: ropes, where: {box: {lower: [-1, -1, -1], upper: [2, 0.01, 1]}}, hold: {}}
  - {name: hand, body: sheet, where: {box: {lower: [-1, 0.44, -1], upper: [1, 1, 1]}},
     hold: {motion: {velocity: [0, 1, 0], spin: [0, 0, -8], center: [0.3, 0.45, 0]}}}
  - {name: hands, body: ropes, where: {box: {lower: [-1, 0.44, -1], upper: [2, 1, 1]}},
     hold: {motion: {velocity: [0, 1, 0], spin: [0, 0, -8], center: [1.3, 0.45, 0]}}}
"""

# A sheet turns so fast that it tears, and pieces that hang together by a vertex come apart.
SPUN = """
weft: 1
title: Spun
domain: {dx: 0.05, gravity: [0, 0, 0]}
time: {end: 1, frame_interval: 0.1}
materials:
  denim: {law: sheet, density: 400, youngs_modulus: 8e4, poisson_ratio: 0.2,
          contact: {stiffness: 2e4, shear_stiffness: 4e3, friction: 0.3}}
bodies:
  - {name: sheet, kind: membrane, material: denim, thickness: 5 mm, tear_stretch: 1.2,
     bending: {youngs_modulus: 1e5, poisson_ratio: 0.2}, mesh: {rectangle: {width: 0.5, height: 0.5}, across: 15, along: 15},
     spin: [0, 5, 45]}
handles:
  - {name: load, body: sheet, force: {total: [0, 0, -0.01]}}
  - {name: wind, body: sheet, pressure: {value: 5}}
  - {name: hub, body: sheet, where: {box: {lower: [0.3, 0.3, -1], upper: [0.45, 0.45, 1]}}, hold: {}}
"""

# Sand falls out of a spout on a ledge and over its edge out of the bounds: points are born and removed all the time.
SPOUT = """
weft: 1
title: Sand from a spout
domain:
  dx: 0.05
  gravity: [0, -9.81, 0]
  bounds: {lower: [-1, -0.2, -1], upper: [1, 1, 1]}
time: {end: 2, frame_interval: 0.5}
materials:
  sand: {law: drucker_prager, density: 2200, youngs_modulus: 1e5, poisson_ratio: 0.3, friction_angle: 30}
bodies:
  - {name: sand, kind: continuum, material: sand}
sources:
  - name: spout
    body: sand
    shape: {box: {lower: [-0.1, 0.2, -0.1], upper: [0.1, 0.25, 0.1]}}
    velocity: [0, -1.5, 0]
    until: 0.3
colliders:
  - {name: ledge, shape: {box: {lower: [0, -0.1, -0.5], upper: [0.5, 0, 0.5]}}, condition: separate, friction: 0.4}
"""

# A jelly falls on a metal plate that falls on a ball: laminae flow, contact slips, and the plate meets two bodies.
PLATE = """
weft: 1
title: Plate between a jelly and a ball
domain: {dx: 0.05, gravity: [0, -9.81, 0]}
time: {end: 2, frame_interval: 0.1}
materials:
  metal: {law: von_mises, density: 800, youngs_modulus: 1e5, poisson_ratio: 0.3, yield_stress: 1e3}
  soft: {law: fixed_corotated, density: 300, youngs_modulus: 1e4, poisson_ratio: 0.3}
bodies:
  - name: plate
    kind: shell
    material: metal
    thickness: 1 cm
    laminae: 3
    contact: {stiffness: 2e4, shear_stiffness: 4e3, friction: 0.3}
    mesh: {rectangle: {width: 0.5, height: 0.4}, across: 9, along: 8, rotate: {axis: [1, 0, 0], angle: 90},
           translate: [-0.23, 0.26, -0.2]}
    velocity: [0, -2, 0]
  - name: jelly
    kind: continuum
    material: soft
    shape: {sphere: {center: [0.05, 0.4, 0.03], radius: 0.1}}
    velocity: [0, -3, 0]
colliders:
  - {name: ball, shape: {sphere: {center: [0, 0, 0], radius: 0.2}}, condition: separate, friction: 0.4}
"""

OWN = """
weft: 1
title: Bodies that move by themselves beside one on the grid
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
time: {end: 0.2, frame_interval: 0.02, max_dt: 1 ms}
materials:
  metal: {law: von_mises, density: 1000, youngs_modulus: 1e7, poisson_ratio: 0.3, yield_stress: 2e4}
  cloth: {law: sheet, density: 500, youngs_modulus: 1e6, poisson_ratio: 0.3, contact: {stiffness: 1e5, friction: 0.3}}
  jelly: {law: fixed_corotated, density: 1000, youngs_modulus: 5e4, poisson_ratio: 0.3}
bodies:
  - {name: plate, kind: shell, material: metal, thickness: 10 mm, laminae: 3, carrier: own,
     mesh: {rectangle: {width: 0.4, height: 0.3}, across: 8, along: 6}}
  - {name: flag, kind: membrane, material: cloth, thickness: 1 mm, bending: {youngs_modulus: 1e6}, carrier: own,
     stage: {scheme: STAGE}, mesh: {rectangle: {width: 0.4, height: 0.4}, across: 6, along: 7, translate: [0, 1, 0]}}
  - {name: jelly, kind: continuum, material: jelly, shape: {sphere: {center: [0.7, 0, 0.3], radius: 0.12}},
     spin: [0, 5, 2]}
handles:
  - {name: vice, body: plate, where: {box: {lower: [-1, -1, -1], upper: [0.001, 1, 1]}}, hold: {keep: clamp}}
  - {name: knock, body: plate, where: {box: {lower: [0.3, 0.1, -1], upper: [1, 1, 1]}},
     force: {total: [0, 0, 2], amplitude: [{time: 0, factor: 1}]}}
  - name: pole
    body: flag
    where: {box: {lower: [-1, 0, -1], upper: [0.001, 2, 1]}}
    hold: {motion: {velocity: [0.2, 0, 0], spin: [0, 0, 1]}, until: 0.05}
"""

# A jelly falls on a floor; it does not deform before it meets it.
DROP = """
weft: 1
domain: {dx: 0.05, gravity: [0, -9.81, 0]}
time: {end: 0.3, frame_interval: 0.1}
materials:
  soft: {law: fixed_corotated, density: 1000, youngs_modulus: 2e4, poisson_ratio: 0.3}
bodies:
  - {name: jelly, kind: continuum, material: soft, shape: {box: {lower: [0, 0.15, 0], upper: [0.2, 0.35, 0.2]}}}
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}}
"""
HOPELESS = "--set", "time.max_strain=1e-4", "--set", "time.max_retries=2"  # the floor deforms it more than that

CUBE = """
v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1
f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\nf 4 5 8
"""
HINGED_ROOF = pathlib.Path(__file__).resolve().parents[2] / "decks" / "hinged_roof.yaml"  # a static analysis
FAR = 10000  # [s] of the scene: no machine gets there while a test looks on
FIGURES = {}  # what was counted, printed at the end


def count(what, number=1):
    FIGURES[what] = FIGURES.get(what, 0) + number


def print_figures():
    for what, number in FIGURES.items():
        print(f"{what}: {number}")


def small(steps, every):
    """Two coarse jellies that take milliseconds for a step; a checkpoint after `every` steps."""
    return ["--steps", steps, "--checkpoint-every", every, "--set", "domain.dx=0.1", "--set",
            "output.diagnostics_every=1"]


def environment(threads=1):
    return os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_io": "^ompio",  # else each rank writes for itself, and collective writing is not tried
        "OMPI_MCA_mpi_yield_when_idle": "1",  # more ranks than cores: who waits lets others work
        "HWLOC_COMPONENTS": "-gl",  # else MPI looks at the X server of any other test, and dies with it
        "OMP_WAIT_POLICY": "passive",  # threads too
        "OMP_NUM_THREADS": str(threads)}


def command(*arguments, ranks=1):
    launcher = ["mpiexec", "-n", str(ranks)] if ranks > 1 else []
    return [*launcher, WEFT, *map(str, arguments)]


def weft(*arguments, ranks=1, threads=1, folder=None):
    """Runs the program to its end; .returncode, .stdout and .stderr of it."""
    return subprocess.run(command(*arguments, ranks=ranks), env=environment(threads), cwd=folder, capture_output=True,
                          text=True, timeout=240)


def wait_until(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not happen within {seconds} s")
        time.sleep(0.01)


def checkpoints(output):
    """Finished checkpoints, the oldest first."""
    return sorted(p for p in (pathlib.Path(output) / "checkpoints").glob("step_*") if not p.name.endswith(".tmp"))


def step_of(checkpoint):
    return int(checkpoint.name[len("step_"):])


def damaged(folder):
    """The names of the checkpoints of a folder that `weft verify` finds damaged, and those that it finds whole."""
    done = weft("verify", folder)
    said = re.findall(r"^\S*?([^/\s]+): (whole|damaged)$", done.stdout, re.MULTILINE)
    bad = [name for name, state in said if state == "damaged"]
    assert done.returncode == (6 if bad else 0), done.stdout + done.stderr
    return bad, [name for name, state in said if state == "whole"]


def run_json(output):
    return json.loads((pathlib.Path(output) / "run.json").read_text())


def history(output):
    """diagnostics.csv, or load_displacement.csv of an analysis, as a list of rows: dictionaries by column name without
    unit; the texts of the numbers."""
    files = [pathlib.Path(output) / name for name in ("diagnostics.csv", "load_displacement.csv")]
    with open(next(filter(pathlib.Path.exists, files), files[0]), newline="") as file:
        rows = list(csv.reader(file))
    names = [column.split(" [")[0] for column in rows[0]]
    return [dict(zip(names, row)) for row in rows[1:]]


def numbers(output):
    """The same with numbers in place of texts."""
    return [{name: float(value) for name, value in row.items()} for row in history(output)]


def largest_rise(rows):
    """Of the energy without the work that was done on the scene, above its least value so far."""
    energy = [row["energy_less_work"] for row in rows]
    return max(later - least for later, least in zip(energy, itertools.accumulate(energy, min)))


def physics(output):
    """The rows of diagnostics.csv without what depends on the machine, as texts: equal bits print equal texts."""
    return [{name: text for name, text in row.items() if name not in MACHINE_COLUMNS} for row in history(output)]


def write_unlike_triangles(path, across, along, width, height, cuts="random"):
    """A rectangle of squares, each cut in two by either diagonal: `alternate` or `random` ones."""
    coins = random.Random(1)
    lines = [f"v {width * i / across!r} {height * j / along!r} 0" for j in range(along + 1) for i in range(across + 1)]
    for j, i in itertools.product(range(along), range(across)):
        a = j * (across + 1) + i + 1
        b, c, d = a + 1, a + across + 2, a + across + 1
        other = (i + j) % 2 == 1 if cuts == "alternate" else coins.random() < 0.5
        lines += [f"f {a} {b} {d}", f"f {b} {c} {d}"] if other else [f"f {a} {b} {c}", f"f {a} {c} {d}"]
    path.write_text("\n".join(lines) + "\n")


def flip_bit(file, place):
    """Flips one bit at a share `place` of the file's length."""
    data = bytearray(file.read_bytes())
    data[int(place * (len(data) - 1))] ^= 0x10
    file.write_bytes(data)


def mounting(case, folder, options):
    """A command that mounts a file system in memory at a folder and starts a command; skips the test where that is not
    allowed."""
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    script = f'mount -t tmpfs -o {options} none "{folder}" && exec "$@"'
    prefix = ["unshare", *user, "--mount", "sh", "-c", script, "sh"]
    if shutil.which("unshare") is None or subprocess.run([*prefix, "true"], capture_output=True).returncode != 0:
        case.skipTest("no file systems can be mounted here")
    return prefix


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weft_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def deck(self, text, name="deck.yaml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def run_deck(self, deck, output, *arguments, code=0, **how):
        """Runs a deck into folder/output, which is returned; fails unless it ends with this exit code."""
        done = weft("run", deck, "-o", self.folder / output, *arguments, folder=self.folder, **how)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.last = done
        return self.folder / output

    def assert_same_state(self, a, b, tolerance):
        """The newest checkpoints of two runs are of the same step and agree to this relative difference."""
        a, b = checkpoints(a)[-1], checkpoints(b)[-1]
        self.assertEqual(a.name, b.name)
        done = weft("compare", a, b, "--tolerance", tolerance)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
