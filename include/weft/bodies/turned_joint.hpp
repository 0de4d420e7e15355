#pragma once
// Joints of rods as turns of their segments see them, vertices as they are. [docs/theory/strands.md, 15.11]

#include "weft/bodies/rod_joint.hpp"

#include <cmath>
#include <cstdint>

namespace weft {

/// The energy of a joint by further turns of its segments. Its directors are one another carried along. So curvatures
/// turn by the mean phi of both turns, and the twist grows by their difference delta:
///   E = (B1 (c1 - n1)^2 + B2 (c2 - n2)^2 + C (m + delta)^2) / 2
///   c1 = k1 cos(phi) + k2 sin(phi),   c2 = k2 cos(phi) - k1 sin(phi)
/// Here k, n and m are limited as in sharp turns.
template <class T>
struct TurnedJointOf {
  T bend1, bend2, twist;  ///< B1, B2 and C [N m].
  T k1, k2;               ///< Curvatures [1].
  T natural1, natural2;   ///< Without moment [1].
  T strain;               ///< Twist less the natural one [rad].

  static TurnedJointOf of(const JointShape<T>& s, const JointStiffnessOf<T>& stiffness) {
    const T r = s.limited(), share = s.natural_share();
    return {stiffness.bend1,
            stiffness.bend2,
            T(stiffness.twist * r * r),
            T(r * s.k1),
            T(r * s.k2),
            T(share * stiffness.natural1),
            T(share * stiffness.natural2),
            T(s.twist - stiffness.natural_twist)};
  }
};
using TurnedJoint = TurnedJointOf<Real>;

template <class P>
TurnedJoint lane_of(const TurnedJointOf<P>& joint, int lane) {
  return {joint.bend1[lane], joint.bend2[lane],    joint.twist[lane],    joint.k1[lane],
          joint.k2[lane],    joint.natural1[lane], joint.natural2[lane], joint.strain[lane]};
}

/// Derivatives of the energy of a turned joint by phi and delta; no mixed one.
struct TurnedSlopes {
  Real by_mean, by_difference;    ///< [N m]
  Real by_mean2, by_difference2;  ///< [N m]

  TurnedSlopes(const TurnedJoint& joint, Real mean, Real difference) {
    const Real c = std::cos(mean), s = std::sin(mean);
    const Real c1 = joint.k1 * c + joint.k2 * s, c2 = joint.k2 * c - joint.k1 * s;
    const Real strain1 = c1 - joint.natural1, strain2 = c2 - joint.natural2;
    by_mean = joint.bend1 * strain1 * c2 - joint.bend2 * strain2 * c1;
    by_mean2 = joint.bend1 * (c2 * c2 - strain1 * c1) + joint.bend2 * (c1 * c1 - strain2 * c2);
    by_difference = joint.twist * (joint.strain + difference);
    by_difference2 = joint.twist;
  }
};

/// A turned joint of two segments; -1 in place of a clamp.
struct TurnLink {
  std::int32_t e, f;
  TurnedJoint joint;

  /// The same with segments counted from this one.
  TurnLink from(std::size_t first) const {
    const auto less = static_cast<std::int32_t>(first);
    return {e < 0 ? e : e - less, f < 0 ? f : f - less, joint};
  }
};

}  // namespace weft
