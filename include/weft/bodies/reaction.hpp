#pragma once
// What a held sum gives to its body: the one place where multipliers of conditions become forces, torques or impulses.

#include "weft/bodies/handle.hpp"

namespace weft {

/// Of a force [N] or an impulse [N s] along the axis of a sum, which now has the value `now` [m], about a point [m].
inline Reaction reaction_of(const HeldAim& aim, const Vec3& along, const Vec3& now, const Vec3& about) {
  return {aim.total * along, (now - aim.total * about).cross(along)};
}

}  // namespace weft
