// Fuzz target of the reader of tetrahedra: any bytes are refused with Error(geometry), or are a mesh of finite points
// and valid nodes, which the checks of such meshes survive.

#include "weft/base/error.hpp"
#include "weft/geometry/tet_mesh.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace weft;

namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string name = "fuzzed.msh";
  TetMesh mesh;
  try {
    mesh = read_msh(name, std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const Error& error) {
    demand(error.code() == ExitCode::geometry && std::string(error.what()).starts_with(name + ":"));
    return 0;
  }
  demand(mesh.count() > 0 && (mesh.nodes_each == 4 || mesh.nodes_each == 10));
  for (const Vec3& x : mesh.points) demand(x.allFinite());
  for (const std::int32_t p : mesh.nodes) demand(p >= 0 && static_cast<std::size_t>(p) < mesh.points.size());
  for (const auto& [group, members] : mesh.groups) {
    for (const std::int32_t p : members.points) demand(p >= 0 && static_cast<std::size_t>(p) < mesh.points.size());
    for (const std::int64_t f : members.faces) demand(f >= 0 && f < 5 * mesh.count());
  }
  demand(surface_numbers(mesh, outer_faces(mesh)).size() == mesh.points.size());
  try {
    require_sound(mesh, name);
    require_sound(with_middles(mesh), name);
  } catch (const Error& error) {
    demand(error.code() == ExitCode::geometry);
  }
  return 0;
}
