#include "weft/bodies/rod_joint.hpp"

#include "bodies/rod_kernel.hpp"

#include <array>
#include <numbers>

namespace weft {

RodSection RodSection::ellipse(Real a, Real b, Real stretch_modulus, Real youngs_modulus, Real shear_modulus,
                               Real density) {
  const Real area = std::numbers::pi * a * b, squares = a * a + b * b;
  return {stretch_modulus * area,
          youngs_modulus * area * a * a / 4,
          youngs_modulus * area * b * b / 4,
          shear_modulus * area * a * a * b * b / squares,  // St Venant
          std::sqrt(squares) / 2,
          density * area};
}

namespace {

using Shape = JointShape<Real>;

Mat3 cross_matrix(const Vec3& a) {
  Mat3 m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}
Mat3 symmetric_sum(const Vec3& a, const Vec3& b) { return a * b.transpose() + b * a.transpose(); }

/// A function of a joint's edges and turns.
struct Derivatives {
  Vec8 first;
  Mat8 second;

  auto by_e() { return first.head<3>(); }
  auto by_f() { return first.segment<3>(3); }
  auto ee() { return second.topLeftCorner<3, 3>(); }
  auto ef() { return second.block<3, 3>(0, 3); }
  auto ff() { return second.block<3, 3>(3, 3); }
  /// Of edge e (0) or f (1) and a turn.
  auto edge_and_turn(int edge, int turn) { return second.block<3, 1>(3 * edge, 6 + turn); }
  void mirror() { second.triangularView<Eigen::StrictlyLower>() = second.transpose(); }
};

/// Of k1 with n = m2, m = m1 and sign = 1; of k2 with n = m1, m = m2 and sign = -1 [docs/theory/strands.md].
struct Curvature {
  Real k;
  Vec3 ne, nf;  ///< k = sign (ne + nf).kb / 2.
  Vec3 me, mf;
  Real sign;
};

Derivatives derivatives_of(const Shape& s, const Curvature& of) {
  const Vec3 t = (s.te + s.tf) / s.chi, N = (of.ne + of.nf) / s.chi;
  const Vec3 a = of.sign * s.tf.cross(N), c = of.sign * s.te.cross(N);
  const Real k = of.k, e = s.length_e, f = s.length_f;
  const Mat3 I = Mat3::Identity(), tt = 2 * k * t * t.transpose();
  const Mat3 by_twist = k / 16 * s.kb * s.kb.transpose();  // directors at the joint turn by half of it
  Derivatives d;
  d.by_e() = (-k * t + a) / e;
  d.by_f() = (-k * t - c) / f;
  // Turns rotate n into -m of k1, and into m of k2, by half of themselves.
  const Vec3 m = (of.me + of.mf) / 2;
  d.first[6] = d.first[7] = -m.dot(s.kb) / 2;

  d.second.setZero();
  d.ee() = (tt - symmetric_sum(a, t)) / (e * e) - k / (s.chi * e * e) * (I - s.te * s.te.transpose()) +
           of.sign * symmetric_sum(s.kb, of.ne) / (4 * e * e) + by_twist / (e * e);
  d.ff() = (tt + symmetric_sum(c, t)) / (f * f) - k / (s.chi * f * f) * (I - s.tf * s.tf.transpose()) +
           of.sign * symmetric_sum(s.kb, of.nf) / (4 * f * f) + by_twist / (f * f);
  d.ef() = -k / (s.chi * e * f) * (I + s.te * s.tf.transpose()) +
           (tt - a * t.transpose() + t * c.transpose() - of.sign * cross_matrix(N) + by_twist) / (e * f);
  for (int turn = 0; turn < 2; ++turn) {
    d.edge_and_turn(0, turn) = (m.dot(s.kb) / 2 * t - s.tf.cross(m) / s.chi) / e;
    d.edge_and_turn(1, turn) = (m.dot(s.kb) / 2 * t + s.te.cross(m) / s.chi) / f;
  }
  d.second.bottomRightCorner<2, 2>().setConstant(-k / 4);
  d.mirror();
  return d;
}

Derivatives derivatives_of_curvature1(const Shape& s) {
  return derivatives_of(s, {s.k1, s.m2e, s.m2f, s.m1e, s.m1f, 1});
}
Derivatives derivatives_of_curvature2(const Shape& s) {
  return derivatives_of(s, {s.k2, s.m1e, s.m1f, s.m2e, s.m2f, -1});
}

Derivatives derivatives_of_twist(const Shape& s) {
  const Vec3 t = (s.te + s.tf) / s.chi;
  const Real e = s.length_e, f = s.length_f;
  Derivatives d;
  d.first << s.kb / (2 * e), s.kb / (2 * f), -1, 1;
  d.second.setZero();
  d.ee() = -symmetric_sum(s.kb, s.te + t) / (4 * e * e);
  d.ff() = -symmetric_sum(s.kb, s.tf + t) / (4 * f * f);
  d.ef() = (2 / s.chi * cross_matrix(s.te) - s.kb * t.transpose()) / (2 * e * f);
  d.mirror();
  return d;
}

/// Of the cosine of the turn, by which curvatures are limited.
Derivatives derivatives_of_cosine(const Shape& s) {
  const Real c = s.chi - 1, e = s.length_e, f = s.length_f;
  const Mat3 across_e = Mat3::Identity() - s.te * s.te.transpose(),
             across_f = Mat3::Identity() - s.tf * s.tf.transpose();
  const Vec3 to_f = across_e * s.tf, to_e = across_f * s.te;
  Derivatives d;
  d.first.setZero();
  d.by_e() = to_f / e;
  d.by_f() = to_e / f;
  d.second.setZero();
  d.ee() = -(symmetric_sum(to_f, s.te) + c * across_e) / (e * e);
  d.ff() = -(symmetric_sum(to_e, s.tf) + c * across_f) / (f * f);
  d.ef() = across_e * across_f / (e * f);
  d.mirror();
  return d;
}

/// r(chi), the factor of curvatures, with two derivatives.
struct Limit {
  Real value, first, second;
};
Limit limit_of(const Shape& s) {
  const Real k0 = largest_exact_curvature, square = 8 / s.chi - 4;
  if (!(square > k0 * k0)) return {1, 0, 0};
  // k^2 = 8 / chi - 4, and r = k0 (2 / k - k0 / k^2)
  const Real k = std::sqrt(square);
  const Real dk = -4 / (s.chi * s.chi * k), ddk = (8 / std::pow(s.chi, 3) - dk * dk) / k;
  const Real dr = k0 * (2 * k0 / k - 2) / (k * k), ddr = k0 * (4 - 6 * k0 / k) / std::pow(k, 3);
  return {k0 * (2 - k0 / k) / k, dr * dk, ddr * dk * dk + dr * ddk};
}

/// s(chi), the share of natural curvatures, likewise: k0^2 / k^2.
Limit share_of(const Shape& s) {
  const Real k2 = largest_exact_curvature * largest_exact_curvature, square = 8 / s.chi - 4;
  const Real slope = -8 / (s.chi * s.chi), bend = 16 / std::pow(s.chi, 3);  // of k^2
  return {k2 / square, -k2 * slope / (square * square),
          k2 * (2 * slope * slope / std::pow(square, 3) - bend / (square * square))};
}

/// Of a limited strain k r(chi) - natural s(chi).
Derivatives limited(const Shape& s, Real k, Real natural, Derivatives of_k) {
  const Limit r = limit_of(s);
  if (r.first == 0) return of_k;
  const Limit share = share_of(s);
  const Derivatives chi = derivatives_of_cosine(s);
  const Vec8 dk = of_k.first;
  of_k.first = r.value * dk + k * r.first * chi.first;
  of_k.second = r.value * of_k.second +
                r.first * (dk * chi.first.transpose() + chi.first * dk.transpose() + k * chi.second) +
                k * r.second * chi.first * chi.first.transpose() -
                natural * (share.first * chi.second + share.second * chi.first * chi.first.transpose());
  of_k.first -= natural * share.first * chi.first;
  return of_k;
}

/// The symmetric part of the derivative of `lag`.
Mat3 derivative_of_lag(const Vec3& t0, const Vec3& e) {
  const Real length = e.norm(), d = length * (length + t0.dot(e));
  const Vec3 grad_d = 2 * e + e / length * t0.dot(e) + length * t0;
  return -symmetric_sum(Vec3(e.cross(t0)), grad_d) / (2 * d * d);
}

/// What adds stiffness / 2 strain^2 to the energy: of k1, k2 and the twist. The natural twist of a fold counts as
/// little as its twist.
struct Strains {
  std::array<Real, 3> stiffness, stress;
  Real twist;  ///< Before it is limited [rad].

  Strains(const Shape& s, const JointStiffness& joint)
      : stiffness{joint.bend1, joint.bend2, joint.twist}, twist(s.twist - joint.natural_twist) {
    const Real r = s.limited(), share = s.natural_share();
    const std::array strain{r * s.k1 - share * joint.natural1, r * s.k2 - share * joint.natural2, r * twist};
    for (std::size_t p = 0; p < 3; ++p) stress[p] = stiffness[p] * strain[p];
  }
};

}  // namespace

JointEnergy joint_energy(const RodJoint& joint, const JointStiffness& stiffness, const Vec3& e, const Vec3& f,
                         Real turn_e, Real turn_f) {
  const JointGradient<Real> along(Shape(joint, e, f, turn_e, turn_f), stiffness);
  JointEnergy energy{along.energy, Vec8::Zero()};
  energy.gradient.head<3>() = along.by_e + along.by_turn_e * lag(joint.e.tangent, e);
  energy.gradient.segment<3>(3) = along.by_f + along.by_turn_f * lag(joint.f.tangent, f);
  energy.gradient[6] = along.by_turn_e;
  energy.gradient[7] = along.by_turn_f;
  return energy;
}

Mat8 joint_hessian(const RodJoint& joint, const JointStiffness& stiffness, const Vec3& e, const Vec3& f, Real turn_e,
                   Real turn_f, bool definite) {
  const Shape s(joint, e, f, turn_e, turn_f);
  const Strains of(s, stiffness);
  const std::array strains{limited(s, s.k1, stiffness.natural1, derivatives_of_curvature1(s)),
                           limited(s, s.k2, stiffness.natural2, derivatives_of_curvature2(s)),
                           limited(s, of.twist, 0, derivatives_of_twist(s))};
  Mat8 along = Mat8::Zero();  // with frames that follow the way
  Vec8 gradient = Vec8::Zero();
  for (std::size_t p = 0; p < 3; ++p) {
    along += of.stiffness[p] * strains[p].first * strains[p].first.transpose();
    if (!definite) along += of.stress[p] * strains[p].second;
    gradient += of.stress[p] * strains[p].first;
  }
  Mat8 T = Mat8::Identity();
  T.block<1, 3>(6, 0) = lag(joint.e.tangent, e).transpose();
  T.block<1, 3>(7, 3) = lag(joint.f.tangent, f).transpose();
  Mat8 hessian = T.transpose() * along * T;
  if (definite) return hessian;
  hessian.topLeftCorner<3, 3>() += gradient[6] * derivative_of_lag(joint.e.tangent, e);
  hessian.block<3, 3>(3, 3) += gradient[7] * derivative_of_lag(joint.f.tangent, f);
  return hessian;
}

}  // namespace weft
