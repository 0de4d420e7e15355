#!/usr/bin/env python3
"""Proves that implicit runs are what they are on any ranks and threads, go on after a stop to the bit, and refuse bad
settings: tests/end_to_end/test_implicit.py WEFT."""
import pathlib
import random
import re
import signal
import subprocess
import time
import unittest

from program import (FULL, GRIPPED, JELLIES, Case, command, environment, history, numbers, physics, run_json,
                     wait_until, weft)

DECKS = pathlib.Path(__file__).parents[2] / "decks"
IMPLICIT = ["--set", "time.scheme=implicit", "--set", "time.max_dt=0.01"]
SAND = """
weft: 1
domain: {dx: 0.05}
time: {end: 1, frame_interval: 1, scheme: implicit, max_dt: 5 ms}
materials:
  sand: {law: drucker_prager, density: 2000, youngs_modulus: 1e6, poisson_ratio: 0.3}
bodies:
  - {name: heap, kind: continuum, material: sand, shape: {box: {lower: [0, 0, 0], upper: [0.2, 0.2, 0.2]}}}
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, condition: separate, friction: 0.4}
"""
# A sheet and a shell on handles, fibers and a jelly that fall on them, in one system.
MESHES = """
weft: 1
domain: {dx: 0.1}
time: {end: 1, frame_interval: 1, scheme: implicit, max_dt: 0.01}
materials:
  cotton: {law: sheet, density: 500, youngs_modulus: 1e6, poisson_ratio: 0.3, contact: {stiffness: 2e4}}
  metal: {law: von_mises, density: 800, youngs_modulus: 1e6, poisson_ratio: 0.3, yield_stress: 1e4}
  hair: {law: fiber, density: 800, stretch_modulus: 2e5, shear_modulus: 2e3, youngs_modulus: 1e4, poisson_ratio: 0.3,
         friction_angle: 10}
  soft: {law: neo_hookean, density: 300, youngs_modulus: 2e4, poisson_ratio: 0.3}
bodies:
  - {name: sheet, kind: membrane, material: cotton, thickness: 0.005, bending: {youngs_modulus: 1e6},
     mesh: {rectangle: {width: 0.5, height: 0.5}, across: 5, along: 5}, spin: [0, 1, 0]}
  - {name: roof, kind: shell, material: metal, thickness: 0.01, contact: {stiffness: 2e4},
     mesh: {rectangle: {width: 0.5, height: 0.4}, across: 4, along: 3, translate: [0, 0, 0.3]}}
  - {name: hair, kind: fiber, material: hair, radius: 0.01, bending_modulus: 1e6, velocity: [0, 0, -1],
     curves: {hair_tube: {inner_radius: 0, outer_radius: 0.1, length: 0.4, strands: 5},
              rotate: {axis: [0, 1, 0], angle: 90}, translate: [0, 0.2, 0.5]}}
  - {name: ball, kind: continuum, material: soft, velocity: [0, 0, -2],
     shape: {sphere: {center: [0.25, 0.25, 0.15], radius: 0.11}}}
handles:
  - {name: rail, body: sheet, where: {box: {lower: [-1, -1, -1], upper: [0.01, 2, 1]}}, hold: {motion: {spin: [0, 1, 0]}}}
  - {name: hook, body: roof, where: {sphere: {center: [0.25, 0.2, 0.3], radius: 0.1}},
     force: {total: [0, 0, 5], amplitude: [{time: 0, factor: 1}]}}
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, -0.12], normal: [0, 0, 1]}}, condition: separate, friction: 0.4}
"""


# A lump that yields under its weight sinks onto a floor that it sticks to.
SLUMP = """
weft: 1
domain: {dx: 0.04}
time: {end: 0.4, frame_interval: 0.4}
materials: {stuff: {LAW}}
bodies: [{name: lump, kind: continuum, material: stuff, sampling: regular,
          shape: {box: {lower: [0, 0, 0], upper: [0.2, 0.2, 0.2]}}}]
colliders: [{name: floor, condition: sticky, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}}]
probes: [{name: lump, body: lump, centre_of_mass: {}}]
"""
# A ball is pressed into metal so slowly that every state is a balance.
PUNCH = """
weft: 1
domain: {dx: 0.05, gravity: [0, 0, 0]}
time: {end: 1, frame_interval: 1, scheme: implicit}
solve: {inertia: false}
materials: {metal: {law: von_mises, density: 1000, youngs_modulus: 1e6, poisson_ratio: 0.3, yield_stress: 5e3}}
bodies: [{name: block, kind: continuum, material: metal, sampling: regular,
          shape: {box: {lower: [-0.25, 0, -0.25], upper: [0.25, 0.2, 0.25]}}}]
colliders:
  - {name: floor, condition: sticky, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}}
  - {name: ball, friction: 0.2, shape: {sphere: {center: [0.01, 0.35, 0.013], radius: 0.15}},
     motion: {keyframes: [{time: 0}, {time: 1, translate: [0, -0.05, 0]}]}}
output: {diagnostics_every: 1}
"""

# A block that spins about two axes under a pressure all round.
PRESSED = """
weft: 1
domain: {dx: 0.05, gravity: [0, 0, 0]}
time: {end: 0.2, frame_interval: 0.2, scheme: implicit, max_dt: 2 ms}
materials: {rubber: {law: neo_hookean, density: 1000, youngs_modulus: 1 MPa, poisson_ratio: 0.3}}
bodies:
  - {name: block, kind: solid, material: rubber, spin: [6, 2, 0],
     mesh: {block: {lower: [-0.15, -0.1, -0.125], upper: [0.15, 0.1, 0.125]}, size: 0.05}}
handles:
  - {name: water, body: block, pressure: {value: 20 kPa, amplitude: [{time: 0, factor: 0}, {time: 0.05, factor: 1}]}}
output: {diagnostics_every: 1}
"""


class Implicit(Case):
    def test_what_flies_free_after_a_push_takes_no_step_again(self):
        # Its forces are round-off then, of which energies of the whole stiffness tell no difference.
        run = self.run_deck(self.deck("""
weft: 1
domain: {dx: 0.05, gravity: [0, 0, 0]}
time: {end: 0.06, frame_interval: 0.06, max_dt: 3 ms, scheme: implicit}
materials: {jelly: {law: neo_hookean, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}}
bodies: [{name: cube, kind: continuum, material: jelly, shape: {box: {lower: [0, 0, 0], upper: [0.1, 0.1, 0.1]}}}]
handles:
  - {name: push, body: cube, force: {total: [30, 10, -20],
     amplitude: [{time: 0, factor: 0}, {time: 0.01, factor: 1}, {time: 0.02, factor: 0}]}}
output: {diagnostics_every: 1}
"""), "pushed")
        rows = history(run)
        self.assertEqual(int(rows[-1]["step"]), 20)
        self.assertNotIn("taken again", (run / "log.txt").read_text())
        self.assertAlmostEqual(float(rows[-1]["momentum_x"]), 0.3, delta=1e-4)

    def test_a_pressure_all_round_turns_no_body(self):
        by_itself = PRESSED.replace("kind: solid,", "kind: solid, carrier: own, stage: {scheme: implicit},")
        for carrier, deck in ("grid", PRESSED), ("own", by_itself.replace("scheme: implicit, max_dt", "max_dt")):
            with self.subTest(carrier):
                rows = numbers(self.run_deck(self.deck(deck, f"{carrier}.yaml"), carrier))
                spin = [[row[f"angular_momentum_{axis}"] for axis in "xy"] for row in rows]
                for before, after in zip(spin[0], spin[-1]):
                    self.assertLess(abs(after / before - 1), 0.02)  # backward Euler takes some
                energy = [row["energy_less_work"] for row in rows]
                late = energy[len(energy) // 2:]  # when the pressure has grown
                rises = [b - a for a, b in zip(late, late[1:])]
                self.assertLess(max(rises), 1e-4 * energy[0])
                self.assertGreater(energy[-1], 0.85 * energy[0])
                self.assertGreater(rows[-1]["work_water"], 3)  # of 20 kPa that take 3e-4 of 15 litres
        still = numbers(self.run_deck(self.deck(PRESSED), "still", "--set", "bodies.block.spin=[0, 0, 0]"))[-1]
        self.assertLess(still["kinetic_energy"], 1e-3 * still["elastic_energy"])

    def test_what_flows_slumps_in_long_steps_as_in_short_ones(self):
        long = ["--set", "time.scheme=implicit", "--set", "time.max_dt=0.035"]
        for law in ("law: von_mises, density: 2000, youngs_modulus: 1e6, poisson_ratio: 0.3, yield_stress: 800",
                    "law: tait, density: 1000, bulk_modulus: 1e6, viscosity: 100"):
            deck = self.deck(SLUMP.replace("LAW", law))
            fallen = [0.1 - numbers(self.run_deck(deck, f"steps{len(settings)}", *settings, "--force"))[-1]["lump_y"]
                      for settings in ([], long)]
            self.assertGreater(fallen[0], 0.04)
            self.assertLess(abs(fallen[1] / fallen[0] - 1), 0.1, law)  # first order in dt

    def test_the_force_of_a_balance_does_not_depend_on_the_number_of_steps(self):
        def impulse(steps):
            rows = numbers(self.run_deck(self.deck(PUNCH), str(steps), "--set", f"time.max_dt={1 / steps}"))
            at = [min(rows, key=lambda row: abs(row["time"] - when))["impulse_ball_y"] for when in (0.3, 0.6)]
            return at[1] - at[0]

        few, many = (impulse(steps) for steps in (20, 80))
        self.assertLess(abs(few / many - 1), 0.08)  # first order in the step

    def test_ranks_agree_to_the_tolerance_of_the_solve(self):
        exact = [*IMPLICIT, "--set", "solve.tolerance=1e-10"]
        for name, text, steps in ("jellies", JELLIES, 6), ("meshes", MESHES, 2), ("gripped", GRIPPED, 6):
            deck = self.deck(text)
            alone = self.run_deck(deck, name + "1", "--steps", steps, *exact)
            self.assertGreater(float(history(alone)[-1]["newton_steps"]), steps)
            for ranks in 2, 3, 4, 7:
                with self.subTest(name, ranks=ranks):
                    many = self.run_deck(deck, f"{name}{ranks}", "--steps", steps, *exact, ranks=ranks)
                    self.assert_same_state(alone, many, 1e-7)

    def test_preconditioners_change_the_way_and_not_the_end(self):
        deck = self.deck(MESHES)
        exact = [*IMPLICIT, "--set", "solve.tolerance=1e-10", "--steps", 1]
        reference = self.run_deck(deck, "blocks", *exact)
        steps = float(history(reference)[-1]["krylov_steps"])
        some, all_ranks = (("direct", 3), ("multigrid", 2)), (1, 2, 3, 4, 7)
        for kind, ranks in ((k, r) for k in ("direct", "multigrid") for r in all_ranks) if FULL else some:
            with self.subTest(kind, ranks=ranks):
                other = self.run_deck(deck, f"{kind}{ranks}", *exact, "--set", f"solve.preconditioner={kind}", ranks=ranks)
                self.assert_same_state(reference, other, 1e-7)
                self.assertLess(float(history(other)[-1]["krylov_steps"]), steps)

    def test_threads_change_no_bit(self):
        deck = self.deck(JELLIES)
        one = self.run_deck(deck, "one", "--steps", 5, *IMPLICIT)
        for threads in 2, 3:
            with self.subTest(threads=threads):
                many = self.run_deck(deck, str(threads), "--steps", 5, *IMPLICIT, threads=threads)
                self.assert_same_state(one, many, 0)
                self.assertEqual(physics(one), physics(many))

    def test_a_resumed_run_equals_the_unbroken_one_to_the_bit(self):
        # The nodes of the sheet that hangs stay the same, and so does what multigrid keeps.
        hanging = (DECKS / "hanging_sheet.yaml").read_text().replace("dx: 0.05", "dx: 0.1")
        for name, text, ranks, kind in ("jellies", JELLIES, 1, "multigrid"), ("hanging", hanging, 2, "multigrid"), \
                                       ("jellies", JELLIES, 1, "blocks"), ("sand", SAND, 2, "blocks"), \
                                       ("meshes", MESHES, 3, "direct"), ("gripped", GRIPPED, 2, "blocks"):
            with self.subTest(name, preconditioner=kind):
                deck, how = self.deck(text), {"ranks": ranks}
                options = [*IMPLICIT, "--set", f"solve.preconditioner={kind}"]
                unbroken = self.run_deck(deck, f"{name}_{kind}", "--steps", 6, *options, **how)
                broken = self.run_deck(deck, f"{name}_{kind}_broken", "--steps", 2, *options, **how)
                self.run_deck(deck, f"{name}_{kind}_broken", "--steps", 6, "--resume", "auto", *options, **how)
                self.assertEqual(run_json(broken)["step"], 6)
                self.assert_same_state(unbroken, broken, 0)
                # Mean forces of handles are those since the row before, which the stop moved.
                last = [{key: value for key, value in physics(run)[-1].items() if not re.match("(force|torque)_", key)}
                        for run in (unbroken, broken)]
                self.assertEqual(*last)

    def resume_and_stop(self, deck, output, *arguments, ranks, after):
        """Resumes a run, asks it to stop so many seconds after its start, and returns what it says."""
        before = len((output / "log.txt").read_text())
        with subprocess.Popen(command("run", deck, "-o", output, "--resume", "auto", *arguments, ranks=ranks),
                              env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            self.addCleanup(process.kill)
            wait_until(lambda: "output in" in (output / "log.txt").read_text()[before:] or process.poll() is not None,
                       "the start of the run")
            time.sleep(after)
            process.send_signal(signal.SIGUSR1)
            said = process.communicate(timeout=120)[0]
            self.assertEqual(process.returncode, 0, said)
        return said

    def test_a_signal_within_a_step_is_heard_before_its_retries_are_spent(self):
        # Hardly anything of what each Newton step asks for: no try comes to an end, and there are many.
        hopeless = ["--set", "time.max_retries=100", "--set",
                    "solve.petsc=-ksp_type richardson -ksp_max_it 1 -ksp_richardson_scale 1e-6"]
        deck = self.deck(MESHES)
        for ranks in 1, 2:
            with self.subTest(ranks=ranks):
                unbroken = self.run_deck(deck, f"unbroken{ranks}", "--steps", 3, ranks=ranks)
                broken = self.run_deck(deck, f"broken{ranks}", "--steps", 1, ranks=ranks)
                said = self.resume_and_stop(deck, broken, "--steps", 3, *hopeless, ranks=ranks, after=1)
                self.assertIn("was broken off", said)
                self.assertEqual((run_json(broken)["state"], run_json(broken)["step"]), ("stopped", 1))
                self.run_deck(deck, broken.name, "--steps", 3, "--resume", "auto", ranks=ranks)
                self.assert_same_state(unbroken, broken, 0)

    def test_signals_at_random_moments_of_implicit_steps_change_no_bit(self):
        deck = self.deck(MESHES)
        unbroken = self.run_deck(deck, "unbroken", "--steps", 6, ranks=2)
        broken = self.run_deck(deck, "broken", "--steps", 1, ranks=2)
        moments = random.Random(1)
        for _ in range(12 if FULL else 4):
            self.resume_and_stop(deck, broken, "--steps", 6, ranks=2, after=moments.uniform(0, 0.5))
        self.run_deck(deck, "broken", "--resume", "auto", "--steps", 6, ranks=2)
        self.assert_same_state(unbroken, broken, 0)

    def test_bad_settings_are_refused_as_mistakes_of_the_deck(self):
        for settings, words in (["solve.tolerance=0"], "solve.tolerance"), \
                               (["solve.max_iterations=0"], "solve.max_iterations"), \
                               (["solve.plasticity=sometimes"], "solve.plasticity"), \
                               (["solve.preconditioner=magic"], "solve.preconditioner"), \
                               (["solve.solver=minimise"], "--set solve.solver: solve: solver minimise: the flow of body heap"), \
                               (["solve.petsc=-ksp_type nonsense"], "-ksp_type nonsense"), \
                               (["solve.petsc=-ksp_typo 1"], "-ksp_typo"), \
                               (["solve.petsc=-ksp_rtol fast"], "-ksp_rtol fast"), \
                               (["solve.preconditioner=multigrid", "solve.petsc=-pc_type eisenstat"], "-pc_type eisenstat"), \
                               (["solve.preconditioner=direct", "solve.petsc=-pc_factor_mat_solver_type magic"], "magic"), \
                               (["time.scheme=imaginary"], "time.scheme"):
            with self.subTest(settings):
                arguments = [word for setting in settings for word in ("--set", setting)]
                result = weft("run", self.deck(SAND), "-o", self.folder / "refused", "--steps", 2, "--force", *arguments)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(words, result.stderr)
                self.assertFalse((self.folder / "refused").exists())

    def test_a_resumed_run_with_wrong_options_for_petsc_writes_nothing(self):
        deck = self.deck(SAND)
        for ranks, name in ((1, "one"), (2, "two")):
            output = self.run_deck(deck, name, "--steps", 2)
            before = {p: p.read_bytes() for p in output.rglob("*") if p.is_file()}
            self.run_deck(deck, name, "--steps", 3, "--resume", "auto", "--set", "solve.petsc=-ksp_typo 1", code=2,
                          ranks=ranks)
            self.assertEqual({p: p.read_bytes() for p in output.rglob("*") if p.is_file()}, before)

    def test_a_rehearsed_resume_changes_no_bit(self):
        deck = self.deck(SAND)
        options = ("--set", "solve.petsc=-ksp_gmres_restart 31")
        unbroken = self.run_deck(deck, "unbroken", "--steps", 4, *options, ranks=2)
        broken = self.run_deck(deck, "broken", "--steps", 2, *options, ranks=2)
        self.run_deck(deck, "broken", "--resume", "auto", "--steps", 4, *options, ranks=2)
        self.assert_same_state(unbroken, broken, 0)

    def test_petsc_takes_options_from_the_command_line_and_is_profiled(self):
        result = weft("run", self.deck(SAND), "-o", self.folder / "out", "--steps", 2, "--petsc",
                      "-snes_monitor -log_view")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("SNES Function norm", result.stdout)
        self.assertRegex(result.stdout, r"KSPSolve +\d+")

    def test_iterations_are_counted_as_petsc_counts_them(self):
        steps = 3
        result = weft("run", self.deck(SAND), "-o", self.folder / "out", "--steps", steps, "--petsc",
                      "-snes_monitor -ksp_monitor", "--set", "output.diagnostics_every=1")
        self.assertEqual(result.returncode, 0, result.stderr)
        # The first try is rehearsed, since PETSc has options; monitors tell of what the run takes alone.
        found = [int(n) for n in re.findall(r"^ *(\d+) SNES Function norm", result.stdout, re.MULTILINE)]
        newton = sum(n > 0 for n in found)
        krylov = sum(n != "0" for n in re.findall(r"^ *(\d+) KSP Residual norm", result.stdout, re.MULTILINE))
        rows = history(self.folder / "out")
        self.assertEqual([float(rows[-1][key]) for key in ("newton_steps", "krylov_steps")], [newton, krylov])


if __name__ == "__main__":
    unittest.main()
