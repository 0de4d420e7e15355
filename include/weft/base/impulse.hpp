#pragma once
// What a collider or a handle gives to bodies.

#include "weft/base/types.hpp"

namespace weft {

/// Impulse, angular impulse and work.
struct Impulse {
  Vec3 linear = Vec3::Zero();   ///< [kg m/s].
  Vec3 angular = Vec3::Zero();  ///< About the centre of a handle that prescribes, else the origin [kg m^2/s].
  Real work = 0;                ///< [J].

  Impulse& operator+=(const Impulse& more) {
    linear += more.linear;
    angular += more.angular;
    work += more.work;
    return *this;
  }
  /// Adds the impulse j [kg m/s] at the arm r [m] on what moves with v [m/s].
  void add(const Vec3& j, const Vec3& r, const Vec3& v) {
    linear += j;
    angular += r.cross(j);
    work += j.dot(v);
  }
};

}  // namespace weft
