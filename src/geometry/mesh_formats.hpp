#pragma once
// Readers of one mesh format each, as `read_mesh` says.

#include "weft/geometry/mesh.hpp"

#include <string>
#include <string_view>

namespace weft {

SurfaceMesh read_obj(const std::string& name, std::string_view bytes);
SurfaceMesh read_ply(const std::string& name, std::string_view bytes);
SurfaceMesh read_stl(const std::string& name, std::string_view bytes);

/// Throws Error(geometry) unless the mesh has points and faces.
void require_surface(const std::string& name, const SurfaceMesh& mesh);

}  // namespace weft
