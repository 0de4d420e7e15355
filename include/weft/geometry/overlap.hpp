#pragma once
// Closed surfaces that reach into one another.

#include "weft/geometry/mesh.hpp"

#include <optional>

namespace weft {

struct Overlap {
  Real depth;  ///< [m].
  Vec3 where;  ///< [m].
};

/// Of the points of two closed surfaces, those that faces do not use among them, and of the middles of their triangles
/// (triangles_of) the one that is deepest in the other; none: no such point is inside.
std::optional<Overlap> overlap_of(const SurfaceMesh& a, const SurfaceMesh& b);

}  // namespace weft
