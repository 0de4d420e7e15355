#pragma once
// Strict readers of polygon meshes: OBJ, PLY (text, binary of either byte order) and STL (text, binary).

#include "weft/geometry/mesh.hpp"

#include <string>
#include <string_view>

namespace weft {

/// Reads a mesh from the contents of a file; the ending of `name` tells the format, and `name` stands in messages.
/// Every number is read to its last character and is finite, every index names a point that exists, nothing is left
/// over; anything else throws Error(geometry) with line and column (or byte). Polygons stay polygons.
/// Corners of STL triangles with equal coordinates become one point. Topology is not looked at: see `require_closed`.
SurfaceMesh read_mesh(const std::string& name, std::string_view bytes);

}  // namespace weft
