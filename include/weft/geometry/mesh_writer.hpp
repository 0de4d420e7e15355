#pragma once
// Meshes as the contents of files that other programs read.

#include "weft/geometry/mesh.hpp"

#include <span>
#include <string>

namespace weft {

/// Wavefront OBJ, text with the digits of single precision; faces in the order of the mesh, with texture coordinates
/// and groups if it has them.
std::string obj_text(const SurfaceMesh& mesh);

/// Stanford PLY, binary little-endian in single precision, with texture coordinates (`texcoord` of faces) and groups
/// (`group` of faces, named in comments) if the mesh has them, and velocities [m/s] of the points unless there are
/// none.
std::string ply_bytes(const SurfaceMesh& mesh, std::span<const Vec3> velocities);

}  // namespace weft
