"""An open cylinder that is pulled out follows the published curve; see README.md."""
import numpy

from reading import near

FINE = ["--set", "bodies.tube.mesh.across=24", "--set", "bodies.tube.mesh.along=16"]
RUNS = {"quick": {"tube": ["--until", "0.25"]}, "full": {"tube": FINE}}
# Share of the load: A (under it), B and C (on the side, in the middle and at the end) [Sze, Liu, Lo 2004, 3.5].
CURVE = {0.1: (1.707, 2.217, 2.293), 0.25: (2.180, 3.087, 3.310), 0.4: (2.376, 3.443, 3.632), 0.6: (2.618, 4.274, 3.452),
         1.0: (2.768, 4.551, 3.269)}


def check(runs, size):
    run = runs["tube"]
    found = []
    for load, places in CURVE.items():
        if load > run["time"][-1] * (1 + 1e-9):
            break
        row = int(numpy.argmin(abs(run["time"] - load)))
        values = (run["displacement_pull_z"][row], -run["B"][row], -run["C"][row])
        for name, value, reference, tolerance in zip("ABC", values, places, (0.03, 0.015, 0.015)):
            found.append(near(f"{load:g} of the load: displacement of {name}", value, reference, tolerance))
    return found
