#pragma once
// Solid shapes by signed distance: primitives, closed meshes as level sets, and their rigid placement.

#include "weft/base/types.hpp"

#include <memory>
#include <optional>

namespace weft {

/// Axis-aligned box; empty (lower > upper) until something is included.
struct Box {
  Vec3 lower = Vec3::Constant(std::numeric_limits<Real>::infinity());
  Vec3 upper = Vec3::Constant(-std::numeric_limits<Real>::infinity());
  void include(const Vec3& x) {
    lower = lower.cwiseMin(x);
    upper = upper.cwiseMax(x);
  }
  bool contains(const Vec3& x) const {
    return (x.array() >= lower.array()).all() && (x.array() <= upper.array()).all();
  }
};

/// Distance and outward direction at a point.
struct Surface {
  Real distance;  ///< [m], negative inside the solid.
  Vec3 normal;    ///< Unit; the gradient of the distance where that exists.
};

/// A solid region of space.
class Shape {
 public:
  virtual ~Shape() = default;
  virtual Surface surface(const Vec3& x) const = 0;
  virtual bool contains(const Vec3& x) const { return surface(x).distance <= 0; }
  /// Bounding box; unbounded shapes (planes, complements) give none.
  virtual std::optional<Box> bounds() const = 0;
};

}  // namespace weft
