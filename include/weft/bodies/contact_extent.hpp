#pragma once
// How far material reaches from a point: an ellipsoid about it, by the tensor of its squared half axes.

#include "weft/fields/field.hpp"

#include <cmath>

namespace weft {

/// The squared half axes of the ellipsoid that a point at rest fills. Negative in directions whose wall holds the point
/// itself: it stays that deep.
struct ContactExtent : Field<Symmetric3<Real>> {
  static constexpr Label label{"contact_extent", "m^2"};
};

inline Symmetric3<Real> ball_extent(Real radius) {
  return Symmetric3<Real>::of(std::copysign(radius * radius, radius) * Mat3::Identity());
}

/// The ellipsoid as seen along a unit normal.
struct Reach {
  Real distance;  ///< From its middle to its tangent plane, r = sqrt(n . B n) [m]; negative where n . B n is.
  Vec3 to_end;    ///< From its middle to where it touches that plane, -B n / r [m]; zero unless r > 0.
};
inline Reach reach_along(const Mat3& extent, const Vec3& normal) {
  const Vec3 Bn = extent * normal;
  const Real squared = normal.dot(Bn), r = std::copysign(std::sqrt(std::abs(squared)), squared);
  return {r, r > 0 ? Vec3(-Bn / r) : Vec3(Vec3::Zero())};
}

/// The ellipsoid scaled along the direction B n, so that it reaches r [m] along n. Half axes across n stay, and no
/// squared half axis becomes negative unless r is.
inline Mat3 with_reach(const Mat3& extent, const Vec3& normal, Real r) {
  const Vec3 Bn = extent * normal;
  const Real before = normal.dot(Bn), after = std::copysign(r * r, r);
  if (before == 0) return extent + after * normal * normal.transpose();
  return extent + (after - before) / (before * before) * Bn * Bn.transpose();
}

}  // namespace weft
