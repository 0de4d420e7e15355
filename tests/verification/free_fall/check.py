"""x(t) = x_0 + v_0 t + g t (t + dt) / 2, the sum that symplectic Euler makes; see README.md."""
import numpy

from reading import at_most, near

DT, GRAVITY, VELOCITY = 1e-3, numpy.array([0, -9.81, 0]), numpy.array([1, 2, -0.5])
KERNELS = ["linear", "quadratic", "cubic"]
RUNS = {size: {kernel: ["--set", f"transfer.kernel={kernel}"] for kernel in KERNELS} for size in ("quick", "full")}


def check(runs, size):
    found = []
    for kernel in KERNELS:
        run = runs[kernel]
        t = run["time"][:, None]
        exact = run.vector("centre")[0] + VELOCITY * t + GRAVITY * t * (t + DT) / 2
        error = numpy.abs(run.vector("centre") - exact).max()
        found += [
            near(f"{kernel}: steps of 1 ms to 1 s", run["step"][-1], 1000, 0),
            near(f"{kernel}: largest error of the centre over all rows [m]", error, 0, 1e-12, scale=4.905),
            at_most(f"{kernel}: elastic over kinetic energy",
                    abs(run["elastic_energy"] / run["kinetic_energy"]).max(), 1e-20),
        ]
    return found
