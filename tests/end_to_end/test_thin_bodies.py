#!/usr/bin/env python3
"""Proves that sheets, shells, fibers, strands and thin plates meet what is on other layers, and that handles bear what
rests on what they hold: tests/end_to_end/test_thin_bodies.py WEFT."""
import itertools
import math
import re
import unittest

from program import Case, largest_rise, numbers, weft
import numpy

# A sheet, a shell or fibers above a rigid plate that stays.
LIGHT = """
weft: 1
title: Thin bodies on a plate
domain: {{dx: 0.05, gravity: [0, 0, -9.81]}}
time: {{end: 0.15, frame_interval: 0.15, max_dt: 1 ms}}
materials:
  cloth: {{law: sheet, density: 400, youngs_modulus: 1e5, poisson_ratio: 0.3, contact: {{stiffness: 1e5, friction: 0}}}}
  card: {{law: stvk_hencky, density: 400, youngs_modulus: 1e6, poisson_ratio: 0.3}}
  yarn: {{law: fiber, density: 1000, stretch_modulus: 2.5e6, shear_modulus: 0, youngs_modulus: 1e5, poisson_ratio: 0.3,
         friction_along: 0, friction_across: 0}}
bodies:
  - {{name: plate, kind: rigid, density: 1000, joint: {{motion: {{}}}},
     mesh: {{block: {{lower: [-0.4, -0.4, {bottom}], upper: [0.4, 0.4, {top}]}}, size: 0.2}}}}
  - {{name: body, {body}}}
layer_contact: [{{between: [materials, plate], friction: 0.3}}]
probes: [{{name: middle, body: body, centre_of_mass: {{}}}}]
output: {{diagnostics_every: 1}}
"""

SQUARE = "mesh: {{rectangle: {{width: 0.3, height: 0.3}}, across: 8, along: 8, translate: [-0.13, -0.16, {height}]}}"

THIN = {
    "sheet": "kind: membrane, material: cloth, thickness: 0.012, " + SQUARE,
    "shell": "kind: shell, material: card, thickness: 0.012, contact: {{stiffness: 1e5, friction: 0}}, " + SQUARE,
    "fibers": "kind: fiber, material: yarn, radius: 6 mm, curves: {{curve_file: {{path: yarn.obj}}, "
              "translate: [0, 0, {height}]}}",
}

YARN = "".join(f"v {0.02 * k - 0.15} {0.05 * j} 0\n" for j in range(2) for k in range(16)) + (
    "l " + " ".join(str(k) for k in range(1, 17)) + "\nl " + " ".join(str(k) for k in range(17, 33)) + "\n")

# Sand on a rigid plate of half a cell, with nothing below.
TABLE = """
weft: 1
title: Sand on a thin plate
domain: {{dx: 0.05, gravity: [0, 0, -9.81]}}
time: {{end: 0.2, frame_interval: 0.2}}
materials: {{sand: {{law: drucker_prager, density: 1600, youngs_modulus: 1e6, poisson_ratio: 0.3, friction_angle: 35}}}}
bodies:
  - {{name: heap, kind: continuum, material: sand,
     shape: {{box: {{lower: [0.1, 0.1, {top}], upper: [0.4, 0.4, {high}]}}}}}}
  - {{name: plate, kind: rigid, density: 1000, joint: {{motion: {{keyframes: [{{time: 0}}]}}}},
     mesh: {{block: {{lower: [-0.2, -0.2, {low}], upper: [0.7, 0.7, {top}]}}, size: 0.1}}}}
layer_contact: [{{between: [plate, materials], friction: 0.5}}]
"""

# The middle of a card, whose control points lie off its surface, is pressed into the floor. Its surface ends there.
PRESSED_CARD = """
weft: 1
domain: {{dx: 0.05, gravity: [0, -9.81, 0]}}
time: {{end: 0.6, frame_interval: 0.6}}
transfer: {{rpic_damping: 0.1}}
materials: {{card: {{law: stvk_hencky, density: 1000, youngs_modulus: 1e6, poisson_ratio: 0.3}}}}
bodies:
  - {{name: card, kind: shell, material: card, thickness: 4 mm, contact: {{stiffness: 1.5e4}},
     mesh: {{rectangle: {{width: 0.5, height: 0.5}}, across: 10, along: 10, rotate: {{axis: [1, 0, 0], angle: 90}},
            translate: [-0.25, 0.019, -0.25]}}}}
handles:
  - {{name: pin, body: card, where: {{box: {{lower: [-0.11, -1, -0.11], upper: [0.11, 1, 0.11]}}}},
     hold: {{motion: {{keyframes: [{{time: 0}}, {{time: 0.5, translate: [0, -0.04, 0]}}]}}}}}}
colliders:
  - {{name: floor, shape: {{plane: {{point: [0, 0.015, 0], normal: [0, 1, 0]}}}}, condition: {condition}}}
output: {{diagnostics_every: 1}}
"""

# A block lies on a sheet on a floor, each on a layer of its own.
COVERED_FLOOR = """
weft: 1
domain: {{dx: 0.05, gravity: [0, 0, -9.81]}}
time: {{end: 0.5, frame_interval: 0.5}}
materials:
  cloth: {{law: sheet, density: 400, youngs_modulus: 1.5e5, poisson_ratio: 0.3, contact: {{stiffness: 1e5}}}}
  rubber: {{law: fixed_corotated, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}}
bodies:
  - {{name: cloth, kind: membrane, material: cloth, thickness: 4 mm,
     mesh: {{rectangle: {{width: 0.5, height: 0.5}}, across: 10, along: 10, translate: [-0.25, -0.25, {sheet}]}}}}
  - {{name: block, {block}, 
     mesh: {{block: {{lower: [-0.2, -0.2, {bottom}], upper: [0.2, 0.2, {top}]}}, size: 0.1}}}}
layer_contact: [{{between: [block, materials], friction: 0.3}}]
colliders:
  - {{name: floor, shape: {{plane: {{point: [0, 0, {height}], normal: [0, 0, 1]}}}}, friction: {friction}}}
output: {{diagnostics_every: 1}}
"""

# Cords of stiff rubber fall on what is given, and slide.
STRAND_ON = """
weft: 1
domain: {{dx: 0.05, gravity: [1, 0, -9.81]}}
time: {{end: 0.4, frame_interval: 0.4}}
materials:
  rubber: {{law: rod, density: 1000, youngs_modulus: 1e7, poisson_ratio: 0.3}}
  gel: {{law: fixed_corotated, density: 1000, youngs_modulus: 2e4, poisson_ratio: 0.3}}
bodies:
  - {{name: cords, kind: strand, material: rubber, radius: 5 mm, meets_grid: true,
     curves: {{curve_file: {{path: cords.obj}}, translate: [0, 0, {height}]}}}}
  - {{name: base, {base}}}
output: {{diagnostics_every: 1}}
"""

# A sheet lies around half of a drum that stands still, and is pulled along it without friction.
DRUM = """
weft: 1
domain: {dx: 0.05, gravity: [0, 0, 0]}
time: {end: 0.5, frame_interval: 0.5}
materials: {cloth: {law: sheet, density: 500, youngs_modulus: 1e6, poisson_ratio: 0, contact: {stiffness: 1e5}}}
bodies:
  - {name: strip, kind: membrane, material: cloth, thickness: 1 cm, mesh: {file: {path: strip.obj}}}
  - {name: drum, kind: rigid, density: 1000, joint: {motion: {}},
     mesh: {shape: {cylinder: {from: [0, -0.15, 0], to: [0, 0.15, 0], radius: 0.2}}, size: 0.02}}
handles:
  - {name: load, body: strip, where: {box: {lower: [-2, -2, -2], upper: [-0.1, 2, -0.19]}},
     force: {total: [0, 0, -20], amplitude: [{time: 0, factor: 0}, {time: 0.2, factor: 1}]}}
  - {name: pull, body: strip, where: {box: {lower: [0.1, -2, -2], upper: [2, 2, -0.19]}},
     hold: {motion: {keyframes: [{time: 0.2}, {time: 2.2, translate: [0, 0, -0.2]}]}}}
output: {diagnostics_every: 10}
"""


def strip_around_drum(radius, width, hanging, along):
    """An OBJ file of a strip around the upper half of a cylinder about y, whose ends hang down."""
    arc = math.pi * radius
    places = numpy.arange(-hanging, arc + hanging + along / 2, (arc + 2 * hanging) / round((arc + 2 * hanging) / along))
    angles = numpy.pi - numpy.clip(places, 0, arc) / radius
    below = numpy.minimum(0, numpy.minimum(places, arc - places))
    rows = [f"v {radius * math.cos(a)} {y} {radius * math.sin(a) + z}"
            for a, z in zip(angles, below) for y in (-width / 2, 0, width / 2)]
    faces = [f"f {3 * k + j + 1} {3 * k + j + 2} {3 * k + j + 5} {3 * k + j + 4}"
             for k in range(len(places) - 1) for j in (0, 1)]
    return "\n".join(rows + faces) + "\n"


# A block on a sheet that a handle holds, on a layer of its own; gravity leans by an angle.
HELD = """
weft: 1
title: Held
domain: {{dx: 0.05, gravity: [{along}, 0, {down}]}}
time: {{end: 0.3, frame_interval: 0.3}}
materials:
  jelly: {{law: fixed_corotated, density: 1000, youngs_modulus: 2e5, poisson_ratio: 0.3}}
  cotton: {{law: sheet, density: 500, youngs_modulus: 1e6, poisson_ratio: 0.3, contact: {{stiffness: 2e4}}}}
layers: [{{name: cloth}}]
bodies:
  - {{name: sheet, kind: membrane, material: cotton, thickness: 4 mm, layer: cloth,
     mesh: {{rectangle: {{width: 1, height: 0.6}}, across: 30, along: 18, translate: [-0.35, -0.3, {top}]}}}}
  - {{name: block, kind: continuum, material: jelly, sampling: regular,
     shape: {{box: {{lower: [-0.1, -0.1, {bottom}], upper: [0.1, 0.1, {upper}]}}}}}}
layer_contact: [{{between: [materials, cloth], friction: 0.3}}]
handles:
  - {{name: hand, body: sheet, where: {{box: {{lower: [-9, -9, -9], upper: [9, 9, 9]}}}}, hold: {{}}}}
probes:
  - {{name: middle, body: block, centre_of_mass: {{}}}}
output: {{diagnostics_every: 1}}
"""

# A body on another layer is led against a block on a floor, which it presses by nearly a tenth.
LED = """
weft: 1
title: Led
domain: {{dx: 0.05, gravity: [0, 0, 0]}}
time: {{end: 0.25, frame_interval: 0.25, max_dt: {dt}}}
materials:
  jelly: {{law: fixed_corotated, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0}}
  cotton: {{law: sheet, density: 500, youngs_modulus: 5e5, poisson_ratio: 0.3, contact: {{stiffness: 2e4}}}}
layers: [{{name: other}}]
bodies:
  - {{name: plate, layer: other, {plate}}}
  - {{name: block, kind: continuum, material: jelly, sampling: regular,
     shape: {{box: {{lower: [-0.1, -0.1, 0], upper: [0.1, 0.1, 0.2]}}}}}}
layer_contact: [{{between: [materials, other], friction: 0}}]
colliders: [{{name: floor, shape: {{plane: {{point: [0, 0, 0], normal: [0, 0, 1]}}}}}}]
handles:
  - {{name: hand, body: plate, where: {{box: {{lower: [-9, -9, -9], upper: [9, 9, 9]}}}},
     hold: {{motion: {{keyframes: [{{time: 0}}, {{time: 0.2, translate: [0, 0, -0.02]}}]}}}}}}
output: {{diagnostics_every: 1}}
"""

# A thin body falls on a collider and hangs over its edges.
GRIPPED = """
weft: 1
title: Held by a collider
domain: {{dx: 0.05, gravity: [1, 0.5, -9.81]}}
time: {{end: 0.4, frame_interval: 0.4}}
materials:
  cloth: {{law: sheet, density: 400, youngs_modulus: 1e5, poisson_ratio: 0.3,
          contact: {{stiffness: 1e4, friction: 0.3}}}}
  card: {{law: stvk_hencky, density: 1000, youngs_modulus: 1e6, poisson_ratio: 0.3}}
bodies:
  - {{name: body, {body}, translate: [-0.31, -0.22, 0.34]}}}}
colliders: [{{name: under, condition: {condition}, shape: {{{shape}}}}}]
output: {{diagnostics_every: 1}}
"""

GRIPPING = {
    "sheet": "kind: membrane, material: cloth, thickness: 4 mm, "
             "mesh: {rectangle: {width: 0.6, height: 0.5}, across: 10, along: 10",
    "shell": "kind: shell, material: card, thickness: 0.01, contact: {stiffness: 1e5, friction: 0.3}, "
             "mesh: {rectangle: {width: 0.6, height: 0.5}, across: 6, along: 6",
    "board": "kind: shell, material: card, thickness: 0.03, contact: {stiffness: 1e5, friction: 0.3}, "
             "mesh: {rectangle: {width: 0.6, height: 0.5}, across: 10, along: 8"}

LEADING = {
    "sheet": "kind: membrane, material: cotton, thickness: 4 mm, mesh: {rectangle: {width: 0.6, height: 0.6}, "
             "across: 18, along: 18, translate: [-0.3, -0.3, 0.203]}",
    "continuum": "kind: continuum, material: jelly, sampling: regular, "
                 "shape: {box: {lower: [-0.3, -0.3, 0.201], upper: [0.3, 0.3, 0.301]}}"}


class ThinBodies(Case):
    def test_what_begins_with_a_jump_or_bends_too_stiffly_is_warned_of(self):
        deck = """
weft: 1
domain: {{dx: 0.1}}
time: {{end: 0.1, frame_interval: 0.1}}
materials: {{foil: {{law: von_mises, density: 100, youngs_modulus: 1e5, poisson_ratio: 0.3, yield_stress: 1e3}}}}
bodies:
  - {{name: card, kind: shell, material: foil, thickness: 0.01, {laminae} contact: {{stiffness: 1e5, friction: 0}},
     mesh: {{rectangle: {{width: 0.6, height: 0.4}}, across: 6, along: 4}}}}
handles:
  - {{name: hand, body: card, where: {{box: {{lower: [-1, -1, -1], upper: [0.01, 1, 1]}}}},
     hold: {{motion: {{keyframes: [{{time: 0, translate: [0, 0, {jump}]}}, {{time: 0.1, translate: [0, 0, 0.1]}}]}}}}}}
"""
        for laminae, jump in itertools.product(("", "laminae: 5,", "across: quarter,"), (0, 0.02)):
            with self.subTest(laminae=laminae, jump=jump):
                done = weft("check", self.deck(deck.format(laminae=laminae, jump=jump)))
                self.assertEqual(done.returncode, 0, done.stderr)
                told = done.stdout + done.stderr
                self.assertEqual("handles.hand: its motion begins elsewhere than the body is drawn" in told, jump != 0)
                self.assertEqual("two laminae bear a bending moment that is 15 % too large" in told, laminae == "")

    def test_a_shell_of_squares_and_triangles_weighs_its_volume(self):
        points = [f"v {i / 6!r} {j / 4!r} 0" for j in range(5) for i in range(7)]
        faces = []
        for j in range(4):
            for i in range(6):
                a = 7 * j + i + 1
                b, c, d = a + 1, a + 8, a + 7
                faces += [[f"f {a} {b} {c} {d}"], [f"f {a} {b} {c}", f"f {a} {c} {d}"],
                          [f"f {a} {b} {d}", f"f {b} {c} {d}"]][(i * i + 2 * j + i * j) % 3]
        (self.folder / "card.obj").write_text("\n".join(points + faces) + "\n")
        deck = self.deck("""
weft: 1
domain: {dx: 0.5}
time: {end: 0.1, frame_interval: 0.1}
materials: {card: {law: stvk_hencky, density: 100, youngs_modulus: 1e5, poisson_ratio: 0.3}}
bodies:
  - {name: card, kind: shell, material: card, thickness: 0.01, mesh: {file: {path: card.obj}},
     contact: {stiffness: 1e5, shear_stiffness: 1e4, friction: 0}}
""")
        done = weft("check", deck)
        self.assertEqual(done.returncode, 0, done.stderr)
        mass, volume = map(float, re.search(r"; (\S+) kg in (\S+) m\^3", done.stdout).groups())
        self.assertAlmostEqual(volume, 0.01, delta=1e-5)
        self.assertAlmostEqual(mass, 1, delta=1e-3)

    def test_thin_bodies_rest_on_a_rigid_plate_by_half_their_thickness(self):
        (self.folder / "yarn.obj").write_text(YARN)
        for name, body in THIN.items():
            for top in 0, 0.018:
                with self.subTest(body=name, top=top):
                    deck = self.deck(LIGHT.format(bottom=top - 0.2, top=top, body=body.format(height=top + 0.05)))
                    run = self.run_deck(deck, f"{name}_{top}")
                    height = numbers(run)[-1]["middle_z"] - top
                    self.assertAlmostEqual(height / 0.05, 0.006 / 0.05, delta=0.01)
        for ranks in 2, 3, 4, 7:
            with self.subTest(ranks=ranks):
                self.assert_same_state(run, self.run_deck(deck, str(ranks), ranks=ranks), 1e-10)

    def test_a_block_rests_on_a_sheet_that_a_handle_holds(self):
        for lean in 0, 25:
            along, down = 9.81 * math.sin(math.radians(lean)), 9.81 * math.cos(math.radians(lean))
            way = max(0, along - 0.3 * down) * 0.3 ** 2 / 2
            for top in 0, 0.018:
                with self.subTest(lean=lean, top=top):
                    deck = self.deck(HELD.format(along=along, down=-down, top=top, bottom=top + 0.003,
                                                 upper=top + 0.203))
                    run = self.run_deck(deck, f"held_{lean}_{top}")
                    rows = numbers(run)
                    moved = [rows[-1][f"middle_{axis}"] - rows[0][f"middle_{axis}"] for axis in "xz"]
                    self.assertAlmostEqual(moved[0], way, delta=0.02 * way + 0.002)
                    self.assertAlmostEqual(moved[1], 0, delta=0.1 * 0.05)
                    gained = rows[-1]["momentum_z"] - rows[1]["momentum_z"]
                    given = sum(row["force_hand_z"] * row["dt"] for row in rows[2:])
                    weight = down * rows[0]["mass"]
                    self.assertAlmostEqual(given - gained, weight * (rows[-1]["time"] - rows[1]["time"]),
                                           delta=1e-9 * weight)
        run = self.run_deck(deck, "1", "--steps", "40")
        for ranks in 2, 3, 4, 7:
            with self.subTest(ranks=ranks):
                self.assert_same_state(run, self.run_deck(deck, str(ranks), "--steps", "40", ranks=ranks), 1e-10)

    def test_what_handles_lead_presses_on_materials_of_other_layers(self):
        for name, plate in LEADING.items():
            for dt in 1e-3, 5e-4:
                with self.subTest(plate=name, dt=dt):
                    rows = numbers(self.run_deck(self.deck(LED.format(plate=plate, dt=dt)), f"{name}_{dt}"))
                    late = [-row["force_hand_z"] for row in rows if row["time"] > 0.22]
                    stiffness = 1e5 * 0.2  # E A / l; masses touch a little early
                    self.assertGreater(sum(late) / len(late), stiffness * 0.019 * 0.97)
                    self.assertLess(sum(late) / len(late), stiffness * (0.019 + 0.1 * 0.05))
                    # The hand's work is all that comes in; transfers dissipate a little of it, the more the more steps.
                    energy = [row["energy_less_work"] - rows[0]["energy_less_work"] for row in rows]
                    self.assertLess(max(energy), 1e-4 * rows[-1]["elastic_energy"])
                    self.assertGreater(energy[-1], -0.02 * rows[-1]["elastic_energy"])

    def test_strands_on_other_bodies_gain_no_energy(self):
        block = "lower: [-0.6, -0.4, -0.2], upper: [0.6, 0.4, 0]"
        plate = f"kind: rigid, density: 1000, joint: {{motion: {{}}}}, mesh: {{block: {{{block}}}, size: 0.2}}"
        gel = f"kind: continuum, material: gel, shape: {{box: {{{block}}}}}"
        (self.folder / "cords.obj").write_text(
            "".join(f"v {x / 20} {y / 20} 0\n" for y in range(-3, 4) for x in range(-4, 5)) +
            "".join(f"l {' '.join(str(9 * k + i) for i in range(1, 10))}\n" for k in range(7)))
        for name, base, height in ("plate", plate, 0.1), ("plate_between_nodes", plate, 0.123), ("gel", gel, 0.05):
            with self.subTest(base=name):
                rows = numbers(self.run_deck(self.deck(STRAND_ON.format(base=base, height=height)), name))
                fallen = 7 * 0.4 * math.pi * 0.005**2 * 1000 * 9.81 * 0.1  # by 0.1 m
                self.assertLess(largest_rise(rows), 0.02 * fallen)

    def test_a_sheet_on_a_drum_without_friction_passes_on_its_pull(self):
        (self.folder / "strip.obj").write_text(strip_around_drum(0.207, 0.1, 0.2, 0.05))
        rows = numbers(self.run_deck(self.deck(DRUM), "drum"))
        self.assertLess(largest_rise(rows), 0.05 * rows[-1]["work_pull"])
        late = [row["force_pull_z"] for row in rows if row["time"] > 0.35]
        self.assertAlmostEqual(sum(late) / len(late), -20, delta=1)

    def test_blocks_lie_on_a_sheet_on_a_floor(self):
        kinds = {"rigid": "kind: rigid, density: 1000",
                 "rubber": "kind: solid, material: rubber, carrier: own, meets_grid: true"}
        for (kind, keys), height, friction in itertools.product(kinds.items(), (0, 0.013), (0, 0.5)):
            with self.subTest(kind=kind, height=height, friction=friction):
                deck = COVERED_FLOOR.format(block=keys, height=height, friction=friction, sheet=height + 0.003,
                                            bottom=height + 0.008, top=height + 0.2)
                rows = numbers(self.run_deck(self.deck(deck), f"covered_{kind}_{height}_{friction}"))
                weight = 9.81 * rows[0]["mass"]
                # Of the weight times dx; found 0.005, and 0.3 where colliders act after layers have met alone.
                self.assertLess(largest_rise(rows), 0.01 * weight * 0.05)
                if kind == "rubber":  # it vibrates
                    continue
                first, last = next(row for row in rows if row["time"] > 0.3), rows[-1]
                force = (first["impulse_floor_z"] - last["impulse_floor_z"]) / (last["time"] - first["time"])
                self.assertLess(abs(force - weight), 0.05 * weight)
                self.assertGreater(last["position_block_z"], height + 0.096 - 0.005)  # of its middle, on the floor

    def test_grains_lie_on_thin_plates_as_on_thick_ones(self):
        # What falls of them, over their weight times the time: they settle, and run out at the sides.
        weight = 1600 * 0.3 * 0.3 * 0.2 * 9.81
        for top in 0.5, 0.517, 0.53:
            fallen = {}
            for thickness in 0.2, 0.05, 0.025:
                deck = self.deck(TABLE.format(low=top - thickness, top=top, high=top + 0.2))
                last = numbers(self.run_deck(deck, f"at_{top}_{thickness}"))[-1]
                fallen[thickness] = -last["momentum_z"] / (weight * last["time"])
            self.assertLess(fallen[0.2], 0.06)
            for thickness in 0.05, 0.025:
                self.assertAlmostEqual(fallen[thickness], fallen[0.2], delta=3e-3, msg=f"{top} {thickness}")

    def test_ranks_without_a_part_of_what_is_held_go_on_beside_rigid_bodies(self):
        deck = self.deck("""
weft: 1
domain: {dx: 0.02, gravity: [0, -9.81, 0]}
time: {end: 0.1, frame_interval: 0.1}
materials: {cloth: {law: sheet, density: 500, youngs_modulus: 1e5, poisson_ratio: 0.2, contact: {stiffness: 1e4}}}
bodies:
  - {name: sheet, kind: membrane, material: cloth, thickness: 2 mm,
     mesh: {rectangle: {width: 0.1, height: 0.1}, across: 5, along: 5, rotate: {axis: [1, 0, 0], angle: 90}}}
  - {name: box, kind: rigid, density: 700, mesh: {block: {lower: [0, 1, 0], upper: [0.16, 1.16, 0.16]}, size: 0.05}}
handles: [{name: h, body: sheet, where: {box: {lower: [-1, -1, -1], upper: [0.021, 1, 1]}}, hold: {}}]
output: {diagnostics_every: 1}
""")
        one = self.run_deck(deck, "one", "--steps", 20)
        for ranks in 2, 3, 4, 7:
            self.assert_same_state(one, self.run_deck(deck, f"{ranks}", "--steps", 20, ranks=ranks), 1e-10)

    def test_shells_that_handles_press_into_a_collider_pass_it(self):
        for condition in "separate", "slip", "sticky":
            with self.subTest(condition=condition):
                rows = numbers(self.run_deck(self.deck(PRESSED_CARD.format(condition=condition)), f"card_{condition}"))
                # Of 0.4 J by weight; 200 J where quadrature points fight the handle.
                self.assertLess(largest_rise(rows), 0.01)
                self.assertLess(max(abs(row["work_pin"]) for row in rows), 2)
                self.assertGreater(abs(rows[-1]["impulse_floor_y"]), 0.1)

    def test_thin_bodies_gain_no_energy_from_colliders(self):
        box = "box: {lower: [-0.1, -0.1, 0], upper: [0.15, 0.12, 0.191]}"
        ball = "sphere: {center: [0.03, 0.02, 0.05], radius: 0.141}"
        high = "sphere: {center: [0.03, 0.02, 0.15], radius: 0.13}"
        # Found 37.7, 0.30, 0.31, 0.044 and 0.91 J where gaps closed that no force explains; now 1e-14.
        for kind, condition, shape in (("shell", "sticky", box), ("shell", "slip", box), ("shell", "slip", ball),
                                       ("sheet", "slip", ball), ("board", "separate", high)):
            with self.subTest(kind=kind, condition=condition, shape=shape):
                deck = self.deck(GRIPPED.format(body=GRIPPING[kind], condition=condition, shape=shape))
                rows = numbers(self.run_deck(deck, f"held_{kind}_{condition}_{shape[:3]}"))
                self.assertLess(largest_rise(rows), 0.005)
                self.assertLess(rows[-1]["impulse_under_z"], -0.1)  # it has touched


if __name__ == "__main__":
    unittest.main()
