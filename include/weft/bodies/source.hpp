#pragma once
// Sources: a shape that is kept full of moving material while it is open.

#include "weft/base/types.hpp"
#include "weft/geometry/shape.hpp"

#include <memory>
#include <vector>

namespace weft {

/// Points on a lattice that moves with the material; those that came into the shape since the last look are emitted,
/// each once, and it does not matter how often one looks.
/// Every rank finds the same points in the same order, so ids need no talk.
class Source {
 public:
  struct Settings {
    Vec3 velocity;         ///< Of the material [m/s].
    Real from;             ///< When it opens [s].
    Real spacing;          ///< Of the lattice [m].
    std::uint32_t seed;    ///< Of the jitter.
    std::uint32_t stream;  ///< Number of the source.
  };

  /// The shape must be bounded.
  Source(std::shared_ptr<const Shape> shape, const Settings& settings)
      : shape_(std::move(shape)), settings_(settings) {}

  /// Positions at time `now` of what was in the shape first at a time in (before, now], the source being open; with
  /// `before` earlier than its opening that includes all that was in the shape then.
  std::vector<Vec3> emit(Real before, Real now) const;

  Box bounds() const { return *shape_->bounds(); }
  const Vec3& velocity() const { return settings_.velocity; }
  Real spacing() const { return settings_.spacing; }
  /// Rest volume of an emitted point [m^3].
  Real volume() const { return settings_.spacing * settings_.spacing * settings_.spacing; }

 private:
  std::shared_ptr<const Shape> shape_;
  Settings settings_;
};

}  // namespace weft
