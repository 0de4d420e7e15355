"""Settings of scenes that are turned about z and moved: vectors as text, slopes; shared by the cases of colliders."""
import math

G = 9.81  # [m/s^2]


def vector(*components):
    return "[" + ", ".join(repr(float(c)) for c in components) + "]"


def settings(values):
    """Arguments of weft run for keys and values."""
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


def turned(x, y, degrees):
    """(x, y) turned about z."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return c * x - s * y, s * x + c * y


def turn(degrees):
    """A rotation of a shape or mesh about z."""
    return f"{{axis: [0, 0, 1], angle: {degrees!r}}}"


def slope_gravity(angle, degrees=0):
    """Gravity on a slope of this angle [radians] drawn along x, downhill being +x, then turned by degrees about z."""
    return vector(*turned(G * math.sin(angle), -G * math.cos(angle), degrees), 0)


def along(run, name, degrees=0):
    """The component of a vector of the diagnostics along the x axis turned by degrees about z, row by row."""
    x, y = turned(1, 0, degrees)
    return x * run[f"{name}_x"] + y * run[f"{name}_y"]


def across(run, name, degrees=0):
    """The component along the y axis turned by degrees about z."""
    return along(run, name, degrees + 90)
