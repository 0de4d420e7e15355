#!/usr/bin/env python3
"""Proves that colliders that touch one another act as what they enclose: tests/end_to_end/test_colliders.py WEFT."""
import math
import unittest

from program import Case, largest_rise, numbers

MATERIALS = """
materials:
  gel: {law: fixed_corotated, density: 1000, youngs_modulus: 2e5, poisson_ratio: 0.3}
  water: {law: tait, density: 1000, bulk_modulus: 1e5}
  syrup: {law: tait, density: 100, bulk_modulus: 1e4, viscosity: 15}
  cloth: {law: sheet, density: 300, youngs_modulus: 1e5, poisson_ratio: 0.3, contact: {stiffness: 1e4, friction: 0}}
  rubber: {law: neo_hookean, density: 1000, youngs_modulus: 2e5, poisson_ratio: 0.3}
  stiff_rubber: {law: neo_hookean, density: 1000, youngs_modulus: 2e6, poisson_ratio: 0.3}
"""

TURN = "rotate: {axis: [1, 2, 3], angle: 35}"


def turned(vector):
    """About (1, 2, 3) by 35 degrees, by Rodrigues' formula."""
    axis, cosine, sine = [c / 14**0.5 for c in (1, 2, 3)], 0.8191520442889918, 0.573576436351046
    along = sum(a * v for a, v in zip(axis, vector))
    across = [axis[1] * vector[2] - axis[2] * vector[1], axis[2] * vector[0] - axis[0] * vector[2],
              axis[0] * vector[1] - axis[1] * vector[0]]
    return [cosine * v + sine * c + (1 - cosine) * along * a for v, c, a in zip(vector, across, axis)]


SLIDING = {
    "rigid": "kind: rigid, mass: 5, mesh: {block: {lower: [0, 0, 0], upper: [0.2, 0.2, 0.1]}, size: 0.1%s}",
    "solid": "kind: solid, material: rubber, carrier: own, meets_grid: true, "
             "mesh: {block: {lower: [0, 0, 0], upper: [0.2, 0.2, 0.1]}, size: 0.05%s}",
    "gel": "kind: continuum, material: gel, shape: {box: {lower: [0, 0, 0], upper: [0.2, 0.2, 0.1]}%s}",
    "water": "kind: continuum, material: water, shape: {box: {lower: [0, 0, 0], upper: [0.2, 0.2, 0.1]}%s}",
    "sheet": "kind: membrane, material: cloth, thickness: 5 mm, "
             "mesh: {rectangle: {width: 0.2, height: 0.2}, across: 8, along: 8%s}",
}
# Each has its top at z = 0.
FLOORS = {
    "two boxes": ["box: {lower: [-2, -2, -0.5], upper: [0.33, 2, 0]}",
                  "box: {lower: [0.33, -2, -0.5], upper: [3, 2, 0]}"],
    "four boxes": ["box: {lower: [-2, -2, -0.5], upper: [0.33, 0.13, 0]}",
                   "box: {lower: [0.33, -2, -0.5], upper: [3, 0.13, 0]}",
                   "box: {lower: [-2, 0.13, -0.5], upper: [0.33, 2, 0]}",
                   "box: {lower: [0.33, 0.13, -0.5], upper: [3, 2, 0]}"],
    "boxes through one another": ["box: {lower: [-2, -2, -0.5], upper: [0.63, 2, 0]}",
                                  "box: {lower: [0.33, -2, -0.5], upper: [3, 2, 0]}"],
    "a box flush with a plane": ["plane: {point: [0, 0, 0], normal: [0, 0, 1]}",
                                 "box: {lower: [0.33, -1, -0.5], upper: [2, 1, 0]}"],
    "a box under a plane": ["plane: {point: [0, 0, 0], normal: [0, 0, 1]}",
                            "box: {lower: [0.33, -1, -0.5], upper: [2, 1, -0.0025]}"],
}
TANK = ["plane: {point: [0, 0, 0], normal: [0, 0, 1]}", "plane: {point: [0, 0, 0], normal: [1, 0, 0]}",
        "plane: {point: [0.3, 0, 0], normal: [-1, 0, 0]}", "plane: {point: [0, 0, 0], normal: [0, 1, 0]}",
        "plane: {point: [0, 0.2, 0], normal: [0, -1, 0]}"]


# What hangs over an edge by a third of its length, without friction. It is 0.6 m long.
HANGING = """
weft: 1
domain: {{dx: 0.02, gravity: {gravity}}}
time: {{end: 0.4, frame_interval: 0.4}}
materials:
  cloth: {{law: sheet, density: 500, youngs_modulus: 5e5, poisson_ratio: 0, contact: {{stiffness: 1e5, friction: 0}}}}
  card: {{law: stvk_hencky, density: 500, youngs_modulus: 5e4, poisson_ratio: 0}}
  yarn: {{law: fiber, density: 500, stretch_modulus: 5e5, youngs_modulus: 5e4, poisson_ratio: 0.3, friction_angle: 0}}
  hair: {{law: rod, density: 500, youngs_modulus: 1e5, stretch_modulus: 5e5, poisson_ratio: 0.3, viscosity: 10}}
bodies:
  - {{name: body, {body}: {{path: hanging.obj}}{turn}}}}}
colliders:
{colliders}
probes:
  - {{name: x, body: body, nearest: {{point: {tail}, field: position_x}}}}
  - {{name: y, body: body, nearest: {{point: {tail}, field: position_y}}}}
  - {{name: z, body: body, nearest: {{point: {tail}, field: position_z}}}}
"""
HANGING_BODIES = {
    "sheet": "kind: membrane, material: cloth, thickness: 2 mm, mesh: {file",
    "shell": "kind: shell, material: card, thickness: 2 mm, contact: {stiffness: 1e5, friction: 0}, mesh: {file",
    "fibers": "kind: fiber, material: yarn, radius: 1 mm, curves: {curve_file",
    "strands": "kind: strand, material: hair, radius: 1 mm, natural: straight, meets_grid: true, curves: {curve_file",
}


def hanging(slope, size, corners):
    """A strip that lies on z = 0 and goes down by `slope` degrees beyond x = 0; corners of a face, 2: lines along x."""
    c, s = math.cos(math.radians(slope)), math.sin(math.radians(slope))
    along, across = round(0.6 / size), round(0.12 / size)
    points = []
    for k in range(along + 1):
        way, h = k * size - 0.4, 0.0011
        x, z = (way, h) if way <= 0 else (way * c + h * s, h * c - way * s)
        points += [f"v {x:.9g} {j * size:.9g} {z:.9g}" for j in range(across + 1)]
    n = across + 1
    if corners == 2:
        return "\n".join(points + ["l " + " ".join(str(k * n + j + 1) for k in range(along + 1)) for j in range(n)])
    faces = []
    for k in range(along):
        for j in range(across):
            a, b, c, d = (1 + k * n + j, 1 + (k + 1) * n + j, 2 + (k + 1) * n + j, 2 + k * n + j)
            faces += [f"f {a} {b} {c} {d}"] if corners == 4 else [f"f {a} {b} {c}", f"f {a} {c} {d}"]
    return "\n".join(points + faces)


# Liquid or sand that slops between walls that hold it.
SLOPPING = """
weft: 1
domain: {{dx: 0.0125, gravity: [1, -9.81, 0]}}
time: {{end: 0.3, frame_interval: 0.3}}
materials:
  water: {{law: tait, density: 1000, bulk_modulus: 2e5}}
  sand: {{law: drucker_prager, density: 1000, youngs_modulus: 2e5, poisson_ratio: 0.3, friction_angle: 30}}
bodies:
  - {{name: fill, kind: continuum, material: {material}, shape: {{box: {{lower: [0, 0, 0], upper: [0.2, 0.1, 0.05]}}}}}}
colliders: [{{name: tank, hollow: true, condition: slip, shape: {{box: {{lower: [0, 0, 0], upper: [0.2, 1, 0.05]}}}}}}]
output: {{diagnostics_every: 1}}
"""


# What falls onto a plane from 3 mm above it, where gravity takes it in one step.
LAID_BY_ONE_STEP = """
weft: 1
domain: {{dx: 0.02, gravity: [0, 0, -9.81]}}
time: {{end: 0.4, frame_interval: {interval}, scheme: {scheme}}}
materials:
  cloth: {{law: sheet, density: 500, youngs_modulus: 5e5, poisson_ratio: 0.3, contact: {{stiffness: 5e4}}}}
  hair: {{law: rod, density: 500, youngs_modulus: 5e5, poisson_ratio: 0.3}}
bodies:
  - {{name: body, {body}}}
colliders:
  - {{name: floor, shape: {{plane: {{point: [0, 0, 0], normal: [0, 0, 1]}}}}}}
output: {{diagnostics_every: 1}}
probes: [{{name: middle, body: body, centre_of_mass: {{}}}}]
"""


# A cube of 4 cells between six planes that press it, and then shear it to and fro at constant volume.
SQUEEZED = """
weft: 1
domain: {{dx: 0.1, gravity: [0, 0, 0]}}
time: {{end: 2, frame_interval: 1, scheme: {scheme}, max_dt: 5 ms}}
materials: {{m: {material}}}
bodies:
  - {{name: body, kind: continuum, material: m, sampling: regular,
     shape: {{box: {{lower: [0, 0, 0], upper: [0.4, 0.4, 0.4]}}}}}}
colliders:
{colliders}
output: {{diagnostics_every: 1}}
"""


def squeezing_planes(condition, path):
    """path: of the time, the stretches along the axes."""
    lines = []
    for axis in range(3):
        normal = [float(k == axis) for k in range(3)]
        keys = []
        for k in range(201):
            shift = [0.4 * (path(k / 100)[axis] - 1) if a == axis else 0 for a in range(3)]
            keys.append(f"{{time: {k / 100}, translate: {shift}}}")
        lines += [f"  - {{name: low_{axis}, condition: {condition}, "
                  f"shape: {{plane: {{point: [0, 0, 0], normal: {normal}}}}}}}",
                  f"  - {{name: high_{axis}, condition: {condition}, "
                  f"shape: {{plane: {{point: {[0.4 * n for n in normal]}, normal: {[-n for n in normal]}}}}}, "
                  f"motion: {{keyframes: [{', '.join(keys)}]}}}}"]
    return "\n".join(lines)


class Colliders(Case):
    def test_walls_that_hold_do_not_draw_back_what_has_come_away(self):
        for material, limit in ("water", 4e-3), ("sand", 1e-3):
            with self.subTest(material=material):
                rows = numbers(self.run_deck(self.deck(SLOPPING.format(material=material)), "run", "--force"))
                self.assertLess(largest_rise(rows), limit * rows[0]["energy_less_work"])

    def scene(self, body, colliders, gravity, more="", dx=0.05, end=0.4, time="max_dt: 1 ms"):
        return self.deck(f"weft: 1\ndomain: {{dx: {dx}, gravity: {gravity}}}\n"
                         f"time: {{end: {end}, frame_interval: {end}, {time}}}\n{MATERIALS}bodies:\n"
                         f"  - {{name: body, {body}}}\ncolliders:\n" +
                         "".join(f"  - {{name: wall_{k}, {wall}}}\n" for k, wall in enumerate(colliders)) +
                         f"output: {{diagnostics_every: 1}}\n{more}")

    def sliding(self, kind, floor, is_turned):
        turn = ", " + TURN if is_turned else ""
        gravity, velocity = [0, 0, -9.81], [1, 0.2, 0]
        if is_turned:
            gravity, velocity = turned(gravity), turned(velocity)
        return self.scene(f"velocity: {velocity}, {SLIDING[kind] % turn}",
                          [f"shape: {{{form}{turn}}}" for form in FLOORS[floor]], gravity)

    def test_what_slides_without_friction_passes_where_colliders_meet_flush(self):
        cases = [(kind, floor, False) for kind in SLIDING for floor in FLOORS]
        cases += [(kind, "two boxes", True) for kind in SLIDING]
        for kind, floor, is_turned in cases:
            with self.subTest(kind=kind, floor=floor, turned=is_turned):
                rows = numbers(self.run_deck(self.sliding(kind, floor, is_turned), "out", "--force"))
                along = turned([1, 0, 0]) if is_turned else [1, 0, 0]
                mass = rows[-1]["mass"]
                speed = sum(a * rows[-1][f"momentum_{axis}"] / mass for a, axis in zip(along, "xyz"))
                self.assertLess(abs(speed - 1), 3e-3)
                self.assertLess(largest_rise(rows), 1e-5 * rows[0]["energy_less_work"])

    def fallen(self, kind, slope, size, is_turned, colliders, edges="rounded"):
        """How far what hangs has come without friction, over the closed form."""
        corners = {"sheet": 3, "shell": 4, "fibers": 2, "strands": 2}[kind]
        (self.folder / "hanging.obj").write_text(hanging(slope, size, corners) + "\n")
        gravity, tail = [0, 0, -9.81], [-0.4, 0.06, 0]
        if is_turned:
            gravity, tail = turned(gravity), turned(tail)
        turn = ", " + TURN if is_turned else ""
        walls = "\n".join(f"  - {{name: wall_{k}, edges: {edges}, shape: {{{form}}}}}"
                          for k, form in enumerate(colliders))
        rows = numbers(self.run_deck(self.deck(HANGING.format(
            gravity=gravity, body=HANGING_BODIES[kind], turn=turn, colliders=walls, tail=tail)), "out", "--force"))
        along = turned([1, 0, 0]) if is_turned else [1, 0, 0]
        way = sum(a * (rows[-1][axis] - rows[0][axis]) for a, axis in zip(along, "xyz"))
        rate = math.sqrt(9.81 * math.sin(math.radians(slope)) / 0.6)
        return way / (0.2 * (math.cosh(rate * (rows[-1]["time"] - rows[0]["time"])) - 1))

    def test_thin_bodies_slide_over_sharp_edges(self):
        table = "box: {lower: [-1, -0.5, -1], upper: [0, 0.5, 0]}"
        slope = "box: {lower: [0, -0.5, -0.5], upper: [2, 0.5, 0]}, rotate: {axis: [0, 1, 0], angle: %g}"
        cases = [(kind, 90, 0.02, False, [table]) for kind in HANGING_BODIES]
        cases += [("sheet", 90, 0.01, False, [table]), ("sheet", 90, 0.02, True, [f"{table}, {TURN}"]),
                  ("sheet", 90, 0.02, False, ["box: {lower: [-1, -0.5, -0.04], upper: [0, 0.5, 0]}"])]
        cases += [("sheet", angle, 0.02, False, [table, slope % angle]) for angle in (30, 60)]
        box = "box: {lower: [-1, %g, -1], upper: [%g, %g, %g]}"
        tables = {
            "twice the same": [table, table],
            "that overlap, with flush edges": [box % (-0.5, 0, 0.07, 0), box % (0.05, 0, 0.5, 0)],
            "of which one is lower": [box % (-0.5, 0, 0.07, -0.001), box % (0.05, 0, 0.5, 0)],
            "with a strip along the edge": [box % (-0.5, -0.01, 0.5, 0),
                                            "box: {lower: [-0.01, -0.5, -1], upper: [0, 0.5, 0]}"],
            "under a board": [box % (-0.5, 0, 0.5, -0.03), "box: {lower: [-1, -0.5, -0.03], upper: [0, 0.5, 0]}"]}
        cases += [("sheet", 90, 0.02, False, colliders) for colliders in tables.values()]
        for kind, angle, size, is_turned, colliders in cases:
            with self.subTest(kind=kind, angle=angle, size=size, turned=is_turned, walls=len(colliders)):
                share = self.fallen(kind, angle, size, is_turned, colliders)
                self.assertGreater(share, 0.6)  # 0.002 to 0.1 over sharp edges
                self.assertLess(share, 1.1)

    def test_long_steps_lay_down_what_gravity_brings_to_a_collider(self):
        (self.folder / "line.obj").write_text("v 0 0 0.005\nv 0.2 0 0.005\nl 1 2\n")
        sheet = ("kind: membrane, material: cloth, thickness: 4 mm, bending: {youngs_modulus: 5e5}, mesh: "
                 "{rectangle: {width: 0.2, height: 0.2}, across: 10, along: 10, translate: [0, 0, 0.005]}")
        strand = ("kind: strand, material: hair, radius: 2 mm, meets_grid: true, "
                  "curves: {curve_file: {path: line.obj}, spacing: 0.02}")
        for body, scheme, interval in (sheet, "implicit", 0.04), (strand, "explicit", 0.1):
            with self.subTest(body=body):
                rows = numbers(self.run_deck(self.deck(LAID_BY_ONE_STEP.format(
                    body=body, scheme=scheme, interval=interval)), "out", "--force"))
                self.assertGreater(max(row["dt"] for row in rows) ** 2 * 9.81, 2e-3)
                self.assertLess(largest_rise(rows), 1e-6 * rows[0]["mass"])
                self.assertAlmostEqual(rows[-1]["middle_z"], 0.002, delta=2e-4)

    def test_sharp_edges_are_met_as_drawn_where_the_deck_says_so(self):
        table = "box: {lower: [-1, -0.5, -1], upper: [0, 0.5, 0]}"
        self.assertLess(self.fallen("sheet", 90, 0.02, False, [table], "sharp"), 0.2)

    def test_steps_between_colliders_stop_what_slides(self):
        curb = ["shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}",
                "shape: {box: {lower: [0.33, -1, -0.5], upper: [2, 1, 0.01]}}"]
        deck = self.scene("velocity: [1, 0.2, 0], " + SLIDING["rigid"] % "", curb, [0, 0, -9.81])
        last = numbers(self.run_deck(deck, "out"))[-1]
        self.assertLess(last["momentum_x"] / last["mass"], 0.1)

    def test_colliders_that_begin_at_rest_pass_nothing(self):
        # Half way a cubic between two keys has 3/2 of the mean speed, which nothing at the start tells.
        plate = ("contact: %s, shape: {box: {lower: [-0.2, -0.1, -0.1], upper: [-0.1, 0.3, 0.3]}}, "
                 "motion: {keyframes: [{time: 0}, {time: 0.5}, {time: 1, translate: [2, 0, 0]}]}")
        stage = "stage: {scheme: implicit}, "
        implicit_solid = "stage: {scheme: implicit}, " + SLIDING["solid"] % ""
        cases = [("surface", SLIDING["rigid"] % "", "explicit"), ("surface", implicit_solid, "explicit"),
                 ("surface", SLIDING["gel"] % "", "implicit"), ("nodes", SLIDING["gel"] % "", "implicit")]
        for contact, body, scheme in cases:
            with self.subTest(contact=contact, body=body):
                deck = self.scene(body, [plate % contact], [0, 0, 0], end=1, time=f"scheme: {scheme}")
                last = numbers(self.run_deck(deck, "out", "--force"))[-1]
                self.assertGreater(last["momentum_x"] / last["mass"], 2)

    def test_colliders_without_end_that_turn_pass_nothing(self):
        # The point that they turn about is at rest all the time.
        turn = "motion: {center: %s, keyframes: [{time: 0.5}, {time: 0.6, rotate: {axis: [0, 1, 0], angle: %g}}]}"
        plane = "shape: {plane: {point: [0, 0, -0.01], normal: [0, 0, 1]}}, " + turn % ("[-1, 0, 0]", -60)
        drum = ("hollow: true, shape: {box: {lower: [-1, -1, -0.01], upper: [0.6, 1, 0.6]}}, " +
                turn % ("[-0.5, 0, 0.3]", -90))
        implicit_solid = "stage: {scheme: implicit}, " + SLIDING["solid"] % ""
        for body, scheme in (SLIDING["rigid"] % "", "explicit"), (implicit_solid, "explicit"), (
                SLIDING["gel"] % "", "implicit"):
            for collider in plane, drum:
                with self.subTest(body=body, collider=collider):
                    deck = self.scene(body, [collider], [0, 0, 0], end=0.6, time=f"scheme: {scheme}")
                    last = numbers(self.run_deck(deck, "out", "--force"))[-1]
                    speed = math.hypot(*(last[f"momentum_{axis}"] for axis in "xyz")) / last["mass"]
                    self.assertGreater(speed, 5)

    def test_rigid_bodies_that_overhang_an_edge_slide_on_to_it(self):
        # Points beyond the edge are as deep as springs sink in: they face no side of the table.
        table = "shape: {box: {lower: [-3, -1, -0.5], upper: [0, 1, 0]}%s}"
        round_table = "shape: {cylinder: {from: [-1, 0, -0.5], to: [-1, 0, 0], radius: 1}%s}"
        box = ("kind: rigid, density: 1000, contact: {restitution: %g}, velocity: %s, "
               "mesh: {block: {lower: [-0.35, -0.1, 0], upper: [0.25, 0.1, 0.2]}, size: 0.05%s}")
        turn = ", " + TURN
        for shape, restitution, is_turned in ((table, 0, False), (table, 0.5, False), (table, 0, True),
                                              (round_table, 0, False)):
            with self.subTest(shape=shape, restitution=restitution, turned=is_turned):
                gravity, velocity = [0, 0, -9.81], [-1, 0, 0]
                if is_turned:
                    gravity, velocity = turned(gravity), turned(velocity)
                more = turn if is_turned else ""
                deck = self.scene(box % (restitution, velocity, more), [shape % more], gravity, time="max_dt: 5 ms")
                rows = numbers(self.run_deck(deck, "out", "--force"))
                speed = sum(v * rows[-1][f"momentum_{axis}"] for v, axis in zip(velocity, "xyz")) / rows[-1]["mass"]
                self.assertAlmostEqual(speed, 1, delta=1e-3)
                self.assertLess(max(row["energy_less_work"] for row in rows),
                                rows[0]["energy_less_work"] + 1e-3 * rows[0]["kinetic_energy"])

    def test_elastic_bodies_slide_over_edges(self):
        table = ["shape: {box: {lower: [-3, -1, -0.5], upper: [0, 1, 0]}%s}"]
        continuum = "kind: continuum, material: stiff_rubber, sampling: poisson, shape: {box: {%s}%%s}"
        mesh = "mesh: {block: {%s}, size: 0.05%%s}"
        solid = "kind: solid, material: stiff_rubber, carrier: own, meets_grid: true, " + mesh
        on_grid = "kind: solid, material: stiff_rubber, carrier: grid, " + mesh
        inwards, outwards = (f"lower: [-0.35, -0.1, 0], upper: [{end}, 0.1, 0.2]" for end in (0.25, -0.05))
        for body, box, vx, is_turned in ((continuum, inwards, -1, False), (continuum, inwards, -1, True),
                                         (continuum, outwards, 1, False), (solid, inwards, -1, False),
                                         (solid, inwards, -1, True), (on_grid, inwards, -1, False),
                                         (on_grid, inwards, -1, True)):
            with self.subTest(body=body, velocity=vx, turned=is_turned):
                gravity, velocity = [0, 0, -9.81], [vx, 0, 0]
                if is_turned:
                    gravity, velocity = turned(gravity), turned(velocity)
                more = ", " + TURN if is_turned else ""
                deck = self.scene(body % box % more + f", velocity: {velocity}", [table[0] % more], gravity, end=0.3)
                rows = numbers(self.run_deck(deck, "out", "--force"))
                speed = sum(v * rows[-1][f"momentum_{axis}"] for v, axis in zip(velocity, "xyz")) / rows[-1]["mass"]
                # Its own weight bends what overhangs, and edges push along its surface.
                self.assertAlmostEqual(speed, 1, delta=0.04)
                self.assertLess(max(row["energy_less_work"] for row in rows),
                                rows[0]["energy_less_work"] + 0.02 * rows[0]["kinetic_energy"])

    def test_rigid_bodies_go_into_a_slot_in_long_steps(self):
        slot = ["box: {lower: [0, -1, -0.5], upper: [1, 1, 0]}", "box: {lower: [0, -1, 0.101], upper: [1, 1, 0.6]}"]
        board = ("kind: rigid, density: 1000, velocity: [1, 0, 0], "
                 "mesh: {block: {lower: [-0.6, -0.1, 0.0005], upper: [-0.1, 0.1, 0.1005]}, size: 0.05}")
        last = numbers(self.run_deck(self.scene(board, ["shape: {%s}" % box for box in slot], [0, 0, 0],
                                                time="max_dt: 1 s"), "out"))[-1]
        self.assertAlmostEqual(last["momentum_x"] / last["mass"], 1, delta=1e-9)

    def test_rigid_bodies_meet_the_side_of_a_table(self):
        table = "shape: {box: {lower: [-3, -1, -0.5], upper: [0, 1, 0.02]}}"
        box = ("kind: rigid, density: 1000, velocity: [-1, 0, 0], "
               "mesh: {block: {lower: [0.05, -0.1, -0.1], upper: [0.25, 0.1, 0.1]}, size: 0.05}")
        last = numbers(self.run_deck(self.scene(box, [table], [0, 0, 0]), "out"))[-1]
        self.assertGreater(last["momentum_x"] / last["mass"], -0.3)

    def squeezed(self, material, condition, path, scheme="explicit"):
        deck = self.deck(SQUEEZED.format(material=material, scheme=scheme, colliders=squeezing_planes(condition, path)))
        return numbers(self.run_deck(deck, "out", "--force"))

    def test_walls_that_hold_what_is_sheared_to_and_fro_do_not_press_it_ever_more(self):
        def path(t):
            shear = math.exp(0.06 * math.sin(4 * math.pi * max(0, t - 0.4)))
            return [(1 - 0.01 * min(t / 0.3, 1)) / shear, shear, 1]

        goo = ("{law: herschel_bulkley, density: 100, shear_modulus: 2e4, bulk_modulus: 2e5, yield_stress: 200, "
               "consistency: 100, flow_index: 1}")
        for scheme in "explicit", "implicit":
            with self.subTest(scheme=scheme):
                rows = self.squeezed(goo, "slip", path, scheme)

                def force(begin, end):  # in the mean, on a wall that stands still
                    first, last = (min(rows, key=lambda row: abs(row["time"] - t)) for t in (begin, end))
                    return (last["impulse_low_2_z"] - first["impulse_low_2_z"]) / (last["time"] - first["time"])

                self.assertLess(force(1.88, 1.92) / force(0.36, 0.4), 1.15)  # three cycles before
                self.assertGreater(force(1.88, 1.92) / force(0.36, 0.4), 0.9)

    def test_what_walls_that_hold_drag_gains_no_energy(self):
        plane = ("condition: sticky, motion: {velocity: [0.06, 0, 0]}, "
                 "shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}")
        goo = ("law: herschel_bulkley, density: 1000, bulk_modulus: 1e5, shear_modulus: 1e5, yield_stress: 1e-3, "
               "consistency: 40, flow_index: 1")
        deck = self.scene(SLIDING["gel"] % "", [plane], [0, 0, 0], dx=0.02, end=0.3,
                          time="scheme: implicit, max_dt: 3 ms")
        deck.write_text(deck.read_text().replace("law: fixed_corotated, density: 1000, youngs_modulus: 2e5, "
                                                 "poisson_ratio: 0.3", goo))
        rows = numbers(self.run_deck(deck, "out"))
        self.assertLess(rows[-1]["energy_less_work"], rows[0]["energy_less_work"])

    def test_what_colliders_close_on_stays_between_them(self):
        floor = "shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}"
        press = ("shape: {box: {lower: [-1, -1, 0.2], upper: [1, 1, 0.5]}}, motion: {keyframes: [{time: 0}, "
                 "{time: 0.1, translate: [0, 0, %g]}, {time: 0.2, translate: [0, 0, %g]}, {time: 0.3}]}")
        box = "shape: {box: {lower: [0.15, -0.5, 0], upper: [1, 1, 0.2]}}"  # material is there from the start
        sheet = SLIDING["sheet"] % ", translate: [0, 0, 0.0026]"
        rubber = ("kind: solid, material: rubber, carrier: own, meets_grid: true, "
                  "mesh: {block: {lower: [0, 0, 0], upper: [0.3, 0.3, 0.02]}, size: 0.05}")
        cases = {
            "a press that comes to the floor": (sheet, press % (-0.2, -0.2)),
            "a press that comes near": (sheet, press % (-0.19997, -0.19997)),
            "a press that goes into the floor": (sheet, press % (-0.205, -0.205)),
            "a sheet under a box": (sheet, box),
            "a solid under a box": (rubber, box),
            "a sheet near the bottom of a plate": (SLIDING["sheet"] % ", translate: [0, 0, 0.002]",
                                                   "shape: {box: {lower: [-1, -1, 0], upper: [1, 1, 0.01]}}"),
        }
        box_of = "probes: [{name: box, body: body, bounding_box: {}}]\n"
        for case, (body, other) in cases.items():
            with self.subTest(case=case):
                deck = self.scene(body, [floor, other], [0, 0, -9.81], box_of, end=0.35)
                rows = numbers(self.run_deck(deck, "out", "--force"))
                self.assertGreater(min(row["box_lower_z"] for row in rows), -0.004)
                if "under" in case:
                    self.assertLess(largest_rise(rows), 0.02 * rows[0]["energy_less_work"])

    def test_walls_that_hold_pull_at_nothing_that_another_wall_has_touched(self):
        # Weightless liquid beside two walls, and in the corner of a hollow box.
        corner = "shape: {box: {lower: [0, 0, 0], upper: [0.1, 0.1, 0.06]}}"
        for walls in (["condition: sticky, shape: {%s}" % form for form in TANK[:2]],
                      ["condition: sticky, hollow: true, shape: {box: {lower: [0, 0, 0], upper: [1, 1, 1]}}"]):
            deck = self.scene("kind: continuum, material: syrup, " + corner, walls, [0, 0, 0], dx=0.02, end=0.1)
            rows = numbers(self.run_deck(deck, "out", "--force"))
            self.assertLess(max(row["energy_less_work"] for row in rows), 1e-20)
        # A solid stands on the floor beside a wall that pulls what it has touched.
        walls = ["shape: {%s}" % TANK[0], "condition: slip, shape: {%s}" % TANK[1]]
        body = ("kind: solid, material: rubber, carrier: own, meets_grid: true, "
                "mesh: {block: {lower: [0.0025, 0, 0], upper: [0.2025, 0.2, 0.1]}, size: 0.05}")
        rows = numbers(self.run_deck(self.scene(body, walls, [0, 0, -9.81], end=0.2), "out", "--force"))
        self.assertLess(max(abs(row["momentum_x"]) for row in rows), 1e-3 * rows[0]["mass"])

    def test_water_in_a_sticky_tank_stays_at_rest_and_is_the_same_on_any_ranks(self):
        deck = self.scene("kind: continuum, material: water, shape: {box: {lower: [0, 0, 0], upper: [0.3, 0.2, 0.15]}}",
                          ["condition: sticky, shape: {%s}" % form for form in TANK], [0, 0, -9.81], dx=0.04, end=0.5)
        rows = numbers(self.run_deck(deck, "alone"))
        # It creeps: 0.2 % of its energy. Where walls pulled what others had touched it was 5 %.
        self.assertLess(largest_rise(rows), 3e-3 * rows[0]["energy_less_work"])
        early = ["--steps", 100]
        alone = self.run_deck(deck, "alone", *early, "--force")
        for ranks in 2, 3, 4, 7:
            self.assert_same_state(alone, self.run_deck(deck, f"on_{ranks}", *early, ranks=ranks), 1e-10)
        self.run_deck(deck, "half", "--steps", 50)
        self.run_deck(deck, "half", *early, "--resume", "auto")
        self.assert_same_state(alone, self.folder / "half", 0)


if __name__ == "__main__":
    unittest.main()
