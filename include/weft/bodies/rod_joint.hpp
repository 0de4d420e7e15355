#pragma once
// The joint of two segments of a discrete elastic rod: its curvatures and twist, with their derivatives.
// [Bergou et al. 2008, 2010; docs/theory/strands.md]

#include "weft/base/types.hpp"
#include "weft/math/dual.hpp"
#include "weft/math/scalar.hpp"

#include <cmath>

namespace weft {

/// What a rod resists, by length at rest.
struct RodSection {
  Real stretch;          ///< EA [N].
  Real bend1, bend2;     ///< B1, for bending towards the first half axis, and B2 [N m^2].
  Real twist;            ///< GJ [N m^2].
  Real gyration;         ///< Polar radius of gyration [m].
  Real mass_per_length;  ///< [kg/m].

  /// An ellipse with these half axes [m] of a material with these moduli [Pa] and density [kg/m^3].
  static RodSection ellipse(Real a, Real b, Real stretch_modulus, Real youngs_modulus, Real shear_modulus,
                            Real density);
  /// Of the same shape and another size.
  RodSection scaled(Real by) const;
};

/// Where a segment was when its turn was zero.
template <class T>
struct RodFrameOf {
  Vector3<T> tangent;   ///< Unit.
  Vector3<T> director;  ///< Of the first half axis, unit and across the tangent.
};
using RodFrame = RodFrameOf<Real>;

/// u carried from one unit tangent to another by the least rotation that takes one to the other.
template <class T>
Vector3<T> transported(const Vector3<T>& u, const Vector3<T>& from, const Vector3<T>& to) {
  const Vector3<T> b = from.cross(to);
  return from.dot(to) * u + b.cross(u) + b * (b.dot(u) / (T(1) + from.dot(to)));
}

/// u turned about a unit axis that it is across [rad].
template <class T>
Vector3<T> turned(const Vector3<T>& u, const Vector3<T>& axis, const T& angle) {
  using std::sin;
  const T half = sin(T(0.5) * angle);
  return (T(1) - T(2) * half * half) * u + T(sin(angle)) * axis.cross(u);
}

/// The angle from u to v, both across a unit axis, about it; within half a turn.
template <class T>
T angle_between(const Vector3<T>& u, const Vector3<T>& v, const Vector3<T>& axis) {
  using std::atan2;
  return atan2(u.cross(v).dot(axis), u.dot(v));
}

/// Two segments that meet, where they were when their turns were zero.
struct RodJoint {
  RodFrame e, f;  ///< The first segment, and the second one.
  Real twist;     ///< Angle from the director of the first, carried to the second, to that of the second; of any size
                  ///< [rad].
};

/// A segment where it is now.
template <class T>
struct SegmentShape {
  Vector3<T> t;   ///< Unit tangent.
  T length;       ///< [m].
  Vector3<T> u;   ///< The director that was carried here,
  Vector3<T> m1;  ///< and turned.

  SegmentShape() = default;
  SegmentShape(const RodFrameOf<Plain<T>>& from, const Vector3<T>& edge, const T& turn);
};

/// Directors of a joint with edges e, f and turns of its segments [rad], and what follows from them. Both are turned by
/// half of the twist, towards one another: so one is the other, carried along, and |kb|^2 = k1^2 + k2^2.
///   kb = 2 te x tf / (1 + te.tf),   k1 = (m2e + m2f).kb / 2,   k2 = -(m1e + m1f).kb / 2
/// Beyond a turn of 150 degrees |kb| is replaced by k0 (2 - k0 / |kb|), which stays below twice its value k0 there, so
/// that the energy is finite however far a joint folds.
template <class T>
struct JointShape {
  Vector3<T> te, tf;              ///< Unit tangents.
  T length_e, length_f;           ///< [m].
  T chi;                          ///< 1 + te.tf.
  Vector3<T> kb;                  ///< Curvature binormal.
  Vector3<T> m1e, m2e, m1f, m2f;  ///< Directors at the joint.
  T k1, k2;                       ///< Integrated curvatures [1], before large turns are limited.
  T twist;                        ///< [rad].

  /// turned_more: the angle by which the second segment has turned more than the first since its twist was this one.
  JointShape(const SegmentShape<T>& e, const SegmentShape<T>& f, const Plain<T>& twist_before, const T& turned_more);
  JointShape(const RodJoint& from, const Vector3<T>& e, const Vector3<T>& f, const T& turn_e, const T& turn_f)
      : JointShape({from.e, e, turn_e}, {from.f, f, turn_f}, from.twist, turn_f - turn_e) {}

  /// Factor of the curvatures.
  T limited() const;
  /// Factor of the natural ones: of a fold, whose curvatures change their side at once, they count nothing.
  T natural_share() const;
};

/// |kb| at a turn of 150 degrees.
inline constexpr Real largest_exact_curvature = 7.464101615137754;
/// Joints whose 1 + te.tf is less are folded.
inline constexpr Real least_chi = 1e-12;

template <class T>
SegmentShape<T>::SegmentShape(const RodFrameOf<Plain<T>>& from, const Vector3<T>& edge, const T& turn) {
  using std::sqrt;
  const auto as_T = [](const auto& v) { return Vector3<T>(v.template cast<T>()); };
  length = sqrt(edge.dot(edge));
  t = edge / length;
  u = transported(as_T(from.director), as_T(from.tangent), t);
  m1 = turned(u, t, turn);
}

template <class T>
JointShape<T>::JointShape(const SegmentShape<T>& e, const SegmentShape<T>& f, const Plain<T>& twist_before,
                          const T& turned_more)
    : te(e.t), tf(f.t), length_e(e.length), length_f(f.length) {
  using std::sqrt;
  const T cosine = T(1) + te.dot(tf);
  const auto is_folded = !(cosine > T(least_chi));
  chi = select(is_folded, T(least_chi), cosine);
  kb = te.cross(tf) * (T(2) / chi);
  const Vector3<T> carried = turned(transported(e.u, te, tf), tf, T(twist_before));
  twist = T(twist_before) + turned_more + select(is_folded, T(0), angle_between(carried, f.u, tf));
  m1e = turned(e.m1, te, T(T(0.5) * twist));
  m1f = turned(f.m1, tf, T(T(-0.5) * twist));
  m2e = te.cross(m1e);
  m2f = tf.cross(m1f);
  if (any(is_folded)) {  // by 180 degrees, about the axis that takes one frame to the other
    const Vector3<T> m1 = m1e + m1f, m2 = m2e + m2f, axis = select(m1.dot(m1) > m2.dot(m2), m1, m2);
    const T size = T(2) * sqrt((T(2) - chi) / chi) / T(sqrt(axis.dot(axis)));
    kb = select(is_folded, Vector3<T>(axis * size), kb);
  }
  k1 = T(0.5) * (m2e + m2f).dot(kb);
  k2 = T(-0.5) * (m1e + m1f).dot(kb);
}

template <class T>
T JointShape<T>::limited() const {
  using std::sqrt;
  const T k0 = T(largest_exact_curvature), square = T(8) / chi - T(4);  // of |kb|; below zero by round-off
  const auto is_far = square > k0 * k0;
  if (!any(is_far)) return T(1);
  const T k = sqrt(select(is_far, square, T(k0 * k0)));
  return select(is_far, T(k0 * (T(2) - k0 / k) / k), T(1));
}

template <class T>
T JointShape<T>::natural_share() const {
  const T k0 = T(largest_exact_curvature), square = T(8) / chi - T(4);
  const auto is_far = square > k0 * k0;
  return select(is_far, T(k0 * k0 / select(is_far, square, T(k0 * k0))), T(1));
}

using Vec8 = Eigen::Matrix<Real, 8, 1>;
using Mat8 = Eigen::Matrix<Real, 8, 8>;

/// What a joint resists and how it is at rest.
template <class T>
struct JointStiffnessOf {
  T bend1, bend2, twist;  ///< B1, B2 and GJ over its length [N m].
  T natural1, natural2;   ///< Curvatures without moment [1].
  T natural_twist;        ///< [rad].
};
using JointStiffness = JointStiffnessOf<Real>;

/// The energy of a joint [J] with its derivatives by (e, f, turn of e, turn of f) [m, rad].
struct JointEnergy {
  Real value = 0;
  Vec8 gradient;
};
JointEnergy joint_energy(const RodJoint& joint, const JointStiffness& stiffness, const Vec3& e, const Vec3& f,
                         Real turn_e, Real turn_f);
/// The second derivative; without what may make it indefinite (Gauss-Newton) if `definite`.
Mat8 joint_hessian(const RodJoint& joint, const JointStiffness& stiffness, const Vec3& e, const Vec3& f, Real turn_e,
                   Real turn_f, bool definite);

}  // namespace weft
