#!/usr/bin/env python3
"""Proves that strands move, rest, restart and are refused as they should: tests/end_to_end/test_strands.py WEFT."""
import math
import struct
import unittest

from program import Case, checkpoints, history, weft
import numpy
from test_strand_impulses import numbers, tangle
import weft_read

# Curls with an elliptic section on a root that turns, a bundle that is straight by nature, and one that nothing holds.
STRANDS = """
weft: 1
title: Strands
domain: {dx: 0.1, gravity: [0, 0, -9.81]}
time: {end: 1, frame_interval: 0.1, max_dt: 2 ms}
materials:
  nylon: {law: rod, density: 1100, youngs_modulus: 2e7, poisson_ratio: 0.4, stretch_modulus: 2e6, viscosity: 100}
  wire: {law: rod, density: 3000, youngs_modulus: 1e8, poisson_ratio: 0.3, stretch_modulus: 5e6}
bodies:
  - {name: curls, kind: strand, material: nylon, half_axes: [4 mm, 2 mm], stage: {scheme: STAGE, tolerance: 1e-10},
     curves: {hair_tube: {inner_radius: 0, outer_radius: 0.2, length: 0.4, strands: 5}, spacing: 0.02,
              plies: {count: 2, radius: 0.03, twist: 0.2}}}
  - {name: bundle, kind: strand, material: wire, radius: 3 mm, taper: 0.5, natural: straight, twist: 1 rev/m,
     stage: {scheme: STAGE, tolerance: 1e-10},
     curves: {hair_ball: {radius: 0.1, length: 0.4, strands: 7}, spacing: 0.05, translate: [1, 0, 0]}}
  - {name: thrown, kind: strand, material: nylon, radius: 4 mm, velocity: [0.1, 0, 1], spin: [0, 4, 9],
     stage: {scheme: STAGE, tolerance: 1e-10},
     curves: {hair_tube: {inner_radius: 0, outer_radius: 0.1, length: 0.3, strands: 3}, spacing: 0.03,
              translate: [0, 1, 0]}}
handles:
  - {name: roots, body: curls, where: {box: {lower: [-1, -1, -0.001], upper: [1, 1, 0.001]}},
     hold: {keep: clamp, motion: {spin: [0, 0, 3]}}}
  - {name: ball, body: bundle, where: {sphere: {center: [1, 0, 0], radius: 0.101}}, hold: {keep: clamp}}
  - {name: wind, body: bundle, gravity: {acceleration: [0, 2, 0]}}
"""
EXPLICIT = STRANDS.replace("STAGE", "explicit")

# Hair that hangs from a bar in motion into sand, and a tuft that is thrown at it.
MEETING = """
weft: 1
title: Strands that meet sand, walls and one another
domain: {dx: 0.05, gravity: [0, 0, -9.81]}
time: {end: 1, frame_interval: 0.1, max_dt: 1 ms}
materials:
  nylon: {law: rod, density: 1100, youngs_modulus: 2e7, poisson_ratio: 0.4, stretch_modulus: 2e6, viscosity: 100}
  sand: {law: drucker_prager, density: 1600, youngs_modulus: 2e5, poisson_ratio: 0.3, friction_angle: 35}
bodies:
  - {name: hair, kind: strand, material: nylon, radius: 5 mm, meets_grid: true,
     stage: {scheme: STAGE, tolerance: 1e-10},
     contact: {youngs_modulus: 1e5, friction: 0.4, packing: 0.05}, roots: {collider: head, depth: 1 cm},
     curves: {hair_tube: {inner_radius: 0, outer_radius: 0.1, length: 0.4, strands: 40}, spacing: 0.04,
              rotate: {axis: [1, 0, 0], angle: 180}, translate: [0, 0, 0.5]}}
  - {name: tuft, kind: strand, material: nylon, radius: 5 mm, taper: 0.5, meets_grid: true,
     stage: {scheme: STAGE, tolerance: 1e-10},
     contact: {youngs_modulus: 1e5, friction: 0.4, packing: 0.05}, velocity: [-1, 0, 0],
     curves: {hair_tube: {inner_radius: 0, outer_radius: 0.05, length: 0.3, strands: 9}, spacing: 0.04,
              translate: [0.36, 0.02, 0.005]}}
  - {name: sand, kind: continuum, material: sand, shape: {box: {lower: [-0.2, -0.2, 0], upper: [0.3, 0.2, 0.15]}}}
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}, friction: 0.5}
  - {name: head, shape: {box: {lower: [-0.2, -0.2, 0.505], upper: [0.2, 0.2, 0.65]}}, condition: separate,
     motion: {velocity: [0.1, 0, 0], spin: [0, 0, 1]}}
output: {diagnostics_every: 1}
"""

# The same with impulses too, and curly hair that grows on the head.
BOTH = MEETING.replace("STAGE", "explicit").replace(
    "packing: 0.05},", "packing: 0.05}, impulses: {distance: 12 mm, friction: 0.3, swept: true}, stretch_limit: 0.1,"
).replace("""curves: {hair_tube: {inner_radius: 0, outer_radius: 0.1, length: 0.4, strands: 40}, spacing: 0.04,
              rotate: {axis: [1, 0, 0], angle: 180}, translate: [0, 0, 0.5]}}""",
          """curves: {groom: {collider: head, where: {box: {lower: [-0.15, -0.15, 0.5], upper: [0.15, 0.15, 0.51]}},
              strands: 60, length: 0.4, length_spread: 0.2, lie: 10, lie_spread: 10, curl: {radius: 8 mm, length: 0.1,
              spread: 0.2}, seed: 3}, spacing: 0.03}}""")

# Undamped hair that falls on a ball.
DRAPED = """
weft: 1
domain: {dx: 0.02, gravity: [0, -9.81, 0]}
time: {end: 0.1, frame_interval: 0.1}
materials: {rod: {law: rod, density: 1100, youngs_modulus: 1e6, poisson_ratio: 0.3}}
bodies:
  - {name: hair, kind: strand, meets_grid: true, material: rod, radius: 2 mm,
     contact: {youngs_modulus: 1e4, friction: 0.3},
     curves: {hair_tube: {inner_radius: 0.02, outer_radius: 0.05, length: 0.3, strands: 10}, spacing: 0.02,
              rotate: {axis: [1, 0, 0], angle: 10}, translate: [0, HEIGHT, -0.15]}}
colliders:
  - {name: ball, shape: {sphere: {center: [0.01, 0.1, 0.02], radius: 0.08}}, friction: 0.3}
"""

# A rod that sags between two clamps, of which one comes nearer and turns.
STATIC = """
weft: 1
domain: {gravity: [0, 0, -9.81]}
time: {scheme: static, end: 1, frame_interval: 1}
loading: {steps: 10}
materials: {wire: {law: rod, density: 1000, youngs_modulus: 1e7, poisson_ratio: 0.3}}
bodies:
  - {name: rods, kind: strand, material: wire, radius: 5 mm,
     curves: {hair_tube: {inner_radius: 0, outer_radius: 0.2, length: 1, strands: 4}, spacing: 0.05,
              rotate: {axis: [0, 1, 0], angle: 90}}}
handles:
  - {name: left, body: rods, where: {box: {lower: [-1, -1, -1], upper: [0.001, 1, 1]}}, hold: {keep: clamp}}
  - {name: right, body: rods, where: {box: {lower: [0.999, -1, -1], upper: [2, 1, 1]}},
     hold: {keep: clamp, motion: {keyframes: [{time: 0}, {time: 1, translate: [-0.2, 0, 0]}]}}}
"""

QUASI_STATIC = "kind: strand, turns: quasi_static,"


class Strands(Case):
    def assert_any_ranks_agree(self, stage, text, steps, tolerance, all_ranks):
        # A centre that a body spins about depends on ranks to round-off, and its twist starts from zero.
        deck = self.deck(text.replace("spin: [0, 4, 9],", ""))
        alone = self.run_deck(deck, f"{stage}_1", "--steps", steps)
        self.assertGreater(float(history(alone)[-1]["elastic_energy"]), 1e-3)
        for ranks in all_ranks:
            with self.subTest(stage=stage, ranks=ranks):
                many = self.run_deck(deck, f"{stage}_{ranks}", "--steps", steps, ranks=ranks)
                self.assert_same_state(alone, many, tolerance)
        return deck, alone

    def test_any_ranks_agree(self):
        # Factors of several ranks are not the same.
        for stage, tolerance, steps, ranks in (("explicit", 1e-11, 200, (2, 3, 4, 7)), ("implicit", 1e-6, 30, (2, 3))):
            self.assert_any_ranks_agree(stage, STRANDS.replace("STAGE", stage), steps, tolerance, ranks)

    def test_turns_without_inertia_agree_on_any_ranks_and_go_on_to_the_bit(self):
        # Holds of clamped strands are solved by all ranks together, so these agree to round-off.
        for stage, text, steps, tolerance, ranks in (
                ("free", tangle(swept="true"), 200, 0, (2, 3, 4, 7)),
                ("explicit", EXPLICIT, 200, 1e-11, (2, 3, 4, 7)),
                ("implicit", STRANDS.replace("STAGE", "implicit"), 30, 1e-6, (2, 3))):
            text = text.replace("kind: strand,", QUASI_STATIC)
            deck, alone = self.assert_any_ranks_agree(stage, text, steps, tolerance, ranks)
            self.assert_same_state(alone, self.run_deck(deck, f"{stage}_two", "--steps", steps, threads=2), 0)
            self.run_deck(deck, f"{stage}_broken", "--steps", steps // 2)
            self.assert_same_state(alone, self.run_deck(deck, f"{stage}_broken", "--steps", steps, "--resume", "auto"),
                                   0)

    def test_turns_without_inertia_take_longer_steps_to_the_same_end(self):
        # A hair that is made as a helix; twist is stiffer than stretch.
        turns = numpy.arange(61) * 0.002 * 2 * math.pi / math.hypot(2 * math.pi * 0.006, 0.02)
        (self.folder / "curl.obj").write_text("".join(
            f"v {0.006 * math.cos(k)} {0.006 * math.sin(k)} {-0.02 * k / (2 * math.pi)}\n" for k in turns) +
            "l " + " ".join(str(k + 1) for k in range(61)) + "\n")
        deck = self.deck("""
weft: 1
domain: {gravity: [0, 0, -9.81], dx: 0.01}
time: {end: 20 ms, frame_interval: 20 ms}
materials: {hair: {law: rod, density: 1300, youngs_modulus: 3 GPa, poisson_ratio: 0.4, stretch_modulus: 30 MPa}}
bodies: [{name: hair, kind: strand, material: hair, radius: 40 um, curves: {curve_file: {path: curl.obj}}}]
handles: [{name: root, body: hair, vertices: [0], hold: {keep: clamp}}]
""")
        ends = {}
        for kind, stage in ("dynamic", "explicit"), ("quasi_static", "explicit"), ("quasi_static", "implicit"):
            run = self.run_deck(deck, f"{kind}_{stage}", "--set", f"bodies.hair.turns={kind}",
                                "--set", f"bodies.hair.stage.scheme={stage}",
                                *(("--set", "time.max_dt=1e-5") if stage == "implicit" else ()))
            ends[kind, stage] = history(run)[-1]
        dynamic, explicit, implicit = ends.values()
        self.assertGreater(int(dynamic["step"]), 5 * int(explicit["step"]))
        for end, tolerance in (explicit, 1e-3), (implicit, 2e-2):
            for column in "elastic_energy", "kinetic_energy":
                self.assertAlmostEqual(float(end[column]) / float(dynamic[column]), 1, delta=tolerance)

    def test_strands_on_the_grid_without_stress_agree_on_any_ranks_to_round_off(self):
        meets = "kind: strand, meets_grid: true, blend: {pic_share: 0}, response: none,"
        deck = self.deck(tangle(swept="true").replace("kind: strand,", meets))
        alone = self.run_deck(deck, "1", "--steps", 200)
        self.assertGreater(numbers(alone)["impulses"].sum(), 100)
        for ranks in 2, 3, 4, 7:
            with self.subTest(ranks=ranks):
                self.assert_same_state(alone, self.run_deck(deck, f"on_{ranks}", "--steps", 200, ranks=ranks), 1e-10)

    def test_threads_change_no_bit_and_runs_go_on_to_the_bit(self):
        for stage in "explicit", "implicit":
            with self.subTest(stage=stage):
                deck = self.deck(STRANDS.replace("STAGE", stage))
                alone = self.run_deck(deck, f"{stage}_alone", "--steps", 12)
                self.assert_same_state(alone, self.run_deck(deck, f"{stage}_threads", "--steps", 12, threads=2), 0)
                unbroken = self.run_deck(deck, f"{stage}_unbroken", "--steps", 24, ranks=2)
                self.run_deck(deck, f"{stage}_broken", "--steps", 10, ranks=2)
                broken = self.run_deck(deck, f"{stage}_broken", "--steps", 24, "--resume", "auto", ranks=2)
                self.assert_same_state(unbroken, broken, 0)
                elsewhere = self.run_deck(deck, f"{stage}_elsewhere", "--steps", 24, "--resume",
                                          checkpoints(broken)[0], ranks=3)
                self.assert_same_state(unbroken, elsewhere, 1e-10 if stage == "explicit" else 1e-7)

    def test_strands_that_meet_agree_on_any_ranks_and_threads_and_go_on_to_the_bit(self):
        for stage in "explicit", "implicit":
            deck = self.deck(MEETING.replace("STAGE", stage))
            unbroken = self.run_deck(deck, f"{stage}_unbroken", "--steps", 60)
            last = weft_read.Checkpoint(checkpoints(unbroken)[-1])
            self.assertLess(min(last[f"{body}_contact"]["log_strain"].min() for body in ("hair", "tuft")), -1e-5)
            heaviest = 9.81 * last["tuft"]["mass"].max()
            self.assertGreater(numpy.abs(last["tuft"]["wall_force"]).max(), 0.5 * heaviest)
            self.assert_same_state(unbroken, self.run_deck(deck, f"{stage}_threads", "--steps", 60, threads=2), 0)
            self.run_deck(deck, f"{stage}_broken", "--steps", 25)
            broken = self.run_deck(deck, f"{stage}_broken", "--steps", 60, "--resume", "auto")
            self.assert_same_state(unbroken, broken, 0)
            elsewhere = self.run_deck(deck, f"{stage}_elsewhere", "--steps", 60, "--resume", checkpoints(broken)[0],
                                      ranks=2)
            self.assert_same_state(unbroken, elsewhere, 1e-10 if stage == "explicit" else 1e-6)
            for ranks in (2, 3, 4, 7) if stage == "explicit" else (3,):
                with self.subTest(stage=stage, ranks=ranks):
                    many = self.run_deck(deck, f"{stage}_{ranks}", "--steps", 60, ranks=ranks)
                    self.assert_same_state(unbroken, many, 1e-10 if stage == "explicit" else 1e-6)

    def test_momentum_of_strands_and_sand_is_what_gravity_colliders_and_roots_gave(self):
        snow = MEETING.replace("law: drucker_prager, density: 1600, youngs_modulus: 2e5, poisson_ratio: 0.3, "
                               "friction_angle: 35",
                               "law: snow, density: 400, youngs_modulus: 1.4e5, poisson_ratio: 0.2")
        self.assertIn("law: snow", snow)
        for stage, text in ("explicit", MEETING), ("implicit", MEETING), ("explicit", snow), ("implicit", snow):
            rows = [{name: float(value) for name, value in row.items()}
                    for row in history(self.run_deck(self.deck(text.replace("STAGE", stage)), stage, "--steps", 60,
                                                     "--force"))]
            first, last = rows[0], rows[-1]
            for axis, gravity in ("x", 0), ("y", 0), ("z", -9.81):
                given = gravity * last["mass"] * last["time"]
                given -= sum(last[f"impulse_{collider}_{axis}"] for collider in ("floor", "head"))
                for before, row in zip(rows, rows[1:]):
                    given += (row["time"] - before["time"]) * row[f"force_hair_roots_{axis}"]
                gained = last[f"momentum_{axis}"] - first[f"momentum_{axis}"]
                self.assertLess(abs(gained - given), 1e-11 * last["mass"], f"{stage} {axis}")

    def test_impulses_and_grid_together_keep_momentum_and_take_energy(self):
        rows = numbers(self.run_deck(self.deck(BOTH), "both", "--steps", 200))
        self.assertGreater(rows["impulses"].sum(), 100)
        dt = numpy.diff(rows["time"])
        for axis, gravity in ("x", 0), ("y", 0), ("z", -9.81):
            given = gravity * rows["mass"][-1] * rows["time"][-1]
            given -= sum(rows[f"impulse_{collider}_{axis}"][-1] for collider in ("floor", "head"))
            given += (dt * rows[f"force_hair_roots_{axis}"][1:]).sum()
            gained = rows[f"momentum_{axis}"][-1] - rows[f"momentum_{axis}"][0]
            self.assertLess(abs(gained - given), 1e-11 * rows["mass"][-1], axis)
        energy = rows["energy_less_work"]
        self.assertLess((energy - numpy.minimum.accumulate(energy)).max(), 2e-3 * numpy.abs(energy).max())

    def test_impulses_and_grid_together_agree_on_any_ranks_and_go_on_to_the_bit(self):
        deck = self.deck(BOTH)
        unbroken = self.run_deck(deck, "unbroken", "--steps", 60)
        self.assert_same_state(unbroken, self.run_deck(deck, "threads", "--steps", 60, threads=2), 0)
        self.run_deck(deck, "broken", "--steps", 25)
        broken = self.run_deck(deck, "broken", "--steps", 60, "--resume", "auto")
        self.assert_same_state(unbroken, broken, 0)

        def at_rest(run):
            hair = weft_read.Checkpoint(checkpoints(run)[-1])["hair"]
            return hair["rest_position"][numpy.argsort(hair["id"])]

        for ranks in 2, 3, 4, 7:
            with self.subTest(ranks=ranks):
                many = self.run_deck(deck, f"on_{ranks}", "--steps", 60, ranks=ranks)
                self.assertTrue((at_rest(many) == at_rest(unbroken)).all())
                # The grid sums by rank; its round-off may not say which pairs act.
                self.assert_same_state(unbroken, many, 1e-9)

    def test_round_off_stays_round_off_in_strands_on_a_collider(self):
        # What the grid gives once in a step would feed strands of several substeps: to 1e-3 m/s in as many steps.
        ends = []
        for name, height in ("as_given", "0.25"), ("moved", "0.25000000000001"):
            run = self.run_deck(self.deck(DRAPED.replace("HEIGHT", height)), name)
            ends.append(weft_read.Run(run).frame("hair", -1)["velocity"])
        self.assertGreater(numpy.abs(ends[0]).max(), 0.01)
        self.assertLess(numpy.abs(ends[0] - ends[1]).max(), 1e-8)

    def test_a_grid_without_contact_changes_nothing(self):
        for stage in "explicit", "implicit":
            for response in "", "contact: {youngs_modulus: 1e6, friction: 0.4}, response: none,":
                with self.subTest(stage=stage, response=response):
                    text = STRANDS.replace("STAGE", stage)
                    alone = self.run_deck(self.deck(text), f"{stage}_alone", "--steps", 40, "--force")
                    meets = f"kind: strand, meets_grid: true, blend: {{pic_share: 0}}, {response}"
                    meeting = self.deck(text.replace("kind: strand,", meets))
                    grid = self.run_deck(meeting, f"{stage}_grid", "--steps", 40, "--force")
                    a, b = (weft_read.Checkpoint(checkpoints(run)[-1]) for run in (alone, grid))
                    for body in "curls", "bundle", "thrown":
                        for field in "position", "velocity":
                            x, y = a[body][field], b[body][field]
                            self.assertLess(numpy.abs(x - y).max() / numpy.abs(x).max(), 1e-12, f"{body} {field}")

    def test_roots_follow_their_collider(self):
        run = self.run_deck(self.deck(MEETING.replace("STAGE", "explicit")), "roots", "--steps", 40)
        last = weft_read.Checkpoint(checkpoints(run)[-1])
        time = float(history(run)[-1]["time"])
        hair = last["hair"]
        roots = numpy.abs(hair["rest_position"][:, 2] - 0.5) < 1e-9
        self.assertEqual(roots.sum(), 40)
        at_rest = hair["rest_position"][roots]
        c, s = math.cos(time), math.sin(time)
        goal = at_rest @ numpy.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + [0.1 * time, 0, 0]
        self.assertLess(numpy.abs(hair["position"][roots] - goal).max(), 1e-12)

    def test_momentum_is_what_gravity_and_handles_gave(self):
        for stage in "explicit", "implicit":
            deck = self.deck(STRANDS.replace("STAGE", stage) + "output: {diagnostics_every: 1}\n")
            rows = [{name: float(value) for name, value in row.items()}
                    for row in history(self.run_deck(deck, stage, "--steps", 30))]
            first, last = rows[0], rows[-1]
            for axis, gravity in ("x", 0), ("y", 0), ("z", -9.81):
                given = gravity * last["mass"] * last["time"]
                for before, row in zip(rows, rows[1:]):  # forces are means since the row before
                    given += (row["time"] - before["time"]) * sum(row[f"force_{handle}_{axis}"]
                                                                  for handle in ("roots", "ball", "wind"))
                gained = last[f"momentum_{axis}"] - first[f"momentum_{axis}"]
                self.assertLess(abs(gained - given), 1e-9 * last["mass"], f"{stage} {axis}")

    def test_segments_may_turn_fast_in_long_steps(self):
        # A soft rod that spins by half a turn and more in 25 ms, alone.
        (self.folder / "rod.obj").write_text(
            "".join(f"v {0.02 * k - 0.1} 0 0.09\n" for k in range(11)) +
            "l " + " ".join(str(k + 1) for k in range(11)) + "\n")
        for spin in 125, 300:
            with self.subTest(spin=spin):
                rows = numbers(self.run_deck(self.deck(f"""
weft: 1
domain: {{dx: 0.02, gravity: [0, 0, 0]}}
time: {{end: 0.3, frame_interval: 0.1}}
materials: {{wire: {{law: rod, density: 1000, youngs_modulus: 2e7, poisson_ratio: 0.3}}}}
bodies:
  - {{name: rod, kind: strand, material: wire, radius: 1.5 mm, spin: [0, 10, {spin}],
     curves: {{curve_file: {{path: rod.obj}}}}}}
output: {{diagnostics_every: 1}}
"""), f"spin_{spin}"))
                energy = rows["energy_less_work"]
                self.assertLess(numpy.abs(energy / energy[0] - 1).max(), 1e-3)

    def test_viscosity_of_any_size_takes_energy(self):
        # The fastest mode has 2 to 200 times critical damping.
        (self.folder / "rod.obj").write_text(
            "".join(f"v {0.02 * k} 0 0\n" for k in range(11)) + "l " + " ".join(str(k + 1) for k in range(11)) + "\n")
        for viscosity in 600, 2000, 6000, 60000:
            with self.subTest(viscosity=viscosity):
                rows = numbers(self.run_deck(self.deck(f"""
weft: 1
domain: {{dx: 0.02, gravity: [0, 0, -9.81]}}
time: {{end: 50 ms, frame_interval: 50 ms}}
materials: {{rubber: {{law: rod, density: 1100, youngs_modulus: 2e6, poisson_ratio: 0.4, stretch_modulus: 2e6,
                     viscosity: {viscosity}}}}}
bodies: [{{name: rod, kind: strand, material: rubber, radius: 2 mm, curves: {{curve_file: {{path: rod.obj}}}}}}]
handles: [{{name: end, body: rod, vertices: [0], hold: {{}}}}]
output: {{diagnostics_every: 1}}
"""), f"rod_{viscosity}"))
                energy = rows["energy_less_work"]
                self.assertLess((energy - numpy.minimum.accumulate(energy)).max(), 1e-3 * rows["kinetic_energy"].max())

    def test_clamps_hold_their_share_of_the_energy_and_do_the_work_of_their_torque(self):
        # A wire of ten segments with both ends clamped, of which one is turned slowly about the wire, or bent to an
        # arc. Joints of clamps hold a tenth of the energy.
        deck = """
weft: 1
domain: {dx: 0.1, gravity: [0, 0, 0]}
time: {end: 1, frame_interval: 1}
output: {diagnostics_every: 1}
materials:
  wire: {law: rod, density: 1000, youngs_modulus: 2e8, poisson_ratio: 0.25, stretch_modulus: 1e7, viscosity: 1e5}
bodies:
  - {name: wire, kind: strand, material: wire, radius: 10 mm, stage: {scheme: STAGE, tolerance: 1e-10}, turns: TURNS,
     curves: {curve_file: {path: line.obj}}}
handles:
  - {name: still, body: wire, vertices: [0], hold: {keep: clamp}}
  - {name: led, body: wire, vertices: [10],
     hold: {keep: clamp, motion: {center: [1, 0, 0], keyframes: [{time: 0}, KEYS]}}}
"""
        (self.folder / "line.obj").write_text(
            "".join(f"v {k / 10} 0 0\n" for k in range(11)) + "l " + " ".join(str(k + 1) for k in range(11)) + "\n")
        B = 2e8 * math.pi * 0.01**4 / 4
        twist, bend, keys = 2, 1.5, 16

        def turned(axis, angle, x, y):
            return f"rotate: {{axis: {axis}, angle: {angle} rad}}, translate: [{x}, {y}, 0]"

        def on_arc(angle):
            return turned([0, 0, 1], angle, math.sin(angle) / angle - 1, (1 - math.cos(angle)) / angle)

        for name, pose, energy, tolerance in (
                ("twisted", lambda part: turned([1, 0, 0], part * twist, 0, 0), B / 1.25 * twist**2 / 2, 1e-3),
                ("bent", lambda part: on_arc(part * bend), B * bend**2 / 2, 0.01)):
            led = ", ".join(f"{{time: {k / keys}, {pose(k / keys)}}}" for k in range(1, keys + 1))
            for stage, turns in ("explicit", "dynamic"), ("explicit", "quasi_static"), ("implicit", "dynamic"):
                with self.subTest(name=name, stage=stage, turns=turns):
                    text = deck.replace("STAGE", stage).replace("TURNS", turns).replace(
                        "KEYS", led).replace("frame_interval: 1", "frame_interval: 1, max_dt: 1 ms")
                    rows = [{column: float(value) for column, value in row.items() if column != "limited_by"}
                            for row in history(self.run_deck(self.deck(text), f"{name}_{stage}_{turns}"))]
                    last = rows[-1]
                    self.assertLess(last["kinetic_energy"], 1e-3 * energy)
                    self.assertAlmostEqual(last["elastic_energy"] / energy, 1, delta=tolerance)
                    self.assertAlmostEqual(last["work_led"] / energy, 1, delta=0.02)
                    self.assertLess(max(abs(row["work_still"]) for row in rows), 1e-12 * energy)
                    gains = numpy.diff([row["energy_less_work"] for row in rows])
                    self.assertLess(gains.max(), 1e-3 * energy)

    def test_a_free_strand_keeps_its_momentum_and_nearly_its_angular_momentum_and_energy(self):
        # Turns of segments have no gyroscopic torque, which takes a part of their own angular momentum; without inertia
        # they have none.
        coil = """
weft: 1
domain: {dx: 1, gravity: [0, 0, 0]}
time: {end: 2, frame_interval: 2, max_dt: 1 ms}
materials: {nylon: {law: rod, density: 1100, youngs_modulus: 2e7, poisson_ratio: 0.4, stretch_modulus: 2e6}}
bodies:
  - {name: coil, kind: strand, material: nylon, half_axes: [2 mm, 1 mm], natural: straight, velocity: [0.1, 0.2, 0],
     spin: [1, 2, 3],
     curves: {hair_tube: {inner_radius: 0, outer_radius: 0.01, length: 0.4, strands: 1}, spacing: 0.02,
              plies: {count: 2, radius: 0.03, twist: 0.2}}}
output: {diagnostics_every: 1}
"""
        for turns, half_axes, of_turns, loss in (("dynamic", "[2 mm, 1 mm]", 2e-3, 1e-2),
                                                 ("quasi_static", "[1.5 mm, 1.5 mm]", 1e-10, 1e-2),
                                                 ("quasi_static", "[2 mm, 1 mm]", 1e-10, 0.4)):  # which snaps
            rows = history(self.run_deck(self.deck(coil), f"{turns}{loss}", "--set", f"bodies.coil.turns={turns}",
                                         "--set", f"bodies.coil.half_axes={half_axes}"))
            values = {name: numpy.array([float(row[name]) for row in rows]) for name in rows[0] if name != "dt"}
            for kind, tolerance in ("momentum", 1e-12), ("angular_momentum", of_turns):
                all_axes = numpy.stack([values[f"{kind}_{axis}"] for axis in "xyz"], axis=1)
                drift = numpy.abs(all_axes - all_axes[0]).max() / numpy.linalg.norm(all_axes[0])
                self.assertLess(drift, tolerance, f"{turns} {kind}")
            energy = values["energy_less_work"]
            self.assertLess(energy.max() / energy[0] - 1, 1e-2, turns)
            self.assertLess(1 - energy.min() / energy[0], loss, turns)
            self.assertLess(values["elastic_energy"].min(), 0.7 * values["elastic_energy"][0])  # it uncoils

    def test_rings_have_the_energy_of_their_joints_and_of_twist_that_cannot_leave(self):
        n, radius = 40, 0.5
        length = 2 * radius * math.sin(math.pi / n)
        points = "".join(f"v {radius * math.cos(2 * math.pi * k / n)} {radius * math.sin(2 * math.pi * k / n)} 0\n"
                         for k in range(n))
        (self.folder / "ring.obj").write_text(points + "l " + " ".join(str(k + 1) for k in range(n)) + " 1\n")
        E, r = 1e7, 0.01
        B, GJ = E * math.pi * r**4 / 4, E / 2.6 * math.pi * r**4 / 2
        bent = n * B / (2 * length) * (2 * math.tan(math.pi / n))**2
        # A ring can have a whole number of turns alone: a quarter of one is missing.
        twist = 1.25 * 2 * math.pi / (n * length)
        twisted = GJ / (2 * n * length) * (0.25 * 2 * math.pi)**2
        for keys, energy in (("natural: as_made", 0), ("natural: straight", bent),
                             (f"natural: straight, twist: {twist}", bent + twisted)):
            deck = self.deck(f"""
weft: 1
domain: {{dx: 0.1, gravity: [0, 0, 0]}}
time: {{end: 1, frame_interval: 1}}
materials: {{wire: {{law: rod, density: 1000, youngs_modulus: {E}, poisson_ratio: 0.3}}}}
bodies: [{{name: ring, kind: strand, material: wire, radius: {r}, {keys}, curves: {{curve_file: {{path: ring.obj}}}}}}]
output: {{diagnostics_every: 1}}
""")
            with self.subTest(keys=keys):
                rows = history(self.run_deck(deck, str(energy), "--steps", 3))
                self.assertAlmostEqual(float(rows[0]["elastic_energy"]) / bent, energy / bent, delta=1e-9)

    def test_static_analyses_agree_on_any_ranks_and_go_on(self):
        deck = self.deck(STATIC)
        alone = self.run_deck(deck, "1")
        row = history(alone)[-1]
        weight = 4 * 1000 * numpy.pi * 0.005**2 * 9.81
        self.assertAlmostEqual(float(row["force_left_z"]) + float(row["force_right_z"]), weight, delta=1e-6 * weight)
        self.assertAlmostEqual(float(row["force_left_x"]) / float(row["force_right_x"]), -1, delta=1e-6)
        self.assert_same_state(alone, self.run_deck(deck, "3", ranks=3), 1e-7)
        self.run_deck(deck, "broken", "--steps", 4)
        self.assert_same_state(alone, self.run_deck(deck, "broken", "--resume", "auto"), 1e-9)

    def test_frames_have_directors_and_curves_are_exported(self):
        run = self.run_deck(self.deck(EXPLICIT + "output: {fields: [default, section_director]}\n"), "run", "--steps", 20)
        frame = weft_read.Run(run).frame("curls", -1)
        self.assertEqual((frame.kind, frame.cells.shape[1]), ("line", 2))
        for field in "velocity", "stretch", "bend", "twist_rate", "section_director":
            self.assertIn(field, frame.fields)
        along = frame.points[frame.cells[:, 1]] - frame.points[frame.cells[:, 0]]
        self.assertLess(numpy.abs((frame["section_director"] * along).sum(axis=1)).max(), 1e-6)
        self.assertIn("lines", weft("info", run / "frames" / "curls_000000.hdf").stdout)
        self.assertEqual(weft("export", run, "--to", "obj").returncode, 0)
        made = next(run.rglob("curls_000000.obj")).read_text().splitlines()
        self.assertEqual(sum(line.startswith("l ") for line in made), 10)

    def test_a_check_tells_strands_and_substeps(self):
        done = weft("check", self.deck(EXPLICIT.replace("max_dt: 2 ms", "max_dt: 5 ms")))
        self.assertIn("10 strands, ", done.stdout)
        told = next(line for line in done.stdout.splitlines() if line.startswith("substeps: "))
        substeps = dict(reversed(word.split(" of ")) for word in told.removeprefix("substeps: ").split(", "))
        self.assertEqual(set(substeps), {"curls", "bundle", "thrown"})
        self.assertGreater(min(int(n) for n in substeps.values()), 1)

    def test_curves_are_exported_alike_from_any_ranks(self):
        deck, exported = self.deck(EXPLICIT), {}
        for ranks in 1, 3:
            run = self.run_deck(deck, f"on_{ranks}", "--until", 0.1, ranks=ranks)
            for kind in "hair", "bcc", "obj":
                self.assertEqual(weft("export", run, "--to", kind, "--only", "curls", ranks=ranks).returncode, 0)
                exported[kind, ranks] = (run / "export" / f"curls_000001.{kind}").read_bytes()
        for kind, header in ("hair", 128), ("bcc", 64):
            a, b = (exported[kind, ranks] for ranks in (1, 3))
            self.assertEqual(a[:header], b[:header])
            self.assertEqual(len(a), len(b))
        a, b = (numpy.frombuffer(exported["hair", ranks][128 + 2 * 10:], "f4") for ranks in (1, 3))
        self.assertLess(numpy.abs(a - b).max(), 1e-6)
        strands, points, _, _ = numpy.frombuffer(exported["hair", 1][4:20], "u4")
        self.assertEqual((strands, len(a)), (10, 3 * points))
        self.assertEqual(numpy.frombuffer(exported["hair", 1][20:24], "f4"), numpy.float32(8e-3))
        # What is exported is read again.
        for kind in "hair", "bcc", "obj":
            (self.folder / f"again.{kind}").write_bytes(exported[kind, 3])
            again = EXPLICIT[:EXPLICIT.index("handles:")].replace(
                "hair_tube: {inner_radius: 0, outer_radius: 0.2, length: 0.4, strands: 5}, spacing: 0.02,\n"
                "              plies: {count: 2, radius: 0.03, twist: 0.2}", f"curve_file: {{path: again.{kind}}}")
            self.assertIn("again", again)
            done = weft("check", self.deck(again), folder=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"body curls: {points} vertices", done.stdout)

    def test_roots_and_contact_that_cannot_be_are_refused(self):
        points = "".join(f"v {math.cos(k)} {math.sin(k)} 0.5\n" for k in range(6))
        (self.folder / "ring.obj").write_text(points + "l 1 2 3 4 5 6 1\n")
        tube = "hair_tube: {inner_radius: 0, outer_radius: 0.1, length: 0.4, strands: 40}"
        for old, new, code, words in (
                ("depth: 1 cm", "depth: 1 mm", 3, "no strand begins in head"),
                (tube, "curve_file: {path: ring.obj}", 2, "a ring has no first vertex"),
                ("velocity: [0.1, 0, 0], spin: [0, 0, 1]", "keyframes: [{time: 0, translate: [1, 0, 0]}, {time: 1}]", 2,
                 "begins elsewhere"),
                ("velocity: [-1, 0, 0],", "velocity: [-1, 0, 0], blend: {pic_rate: 20},", 2, "on the same layer"),
                ("max_dt: 1 ms}", "max_dt: 1 ms, scheme: implicit}\nsolve: {inertia: false}", 2, "no velocities"),
                ("scheme: explicit,", "scheme: explicit, substeps: 4,", 2, "act once in a step"),
                ("depth: 1 cm", "depth: -1 cm", 2, "depth")):
            with self.subTest(new=new):
                text = MEETING.replace("STAGE", "explicit")
                self.assertIn(old, text)
                done = weft("check", self.deck(text.replace(old, new, 1)), folder=self.folder)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)

    def test_strands_are_as_thick_as_their_file_says(self):
        def hair(name, thickness):
            points = [(0.02 * k, 0.3 * s, 0) for s in range(3) for k in range(11)]
            data = struct.pack("<4s4If", b"HAIR", 3, len(points), 2 | (4 if thickness else 0), 10, 0) + bytes(104)
            for point in points:
                data += struct.pack("<3f", *point)
            (self.folder / name).write_bytes(data + struct.pack(f"<{len(thickness)}f", *thickness))

        text = """
weft: 1
domain: {dx: 0.1, gravity: [0, 0, -9.81]}
time: {end: 1, frame_interval: 1, max_dt: 1 ms}
materials: {nylon: {law: rod, density: 1100, youngs_modulus: 2e7, poisson_ratio: 0.4, viscosity: 100}}
bodies: [{name: hair, kind: strand, material: nylon, SECTION, curves: {curve_file: {path: FILE}, scale: 2}}]
handles: [{name: roots, body: hair, where: {box: {lower: [-1, -1, -1], upper: [1e-6, 1, 1]}}, hold: {keep: clamp}}]
output: {diagnostics_every: 1, fields: [default, half_axis]}
"""
        hair("tapered.hair", [0.004 * (1 - 0.06 * k) for _ in range(3) for k in range(11)])
        hair("unknown.hair", [])
        hair("nowhere.hair", [0.004] * 32 + [0])
        runs = {}
        for name, section, ranks in (("file", "thickness: of_file", 1), ("file_on_3", "thickness: of_file", 3),
                                     ("file_on_4", "thickness: of_file", 4),
                                     ("taper", "radius: 4 mm, taper: 0.4", 1)):
            deck = self.deck(text.replace("SECTION", section).replace("FILE", "tapered.hair"))
            runs[name] = self.run_deck(deck, name, "--steps", 200, ranks=ranks)
        self.assert_same_state(runs["file"], runs["file_on_3"], 0)
        self.assert_same_state(runs["file"], runs["file_on_4"], 0)  # one of them has no strand
        self.assert_same_state(runs["file"], runs["taper"], 1e-5)  # the file has single precision
        half_axis = weft_read.Run(runs["file"]).frame("hair", 0)["half_axis"]
        expected = [0.004 * (1 - 0.06 * (k + 0.5)) for _ in range(3) for k in range(10)]
        self.assertLess(numpy.abs(half_axis - expected).max(), 1e-9)
        for name, words in ("unknown.hair", "tells none"), ("nowhere.hair", "vertices of no thickness"):
            deck = self.deck(text.replace("SECTION", "thickness: of_file").replace("FILE", name))
            done = weft("check", deck, folder=self.folder)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(words, done.stderr)

    def test_what_strands_do_not_know_is_refused(self):
        (self.folder / "fold.obj").write_text("v 0 0 0\nv 1 0 0\nv 0.01 0.001 0\nl 1 2 3\n")
        (self.folder / "ball.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        for old, new, code, words in (
                ("nylon: {law: rod", "nylon: {law: neo_hookean", 2, "stretch_modulus"),
                ("material: nylon, half_axes", "material: sand, half_axes", 2, "strands need a material with law rod"),
                ("half_axes: [4 mm, 2 mm]", "half_axes: [4 mm]", 2, "must be two lengths"),
                ("half_axes: [4 mm, 2 mm]", "half_axes: [4 mm, -2 mm]", 2, "half_axes"),
                ("half_axes: [4 mm, 2 mm]", "half_axes: [4 mm, 2 mm], radius: 1 mm", 2, "radius"),
                ("half_axes: [4 mm, 2 mm]", "half_axes: [9 cm, 1 mm]", 3, "less than half of its thickness"),
                ("half_axes: [4 mm, 2 mm]", "radius: 1 mm, taper: 1.1", 2, "taper"),
                ("half_axes: [4 mm, 2 mm]", "thickness: of_file", 2, "patterns and plies have none of their own"),
                ("half_axes: [4 mm, 2 mm]", "radius: 1 mm, blend: {pic_share: 0.1}", 2, "add \"meets_grid: true\""),
                ("half_axes: [4 mm, 2 mm]", "radius: 1 mm, meets_grid: true, blend: {pic_share: 1.1}", 2, "pic_share"),
                ("half_axes: [4 mm, 2 mm]", "radius: 1 mm, contact: {youngs_modulus: 1e5, friction: 0.4}", 2,
                 "add \"meets_grid: true\""),
                ("half_axes: [4 mm, 2 mm]",
                 "radius: 1 mm, meets_grid: true, contact: {youngs_modulus: 1e5, friction: 0.4, packing: 1.1}", 2,
                 "packing"),
                ("half_axes: [4 mm, 2 mm]", "radius: 1 mm, roots: {collider: head}", 2, "no collider named \"head\""),
                ("hair_tube: {inner_radius: 0, outer_radius: 0.2, length: 0.4, strands: 5}, spacing: 0.02,",
                 "groom: {collider: head, strands: 5, length: 1}, spacing: 0.02,", 2, "no collider named \"head\""),
                ("hair_tube: {inner_radius: 0, outer_radius: 0.2, length: 0.4, strands: 5}, spacing: 0.02,",
                 "groom: {file: ball.obj, strands: 5, length: 1, droop: 1}, spacing: 0.02,", 2,
                 "groom.droop: needs the key \"toward\""),
                ("hair_tube: {inner_radius: 0, outer_radius: 0.2, length: 0.4, strands: 5}, spacing: 0.02,",
                 "groom: {file: ball.obj, strands: 5, length: 1, lie: 91}, spacing: 0.02,", 2, "lie"),
                ("hair_tube: {inner_radius: 0, outer_radius: 0.2, length: 0.4, strands: 5}, spacing: 0.02,",
                 "groom: {file: ball.obj, strands: 5, length: 1, clearance: 1 mm}, spacing: 0.02,", 2,
                 "is for strands on a collider"),
                ("hair_tube: {inner_radius: 0, outer_radius: 0.2, length: 0.4, strands: 5}, spacing: 0.02,",
                 "groom: {file: ball.obj, where: {sphere: {center: [9, 9, 9], radius: 1}}, strands: 5, length: 1}, "
                 "spacing: 0.02,", 3, "no surface is in \"where\""),
                ("half_axes: [4 mm, 2 mm]", "radius: 1 mm, carrier: grid", 2, "the grid does not carry strands"),
                ("hair_tube: {inner_radius: 0, outer_radius: 0.2, length: 0.4, strands: 5}, spacing: 0.02,",
                 "curve_file: {path: fold.obj},", 3, "folds back by more than 150 degrees"),
                ("radius: 0.101}}, hold: {keep: clamp}", "radius: 0.101}}, hold: {keep: symmetry, normal: [0, 0, 1]}", 2,
                 "no slope to keep"),
                ("  - {name: wind",
                 "  - {name: again, body: bundle, where: {sphere: {center: [1.1, 0, 0], radius: 0.1}}, "
                 "hold: {keep: clamp}}\n  - {name: wind", 2, "both clamp the end of a strand of bundle"),
                ("lower: [-1, -1, -0.001], upper: [1, 1, 0.001]", "lower: [-1, -1, 0.1], upper: [1, 1, 0.2]", 2,
                 "no end of a strand")):
            with self.subTest(new=new):
                self.assertIn(old, EXPLICIT)
                text = EXPLICIT.replace(old, new, 1).replace(
                    "materials:\n", "materials:\n  sand: {law: drucker_prager, density: 1600, youngs_modulus: 2e5, "
                    "poisson_ratio: 0.3, friction_angle: 35}\n")
                done = weft("check", self.deck(text), folder=self.folder)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
