#!/usr/bin/env python3
"""Proves that static analyses say whether their states are stable, on any number of ranks: test_stability.py WEFT."""
import math
import pathlib
import unittest

from program import Case, checkpoints, history, run_json, weft
import h5py

DECKS = pathlib.Path(__file__).resolve().parents[2] / "decks"

# A strip that is clamped at one end and pressed at the other; E I = 100.
STRIP = """
weft: 1
title: Pressed strip
time: {{end: {end}, frame_interval: {end}, scheme: static}}
domain: {{gravity: [0, 0, 0]}}
loading: {{steps: {steps}}}
materials:
  strip: {{law: stvk_hencky, density: 1, youngs_modulus: 1.2e6, poisson_ratio: 0}}
bodies:
  - name: strip
    kind: shell
    material: strip
    thickness: 0.1
    mesh: {{rectangle: {{width: 12, height: 1}}, across: 24, along: 2}}
handles:
  - {{name: clamp, body: strip, where: {{box: {{lower: [-0.01, -1, -1], upper: [0.01, 2, 1]}}}}, hold: {{keep: clamp}}}}
  - name: push
    body: strip
    where: {{box: {{lower: [11.99, -1, -1], upper: [12.01, 2, 1]}}}}
    edge_force: {{per_length: [{push}, 0, {side}], amplitude: {amplitude}}}
probes:
  - {{name: end_x, body: strip, nearest: {{point: [12, 0.5, 0], field: displacement_x}}}}
  - {{name: end_z, body: strip, nearest: {{point: [12, 0.5, 0], field: displacement_z}}}}
"""
LENGTH = 12
EULER = math.pi ** 2 * 100 / (4 * LENGTH ** 2)  # and 9, 25, .. times this


def strip(push, steps=1, end=1, side=0, amplitude="[]"):
    return STRIP.format(push=-push, steps=steps, end=end, side=side, amplitude=amplitude)


def curve(output):
    return [{name: float(text) for name, text in row.items()} for row in history(output)]


def log(output):
    return (output / "log.txt").read_text()


def modes(output):
    return [row["negative_modes"] for row in curve(output)[1:]]


def elliptic(k):
    """Complete elliptic integrals K and E of the modulus k, by arithmetic and geometric means."""
    a, b, c, power, sum_ = 1.0, math.sqrt(1 - k * k), k, 1.0, k * k
    while abs(c) > 1e-15:
        a, b, c = (a + b) / 2, math.sqrt(a * b), (a - b) / 2
        power *= 2
        sum_ += power * c * c
    K = math.pi / (2 * a)
    return K, K * (1 - sum_ / 2)


def elastica(load):
    """Displacement along and across of the free end of a column whose load is this many times the critical one."""
    low, high = 0.0, 1 - 1e-12
    for _ in range(200):
        k = (low + high) / 2
        low, high = (k, high) if elliptic(k)[0] < math.pi / 2 * math.sqrt(load) else (low, k)
    K, E = elliptic(low)
    return LENGTH * (2 * E / K - 2), LENGTH * 2 * low / K


class Stability(Case):
    def test_a_strip_has_one_more_unstable_motion_beyond_each_critical_load_on_any_number_of_ranks(self):
        times = ((1, 0.99), (2, 1.01), (3, 8.91), (4, 9.09))
        amplitude = "[" + ", ".join(f"{{time: {t}, factor: {f}}}" for t, f in ((0, 0), *times)) + "]"
        deck = self.deck(strip(EULER, steps=4, end=4, amplitude=amplitude))
        for ranks in (1, 2, 3, 4, 7):
            output = self.run_deck(deck, f"on_{ranks}", "--set", "time.frame_interval=1", ranks=ranks)
            self.assertEqual(modes(output), [0, 1, 1, 2], ranks)
            self.assertIn("step 2 at t = 2 s: the state is not stable under its loads: 1 independent motion releases "
                          "energy, foremost of body strip at (12", log(output))
            self.assertIn("2 independent motions release energy", log(output))
            remark = run_json(output)["remark"]
            self.assertIn("3 of 4 balanced states are not stable under their loads, the last one too", remark)
            self.assertIn(remark, log(output))
            self.assertIn(remark, weft("status", output).stdout)
        frames = sorted((output / "frames").glob("strip_*.hdf"))
        with h5py.File(frames[1]) as file:
            self.assertNotIn("mode", file["VTKHDF/PointData"])
        with h5py.File(frames[2]) as file:
            mode = file["VTKHDF/PointData/mode"][:]
            points = file["VTKHDF/Points"][:]
        # The first mode of a cantilever: across, and 1 - cos along.
        largest = abs(mode[:, 2]).max()
        for x, moved in zip(points, mode):
            self.assertAlmostEqual(abs(moved[2]) / largest, 1 - math.cos(math.pi * x[0] / (2 * LENGTH)), delta=0.02)

    def test_iterations_find_the_motion_that_releases_most_energy(self):
        options = "-ksp_type gmres -pc_type redundant"  # which has no factors to be asked
        deck = self.deck(strip(8 * EULER).replace("along: 2", "along: 1").replace("across: 24", "across: 8"))
        output = self.run_deck(deck, "out", "--set", f"solve.petsc={options}")
        self.assertEqual(set(modes(output)), {1})
        self.assertIn("at least 1 independent motion releases energy", log(output))

    def test_an_analysis_that_asks_for_it_stops_at_the_last_stable_balance(self):
        output = self.run_deck(self.deck(strip(2 * EULER, steps=20)), "out", "--set", "loading.unstable=stop", code=4)
        told = run_json(output)
        self.assertEqual((told["state"], told["step"], told["exit_code"]), ("failed", 10, 4))
        self.assertIn("the state is not stable under its loads: 1 independent motion", told["reason"])
        self.assertEqual(len(checkpoints(output)), 1)
        self.assertEqual(modes(output), [0] * 10)
        # With another answer the same run goes on.
        self.run_deck(self.deck(strip(2 * EULER, steps=20)), "out", "--resume", "auto", "--set", "loading.unstable=warn")
        self.assertEqual(modes(output), [0] * 10 + [1] * 10)

    def test_a_nudge_leads_to_the_elastica(self):
        for ranks in (1, 3):
            output = self.run_deck(self.deck(strip(2 * EULER, steps=20)), f"on_{ranks}", "--set",
                                   "loading.unstable=nudge", ranks=ranks)
            self.assertEqual(modes(output), [0] * 20)
            self.assertIn("step 11 at t = 0.55 s: nudged from a state that is not stable to one that is", log(output))
            self.assertIsNone(run_json(output)["remark"])
            for row in curve(output)[11:]:
                along, across = elastica(2 * row["time"])
                # The strip is compressed by 3e-5; its mesh has 24 faces along.
                self.assertAlmostEqual(row["end_x"] / along, 1, delta=5e-3)
                self.assertAlmostEqual(abs(row["end_z"]) / across, 1, delta=2e-3)

    def test_one_step_to_ten_times_the_critical_load_is_halved_until_a_nudge_helps(self):
        output = self.run_deck(self.deck(strip(10 * EULER)), "out", "--set", "loading.unstable=nudge")
        self.assertEqual(set(modes(output)), {0})
        along, across = elastica(10)
        last = curve(output)[-1]
        self.assertAlmostEqual(last["end_x"] / along, 1, delta=5e-3)
        self.assertAlmostEqual(abs(last["end_z"]) / across, 1, delta=2e-2)

    def test_a_column_that_flips_to_another_branch_is_warned_about(self):
        # A small force across bends the strip; steps that are too long lead to the straight branch or to the other side.
        output = self.run_deck(self.deck(strip(6, steps=4, side=0.02)), "straight")
        self.assertEqual(modes(output), [0, 1, 1, 1])
        self.assertIn("step 2 at t = 0.5 s: the state is not stable", log(output))
        output = self.run_deck(self.deck(strip(6, steps=10, side=0.02)), "other_side")
        self.assertLess(curve(output)[-1]["end_z"], 0)
        self.assertRegex(log(output), r"step 3 at t = 0.3 s is a jump: .* and the other way")
        self.assertIn("1 step jumped to another branch", run_json(output)["remark"])

    def test_a_roof_in_load_control_jumps_with_a_warning_and_none_on_the_load_path(self):
        roof = DECKS / "hinged_roof.yaml"
        output = self.run_deck(roof, "jump", "--set", "loading.path=time", "--set", "loading.steps=20")
        self.assertRegex(log(output), r"step 15 at t = 0.75 s is a jump: 18 times as far as the tangent foresees")
        self.assertIn("1 step jumped to another branch", run_json(output)["remark"])
        output = self.run_deck(roof, "path", ranks=2)
        rows = curve(output)
        self.assertNotIn("jump", log(output))
        self.assertIn("The load path is followed on.", log(output))
        # Between its limit points, and only there.
        for before, row in zip(rows[1:], rows[2:]):
            if row["negative_modes"] == before["negative_modes"]:
                self.assertEqual(row["time"] < before["time"], row["negative_modes"] == 1)
        self.assertEqual({row["negative_modes"] for row in rows[1:]}, {0, 1})
        self.assertEqual(rows[-1]["negative_modes"], 0)

    def test_a_tube_buckles_under_a_pressure_that_follows_it_though_its_tangent_is_unsymmetric(self):
        # A quarter of a long tube between planes of symmetry; Levy's critical pressure is 3 E I / R^3.
        stiffness, radius = 1.2e6 * 0.1 ** 3 / 12, 10
        planes = (("left", "[-0.01, -1, -11]", "[0.01, 2, 11]", "[1, 0, 0]"),
                  ("low", "[-11, -1, -0.01]", "[11, 2, 0.01]", "[0, 0, 1]"),
                  ("front", "[-11, -0.01, -11]", "[11, 0.01, 11]", "[0, 1, 0]"),
                  ("back", "[-11, 0.99, -11]", "[11, 1.01, 11]", "[0, 1, 0]"))
        held = "\n".join(f"  - {{name: {name}, body: tube, where: {{box: {{lower: {low}, upper: {high}}}}}, hold: "
                         f"{{keep: symmetry, normal: {normal}}}}}" for name, low, high, normal in planes)
        for share, expected in ((0.99, [0]), (1.01, [1])):
            deck = self.deck(f"""
weft: 1
time: {{end: 1, frame_interval: 1, scheme: static}}
domain: {{gravity: [0, 0, 0]}}
loading: {{steps: 1}}
materials: {{tube: {{law: stvk_hencky, density: 1, youngs_modulus: 1.2e6, poisson_ratio: 0}}}}
bodies:
  - {{name: tube, kind: shell, material: tube, thickness: 0.1,
     mesh: {{cylinder_patch: {{radius: 10, length: 1, from: 0, to: 90}}, across: 32, along: 1}}}}
handles:
{held}
  - {{name: press, body: tube, pressure: {{value: {-share * 3 * stiffness / radius ** 3!r}}}}}
""")
            self.assertEqual(modes(self.run_deck(deck, "out", "--force", ranks=2)), expected, share)

    def test_each_mechanism_has_its_message(self):
        clamp = "hold: {keep: clamp}"
        pushed = strip(1, side=1)
        free = self.deck(pushed.replace("  - {name: clamp, body: strip, where: {box: {lower: [-0.01, -1, -1], upper: "
                                        "[0.01, 2, 1]}}, hold: {keep: clamp}}\n", ""))
        output = self.run_deck(free, "free", "--set", "time.max_retries=1", code=4)
        self.assertIn("No handle holds body strip: 6 rigid motions are free. Give it a handle with hold.",
                      run_json(output)["reason"])
        output = self.run_deck(self.deck(pushed.replace(clamp, "hold: {axes: [x, y]}")), "sides", "--set",
                               "time.max_retries=1", code=4)
        reason = run_json(output)["reason"]
        for part in ("The holds of body strip leave 3 rigid motions free: it may move along (0, 0, 1)",
                     "turn about (1, 0, 0) through", "turn about (0, 1, 0) through"):
            self.assertIn(part, reason)
        # Two halves that share no vertex.
        mesh = [f"v {x} {y} 0" for x in (0, 1, 1, 2, 3) for y in (0, 1)]
        quads = [f"f {a} {a + 2} {a + 3} {a + 1}" for a in (1, 5, 7)]
        (self.folder / "halves.obj").write_text("\n".join(mesh + quads) + "\n")
        halves = pushed.replace("{rectangle: {width: 12, height: 1}, across: 24, along: 2}", "{file: {path: halves.obj}}")
        halves = halves.replace("11.99", "2.99").replace("12.01", "3.01").replace("[12, 0.5, 0]", "[3, 0.5, 0]")
        output = self.run_deck(self.deck(halves), "halves", "--set", "time.max_retries=1", code=4, ranks=2)
        self.assertRegex(run_json(output)["reason"],
                         r"No handle holds a component of body strip \(\d+ vertices about \(2, 0.5, 0\) m; one of 2 that no "
                         r"element joins\): 6 rigid motions are free. Weld it")
        wrong = self.deck(pushed.replace(clamp, "hold: {keep: symmetry, normal: [0, 1, 0]}"))
        done = weft("check", wrong)
        self.assertEqual(done.returncode, 2)
        self.assertIn("this is not a plane of symmetry: the boundary that is held extends 1 m along its normal (0, 1, 0)",
                      done.stderr)
        wrong = self.deck(pushed.replace(clamp, "hold: {keep: symmetry, normal: [0, 0, 1]}"))
        output = self.run_deck(wrong, "plane", "--set", "time.max_retries=1", code=4)
        self.assertRegex(run_json(output)["reason"], "The holds of body strip leave . rigid motions? free.*See whether its "
                                                     r"planes of symmetry are right: clamp with normal \(0, 0, 1\)")


if __name__ == "__main__":
    unittest.main()
