#!/usr/bin/env python3
"""Proves that surfaces are exported in the form of their meshes: tests/end_to_end/test_export.py WEFT."""
import unittest

from program import PLATE, Case, weft
import numpy


def strip(triangles):
    """OBJ of 3 x 2 squares of 0.15 in the plane z = 0, those named cut in two; texture and two groups. Points run down
    columns, so that faces do not use them in order."""
    at = lambda i, j: 3 * i + 2 - j + 1
    lines = [f"v {0.15 * i} {0.15 * (2 - j)} 0" for i in range(4) for j in range(3)]
    lines += [f"vt {i / 3} {(2 - j) / 2}" for i in range(4) for j in range(3)]
    for group, columns in ("left", (0,)), ("right", (1, 2)):
        lines.append(f"g {group}")
        for i in columns:
            for j in 0, 1:
                corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]
                faces = [corners[:3], [corners[0], *corners[2:]]] if (i, j) in triangles else [corners]
                lines += ["f " + " ".join(f"{p}/{p}" for p in face) for face in faces]
    return "\n".join(lines) + "\n"


SQUARES = [(i, j) for i in range(3) for j in range(2)]


class Exported(Case):
    """Surfaces as files, on any number of ranks."""

    def export(self, output, kind, ranks=1):
        folder = self.folder / f"{output.name}_{kind}_{ranks}"
        done = weft("export", output, "--to", kind, "--folder", folder, ranks=ranks)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}

    def obj(self, text):
        """Points, faces (corners, texture coordinates at them, group) of an OBJ file."""
        points, texture, faces, group = [], [], [], ""
        for word, *rest in (line.split() for line in text.decode().splitlines() if line[:1] not in ("#", "")):
            if word == "v":
                points.append([float(x) for x in rest])
            elif word == "vt":
                texture.append([float(x) for x in rest])
            elif word == "g":
                group = " ".join(rest)
            elif word == "f":
                pairs = [[int(n) - 1 for n in corner.split("/")] for corner in rest]
                faces.append(([p for p, *_ in pairs], [texture[t] for _, t in pairs], group))
        return numpy.array(points), faces

    def test_a_shell_is_one_surface_that_begins_with_the_points_of_its_mesh(self):
        mesh = "rectangle: {width: 0.5, height: 0.4}, across: 9, along: 8"
        assert mesh in PLATE
        for what, triangles, sides, faces in (("quads", [], 4, 6), ("triangles", SQUARES, 3, 12),
                                              ("mixed", [(1, 0)], 4, 26)):
            with self.subTest(what):
                (self.folder / f"{what}.obj").write_text(strip(triangles))
                deck = self.deck(PLATE.replace(mesh, f"file: {{path: {what}.obj}}"), f"{what}.yaml")
                how = "--until", 0.02, "--set", "time.frame_interval=0.02"
                outputs = [self.run_deck(deck, f"{what}{ranks}", *how, ranks=ranks) for ranks in (1, 3)]
                made = {(o.name, kind): self.export(o, kind) for o in outputs for kind in ("obj", "ply")}
                self.assertEqual(made[f"{what}3", "obj"], self.export(outputs[1], "obj", ranks=3))
                alone, shared = [self.obj(made[f"{what}{n}", "obj"]["plate_000001.obj"]) for n in (1, 3)]
                self.assertEqual(alone[1], shared[1])
                self.assertLess(abs(alone[0] - shared[0]).max(), 1e-6)

                points, drawn = self.obj(made[f"{what}1", "obj"]["plate_000000.obj"])
                n = 3
                self.assertEqual([len(face[0]) for face in drawn], [sides] * (faces * n * n))
                self.assertEqual(len({tuple(p) for p in points}), len(points))  # no two where faces meet
                self.assertEqual({p for face in drawn for p in face[0]}, set(range(len(points))))
                for i in range(4):  # turned about x by 90 degrees, and moved
                    for j in range(3):
                        place = numpy.array([0.15 * i - 0.23, 0.26, 0.15 * (2 - j) - 0.2])
                        off = abs(points[3 * i + j] - place)  # where the pattern is irregular, along the surface
                        self.assertLess(off.max(), 0.1 * 0.15 if what == "mixed" else 1e-6)
                        self.assertLess(off[1], 1e-6)
                for corners, texture, group in drawn:
                    u = (points[corners] - [-0.23, 0.26, -0.2])[:, [0, 2]] / [0.45, 0.3]
                    self.assertLess(abs(u - texture).max(), 0.05)  # the limit of a free corner runs into its face
                    self.assertEqual(group, "left" if u[:, 0].mean() < 1 / 3 else "right")
                # PLY has the same faces, and velocities.
                ply = made[f"{what}1", "ply"]["plate_000000.ply"]
                for words in f"element vertex {len(points)}\n", f"element face {len(drawn)}\n", "property float vx\n", \
                        "texcoord", "comment group 0 left\n":
                    self.assertIn(words.encode(), ply)
                rows = ply[ply.index(b"end_header\n") + 11:][:24 * len(points)]
                numbers = numpy.frombuffer(rows, "<f4").reshape(-1, 6)
                self.assertLess(abs(numbers[:, :3] - points).max(), 1e-7)
                self.assertLess(abs(numbers[:, 3:] - [0, -2, 0]).max(), 1e-6)

    def test_static_analyses_keep_their_meshes_on_several_ranks(self):
        for kind, law, more in (("shell", "stvk_hencky", ""),
                                ("membrane", "sheet, contact: {stiffness: 1e6}", "bending: {youngs_modulus: 1e8},")):
            with self.subTest(kind):
                (self.folder / "strip.obj").write_text(strip([(1, 0)]))
                deck = self.deck(f"""
weft: 1
domain: {{dx: 0.1, gravity: [0, 0, -9.81]}}
time: {{end: 1, frame_interval: 1, scheme: static}}
loading: {{steps: 2}}
materials:
  foil: {{law: {law}, density: 1000, youngs_modulus: 1e8, poisson_ratio: 0.3}}
bodies:
  - {{name: strip, kind: {kind}, material: foil, thickness: 10 mm, {more} mesh: {{file: {{path: strip.obj}}}}}}
handles:
  - {{name: vice, body: strip, where: {{box: {{lower: [-1, -1, -1], upper: [0.16, 1, 1]}}}}, hold: {{}}}}
""", f"{kind}.yaml")
                outputs = [self.run_deck(deck, f"{kind}{ranks}", ranks=ranks) for ranks in (1, 3)]
                alone, shared = [self.obj(self.export(output, "obj")["strip_000001.obj"]) for output in outputs]
                self.assertEqual(alone[1], shared[1])
                self.assertLess(abs(alone[0] - shared[0]).max(), 1e-6)
                self.assertLess(alone[0][:, 2].min(), -1e-3)
                self.assertIn(4, {len(face[0]) for face in alone[1]})

    def test_colliders_keep_the_points_polygons_texture_and_groups_of_their_file(self):
        corners = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
        sides = [("floor", (0, 2, 3, 1)), ("lid", (4, 5, 7)), ("lid", (4, 7, 6)), ("wall", (0, 1, 5, 4)),
                 ("wall", (2, 6, 7, 3)), ("wall", (0, 4, 6, 2)), ("wall", (1, 3, 7, 5))]
        lines = ["v %g %g %g" % p for p in [(9, 9, 9), *corners]] + ["vt %g %g" % p[1:] for p in corners]
        for group, face in sides:  # the first point belongs to no face
            lines += [f"g {group}", "f " + " ".join(f"{k + 2}/{k + 1}" for k in face)]
        (self.folder / "crate.obj").write_text("\n".join(lines) + "\n")
        deck = self.deck("""
weft: 1
domain: {dx: 0.1, gravity: [0, 0, -9.81]}
time: {end: 0.02, frame_interval: 0.02}
materials: {jelly: {law: fixed_corotated, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0.3}}
bodies: [{name: ball, kind: continuum, material: jelly, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}}}]
colliders:
  - {name: crate, shape: {mesh: {file: crate.obj}}, hollow: true, condition: slip,
     motion: {velocity: [5, 0, 0], spin: [0, 0, 3], center: [0.5, 0.5, 0.5]}}
""")
        files = self.export(self.run_deck(deck, "crated"), "obj")
        for frame in 0, 1:
            points, faces = self.obj(files[f"collider_crate_{frame:06d}.obj"])
            self.assertEqual(len(points), 9)
            self.assertEqual(len(faces), len(sides))
            for (group, face), (made, texture, named) in zip(sides, faces):
                self.assertEqual(named, group)
                self.assertEqual(made, [k + 1 for k in reversed(face)])  # a hollow one is seen from inside
                self.assertEqual(texture, [list(corners[k][1:]) for k in reversed(face)])
            c, s = numpy.cos(0.06 * frame), numpy.sin(0.06 * frame)
            places = (numpy.array(corners) - 0.5) @ [[c, s, 0], [-s, c, 0], [0, 0, 1]] + [0.5 + 0.1 * frame, 0.5, 0.5]
            self.assertLess(abs(points[1:] - places).max(), 1e-6)

    def test_an_unknown_format_is_refused_with_those_there_are(self):
        done = weft("export", self.folder, "--to", "xyz")
        self.assertEqual(done.returncode, 2)
        self.assertIn('"xyz" is none of bcc|hair|obj|ply|vdb', done.stdout + done.stderr)

    def test_frames_of_nodes_and_contact_points_are_left_out(self):
        deck = self.deck("""
weft: 1
domain: {dx: 0.1, gravity: [0, 0, -9.81]}
time: {end: 0.01, frame_interval: 0.01}
materials: {jelly: {law: fixed_corotated, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0.3}}
bodies:
  - {name: ball, kind: rigid, density: 500, mesh: {block: {lower: [0, 0, 0.3], upper: [0.2, 0.2, 0.5]}, size: 0.2}}
  - {name: heap, kind: continuum, material: jelly, shape: {box: {lower: [0, 0, 0], upper: [0.3, 0.3, 0.2]}}}
output: {grid: true, contact_points: true}
""")
        run = self.run_deck(deck, "all")
        self.assertTrue((run / "frames" / "grid_000001.hdf").exists())
        self.assertTrue((run / "frames" / "ball_contact_000001.hdf").exists())
        for ranks in 1, 3:
            self.assertEqual({name.rsplit("_", 1)[0] for name in self.export(run, "obj", ranks)}, {"ball", "heap"})
        self.assertEqual({name.rsplit("_", 1)[0] for name in self.export(run, "vdb")}, {"heap"})


if __name__ == "__main__":
    unittest.main()
