#pragma once
// The normal along which material and an outer edge of a wall are apart. Of the normals n of the wall at its point e
//
//     g(n) = n . (x - e) - sqrt(n . B n)                                                                         (6.1a)
//
// is largest for one. As g is stationary there, n . dx_c alone changes it while the material moves and deforms: no work
// is done that the force does not do. [docs/theory/colliders.md, 6]

#include "weft/geometry/shape.hpp"

#include <functional>

namespace weft {

/// What there is of walls around a point of one.
struct WallAround {
  Real near;                                     ///< Where it is looked at, from the point [m].
  std::function<Surface(const Vec3&)> surface;   ///< Of the wall.
  std::function<Real(const Vec3&)> distance_to;  ///< To the nearest of all walls [m].
};

/// The wall near x as the ellipsoid of squared half axes `extent` [m^2] about `middle` meets it: the normal that
/// separates the two best, and how far x is along it. That is `face`, the nearest to x, unless an outer edge or corner
/// is met.
Surface separated(const WallAround& wall, const Vec3& x, const Surface& face, const Vec3& middle, const Mat3& extent);

}  // namespace weft
