// Fuzz target of one mesh reader (WEFT_MESH_NAME tells the format): any bytes are refused with Error(geometry), or are
// a mesh of finite points and valid indices, which the checks and measures of meshes survive.

#include "weft/base/error.hpp"
#include "weft/geometry/mesh_reader.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string name = WEFT_MESH_NAME;
  SurfaceMesh mesh;
  try {
    mesh = read_mesh(name, std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const Error& error) {
    if (error.code() != ExitCode::geometry || !std::string(error.what()).starts_with(name + ":")) std::abort();
    return 0;
  }
  const MeshReport report = check(mesh);
  if (report.non_finite_points.count + report.bad_indices.count > 0) std::abort();
  for (const auto& triangle : triangles_of(mesh))
    for (const std::int32_t corner : triangle)
      if (corner < 0 || static_cast<std::size_t>(corner) >= mesh.points.size()) std::abort();
  try {
    require_closed(mesh, name);
  } catch (const Error& error) {
    if (error.code() != ExitCode::geometry) std::abort();
  }
  return 0;
}
