#!/usr/bin/env python3
"""Proves that rigid bodies run alike on ranks and threads, go on, conserve, are drawn and are refused as they should:
tests/end_to_end/test_rigid.py WEFT."""
import itertools
import math
import subprocess
import unittest

from program import Case, checkpoints, history, largest_rise, numbers, weft

# A free box that is pushed, a wheel on a hinge, a swing on a ball joint, a paddle whose poses are prescribed, rubber,
# grains and a collider.
RIGID = """
weft: 1
title: Rigid bodies
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
time: {end: 1, frame_interval: 0.02}
materials:
  rubber: {law: fixed_corotated, density: 900, youngs_modulus: 1e5, poisson_ratio: 0.3}
  sand: {law: drucker_prager, density: 1600, youngs_modulus: 2e5, poisson_ratio: 0.3, friction_angle: 35,
         volume_correction: false}
bodies:
  - {name: box, kind: rigid, density: 700, velocity: [0.3, 0, -1], spin: [0, 2, 0],
     mesh: {block: {lower: [-0.1, -0.1, 0.21], upper: [0.1, 0.1, 0.4]}, size: 0.1}}
  - {name: wheel, kind: rigid, mass: 3, contact: {points: 3, tolerance: 0.01},
     joint: {hinge: {point: [0.4, 0, 0.2], axis: [0, 1, 0], damping: 0.1, torque: 0.5}},
     mesh: {shape: {cylinder: {from: [0.4, -0.08, 0.2], to: [0.4, 0.08, 0.2], radius: 0.15}}, size: 0.07}}
  - {name: swing, kind: rigid, mass: 1, joint: {ball: {point: [-0.4, 0, 0.6]}}, spin: [1, 2, 0],
     mesh: {shape: {sphere: {center: [-0.3, 0, 0.3], radius: 0.1}}, size: 0.06}}
  - {name: paddle, kind: rigid, density: 500,
     joint: {motion: {center: [0.74, 0, 0.1], keyframes: [{time: 0}, {time: 0.1, translate: [-0.05, 0.01, 0],
             rotate: {axis: [0, 1, 0], angle: -20}}]}},
     mesh: {block: {lower: [0.72, -0.1, 0.05], upper: [0.76, 0.1, 0.25]}, size: 0.1}}
  - {name: mat, kind: solid, material: rubber, carrier: own, meets_grid: true,
     mesh: {block: {lower: [-0.2, -0.2, 0.002], upper: [0.15, 0.2, 0.2]}, size: 0.1}}
  - {name: heap, kind: continuum, material: sand, shape: {box: {lower: [0.5, -0.1, 0], upper: [0.7, 0.1, 0.25]}}}
layer_contact:
  - {between: [box, mat], friction: 0.4}
  - {between: [wheel, materials], friction: 0.3}
  - {between: [swing, mat], friction: 0.2}
handles:
  - {name: push, body: box, where: {box: {lower: [0.05, -1, 0], upper: [1, 1, 1]}},
     force: {total: [1, 5, 0], amplitude: [{time: 0, factor: 1}]}}
probes:
  - {name: edge, body: box, nearest: {point: [0.1, 0.1, 0.4], field: position_z}}
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}, friction: 0.4}
"""

# A ball hits the first of two boxes, which hits the second one, all of them turned and on several blocks.
HITS = """
weft: 1
title: Hits
domain: {dx: 0.05, gravity: [0, 0, 0]}
time: {end: 1, frame_interval: 1}
bodies:
  - {name: ball, kind: rigid, density: 1000, velocity: [2, 0.3, 0], spin: [0, 1, 3], contact: {restitution: 0.8},
     mesh: {shape: {sphere: {center: [-0.23, 0.02, 0.03], radius: 0.12}}, size: 0.05}}
  - {name: first, kind: rigid, density: 700, contact: {restitution: 0.8},
     mesh: {block: {lower: [-0.09, -0.1, -0.1], upper: [0.1, 0.1, 0.1]}, size: 0.2,
            rotate: {axis: [1, 1, 0], angle: 5}}}
  - {name: last, kind: rigid, density: 900, contact: {restitution: 0.6},
     mesh: {block: {lower: [-0.1, -0.1, -0.1], upper: [0.1, 0.1, 0.1]}, size: 0.2, translate: [0.26, 0.03, 0.02]}}
layer_contact:
  - {between: [ball, first], friction: 0.4}
  - {between: [first, last], friction: 0.4}
"""

# A light box between two heavy ones, of which one rebounds.
BETWEEN = """
weft: 1
title: Between
domain: {dx: 0.05, gravity: [0, 0, 0]}
time: {end: 0.3, frame_interval: 0.3, max_dt: 0.01}
bodies:
  - {name: a, kind: rigid, density: 10000, velocity: [1, 0, 0], contact: {restitution: 1},
     mesh: {block: {lower: [-0.287, -0.079, -0.083], upper: [-0.087, 0.121, 0.117]}, size: 0.2}}
  - {name: m, kind: rigid, density: 1000, velocity: [0, 0, 0], contact: {restitution: 0.05},
     mesh: {block: {lower: [-0.1, -0.079, -0.083], upper: [0.1, 0.121, 0.117]}, size: 0.2, translate: [0.113, 0, 0]}}
  - {name: b, kind: rigid, density: 10000, velocity: [-1, 0, 0], contact: {restitution: 0.05},
     mesh: {block: {lower: [-0.1, -0.079, -0.083], upper: [0.1, 0.121, 0.117]}, size: 0.2, translate: [0.413, 0, 0]}}
output: {diagnostics_every: 1}
"""

# A box flies into a corner of two rough walls and meets both at once.
CORNER = """
weft: 1
title: Corner
domain: {dx: 0.05, gravity: [0, 0, 0]}
time: {end: 0.12, frame_interval: 0.12}
bodies:
  - {name: box, kind: rigid, density: 1000, velocity: [-1, -1, 0], contact: {restitution: 1},
     mesh: {block: {lower: [0.06, 0.06, 0.013], upper: [0.26, 0.26, 0.213]}, size: 0.1}}
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, friction: 0.5}
  - {name: wall, shape: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}, friction: 0.5}
output: {diagnostics_every: 1}
"""


def box_of_file(lower, upper, first, is_hole=False):
    """Lines of an OBJ file; first: number of the first of its eight points."""
    corners = [(x, y, z) for z in (lower[2], upper[2]) for y in (lower[1], upper[1]) for x in (lower[0], upper[0])]
    faces = (0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)
    return "".join(["v %g %g %g\n" % corner for corner in corners] + [
        "f " + " ".join(str(first + k) for k in (face[::-1] if is_hole else face)) + "\n" for face in faces])


class Rigid(Case):
    def test_1_2_3_4_and_7_ranks_agree_to_1e_10(self):
        deck = self.deck(RIGID)
        alone = self.run_deck(deck, "1", "--steps", 50)
        forces = [abs(row["contact_force_box_z"]) for row in numbers(alone)]
        self.assertGreater(max(forces), 1)  # or the comparison would prove little
        for ranks in 2, 3, 4, 7:
            with self.subTest(ranks=ranks):
                self.assert_same_state(alone, self.run_deck(deck, str(ranks), "--steps", 50, ranks=ranks), 1e-10)

    def test_threads_change_no_bit_and_runs_go_on_to_the_bit(self):
        deck = self.deck(RIGID)
        alone = self.run_deck(deck, "alone", "--steps", 50)
        self.assert_same_state(alone, self.run_deck(deck, "threads", "--steps", 50, threads=2), 0)
        unbroken = self.run_deck(deck, "unbroken", "--steps", 50, ranks=2)
        self.run_deck(deck, "broken", "--steps", 41, ranks=2)
        broken = self.run_deck(deck, "broken", "--steps", 50, "--resume", "auto", ranks=2)
        self.assert_same_state(unbroken, broken, 0)
        elsewhere = self.run_deck(deck, "elsewhere", "--steps", 50, "--resume", checkpoints(broken)[0], ranks=3)
        self.assert_same_state(unbroken, elsewhere, 1e-10)

    def test_hits_are_the_same_on_ranks_and_threads_and_go_on_to_the_bit(self):
        deck = self.deck(HITS)
        alone = self.run_deck(deck, "1", "--steps", 24)
        speeds = [row["velocity_last_x"] for row in numbers(alone)]
        self.assertGreater(speeds[-1], 0.3)  # or nothing was hit
        for ranks in 2, 3, 4, 7:
            with self.subTest(ranks=ranks):
                self.assert_same_state(alone, self.run_deck(deck, f"on {ranks}", "--steps", 24, ranks=ranks), 1e-10)
        self.assert_same_state(alone, self.run_deck(deck, "threads", "--steps", 24, threads=2), 0)
        hit = next(k for k, speed in enumerate(speeds) if speed > 0.1)
        self.run_deck(deck, "broken", "--steps", hit - 1)
        self.assert_same_state(alone, self.run_deck(deck, "broken", "--steps", 24, "--resume", "auto"), 0)

    def test_hits_from_two_sides_and_beside_a_collider_add_no_energy(self):
        both = self.deck(BETWEEN)
        beside = self.deck(BETWEEN + "colliders:\n  - {name: wall, shape: {plane: {point: [-0.108, 0, 0],"
                                     " normal: [1, 0, 0]}}, friction: 0}\n", "wall.yaml")
        for name, deck, arguments in (("both", both, []),
                                      ("beside", beside, ["--set", "bodies.b.velocity=[0, 0, 0]", "--set",
                                                          "bodies.b.mesh.translate=[2, 0, 0]", "--set",
                                                          "bodies.m.velocity=[-1, 0, 0]", "--set",
                                                          "bodies.m.mesh.translate=[0, 0, 0]", "--set",
                                                          "bodies.m.contact.restitution=1", "--set",
                                                          "bodies.a.velocity=[-2, 0, 0]", "--set",
                                                          "bodies.a.mesh.translate=[0.4, 0, 0]"])):
            settled = [f"--set=bodies.{body}.contact.tolerance=1e-7" for body in "amb"]
            for passes, more, most in ("as usual", [], 1e-5), ("settled", settled, 1e-12):
                with self.subTest(scene=name, passes=passes):
                    run = self.run_deck(deck, f"{name} {passes}", *arguments, *more)
                    energy = [row["kinetic_energy"] for row in numbers(run)]
                    self.assertLess(energy[-1], 0.99 * energy[0])  # something was hit
                    for before, after in zip(energy, energy[1:]):
                        self.assertLessEqual(after, before * (1 + most))

    def test_a_box_that_hits_two_walls_at_once_rebounds_as_poisson_says(self):
        for e in 1, 0.3:
            ends = []
            for ranks in 1, 3:
                run = self.run_deck(self.deck(CORNER), f"{e}-{ranks}", "--set",
                                    f"bodies.box.contact.restitution={e}", ranks=ranks)
                rows = numbers(run)
                energy = [row["kinetic_energy"] for row in rows]
                self.assertLessEqual(max(b - a for a, b in zip(energy, energy[1:])), 1e-12)
                ends.append(rows[-1])
            for axis in "xy":  # each wall presses by m / (1 + friction), its friction helps the other, then not
                self.assertAlmostEqual(ends[0][f"velocity_box_{axis}"], e * (1 - 0.5) / (1 + 0.5), delta=1e-4)
                self.assertAlmostEqual(ends[0][f"velocity_box_{axis}"], ends[1][f"velocity_box_{axis}"], delta=1e-10)

    def test_momentum_is_what_gravity_the_floor_and_joints_gave(self):
        rows = numbers(self.run_deck(self.deck(RIGID + "output: {diagnostics_every: 1}\n"), "run", "--steps", 150))
        first, last = rows[0], rows[-1]
        for axis, gravity in ("x", 0), ("y", 0), ("z", -9.81):
            given = gravity * last["mass"] * last["time"] - last[f"impulse_floor_{axis}"]
            for before, row in zip(rows, rows[1:]):  # forces are means since the row before
                of_joints = sum(row[f"force_joint_{joint}_{axis}"] for joint in ("wheel", "swing", "paddle"))
                given += (row["time"] - before["time"]) * (of_joints + row[f"force_push_{axis}"])
            gained = last[f"momentum_{axis}"] - first[f"momentum_{axis}"]
            self.assertLess(abs(gained - given), 1e-10 * last["mass"], axis)

    def test_a_pressure_all_round_does_no_work(self):
        rows = numbers(self.run_deck(self.deck("""
weft: 1
domain: {dx: 0.1, gravity: [0, 0, 0]}
time: {end: 0.5, frame_interval: 0.5, max_dt: 1 ms}
bodies:
  - {name: box, kind: rigid, density: 700, spin: [1, 3, 0.5], velocity: [0.2, 0, 0],
     mesh: {block: {lower: [-0.1, -0.1, 0], upper: [0.3, 0.1, 0.3]}, size: 0.1}}
handles: [{name: water, body: box, pressure: {value: 100 kPa}}]
output: {diagnostics_every: 1}
"""), "run"))
        self.assertLess(max(abs(row["work_water"]) for row in rows), 1e-9)
        for row in rows:
            self.assertLess(abs(row["energy_less_work"] / rows[0]["energy_less_work"] - 1), 1e-4)

    def test_a_body_alone_feels_nothing(self):
        rows = numbers(self.run_deck(self.deck("""
weft: 1
domain: {dx: 0.05, gravity: [0, 0, 0]}
time: {end: 1, frame_interval: 1}
bodies:
  - {name: box, kind: rigid, density: 700, velocity: [0.3, 0.1, -0.2], spin: [1, 2, 0.5],
     mesh: {block: {lower: [-0.1, -0.1, 0.21], upper: [0.2, 0.1, 0.4]}, size: 0.1}}
output: {diagnostics_every: 1}
"""), "run", "--steps", 200))
        for kind in "momentum", "angular_momentum":
            for axis in "xyz":
                drift = max(abs(row[f"{kind}_{axis}"] - rows[0][f"{kind}_{axis}"]) for row in rows)
                self.assertLess(drift, 1e-12, f"{kind}_{axis}")

    def test_a_body_beside_the_grid_changes_nothing_of_others(self):
        base = """
weft: 1
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
time: {end: 0.05, frame_interval: 0.05}
materials: {sand: {law: drucker_prager, density: 1600, youngs_modulus: 2e5, poisson_ratio: 0.3, friction_angle: 35}}
bodies:
  - {name: heap, kind: continuum, material: sand, velocity: [0, 0, -1],
     shape: {box: {lower: [-0.1, -0.1, 0.01], upper: [0.1, 0.1, 0.11]}}}
  - {name: plate, kind: rigid, density: 1000, joint: {slider: {axis: [0, 1, 0], speed: 0}},
     mesh: {block: {lower: [-0.2, -0.2, -0.15], upper: [0.2, 0.2, 0]}, size: 0.1}}
"""
        fan = ("  - {name: fan, kind: rigid, density: 1000, meets_grid: false, spin: [0, 0, 1],\n"
               "     mesh: {block: {lower: [1, -0.1, 0], upper: [1.2, 0.1, 0.2]}, size: 0.1}}\n")
        pair = "layer_contact: [{between: [plate, materials], friction: 0.3}]\n"
        forces = []
        for name, text in ("alone", base + pair), ("beside", base + fan + pair):
            row = history(self.run_deck(self.deck(text), name, "--set", "time.max_dt=0.001"))[-1]
            forces.append(float(row["contact_force_plate_z"]))
        self.assertLess(forces[0], -10)
        self.assertEqual(*forces)

    def test_short_steps_part_bodies_no_faster(self):
        deck = self.deck("""
weft: 1
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
time: {end: 1, frame_interval: 1}
materials: {goo: {law: fixed_corotated, density: 700, youngs_modulus: 5e4, poisson_ratio: 0.3}}
bodies:
  - {name: plate, kind: rigid, density: 1000, joint: {slider: {axis: [0, 1, 0], speed: 0}},
     mesh: {block: {lower: [-0.3, -0.3, -0.1], upper: [0.3, 0.3, 0]}, size: 0.1, translate: [0.01, 0.02, 0.013]}}
  - {name: goo, kind: continuum, material: goo, shape: {box: {lower: [-0.15, -0.1, 0.02], upper: [0.15, 0.1, 0.2]}}}
layer_contact: [{between: [plate, materials], friction: 0.3}]
output: {diagnostics_every: 1}
""")
        self.run_deck(deck, "run", "--steps", 300)
        rows = numbers(self.run_deck(deck, "run", "--steps", 340, "--resume", "auto", "--set", "time.max_dt=1e-7"))
        energy = [row["energy_less_work"] for row in rows]
        self.assertLess(energy[300] - energy[0], 0)
        self.assertLess(energy[-1] - energy[300], 0.01 * abs(energy[300]))

    def test_bodies_whose_motion_is_prescribed_load_nothing(self):
        led = "joint: {motion: {velocity: [0, 0, 0]}}"
        deck = """
weft: 1
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
time: {end: 0.05, frame_interval: 0.05, max_dt: 0.005}
bodies:
  - {name: lower, kind: rigid, density: 1000, LED,
     mesh: {block: {lower: [-0.2, -0.2, -0.2], upper: [0.2, 0.2, 0]}, size: 0.1, translate: [0.013, 0.021, 0.017]}}
  - {name: upper, kind: rigid, density: 1000, LED,
     mesh: {block: {lower: [-0.1, -0.1, 0], upper: [0.1, 0.1, 0.2]}, size: 0.1, translate: [0.013, 0.021, 0.017]}}
output: {diagnostics_every: 1}
"""
        rows = numbers(self.run_deck(self.deck(deck.replace("LED", led)), "run"))
        self.assertEqual(max(abs(row[f"contact_force_{body}_z"]) for row in rows for body in ("lower", "upper")), 0)

    def test_led_bodies_pass_what_handles_hold(self):
        deck = """
weft: 1
domain: {dx: 0.05, gravity: [0, 0, 0]}
time: {end: 0.15, frame_interval: 0.15}
materials:
  cloth: {law: sheet, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3, contact: {stiffness: 1e4, friction: 0.2}}
  gel: {law: fixed_corotated, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}
bodies:
  - {name: held, BODY}
  - {name: led, kind: rigid, density: 700, joint: {motion: {velocity: [0, 0, -1]}},
     mesh: {block: {lower: [0, 0, 0.31], upper: [0.2, 0.3, 0.4]}, size: 0.1}}
handles:
  - {name: hand, body: held, where: {box: {lower: [-9, -9, -9], upper: [9, 9, 9]}}, hold: {}}
output: {diagnostics_every: 1}
"""
        for name, body in (("sheet", "kind: membrane, material: cloth, thickness: 0.01, mesh: {rectangle: "
                                     "{width: 0.3, height: 0.3}, across: 6, along: 6, translate: [0, 0, 0.25]}"),
                           ("continuum", "kind: continuum, material: gel, "
                                         "shape: {box: {lower: [0, 0, 0.1], upper: [0.3, 0.3, 0.3]}}")):
            with self.subTest(held=name):
                rows = numbers(self.run_deck(self.deck(deck.replace("BODY", body)), name))
                self.assertEqual(max(abs(row["contact_force_led_z"]) for row in rows), 0)
                self.assertEqual(rows[-1]["work_joint_led"], 0)

    def test_wheels_that_spin_do_not_throw_what_they_touch(self):
        # Without friction, 0.1 dx apart; the ends of wheel and plank lie in planes of nodes or beside them.
        deck = """
weft: 1
domain: {{dx: 0.05, gravity: [0, 0, 0]}}
time: {{end: 0.01, frame_interval: 0.01, max_dt: 0.001}}
bodies:
  - {{name: wheel, kind: rigid, density: 1000,
     joint: {{hinge: {{point: [0, 0, {middle}], axis: [0, 1, 0], speed: -5}}}},
     mesh: {{shape: {{cylinder: {{from: [0, -{wheel}, 0], to: [0, {wheel}, 0], radius: 0.2}}}}, size: 0.02,
            translate: [0, 0, {middle}]}}}}
  - {{name: plank, kind: rigid, mass: 60,
     mesh: {{block: {{lower: [-1, -{plank}, {lower}], upper: [1, {plank}, {upper}]}}, size: 0.1}}}}
layer_contact: [{{between: [wheel, plank], friction: 0}}]
handles: [{{name: up, body: plank, force: {{total: [0, 0, 60], amplitude: [{{time: 0, factor: 1}}]}}}}]
output: {{diagnostics_every: 1}}
"""
        for wheel, plank, lower in itertools.product((0.1, 0.12, 0.15), (0.1, 0.15), (0, 0.008, 0.025)):
            with self.subTest(wheel=wheel, plank=plank, lower=lower):
                text = deck.format(wheel=wheel, plank=plank, lower=lower, upper=lower + 0.095, middle=lower + 0.3)
                rows = numbers(self.run_deck(self.deck(text), "run", "--force"))
                # Of a rim of 1 m/s. It was 0.23 m/s where nodes see little of the one beside the end of the other.
                self.assertGreater(min(row["velocity_plank_z"] for row in rows), -0.03)

    def test_poses_go_through_their_keyframes(self):
        deck = """
weft: 1
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
time: {end: 0.6, frame_interval: 0.1, max_dt: 0.004}
bodies:
  - {name: box, kind: rigid, density: 700, mesh: {block: {lower: [0.1, 0.2, 0], upper: [0.4, 0.3, 0.1]}, size: 0.1},
     joint: {motion: {center: [0.1, 0.2, 0], keyframes: [
       {time: 0.1}, {time: 0.3, translate: [0.1, -0.05, 0.2], rotate: {axis: [0, 0, 1], angle: 90}},
       {time: 0.5, rotate: {axis: [0, 0, 1], angle: 400}}]}}}
probes:
  - {name: corner, body: box, nearest: {point: [0.4, 0.2, 0], field: position_y}}
  - {name: extent, body: box, bounding_box: {}}
output: {diagnostics_every: 1}
"""
        rows = numbers(self.run_deck(self.deck(deck), "run"))
        at = {round(row["time"], 9): row for row in rows}
        for time, centre in ((0.1, (0.25, 0.25, 0.05)), (0.3, (0.2 - 0.05, 0.15 + 0.15, 0.25))):
            for axis, value in zip("xyz", centre):
                self.assertAlmostEqual(at[time][f"position_box_{axis}"], value, 12)
        self.assertAlmostEqual(at[0.3]["corner"], 0.45, 12)
        self.assertAlmostEqual(at[0.3]["extent_upper_z"], 0.3, 12)
        self.assertAlmostEqual(at[0.6]["spin_box_z"], 0, 12)
        turned = math.radians(40)
        self.assertAlmostEqual(at[0.6]["corner"], 0.2 + 0.3 * math.sin(turned), 12)
        # What moves it does all of the work, to second order in dt.
        def drift(rows):
            return max(abs(row["energy_less_work"] - rows[0]["energy_less_work"]) for row in rows)
        self.assertGreater(max(row["kinetic_energy"] for row in rows), 10)
        fine = numbers(self.run_deck(self.deck(deck.replace("0.004", "0.001")), "fine"))
        self.assertLess(drift(rows), 0.05)
        self.assertLess(drift(fine), drift(rows) / 8)

    def test_a_joint_says_what_it_takes_to_press_on_a_collider(self):
        rows = numbers(self.run_deck(self.deck("""
weft: 1
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
time: {end: 0.3, frame_interval: 0.3, max_dt: 0.004}
bodies:
  - {name: ram, kind: rigid, density: 2000, joint: {motion: {keyframes: [{time: 0}, {time: 0.2,
     translate: [0, 0, -0.04]}, {time: 0.3, translate: [0.1, 0, -0.04]}]}},
     mesh: {block: {lower: [-0.1, -0.1, 0.03], upper: [0.1, 0.1, 0.23]}, size: 0.1}}
  - {name: flap, kind: rigid, density: 500, joint: {hinge: {point: [0.5, 0, 0.1], axis: [0, 1, 0]}},
     mesh: {block: {lower: [0.5, -0.1, 0.08], upper: [0.9, 0.1, 0.12]}, size: 0.1}}
colliders: [{name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}, friction: 0.3}]
output: {diagnostics_every: 1}
"""), "run"))
        last, forces = rows[-1], ("force_joint_ram_", "force_joint_flap_")
        self.assertGreater(abs(last["impulse_floor_z"]), 100)
        for axis, gravity in ("x", 0), ("y", 0), ("z", -9.81):
            given = gravity * last["mass"] * last["time"] - last[f"impulse_floor_{axis}"]
            for before, row in zip(rows, rows[1:]):
                given += (row["time"] - before["time"]) * sum(row[force + axis] for force in forces)
            self.assertLess(abs(last[f"momentum_{axis}"] - given), 1e-9 * abs(last["impulse_floor_z"]), axis)

    def test_a_cylinder_rolls_on_a_collider_as_it_should_in_steps_of_any_size(self):
        # Of many facets, between the nodes, down a slope without slip: 2/3 of g sin.
        sides, radius, slope = 256, 0.1, math.radians(10)
        rims = [(radius * math.cos(2 * math.pi * k / sides), y, radius * math.sin(2 * math.pi * k / sides))
                for y in (-0.05, 0.05) for k in range(sides)]
        quads = [(k, k + sides, (k + 1) % sides + sides, (k + 1) % sides) for k in range(sides)]
        caps = [(first, first + j + turn, first + j + 1 - turn) for first, turn in ((0, 0), (sides, 1))
                for j in range(1, sides - 1)]
        faces = [(a, b, c) for a, b, c, d in quads] + [(a, c, d) for a, b, c, d in quads] + caps
        (self.folder / "wheel.obj").write_text("".join(f"v {x} {y} {z}\n" for x, y, z in rims) + "".join(
            "f " + " ".join(str(point + 1) for point in face) + "\n" for face in faces))
        for max_dt in 5e-3, 5e-4:
            with self.subTest(max_dt=max_dt):
                rows = numbers(self.run_deck(self.deck(f"""
weft: 1
domain: {{dx: 0.05, gravity: [{9.81 * math.sin(slope)}, 0, {-9.81 * math.cos(slope)}]}}
time: {{end: 0.5, frame_interval: 0.5, max_dt: {max_dt}}}
bodies:
  - {{name: wheel, kind: rigid, density: 1000, mesh: {{file: {{path: wheel.obj}}, translate: [0.013, 0.021, 0.1]}}}}
colliders: [{{name: floor, shape: {{plane: {{point: [0, 0, 0], normal: [0, 0, 1]}}}}, friction: 0.5}}]
output: {{diagnostics_every: 1}}
"""), f"wheel_{max_dt}"))
                last = rows[-1]
                speed = last["velocity_wheel_x"]
                self.assertAlmostEqual(speed / (9.81 * math.sin(slope) * last["time"]), 2 / 3, delta=0.03 * 2 / 3)
                self.assertAlmostEqual(last["spin_wheel_y"] * radius / speed, 1, delta=5e-3)
                self.assertAlmostEqual(last["position_wheel_z"], radius, delta=1e-3 * radius)
                self.assertLess(largest_rise(rows), 1e-3 * last["kinetic_energy"])

    def test_loads_push_and_turn_a_body_as_its_inertia_says(self):
        """A force at a corner and pressure on a face; the motion of the first steps by Newton and Euler."""
        rows = numbers(self.run_deck(self.deck("""
weft: 1
domain: {dx: 0.05, gravity: [0, 0, 0]}
time: {end: 0.01, frame_interval: 0.01, max_dt: 0.0001}
bodies:
  - {name: box, kind: rigid, mass: 2, center: [0.1, 0.1, 0.06], inertia: {moments: [0.02, 0.03, 0.04],
     products: [0.004, -0.002, 0.001]}, mesh: {block: {lower: [0, 0, 0], upper: [0.3, 0.2, 0.1]}, size: 0.1}}
handles:
  - {name: corner, body: box, where: {sphere: {center: [0.3, 0.2, 0.1], radius: 0.01}},
     force: {total: [1, -2, 3], amplitude: [{time: 0, factor: 1}]}}
  - {name: face, body: box, where: {box: {lower: [-0.01, -1, -1], upper: [0.01, 1, 1]}},
     pressure: {value: 100, amplitude: [{time: 0, factor: 1}]}}
  - {name: top, body: box, where: {box: {lower: [-1, -1, 0.09], upper: [1, 1, 1]}},
     traction: {per_area: [10, 0, 0], amplitude: [{time: 0, factor: 1}]}}
output: {diagnostics_every: 1}
"""), "run"))
        last, time = rows[-1], rows[-1]["time"]
        loads = (([1, -2, 3], [0.3, 0.2, 0.1]), ([2, 0, 0], [0, 0.1, 0.05]), ([0.6, 0, 0], [0.15, 0.1, 0.1]))
        cross = lambda a, b: [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        force = [sum(load[0][k] for load in loads) for k in range(3)]
        centre = (0.1, 0.1, 0.06)
        arms = [[at - c for at, c in zip(load[1], centre)] for load in loads]
        torque = [sum(cross(arm, load[0])[k] for arm, load in zip(arms, loads)) for k in range(3)]
        spin = [last[f"spin_box_{axis}"] for axis in "xyz"]
        inertia = ((0.02, 0.004, 0.001), (0.004, 0.03, -0.002), (0.001, -0.002, 0.04))
        for k, axis in enumerate("xyz"):
            self.assertAlmostEqual(last[f"velocity_box_{axis}"], time * force[k] / 2, 4)
            gained = sum(inertia[k][j] * spin[j] for j in range(3))
            self.assertLess(abs(gained - time * torque[k]), 0.01 * time * max(map(abs, torque)), axis)
        work = sum(last[f"work_{name}"] for name in ("corner", "face", "top"))
        self.assertAlmostEqual(last["kinetic_energy"] / work, 1, 6)

    def test_frames_show_the_surface_where_the_body_is(self):
        run = self.run_deck(self.deck(RIGID), "run", "--steps", 60)
        script = f"""
import glob, h5py, numpy
name = sorted(glob.glob('{run}/frames/box_*.hdf'))[-1]
with h5py.File(name) as frame:
    root = frame['VTKHDF']
    points, rest = root['Points'][:], root['Points'][:] - root['PointData/displacement'][:]
    edges = lambda x: numpy.linalg.norm(x[:, None] - x[None], axis=2)
    assert len(points) == 26, len(points)
    assert numpy.abs(edges(points) - edges(rest)).max() < 1e-5
    assert numpy.linalg.norm(points - rest, axis=1).min() > 1e-3
    assert (root['Types'][:] == 5).all()
    assert 'contact_pressure' in root['CellData']
"""
        subprocess.run(["/usr/bin/python3", "-c", script], check=True)

    def test_contact_pressure_carries_the_weight(self):
        # Corners of triangles bear a part of it, all of it where a body stands on one.
        for shape, size in (("block: {lower: [0.013, 0, 0.002], upper: [0.213, 0.2, 0.202]}", 0.05),
                            ("shape: {sphere: {center: [0.013, 0, 0.1005], radius: 0.1}}", 0.03)):
            run = self.run_deck(self.deck(f"""
weft: 1
domain: {{dx: 0.05, gravity: [0, 0, -9.81]}}
time: {{end: 0.4, frame_interval: 0.4}}
bodies: [{{name: box, kind: rigid, density: 1000, mesh: {{{shape}, size: {size}}}}}]
colliders: [{{name: floor, shape: {{plane: {{point: [0, 0, 0], normal: [0, 0, 1]}}}}, friction: 0.5}}]
"""), "run", "--force")
            script = f"""
import glob, h5py, numpy
with h5py.File(sorted(glob.glob('{run}/frames/box_*.hdf'))[-1]) as frame:
    root = frame['VTKHDF']
    corners = root['Points'][:].astype(float)[root['Connectivity'][:].reshape(-1, 3)]
    pressure = root['CellData/contact_pressure'][:]
areas = numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
weight = 9.81 * 1000 * (areas * corners.mean(axis=1)).sum() / 3
borne = -(pressure[:, None] * areas).sum(axis=0)
assert abs(borne[2] / weight - 1) < 0.03, (borne, weight)
assert pressure.min() > -1e-6 * pressure.max(), pressure.min()
"""
            subprocess.run(["/usr/bin/python3", "-c", script], check=True)

    def test_a_plank_of_eight_vertices_rests_on_two_ridges(self):
        (self.folder / "plank.obj").write_text(box_of_file([-2, -0.05, 0], [2, 0.05, 0.1], 1))
        ridges = ", ".join(f"{{name: ridge_{k}, shape: {{box: {{lower: [{x}, -1, -1], upper: [{x + 0.12}, 1, 0]}}}}}}"
                           for k, x in enumerate((-1.36, 1.04)))
        run = self.run_deck(self.deck(f"""
weft: 1
domain: {{dx: 0.05, gravity: [0, 0, -9.81]}}
time: {{end: 0.3, frame_interval: 0.3}}
bodies: [{{name: plank, kind: rigid, density: 500, mesh: {{file: {{path: plank.obj}}, translate: [0, 0, 0.05]}}}}]
colliders: [{ridges}]
"""), "run")
        last = numbers(run)[-1]
        self.assertAlmostEqual(last["position_plank_z"], 0.05, delta=1e-3)
        self.assertAlmostEqual(last["contact_force_plank_z"] / (9.81 * 500 * 0.04), 1, delta=0.01)

    def test_hits_with_much_friction_gain_no_energy(self):
        # Passes that were carried on too far left such hits unsettled: this ball left at 1.26, at a shift of 0.021 with
        # 0.08.
        for shift in 0.0206, 0.021:
            rows = numbers(self.run_deck(self.deck(f"""
weft: 1
domain: {{dx: 0.05, gravity: [0, 0, 0]}}
time: {{end: 0.1, frame_interval: 0.1}}
bodies:
  - {{name: ball, kind: rigid, density: 1000, velocity: [0.5, 0, -1], contact: {{restitution: 0.5}},
     mesh: {{shape: {{sphere: {{center: [{shift}, {0.7 * shift}, {0.21 + 0.3 * shift}], radius: 0.15}}}}, size: 0.03}}}}
  - {{name: plate, kind: rigid, density: 1000, joint: {{motion: {{}}}},
     mesh: {{block: {{lower: [{shift - 0.5}, {0.7 * shift - 0.5}, {0.3 * shift - 0.2}],
                    upper: [{shift + 0.5}, {0.7 * shift + 0.5}, {0.3 * shift}]}}, size: 0.1}}}}
layer_contact: [{{between: [ball, plate], friction: 1}}]
output: {{diagnostics_every: 1}}
"""), "run", "--force"))
            self.assertLess(largest_rise(rows), 1e-4 * rows[0]["kinetic_energy"])
            self.assertAlmostEqual(rows[-1]["velocity_ball_z"], 0.5, delta=0.05)

    def test_bodies_that_begin_in_one_another_are_named(self):
        self.assertNotIn("in one another", weft("check", self.deck(RIGID)).stdout)
        for old, new, words in (  # box and mat: a rigid body and a solid
                ("lower: [-0.1, -0.1, 0.21]", "lower: [-0.1, -0.1, 0.17]", ["bodies box and mat", "0.03 m deep"]),
                ("center: [-0.3, 0, 0.3]", "center: [0.4, 0, 0.2]", ["bodies wheel and swing", "m deep at"])):
            done = weft("check", self.deck(RIGID.replace(old, new, 1)))
            self.assertEqual(done.returncode, 0, done.stderr)
            for word in words:
                self.assertIn(word, done.stdout + done.stderr)
            run = weft("run", self.deck(RIGID.replace(old, new, 1)), "-o", self.folder / words[0], "--steps", 1)
            self.assertIn(words[0], run.stdout + run.stderr)

    def test_bodies_that_begin_in_a_material_are_named(self):
        text = """
weft: 1
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
time: {end: 1 ms, frame_interval: 1 ms}
materials: {water: {law: tait, density: 1000, bulk_modulus: 1e5}}
bodies:
  - {name: pool, kind: continuum, material: water, shape: {box: {lower: [-0.5, -0.5, 0], upper: [0.5, 0.5, 0.5]}}}
  - {name: cube, kind: rigid, density: 500,
     mesh: {block: {lower: [-0.1, -0.1, LOW], upper: [0.1, 0.1, 0.9]}, size: 0.1}}
"""
        for low, named in (0.3, True), (0.5, False):
            for command in ("check",), ("run", "--force"):
                done = weft(*command, self.deck(text.replace("LOW", str(low))), folder=self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                words = "bodies.pool: the body cube begins in its shape, 0.2 m deep at"
                self.assertEqual(words in done.stdout + done.stderr, named, done.stdout + done.stderr)

    def test_parts_of_a_surface_that_overlap_are_named(self):
        text = """
weft: 1
domain: {dx: 0.5}
time: {end: 0.1, frame_interval: 0.1}
bodies: [{name: pair, kind: rigid, density: 1000, mesh: {file: {path: pair.obj}}}]
"""
        big, small = ([0, 0, 0], [4, 4, 4]), ([1, 1, 1], [3, 3, 3])
        for other, is_hole, mass, is_named in (
                (([4, 0, 0], [6, 4, 4]), False, 96000, False), (small, True, 56000, False),
                (([3, 0, 0], [5, 4, 4]), False, 96000, True), (small, False, 72000, True)):
            (self.folder / "pair.obj").write_text(box_of_file(*big, 1) + box_of_file(*other, 9, is_hole))
            done = weft("check", self.deck(text), folder=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"; {mass} kg", done.stdout)
            self.assertEqual("body pair: parts of its surface overlap at" in done.stdout + done.stderr, is_named)

    def test_materials_that_fit_tightly_around_a_body_are_named(self):
        text = """
weft: 1
domain: {dx: 0.05, gravity: [0, -9.81, 0]}
time: {end: 0.01, frame_interval: 0.01}
materials:
  sand: {law: drucker_prager, density: 1500, youngs_modulus: 3e5, poisson_ratio: 0.3, friction_angle: 30}
  water: {law: tait, density: 1000, bulk_modulus: 1e5}
layer_contact: [{between: [materials, cube], friction: 0.4}]
bodies:
  - {name: pool, kind: continuum, material: MATERIAL, shape: {mesh: {file: pool.obj}}}
  - {name: cube, kind: rigid, density: 1000, joint: {motion: {}},
     mesh: {block: {lower: [-0.1, 0.15, -0.1], upper: [0.1, 0.35, 0.1]}, size: 0.1}}
"""
        for material, room, is_named in ("sand", 0, True), ("sand", 0.0125, False), ("water", 0, False):
            hole = [-0.1 - room, 0.15 - room, -0.1 - room], [0.1 + room, 0.35 + room, 0.1 + room]
            (self.folder / "pool.obj").write_text(box_of_file([-0.3, 0, -0.3], [0.3, 0.5, 0.3], 1)
                                                       + box_of_file(*hole, 9, is_hole=True))
            for command in ("check",), ("run", "--force"):
                done = weft(*command, self.deck(text.replace("MATERIAL", material)), folder=self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                words = "body cube: materials fit tightly around it (pool)."
                self.assertEqual(words in done.stdout + done.stderr, is_named, done.stdout + done.stderr)

    def test_materials_that_enclose_a_body_from_two_sides_are_named(self):
        text = """
weft: 1
domain: {dx: 0.05, gravity: [0, -9.81, 0]}
time: {end: 0.01, frame_interval: 0.01}
materials: {sand: {law: drucker_prager, density: 1500, youngs_modulus: 3e5, poisson_ratio: 0.3, friction_angle: 30}}
bodies:
  - {name: cube, kind: rigid, density: 1000,
     mesh: {block: {lower: [-0.1, 0.15, -0.1], upper: [0.1, 0.35, 0.1]}, size: 0.1}}
"""
        box = ("  - {name: %s, kind: continuum, material: sand, "
               "shape: {box: {lower: [%g, %g, -0.1], upper: [%g, %g, 0.1]}}}\n")
        below, left, right = (box % where for where in (("below", -0.3, 0, 0.3, 0.15), ("left", -0.3, 0.15, -0.1, 0.25),
                                                        ("right", 0.1, 0.15, 0.3, 0.25)))
        for around, is_named in ((below, False), (below + left, False), (below + left + right, True)):
            done = weft("check", self.deck(text + around), folder=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            words = "body cube: materials fit tightly around it (below, left, right)."
            self.assertEqual(words in done.stdout + done.stderr, is_named, done.stdout + done.stderr)

    def test_check_knows_steps_that_only_output_limits(self):
        done = weft("check", self.deck("""
weft: 1
time: {end: 1, frame_interval: 0.1}
domain: {dx: 0.04, gravity: [0, 0, 0]}
bodies:
  - {name: bar, kind: rigid, density: 1000, mesh: {block: {lower: [0, 0, 0], upper: [0.8, 0.1, 0.1]}, size: 0.1},
     joint: {hinge: {point: [0, 0, 0], axis: [0, 0, 1]}}}
"""))
        self.assertIn("dt: 0.1 s at the start, limited by output\nsteps: about 10 to 1 s\n", done.stdout)

    def test_check_knows_steps_that_weight_limits(self):
        done = weft("check", self.deck("""
weft: 1
time: {end: 1, frame_interval: 0.5}
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
bodies: [{name: ball, kind: rigid, density: 1000, mesh: {shape: {sphere: {center: [0, 0, 0], radius: 0.2}}, size: 0.1}}]
colliders: [{name: floor, shape: {plane: {point: [0, 0, -0.2], normal: [0, 0, 1]}}}]
"""))
        self.assertIn("limited by weight of ball\nsteps: about 199 to 1 s\n", done.stdout)

    def test_centres_outside_are_named(self):
        inside, outside = (RIGID.replace("mass: 3, contact", f"mass: 3, center: {at}, contact", 1)
                           for at in ("[0.4, 0, 0.25]", "[0.4, 0, 0.9]"))
        self.assertNotIn("outside", weft("check", self.deck(inside)).stderr)
        done = weft("check", self.deck(outside))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"center" lies outside of the body', done.stdout + done.stderr)

    def test_what_rigid_bodies_do_not_know_is_refused(self):
        (self.folder / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n")
        (self.folder / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        block = "{block: {lower: [-0.1, -0.1, 0.21], upper: [0.1, 0.1, 0.4]}, size: 0.1}"
        for old, new, code, words in (
                ("mass: 3, contact", "mass: 3, density: 2, contact", 2, ["wheel", "How heavy it is"]),
                ("mass: 3, contact", "mass: 0, contact", 2, ["mass", "> 0"]),
                ("torque: 0.5", "speed: 1", 2, ["damping", "speed"]),
                ("axis: [0, 1, 0], damping", "axis: [0, 0, 0], damping", 2, ["axis"]),
                ("damping: 0.1, torque: 0.5", "dampen: 1", 2, ["dampen", "damping"]),
                ("force: {total: [1, 5, 0], amplitude: [{time: 0, factor: 1}]}", "hold: {}", 2,
                 ["handles.push.body", "joint"]),
                ("field: position_z", "field: pressure", 2, ["probes.edge", "position_z"]),
                ("mass: 3, contact", "mass: 3, inertia: {moments: [1, 2, 3.1]}, contact", 2,
                 ["wheel", "no solid body"]),
                ("density: 500", "density: 500, spin: [0, 1, 0]", 2, ["spin", "joint"]),
                ("damping: 0.1, torque: 0.5}}", "speed: 1}}, velocity: [1, 0, 0]", 2, ["velocity", "joint"]),
                ("{time: 0}, ", "{time: 0, translate: [0.1, 0, 0]}, ", 2, ["paddle", "begins elsewhere"]),
                ("time: {", "time: {scheme: static, ", 2, ["static"]),
                ("mass: 1, joint", "mass: 1, meets_grid: false, layer: materials, joint", 2, ["layer", "touches"]),
                (block, "{file: {path: flat.obj}}", 3, ["flat.obj", "enclose"]),
                (block, "{file: {path: open.obj}}", 3, ["open.obj"]),
        ):
            with self.subTest(new=new):
                self.assertIn(old, RIGID)
                done = weft("run", self.deck(RIGID.replace(old, new, 1)), "-o", self.folder / "new" / "out")
                self.assertEqual(done.returncode, code, done.stderr)
                for word in words:
                    self.assertIn(word, done.stderr)
                self.assertFalse((self.folder / "new").exists())


if __name__ == "__main__":
    unittest.main()
