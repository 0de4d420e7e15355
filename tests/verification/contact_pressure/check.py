"""The contact pressures of two plates carry the load over their distance; see README.md."""
import h5py
import numpy

from reading import near

RUNS = {
    "quick": {"on nodes": [], "between nodes": ["--set", "bodies.below.mesh.translate=[0, 0, 0.01]",
                                                "--set", "bodies.above.mesh.translate=[0, 0, 0.04]"]},
    "full": {
        "stiff": ["--set", "bodies.below.contact.stiffness=8e5", "--set", "bodies.above.contact.stiffness=8e5"],
        "fine": ["--set", "domain.dx=0.01", "--set", "bodies.above.mesh.translate=[0, 0, 0.015]",
                 *(word for body in ("below", "above") for side in ("across", "along")
                   for word in ("--set", f"bodies.{body}.mesh.{side}=12"))]},
}
LOAD, AREA, THICKNESS = 40, 0.12**2, 4e-3


def mean_pressure_and_height(run, body):
    with h5py.File(run.folder / "frames" / f"{body}_000001.hdf") as file:
        points, corners = file["VTKHDF/Points"][:], file["VTKHDF/Connectivity"][:].reshape(-1, 3)
        pressure = file["VTKHDF/CellData/contact_pressure"][:]
    a, b, c = (points[corners[:, k]] for k in range(3))
    area = numpy.linalg.norm(numpy.cross(b - a, c - a), axis=1) / 2
    return numpy.average(pressure, weights=area), numpy.average((a + b + c)[:, 2] / 3, weights=area)


def check(runs, size):
    found = []
    for name, run in runs.items():
        (p1, z1), (p2, z2) = (mean_pressure_and_height(run, body) for body in ("below", "above"))
        found += [near(f"{name}: force on the held plate [N]", abs(run["force_still_z"][-1]), LOAD * AREA, 0.01),
                  near(f"{name}: t (p1 + p2) / d [Pa]", THICKNESS * (p1 + p2) / (z2 - z1), LOAD, 0.04)]
    return found
