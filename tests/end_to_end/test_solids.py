#!/usr/bin/env python3
"""Proves that solids of tetrahedra move, rest, restart and are refused as they should: tests/end_to_end/test_solids.py
WEFT."""
import math
import unittest

from program import Case, checkpoints, history, largest_rise, numbers, weft
import weft_read

# A quadratic block of rubber hits a linear one and a heap of sand; a rod swings by itself from a nail.
SOLIDS = """
weft: 1
title: Solids
domain: {dx: 0.05, gravity: [0, -9.81, 0]}
time: {end: 1, frame_interval: 0.1}
materials:
  rubber: {law: fixed_corotated, density: 900, youngs_modulus: 1e5, poisson_ratio: 0.3}
  gum: {law: neo_hookean, density: 1200, youngs_modulus: 6e4, poisson_ratio: 0.4}
  steel: {law: stvk_hencky, density: 2000, youngs_modulus: 4e5, poisson_ratio: 0.25}
  sand: {law: drucker_prager, density: 1600, youngs_modulus: 2e5, poisson_ratio: 0.3, friction_angle: 35}
bodies:
  - {name: thrown, kind: solid, material: rubber, order: 2, velocity: [1, -1, 0], spin: [0, 0, 4],
     mesh: {block: {lower: [-0.3, 0.32, -0.1], upper: [-0.1, 0.52, 0.1]}, size: 0.1}}
  - {name: lying, kind: solid, material: gum,
     mesh: {block: {lower: [-0.2, 0.001, -0.15], upper: [0.2, 0.25, 0.15]}, size: 0.09}}
  - {name: rod, kind: solid, material: steel, carrier: own, DAMPING stage: {scheme: STAGE}, spin: [0, 3, 0],
     mesh: {block: {lower: [0, 0, 0], upper: [0.1, 0.6, 0.1]}, size: 0.1, rotate: {axis: [0, 0, 1], angle: 70},
            translate: [1.5, 1, 0]}}
  - {name: heap, kind: continuum, material: sand, shape: {box: {lower: [0.3, 0, -0.1], upper: [0.5, 0.2, 0.1]}}}
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, friction: 0.4}
handles:
  - {name: nail, body: rod, where: {sphere: {center: [1.45, 1.017, 0.05], radius: 0.09}}, hold: {}}
  - {name: wind, body: thrown, traction: {per_area: [0, 0, 20]}}
"""
EXPLICIT, IMPLICIT = (SOLIDS.replace("DAMPING stage: {scheme: STAGE}", text)
                      for text in ("damping: 5", "stage: {scheme: implicit}"))

# Bodies of five kinds, of which one corner of each comes nearest to the floor.
STARTS = """
weft: 1
title: Starts
domain: {dx: 0.05, gravity: [0, -9.81, 0]}
time: {end: 1, frame_interval: 1}
materials:
  rubber: {law: fixed_corotated, density: 900, youngs_modulus: 1e5, poisson_ratio: 0.3}
  card: {law: stvk_hencky, density: 400, youngs_modulus: 1e6, poisson_ratio: 0.3}
bodies:
  - {name: grains, kind: continuum, material: rubber,
     shape: {box: {lower: [0, 0, 0], upper: [0.2, 0.2, 0.2]}, translate: [-1, BOTTOM, 0]}}
  - {name: solid, kind: solid, material: rubber,
     mesh: {block: {lower: [0, 0, 0], upper: [0.2, 0.2, 0.2]}, size: 0.1, translate: [-0.5, BOTTOM, 0]}}
  - {name: free, kind: solid, material: rubber, carrier: own, meets_grid: true,
     mesh: {block: {lower: [0, 0, 0], upper: [0.2, 0.2, 0.2]}, size: 0.1, translate: [0, BOTTOM, 0]}}
  - {name: stone, kind: rigid, density: 2000,
     mesh: {block: {lower: [0, 0, 0], upper: [0.2, 0.2, 0.2]}, size: 0.1, translate: [0.5, BOTTOM, 0]}}
  - {name: plate, kind: shell, material: card, thickness: 1 cm, contact: {stiffness: 1e5},
     mesh: {rectangle: {width: 0.4, height: 0.4}, across: 8, along: 8, translate: [1, BOTTOM, 0]}}
handles: []
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}}
"""

STATIC = """
weft: 1
domain: {gravity: [0, 0, -10]}
time: {scheme: static, end: 1, frame_interval: 1}
loading: {steps: 2}
materials:
  rubber: {law: LAW, density: 1000, youngs_modulus: 2e6, poisson_ratio: 0.3}
bodies:
  - {name: beam, kind: solid, material: rubber, order: 2,
     mesh: {block: {lower: [0, 0, 0], upper: [1, 0.2, 0.2]}, size: 0.11}}
handles:
  - {name: wall, body: beam, where: {box: {lower: [-1, -1, -1], upper: [0.001, 1, 1]}}, hold: {}}
  - {name: press, body: beam, where: {box: {lower: [0.5, -1, 0.19], upper: [2, 1, 1]}}, pressure: {value: 100}}
"""

# A tetrahedron on each side of a face, in two groups, the floor as a third.
MESH = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
3
2 1 "floor"
3 2 "left"
3 3 "right"
$EndPhysicalNames
$Nodes
5
1 0 0 0
2 100 0 0
3 0 100 0
4 0 0 100
5 100 100 100
$EndNodes
$Elements
3
1 2 2 1 1 1 2 3
2 4 2 2 1 1 2 3 4
3 4 2 3 1 2 5 3 4
$EndElements
"""
FROM_FILE = """
weft: 1
domain: {dx: 0.05, gravity: [0, 0, 0]}
time: {end: 0.01, frame_interval: 0.01}
materials: {gum: {law: neo_hookean, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0.3}}
bodies: [{name: pair, kind: solid, material: gum, mesh: {file: {path: pair.msh}, scale: 0.001}}]
handles:
  - {name: floor, body: pair, group: floor, hold: {}}
  - {name: wind, body: pair, group: floor, traction: {per_area: [0, 0, -3]}}
  - {name: pull, body: pair, group: right, gravity: {acceleration: [1, 0, 0]}}
"""


class Solids(Case):
    def test_1_2_3_4_and_7_ranks_agree_to_1e_10(self):
        often = ["--set", "balance.every=10", "--set", "balance.threshold=1.01"]
        for stage, tolerance in ("explicit", 1e-10), ("implicit", 1e-7):  # factors of several ranks are not the same
            deck = self.deck(EXPLICIT if stage == "explicit" else IMPLICIT)
            alone = self.run_deck(deck, f"{stage}_1", "--steps", 80, *often)
            rows = history(alone)
            self.assertGreater(float(rows[-1]["elastic_energy"]), 1)
            self.assertGreater(abs(float(rows[-1]["impulse_floor_y"])), 1)  # or the comparison would prove little
            for ranks in 2, 3, 4, 7:
                with self.subTest(stage=stage, ranks=ranks):
                    many = self.run_deck(deck, f"{stage}_{ranks}", "--steps", 80, *often, ranks=ranks)
                    self.assert_same_state(alone, many, tolerance)

    def test_threads_change_no_bit_and_runs_go_on_to_the_bit(self):
        deck = self.deck(EXPLICIT)
        unbroken = self.run_deck(deck, "unbroken", "--steps", 60, ranks=2)
        threads = self.run_deck(deck, "threads", "--steps", 60, ranks=2, threads=2)
        self.assert_same_state(unbroken, threads, 0)
        self.run_deck(deck, "broken", "--steps", 23, ranks=2)
        broken = self.run_deck(deck, "broken", "--steps", 60, "--resume", "auto", ranks=2)
        self.assert_same_state(unbroken, broken, 0)
        elsewhere = self.run_deck(deck, "elsewhere", "--steps", 60, "--resume", checkpoints(broken)[0], ranks=3)
        self.assert_same_state(unbroken, elsewhere, 1e-10)

    def test_momentum_is_what_gravity_handles_and_the_floor_gave(self):
        run = self.run_deck(self.deck(EXPLICIT + "output: {diagnostics_every: 1}\n"), "run", "--steps", 150)
        rows = [{name: float(value) for name, value in row.items()} for row in history(run)]
        first, last = rows[0], rows[-1]
        for axis, gravity in ("x", 0), ("y", -9.81), ("z", 0):
            given = gravity * last["mass"] * last["time"] - last[f"impulse_floor_{axis}"]
            for before, row in zip(rows, rows[1:]):  # forces are means since the row before
                given += (row["time"] - before["time"]) * (row[f"force_nail_{axis}"] + row[f"force_wind_{axis}"])
            gained = last[f"momentum_{axis}"] - first[f"momentum_{axis}"]
            self.assertLess(abs(gained - given), 1e-10 * last["mass"], axis)

    def test_a_free_block_keeps_its_momentum_and_angular_momentum(self):
        # Quadrature points move with their element, not as the grid says, which costs some angular momentum.
        for carrier, angular in ("own", 1e-11), ("grid", 1e-5):
            deck = self.deck(f"""
weft: 1
domain: {{dx: 0.05, gravity: [0, 0, 0]}}
time: {{end: 0.5, frame_interval: 0.5, max_dt: 5 ms}}
materials: {{gum: {{law: neo_hookean, density: 1000, youngs_modulus: 1e6, poisson_ratio: 0.3}}}}
bodies:
  - {{name: block, kind: solid, material: gum, order: 2, velocity: [0.3, 0.2, 0.1], spin: [1, 20, 3],
     carrier: {carrier}, mesh: {{block: {{lower: [0, 0, 0], upper: [0.1, 0.2, 0.3]}}, size: 0.07}}}}
output: {{diagnostics_every: 1}}
""")
            rows = history(self.run_deck(deck, carrier))
            self.assertGreater(len(rows), 20)
            for column in (f"{kind}_{axis}" for kind in ("momentum", "angular_momentum") for axis in "xyz"):
                size = max(abs(float(rows[0][column[:-1] + axis])) for axis in "xyz")
                drift = max(abs(float(row[column]) - float(rows[0][column])) for row in rows)
                tolerance = angular if column.startswith("angular") else 1e-11
                self.assertLess(drift, tolerance * size, f"{carrier}: {column}")

    def test_damping_takes_waves_as_a_viscosity_does_whatever_dt(self):
        """A bar that is held at one end and let go: its amplitude falls by k^2 / 2 times 5/24 edge^2 damping, with
        k = pi / 2 L and the mean second moment 5/24 edge^2 of the corners of the six tetrahedra of a cube."""
        deck = """
weft: 1
domain: {dx: 0.1, gravity: [0, 0, 0]}
time: {end: 3, frame_interval: 3, max_dt: DT}
materials: {rubber: {law: fixed_corotated, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0}}
bodies:
  - {name: bar, kind: solid, material: rubber, carrier: own, damping: RATE,
     mesh: {block: {lower: [0, 0, 0], upper: [1, 0.2, 0.2]}, size: SIZE}}
handles:
  - {name: wall, body: bar, where: {box: {lower: [-1, -1, -1], upper: [1e-3, 1, 1]}}, hold: {axes: [x]}}
  - {name: side, body: bar, where: {box: {lower: [-1, -1, -1], upper: [2, 1e-3, 1]}}, hold: {axes: [y]}}
  - {name: bottom, body: bar, where: {box: {lower: [-1, -1, -1], upper: [2, 1, 1e-3]}}, hold: {axes: [z]}}
  - {name: pull, body: bar, where: {box: {lower: [0.999, -1, -1], upper: [2, 1, 1]}}, force: {total: [0.4, 0, 0],
     amplitude: [{time: 0, factor: 0}, {time: 0.05, factor: 1}, {time: 0.25, factor: 1}, {time: 0.3, factor: 0}]}}
output: {diagnostics_every: 1}
"""

        def rate_of(damping, size, dt):
            values = {"RATE": damping, "SIZE": size, "DT": dt}
            text = deck
            for key, value in values.items():
                text = text.replace(key, str(value))
            rows = numbers(self.run_deck(self.deck(text), f"{damping}-{size}-{dt}"))
            energy = [(row["time"], row["kinetic_energy"] + row["elastic_energy"]) for row in rows]
            early, late = (next(pair for pair in energy if pair[0] >= time) for time in (0.7, 2.7))
            return math.log(early[1] / late[1]) / 2 / (late[0] - early[0])

        def expected(damping, size, dt):  # the share of a step over dt stands for the rate
            return (math.pi / 2) ** 2 / 2 * 5 / 24 * size**2 * -math.expm1(-damping * dt) / dt

        self.assertLess(abs(rate_of(0, 0.1, 0.002)), 0.005)
        for case in ((60, 0.1, 0.002), (60, 0.1, 0.0005), (240, 0.05, 0.001)):
            with self.subTest(case=case):
                self.assertLess(abs(rate_of(*case) / expected(*case) - 1), 0.05)

    def test_damping_of_any_size_takes_energy_from_what_is_held(self):
        # A block that is held at one end falls to the other side: the forces that hold it are no motion to damp.
        for rate in 200, 1e5:
            with self.subTest(rate=rate):
                rows = numbers(self.run_deck(self.deck(f"""
weft: 1
domain: {{dx: 0.05, gravity: [0, 0, -9.81]}}
time: {{end: 0.2, frame_interval: 0.01}}
materials: {{jelly: {{law: fixed_corotated, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}}}}
bodies:
  - {{name: block, kind: solid, material: jelly, carrier: own, damping: {rate},
     mesh: {{block: {{lower: [0, 0, 0], upper: [0.4, 0.1, 0.1]}}, size: 0.05}}}}
handles: [{{name: end, body: block, where: {{box: {{lower: [-1, -1, -1], upper: [0.001, 1, 1]}}}}, hold: {{}}}}]
output: {{diagnostics_every: 1}}
"""), f"held_{rate}"))
                self.assertGreater(rows[-1]["kinetic_energy"], 0.1)
                self.assertLess(largest_rise(rows), 1e-6)
                self.assertLess(rows[-1]["energy_less_work"], rows[0]["energy_less_work"] - 0.01)
                self.assertAlmostEqual(rows[-1]["work_end"], 0, delta=1e-12)

    def test_static_analyses_agree_on_any_ranks_and_laws_nearly(self):
        sinks = {}
        for law in "stvk_hencky", "fixed_corotated", "neo_hookean":
            deck = self.deck(STATIC.replace("LAW", law))
            alone = self.run_deck(deck, f"{law}_1")
            many = self.run_deck(deck, f"{law}_3", ranks=3)
            self.assert_same_state(alone, many, 1e-7)
            row = history(alone)[-1]
            # Half a square metre of the upper side is pressed, and the wall bears that and the weight.
            self.assertAlmostEqual(float(row["force_wall_z"]), 0.04 * 1000 * 10 + 100 * 0.1, delta=2.5)
            sinks[law] = float(row["displacement_press_z"])
        for law in sinks:
            self.assertAlmostEqual(sinks[law] / sinks["stvk_hencky"], 1, delta=0.02)

    def test_implicit_steps_carry_solids(self):
        deck = self.deck(EXPLICIT.replace("time: {", "time: {scheme: implicit, max_dt: 2 ms, "))
        alone = self.run_deck(deck, "1", "--steps", 12)
        self.assert_same_state(alone, self.run_deck(deck, "3", "--steps", 12, ranks=3), 1e-4)

    def test_groups_of_gmsh_files_choose_vertices_faces_and_volumes(self):
        (self.folder / "pair.msh").write_text(MESH)
        deck = self.deck(FROM_FILE)
        done = weft("check", deck, folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        # 5 vertices, and 2^3 and 3^3 quadrature points: the tetrahedra would fill cubes of 0.1 and 0.13 m by six.
        self.assertIn("40 particles, 1 boundary", done.stdout)
        self.assertIn("0.005 m^2 of 0.0", done.stdout)
        # 0.1^3 / 6 and 0.1^3 / 3 m^3 of 1000 kg/m^3.
        self.assertIn("force [0.3333, 0, 0] N", done.stdout)
        run = self.run_deck(deck, "run")
        frame = weft_read.Run(run).frame("pair", -1)
        self.assertEqual((frame.kind, frame.cells.shape), ("tetrahedron", (2, 4)))
        self.assertIn("von_mises_stress", frame.fields)
        self.assertIn("2 tetrahedra", weft("info", run / "frames" / "pair_000000.hdf").stdout)
        self.assertEqual(weft("export", run, "--to", "obj").returncode, 0)
        made = next(run.rglob("pair_000000.obj")).read_text().splitlines()
        self.assertEqual(sum(line.startswith("f ") for line in made), 6)
        self.assertEqual(sum(line.startswith("v ") for line in made), 5)

    def test_quadratic_solids_are_exported_with_all_nodes_of_their_faces(self):
        run = self.run_deck(self.deck(STATIC.replace("LAW", "stvk_hencky")), "run")
        self.assertEqual(weft("export", run, "--to", "obj").returncode, 0)
        made = next(run.rglob("beam_000000.obj")).read_text().splitlines()
        vertices, faces = (sum(line.startswith(mark) for line in made) for mark in ("v ", "f "))
        self.assertEqual(vertices - faces // 2, 2)  # V - E + F of a closed surface of triangles

    def test_shapes_are_filled_with_tetrahedra(self):
        base = FROM_FILE[:FROM_FILE.index("handles:")]
        old = "mesh: {file: {path: pair.msh}, scale: 0.001}"
        self.assertIn(old, base)
        torus = "torus: {center: [0, 0, 0], axis: [0, 1, 0], major_radius: 0.3, minor_radius: 0.1}"
        for size, code, words in ((0.05, 0, "kg in 0.05"), (0.13, 0, "the tetrahedra fill"),
                                  (0.4, 3, "\"size\" smaller")):
            with self.subTest(size=size):
                done = weft("check", self.deck(base.replace(old, f"mesh: {{shape: {{{torus}}}, size: {size}}}")))
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr + done.stdout)
        block = "mesh: {block: {lower: [0, 0, 0], upper: [1, 1, 1]}, size: 0.5}"
        press = "handles: [{name: press, body: pair, boundary: 0, pressure: {value: 1}}]\n"
        done = weft("check", self.deck(base.replace(old, block) + press))
        self.assertIn("handle press: 26 vertices, 6 m^2 of 6 m^2 of the surface", done.stdout, done.stderr)
        plane = "mesh: {shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}, size: 1}"
        done = weft("check", self.deck(base.replace(old, plane)))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("a plane has no end", done.stderr)

    def test_what_solids_do_not_know_is_refused(self):
        (self.folder / "pair.msh").write_text(MESH)
        (self.folder / "inverted.msh").write_text(MESH.replace("1 1 2 3 4\n", "1 1 3 2 4\n"))
        for old, new, code, words in (
                ("kind: solid", "kind: solid, carrier: own, stage: {scheme: implicit}, damping: 1", 2, "damping"),
                ("gum: {law: neo_hookean", "gum: {law: von_mises, yield_stress: 1", 2, "a solid needs a material"),
                ("scale: 0.001", "scale: 0.001, size: 0.1", 2, "size"),
                ("file: {path: pair.msh}", "block: {lower: [0, 0, 0], upper: [1, 1, 1]}", 2, "\"size\" is missing"),
                ("file: {path: pair.msh}", "block: {lower: [0, 0, 0], upper: [1, 0, 1]}, size: 1", 2, "upper"),
                ("file: {path: pair.msh}", "block: {lower: [0, 0, 0], upper: [1, 1, 1]}, size: 1e-4", 3, "tetrahedra"),
                ("path: pair.msh", "path: none.msh", 2, "none.msh"),
                ("dx: 0.05", "dx: 1e-6", 3, "this solid on this grid would have"),
                ("path: pair.msh", "path: inverted.msh", 3, "inverted.msh: 1 of 2 tetrahedra are inverted"),
                ("group: floor, hold: {}", "group: flor, hold: {}", 2, "flor"),
                ("group: floor, hold: {}", "group: floor, hold: {keep: clamp}", 2, "no slope to keep"),
                ("kind: solid", "kind: solid, order: 3", 2, "order"),
                ("kind: solid", "kind: solid, tear_stretch: 2", 2, "unknown key"),
                ("kind: solid", "kind: solid, meets_grid: false", 2, "meets_grid")):
            with self.subTest(new=new):
                self.assertIn(old, FROM_FILE)
                done = weft("run", self.deck(FROM_FILE.replace(old, new, 1)), "-o", self.folder / "new" / "out",
                            folder=self.folder)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertFalse((self.folder / "new").exists())

    def test_bodies_that_begin_in_a_collider_are_named_with_their_depth(self):
        names = "grains", "solid", "free", "stone", "plate"
        begin = "begins in the collider floor, "
        self.assertNotIn(begin, weft("check", self.deck(STARTS.replace("BOTTOM", "0"))).stdout)
        self.assertNotIn(begin, weft("check", self.deck(STARTS.replace("BOTTOM", "-0.01"))).stdout)
        deck = self.deck(STARTS.replace("BOTTOM", "-0.08"))
        for ranks in 1, 3:
            check, run = weft("check", deck, ranks=ranks), weft("run", deck, "-o", self.folder / f"on {ranks}",
                                                                "--steps", 1, ranks=ranks)
            for done in check, run:
                self.assertEqual(done.returncode, 0, done.stderr)
                text = done.stdout + done.stderr
                for name in names:
                    depth = float(text.split(f"body {name}: it {begin}", 1)[1].split(" m deep", 1)[0])
                    self.assertAlmostEqual(depth, 0.08, delta=0.0126)  # points of grains lie a quarter of dx inside
        everywhere = "{box: {lower: [-9, -9, -9], upper: [9, 9, 9]}}"
        held = "handles:\n" + "".join(
            f"  - {{name: hold_{name}, body: {name}, hold: {{}}, where: {everywhere}}}\n"
            for name in names if name != "stone")
        text = weft("check", self.deck(STARTS.replace("BOTTOM", "-0.08").replace("handles: []\n", held))).stdout
        for name in names:
            self.assertEqual(f"body {name}: it {begin}" in text, name == "stone", text)

    def test_linear_tetrahedra_of_hardly_compressible_material_are_warned_of(self):
        (self.folder / "pair.msh").write_text(MESH)
        deck = self.deck(FROM_FILE.replace("poisson_ratio: 0.3", "poisson_ratio: 0.49"))
        self.assertIn("linear tetrahedra lock at Poisson's ratio 0.49", weft("check", deck, folder=self.folder).stderr)
        text = FROM_FILE.replace("kind: solid", "kind: solid, order: 2")
        deck = self.deck(text.replace("poisson_ratio: 0.3", "poisson_ratio: 0.49"))
        self.assertNotIn("lock", weft("check", deck, folder=self.folder).stderr)


if __name__ == "__main__":
    unittest.main()
