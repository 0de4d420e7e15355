#!/usr/bin/env python3
"""Proves that grid layers and contact points run alike on ranks and threads, go on, conserve and are refused as they
should: tests/end_to_end/test_layers.py WEFT."""
import shutil
import unittest

from program import Case, checkpoints, largest_rise, numbers, weft
import numpy
import weft_read

# A ball and a block with contact points, grains and cloth, each on a layer of its own, in a box of colliders.
LAYERS = """
weft: 1
title: Layers
domain: {dx: 0.05, gravity: [0, -9.81, 0]}
time: {end: 1, frame_interval: 0.1}
materials:
  rubber: {law: fixed_corotated, density: 900, youngs_modulus: 2e5, poisson_ratio: 0.3}
  gum: {law: neo_hookean, density: 1200, youngs_modulus: 1e5, poisson_ratio: 0.4}
  sand: {law: drucker_prager, density: 1600, youngs_modulus: 2e5, poisson_ratio: 0.3, friction_angle: 35,
         volume_correction: false}
  cotton: {law: sheet, density: 300, youngs_modulus: 1e5, poisson_ratio: 0.3, contact: {stiffness: 1e4}}
layers:
  - {name: cloth, kernel: quadratic}
bodies:
  - {name: ball, kind: solid, material: rubber, carrier: own, meets_grid: true, velocity: [0.5, -2, 0], spin: [0, 0, 4],
     contact: {tolerance: 0.02},
     mesh: {shape: {sphere: {center: [0.03, 0.36, 0.02], radius: 0.13}}, size: 0.08}}
  - {name: block, kind: solid, material: gum, order: 2, carrier: own, meets_grid: true,
     contact: {points: 3, tolerance: 0.02},
     mesh: {block: {lower: [-0.2, 0.001, -0.15], upper: [0.2, 0.2, 0.15]}, size: 0.1}}
  - {name: heap, kind: continuum, material: sand, shape: {box: {lower: [0.21, 0, -0.1], upper: [0.4, 0.2, 0.1]}}}
  - {name: towel, kind: membrane, material: cotton, thickness: 4 mm, layer: cloth, velocity: [0, -1, 0],
     mesh: {rectangle: {width: 0.4, height: 0.3}, across: 8, along: 6, rotate: {axis: [1, 0, 0], angle: 90},
            translate: [-0.2, 0.212, -0.15]}}
layer_contact:
  - {between: [block, materials], friction: 0.4}
  - {between: [ball, cloth], friction: 0.2}
  - {between: [block, cloth], friction: 0.5}
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, friction: 0.4}
handles:
  - {name: pin, body: block, where: {box: {lower: [-1, -1, -1], upper: [-0.19, 0.01, 1]}}, hold: {}}
"""

# Two blocks that move by implicit steps, one on a floor and held at an edge, the other thrown on it, and grains.
IMPLICIT = """
weft: 1
title: Implicit blocks
domain: {dx: 0.05, gravity: [0, -9.81, 0]}
time: {end: 1, frame_interval: 0.1, max_dt: 2 ms}
materials:
  rubber: {law: fixed_corotated, density: 900, youngs_modulus: 2e6, poisson_ratio: 0.3}
  sand: {law: drucker_prager, density: 1600, youngs_modulus: 2e5, poisson_ratio: 0.3, friction_angle: 35}
bodies:
  - {name: low, kind: solid, material: rubber, carrier: own, meets_grid: true,
     stage: {scheme: implicit, tolerance: 1e-11},
     mesh: {block: {lower: [-0.2, 0.001, -0.1], upper: [0.2, 0.1, 0.1]}, size: 0.1}}
  - {name: high, kind: solid, material: rubber, carrier: own, meets_grid: true,
     stage: {scheme: implicit, tolerance: 1e-11},
     velocity: [0.3, -1, 0], spin: [0, 1, 0],
     mesh: {block: {lower: [-0.12, 0.112, -0.08], upper: [0.05, 0.22, 0.08]}, size: 0.1}}
  - {name: grains, kind: continuum, material: sand, velocity: [0, -1, 0],
     shape: {box: {lower: [0.06, 0.11, -0.08], upper: [0.16, 0.2, 0.08]}}}
layer_contact:
  - {between: [low, high], friction: 0.4}
  - {between: [low, materials], friction: 0.3}
  - {between: [high, materials], friction: 0.3}
colliders: [{name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, friction: 0.4}]
handles: [{name: pin, body: low, where: {box: {lower: [-1, -1, -1], upper: [-0.19, 0.01, 1]}}, hold: {}}]
"""

# A fork in free flight, whose arms close on one another.
FORK = """
weft: 1
title: A fork that closes
domain: {dx: 0.1, gravity: [0, 0, 0]}
time: {end: 1, frame_interval: 1}
materials: {rubber: {law: neo_hookean, density: 1000, youngs_modulus: 4e5, poisson_ratio: 0.3}}
bodies:
  - {name: fork, kind: solid, material: rubber, carrier: own, meets_grid: true, spin: [0, 1, 0], velocity: [0, 0, 1],
     mesh: {shape: {union: {blend: 0.02, parts: [
       {box: {lower: [0, 0, 0], upper: [0.9, 0.3, 0.4]}}, {box: {lower: [0, 0.6, 0], upper: [0.9, 0.9, 0.4]}},
       {box: {lower: [-0.3, 0, 0], upper: [0.1, 0.9, 0.4]}}]}}, size: 0.15}}
handles:
  - {name: low, body: fork, where: {box: {lower: [0.5, -1, -1], upper: [2, 0.29, 1]}}, force: {total: [0, 6000, 0]}}
  - {name: high, body: fork, where: {box: {lower: [0.5, 0.61, -1], upper: [2, 2, 1]}}, force: {total: [0, -6000, 0]}}
layer_contact: [{between: [fork, fork], friction: 0.3}]
probes:
  - {name: low, body: fork, nearest: {point: [0.9, 0.3, 0.2], field: position_y}}
  - {name: high, body: fork, nearest: {point: [0.9, 0.6, 0.2], field: position_y}}
output: {diagnostics_every: 1}
"""

# A stiff cube of few tetrahedra, thrown at a floor.
CAUGHT = """
weft: 1
title: A cube that is caught
domain: {{dx: 0.05, gravity: [0, 0, 0]}}
time: {{end: 0.3, frame_interval: 0.3}}
materials: {{jelly: {{law: neo_hookean, density: 1000, youngs_modulus: 1e6, poisson_ratio: 0.3}}}}
bodies:
  - {{name: cube, kind: solid, material: jelly, carrier: own, meets_grid: true, velocity: [0.5, -1, 0],
     stage: {{substeps: {substeps}}},
     mesh: {{block: {{lower: [-0.2, 0.03, -0.2], upper: [0.2, 0.43, 0.2]}}, size: 0.1}}}}
colliders: [{{name: floor, shape: {{plane: {{point: [0, 0, 0], normal: [0, 1, 0]}}}}, condition: {condition}}}]
output: {{diagnostics_every: 1}}
"""

# A sheet on the top of a block, of which a patch is pressed into it.
PRESSED_SHEET = """
weft: 1
title: A sheet that is pressed into a block
domain: {{dx: 0.05, gravity: [0, 0, 0]}}
time: {{end: 0.2, frame_interval: 0.2, max_dt: 2e-4}}
materials: {{silk: {{law: sheet, density: 300, youngs_modulus: 1e5, poisson_ratio: 0.3, contact: {{stiffness: 2e4}}}}}}
bodies:
  - {{name: cloth, kind: membrane, material: silk, thickness: 2 mm,
     mesh: {{rectangle: {{width: 0.6, height: 0.4}}, across: 15, along: 10, rotate: {{axis: [1, 0, 0], angle: 90}},
            translate: [0, 0.001, 0]}}}}
handles:
  - {{name: pin, body: cloth, where: {{sphere: {{center: [0.3, 0, 0.2], radius: 0.09}}}},
     hold: {{motion: {{keyframes: [{{time: 0}}, {{time: 0.2, translate: [0, -0.1, 0]}}]}}}}}}
colliders: [{{name: floor, shape: {{box: {{lower: [0, -1, -1], upper: [0.4, 0, 2]}}}}, condition: {condition}}}]
output: {{diagnostics_every: 1}}
"""

# A block falls on the floor; the frame is of the hit. Forces of colliders are those of the last substep.
LANDING = """
weft: 1
domain: {dx: 0.05, gravity: [0, -9.81, 0]}
time: {end: 0.02, frame_interval: 0.02}
materials: {rubber: {law: fixed_corotated, density: 900, youngs_modulus: 2e5, poisson_ratio: 0.3}}
bodies:
  - {name: block, kind: solid, material: rubber, carrier: own, meets_grid: true, velocity: [0, -1, 0],
     stage: {substeps: 1}, mesh: {block: {lower: [-0.1, 0.01, -0.1], upper: [0.1, 0.21, 0.1]}, size: 0.1}}
colliders: [{name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, friction: 0.4}]
output: {contact_points: true, double_precision: true, diagnostics_every: 1}
"""

# A rigid plate presses a block of four cells by a tenth.
PRESSED_GRID = """
weft: 1
domain: {{dx: 0.05, gravity: [0, 0, 0]}}
time: {{end: 0.12, frame_interval: 0.12, scheme: implicit, max_dt: {dt}}}
materials: {{rubber: {{law: fixed_corotated, density: 1000, youngs_modulus: 5e5, poisson_ratio: 0}}}}
bodies:
  - {{name: block, kind: continuum, material: rubber, shape: {{box: {{lower: [0, 0, 0], upper: [0.2, 0.2, 0.2]}}}}}}
  - {{name: plate, kind: rigid, density: 1000,
     mesh: {{block: {{lower: [-0.05, -0.05, 0.205], upper: [0.25, 0.25, 0.305]}}, size: 0.1}},
     joint: {{motion: {{keyframes: [{{time: 0}}, {{time: 0.08, translate: [0, 0, -0.025]}}]}}}}}}
layer_contact: [{{between: [materials, plate], friction: 0}}]
colliders: [{{name: floor, shape: {{plane: {{point: [0, 0, 0], normal: [0, 0, 1]}}}}}}]
output: {{diagnostics_every: 1}}
"""

class Layers(Case):
    def test_1_2_3_4_and_7_ranks_agree_to_1e_10(self):
        deck = self.deck(LAYERS)
        often = ["--set", "balance.every=10", "--set", "balance.threshold=1.01"]
        alone = self.run_deck(deck, "1", "--steps", 38, *often)
        row = numbers(alone)[-1]
        self.assertGreater(row["elastic_energy"], 0.1)  # or the comparison would prove little
        self.assertGreater(abs(row["impulse_floor_y"]), 1)
        for ranks in 2, 3, 4, 7:
            with self.subTest(ranks=ranks):
                many = self.run_deck(deck, str(ranks), "--steps", 38, *often, ranks=ranks)
                self.assert_same_state(alone, many, 1e-10)

    def test_threads_change_no_bit_and_runs_go_on_to_the_bit(self):
        deck = self.deck(LAYERS)
        unbroken = self.run_deck(deck, "unbroken", "--steps", 30, ranks=2)
        threads = self.run_deck(deck, "threads", "--steps", 30, ranks=2, threads=2)
        self.assert_same_state(unbroken, threads, 0)
        self.run_deck(deck, "broken", "--steps", 17, ranks=2)
        broken = self.run_deck(deck, "broken", "--steps", 30, "--resume", "auto", ranks=2)
        self.assert_same_state(unbroken, broken, 0)
        elsewhere = self.run_deck(deck, "elsewhere", "--steps", 30, "--resume", checkpoints(broken)[0], ranks=3)
        # Repeated contact makes 1.2e-10 of another cut's round-off in the forces that points remember.
        self.assert_same_state(unbroken, elsewhere, 3e-10)

    def test_implicit_bodies_agree_on_ranks_and_go_on_to_the_bit(self):
        deck = self.deck(IMPLICIT)
        alone = self.run_deck(deck, "1", "--steps", 40)
        row = numbers(alone)[-1]
        self.assertGreater(row["elastic_energy"], 0.01)
        self.assertGreater(abs(row["impulse_floor_y"]), 1)
        for ranks in 2, 3, 4, 7:
            with self.subTest(ranks=ranks):
                many = self.run_deck(deck, str(ranks), "--steps", 40, ranks=ranks)
                self.assert_same_state(alone, many, 1e-10)
        self.run_deck(deck, "broken", "--steps", 17, ranks=2)
        broken = self.run_deck(deck, "broken", "--steps", 40, "--resume", "auto", ranks=2, threads=2)
        self.assert_same_state(self.folder / "2", broken, 0)

    def test_implicit_bodies_keep_momentum_and_gain_no_energy(self):
        deck = self.deck(IMPLICIT + "output: {diagnostics_every: 1}\n")
        rows = numbers(self.run_deck(deck, "run", "--steps", 60))
        self.assert_momentum_was_given(rows, 1e-9)  # to where Newton's method ends
        energy = [row["energy_less_work"] for row in rows]
        self.assertLess(max(later - before for before, later in zip(energy, energy[1:])), 1e-3 * energy[0])
        self.assertLess(energy[-1], 0.9 * energy[0])

    def test_momentum_is_what_gravity_the_floor_and_handles_gave(self):
        rows = numbers(self.run_deck(self.deck(LAYERS + "output: {diagnostics_every: 1}\n"), "run", "--steps", 150))
        self.assert_momentum_was_given(rows)

    def assert_momentum_was_given(self, rows, tolerance=1e-10, gravity=-9.81):
        first, last = rows[0], rows[-1]
        for axis, g in ("x", 0), ("y", gravity), ("z", 0):
            given = g * last["mass"] * last["time"] - last[f"impulse_floor_{axis}"]
            for before, row in zip(rows, rows[1:]):  # forces are means since the row before
                given += (row["time"] - before["time"]) * row[f"force_pin_{axis}"]
            gained = last[f"momentum_{axis}"] - first[f"momentum_{axis}"]
            self.assertLess(abs(gained - given), tolerance * last["mass"], axis)

    def test_a_body_alone_on_its_layer_feels_nothing(self):
        base, _, _ = LAYERS.partition("handles:")
        bodies = base[base.index("  - {name: ball"):base.index("  - {name: block")]
        head, tail = base[:base.index("bodies:")], "output: {diagnostics_every: 1}\n"
        deck = self.deck(head.replace("-9.81", "0").replace("  - {name: cloth, kernel: quadratic}\n", "")
                         .replace("layers:\n", "") + "bodies:\n" + bodies + tail)
        rows = numbers(self.run_deck(deck, "run", "--steps", 200))
        for kind in "momentum", "angular_momentum":
            for axis in "xyz":
                drift = max(abs(row[f"{kind}_{axis}"] - rows[0][f"{kind}_{axis}"]) for row in rows)
                self.assertLess(drift, 1e-11, f"{kind}_{axis}")

    def test_a_solid_meets_itself(self):
        deck = self.deck(FORK)
        rows = numbers(self.run_deck(deck, "1", "--steps", 300))
        gaps = [row["high"] - row["low"] for row in rows]
        self.assertGreater(min(gaps), -0.01)  # a tenth of dx
        self.assertLess(min(gaps), 0.05)  # they touch
        for axis in "xyz":  # forces are opposite
            drift = max(abs(row[f"momentum_{axis}"] - rows[0][f"momentum_{axis}"]) for row in rows)
            self.assertLess(drift, 1e-10 * rows[0]["momentum_z"], axis)
        apart = numbers(self.run_deck(deck, "apart", "--steps", 300, "--set", "layer_contact=[]"))
        self.assertLess(min(row["high"] - row["low"] for row in apart), -0.05)  # nothing else stops them
        for ranks in 2, 3, 4, 7:
            with self.subTest(ranks=ranks):
                many = self.run_deck(deck, str(ranks), "--steps", 150, ranks=ranks)
                if ranks == 2:
                    alone = self.run_deck(deck, "alone", "--steps", 150)
                self.assert_same_state(alone, many, 1e-10)
        self.run_deck(deck, "broken", "--steps", 117, ranks=2)
        broken = self.run_deck(deck, "broken", "--steps", 150, "--resume", "auto", ranks=2, threads=2)
        self.assert_same_state(self.folder / "2", broken, 0)

    def test_hits_on_colliders_gain_no_energy(self):
        for condition, order in ("separate", 1), ("separate", 2), ("slip", 2), ("sticky", 2):
            with self.subTest(condition=condition, order=order):
                rows = numbers(self.run_deck(self.deck(f"""
weft: 1
domain: {{dx: 0.05, gravity: [0, 0, 0]}}
time: {{end: 0.6, frame_interval: 0.6}}
materials: {{m: {{law: fixed_corotated, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}}}}
bodies:
  - {{name: ball, kind: solid, material: m, order: {order}, carrier: own, meets_grid: true, velocity: [0, 0, -0.4],
     mesh: {{shape: {{sphere: {{center: [0.01, 0.02, 0.12], radius: 0.1}}}}, size: 0.06}}}}
colliders: [{{name: wall, shape: {{plane: {{point: [0, 0, 0], normal: [0.1, 0, 1]}}}}, condition: {condition}}}]
output: {{diagnostics_every: 5}}
"""), f"{condition}{order}"))
                energy = [row["energy_less_work"] for row in rows]
                self.assertLess(max(energy), 1.02 * energy[0])
                self.assertGreater(abs(rows[-1]["impulse_wall_z"]), 0.1)

    def test_hits_between_substeps_gain_no_energy(self):
        for condition, substeps in ("sticky", 1), ("sticky", 20), ("slip", 4), ("separate", 4):
            with self.subTest(condition=condition, substeps=substeps):
                rows = numbers(self.run_deck(self.deck(CAUGHT.format(condition=condition, substeps=substeps)),
                                             f"{condition}{substeps}"))
                self.assertLess(largest_rise(rows), 2e-3 * rows[0]["energy_less_work"])
                self.assertGreater(abs(rows[-1]["impulse_floor_y"]), 1)
                self.assert_momentum_was_given([row | {"force_pin_x": 0, "force_pin_y": 0, "force_pin_z": 0}
                                                for row in rows], gravity=0)

    def test_what_handles_press_into_a_collider_passes_it(self):
        hand = ("handles: [{name: pin, body: cube, where: {plane: {point: [0, 0.04, 0], normal: [0, 1, 0]}}, hold: "
                "{motion: {keyframes: [{time: 0}, {time: 0.2, translate: [0.05, -0.1, 0]}]}}}]\n")
        for condition in "separate", "slip", "sticky":
            with self.subTest(condition=condition):
                rows = numbers(self.run_deck(self.deck(
                    CAUGHT.format(condition=condition, substeps=4).replace("velocity: [0.5, -1, 0],", "") + hand),
                    f"pressed_{condition}"))
                self.assertLess(max(row["energy_less_work"] for row in rows), 1e-3 * rows[-1]["work_pin"])
                self.assertGreater(rows[-1]["work_pin"], 1)
                self.assert_momentum_was_given(rows, gravity=0)

    def test_sheets_that_handles_press_into_a_collider_pass_it(self):
        for condition in "separate", "slip", "sticky":
            with self.subTest(condition=condition):
                rows = numbers(self.run_deck(self.deck(PRESSED_SHEET.format(condition=condition)),
                                             f"sheet_{condition}"))
                self.assertGreater(rows[-1]["work_pin"], 5)
                self.assertLess(largest_rise(rows), 1e-4 * rows[-1]["work_pin"])
                self.assertGreater(abs(rows[-1]["impulse_floor_y"]), 0.1)
                self.assert_momentum_was_given(rows, gravity=0)
        deck = self.deck(PRESSED_SHEET.format(condition="sticky"))
        runs = [self.run_deck(deck, f"sheet_on_{ranks}", "--steps", 60, ranks=ranks) for ranks in (1, 3)]
        self.assert_same_state(*runs, 1e-10)

    def test_implicit_steps_of_the_grid_meet_contact_points(self):
        text = LAYERS.replace("time: {", "time: {scheme: implicit, ").replace("  - {name: towel", "  # {name: towel")
        text = text[:text.index("  # {name: towel")] + text[text.index("layer_contact:"):]
        deck = self.deck(text.replace("  - {between: [ball, cloth], friction: 0.2}\n", "")
                         .replace("  - {between: [block, cloth], friction: 0.5}\n", "") +
                         "solve: {tolerance: 1e-10}\n")
        alone = self.run_deck(deck, "1", "--steps", 60)
        self.assert_same_state(alone, self.run_deck(deck, "3", "--steps", 60, ranks=3), 1e-6)

    def test_implicit_grids_bear_a_load_in_steps_of_any_size(self):
        bears = []
        for dt in (0.002, 0.005):
            rows = numbers(self.run_deck(self.deck(PRESSED_GRID.format(dt=dt)), f"pressed_{dt}"))
            late = [row["contact_force_plate_z"] for row in rows if row["time"] > 0.085]
            bears.append(sum(late) / len(late))
            self.assertLess(largest_rise(rows), 0.01 * rows[-1]["work_joint_plate"])
        self.assertGreater(bears[0], 1300)  # after the solve alone 1196; a cube of many cells bears 2000
        self.assertAlmostEqual(bears[1] / bears[0], 1, delta=0.03)

    def test_contact_points_are_drawn_with_what_acts_on_them(self):
        deck = self.deck(LANDING)
        drawn = []
        for ranks in 1, 3:
            run = self.run_deck(deck, f"drawn_{ranks}", ranks=ranks)
            start, frame = (weft_read.Run(run).frame("block_contact", number) for number in range(2))
            order = numpy.argsort(frame["id"])
            self.assertEqual(len(set(frame["id"])), len(order))
            drawn.append({name: frame[name][order] for name in frame.fields} | {"points": frame.points[order]})
            area = frame["surface_area"]
            self.assertLess(numpy.abs(area.sum(axis=0)).max(), 1e-12)  # the surface is closed
            self.assertAlmostEqual(numpy.linalg.norm(start["surface_area"], axis=1).sum(), 6 * 0.04, delta=1e-12)
            before, now = numbers(run)[-2:]
            force = (now["impulse_floor_y"] - before["impulse_floor_y"]) / (now["time"] - before["time"])
            self.assertGreater(abs(force), 50)
            self.assertAlmostEqual(frame["wall_force"][:, 1].sum() / -force, 1, delta=1e-6)
            self.assertEqual(numpy.abs(frame["contact_force"]).max(), 0)  # nothing else is there
        for name, values in drawn[0].items():
            self.assertLess(numpy.abs(values - drawn[1][name]).max(), 1e-9 * max(1, numpy.abs(values).max()), name)
        shutil.rmtree(run / "frames")
        self.run_deck(deck, run.name, "--force", "--set", "output.contact_points=false")
        self.assertEqual(list((run / "frames").glob("block_contact*")), [])

    def test_probes_know_cells_and_list_what_there_is(self):
        deck = self.deck(LANDING)
        probe = "probes=[{name: most, body: block, quantile: {field: von_mises_stress, q: 1}}]"
        stress = []
        for ranks in 1, 3:
            run = self.run_deck(deck, f"probed_{ranks}", "--set", probe, ranks=ranks)
            stress.append(numbers(run)[-1]["most"])
            drawn = weft_read.Run(run).frame("block", 1)["von_mises_stress"].max()
            self.assertAlmostEqual(drawn / stress[-1], 1, delta=1e-9)
        self.assertAlmostEqual(stress[0] / stress[1], 1, delta=1e-9)
        for measure, words in (("quantile: {field: stress, q: 1}", "von_mises_stress"),
                               ("nearest: {field: von_mises_stress, point: [0, 0, 0]}", "quantile"),
                               ("nearest: {field: stress, point: [0, 0, 0]}", "velocity_x")):
            done = weft("check", deck, "--set", f"probes=[{{name: most, body: block, {measure}}}]")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)

    def test_what_layers_do_not_know_is_refused(self):
        for old, new, words in (
                ("layer: cloth", "layer: clth", "there is no layer named"),
                ("between: [ball, cloth]", "between: [ball, clth]", "there is no layer named"),
                ("between: [ball, cloth]", "between: [cloth, block]", "stand together above already"),
                ("between: [ball, cloth]", "between: [ball]", "two layers"),
                ("between: [ball, cloth]", "between: [cloth, cloth]", "can meet itself"),
                ("between: [ball, cloth]", "between: [materials, materials]", "can meet itself"),
                ("meets_grid: true, velocity", "meets_grid: true, layer: cloth, velocity", "another body is on"),
                ("meets_grid: true, velocity", "meets_grid: true, layer: materials, velocity", "another body"),
                ("name: cloth, kernel", "name: ball, kernel", "there is a layer named"),
                ("name: cloth, kernel", "name: materials, kernel", "materials"),
                ("thickness: 4 mm", "thickness: 4 mm, carrier: own, meets_grid: true", "meets_grid"),
                ("contact: {points: 3, tolerance: 0.02}", "contact: {restitution: 1}", "elasticity"),
                ("[0, 1, 0]}}, friction: 0.4", "[0, 1, 0]}}, contact: nodes, friction: 0.4", "sink through"),
                ("friction: 0.2", "friction: -1", "friction")):
            with self.subTest(new=new):
                self.assertIn(old, LAYERS)
                done = weft("run", self.deck(LAYERS.replace(old, new, 1)), "-o", self.folder / "new" / "out")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertFalse((self.folder / "new").exists())

    def test_check_says_how_bodies_meet(self):
        done = weft("check", self.deck(LAYERS))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("meet the grid by contact points", done.stdout)
        self.assertIn("layer cloth: towel; friction 0.2 on ball, 0.5 on block\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
