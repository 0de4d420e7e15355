#include "weft/geometry/mesh_reader.hpp"

#include "geometry/mesh_formats.hpp"
#include "geometry/words.hpp"

namespace weft {

void require_surface(const std::string& name, const SurfaceMesh& mesh) {
  if (mesh.points.empty()) fail(name + ": expected a surface, found no points");
  if (mesh.face_count() == 0) fail(name + ": expected a surface, found no faces");
}

SurfaceMesh read_mesh(const std::string& name, std::string_view bytes) {
  const std::size_t dot = name.find_last_of('.');
  const std::string ending = dot == std::string::npos ? "" : lower_case(std::string_view(name).substr(dot + 1));
  if (ending == "obj") return read_obj(name, bytes);
  if (ending == "ply") return read_ply(name, bytes);
  if (ending == "stl") return read_stl(name, bytes);
  fail(name + ": the name of a mesh file must end in .obj, .ply or .stl");
}

}  // namespace weft
