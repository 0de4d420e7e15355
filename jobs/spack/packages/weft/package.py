# Spack recipe. From the root of a clone of Weft:
#   spack repo add jobs/spack
#   spack dev-build weft@main
# Of PETSc's many optional solvers Weft calls MUMPS alone, for static analyses.
from spack.package import *


class Weft(CMakePackage):
    """A distributed-memory solver for threads, sheets, shells, solids, grains and liquids in contact."""

    maintainers = []
    license("Apache-2.0")

    version("main")  # the tree that `spack dev-build` is called in

    variant("native", default=False, description="Compile for this machine's instruction set")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3.1:")
    depends_on("petsc@3.18:3.22 +mumps~hypre~superlu-dist~metis~hdf5")
    depends_on("hdf5@1.10.8:1.14 +mpi")
    depends_on("eigen@3.4")
    depends_on("openvdb@10:11")
    depends_on("opensubdiv@3.4:")
    depends_on("intel-tbb")
    depends_on("imath")
    depends_on("yaml-cpp@0.7:")
    depends_on("cli11@2.1:")
    depends_on("fmt@9:10")
    depends_on("nlohmann-json@3.11:")
    depends_on("xxhash@0.8:")

    generator("ninja")
    conflicts("%gcc@:11", msg="Weft is written in C++20 and needs GCC 12 or later")

    def cmake_args(self):
        return [
            self.define("WEFT_TESTS", False),
            self.define("WEFT_WARNINGS_AS_ERRORS", False),
            self.define("WEFT_ARCH", "native" if self.spec.satisfies("+native") else ""),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def selftest(self):
        Executable(self.prefix.bin.weft)("selftest")
