#pragma once
// Return maps that act on principal log strains: shared by sand and metal. They read stretches beneath least_stretch,
// crushed or inverted ones, as least_stretch, so that what they return is never inverted.

#include "weft/materials/isotropic.hpp"
#include "weft/materials/log_strain.hpp"
#include "weft/materials/stvk_hencky.hpp"
#include "weft/math/scalar.hpp"

#include <cmath>

namespace weft {

/// ln max(s_i, least_stretch).
template <class T>
Vector3<T> trial_log_strains(const Vector3<T>& s) {
  using std::log;
  return s.unaryExpr([](const T& x) { return value_of(x) < least_stretch ? T(least_log_strain) : log(x); });
}

/// U diag(exp H) V^T.
template <class T>
Matrix3<T> from_log_strains(const Svd<T>& svd, const Vector3<T>& H) {
  using std::exp;
  return isotropic(svd, Vector3<T>(H.unaryExpr([](const T& x) { return exp(x); })));
}

/// True if the trial is as trial_log_strains reads it.
template <class T>
bool is_uncrushed(const Svd<T>& svd) {
  return value_of(svd.s[2]) >= least_stretch;
}

/// Change of U diag(exp H(e)) V^T as the trial U diag(s) V^T changes, where e = trial_log_strains(s),
/// H_i - H_j = ratio (e_i - e_j), and dH_de is the Jacobian of H.
inline Mat3 log_flow_differential(const Svd<Real>& trial, const Vec3& H, Real ratio, const Mat3& dH_de,
                                  const Mat3& dF) {
  const Vec3& s = trial.s;
  const Vec3 h = H.array().exp();
  PrincipalDerivative d;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) d.stretch(i, j) = s[j] < least_stretch ? 0 : h[i] * dH_de(i, j) / s[j];
  for (int pair = 0; pair < 3; ++pair) {
    const auto [i, j] = others(pair);  // s_i >= s_j
    Real slope = 0;                    // (e_i - e_j) / (s_i - s_j)
    if (s[j] >= least_stretch) slope = log_strain_secant(s[i], s[j]);
    else if (s[i] > least_stretch) slope = std::log(s[i] / least_stretch) / (s[i] - s[j]);
    d.shear[pair] = ratio * slope / log_strain_secant(h[i], h[j]);
    d.spin[pair] = (h[i] + h[j]) / pair_sum(s, pair);
  }
  return isotropic_differential(trial, d, dF);
}

/// Jacobian of the deviator: I - 1 1^T / 3.
inline Mat3 deviator_projection() { return Mat3::Identity() - Mat3::Constant(1.0 / 3); }

}  // namespace weft
