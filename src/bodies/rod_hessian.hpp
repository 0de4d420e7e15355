#pragma once
// Second derivatives of the energy of a joint of rods, one text for numbers and packs of joints.
// [docs/theory/strands.md, 15.2]

#include "bodies/rod_kernel.hpp"

#include <array>

namespace weft {

template <class T>
using Vec8Of = Eigen::Matrix<T, 8, 1>;
template <class T>
using Mat8Of = Eigen::Matrix<T, 8, 8>;

template <class T>
Matrix3<T> cross_matrix(const Vector3<T>& a) {
  const T zero = T(0);
  Matrix3<T> m;
  m << zero, -a.z(), a.y(), a.z(), zero, -a.x(), -a.y(), a.x(), zero;
  return m;
}
template <class T>
Matrix3<T> symmetric_sum(const Vector3<T>& a, const Vector3<T>& b) {
  return a * b.transpose() + b * a.transpose();
}
/// What is across a unit vector.
template <class T>
Matrix3<T> across(const Vector3<T>& t) {
  return Matrix3<T>::Identity() - t * t.transpose();
}

/// A function of a joint's edges and turns.
template <class T>
struct JointDerivatives {
  Vec8Of<T> first;
  Mat8Of<T> second;

  auto by_e() { return first.template head<3>(); }
  auto by_f() { return first.template segment<3>(3); }
  auto ee() { return second.template topLeftCorner<3, 3>(); }
  auto ef() { return second.template block<3, 3>(0, 3); }
  auto ff() { return second.template block<3, 3>(3, 3); }
  /// Of edge e (0) or f (1) and a turn.
  auto edge_and_turn(int edge, int turn) { return second.template block<3, 1>(3 * edge, 6 + turn); }
  void mirror() {
    for (int i = 1; i < 8; ++i)
      for (int j = 0; j < i; ++j) second(i, j) = second(j, i);
  }
};

/// Of k1 with n = m2, m = m1 and sign = 1; of k2 with n = m1, m = m2 and sign = -1.
template <class T>
struct Curvature {
  T k;
  Vector3<T> ne, nf;  ///< k = sign (ne + nf).kb / 2.
  Vector3<T> me, mf;
  T sign;
};

template <class T>
JointDerivatives<T> derivatives_of(const JointShape<T>& s, const Curvature<T>& of) {
  const T per_e = T(1) / s.length_e, per_f = T(1) / s.length_f, per_chi = T(1) / s.chi, k = of.k;
  const Vector3<T> t = (s.te + s.tf) * per_chi, N = (of.ne + of.nf) * per_chi;
  const Vector3<T> a = s.tf.cross(N) * of.sign, c = s.te.cross(N) * of.sign;
  // Directors at the joint turn by half of the twist.
  const Matrix3<T> both = t * t.transpose() * T(T(2) * k) + s.kb * s.kb.transpose() * T(T(1.0 / 16) * k);
  JointDerivatives<T> d;
  d.by_e() = (a - t * k) * per_e;
  d.by_f() = (t * T(-k) - c) * per_f;
  // Turns rotate n into -m of k1, and into m of k2, by half of themselves.
  const Vector3<T> m = (of.me + of.mf) * T(0.5);
  const T by_turn = T(0.5) * m.dot(s.kb);
  d.first[6] = d.first[7] = -by_turn;

  d.second.setConstant(T(0));
  const T quarter = T(0.25) * of.sign, k_per_chi = k * per_chi;
  d.ee() =
      (both - symmetric_sum(a, t) - across(s.te) * k_per_chi + symmetric_sum(s.kb, of.ne) * quarter) * T(per_e * per_e);
  d.ff() =
      (both + symmetric_sum(c, t) - across(s.tf) * k_per_chi + symmetric_sum(s.kb, of.nf) * quarter) * T(per_f * per_f);
  d.ef() = (both - a * t.transpose() + t * c.transpose() - cross_matrix(N) * of.sign -
            (Matrix3<T>::Identity() + s.te * s.tf.transpose()) * k_per_chi) *
           T(per_e * per_f);
  for (int turn = 0; turn < 2; ++turn) {
    d.edge_and_turn(0, turn) = (t * by_turn - s.tf.cross(m) * per_chi) * per_e;
    d.edge_and_turn(1, turn) = (t * by_turn + s.te.cross(m) * per_chi) * per_f;
  }
  d.second.template bottomRightCorner<2, 2>().setConstant(T(-0.25) * k);
  d.mirror();
  return d;
}

template <class T>
JointDerivatives<T> derivatives_of_curvature1(const JointShape<T>& s) {
  return derivatives_of<T>(s, {s.k1, s.m2e, s.m2f, s.m1e, s.m1f, T(1)});
}
template <class T>
JointDerivatives<T> derivatives_of_curvature2(const JointShape<T>& s) {
  return derivatives_of<T>(s, {s.k2, s.m1e, s.m1f, s.m2e, s.m2f, T(-1)});
}

template <class T>
JointDerivatives<T> derivatives_of_twist(const JointShape<T>& s) {
  const T per_e = T(1) / s.length_e, per_f = T(1) / s.length_f, per_chi = T(1) / s.chi;
  const Vector3<T> t = (s.te + s.tf) * per_chi;
  JointDerivatives<T> d;
  d.by_e() = s.kb * T(T(0.5) * per_e);
  d.by_f() = s.kb * T(T(0.5) * per_f);
  d.first[6] = T(-1);
  d.first[7] = T(1);
  d.second.setConstant(T(0));
  d.ee() = symmetric_sum(s.kb, Vector3<T>(s.te + t)) * T(T(-0.25) * per_e * per_e);
  d.ff() = symmetric_sum(s.kb, Vector3<T>(s.tf + t)) * T(T(-0.25) * per_f * per_f);
  d.ef() = (cross_matrix(s.te) * T(T(2) * per_chi) - s.kb * t.transpose()) * T(T(0.5) * per_e * per_f);
  d.mirror();
  return d;
}

/// Of the cosine of the turn, by which curvatures are limited.
template <class T>
JointDerivatives<T> derivatives_of_cosine(const JointShape<T>& s) {
  const T c = s.chi - T(1), per_e = T(1) / s.length_e, per_f = T(1) / s.length_f;
  const Matrix3<T> across_e = across(s.te), across_f = across(s.tf);
  const Vector3<T> to_f = across_e * s.tf, to_e = across_f * s.te;
  JointDerivatives<T> d;
  d.first.setConstant(T(0));
  d.by_e() = to_f * per_e;
  d.by_f() = to_e * per_f;
  d.second.setConstant(T(0));
  d.ee() = (symmetric_sum(to_f, s.te) + across_e * c) * T(-per_e * per_e);
  d.ff() = (symmetric_sum(to_e, s.tf) + across_f * c) * T(-per_f * per_f);
  d.ef() = across_e * across_f * T(per_e * per_f);
  d.mirror();
  return d;
}

/// A function of chi with two derivatives.
template <class T>
struct FunctionOfChi {
  T value, first, second;
};

/// r(chi), the factor of curvatures: k0 (2 / k - k0 / k^2) with k^2 = 8 / chi - 4 where that is above k0^2, else 1.
template <class T>
FunctionOfChi<T> limit_of(const T& chi, const T& square, const Mask<T>& is_far) {
  using std::sqrt;
  const T k0 = T(largest_exact_curvature), k = sqrt(square);
  const T dk = T(-4) / (chi * chi * k), ddk = (T(8) / (chi * chi * chi) - dk * dk) / k;
  const T dr = k0 * (T(2) * k0 / k - T(2)) / square, ddr = k0 * (T(4) - T(6) * k0 / k) / (square * k);
  return {select(is_far, T(k0 * (T(2) - k0 / k) / k), T(1)), select(is_far, T(dr * dk), T(0)),
          select(is_far, T(ddr * dk * dk + dr * ddk), T(0))};
}

/// s(chi), the share of natural curvatures: k0^2 / k^2 there, else 1.
template <class T>
FunctionOfChi<T> share_of(const T& chi, const T& square, const Mask<T>& is_far) {
  const T k2 = T(largest_exact_curvature * largest_exact_curvature);
  const T slope = T(-8) / (chi * chi), bend = T(16) / (chi * chi * chi);  // of k^2
  return {select(is_far, T(k2 / square), T(1)), select(is_far, T(-k2 * slope / (square * square)), T(0)),
          select(is_far, T(k2 * (T(2) * slope * slope / (square * square * square) - bend / (square * square))), T(0))};
}

/// Of a limited strain k r(chi) - natural s(chi).
template <class T>
void limit(const JointShape<T>& s, const T& k, const T& natural, JointDerivatives<T>& of_k) {
  const T k2 = T(largest_exact_curvature * largest_exact_curvature), its = T(8) / s.chi - T(4);
  const auto is_far = its > k2;
  if (!any(is_far)) return;
  const T square = select(is_far, its, k2);
  const FunctionOfChi<T> r = limit_of(s.chi, square, is_far), share = share_of(s.chi, square, is_far);
  const JointDerivatives<T> chi = derivatives_of_cosine(s);
  const Vec8Of<T> dk = of_k.first;
  const T slope = k * r.first - natural * share.first, bend = k * r.second - natural * share.second;
  of_k.first = dk * r.value + chi.first * slope;
  of_k.second = of_k.second * r.value + (dk * chi.first.transpose() + chi.first * dk.transpose()) * r.first +
                chi.second * slope + chi.first * chi.first.transpose() * bend;
}

/// The symmetric part of the derivative of `lag`.
template <class T>
Matrix3<T> derivative_of_lag(const Vector3<T>& t0, const Vector3<T>& t, const T& length) {
  const T along = t0.dot(t), d = length * length * (T(1) + along);
  const Vector3<T> e = t * length, slope_of_d = e * T(T(2) + along) + t0 * length;
  return symmetric_sum(Vector3<T>(e.cross(t0)), slope_of_d) * T(T(-0.5) / (d * d));
}

/// The second derivative of the energy of a joint by (e, f, turn of e, turn of f) [m, rad], whose segments had these
/// tangents when their turns were zero; without what may make it indefinite (Gauss-Newton) if `definite`.
template <class T>
Mat8Of<T> joint_hessian(const JointShape<T>& s, const JointStiffnessOf<T>& of, const Vector3<T>& t0e,
                        const Vector3<T>& t0f, bool definite) {
  const T r = s.limited(), share = s.natural_share(), twist = s.twist - of.natural_twist;
  Mat8Of<T> hessian = Mat8Of<T>::Constant(T(0));  // with frames that follow the way
  T by_turn_e = T(0), by_turn_f = T(0);
  const auto add = [&](const T& k, const T& natural, const T& stiffness, const T& strain, JointDerivatives<T> d) {
    limit(s, k, natural, d);
    const T stress = stiffness * strain;
    const Vec8Of<T> scaled = d.first * stiffness;
    hessian += scaled * d.first.transpose();
    if (!definite) hessian += d.second * stress;
    by_turn_e += stress * d.first[6];
    by_turn_f += stress * d.first[7];
  };
  add(s.k1, of.natural1, of.bend1, r * s.k1 - share * of.natural1, derivatives_of_curvature1(s));
  add(s.k2, of.natural2, of.bend2, r * s.k2 - share * of.natural2, derivatives_of_curvature2(s));
  add(twist, T(0), of.twist, r * twist, derivatives_of_twist(s));
  // Frames carried straight turn by lag.de more, which is T^T hessian T with the lags as rows of T beside ones.
  const Vector3<T> lag_e = lag(t0e, s.te, s.length_e), lag_f = lag(t0f, s.tf, s.length_f);
  hessian.template leftCols<3>() += hessian.col(6) * lag_e.transpose();
  hessian.template middleCols<3>(3) += hessian.col(7) * lag_f.transpose();
  hessian.template topRows<3>() += lag_e * hessian.row(6);
  hessian.template middleRows<3>(3) += lag_f * hessian.row(7);
  if (definite) return hessian;
  hessian.template topLeftCorner<3, 3>() += derivative_of_lag(t0e, s.te, s.length_e) * by_turn_e;
  hessian.template block<3, 3>(3, 3) += derivative_of_lag(t0f, s.tf, s.length_f) * by_turn_f;
  return hessian;
}

}  // namespace weft
