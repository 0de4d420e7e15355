#pragma once
// Rigid motions of a deck: of colliders, handles and rigid bodies.

#include "weft/base/types.hpp"
#include "weft/deck/shapes.hpp"

#include <optional>
#include <vector>

namespace weft {

struct KeyframeDeck {
  Real time;                           ///< [s].
  Vec3 translate;                      ///< [m].
  std::optional<RotationDeck> rotate;  ///< About the motion's center.
};

/// Rigid motion: constant velocity and spin, or keyframes (interpolated, constant outside); never both.
struct MotionDeck {
  Vec3 velocity;  ///< [m/s].
  Vec3 spin;      ///< [rad/s].
  Vec3 center;    ///< Point that the rotations turn about, at time 0 [m].
  std::vector<KeyframeDeck> keyframes;
};

}  // namespace weft
