"""Shells in large displacements follow published curves; see README.md."""
import numpy

from reading import near

DECKS = {"hemisphere": "hemisphere.yaml", "semi_cylinder": "semi_cylinder.yaml", "pinched": "pinched_cylinder.yaml"}
RUNS = {"quick": {"roof": []}, "full": {"roof": [], "hemisphere": [], "semi_cylinder": [], "pinched": []}}
# Share of the load: displacements [Sze, Liu, Lo 2004].
HEMISPHERE = {0.2: (2.321, 3.261), 0.5: (3.406, 5.902), 1.0: (4.067, 8.178)}
SEMI_CYLINDER = {0.1: 16.100, 0.2: 37.582, 0.3: 66.410, 0.4: 113.704, 0.6: 144.185, 1.0: 171.505}
PINCHED = {0.1: 23.164, 0.4: 70.424, 0.8: 80.218, 1.0: 83.102}


def value_at(x, y, at):
    """y where a rising x first reaches a value, by a cubic through four states around it."""
    after = int(numpy.argmax(x >= at * (1 - 1e-12)))
    first = min(max(after - 2, 0), len(x) - 4)
    return float(numpy.polyval(numpy.polyfit(x[first:first + 4], y[first:first + 4], 3), at))


def extreme(x, y, around):
    """Largest or smallest y near a row, by a parabola through three states: x and y there."""
    rows = slice(around - 1, around + 2)
    a, b, c = numpy.polyfit(x[rows], y[rows], 2)
    return -b / (2 * a), c - b * b / (4 * a)


def roof(run):
    load, sinks = run["time"], -run["displacement_push_z"]
    length = numpy.arange(len(load))
    turn = int(numpy.argmin(load))
    top, back = int(numpy.argmax(load[:turn])), int(numpy.argmax(sinks[:turn]))
    forth = back + int(numpy.argmin(sinks[back:turn + 2]))
    return [near("hinged roof: largest load before it snaps", extreme(length, load, top)[1], 0.1957, 0.02),
            near("hinged roof: where it turns back", extreme(length, sinks, back)[1], 17.01, 0.02),
            near("hinged roof: where it turns forth", extreme(length, sinks, forth)[1], 14.45, 0.02),
            near("hinged roof: lowest load", extreme(length, load, turn)[1], -0.1289, 0.02),
            near("hinged roof: load at 26.565", value_at(sinks[turn:], load[turn:], 26.565), 0.0626, 0.05)]


def check(runs, size):
    found = roof(runs["roof"])
    if size == "quick":
        return found
    for share, (out, inward) in HEMISPHERE.items():
        row = int(numpy.argmin(abs(runs["hemisphere"]["time"] - share)))
        for name, value, reference in (("draw_x", runs["hemisphere"]["displacement_draw_x"][row], out),
                                       ("push_y", -runs["hemisphere"]["displacement_push_y"][row], inward)):
            found.append(near(f"hemisphere, {share:g} of the load: {name}", value, reference, 0.01))
    for share, sinks in SEMI_CYLINDER.items():
        value = -value_at(runs["semi_cylinder"]["time"], runs["semi_cylinder"]["displacement_push_z"], share)
        found.append(near(f"semi-cylinder, {share:g} of the load: under it", value, sinks, 0.015))
    for share, sinks in PINCHED.items():
        value = -value_at(runs["pinched"]["time"], runs["pinched"]["displacement_push_z"], share)
        found.append(near(f"pinched cylinder, {share:g} of the load: under it", value, sinks, 0.02))
    return found
