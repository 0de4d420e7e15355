#!/usr/bin/env python3
"""Proves that static analyses of shells meet published results on any number of ranks: test_static.py WEFT."""
import math
import pathlib
import unittest

from program import Case, checkpoints, history, run_json, weft

DECKS = pathlib.Path(__file__).resolve().parents[2] / "decks"


def curve(output):
    """load_displacement.csv as a list of rows: numbers by column name without unit."""
    return [{name: float(text) for name, text in row.items()} for row in history(output)]


def layered_moment(curvature, modulus, poisson, yield_stress, thickness, layers=200, steps=50):
    """Moment per width of a plate bent in one direction [N], which stays as wide as it is: layers of plane stress that
    flow by von Mises' law, each strained by curvature times height, in small steps; and its elastic bending stiffness."""
    kp, kq = modulus / (1 - poisson), modulus / (1 + poisson)  # of the sum and difference of stresses over sqrt 2
    radius = math.sqrt(2) * yield_stress  # of p^2 + 3 q^2
    moment = 0
    for layer in range(layers):
        z = thickness * (layer + 0.5) / layers / 2
        p = q = 0
        for _ in range(steps):
            grown = curvature * z / steps / math.sqrt(2)  # e22 = 0
            p, q = p + kp * grown, q + kq * grown
            low, high = 0, 1 / kq
            f = lambda x: math.sqrt((p / (1 + kp * x)) ** 2 + 3 * (q / (1 + 3 * kq * x)) ** 2) - radius
            if f(0) > 0:
                while f(high) > 0:
                    high *= 2
                for _ in range(60):
                    middle = (low + high) / 2
                    low, high = (middle, high) if f(middle) > 0 else (low, middle)
                p, q = p / (1 + kp * low), q / (1 + 3 * kq * low)
        moment += 2 * z * (p + q) / math.sqrt(2) * thickness / layers / 2
    return moment, modulus * thickness ** 3 / 12 / (1 - poisson ** 2)


class Static(Case):
    def test_a_bent_metal_strip_springs_back_as_far_as_its_layers_say(self):
        rows = curve(self.run_deck(DECKS / "dented_strip.yaml", "out"))
        smooth = lambda s: s * s * (3 - 2 * s)  # between keyframes where the motion rests
        bend = math.pi / 6
        angle = [bend * (smooth(t) if t < 1 else 1 - smooth(t - 1) / 2) for t in (row["time"] for row in rows)]
        torque = [abs(row["torque_turn_y"]) * (-1) ** (row["torque_turn_y"] * rows[1]["torque_turn_y"] < 0)
                  for row in rows]
        moment, stiffness = layered_moment(bend / 0.2, 70e9, 0.3, 100e6, 4e-3)
        bent = min(range(len(rows)), key=lambda i: abs(rows[i]["time"] - 1))
        self.assertAlmostEqual(torque[bent] / (moment * 0.025), 1, delta=0.02)
        zero = next(i for i in range(bent, len(rows)) if torque[i] < 0)
        share = torque[zero - 1] / (torque[zero - 1] - torque[zero])
        left = angle[zero - 1] + share * (angle[zero] - angle[zero - 1])
        self.assertAlmostEqual((bend - left) / (moment / stiffness * 0.2), 1, delta=0.02)
        # Newton's method converges while metal flows; only where it begins to flow does it need more than one attempt.
        steps = sorted(row["newton_steps"] for row in rows)
        self.assertLess(steps[len(steps) // 2], 8)
        self.assertLess(steps[-1], 60)

    def test_an_elastic_strip_that_is_bent_and_let_go_recovers_its_shape(self):
        rows = curve(self.run_deck(
            DECKS / "dented_strip.yaml", "out", "--set", "bodies.strip.laminae=2", "--set", "loading.steps=8", "--set",
            "materials.aluminium={law: stvk_hencky, density: 2700, youngs_modulus: 70 GPa, poisson_ratio: 0.3}",
            "--set",
            "handles.turn.hold.motion.keyframes=[{time: 0}, {time: 1, rotate: {axis: [0, 1, 0], angle: 30}}, {time: 2}]"))
        bent, last = min(rows, key=lambda row: abs(row["time"] - 1)), rows[-1]
        stiffness = 70e9 * 4e-3 ** 3 / 12 / (1 - 0.3 ** 2)
        self.assertAlmostEqual(abs(bent["torque_turn_y"]) / (stiffness * math.pi / 6 / 0.2 * 0.025), 1, delta=1e-3)
        self.assertLess(abs(last["torque_turn_y"]), 1e-6 * abs(bent["torque_turn_y"]))
        self.assertLess(last["elastic_energy"], 1e-10 * bent["elastic_energy"])
        self.assertLess(abs(last["displacement_turn_x"]), 1e-6 * abs(bent["displacement_turn_x"]))

    def test_analyses_go_on_from_their_checkpoints_on_other_ranks(self):
        for deck, stop, settings in (("dented_strip", 13, ["--set", "loading.steps=24", "--set", "bodies.strip.laminae=4"]),
                                     ("hinged_roof", 5, ["--set", "loading.max_steps=9"])):
            whole = self.run_deck(DECKS / f"{deck}.yaml", f"{deck}_whole", *settings)
            output = self.run_deck(DECKS / f"{deck}.yaml", f"{deck}_parts", "--steps", stop, *settings, ranks=2)
            self.assertEqual(run_json(output)["state"], "stopped")
            self.run_deck(DECKS / f"{deck}.yaml", f"{deck}_parts", "--resume", "auto", *settings, ranks=3)
            self.assertEqual(run_json(output)["state"], "finished")
            rows, expected = curve(output), curve(whole)
            self.assertEqual([row["step"] for row in rows], [row["step"] for row in expected])
            self.assertEqual(sorted(p.name for p in (output / "frames").glob("*.hdf")),
                             sorted(p.name for p in (whole / "frames").glob("*.hdf")))
            # Where held sides meet conditions say the same twice, and share their force in many ways.
            for column in ("time", "elastic_energy", *(name for name in rows[0] if name.startswith("displacement_"))):
                size = max(abs(row[column]) for row in expected)
                for row, other in zip(rows, expected):
                    self.assertAlmostEqual(row[column], other[column], delta=1e-5 * size + 1e-9)
        refused = weft("run", DECKS / "hinged_roof.yaml", "-o", output, "--resume", "auto", "--set", "time.end=2",
                       *settings)
        self.assertEqual(refused.returncode, 6, refused.stderr)
        self.assertIn("different deck", refused.stderr)

    def test_parts_are_chosen_by_group_number_and_boundary(self):
        mesh = ["g left"] + [f"v {x} {y} 0" for y in range(2) for x in range(5)]
        quads = [f"f {i + 1} {i + 2} {i + 7} {i + 6}" for i in range(4)]
        (self.folder / "plank.obj").write_text("\n".join(mesh + quads[:2] + ["g right"] + quads[2:]) + "\n")
        deck = self.deck("""
weft: 1
time: {end: 1, frame_interval: 1, scheme: static}
domain: {gravity: [0, 0, 0]}
loading: {steps: 1}
materials: {steel: {law: stvk_hencky, density: 1000, youngs_modulus: 2e11, poisson_ratio: 0}}
bodies:
  - {name: plank, kind: shell, material: steel, mesh: {file: {path: plank.obj}}, thickness: 0.1, direction: [1, 0, 0],
     parts: [{group: right, thickness: 0.2}]}
handles:
  - {name: held, body: plank, boundary: 0, where: {plane: {point: [0.1, 0, 0], normal: [1, 0, 0]}}, hold: {keep: clamp}}
  - {name: weight, body: plank, group: right, gravity: {acceleration: [0, 0, -1]}}
  - {name: corner, body: plank, vertices: [4], force: {total: [0, 0, -5]}}
""")
        last = curve(self.run_deck(deck, "out"))[-1]
        self.assertAlmostEqual(last["force_weight_z"], -1000 * 0.2 * 2, delta=1e-6)
        self.assertAlmostEqual(last["force_held_z"], 405, delta=1e-4)
        done = weft("check", deck)
        self.assertIn("handle held: 2 vertices", done.stdout)
        self.assertIn("1 boundaries", done.stdout)
        for old, new, part in (("group: right, gravity", "group: top, gravity", "no group \"top\". Its groups: left, right"),
                               ("vertices: [4]", "vertices: [99]", "there is no vertex 99"),
                               ("boundary: 0", "boundary: 1", "no vertex of plank is in the part"),
                               ("group: right, gravity", "vertices: [4], gravity", "\"vertices\" choose vertices")):
            self.assertIn(old, deck.read_text())
            wrong = self.deck(deck.read_text().replace(old, new), "wrong.yaml")
            done = weft("check", wrong)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(part, done.stderr)

    def test_the_roof_of_scordelis_and_lo_sinks_as_far_as_kirchhoff_love_shells_do(self):
        last = curve(self.run_deck(DECKS / "scordelis_lo.yaml", "out"))[-1]
        # Series solution of the linear shell; at a thousandth of the load the nonlinear part is below 1e-3.
        self.assertAlmostEqual(last["edge"] / -3.005924566e-4, 1, delta=1e-3)
        self.assertAlmostEqual(last["top"] / 4.50741605e-5, 1, delta=1e-3)
        # The diaphragm carries all of the weight: 0.09 on 25 x 25 times the angle of 40 degrees.
        self.assertAlmostEqual(last["force_diaphragm_z"] / 39.2699081698724, 1, delta=1e-6)

    def test_a_strip_is_rolled_into_a_circle_by_its_moment_on_any_number_of_ranks(self):
        ends = []
        for ranks in (1, 2, 3, 4, 7):
            output = self.run_deck(DECKS / "rolled_strip.yaml", f"on_{ranks}", ranks=ranks)
            self.assertEqual(run_json(output)["state"], "finished")
            rows = curve(output)
            ends.append((rows[-1]["end_x"], rows[-1]["end_z"], rows[-1]["torque_clamp_y"]))
            half = min(rows, key=lambda row: abs(row["time"] - 0.5))
            # Closed form of the elastica: with half of the moment the strip is half a circle. Tolerance 1e-3 L.
            self.assertAlmostEqual(half["end_x"], -12, delta=0.012)
            self.assertAlmostEqual(abs(half["end_z"]), 7.639437, delta=0.012)
        x, z, torque = ends[0]
        self.assertAlmostEqual(x, -12, delta=0.012)
        self.assertAlmostEqual(z, 0, delta=0.012)
        self.assertAlmostEqual(abs(torque), 52.35987755982989, delta=1e-5)
        for end in ends[1:]:
            for a, b in zip(end, ends[0]):
                # What is left of a solver tolerance of 1e-8 after twenty steps of large rotation.
                self.assertAlmostEqual(a, b, delta=1e-5)

    def test_a_cantilever_under_shear_bends_like_the_elastica(self):
        text = (DECKS / "rolled_strip.yaml").read_text()
        for old, new in (("width: 12", "width: 10"), ("across: 24, along: 2", "across: 16, along: 1"),
                         ("[11.99, -1, -1]", "[9.99, -1, -1]"), ("[12, 0.5, 0]", "[10, 0.5, 0]"), ("steps: 20", "steps: 4"),
                         ("edge_moment: {per_length: 52.35987755982989}", "edge_force: {per_length: [0, 0, 4]}")):
            self.assertIn(old, text)
            text = text.replace(old, new)
        rows = curve(self.run_deck(self.deck(text), "out"))
        # The inextensible elastica; stretch of the strip is below 1e-4.
        for time, u, w in ((0.25, 0.564332, 3.01721), (0.5, 1.60642, 4.93457), (1, 3.28941, 6.69964)):
            row = min(rows, key=lambda row: abs(row["time"] - time))
            self.assertAlmostEqual(-row["end_x"] / u, 1, delta=1e-3)
            self.assertAlmostEqual(row["end_z"] / w, 1, delta=1e-3)

    def test_the_hinged_roof_snaps_through_along_its_load_path(self):
        for ranks in (1, 3):
            rows = curve(self.run_deck(DECKS / "hinged_roof.yaml", f"on_{ranks}", ranks=ranks))
            loads = [row["time"] for row in rows]
            top = max(range(len(rows)), key=lambda i: loads[i] if rows[i]["displacement_push_z"] > -14 else 0)
            bottom = min(range(top, len(rows)), key=lambda i: loads[i])
            # Limit loads 2225 N and 511 N of 3000 N for Kirchhoff-Love shells; steps may pass beside the extremes.
            self.assertAlmostEqual(loads[top], 2225 / 3000, delta=0.01)
            self.assertAlmostEqual(loads[bottom], 511 / 3000, delta=0.01)
            self.assertGreaterEqual(loads[-1], 1)

    def test_what_nothing_holds_ends_with_code_4_and_keeps_the_last_balance(self):
        deck = (DECKS / "rolled_strip.yaml").read_text().replace("hold: {keep: clamp}", "hold: {axes: [x]}")
        output = self.run_deck(self.deck(deck), "out", "--set", "time.max_retries=1", code=4)
        self.assertEqual(run_json(output)["state"], "failed")
        self.assertEqual(len(checkpoints(output)), 1)

    def test_decks_that_cannot_be_are_refused(self):
        text = (DECKS / "rolled_strip.yaml").read_text()
        for old, new, part in (
                ("upper: [0.01, 2, 1]", "upper: [-0.005, 2, 1]", "no vertex of strip is in the part"),
                ("scheme: static", "scheme: explicit", "the key \"contact\" is missing"),
                ("law: stvk_hencky", "law: neo_hookean", "law stvk_hencky, von_mises or fabric"),
                ("field: displacement_x", "field: pressure", "displacement_x, _y, _z"),
                ("loading: {steps: 20}", "solve: {petsc: -pc_type nonsense}", "solve.petsc")):
            self.assertIn(old, text)
            done = weft("run", self.deck(text.replace(old, new)), "-o", self.folder / "out", "--force")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(part, done.stderr)

    def test_check_says_what_handles_take(self):
        done = weft("check", DECKS / "hinged_roof.yaml")
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in ("64 faces", "handle push: 1 vertices", "handle hinge: 9 vertices, 33 conditions",
                     "at most 500 along the load path"):
            self.assertIn(part, done.stdout)


if __name__ == "__main__":
    unittest.main()
