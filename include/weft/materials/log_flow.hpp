#pragma once
// Return maps that act on principal log strains: shared by sand and metal. They read stretches beneath least_stretch,
// crushed or inverted ones, as least_stretch, so that what they return is never inverted.

#include "weft/materials/isotropic.hpp"
#include "weft/materials/log_strain.hpp"
#include "weft/materials/stvk_hencky.hpp"
#include "weft/math/scalar.hpp"
#include "weft/math/symmetric.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

/// ln max(s_i, least_stretch).
template <class T>
Vector3<T> trial_log_strains(const Vector3<T>& s) {
  using std::log;
  return s.unaryExpr([](const T& x) { return T(log(select(x < least_stretch, T(least_stretch), x))); });
}

/// What a flow rule makes of a log strain e: H = mean I + ratio dev e.
template <class T>
struct LogFlow {
  decltype(T() < T()) unchanged;  ///< H = e
  T mean;
  T ratio;
};

/// ln V of a trial F = V R.
template <class T>
Symmetric3<T> trial_log_strain(const Matrix3<T>& F) {
  const NearlyAlways<T> e = moderate_log_strain(F);
  if (!any(!e.valid)) return e.value;
  const Svd<T> svd = polar_svd(F);
  return select(e.valid, e.value, symmetric_from(svd.U, trial_log_strains(svd.s)));
}

/// Takes the trial F = V R to exp(H) R, with H from rule(trace e, |dev e|), a LogFlow<T> or derived; e = ln V.
template <class T, class Rule>
Matrix3<T> flow_in_log_strain(const Matrix3<T>& F, Rule&& rule) {
  using std::exp, std::sqrt;
  const NearlyAlways<T> e = moderate_log_strain(F);
  T mean = e.value.trace() / 3;
  const Symmetric3<T> deviator = e.value - mean;
  T size = sqrt(deviator.squared_norm());
  const bool some_are_far = any(!e.valid);
  Svd<T> svd;
  Vector3<T> far_deviator;
  if (some_are_far) {
    svd = polar_svd(F);
    const Vector3<T> far_e = trial_log_strains(svd.s);
    const T far_mean = far_e.sum() / 3;
    far_deviator = far_e - Vector3<T>::Constant(far_mean);
    mean = select(e.valid, mean, far_mean);
    size = select(e.valid, size, T(sqrt(far_deviator.squaredNorm())));
  }
  const LogFlow<T> flow = rule(T(3 * mean), size);
  auto unchanged = flow.unchanged;
  if (some_are_far) unchanged = unchanged && (e.valid || svd.s[2] >= least_stretch);
  if (!any(!unchanged)) return F;
  // exp(H - e) F, where |dev(H - e)| <= |e| < 0.9.
  Matrix3<T> flowed = T(exp(flow.mean - mean)) * (exp_near_zero(T(flow.ratio - 1) * deviator) * F);
  if (some_are_far) {
    const Vector3<T> H = Vector3<T>::Constant(flow.mean) + flow.ratio * far_deviator;
    flowed = select(e.valid, flowed, isotropic(svd, Vector3<T>(H.unaryExpr([](const T& x) { return T(exp(x)); }))));
  }
  return select(unchanged, F, flowed);
}

/// The elastic deformation without its rotation: ln V of F = V R, det F > 0.
struct LogStrain : Field<Symmetric3<Real>> {
  static constexpr Label label{"log_strain", "1"};
};

/// Hencky elasticity whose flow takes e = ln V of a trial to mean I + ratio dev e; points keep this. `Law` states
///   flow_of(k, q, trace e, |dev e|)    LogFlow<T> or derived
///   memory_after(k, q, trace e, flow)  what is remembered of it
template <class Law>
struct FlowsInLogStrain : HenckyElastic {
  static constexpr bool yields = true;
  static constexpr bool flow_changes_stress = true;

  template <class Constants, class Memory, class T>
  static Returned<Memory, T> return_map(const Constants& k, const Memory& q, const Matrix3<T>& F, Real) {
    Memory after;
    const Matrix3<T> elastic = flow_in_log_strain(F, [&](const T& trace, const T& deviator) {
      const auto flow = Law::flow_of(k, q, trace, deviator);
      after = Law::memory_after(k, q, trace, flow);
      return flow;
    });
    return {elastic, after};
  }

  using Kept = LogStrain;
  template <class T>
  static Symmetric3<T> kept(const Matrix3<T>& F) {
    return trial_log_strain(F);
  }
  template <class T>
  static Matrix3<T> deformation(const Symmetric3<T>& log_strain) {
    return exponential(log_strain).full();
  }
  /// Of flow that keeps the volume.
  template <class Memory, class T>
  static T volume_ratio(const Memory&, const Symmetric3<T>& log_strain) {
    using std::exp;
    return exp(log_strain.trace());
  }
  template <class Constants, class Memory, class T>
  static Settled<Symmetric3<T>, Memory> settle(const Constants& k, const Memory& q, const Matrix3<T>& F, Real) {
    using std::sqrt;
    const Symmetric3<T> e = trial_log_strain(F);
    const T trace = e.trace();
    const Symmetric3<T> deviator = e - T(trace / 3);
    const auto flow = Law::flow_of(k, q, trace, T(sqrt(deviator.squared_norm())));
    return {flow.ratio * deviator + flow.mean, Law::memory_after(k, q, trace, flow)};
  }
};

/// The map from dF to the change of the returned U diag(exp H) V^T as the trial U diag(s) V^T changes by dF. dH_de is
/// the Jacobian of H by e = trial_log_strains(s).
inline auto log_flow_differential(const Svd<Real>& trial, const LogFlow<Real>& flow, const Mat3& dH_de) {
  const Vec3& s = trial.s;
  const Vec3 e = trial_log_strains(s);
  const Vec3 h = (flow.mean + flow.ratio * (e.array() - e.mean())).exp();
  PrincipalDerivative d;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) d.stretch(i, j) = s[j] < least_stretch ? 0 : h[i] * dH_de(i, j) / s[j];
  for (int pair = 0; pair < 3; ++pair) {
    const auto [i, j] = others(pair);  // s_i >= s_j
    Real slope = 0;                    // (e_i - e_j) / (s_i - s_j)
    if (s[j] >= least_stretch) slope = log_strain_secant(s[i], s[j]);
    else if (s[i] > least_stretch) slope = std::log(s[i] / least_stretch) / (s[i] - s[j]);
    d.shear[pair] = flow.ratio * slope / log_strain_secant(h[i], h[j]);
    d.spin[pair] = (h[i] + h[j]) / pair_sum(s, pair);
  }
  return isotropic_differential(trial, d);
}

/// Jacobian of the deviator: I - 1 1^T / 3.
inline Mat3 deviator_projection() { return Mat3::Identity() - Mat3::Constant(1.0 / 3); }

}  // namespace weft
