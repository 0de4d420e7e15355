#pragma once
// The forces of a joint of rods, one text for numbers and packs of joints. With M1, M2, M what strains are stressed by,
// N = (M1 (m2e + m2f) - M2 (m1e + m1f)) / chi, t = (te + tf) / chi and c = chi - 1, where nothing is limited,
//   dE/de = (-(M1 k1 + M2 k2) t + tf x N + M kb / 2) / |e|,   dE/df = (-(M1 k1 + M2 k2) t - te x N + M kb / 2) / |f|
//   dE/dturn = -(M1 m1 + M2 m2).kb / 2 -+ M
// with the directors of a segment. A limit r(chi) scales M1, M2, M and adds to dE/de
//   (M1 k1 + M2 k2 + M (m - m')) r' (tf - c te) / |e|
// and the share s(chi) of natural curvatures -(M1 k1' + M2 k2') s' in place of the first factors and r'.
// [docs/theory/strands.md, 15.2]

#include "weft/bodies/rod_joint.hpp"

namespace weft {

/// The frame that a tangent t0 carries straight to t lags behind one that follows the way by a.de:
///   a = e x t0 / (|e|^2 + |e| t0.e)
template <class T>
Vector3<T> lag(const Vector3<T>& t0, const Vector3<T>& t, const T& length) {
  return t.cross(t0) / T(length * (T(1) + t.dot(t0)));
}
inline Vec3 lag(const Vec3& t0, const Vec3& e) { return lag<Real>(t0, Vec3(e.normalized()), e.norm()); }

/// The share of its stiffness that a joint has whose natural curvatures are those of a fold by more than 150 degrees,
/// as only damping has them: a fold changes its side at once, which would be resisted without bound.
template <class T>
T share_in_fold(const T& natural1, const T& natural2) {
  using std::max;
  using std::min;
  using std::sqrt;
  const T share = T(2) - sqrt(natural1 * natural1 + natural2 * natural2) / T(largest_exact_curvature);
  const T within = min(T(1), max(T(0), share));
  return within * within;
}

/// What bounds the second derivatives of the bending energy of a joint, whose curvatures have first derivatives of at
/// most 2 / chi by tangents and |kb| / 2 by turns. [docs/theory/strands.md, 15.6]
template <class T>
struct BendingBound {
  T chi, curvature;  ///< 1 + te.tf and |kb|, of a turn of 150 degrees at most.
  T factor;          ///< Of the squares of first derivatives.

  /// Of a joint that is all but straight 1 - te.tf is round-off, te - tf is not.
  BendingBound(const Vector3<T>& te, const Vector3<T>& tf, const T& natural) {
    using std::max;
    using std::min;
    using std::sqrt;
    constexpr Real k0 = largest_exact_curvature, flattest = 0.002;
    const T of_shape = T(1) + te.dot(tf);
    const T k = T(2) * sqrt(Vector3<T>(te - tf).squaredNorm() / (T(2) * max(T(flattest), of_shape)));
    chi = max(T(8 / (k0 * k0 + 4)), of_shape);
    curvature = min(T(k0), k);
    factor = T(1) + T(2) * (curvature + natural) / max(T(2), curvature) + T(0.5) * (k - curvature);
  }
};

/// The energy of a joint [J] and its derivatives by the edges [N] and turns [N m] of its segments, of directors that
/// follow the way of their tangents.
template <class T>
struct JointGradient {
  T energy;
  Vector3<T> by_e, by_f;
  T by_turn_e, by_turn_f;

  JointGradient(const JointShape<T>& s, const JointStiffnessOf<T>& of) {
    using std::sqrt;
    const T k0 = T(largest_exact_curvature), square = T(8) / s.chi - T(4);  // of |kb|
    const auto is_far = square > k0 * k0;
    const T r = s.limited(), twist = s.twist - of.natural_twist;
    const T share = s.natural_share();
    const T strain1 = r * s.k1 - share * of.natural1, strain2 = r * s.k2 - share * of.natural2, strain = r * twist;
    const T M1 = of.bend1 * strain1, M2 = of.bend2 * strain2, M = of.twist * strain;
    energy = T(0.5) * (M1 * strain1 + M2 * strain2 + M * strain);

    const T by_k = r * (M1 * s.k1 + M2 * s.k2);
    const Vector3<T> N = (Vector3<T>(s.m2e + s.m2f) * T(r * M1) - Vector3<T>(s.m1e + s.m1f) * T(r * M2)) / s.chi;
    const Vector3<T> both = s.kb * T(T(0.5) * r * M) - Vector3<T>(s.te + s.tf) * T(by_k / s.chi);
    by_e = both + s.tf.cross(N);
    by_f = both - s.te.cross(N);
    by_turn_e = T(-0.5) * r * Vector3<T>(s.m1e * M1 + s.m2e * M2).dot(s.kb) - r * M;
    by_turn_f = T(-0.5) * r * Vector3<T>(s.m1f * M1 + s.m2f * M2).dot(s.kb) + r * M;
    if (any(is_far)) {  // r = k0 (2 / k - k0 / k^2) with k^2 = 8 / chi - 4
      const T k = sqrt(select(is_far, square, T(k0 * k0)));
      const T slope = T(8) * k0 * (T(1) - k0 / k) / (s.chi * s.chi * k * k * k);
      const T slope_of_share = T(8) * k0 * k0 / (s.chi * s.chi * k * k * k * k);
      const T by_limit = (M1 * s.k1 + M2 * s.k2 + M * twist) * slope,
              by_share = (M1 * of.natural1 + M2 * of.natural2) * slope_of_share;
      const T by_chi = select(is_far, T(by_limit - by_share), T(0)), c = s.chi - T(1);
      by_e += Vector3<T>(s.tf - s.te * c) * by_chi;
      by_f += Vector3<T>(s.te - s.tf * c) * by_chi;
    }
    by_e /= s.length_e;
    by_f /= s.length_f;
  }
};

}  // namespace weft
