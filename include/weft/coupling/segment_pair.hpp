#pragma once
// Two segments: where they are nearest, and when they cross. [docs/theory/strands.md, 15.8]

#include "weft/base/types.hpp"

#include <array>
#include <optional>

namespace weft {

/// A vector at each end of a segment: its position, or how it moves.
using EndVectors = std::array<Vec3, 2>;

/// The point at a share of the way from the first end to the second.
inline Vec3 at_share(const EndVectors& ends, Real share) { return (1 - share) * ends[0] + share * ends[1]; }

/// Where two segments are nearest.
struct ClosestPoints {
  std::array<Real, 2> share;  ///< Along each [1].
  Vec3 between;               ///< From that of the second to that of the first [m].
};
/// Of parallel segments an end of one and the point of the other that is nearest to it. Segments may be points.
ClosestPoints closest_points(const EndVectors& first, const EndVectors& second);

/// Where two segments cross as they move.
struct Crossing {
  std::array<Real, 2> share;
  Vec3 normal;  ///< Across both, towards the side where the first one comes from; unit.
};
/// The first crossing while the ends go by u and w [m]; none of those that begin touching, or stay in a plane. The
/// times are roots of the cubic [(x21 + t u21) x (x31 + t u31)] . (x41 + t u41) [Bridson et al. 2002].
std::optional<Crossing> first_crossing(const EndVectors& first, const EndVectors& u, const EndVectors& second,
                                       const EndVectors& w);

}  // namespace weft
