#!/usr/bin/env python3
"""Proves that the files of a run hold what is promised: tests/end_to_end/test_records.py WEFT."""
import unittest

from program import CLOTH, DROP, JELLIES, PLATE, Case, count, history, numbers, run_json
import h5py
import numpy

# A block that turns and falls obliquely onto an inclined floor, and a mill that hits it from the side.
HIT = """
weft: 1
domain: {dx: 0.05, gravity: [1, -9, 2]}
time: {end: 1, frame_interval: 1}
materials: {soft: {law: neo_hookean, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0.3}}
bodies:
  - {name: a, kind: continuum, material: soft, shape: {box: {lower: [0, 0, 0], upper: [0.4, 0.3, 0.2]}},
     velocity: [1, -2, 0.5], spin: [1, 2, 3]}
colliders:
  - {name: floor, shape: {plane: {point: [0, -0.11, 0], normal: [0.2, 1, 0.1]}}, friction: 0.3, contact: CONTACT}
  - {name: mill, shape: {box: {lower: [0.45, -0.5, -0.2], upper: [0.8, 0.5, 0.5]}}, friction: 0.3, contact: CONTACT,
     motion: {velocity: [-1, 0, 0], spin: [0, 2, 3], center: [0.8, 0, 0.2]}}
probes: [{name: centre, body: a, centre_of_mass: {}}]
output: {diagnostics_every: 1}
"""


# A block slides over the edge of a table that holds it.
OVER_EDGE = """
weft: 1
domain: {dx: 0.1, gravity: [0, -9.81, 0]}
time: {end: 0.5, frame_interval: 0.5}
transfer: {rpic_damping: 0.1}
materials: {jelly: {law: fixed_corotated, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}}
bodies:
  - {name: block, kind: continuum, material: jelly, velocity: [1.5, 0, 0],
     shape: {box: {lower: [-0.25, 0.03, 0], upper: [0.15, 0.43, 0.3]}}}
colliders: [{name: table, shape: {box: {lower: [-1, -1, -1], upper: [0.03, 0.03, 1]}}, condition: slip}]
output: {diagnostics_every: 1}
"""


# Loads that begin and end within steps: an impulse of 0.6 N s, over by 0.18 s.
PULSE = """
weft: 1
domain: {{dx: 0.05, gravity: [0, 0, 0]}}
time: {{end: 0.3, frame_interval: 0.1, scheme: {scheme}}}
materials:
  gum: {{law: fixed_corotated, density: 1000, youngs_modulus: 1e3, poisson_ratio: 0.3}}
  rope: {{law: rod, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0.3}}
bodies: [{{name: body, {body}}}]
handles:
  - {{name: push, body: body, force: {{total: [10, 0, 0],
     amplitude: [{{time: 0.11, factor: 0}}, {{time: 0.12, factor: 1}}, {{time: 0.17, factor: 1}},
                 {{time: 0.18, factor: 0}}]}}}}
output: {{diagnostics_every: 1}}
"""


class Records(Case):
    def test_loads_give_their_impulse_in_steps_of_any_size(self):
        block = "mesh: {block: {lower: [0, 0, 0], upper: [0.1, 0.1, 0.1]}, size: 0.1}"
        for body, scheme, step in (
                ("kind: rigid, mass: 1, " + block, "explicit", 100),
                ("kind: solid, material: gum, carrier: own, " + block, "explicit", 7),
                ("kind: solid, material: gum, carrier: own, stage: {scheme: implicit}, " + block, "explicit", 100),
                ("kind: solid, material: gum, carrier: grid, " + block, "explicit", 7),
                ("kind: solid, material: gum, carrier: grid, " + block, "implicit", 100),
                ("kind: continuum, material: gum, shape: {box: {lower: [0, 0, 0], upper: [0.1, 0.1, 0.1]}}", "explicit",
                 7),
                ("kind: continuum, material: gum, shape: {box: {lower: [0, 0, 0], upper: [0.1, 0.1, 0.1]}}", "implicit",
                 100)):
            with self.subTest(body=body, scheme=scheme):
                deck = self.deck(PULSE.format(body=body, scheme=scheme))
                rows = numbers(self.run_deck(deck, "run", "--force", "--set", f"time.max_dt={step} ms"))
                self.assertLess(len(rows), 0.5 / (1e-3 * step) + 30)
                error = 1e-4 if scheme == "implicit" else 1e-9
                self.assertAlmostEqual(rows[-1]["momentum_x"] - rows[0]["momentum_x"], 0.6, delta=error)

    def test_diagnostics_have_the_promised_columns_and_add_up(self):
        output = self.run_deck(self.deck(JELLIES), "out", "--steps", 80)
        header = (output / "diagnostics.csv").read_text().splitlines()[0].split(",")
        for column in ("step", "time [s]", "dt [s]", "particles", "mass [kg]", "momentum_y [kg m/s]",
                       "angular_momentum_z [kg m^2/s]", "kinetic_energy [J]", "affine_energy [J]",
                       "elastic_energy [J]", "gravitational_energy [J]", "energy_less_work [J]",
                       "work_of_colliders [J]", "impulse_floor_y [kg m/s]",
                       "angular_impulse_floor_z [kg m^2/s]", "wall_seconds [s]",
                       "particle_steps_per_second [1/s]", "imbalance", "memory_bytes [byte]", "centre_x [m]",
                       "corner [Pa]"):
            self.assertIn(column, header)
        rows = history(output)
        self.assertEqual([int(row["step"]) for row in rows], list(range(0, 81, 10)))
        for row in rows:
            n = {name: float(text) for name, text in row.items()}
            mass = float(rows[0]["mass"])
            self.assertAlmostEqual(n["mass"], mass, delta=1e-13 * mass)
            given = -mass * 9.81 * n["time"] - n["impulse_floor_y"]
            self.assertAlmostEqual(n["momentum_y"], given, delta=1e-11 * mass)
        balance = [float(row["energy_less_work"]) for row in rows]
        for before, after in zip(balance, balance[1:]):
            self.assertLess(after, before + 1e-5 * abs(balance[0]))

    def test_energy_does_not_jump_where_normals_of_colliders_do(self):
        rows = history(self.run_deck(self.deck(OVER_EDGE), "edge"))
        energy = [float(row["energy_less_work"]) for row in rows]
        jump = max(after - before for before, after in zip(energy, energy[1:]))
        self.assertLess(jump, 0.01 * float(rows[0]["kinetic_energy"]))
        self.assertLess(float(rows[-1]["momentum_y"]), -1)  # it has gone over the edge

    def test_momenta_are_what_gravity_and_colliders_give_on_any_ranks(self):
        for contact, ranks in (("surface", 1), ("surface", 3), ("nodes", 1), ("nodes", 3)):
            with self.subTest(contact, ranks=ranks):
                deck = self.deck(HIT.replace("CONTACT", contact))
                rows = history(self.run_deck(deck, f"{contact}{ranks}", "--steps", 80, ranks=ranks))
                of = {name: numpy.array([[float(row[f"{name}_{axis}"]) for axis in "xyz"] for row in rows])
                      for name in ("momentum", "angular_momentum", "centre", "impulse_floor", "angular_impulse_floor",
                                   "impulse_mill", "angular_impulse_mill")}
                # Gravity acts where points are before they move.
                weight = float(rows[0]["mass"]) * numpy.array([1, -9, 2])
                dt = numpy.array([[float(row["dt"])] for row in rows[1:]])
                gravity = {"": dt * weight, "angular_": dt * numpy.cross(of["centre"][:-1], weight)}
                size = abs(of["momentum"][0]).max()
                for kind, given in gravity.items():
                    walls = [of[f"{kind}impulse_{wall}"] for wall in ("floor", "mill")]
                    for received in walls:
                        self.assertGreater(abs(received[-1]).max(), 0.1 * size)
                    lost = numpy.diff(of[f"{kind}momentum"] + sum(walls), axis=0).cumsum(axis=0) - given.cumsum(axis=0)
                    self.assertLess(abs(lost).max(), 1e-12 * size, f"{kind}momentum")

    def test_the_last_frame_is_there_whatever_its_time_rounds_to(self):
        output = self.run_deck(self.deck(DROP), "out")  # 3 * 0.1 > 0.3 for computers
        self.assertEqual(len(list((output / "frames").glob("jelly_*.hdf"))), 4)
        self.assertEqual(run_json(output)["time"], 0.3)

    def test_frames_hold_the_particles_and_their_fields(self):
        deck = self.deck(JELLIES +
                         "output: {fields: [id, mass, velocity, pressure], double_precision: true, grid: true}\n")
        output = self.run_deck(deck, "out", "--until", 0.02, "--set", "time.frame_interval=0.01")
        row = history(output)[-1]
        momentum = numpy.zeros(3)
        count = 0
        for body in "left", "right":
            with h5py.File(output / "frames" / f"{body}_000002.hdf") as file:
                data = file["VTKHDF/PointData"]
                self.assertEqual(sorted(data), ["id", "mass", "pressure", "velocity"])
                velocity = data["velocity"][:]
                self.assertEqual(velocity.dtype, numpy.float64)
                self.assertEqual(len(set(data["id"][:])), len(velocity))
                momentum += data["mass"][:] @ velocity
                count += len(velocity)
        self.assertEqual(count, int(row["particles"]))
        for axis, p in zip("xyz", momentum):
            self.assertAlmostEqual(p, float(row[f"momentum_{axis}"]), delta=1e-9 * float(row["mass"]))
        with h5py.File(output / "frames" / "grid_000002.hdf") as file:
            # What is shown of the grid is of the step before, at whose end the points moved: the mass is all there.
            mass = file["VTKHDF/PointData/mass"][:].sum()
            self.assertAlmostEqual(mass, float(row["mass"]), delta=1e-12 * mass)

    def test_run_json_says_where_the_run_came_from(self):
        output = self.run_deck(self.deck(JELLIES), "out", "--steps", 1, ranks=2)
        told = run_json(output)
        self.assertEqual((told["state"], told["step"], told["title"]), ("stopped", 1, "Two jellies meet over a floor"))
        self.assertEqual(told["provenance"]["ranks"], 2)
        for key in "version", "commit", "compiler", "flags", "libraries", "threads":
            self.assertIn(key, told["provenance"])
        log = (output / "log.txt").read_text()
        for word in "particles", "phase", "Advice", "Stopped at step 1":
            self.assertIn(word, log)

    def test_the_log_says_who_ran_what_and_why_it_stopped(self):
        deck = self.deck(JELLIES)
        output = self.run_deck(deck, "out", "--steps", 1, ranks=2, threads=2)
        first, second, third, *_ = (output / "log.txt").read_text().splitlines()
        self.assertRegex(first, r"^weft \S+ \(.+\) on \S+, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, 2 ranks of 2 threads$")
        self.assertRegex(second, r"^command: \S*weft\S* run .*--steps 1")
        self.assertEqual(third, f"deck: {deck.resolve()}")
        self.assertRegex(self.last.stdout, r"Stopped at step 1, .*: --steps asks for no more\.")
        self.run_deck(deck, "out", "--resume", "auto", "--walltime", "00:00:01")
        self.assertRegex(self.last.stdout, r"Stopped at step 2, .*: --walltime leaves no room for more\.")

    def test_the_phases_add_up_to_the_wall_time(self):
        self.run_deck(self.deck(JELLIES), "out", "--steps", 20, ranks=2)
        table = self.last.stdout[self.last.stdout.index("phase "):].splitlines()[1:]
        rows = {line.split()[0]: float(line.split()[2]) for line in table if line.split()[0] not in ("all", "Advice:")}
        everything = float(next(line for line in table if line.startswith("all ")).split()[1])
        self.assertAlmostEqual(sum(rows.values()), everything, delta=0.005 * (len(rows) + 1))
        advice = next(line for line in table if line.startswith("Advice"))
        self.assertIn(f'"{max(rows, key=rows.get)}" takes the largest part', advice)
        self.assertGreater(rows["start"], 0.01)  # the scene is part of it

    def test_frames_show_what_their_kind_of_body_is_looked_at_for(self):
        for text, body, points, cells in (
                (JELLIES, "left",
                 {"id", "velocity", "volume_ratio", "plastic_measure", "pressure", "von_mises_stress"}, set()),
                (CLOTH, "cloth", {"id", "velocity"}, {"stretch", "pressure"}),
                (PLATE, "plate", {"id", "velocity"},
                 {"membrane_strain", "curvature", "plastic_strain", "contact_pressure"})):
            with self.subTest(body):
                output = self.run_deck(self.deck(text), body, "--steps", 1)
                with h5py.File(output / "frames" / f"{body}_000000.hdf") as file:
                    self.assertEqual((set(file["VTKHDF/PointData"]), set(file["VTKHDF/CellData"])), (points, cells))
        both = self.deck(PLATE + "output: {fields: [default, mass]}\n")
        output = self.run_deck(both, "both", "--steps", 1)
        with h5py.File(output / "frames" / "jelly_000000.hdf") as file:
            self.assertLess({"mass", "velocity", "pressure"}, set(file["VTKHDF/PointData"]))


if __name__ == "__main__":
    unittest.main()
