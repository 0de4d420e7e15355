#pragma once
// What is drawn of the middle surface of a shell.

#include "weft/bodies/shell.hpp"

#include <array>
#include <span>
#include <vector>

namespace weft {

/// How a face is drawn: n x n equal squares, each of two triangles, or n x n equal triangles; row by row.
struct DrawnFace {
  std::vector<Vec2> points;
  std::vector<std::array<int, 3>> cells;
  std::vector<Vec2> middles;  ///< Of the squares or triangles.
  DrawnFace(int sides, int n);
  /// Cells of each middle.
  int cells_each() const { return static_cast<int>(cells.size() / middles.size()); }
};

/// MembraneStrain, CurvatureChange and PlasticStrain in the middles of each of some faces of a mesh that are drawn with
/// this n, face by face, for each cell. laminae: of these faces. now: places of the mesh's control points [m].
Table surface_fields(const ControlMesh& mesh, std::span<const std::int64_t> faces, const ShellFaces& laminae,
                     std::span<const Vec3> now, int n);

}  // namespace weft
