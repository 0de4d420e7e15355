#pragma once
// What a closed surface of triangles encloses.

#include "weft/base/types.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace weft {

/// A polyhedron: triangles counter-clockwise as seen from outside, each edge between two of them.
struct Moments {
  Real volume;         ///< [m^3].
  Vec3 centre;         ///< Of the volume [m].
  Mat3 second_moment;  ///< About the centre, the integral of r r^T [m^5].
};
/// Exact but for round-off: sums over the tetrahedra between the triangles and a point, of volume V and edges a, b, c
/// from it, whose integral of x x^T is V / 20 (a a^T + b b^T + c c^T + s s^T), s = a + b + c.
Moments moments_of(std::span<const Vec3> points, std::span<const std::array<std::int32_t, 3>> triangles);

}  // namespace weft
