// Uses the installed libraries from top to bottom: says what a deck would be, and measures a mesh.

#include <weft/deck/read.hpp>
#include <weft/geometry/mesh_reader.hpp>
#include <weft/parallel/comm.hpp>
#include <weft/run/loop.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  weft::ParallelSession session(argc, argv);
  const weft::Comm comm = weft::Comm::world();
  const std::string text = weft::check(comm, weft::read_deck(argv[1]));
  const weft::SurfaceMesh mesh =
      weft::read_mesh("tet.obj", "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  if (comm.is_root()) std::printf("%s\nvolume %g\n", text.c_str(), weft::volume_of(mesh));
}
