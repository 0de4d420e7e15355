#!/usr/bin/env python3
"""Draws a run of Weft: a picture of one frame, pictures of all frames, or a movie, by off-screen ParaView.

    python3 postproc/render.py OUTPUT                         the last frame as OUTPUT/picture.png
    python3 postproc/render.py OUTPUT --field pressure        coloured by a field, with a legend; --range 0 1e4 sets it
    python3 postproc/render.py OUTPUT --only sand             some of the bodies and colliders
    python3 postproc/render.py OUTPUT --glass bear            a body that others are seen through
    python3 postproc/render.py OUTPUT --movie movie.mp4       every frame, joined by ffmpeg

Started by any Python, it starts itself again inside ParaView (pvbatch) on a virtual display of its own. Where a display
and ParaView are at hand, as under `xvfb-run pvbatch postproc/render.py OUTPUT`, it draws there.
"""
import argparse
import itertools
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

BACKGROUND = (0.975, 0.98, 0.985)
COLLIDER = (0.90, 0.91, 0.93)
INK = (0.16, 0.19, 0.24)
# Bodies look like what they are made of; elastic ones take the next colour of a list.
LAWS = {
    "drucker_prager": (0.87, 0.70, 0.43),
    "snow": (0.90, 0.94, 1.00),
    "von_mises": (0.60, 0.64, 0.70),
    "tait": (0.20, 0.50, 0.82),
    "herschel_bulkley": (0.46, 0.74, 0.28),
}
LEFT_OF_LEGEND = 0.8  # share of a picture's width that is the scene's when there is a legend
ELASTIC = [(0.87, 0.29, 0.34), (0.16, 0.62, 0.56), (0.49, 0.38, 0.74), (0.95, 0.62, 0.20), (0.25, 0.47, 0.77)]


INSIDE = "WEFT_RENDER_INSIDE"  # set for the copy of this script that runs inside ParaView
# Particles are discs that face the camera; this shades them as balls.
BALL = """//VTK::Color::Impl
float squared = dot(offsetVCVSOutput.xy, offsetVCVSOutput.xy);
if (squared > 1.0) discard;
vec3 normal = vec3(offsetVCVSOutput.xy, sqrt(1.0 - squared));
ambientColor *= 0.86 + 0.14 * dot(normal, normalize(vec3(-0.4, 0.7, 0.6)));
"""


def leave(code):
    """Ends at once: pvbatch takes no exit code from sys.exit, and its tear-down can crash when all work is done."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def fail(message):
    print(message, file=sys.stderr)
    leave(1)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="render.py", description="Draws a run of Weft by off-screen ParaView.")
    parser.add_argument("output", type=pathlib.Path, help="output folder of a run")
    parser.add_argument("--field", help="colour the particles by this field (vectors by magnitude)")
    parser.add_argument("--range", nargs=2, type=float, metavar=("LOW", "HIGH"), help="of the field's colours")
    parser.add_argument("--only", action="append", metavar="NAME", help="draw this body or collider (again for more)")
    parser.add_argument("--glass", action="append", default=[], metavar="NAME",
                        help="draw this body or collider so that others are seen through it (again for more)")
    parser.add_argument("--camera", choices=["front", "iso", "side", "top"], default="iso")
    parser.add_argument("--frame", default="last", help="last (default), all, or a frame number")
    parser.add_argument("--movie", type=pathlib.Path, metavar="FILE.mp4", help="draw all frames and join them")
    parser.add_argument("--size", default="1280x960", metavar="WxH", help="pixels (default 1280x960)")
    parser.add_argument("--out", type=pathlib.Path, metavar="PNG", help="where one picture goes (OUTPUT/picture.png)")
    options = parser.parse_args(arguments)
    try:
        options.size = [int(n) for n in options.size.split("x")]
        width, height = options.size
        if min(width, height) < 64:
            raise ValueError
    except ValueError:
        parser.error("--size wants width x height in pixels, at least 64x64, such as 1280x960")
    if options.frame not in ("last", "all") and not options.frame.isdigit():
        parser.error("--frame wants last, all or a frame number")
    return options


def run_inside_paraview(arguments, size):
    """Runs this script by pvbatch on a virtual display of its own; returns its exit code."""
    for program in ("Xvfb", "pvbatch"):
        if not shutil.which(program):
            fail(f"Pictures need the program {program}. Install it by jobs/install-packages.sh, "
                 "or by apt-get install paraview python3-paraview xvfb.")
    # The server picks a free display and tells its number; xvfb-run guesses one and can meet another user of it. By
    # -noreset it does not start anew, refusing clients meanwhile, when ParaView has closed its first connection.
    screen = f"{max(size[0], 1280)}x{max(size[1], 1024)}x24"
    server = subprocess.Popen(["Xvfb", "-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp", "-noreset"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        number = server.stdout.readline().strip()
        if not number:
            fail("The virtual display Xvfb did not start. Does `Xvfb -displayfd 1` run by hand?")
        here = {"DISPLAY": f":{number}", INSIDE: "1"}
        return subprocess.run(["pvbatch", os.path.abspath(__file__), *arguments], env=os.environ | here).returncode
    finally:
        server.terminate()
        server.wait()


class Series:
    """The frames of one body or collider."""

    def __init__(self, run, name):
        self.run, self.name = run, name
        self.is_collider = name.startswith("collider_")
        # A body that has no particle yet tells its kind as well.
        self.kind = run.frame(name, -1).kind

    def at(self, time):
        """The newest frame that is not later than `time` (what stands still is written once), or None."""
        return self.run.frame_at(self.name, time)


def shown_values(frame, field):
    """A field's numbers, of vectors and tensors their magnitude; None without the field."""
    import numpy

    if field not in frame.fields:
        return None
    values = frame[field].astype(float)
    return values if values.ndim == 1 else numpy.linalg.norm(values.reshape(len(values), -1), axis=1)


class Scene:
    """A run's series, times, colours, up direction, extent and the range of the field that is shown."""

    def __init__(self, options, frame):
        import weft_read

        output = options.output
        if not list(output.glob("frames/*.hdf.series")):
            fail(f"There are no frames in {output}/frames. Is {output} the output folder of a run?")
        run = weft_read.Run(output)
        unknown = [name for name in (options.only or []) + options.glass if name not in run.names]
        if unknown:
            fail(f"There are no frames of {', '.join(unknown)}. There are those of {', '.join(run.names)}.")
        deck = self.read_deck(output / "resolved.yaml")
        self.title = deck.get("title") or output.resolve().name
        everything = [Series(run, name) for name in run.names]
        self.bodies = [s for s in everything if s.kind != "hexahedron" and not s.is_collider]
        self.colliders = [s for s in everything if s.kind == "triangle" and s.is_collider]
        self.colours = self.choose_colours(deck)
        if options.only:
            self.bodies, self.colliders = ([s for s in group if s.name in options.only]
                                           for group in (self.bodies, self.colliders))
        if not self.bodies:
            fail(f"No body to draw was found in {output}/frames.")
        self.times = self.choose_times(frame)
        self.up, self.right, self.back = self.axes(deck)
        self.study(options.field)
        self.range = options.range or self.range

    def choose_times(self, frame):
        """The times to draw: of all frames, the last, or one by its number."""
        times = sorted({time for body in self.bodies for time in body.run.times(body.name)})
        if frame == "all":
            return times
        number = len(times) - 1 if frame == "last" else int(frame)
        if number >= len(times):
            fail(f"There is no frame {number}; the frames of this run are 0 to {len(times) - 1}.")
        return [times[number]]

    @staticmethod
    def read_deck(file):
        """The resolved deck, if there is one; pictures work without."""
        import yaml

        try:
            return yaml.safe_load(file.read_text()) or {}
        except (OSError, yaml.YAMLError):
            return {}

    def choose_colours(self, deck):
        laws = {name: keys.get("law") for name, keys in (deck.get("materials") or {}).items()}
        law_of = {body.get("name"): laws.get(body.get("material")) for body in deck.get("bodies") or []}
        elastic = itertools.cycle(ELASTIC)
        return {body.name: LAWS.get(law_of.get(body.name)) or next(elastic) for body in self.bodies}

    @staticmethod
    def axes(deck):
        """Up is against gravity, or y without any; back points from the scene to the one who looks from the front."""
        gravity = [float(g) for g in (deck.get("domain") or {}).get("gravity") or [0, 0, 0]]
        axis = max(range(3), key=lambda i: abs(gravity[i])) if any(gravity) else 1
        up, back = [0.0] * 3, [0.0] * 3
        up[axis] = -math.copysign(1, gravity[axis]) if any(gravity) else 1.0
        back[2 if axis != 2 else 1] = 1.0 if axis != 2 else -1.0
        return up, cross(up, back), back

    def study(self, field):
        """Looks at up to a dozen of the times for the outline to show, the spacing of particles and the field's range.

        The outline is a few thousand points: of almost all particles, and of colliders of like size."""
        import numpy

        outline, ranges, fields, fullest = [], [], {}, {}
        self.range = None
        for body in self.bodies:
            times = self.times[:: max(1, len(self.times) // 12)] + self.times[-1:]
            due = {frame.file: frame for frame in map(body.at, times) if frame}
            for frame in due.values():
                fields |= {name: frame.unit(name) for name in frame.fields}
                if len(frame.points) < 2:
                    continue
                low, high = numpy.quantile(frame.points, [0.002, 0.998], axis=0)
                usual = ((frame.points >= low) & (frame.points <= high)).all(axis=1)
                outline.append(frame.points[usual][:: 1 + len(frame.points) // 3000])
                if body.kind == "vertex" and len(frame.points) >= len(fullest.get(body.name, ())):
                    fullest[body.name] = frame.points
                values = shown_values(frame, field)
                if values is not None:
                    ranges.append(numpy.quantile(values, [0.01, 0.99]))
        if not outline:
            fail(f"There are no particles at t = {self.times[-1]:g} s.")
        if field and not ranges:
            fail(f"No body carries the field {field}. The fields of this run: {', '.join(sorted(fields))}.")
        self.outline = numpy.concatenate(outline)
        largest = numpy.ptp(self.outline, axis=0).max()
        for collider in self.colliders:
            for number in 0, -1:
                points = collider.run.frame(collider.name, number).points
                if len(points) and numpy.ptp(points, axis=0).max() < largest:
                    self.outline = numpy.concatenate([self.outline, points])
        self.spacing = {name: spacing(points) for name, points in fullest.items()}
        self.unit = fields.get(field, "")
        if ranges:
            low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
            low = 0 if 0 < low < 0.02 * high else low
            self.range = (low, high) if high > low else (low - 0.5, low + 0.5)


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def spacing(points):
    """Distance between neighbouring points, from how many lie within the distance of the eighth neighbour."""
    from paraview import vtk
    from vtkmodules.util.numpy_support import numpy_to_vtk

    data, held = vtk.vtkPolyData(), vtk.vtkPoints()
    held.SetData(numpy_to_vtk(points))
    data.SetPoints(held)
    locator = vtk.vtkStaticPointLocator()
    locator.SetDataSet(data)
    locator.BuildLocator()
    near, found = vtk.vtkIdList(), []
    count = min(8, len(points) - 1)
    for p in points[:: max(1, len(points) // 500)]:
        locator.FindClosestNPoints(count + 1, p, near)
        found.append(max(math.dist(p, points[near.GetId(k)]) for k in range(near.GetNumberOfIds())))
    return sorted(found)[len(found) // 3] * (4 / 3 * math.pi / max(count, 1)) ** (1 / 3)


class Picture:
    """ParaView's view of a scene; draw(time), then save(file)."""

    def __init__(self, scene, options):
        from paraview import simple

        self.pv, self.scene, self.options = simple, scene, options
        simple._DisableFirstRenderCameraReset()
        self.view = simple.CreateView("RenderView")
        self.view.ViewSize = options.size
        self.view.UseColorPaletteForBackground = 0
        self.view.Background = BACKGROUND
        self.view.OrientationAxesVisibility = 0
        self.place_camera()
        self.shade_corners()
        if options.field:
            self.add_legend()
        self.shown = {series.name: self.add_particles(series) if series.kind == "vertex" else self.add_surface(series)
                      for series in scene.colliders + scene.bodies}
        if options.field:  # ParaView has taken the range of the first frame meanwhile
            self.pv.GetColorTransferFunction(options.field).RescaleTransferFunction(*scene.range)
        self.title = self.add_text(scene.title, "Upper Left Corner", 20)
        self.clock = self.add_text("", "Lower Left Corner", 18)

    def place_camera(self):
        """Looks at the middle of the outline from a distance at which all of it is in sight."""
        import numpy

        scene, view = self.scene, self.view
        right, up, back = (numpy.array(axis) for axis in (scene.right, scene.up, scene.back))
        toward = {"front": back + 0.12 * up, "iso": back + 0.5 * right + 0.45 * up, "side": right + 0.12 * up,
                  "top": up}[self.options.camera]
        toward = toward / numpy.linalg.norm(toward)
        view_up = -back if self.options.camera == "top" else up
        across = numpy.cross(view_up, toward)
        across /= numpy.linalg.norm(across)
        above = numpy.cross(toward, across)
        self.size = numpy.linalg.norm(numpy.ptp(scene.outline, axis=0)) / 2
        view.CameraViewAngle = 25
        rise = math.tan(math.radians(view.CameraViewAngle) / 2)
        whole = rise * self.options.size[0] / self.options.size[1]
        run = whole * (LEFT_OF_LEGEND if self.options.field else 1)
        focus = (scene.outline.min(axis=0) + scene.outline.max(axis=0)) / 2
        for _ in range(10):  # moves the focus until the outline is in the middle of the picture
            x, y, z = ((scene.outline - focus) @ axis for axis in (across, above, toward))
            distance = max((z + abs(x) / run).max(), (z + abs(y) / rise).max())
            seen_x, seen_y = x / (1.001 * distance - z), y / (1.001 * distance - z)
            focus = focus + distance / 2 * (seen_x.min() + seen_x.max()) * across
            focus = focus + distance / 2 * (seen_y.min() + seen_y.max()) * above
        distance *= 1.15
        focus = focus + distance * (whole - run) * across
        view.CameraFocalPoint = list(focus)
        view.CameraPosition = list(focus + distance * toward)
        view.CameraViewUp = list(view_up)
        lamp = 0.55 * toward + 0.75 * above - 0.45 * across
        self.lamp = lamp / numpy.linalg.norm(lamp)

    def shade_corners(self):
        """Ambient occlusion over distances of about a tenth of the scene."""
        self.view.UseAmbientOcclusion = 1
        self.view.UseSSAODefaultPresets = 0
        self.view.Radius = 0.2 * self.size
        self.view.Bias = 0.004 * self.size
        self.view.KernelSize = 96
        self.view.Blur = 1

    def add_surface(self, series):
        reader = self.pv.VTKHDFReader(FileName=[str(series.run.frame(series.name, -1).file)])  # with all fields
        surface = self.pv.ExtractSurface(Input=reader)
        if series.kind == "line":  # threads as thick as can be seen
            surface = self.pv.Tube(Input=surface, Radius=0.003 * self.size, NumberofSides=8, VaryRadius="Off")
        else:
            surface = self.pv.GenerateSurfaceNormals(Input=surface, FeatureAngle=30)
        shown = self.pv.Show(surface, self.view, "GeometryRepresentation")
        shown.SetRepresentationType("Surface")
        shown.Ambient, shown.Diffuse, shown.Specular = 0.45, 0.55, 0.0
        shown.ColorArrayName = [None, ""]
        shown.Opacity = 0.35 if series.name in self.options.glass else 1
        if series.is_collider:
            shown.DiffuseColor = shown.AmbientColor = COLLIDER
            shown.BackfaceRepresentation = "Cull Backface"  # walls between the camera and the material are not seen
            return reader, shown
        shown.DiffuseColor = shown.AmbientColor = self.scene.colours[series.name]
        for place, fields in ("POINTS", reader.PointData), ("CELLS", reader.CellData):
            if self.options.field in fields.keys():
                self.pv.ColorBy(shown, (place, self.options.field))  # vectors by their magnitude
        return reader, shown

    def add_particles(self, series):
        producer = self.pv.TrivialProducer()
        # draw() sets the right frame; this one tells the names of the columns.
        producer.GetClientSideObject().SetOutput(self.dressed(series, series.run.frame(series.name, -1)))
        shown = self.pv.Show(producer, self.view, "GeometryRepresentation")
        shown.SetRepresentationType("Point Gaussian")
        shown.ShaderPreset, shown.CustomShader = "Custom", BALL
        shown.GaussianRadius = 0.62 * self.scene.spacing.get(series.name, 0)
        self.pv.ColorBy(shown, ("POINTS", "colour"))
        shown.MapScalars = 0
        shown.Ambient, shown.Diffuse = 1.0, 0.0
        return producer, shown

    def dressed(self, series, frame):
        """The particles of a frame with their colours, lit as the surface of the heap that they form."""
        import numpy
        from paraview import vtk
        from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray

        values = shown_values(frame, self.options.field)
        count = len(frame.points)
        colour = numpy.tile(self.scene.colours[series.name], (count, 1))
        spacing = self.scene.spacing.get(series.name)
        if values is not None:
            low, high = self.scene.range
            entry = numpy.clip((values - low) / (high - low) * len(self.table), 0, len(self.table) - 1)
            colour = self.table[entry.astype(int)]
        elif "id" in frame.fields:
            # Grains differ a little in shade, so that their motion can be seen.
            scrambled = frame["id"].astype("u8") * 2654435761 % 2**32 / 2**32
            colour = colour * (0.85 + 0.2 * scrambled)[:, None]
        if count > 1 and spacing:
            colour = colour * self.light(frame.points, spacing)[:, None]
        data, held, cells = vtk.vtkPolyData(), vtk.vtkPoints(), vtk.vtkCellArray()
        held.SetData(numpy_to_vtk(frame.points, deep=True))
        rgb = numpy_to_vtk((255 * numpy.clip(colour, 0, 1)).astype("u1"), deep=True)
        rgb.SetName("colour")
        cells.SetData(numpy_to_vtkIdTypeArray(numpy.arange(count + 1), deep=True),
                      numpy_to_vtkIdTypeArray(numpy.arange(count), deep=True))
        data.SetPoints(held)
        data.SetVerts(cells)
        data.GetPointData().AddArray(rgb)
        return data

    def light(self, points, spacing):
        """Brightness of each particle from the direction in which the particles' density falls."""
        import numpy

        lower = points.min(axis=0) - 4 * spacing
        size = max(1.6 * spacing, float((points.max(axis=0) - lower).max()) / 300)
        place = ((points - lower) / size + 0.5).astype(int)
        shape = place.max(axis=0) + 4
        density = numpy.bincount(numpy.ravel_multi_index(place.T, shape), minlength=shape.prod()).reshape(shape) * 1.0
        for axis in (0, 1, 2) * 3:
            density = (numpy.roll(density, 1, axis) + 2 * density + numpy.roll(density, -1, axis)) / 4
        slope = numpy.stack([d[tuple(place.T)] for d in numpy.gradient(density)], -1)
        steep = numpy.linalg.norm(slope, axis=1)
        facing = -(slope @ self.lamp) / (steep + 0.1 * numpy.quantile(steep, 0.9) + 1e-12)
        return 0.74 + 0.3 * facing

    def add_legend(self):
        import numpy

        name, unit = self.options.field.replace("_", " "), self.scene.unit
        colours = self.pv.GetColorTransferFunction(self.options.field)
        colours.ApplyPreset("Viridis (matplotlib)", True)
        colours.RescaleTransferFunction(*self.scene.range)
        function = colours.GetClientSideObject()
        self.table = numpy.zeros((256, 3))
        for row, value in zip(self.table, numpy.linspace(*self.scene.range, 256)):
            function.GetColor(value, row)
        bar = self.pv.GetScalarBar(colours, self.view)
        bar.Title, bar.ComponentTitle = (f"{name} [{unit}]" if unit not in ("", "1") else name), ""
        bar.TitleColor = bar.LabelColor = INK
        bar.TitleFontSize, bar.LabelFontSize = 18, 16
        bar.Orientation, bar.ScalarBarLength = "Vertical", 0.4
        bar.WindowLocation, bar.Position = "Any Location", [0.88, 0.3]
        bar.RangeLabelFormat, bar.LabelFormat, bar.AutomaticLabelFormat = "%.4g", "%.4g", 0
        bar.Visibility = 1

    def add_text(self, text, corner, size):
        source = self.pv.Text(Text=text)
        shown = self.pv.Show(source, self.view, "TextSourceRepresentation")
        shown.WindowLocation, shown.FontSize, shown.Color = corner, size, INK
        return source

    def draw(self, time):
        for series in self.scene.bodies + self.scene.colliders:
            source, shown = self.shown[series.name]
            frame = series.at(time)
            shown.Visibility = int(frame is not None)
            if frame is None:
                continue
            if series.kind == "vertex":
                source.GetClientSideObject().SetOutput(self.dressed(series, frame))
                source.MarkModified(source)
            else:
                source.FileName = [str(frame.file)]
            source.UpdatePipeline()
        self.clock.Text = f"t = {time:.4g} s"

    def save(self, file):
        file.parent.mkdir(parents=True, exist_ok=True)
        self.pv.SaveScreenshot(str(file), self.view, ImageResolution=self.options.size)


def join(folder, movie):
    """Joins folder/000000.png, ... into a movie at 25 pictures per second."""
    if not shutil.which("ffmpeg"):
        print(f"There is no ffmpeg here, so the movie stays a sequence of pictures: {folder}/*.png")
        return
    movie.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["ffmpeg", "-y", "-loglevel", "error", "-framerate", "25", "-i", str(folder / "%06d.png"), "-vf",
                    "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p",
                    "-movflags", "+faststart", str(movie)], check=True)
    print(movie)


def main(arguments):
    options = parse(arguments)
    if INSIDE not in os.environ and not (os.environ.get("DISPLAY") and can_import_paraview()):
        return run_inside_paraview(arguments, options.size)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # pvbatch does not look beside the script
    scene = Scene(options, "all" if options.movie else options.frame)
    picture = Picture(scene, options)
    if options.movie or options.frame == "all":
        folder = options.output / "pictures"
        for old in folder.glob("[0-9]" * 6 + ".png"):
            old.unlink()
        for number, time in enumerate(scene.times):
            picture.draw(time)
            picture.save(folder / f"{number:06d}.png")
        if options.movie:
            join(folder, options.movie)
        else:
            print(f"{folder}/*.png")
    else:
        picture.draw(scene.times[0])
        file = options.out or options.output / "picture.png"
        picture.save(file)
        print(file)
    return 0


def can_import_paraview():
    try:
        import paraview.simple  # noqa: F401
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    try:
        leave(main(sys.argv[1:]))
    except Exception as error:
        fail(f"render.py: {type(error).__name__}: {error}")
