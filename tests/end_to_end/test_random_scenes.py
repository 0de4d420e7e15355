#!/usr/bin/env python3
"""Scenes that nobody thought of: bodies of random kinds and laws fly into one another and into random colliders, and
mass, momentum and energy tell what went wrong. tests/end_to_end/test_random_scenes.py WEFT; WEFT_SOAK=SECONDS goes on
for so long, each time with other scenes. A failure names the number of its scene, and WEFT_SCENE=NUMBER runs that one
alone."""
import itertools
import json
import os
import random
import shutil
import time
import unittest

from program import Case, history, physics
import numpy
import weft_read

DX = 0.05  # [m]

# An L of legs that are 1 m wide, half as thick: sharp edges, one of them concave.
L_CORNERS = [(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)]
L_CAPS = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
L_SHAPE = "".join(
    [f"v {x} {y} {z}\n" for z in (-0.5, 0.5) for x, y in L_CORNERS] +
    [f"f {a + 1} {c + 1} {b + 1}\nf {a + 7} {b + 7} {c + 7}\n" for a, b, c in L_CAPS] +
    [f"f {a + 1} {b + 1} {b + 7} {a + 7}\n" for a in range(6) for b in [(a + 1) % 6]])


class Scene:
    """A random deck; the same number gives the same one."""

    def __init__(self, number):
        self.random = random.Random(number)
        names = [f"body{i}" for i in range(self.random.randint(1, 4))]
        materials, bodies = {}, []
        for place, name in enumerate(names):
            make = self.random.choice([self.continuum] * 3 + [self.membrane, self.fiber, self.shell])
            materials[name], body = make()
            bodies.append({"name": name, "material": name, **body, "velocity": self.velocity(place),
                           "spin": self.vector(5)})
        self.deck = {
            "weft": 1, "title": f"Scene {number}", "domain": {"dx": DX, "gravity": [0, 0, 0]},
            "time": {"end": 10, "frame_interval": 10, "cfl": self.random.uniform(0.1, 0.3)},
            "transfer": {"kernel": self.random.choice(["linear", "quadratic", "cubic"]),
                         "rpic_damping": self.random.choice([0, 0, self.random.random()])},
            "materials": materials, "bodies": bodies, "output": {"diagnostics_every": 1}}
        self.ranks = self.random.choice([1, 1, 1, 2, 2, 3, 4, 7])
        self.threads = self.random.choice([1, 2])
        colliders = range(self.random.choice([0, 1, 1, 2, 3]))
        self.deck["colliders"] = [{"name": f"wall{i}", **self.collider()} for i in colliders]
        if self.random.random() < 0.5:
            self.add_layers()
        if self.random.random() < 0.3:
            self.add_strands()
        if any(self.moves_by_itself(body) for body in bodies):
            for collider in self.deck["colliders"]:
                collider["contact"] = "surface"

    @staticmethod
    def moves_by_itself(body):
        return body["kind"] in ("solid", "rigid", "strand")

    def add_layers(self):
        """A solid with contact points on a layer of its own, and some of the other bodies on another."""
        self.deck["layers"] = [{"name": "other", "kernel": self.random.choice(["linear", "quadratic", "cubic"])}]
        for body in self.deck["bodies"]:
            if self.random.random() < 0.5:
                body["layer"] = "other"
        pairs = [["materials", "other"]]
        if self.random.random() < 0.7:
            material, body = self.solid()
            self.deck["materials"]["solid"] = material
            self.deck["bodies"].append({"name": "solid", "material": "solid", **body, "velocity": self.vector(2),
                                        "spin": self.vector(5)})
            pairs += [["solid", "materials"], ["solid", "other"]]
        if self.random.random() < 0.4:
            self.deck["bodies"].append({"name": "rigid", **self.rigid(), "velocity": self.vector(2),
                                        "spin": self.vector(5)})
            pairs += [["rigid", layer] for pair in pairs for layer in pair if layer != "rigid"]
            pairs = [list(pair) for pair in dict.fromkeys(map(tuple, pairs))]
        self.deck["layer_contact"] = [{"between": pair, "friction": self.random.choice([0, self.random.random()])}
                                      for pair in pairs]

    # docs/theory/transfer.md, 2, and sheets.md, 10.8, say why not everything keeps to round-off.

    def lost_momentum(self):
        # Light nodes are slowed down, also those that colliders push.
        return 1e-3 if self.has_linear_kernel() else 1e-12

    def has_linear_kernel(self):
        layers = self.deck.get("layers", [])
        return "linear" in [self.deck["transfer"]["kernel"], *(layer["kernel"] for layer in layers)]

    def lost_angular_momentum(self):
        # Contact of layers over a gap turns solids by gap times friction (layers.md, 16.5).
        if self.has_linear_kernel() or any(self.moves_by_itself(body) for body in self.deck["bodies"]):
            return 0.1
        return 1e-12 if all(body["kind"] == "continuum" for body in self.deck["bodies"]) else 1e-3

    def vector(self, size):
        return [self.random.uniform(-size, size) for _ in range(3)]

    def log_uniform(self, lower, upper):
        return lower * (upper / lower) ** self.random.random()

    def velocity(self, place):
        """Towards the middle of the row of bodies, which are about a body's size apart."""
        return [self.random.uniform(0, 3) * (-1 if place % 4 in (1, 2) else 1), *self.vector(1)[1:]]

    def where(self):
        """Bodies lie within reach of one another and may overlap at the start: contact is everywhere."""
        return {"rotate": self.rotation(), "translate": self.vector(0.25)}

    def rotation(self):
        return {"axis": [1, *self.vector(1)[1:]], "angle": self.random.uniform(0, 360)}

    def stiffness(self):
        return {"youngs_modulus": self.log_uniform(1e3, 1e6), "poisson_ratio": self.random.uniform(0, 0.45)}

    def collider(self):
        """An obstacle or a container, at rest or moving. Bodies may reach into it at the start."""
        out = self.vector(1)
        length = sum(x * x for x in out) ** 0.5
        hollow = self.random.random() < 0.25
        size = self.random.uniform(0.3, 0.45) if hollow else self.random.uniform(0.05, 0.3)
        reach = 0 if hollow else size + self.random.uniform(0, 0.2)
        placed = {"rotate": self.rotation(), "translate": [reach * x / length for x in out]}
        forms = [{"sphere": {"center": [0, 0, 0], "radius": size}} | placed,
                 {"box": {"lower": [-size] * 3, "upper": [size] * 3}} | placed,
                 {"cylinder": {"from": [-size, 0, 0], "to": [size, 0, 0], "radius": size}} | placed,
                 {"capsule": {"from": [-size / 2, 0, 0], "to": [size / 2, 0, 0], "radius": size}} | placed,
                 {"ellipsoid": {"center": [0, 0, 0], "radii": [size, 0.7 * size, 0.8 * size]}} | placed,
                 {"mesh": {"file": "L.obj"}, "scale": size} | placed]
        if not hollow:
            forms.append({"plane": {"point": [(reach - size) * x / length for x in out], "normal": [-x for x in out]}})
        collider = {"shape": self.random.choice(forms), "hollow": hollow,
                    "contact": self.random.choice(["surface", "surface", "nodes"]),
                    "condition": self.random.choice(["separate", "separate", "slip", "sticky"])}
        if collider["condition"] != "sticky":
            collider["friction"] = self.random.choice([0, self.random.random()])
        steady = {"velocity": self.vector(1), "spin": self.vector(3)}
        keyed = {"keyframes": [{"time": 0}, {"time": 0.2, "translate": self.vector(0.2), "rotate": self.rotation()}]}
        if motion := self.random.choice([None, steady, keyed]):
            collider["motion"] = motion | {"center": self.vector(0.3)}
        return collider

    def continuum(self):
        law = self.random.choice(["fixed_corotated", "neo_hookean", "stvk_hencky", "drucker_prager", "snow", "von_mises",
                                  "tait", "herschel_bulkley"])
        material = {"law": law, "density": self.log_uniform(50, 5000)}
        if law == "tait":
            material |= {"bulk_modulus": self.log_uniform(1e3, 1e5), "viscosity": self.random.choice([0, 1])}
        elif law == "herschel_bulkley":
            material |= {"shear_modulus": self.log_uniform(1e3, 1e5), "bulk_modulus": self.log_uniform(1e4, 1e5),
                         "yield_stress": self.log_uniform(1, 1e3), "consistency": self.log_uniform(0.1, 100),
                         "flow_index": self.random.uniform(0.3, 2)}
        else:
            material |= self.stiffness()
        if law == "von_mises":
            material |= {"yield_stress": self.log_uniform(10, 1e4),
                         "hardening_modulus": self.random.choice([0, self.log_uniform(10, 1e4)])}
        if law == "drucker_prager":
            material |= {"friction_angle": self.random.uniform(5, 60), "cohesion": self.random.choice([0, 100])}
        size = self.random.uniform(0.07, 0.14)
        form = self.random.choice([
            {"box": {"lower": [-size] * 3, "upper": [size] * 3}},
            {"sphere": {"center": [0, 0, 0], "radius": size}},
            {"ellipsoid": {"center": [0, 0, 0], "radii": [1.5 * size, size, 0.7 * size]}},
            {"torus": {"center": [0, 0, 0], "axis": [0, 0, 1], "major_radius": size, "minor_radius": 0.4 * size}}])
        return material, {"kind": "continuum", "shape": form | self.where(),
                          "particles_per_cell": self.random.choice([1, 4, 8]),
                          "sampling": self.random.choice(["poisson", "jittered", "regular"])}

    def surface(self):
        width, depth = self.random.uniform(0.2, 0.4), self.random.uniform(0.2, 0.4)
        return {"rectangle": {"width": width, "height": depth}, "across": max(3, round(width / DX)),
                "along": max(3, round(depth / DX))} | self.where()

    def membrane(self):
        contact = {"stiffness": self.log_uniform(1e3, 1e5), "shear_stiffness": self.log_uniform(1e2, 1e4),
                   "friction": self.random.uniform(0, 1)}
        return ({"law": "sheet", "density": self.log_uniform(100, 1000), **self.stiffness(), "contact": contact},
                {"kind": "membrane", "thickness": self.log_uniform(1e-3, 1e-2), "mesh": self.surface()})

    def shell(self):
        contact = {"stiffness": self.log_uniform(1e3, 1e5), "shear_stiffness": self.log_uniform(1e2, 1e4),
                   "friction": self.random.uniform(0, 1)}
        return ({"law": "von_mises", "density": self.log_uniform(100, 5000), **self.stiffness(),
                 "yield_stress": self.log_uniform(1e2, 1e5)},
                {"kind": "shell", "thickness": self.log_uniform(2e-3, 2e-2), "laminae": 3, "contact": contact,
                 "mesh": self.surface()})

    def rigid(self):
        size = self.random.uniform(0.07, 0.14)
        mesh = self.random.choice([{"block": {"lower": [-size] * 3, "upper": [size] * 3}},
                                   {"shape": {"sphere": {"center": [0, 0, 0], "radius": size}}}])
        return {"kind": "rigid", "density": self.log_uniform(100, 5000),
                "contact": {"points": self.random.choice([1, 4]), "tolerance": 0.01},
                "mesh": mesh | {"size": size * self.random.uniform(0.4, 1)} | self.where()}

    def add_strands(self):
        self.deck["materials"]["hair"] = {
            "law": "rod", "density": self.log_uniform(500, 3000), "youngs_modulus": self.log_uniform(1e5, 1e7),
            "poisson_ratio": self.random.uniform(0, 0.45), "stretch_modulus": self.log_uniform(1e4, 1e6)}
        self.deck["bodies"].append({
            "name": "hair", "kind": "strand", "material": "hair", "radius": self.log_uniform(2e-3, 6e-3),
            "meets_grid": True, "velocity": self.vector(2), "spin": self.vector(5),
            "contact": {"youngs_modulus": 1e4, "friction": self.random.random(), "packing": 0.1},
            "curves": {"hair_tube": {"inner_radius": 0, "outer_radius": 0.1, "length": 0.3, "strands": 10},
                       "spacing": 0.04} | self.where()})

    def solid(self):
        size = self.random.uniform(0.07, 0.14)
        mesh = self.random.choice([{"block": {"lower": [-size] * 3, "upper": [size] * 3}},
                                   {"shape": {"sphere": {"center": [0, 0, 0], "radius": size}}}])
        return ({"law": self.random.choice(["fixed_corotated", "neo_hookean", "stvk_hencky"]),
                 "density": self.log_uniform(50, 5000), **self.stiffness()},
                {"kind": "solid", "carrier": "own", "meets_grid": True, "order": self.random.choice([1, 2]),
                 "contact": {"points": self.random.choice([1, 4, 9])},
                 "mesh": mesh | {"size": size * self.random.uniform(0.4, 1)} | self.where()})

    def fiber(self):
        curves = self.random.choice([
            {"hair_tube": {"inner_radius": 0.05, "outer_radius": 0.15, "length": 0.4, "strands": 30}},
            {"hair_ball": {"radius": 0.08, "length": 0.2, "strands": 40}},
            {"weave": {"warp": 6, "weft": 6, "gap": 0.06, "amplitude": 0.01}}])
        return ({"law": "fiber", "density": self.log_uniform(300, 3000), "stretch_modulus": self.log_uniform(1e4, 1e6),
                 **self.stiffness(), "shear_modulus": self.log_uniform(1e2, 1e5),
                 "friction_angle": self.random.uniform(0, 45)},
                {"kind": "fiber", "radius": self.log_uniform(1e-3, 1e-2), "curves": curves | self.where()})


def numbers(row, *names):
    return [float(row[name]) for name in names]


def vector(row, name):
    return numbers(row, *(f"{name}_{axis}" for axis in "xyz"))


# A block and grains fall side by side on a collider with sharp edges, which may pull.
ON_AN_L = """
weft: 1
title: In the corner of an L
domain: {dx: 0.04, gravity: [0, -9.81, 0]}
time: {end: 0.7, frame_interval: 0.7}
materials:
  jelly: {law: fixed_corotated, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}
  sand: {law: drucker_prager, density: 1600, youngs_modulus: 3.5e5, poisson_ratio: 0.3, friction_angle: 30}
bodies:
  - {name: cube, kind: continuum, material: jelly, shape: {box: {lower: [0.02, 0.05, -0.1], upper: [0.22, 0.25, 0.1]}}}
  - {name: heap, kind: continuum, material: sand, shape: {box: {lower: [0.26, 0.02, -0.2], upper: [0.4, 0.2, 0.2]}}}
colliders:
  - {name: el, shape: {mesh: {file: L.obj}, scale: 0.5}, CONDITION}
output: {diagnostics_every: 5}
"""


class RandomScenes(Case):
    def test_blocks_and_grains_on_colliders_gain_no_energy_and_stay_outside(self):
        (self.folder / "L.obj").write_text(L_SHAPE)
        for number, how in enumerate(("condition: separate, friction: 0.3", "condition: sticky", "condition: slip",
                                      "friction: 0.3, motion: {spin: [0, 1.5, 0.5]}")):
            with self.subTest(how=how):
                run = self.run_deck(self.deck(ON_AN_L.replace("CONDITION", how)), f"el{number}")
                energy = [float(row["energy_less_work"]) for row in history(run)]
                for now, least in zip(energy, itertools.accumulate(energy, min)):
                    self.assertLess(now, least + 2e-3 * energy[0])
                if "motion" in how:
                    continue
                for body in "cube", "heap":
                    x, y, z = weft_read.Run(run).frame(body, -1).points.T
                    is_in_a_leg = (x < -0.001) & (y < 0.5) | (x < 0.5) & (y < -0.001)
                    self.assertFalse(numpy.any(is_in_a_leg & (x > -0.5) & (y > -0.5) & (abs(z) < 0.249)), body)

    def assert_sound(self, number, steps=24):
        """Mass and momentum stay to round-off, energy does not grow; a break and other threads change no bit."""
        scene = Scene(number)
        deck = self.deck(json.dumps(scene.deck))
        (self.folder / "L.obj").write_text(L_SHAPE)
        run = self.run_deck(deck, f"run{number}", "--steps", steps, ranks=scene.ranks, threads=scene.threads)
        rows = history(run)
        first = rows[0]
        mass, kinetic = numbers(first, "mass", "kinetic_energy")
        walls = [collider["name"] for collider in scene.deck["colliders"]]
        momentum = (2 * mass * kinetic) ** 0.5
        for name, impulse, size, share in (
                ("momentum", "impulse", momentum, scene.lost_momentum()),
                ("angular_momentum", "angular_impulse", 0.5 * momentum, scene.lost_angular_momentum())):
            for row in rows:
                parts = [vector(row, name), *(vector(row, f"{impulse}_{wall}") for wall in walls)]
                exchanged = size + sum(abs(x) for part in parts[1:] for x in part)
                for now, then in zip(map(sum, zip(*parts)), vector(first, name)):
                    self.assertLess(abs(now - then), share * exchanged, f"{name} at step {row['step']}")
        for row in rows:
            self.assertLess(abs(float(row["mass"]) - mass), 1e-13 * mass, f"mass at step {row['step']}")
            work = float(row["work_of_colliders"]) if walls else 0
            energy = sum(numbers(row, "kinetic_energy", "elastic_energy")) - work
            self.assertLess(energy, 1.01 * (kinetic + abs(work)), f"energy at step {row['step']}")
        how = {"ranks": scene.ranks, "threads": 3 - scene.threads}
        broken = self.run_deck(deck, f"broken{number}", "--steps", scene.random.randrange(1, steps), **how)
        self.run_deck(deck, f"broken{number}", "--steps", steps, "--resume", "auto", **how)
        self.assert_same_state(run, broken, 0)
        self.assertEqual(physics(run), physics(broken))
        shutil.rmtree(run)
        shutil.rmtree(broken)

    def test_mass_momentum_and_energy_of_random_scenes_are_sound_and_a_break_changes_no_bit(self):
        if "WEFT_SCENE" in os.environ:
            return self.assert_sound(int(os.environ["WEFT_SCENE"]))
        seconds = float(os.environ.get("WEFT_SOAK", 0))
        number, end = (random.SystemRandom().randrange(10**9) if seconds else 0), time.monotonic() + seconds
        tried = 0
        while tried < 3 or time.monotonic() < end:
            with self.subTest(scene=number + tried):
                self.assert_sound(number + tried)
            tried += 1
        print(f"random scenes: {tried}")


if __name__ == "__main__":
    unittest.main()
