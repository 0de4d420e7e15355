#pragma once
// What is drawn of the middle surface of a shell.

#include "weft/bodies/shell.hpp"

#include <span>

namespace weft {

/// MembraneStrain, CurvatureChange and PlasticStrain in the middles of each of some faces of a mesh that are drawn with
/// this n, face by face, for each cell. laminae: of these faces. now: positions of the mesh's control points [m].
Table surface_fields(const ControlMesh& mesh, std::span<const std::int64_t> faces, const ShellFaces& laminae,
                     std::span<const Vec3> now, int n);

}  // namespace weft
