#pragma once
// Points of the outer row that move with others, as it is made.

#include "weft/geometry/control_mesh.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft {

/// Points and what they follow.
using LedPoints = std::vector<std::pair<std::int32_t, LedPoint>>;

/// A free outer point, and what it is the image of.
struct Leader {
  std::int32_t point;
  LedPoint image;
};

/// The image of a point i beyond b.
inline LedPoint opposite(std::int32_t b, std::int32_t i) { return {{b, i}, {2, -1}, 2}; }

/// An image that moves beside those of its leaders, by the mean of how they do; without any it stays the image.
inline LedPoint led(LedPoint image, std::span<const Leader> leaders) {
  for (const auto& [point, its] : leaders) {
    const Real share = 1 / static_cast<Real>(leaders.size());
    image.add(point, share);
    for (std::int32_t k = 0; k < its.count; ++k) image.add(its.points[k], -share * its.weights[k]);
  }
  return image;
}

}  // namespace weft
