#!/usr/bin/env python3
"""Proves that boxes, plates and bodies of other shapes slide, land, rest and float on what other layers hold:
tests/end_to_end/test_on_other_layers.py WEFT."""
import math
import unittest

from program import Case, history, largest_rise, numbers, weft
import numpy
import weft_read

# A block of material laid on a stiff slab, between the nodes.
LAID = """
weft: 1
title: Laid
domain: {{dx: 0.05, gravity: [0, -9.81, 0]}}
time: {{end: 0.3, frame_interval: 0.3}}
materials:
  jelly: {{law: fixed_corotated, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}}
  rubber: {{law: fixed_corotated, density: 1000, youngs_modulus: 1e6, poisson_ratio: 0.3}}
bodies:
  - {{name: slab, kind: solid, material: rubber, carrier: own, meets_grid: true, damping: 100,
     contact: {{tolerance: {tolerance}}},
     mesh: {{block: {{lower: [0.01, 0.013, 0.02], upper: [0.41, 0.213, 0.42]}}, size: 0.1}}}}
  - {{name: block, kind: continuum, material: jelly, sampling: regular,
     shape: {{box: {{lower: [0.11, {bottom}, 0.12], upper: [0.31, {top}, 0.32]}}}}}}
layer_contact: [{{between: [materials, slab], friction: {friction}}}]
colliders: [{{name: floor, shape: {{plane: {{point: [0, 0.013, 0], normal: [0, 1, 0]}}}}, condition: sticky}}]
probes:
  - {{name: top, body: slab, quantile: {{field: position_y, q: 1}}}}
  - {{name: bottom, body: block, quantile: {{field: position_y, q: 0}}}}
output: {{diagnostics_every: 1}}
"""

# A block of jelly that touches a rigid plate that stays.
KEPT = """
weft: 1
title: Kept
domain: {{dx: 0.05, gravity: [0, 0, -9.81]}}
time: {{end: 1, frame_interval: 1}}
materials: {{jelly: {{law: neo_hookean, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}}}}
bodies:
  - {{name: block, kind: continuum, material: jelly, sampling: {sampling},
     shape: {{box: {{lower: [-0.1, -0.1, 0], upper: [0.1, 0.1, 0.15]}}, translate: {at}}}}}
  - {{name: plate, kind: rigid, density: 1000, joint: {{motion: {{}}}},
     mesh: {{size: 0.1, block: {{lower: [-0.2, -0.2, -0.2], upper: [0.2, 0.2, 0]}}, translate: {at}}}}}
layer_contact: [{{between: [materials, plate], friction: 0.5}}]
"""

# A lump of wet sand meets a soft cube in the air, off its middle.
THROWN = """
weft: 1
title: Thrown
domain: {dx: 0.04, gravity: [0, 0, 0]}
time: {end: 0.15, frame_interval: 0.15}
materials:
  sand: {law: drucker_prager, density: 1000, youngs_modulus: 2e5, poisson_ratio: 0.3, friction_angle: 33,
         cohesion: 2000}
  rubber: {law: fixed_corotated, density: 1000, youngs_modulus: 2e5, poisson_ratio: 0.3}
bodies:
  - {name: lump, kind: continuum, material: sand, velocity: [1, 0, 0],
     shape: {box: {lower: [-0.205, -0.08, -0.08], upper: [-0.045, 0.08, 0.08]}}}
  - {name: cube, kind: solid, material: rubber, carrier: own, meets_grid: true, velocity: [-1, 0, 0],
     mesh: {block: {lower: [0.045, 0.02, -0.01], upper: [0.205, 0.18, 0.15]}, size: 0.054}}
layer_contact: [{between: [materials, cube], friction: 0.3}]
output: {diagnostics_every: 1}
"""

# Water in a tub that is held, of walls of 2 dx, turned and between the nodes.
TUB = """
weft: 1
title: Tub
domain: {dx: 0.025, gravity: [0, 0, -9.81]}
time: {end: 0.6, frame_interval: 0.6}
materials: {water: {law: tait, density: 1000, bulk_modulus: 5e4, viscosity: 0.5}}
bodies:
  - {name: tub, kind: rigid, density: 1000, joint: {slider: {axis: [1, 0, 0], speed: 0}},
     mesh: {file: {path: tub.obj}, rotate: {axis: [0, 1, 0], angle: 20}, translate: [0.0071, 0.0043, 0.0117]}}
  - {name: water, kind: continuum, material: water,
     shape: {box: {lower: [-0.075, -0.0625, 0], upper: [0.075, 0.0625, 0.1]}, rotate: {axis: [0, 1, 0], angle: 20},
             translate: [0.0071, 0.0043, 0.0117]}}
layer_contact: [{between: [materials, tub], friction: 0}]
"""


def tub(half, height, wall):
    """As OBJ: walls and a floor about a box that is open above, half its width and breadth from the origin [m]."""
    lines = []
    for more, bottom in (wall, -wall), (0, 0):
        for z in bottom, height:
            for x, y in (-1, -1), (1, -1), (1, 1), (-1, 1):
                lines.append(f"v {x * (half[0] + more)} {y * (half[1] + more)} {z}")
    quads = [(4, 3, 2, 1), (9, 10, 11, 12)]
    for k in range(4):
        a, b = 1 + k, 1 + (k + 1) % 4
        quads += [(a, b, b + 4, a + 4), (b + 8, a + 8, a + 12, b + 12), (a + 4, b + 4, b + 12, a + 12)]
    for a, b, c, d in quads:
        lines += [f"f {a} {b} {c}", f"f {a} {c} {d}"]
    return "\n".join(lines) + "\n"


# A box on a sheet or shell whose vertices are all held, on a layer of its own.
ON_HELD = """
weft: 1
domain: {{dx: 0.02, gravity: {gravity}}}
time: {{end: 0.1, frame_interval: 0.1}}
materials:
  silk: {{law: sheet, density: 300, youngs_modulus: 3e5, poisson_ratio: 0.3, contact: {{stiffness: 1.5e5}}}}
  rubber: {{law: stvk_hencky, density: 300, youngs_modulus: 3e5, poisson_ratio: 0.3}}
bodies:
  - {{name: sheet, {sheet}, thickness: 1 mm,
     mesh: {{rectangle: {{width: 0.5, height: 0.3}}, across: 25, along: 15, translate: [-0.15, -0.15, 0.0005]}}}}
  - {{name: box, {box},
     mesh: {{block: {{lower: [-0.0637, -0.0581, {bottom}], upper: [0.0563, 0.0619, {top}]}}, size: 0.04}}}}
handles: [{{name: held, body: sheet, hold: {{}}}}]
layer_contact: [{{between: [materials, box], friction: {friction}}}]
probes: [{{name: centre, body: box, centre_of_mass: {{}}}}]
output: {{diagnostics_every: 1}}
"""

# A box on material of another layer that fills space, both turned about y from the axes.
ON_MATERIAL = """
weft: 1
domain: {{dx: 0.02, gravity: [{gravity}]}}
time: {{end: {end}, frame_interval: {end}}}
materials:
  jelly: {{law: stvk_hencky, density: 300, youngs_modulus: 1e5, poisson_ratio: 0.3}}
  sand: {{law: drucker_prager, density: 1600, youngs_modulus: 3e5, poisson_ratio: 0.3, friction_angle: 35}}
bodies:
  - {{name: base, {base}}}
  - {{name: box, {box},
     mesh: {{block: {{lower: [-0.06, -0.06, 0.001], upper: [0.06, 0.06, 0.081]}}, size: 0.04,
            rotate: {{axis: [0, 1, 0], angle: {turned}}}, translate: [{place}]}}}}
{held}
layer_contact: [{{between: [materials, box], friction: {friction}}}]
probes: [{{name: centre, body: box, centre_of_mass: {{}}}}]
output: {{diagnostics_every: 1}}
"""
SLAB = "{{lower: [-0.16, -0.12, -0.08], upper: [0.36, 0.12, 0]}}"


def frustum(sides, low, high, height):
    """An OBJ file of what stands on a regular polygon and narrows upwards, with circles of these radii."""
    turns = [2 * math.pi * k / sides for k in range(sides)]
    points = [(r * math.cos(a), r * math.sin(a), z) for r, z in ((low, 0), (high, height)) for a in turns]
    rims = [[k + 1, (k + 1) % sides + 1] for k in range(sides)]
    faces = [[a, b, b + sides, a + sides] for a, b in rims]
    caps = [[points_at for points_at in range(sides, 0, -1)], [sides + k + 1 for k in range(sides)]]
    fans = [[cap[0], cap[k], cap[k + 1]] for cap in caps for k in range(1, sides - 1)]
    return "".join(f"v {x} {y} {z}\n" for x, y, z in points) + \
        "".join("f " + " ".join(map(str, face)) + "\n" for face in faces + fans)


class OnOtherLayers(Case):
    def test_boxes_slide_on_materials(self):
        def way(base, friction=0, degrees=45, turned=0, place=(0, 0, 0), box="kind: rigid, density: 300", held="all",
                end=0.1):
            slope, turn = math.radians(degrees - turned), math.radians(turned)
            slab = SLAB.replace("{{", "{").replace("}}", "}")
            low = {"all": "[9, 9, 9]", "half": f"[9, 9, {place[2] - 0.04}]"}
            handles = f"handles: [{{name: h, body: base, hold: {{}}, where: {{box: {{lower: [-9, -9, -9], " \
                      f"upper: {low[held]}}}}}}}]" if held in low else held
            at = f"translate: [{', '.join(map(str, place))}]"
            deck = self.deck(ON_MATERIAL.format(
                gravity=f"{9.81 * math.sin(slope)}, 0, {-9.81 * math.cos(slope)}", end=end, friction=friction, box=box,
                base=base.format(slab=slab, turned=f"rotate: {{axis: [0, 1, 0], angle: {turned}}}", at=at),
                turned=turned, place=", ".join(map(str, place)), held=handles))
            rows = numbers(self.run_deck(deck, "run", "--force"))
            self.assertLess(largest_rise(rows), 2e-3)
            x, z = (rows[-1][f"centre_{axis}"] - rows[0][f"centre_{axis}"] for axis in "xz")
            angle = math.radians(degrees)
            exact = 9.81 * (math.sin(angle) - friction * math.cos(angle)) * rows[-1]["time"]**2 / 2
            return (x * math.cos(turn) - z * math.sin(turn)) / exact, x * math.sin(turn) + z * math.cos(turn)

        jelly = "kind: continuum, material: jelly, sampling: regular, shape: {{box: {slab}, {at}}}"
        solid = "kind: solid, material: jelly, carrier: grid, mesh: {{block: {slab}, size: 0.02, {turned}, {at}}}"
        soft = "kind: solid, material: jelly, carrier: own, meets_grid: true"
        sand = "kind: continuum, material: sand, sampling: regular, shape: {{box: {slab}, {at}}}"
        walls = "colliders: [{name: walls, hollow: true, condition: sticky, " \
                "shape: {box: {lower: [-0.16, -0.12, -0.08], upper: [0.36, 0.12, 1]}}}]"
        for name, ratio, of in (("held jelly", 0.01, {"base": jelly, "place": (0.006, 0, 0.01)}),
                                ("jelly", 0.01, {"base": jelly, "held": "half"}),
                                ("a soft box", 0.01, {"base": jelly, "held": "half", "box": soft}),
                                ("friction", 0.03, {"base": jelly, "held": "half", "degrees": 30, "friction": 0.2}),
                                ("a solid", 0.01, {"base": solid, "held": "half", "place": (0.006, 0, 0.01)}),
                                ("a turned solid", 0.04, {"base": solid, "turned": 33}),
                                ("sand", 0.05, {"base": sand, "held": walls, "degrees": 25, "friction": 0.1,
                                                "end": 0.2})):
            with self.subTest(on=name):
                along, up = way(**of)
                self.assertAlmostEqual(along, 1, delta=ratio)
                self.assertAlmostEqual(up, 0, delta=2e-3)

    def test_bodies_of_any_shape_slide_turn_and_rest_on_jelly_as_boxes_do(self):
        def laid(sides, top, turned, degrees=25, held="handles: [{name: h, body: base, hold: {}}]"):
            """Along over the exact way, and the largest turn, of what stands on sides and narrows to a part of that."""
            (self.folder / "body.obj").write_text(frustum(sides, 0.06, 0.06 * top, 0.06))
            slope = math.radians(degrees)
            deck = self.deck(f"""
weft: 1
domain: {{dx: 0.02, gravity: [{9.81 * math.sin(slope)}, 0, {-9.81 * math.cos(slope)}]}}
time: {{end: 0.12, frame_interval: 0.12}}
materials: {{jelly: {{law: neo_hookean, density: 1000, youngs_modulus: 1e6, poisson_ratio: 0.3}}}}
bodies:
  - {{name: base, kind: continuum, material: jelly, sampling: regular,
     shape: {{box: {{lower: [-0.1, -0.1, -0.06], upper: [0.16, 0.1, 0]}}}}}}
  - {{name: body, kind: rigid, density: 500,
     mesh: {{file: {{path: body.obj}}, rotate: {{axis: [0, 0, 1], angle: {turned}}}, translate: [0.006, 0.003, 0]}}}}
layer_contact: [{{between: [materials, body], friction: 0}}]
{held}
output: {{diagnostics_every: 1}}
""")
            rows = numbers(self.run_deck(deck, "run", "--force"))
            self.assertLess(largest_rise(rows), 2e-3)
            moved = [rows[-1][f"position_body_{axis}"] - rows[0][f"position_body_{axis}"] for axis in "xyz"]
            self.assertAlmostEqual(moved[1], 0, delta=2e-4)
            self.assertAlmostEqual(moved[2], 0, delta=5e-4)
            turn = max(abs(row[f"rotation_body_{axis}"]) for row in rows for axis in "xyz")
            return moved[0] / (9.81 * math.sin(slope) * rows[-1]["time"]**2 / 2) if degrees > 0 else moved[0], turn

        for name, of in (("a box turned about its height", (4, 1, 75)), ("a cylinder", (32, 1, 0)),
                         ("a prism", (6, 1, 10)), ("a frustum", (4, 0.6, 45)), ("a turned frustum", (4, 0.6, 75)),
                         ("a cone cut off", (32, 0.6, 0))):
            with self.subTest(shape=name):
                along, turn = laid(*of)
                self.assertAlmostEqual(along, 1, delta=0.015)
                self.assertLess(turn, 0.01)
        floor = "colliders: [{name: floor, condition: sticky, " \
                "shape: {plane: {point: [0, 0, -0.06], normal: [0, 0, 1]}}}]"
        for sides, top in (32, 1), (32, 0.6), (5, 0.4):
            with self.subTest(rests=sides, top=top):
                along, turn = laid(sides, top, 0, degrees=0, held=floor)
                self.assertAlmostEqual(along, 0, delta=2e-4)
                self.assertLess(turn, 0.01)

    def test_plates_slide_on_turned_jelly_as_boxes_do(self):
        slope, turned = math.radians(25 - 20), "rotate: {axis: [0, 1, 0], angle: 20}"
        gravity = [9.81 * math.sin(slope), 0, -9.81 * math.cos(slope)]
        for thickness in 0.04, 0.02, 0.01:
            with self.subTest(thickness=thickness):
                rows = numbers(self.run_deck(self.deck(f"""
weft: 1
domain: {{dx: 0.02, gravity: {gravity}}}
time: {{end: 0.1, frame_interval: 0.1}}
materials: {{jelly: {{law: neo_hookean, density: 1000, youngs_modulus: 1e6, poisson_ratio: 0.3}}}}
bodies:
  - {{name: base, kind: continuum, material: jelly, sampling: regular,
     shape: {{box: {{lower: [-0.12, -0.1, -0.08], upper: [0.2, 0.1, 0]}}, {turned}}}}}
  - {{name: plate, kind: rigid, density: 500, mesh: {{block: {{lower: [-0.06, -0.06, 0.0004],
     upper: [0.06, 0.06, {0.0004 + thickness}]}}, size: 0.04, {turned}}}}}
layer_contact: [{{between: [materials, plate], friction: 0}}]
colliders: [{{name: floor, condition: sticky, shape: {{plane: {{point: [0, 0, -0.08], normal: [0, 0, 1]}}, {turned}}}}}]
output: {{diagnostics_every: 1}}
"""), "run", "--force"))
                self.assertLess(largest_rise(rows), 1e-3)
                x, z = (rows[-1][f"position_plate_{axis}"] - rows[0][f"position_plate_{axis}"] for axis in "xz")
                c, s = math.cos(math.radians(20)), math.sin(math.radians(20))
                exact = 9.81 * math.sin(math.radians(25)) * rows[-1]["time"]**2 / 2
                self.assertAlmostEqual((x * c - z * s) / exact, 1, delta=0.03)
                self.assertAlmostEqual(x * s + z * c, 0, delta=1e-3)

    def test_sand_on_both_sides_of_a_wall_gains_no_energy(self):
        for thickness, middle in (0.05, 0), (0.1, 0.017):
            with self.subTest(thickness=thickness):
                left, right = middle - thickness / 2, middle + thickness / 2
                rows = numbers(self.run_deck(self.deck(f"""
weft: 1
domain: {{dx: 0.05, gravity: [0, 0, -9.81]}}
time: {{end: 0.3, frame_interval: 0.3}}
materials: {{sand: {{law: drucker_prager, density: 1600, youngs_modulus: 1e6, poisson_ratio: 0.3, friction_angle: 35}}}}
bodies:
  - {{name: left, kind: continuum, material: sand,
     shape: {{box: {{lower: [-0.4, -0.2, 0], upper: [{left}, 0.2, 0.3]}}}}}}
  - {{name: right, kind: continuum, material: sand,
     shape: {{box: {{lower: [{right}, -0.2, 0], upper: [0.4, 0.2, 0.3]}}}}}}
  - {{name: wall, kind: rigid, density: 1500,
     mesh: {{block: {{lower: [{left}, -0.19, 0.001], upper: [{right}, 0.19, 0.5]}}, size: 0.1}}}}
layer_contact: [{{between: [materials, wall], friction: 0}}]
colliders: [{{name: tank, hollow: true, shape: {{box: {{lower: [-0.4, -0.2, 0], upper: [0.4, 0.2, 2]}}}}}}]
output: {{diagnostics_every: 1}}
"""), "run", "--force"))
                self.assertLess(largest_rise(rows), 0.02)
                self.assertAlmostEqual(rows[-1]["position_wall_x"], rows[0]["position_wall_x"], delta=1e-3)

    def test_a_box_that_falls_flat_lands_upright_where_it_is_drawn(self):
        deck = self.deck("""
weft: 1
domain: {dx: 0.02, gravity: [0, 0, -9.81]}
time: {end: 0.12, frame_interval: 0.12}
materials: {jelly: {law: stvk_hencky, density: 300, youngs_modulus: 1e6, poisson_ratio: 0.3}}
bodies:
  - {name: base, kind: continuum, material: jelly, sampling: regular,
     shape: {box: {lower: [-0.12, -0.12, -0.08], upper: [0.12, 0.12, 0]}}}
  - {name: box, kind: rigid, density: 600,
     mesh: {block: {lower: [-0.05, -0.05, 0.04], upper: [0.05, 0.05, 0.14]}, size: 0.05}}
handles: [{name: h, body: base, hold: {}}]
layer_contact: [{between: [materials, box], friction: 0.3}]
output: {diagnostics_every: 1}
""")
        rows = numbers(self.run_deck(deck, "run"))
        for axis in "xyz":
            self.assertLess(max(abs(row[f"rotation_box_{axis}"]) for row in rows), 2e-3)
        lowest = min(row["position_box_z"] for row in rows) - 0.05
        self.assertAlmostEqual(lowest, 0, delta=0.3 * 0.02)  # with friction contact begins 0.25 dx before

    def test_boxes_leave_slide_on_and_reach_sheets_that_are_held(self):
        def way(gravity, friction=0, height=0.001, **of):
            kinds = {"sheet": "kind: membrane, material: silk", "box": "kind: rigid, density: 300"} | of
            places = {"bottom": height, "top": height + 0.08}
            deck = self.deck(ON_HELD.format(gravity=gravity, friction=friction, **places, **kinds))
            rows = numbers(self.run_deck(deck, "run", "--force"))
            moved = [rows[-1][f"centre_{axis}"] - rows[0][f"centre_{axis}"] for axis in "xyz"]
            self.assertAlmostEqual(moved[1], 0, delta=2e-4)
            return moved[0], moved[2], rows[-1]["time"]

        shell = "kind: shell, material: rubber, contact: {stiffness: 1.5e5}"
        solid = "kind: solid, material: rubber, carrier: own, meets_grid: true"
        for of in ({}, {"sheet": shell}, {"box": solid}):
            _, up, time = way([0, 0, 9.81], **of)  # away from the sheet
            self.assertAlmostEqual(up / (9.81 * time**2 / 2), 1, delta=0.01, msg=of)
            for friction in 0, 0.5:
                along, up, time = way([6.9367, 0, -6.9367], friction, **of)
                exact = 6.9367 * (1 - friction) * time**2 / 2
                self.assertAlmostEqual(along / exact, 1, delta=0.04, msg=(friction, of))
                self.assertAlmostEqual(up, 0, delta=3e-4)
        _, down, _ = way([0, 0, -9.81], height=0.04)  # lands after 0.09 s
        self.assertAlmostEqual(down, -0.039, delta=1e-3)

    def test_water_stays_in_a_tub_of_thin_walls(self):
        deck, half, dx = self.deck(TUB), numpy.array([0.075, 0.0625]), 0.025
        (self.folder / "tub.obj").write_text(tub(half, 0.15, 2 * dx))
        run = self.run_deck(deck, "run")
        c, s = numpy.cos(numpy.radians(20)), numpy.sin(numpy.radians(20))
        turned = numpy.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        x = (weft_read.Run(run).frame("water", 1).points - [0.0071, 0.0043, 0.0117]) @ turned
        depth = numpy.max([*(abs(x[:, :2]) - half).T, -x[:, 2]], axis=0)
        self.assertLess(depth.max(), 0.4 * dx)
        three = self.run_deck(deck, "three", "--steps", 60, ranks=3)
        self.assert_same_state(self.run_deck(deck, "one", "--steps", 60), three, 1e-10)

    def test_friction_does_not_hold_a_box_above_water(self):
        heights = []
        for friction in 0, 0.3:
            run = self.run_deck(self.deck(f"""
weft: 1
domain: {{dx: 0.05, gravity: [0, -9.81, 0]}}
time: {{end: 0.5, frame_interval: 0.5}}
materials: {{water: {{law: tait, density: 1000, bulk_modulus: 1e5, viscosity: 10}}}}
layer_contact: [{{between: [materials, box], friction: {friction}}}]
bodies:
  - {{name: water, kind: continuum, material: water, sampling: regular,
     shape: {{box: {{lower: [-0.3, 0, -0.3], upper: [0.3, 0.2, 0.3]}}}}}}
  - {{name: box, kind: rigid, density: 500,
     mesh: {{block: {{lower: [-0.1, 0.22, -0.1], upper: [0.1, 0.42, 0.1]}}, size: 0.1}}}}
colliders: [{{name: tank, hollow: true, shape: {{box: {{lower: [-0.3, 0, -0.3], upper: [0.3, 2, 0.3]}}}}}}]
output: {{diagnostics_every: 1}}
"""), f"{friction}")
            heights.append(float(history(run)[-1]["position_box_y"]))
        self.assertLess(heights[0], 0.31)  # it has fallen
        self.assertLess(heights[1] - heights[0], 0.06 * 0.05)  # of dx; the time of contact differs

    def test_materials_stand_on_solids_by_a_quarter_of_dx_wherever_they_fall_from(self):
        for friction, tolerance in (0, 1), (0.4, 1), (0.4, 1e-3):  # one pass, and many
            for height in 0.217, 0.25:
                with self.subTest(friction=friction, tolerance=tolerance, height=height):
                    rows = numbers(self.run_deck(self.deck(LAID.format(
                        friction=friction, tolerance=tolerance, bottom=height, top=height + 0.15)),
                        f"laid_{friction}_{tolerance}_{height}"))
                    gap = (rows[-1]["bottom"] - 0.25 * 0.05 - rows[-1]["top"]) / 0.05
                    self.assertAlmostEqual(gap, 0.2 if friction > 0 else 0, delta=0.1)

    def test_nodes_that_hardly_see_a_body_do_not_take_its_memory(self):
        rows = numbers(self.run_deck(self.deck(THROWN), "run"))
        self.assertNotIn("taken again", self.last.stderr)
        self.assertLess(largest_rise(rows), 1e-4 * rows[0]["energy_less_work"])

    def test_what_rests_on_a_body_stays_and_gains_no_energy(self):
        for sampling, at in ("regular", [0, 0, 0]), ("poisson", [0.021, 0.013, 0.017]):
            with self.subTest(sampling=sampling):
                rows = numbers(self.run_deck(self.deck(KEPT.format(sampling=sampling, at=at)), sampling))
                self.assertLess(largest_rise(rows), 6 * 9.81 * 1e-3 * 0.05)  # its weight by a thousandth of dx

    def test_check_names_walls_through_which_liquid_may_seep(self):
        for thickness, law, is_named in ((0.05, "tait, density: 1000, bulk_modulus: 1e5", True),
                                         (0.1, "tait, density: 1000, bulk_modulus: 1e5", False),
                                         (0.05, "fixed_corotated, density: 1000, youngs_modulus: 1e5", False)):
            with self.subTest(thickness=thickness, law=law):
                done = weft("check", self.deck(f"""
weft: 1
domain: {{dx: 0.05, gravity: [0, 0, -9.81]}}
time: {{end: 0.1, frame_interval: 0.1}}
materials: {{fill: {{law: {law}{"" if "tait" in law else ", poisson_ratio: 0.3"}}}}}
bodies:
  - {{name: fill, kind: continuum, material: fill, shape: {{box: {{lower: [-0.1, -0.1, 0], upper: [0.1, 0.1, 0.1]}}}}}}
  - {{name: floor, kind: rigid, density: 1000,
     mesh: {{block: {{lower: [-0.5, -0.5, -{thickness}], upper: [0.5, 0.5, 0]}}, size: 0.25}}}}
layer_contact: [{{between: [materials, floor], friction: 0}}]
"""))
                self.assertEqual(done.returncode, 0, done.stderr)
                told = done.stdout + done.stderr
                self.assertEqual("body floor: parts of it are thinner than 1.5 dx" in told, is_named)


if __name__ == "__main__":
    unittest.main()
