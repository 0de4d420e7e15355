#pragma once
// Outer edges of walls as thin bodies meet them: rounded, by the opening of the solid with a ball of radius R,
//
//     phi_R(x) = min |x - y| - R   over all y with phi(y) <= -R                                                 (6.10)
//
// where phi is the distance to the solid. Faces stay where they are, as do round parts of radius R and more.
// [docs/theory/colliders.md, 6]

#include "weft/geometry/shape.hpp"

#include <functional>

namespace weft {

/// How far edges are rounded, and the solid that has them.
struct RoundedEdges {
  Real radius;   ///< R at most [m].
  Real deepest;  ///< An edge between two faces recedes by no more than this, which limits R [m].
  /// The faces of the solid, turned outward, that a point in it is less deep under than this [m].
  std::function<Faces(const Vec3&, Real)> faces_over;
};

/// The rounded surface near x; face: what is nearest to x of the sharp one, or a smooth part of it. R is at most half
/// of a plate's thickness.
Surface rounded(const Vec3& x, const Surface& face, const RoundedEdges& edges);

}  // namespace weft
