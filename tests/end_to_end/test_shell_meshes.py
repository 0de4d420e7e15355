#!/usr/bin/env python3
"""Proves that shells bend as closed forms say on meshes as users have them, and that runs say where they do not:
tests/end_to_end/test_shell_meshes.py WEFT."""
import csv
import math
import random
import re
import unittest

from program import Case, numbers, weft, write_unlike_triangles

LENGTH, THICKNESS, YOUNGS = 10, 0.1, 1e6
STIFFNESS = YOUNGS * THICKNESS**3 / 12  # of a strip of unit width, which nothing contracts [N m]


class ShellMeshes(Case):
    def write_mesh(self, name, points, faces):
        """points: of the plane z = 0; faces: their points counted from 1."""
        (self.folder / f"{name}.obj").write_text("".join(f"v {x!r} {y!r} 0\n" for x, y in points) + "".join(
            f"f {' '.join(map(str, face))}\n" for face in faces))

    def strip(self, name, start, end, load):
        """A deck: the mesh of that name as a strip that is clamped at one end; start and end: two points each."""
        region = lambda ends, radius: f"where: {{capsule: {{from: {ends[0]}, to: {ends[1]}, radius: {radius}}}}}"
        return self.deck(f"""
weft: 1
time: {{end: 1, frame_interval: 1, scheme: static}}
domain: {{gravity: [0, 0, 0]}}
loading: {{steps: 1}}
materials: {{plate: {{law: stvk_hencky, density: 1, youngs_modulus: {YOUNGS}, poisson_ratio: 0}}}}
bodies:
  - {{name: strip, kind: shell, material: plate, thickness: {THICKNESS}, mesh: {{file: {{path: {name}.obj}}}}}}
handles:
  - {{name: clamp, body: strip, {region(start, 0.02)}, hold: {{keep: clamp}}}}
  - {{name: lift, body: strip, {load.format(end=region(end, 0.001))}}}
probes: [{{name: corner, body: strip, nearest: {{point: {end[0]}, field: displacement_z}}}}]
""", f"{name}.yaml")

    def test_a_quarter_of_a_pinched_hemisphere_is_as_soft_in_triangles_as_in_quads(self):
        # MacNeal and Harder 1985, a hole of 18 degrees and R / t = 250: 0.0935 m for two newtons on the whole. Held
        # in the surface too, slopes in the planes of symmetry leave 0.64 of it with 16 triangles a side.
        n, radius = 16, 10

        def quarter(faces_of):
            angles = [(90 * i / n, 72 * j / n) for j in range(n + 1) for i in range(n + 1)]
            places = [(radius * math.cos(math.radians(up)) * math.cos(math.radians(around)),
                       radius * math.cos(math.radians(up)) * math.sin(math.radians(around)),
                       radius * math.sin(math.radians(up))) for around, up in angles]
            squares = [((n + 1) * j + i + 1, (n + 1) * j + i + 2, (n + 1) * (j + 1) + i + 2, (n + 1) * (j + 1) + i + 1)
                       for j in range(n) for i in range(n)]
            (self.folder / "quarter.obj").write_text(
                "".join(f"v {x} {y} {z}\n" for x, y, z in places)
                + "".join(f"f {' '.join(map(str, face))}\n" for square in squares for face in faces_of(square)))
            return self.deck("""
weft: 1
domain: {gravity: [0, 0, 0]}
time: {scheme: static, end: 1, frame_interval: 1}
loading: {steps: 1}
materials: {steel: {law: stvk_hencky, density: 1, youngs_modulus: 6.825e7, poisson_ratio: 0.3}}
bodies: [{name: cap, kind: shell, material: steel, thickness: 0.04, mesh: {file: {path: quarter.obj}}}]
handles:
  - {name: at_y, body: cap, where: {box: {lower: [-1, -1e-4, -1], upper: [11, 1e-4, 11]}},
     hold: {keep: symmetry, normal: [0, 1, 0]}}
  - {name: at_x, body: cap, where: {box: {lower: [-1e-4, -1, -1], upper: [1e-4, 11, 11]}},
     hold: {keep: symmetry, normal: [1, 0, 0]}}
  - {name: height, body: cap, where: {sphere: {center: [10, 0, 0], radius: 0.01}}, hold: {axes: [z]}}
  - {name: pull, body: cap, where: {sphere: {center: [10, 0, 0], radius: 0.01}}, force: {total: [1e-3, 0, 0]}}
  - {name: push, body: cap, where: {sphere: {center: [0, 10, 0], radius: 0.01}}, force: {total: [0, -1e-3, 0]}}
probes: [{name: pulled, body: cap, nearest: {point: [10, 0, 0], field: displacement_x}}]
""")

        whole, cut = lambda square: (square,), lambda square: (square[:3], (square[0], square[2], square[3]))
        found = {name: [numbers(self.run_deck(quarter(faces_of), f"{name}_{ranks}", ranks=ranks))[-1]["pulled"]
                        for ranks in (1, 3)] for name, faces_of in (("quads", whole), ("triangles", cut))}
        for name, tolerance in (("quads", 0.005), ("triangles", 0.015)):
            self.assertAlmostEqual(found[name][0] / 0.0935e-3, 1, delta=tolerance, msg=name)
            self.assertAlmostEqual(found[name][1] / found[name][0], 1, delta=1e-8, msg=name)

    def test_slopes_are_kept_of_shells_alone(self):
        sheet = """
weft: 1
domain: {dx: 0.1}
time: {end: 0.1, frame_interval: 0.1}
materials: {cotton: {law: sheet, density: 500, youngs_modulus: 1e5, poisson_ratio: 0.3, contact: {stiffness: 1e4}}}
bodies: [{name: sheet, kind: membrane, material: cotton, thickness: 0.01,
          mesh: {rectangle: {width: 0.4, height: 0.4}, across: 4, along: 4}}]
handles: [{name: rail, body: sheet, where: {box: {lower: [-1, -1, -1], upper: [0.01, 1, 1]}}, hold: HOLD}]
"""
        for hold, cure in (("{keep: clamp}", "keep: place."),
                           ("{keep: symmetry, normal: [1, 0, 0]}", "keep: place, with axes along the normal")):
            done = weft("check", self.deck(sheet.replace("HOLD", hold)), folder=self.folder)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("handles.rail: sheet is no shell with a boundary, so there is no slope to keep", done.stderr)
            self.assertIn(cure, done.stderr)

    def rise(self, *arguments, **keywords):
        """Of the corner [m], and the log."""
        output = self.run_deck(*arguments, **keywords)
        return numbers(output)[-1]["corner"], (output / "log.txt").read_text()

    def test_a_strip_whose_corners_are_cut_bends_as_its_closed_form_says(self):
        # Squares of which those at two corners are cut through the corner, so that two faces fill it; polygons are
        # divided once. Lifted by q at the end, the strip rises q L^3/(3 E I).
        load = 0.01
        exact = load * LENGTH**3 / (3 * STIFFNESS)

        def strip(columns, rows):
            faces = []
            for j in range(rows):
                for i in range(columns):
                    a = j * (columns + 1) + i + 1
                    b, c, d = a + 1, a + columns + 2, a + columns + 1
                    if (i, j) == (columns - 1, 0):
                        faces += [(a, b, d), (b, c, d)]
                    elif (i, j) == (0, 0):
                        faces += [(a, b, c), (a, c, d)]
                    else:
                        faces.append((a, b, c, d))
            points = [(LENGTH * i / columns, j / rows) for j in range(rows + 1) for i in range(columns + 1)]
            self.write_mesh(f"strip_{rows}", points, faces)
            return self.strip(f"strip_{rows}", ([0, 0, 0], [0, 1, 0]), ([LENGTH, 0, 0], [LENGTH, 1, 0]),
                              f"{{end}}, edge_force: {{{{per_length: [0, 0, {load}]}}}}")

        decks = strip(40, 4), strip(80, 8)
        errors = [abs(self.rise(deck, deck.stem)[0] / exact - 1) for deck in decks]
        self.assertLess(errors[0], 2e-3)
        self.assertLess(errors[1], errors[0] / 3)  # second order
        for ranks in 3, 4:
            run = self.run_deck(decks[0], f"on_{ranks}", ranks=ranks)
            self.assert_same_state(self.folder / decks[0].stem, run, 1e-10)

    def test_uneven_meshes_bend_too_little_say_so_and_bend_right_once_divided(self):
        # Turned, under q all over, the strip rises q L^4/(8 E I). Its inner points are off a grid by up to 0.25 of an
        # edge each way.
        load, columns, rows, turn = 0.002, 40, 4, 0.4
        exact = load * LENGTH**4 / (8 * STIFFNESS)
        shift = random.Random(3)
        to_space = lambda x, y: (x * math.cos(turn) - y * math.sin(turn), x * math.sin(turn) + y * math.cos(turn))
        points, faces = [], {"squares": [], "triangles": [], "random": []}
        for j in range(rows + 1):
            for i in range(columns + 1):
                off = [0.25 * shift.uniform(-1, 1) if 0 < i < columns and 0 < j < rows else 0 for _ in range(2)]
                points.append(to_space(LENGTH / columns * (i + off[0]), (j + off[1]) / rows))
        for j in range(rows):
            for i in range(columns):
                a = j * (columns + 1) + i + 1
                b, c, d = a + 1, a + columns + 2, a + columns + 1
                faces["squares"].append((a, b, c, d))
                faces["triangles"] += [(a, b, c), (a, c, d)]
                faces["random"] += [(a, b, c), (a, c, d)] if shift.random() < 0.5 else [(a, b, d), (b, c, d)]
        start, end = [[[*to_space(x, y), 0] for y in (0, 1)] for x in (0, LENGTH)]
        divide = "--set", "bodies.strip.mesh.divide=2"
        for kind, of_kind in faces.items():
            self.write_mesh(kind, points, of_kind)
            deck = self.strip(kind, start, end, f"traction: {{{{per_area: [0, 0, {load}]}}}}")
            with self.subTest(kind):
                (coarse, said), (fine, then) = self.rise(deck, kind), self.rise(deck, f"{kind}_divided", *divide)
                loss = 1 - coarse / exact
                self.assertGreater(loss, 0.02)
                estimate = re.search(r"points of \S+ lie \d+ % of an edge off even lines: plates of it deflect by some "
                                     r"(\d+) % too little", said)
                self.assertIsNotNone(estimate)
                ratio = int(estimate[1]) / 100 / loss
                self.assertLess(max(ratio, 1 / ratio), 2.5)
                self.assertLess(abs(fine / exact - 1), 4e-3)
                self.assertNotIn("off even lines", then)
        self.assert_same_state(self.folder / "random_divided", self.run_deck(deck, "on_3", *divide, ranks=3), 1e-9)
        for wrong in "7", "-1", "0.5":
            done = weft("check", deck, "--set", f"bodies.strip.mesh.divide={wrong}")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("bodies.strip.mesh.divide", done.stderr)
        (self.folder / "random.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 3\n")
        done = weft("check", deck, *divide)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("random.obj", done.stderr)

    def test_folded_meshes_bend_too_little_say_so_and_bend_right_once_divided(self):
        # Two legs at a right angle, of 1 m, clamped at the one end; pulled aside by F at the other, the tip moves by
        # 4/3 F L^3/(E I), as L F bends the first leg and turns the second.
        n, force, stiffness = 10, 0.005, 1e9 * 0.02**3 / 12  # both per width
        places = [(min(s, 1), max(0, s - 1)) for s in (i / n for i in range(2 * n + 1))]
        lines = [f"v {x} {y} {z}" for x, z in places for y in (0, 0.1, 0.2)]
        corners = (3 * i + j + 1 for i in range(2 * n) for j in (0, 1))
        lines += ["f %d %d %d %d" % (a, a + 3, a + 4, a + 1) for a in corners]
        (self.folder / "bracket.obj").write_text("\n".join(lines) + "\n")
        deck = self.deck(f"""
weft: 1
domain: {{gravity: [0, 0, 0]}}
time: {{end: 1, frame_interval: 1, scheme: static}}
loading: {{steps: 1}}
materials: {{plate: {{law: stvk_hencky, density: 1000, youngs_modulus: 1e9, poisson_ratio: 0}}}}
bodies: [{{name: bracket, kind: shell, material: plate, thickness: 0.02, mesh: {{file: {{path: bracket.obj}}}}}}]
handles:
  - {{name: clamp, body: bracket, where: {{box: {{lower: [-0.001, -1, -1], upper: [0.001, 1, 1]}}}},
     hold: {{keep: clamp}}}}
  - {{name: pull, body: bracket, where: {{box: {{lower: [0.9, -1, 0.999], upper: [1.1, 1, 1.001]}}}},
     edge_force: {{per_length: [{force}, 0, 0]}}}}
""")
        moved = []
        for divide, warns in (0, True), (1, False):
            run = self.run_deck(deck, f"divide_{divide}", "--set", f"bodies.bracket.mesh.divide={divide}")
            self.assertEqual("bracket.obj is folded sharply" in (run / "log.txt").read_text(), warns)
            with open(run / "load_displacement.csv", newline="") as rows:
                last = list(csv.DictReader(rows))[-1]
            moved.append(float(last["displacement_pull_x [m]"]) / (4 / 3 * force / stiffness))
        self.assertLess(moved[0], 0.95)
        self.assertAlmostEqual(moved[1], 1, delta=0.01)

    def test_triangles_in_patterns_that_are_too_stiff_are_warned_of(self):
        n = 6
        points = [f"v {i / n} {j / n} 0" for j in range(n + 1) for i in range(n + 1)]

        def write(alternating):
            faces = []
            for j in range(n):
                for i in range(n):
                    a = j * (n + 1) + i + 1
                    b, c, d = a + 1, a + n + 2, a + n + 1
                    faces += [(a, b, d), (b, c, d)] if alternating and (i + j) % 2 else [(a, b, c), (a, c, d)]
            (self.folder / "net.obj").write_text("\n".join(points + ["f %d %d %d" % face for face in faces]) + "\n")

        deck = self.deck("""
weft: 1
domain: {gravity: [0, 0, 0]}
time: {scheme: static, end: 1, frame_interval: 1}
materials: {plate: {law: stvk_hencky, density: 1, youngs_modulus: 1 MPa, poisson_ratio: 0.3}}
bodies: [{name: net, kind: shell, material: plate, mesh: {file: {path: net.obj}}, thickness: 0.01}]
handles:
  - {name: rim, body: net, where: {box: {lower: [-1, -1, -1], upper: [0.001, 2, 1]}}, hold: {keep: clamp}}
  - {name: wind, body: net, traction: {per_area: [0, 0, 1e-9]}}
""")
        warning = "body net: 100 % of the inner points of net.obj have other than six edges"
        for alternating in (True, False):
            write(alternating)
            done = weft("check", deck)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(warning in done.stderr, alternating, done.stderr)
            log = (self.run_deck(deck, f"out_{alternating}") / "log.txt").read_text()
            self.assertEqual(warning in log, alternating, log)

    def test_units_of_time_change_no_substeps_and_probes_see_the_surface(self):
        deck = """
weft: 1
domain: {{dx: 0.05, gravity: [0, 0, {gravity}]}}
time: {{end: 1, frame_interval: 1, max_dt: {dt}}}
materials: {{metal: {{law: stvk_hencky, density: 1000, youngs_modulus: {youngs_modulus}, poisson_ratio: 0.3}}}}
bodies:
  - {{name: strip, kind: shell, material: metal, thickness: 0.5 mm, carrier: own, meets_grid: false,
     mesh: {{rectangle: {{width: 0.4, height: 0.2}}, across: 4, along: 2}}}}
handles:
  - {{name: hook, body: strip, boundary: 0, where: {{box: {{lower: [-1, -1, -1], upper: [0.001, 1, 1]}}}}, hold: {{}}}}
probes: [{{name: box, body: strip, bounding_box: {{}}}}]
output: {{diagnostics_every: 1}}
"""
        substeps = set()
        for unit in 1, 0.5, 0.3, 0.2:  # of time, in seconds
            scaled = self.deck(deck.format(gravity=-9.81 / unit**2, dt=2e-3 * unit, youngs_modulus=1.9e6 / unit**2))
            done = weft("check", scaled)
            self.assertEqual(done.returncode, 0, done.stderr)
            substeps.add(re.search(r"substeps: (\d+) of strip", done.stdout)[1])
        self.assertEqual(len(substeps), 1, substeps)
        first = numbers(self.run_deck(scaled, "out", "--steps", 1))[0]
        for axis, lower, upper in ("x", 0, 0.4), ("y", 0, 0.2), ("z", 0, 0):
            self.assertAlmostEqual(first[f"box_lower_{axis}"], lower, places=12)
            self.assertAlmostEqual(first[f"box_upper_{axis}"], upper, places=12)

    def test_membranes_of_unlike_triangles_bend_as_plates(self):
        deck = self.deck("""
weft: 1
domain: {gravity: [0, 0, 0]}
time: {scheme: static, end: 1, frame_interval: 1}
materials: {plate: {law: sheet, density: 1, youngs_modulus: 1 MPa, poisson_ratio: 0.3, contact: {stiffness: 1}}}
bodies:
  - {name: net, kind: membrane, material: plate, thickness: 0.01, mesh: {file: {path: net.obj}},
     bending: {youngs_modulus: 1 MPa, poisson_ratio: 0.3}}
handles:
  - {name: rim, body: net, boundary: 0, hold: {}}
  - {name: wind, body: net, traction: {per_area: [0, 0, 1e-4]}}
probes: [{name: middle, body: net, nearest: {point: [0.5, 0.5, 0], field: displacement_z}}]
""")
        exact = 0.00406235 * 1e-4 / (1e6 * 0.01**3 / 12 / 0.91)
        for cuts in "alternate", "random":
            write_unlike_triangles(self.folder / "net.obj", 12, 12, 1, 1, cuts)
            alone = self.run_deck(deck, f"{cuts}_1")
            with open(alone / "load_displacement.csv", encoding="utf-8") as file:
                deflection = float(list(csv.DictReader(file))[-1]["middle [m]"])
            self.assertLess(abs(deflection / exact - 1), 0.02, cuts)
            self.assert_same_state(alone, self.run_deck(deck, f"{cuts}_3", ranks=3), 1e-9)


if __name__ == "__main__":
    unittest.main()
