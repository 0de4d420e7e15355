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

/// A point around which a closed surface winds twice or more, of a lattice of 20 along each axis of its bounds: parts
/// of it overlap there, or lie in one another with faces that all point outwards. None: there is no such point.
std::optional<Vec3> wound_twice(const SurfaceMesh& surface);

/// Of a lattice of points in a closed surface, 20 along each axis of its bounds, one around which it winds twice or
/// more: there parts of it overlap, or lie in one another with faces that all point outwards. None: there is none.
std::optional<Vec3> wound_twice(const SurfaceMesh& surface);

}  // namespace weft
