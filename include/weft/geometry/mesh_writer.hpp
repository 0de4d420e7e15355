#pragma once
// Meshes as the contents of files that other programs read.

#include "weft/geometry/mesh.hpp"

#include <string>

namespace weft {

/// Wavefront OBJ, text with the digits of single precision.
std::string obj_text(const SurfaceMesh& mesh);

/// Stanford PLY, binary little-endian in single precision.
std::string ply_bytes(const SurfaceMesh& mesh);

}  // namespace weft
