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
#include <type_traits>

namespace weft {

/// ln max(s_i, least_stretch).
template <class T>
Vector3<T> trial_log_strains(const Vector3<T>& s) {
  using std::log;
  return s.unaryExpr([](const T& x) { return value_of(x) < least_stretch ? T(least_log_strain) : log(x); });
}

/// What a flow rule makes of a log strain e: H = mean I + ratio dev e.
template <class T>
struct LogFlow {
  bool unchanged;  ///< H = e
  T mean;
  T ratio;
};

/// Takes the trial F = V R to exp(H) R, with H from rule(trace e, |dev e|), a LogFlow<T> or derived; e = ln V.
template <class T, class Rule>
Matrix3<T> flow_in_log_strain(const Matrix3<T>& F, Rule&& rule) {
  using std::exp;
  if constexpr (std::is_same_v<T, Real>) {
    const Mat3 b = F * F.transpose();
    if (is_moderate(b, F.determinant())) {
      const Mat3 e = 0.5 * log_symmetric(b);
      const Real mean = e.trace() / 3;
      const Mat3 deviator = e - mean * Mat3::Identity();
      const LogFlow<T> flow = rule(3 * mean, deviator.norm());
      if (flow.unchanged) return F;
      return exp_symmetric((flow.mean - mean) * Mat3::Identity() + (flow.ratio - 1) * deviator) * F;  // exp(H - e) F
    }
  }
  const Svd<T> svd = polar_svd(F);
  const Vector3<T> e = trial_log_strains(svd.s);
  const T mean = e.sum() / 3;
  const Vector3<T> deviator = e - Vector3<T>::Constant(mean);
  const LogFlow<T> flow = rule(T(3 * mean), T(deviator.norm()));
  if (flow.unchanged && value_of(svd.s[2]) >= least_stretch) return F;
  const Vector3<T> H = Vector3<T>::Constant(flow.mean) + flow.ratio * deviator;
  return isotropic(svd, Vector3<T>(H.unaryExpr([](const T& x) { return exp(x); })));
}

/// Change of the returned U diag(exp H) V^T as the trial U diag(s) V^T changes. dH_de is the Jacobian of H by
/// e = trial_log_strains(s).
inline Mat3 log_flow_differential(const Svd<Real>& trial, const LogFlow<Real>& flow, const Mat3& dH_de,
                                  const Mat3& dF) {
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
  return isotropic_differential(trial, d, dF);
}

/// Jacobian of the deviator: I - 1 1^T / 3.
inline Mat3 deviator_projection() { return Mat3::Identity() - Mat3::Constant(1.0 / 3); }

}  // namespace weft
