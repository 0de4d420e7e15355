#pragma once
// The joint of two segments of a discrete elastic rod: its curvatures and twist, with their derivatives.
// [Bergou et al. 2008, 2010; docs/theory/strands.md]

#include "weft/base/types.hpp"
#include "weft/math/dual.hpp"

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
};

/// Where a segment was when its turn was zero.
struct RodFrame {
  Vec3 tangent;   ///< Unit.
  Vec3 director;  ///< Of the first half axis, unit and across the tangent.
};

/// u carried from one unit tangent to another by the least rotation that takes one to the other.
template <class T>
Vector3<T> transported(const Vector3<T>& u, const Vector3<T>& from, const Vector3<T>& to) {
  const Vector3<T> b = from.cross(to);
  return from.dot(to) * u + b.cross(u) + b * (b.dot(u) / (T(1) + from.dot(to)));
}

/// u turned about a unit axis that it is across.
template <class T>
Vector3<T> turned(const Vector3<T>& u, const Vector3<T>& axis, const T& cosine, const T& sine) {
  return cosine * u + sine * axis.cross(u);
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

/// Directors of a joint with edges e, f and turns of its segments [rad], and what follows from them.
///   kb = 2 te x tf / (1 + te.tf),   k1 = (m2e + m2f).kb / 2,   k2 = -(m1e + m1f).kb / 2
/// Beyond a turn of 150 degrees |kb| is replaced by k0 (2 - k0 / |kb|), which stays below twice its value k0 there, so
/// that the energy is finite however far a joint folds.
template <class T>
struct JointShape {
  Vector3<T> te, tf;              ///< Unit tangents.
  T length_e, length_f;           ///< [m].
  T chi;                          ///< 1 + te.tf.
  Vector3<T> kb;                  ///< Curvature binormal.
  Vector3<T> m1e, m2e, m1f, m2f;  ///< Directors.
  T k1, k2;                       ///< Integrated curvatures [1], before large turns are limited.
  T twist;                        ///< [rad].

  JointShape(const RodJoint& from, const Vector3<T>& e, const Vector3<T>& f, const T& turn_e, const T& turn_f);

  /// Factor of the curvatures.
  T limited() const;
};

/// |kb| at a turn of 150 degrees.
inline constexpr Real largest_exact_curvature = 7.464101615137754;
/// Joints whose 1 + te.tf is less are folded.
inline constexpr Real least_chi = 1e-12;

template <class T>
JointShape<T>::JointShape(const RodJoint& from, const Vector3<T>& e, const Vector3<T>& f, const T& turn_e,
                          const T& turn_f) {
  using std::cos, std::sin, std::sqrt;
  const auto as_T = [](const Vec3& v) { return Vector3<T>(v.template cast<T>()); };
  length_e = sqrt(e.dot(e));
  length_f = sqrt(f.dot(f));
  te = e / length_e;
  tf = f / length_f;
  chi = T(1) + te.dot(tf);
  const Vector3<T> ue = transported(as_T(from.e.director), as_T(from.e.tangent), te);
  const Vector3<T> uf = transported(as_T(from.f.director), as_T(from.f.tangent), tf);
  m1e = turned(ue, te, T(cos(turn_e)), T(sin(turn_e)));
  m1f = turned(uf, tf, T(cos(turn_f)), T(sin(turn_f)));
  m2e = te.cross(m1e);
  m2f = tf.cross(m1f);
  twist = T(from.twist) + turn_f - turn_e;
  if (chi > T(least_chi)) {
    kb = te.cross(tf) * (T(2) / chi);
    const Vector3<T> carried = turned(transported(ue, te, tf), tf, T(std::cos(from.twist)), T(std::sin(from.twist)));
    twist += angle_between(carried, uf, tf);
  } else {  // a fold of 180 degrees about the axis that takes one frame to the other
    chi = T(least_chi);
    const Vector3<T> m1 = m1e + m1f, m2 = m2e + m2f;
    kb = (m1.dot(m1) > m2.dot(m2) ? m1 : m2).normalized() * (T(2) * sqrt((T(2) - chi) / chi));
  }
  k1 = T(0.5) * (m2e + m2f).dot(kb);
  k2 = T(-0.5) * (m1e + m1f).dot(kb);
}

template <class T>
T JointShape<T>::limited() const {
  using std::sqrt;
  const T k0 = T(largest_exact_curvature), square = T(8) / chi - T(4);  // of |kb|; below zero by round-off
  if (!(square > k0 * k0)) return T(1);
  const T k = sqrt(square);
  return k0 * (T(2) - k0 / k) / k;
}

using Vec8 = Eigen::Matrix<Real, 8, 1>;
using Mat8 = Eigen::Matrix<Real, 8, 8>;

/// What a joint resists and how it is at rest.
struct JointStiffness {
  Real bend1, bend2, twist;  ///< B1, B2 and GJ over its length [N m].
  Real natural1, natural2;   ///< Curvatures without moment [1].
  Real natural_twist;        ///< [rad].
};

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
