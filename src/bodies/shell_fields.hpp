#pragma once
// What is drawn of the middle surface of a shell.

#include "weft/bodies/shell.hpp"

#include <span>
#include <vector>

namespace weft {

/// Middles of n x n equal squares of a face, row by row.
std::vector<Vec2> middles(int n);

/// MembraneStrain, CurvatureChange and PlasticStrain in the middles of n x n squares of each of some faces of a mesh,
/// face by face, each twice: squares are drawn as two triangles. laminae: of these faces. now: places of the mesh's
/// control points [m].
Table surface_fields(const ControlMesh& mesh, std::span<const std::int64_t> faces, const ShellFaces& laminae,
                     std::span<const Vec3> now, int n);

}  // namespace weft
