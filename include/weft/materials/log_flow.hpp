#pragma once
// Return maps that act on principal log strains: shared by sand and metal.

#include "weft/materials/isotropic.hpp"
#include "weft/materials/log_strain.hpp"
#include "weft/materials/stvk_hencky.hpp"

namespace weft {

/// Change of F = U diag(stretch_of(H(e))) V^T as the trial U diag(s) V^T changes, e = log_strain(s), where
/// H_i - H_j = ratio (e_i - e_j) and dH_de is the Jacobian of H.
inline Mat3 log_flow_differential(const Svd<Real>& trial, const Vec3& H, Real ratio, const Mat3& dH_de,
                                  const Mat3& dF) {
  const Vec3& s = trial.s;
  const Vec3 h = stretches_of(H);
  PrincipalDerivative d;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) d.stretch(i, j) = dH_de(i, j) * log_strain_slope(s[j]) / log_strain_slope(h[i]);
  for (int pair = 0; pair < 3; ++pair) {
    const auto [i, j] = others(pair);
    d.shear[pair] = ratio * log_strain_secant(s[i], s[j]) / log_strain_secant(h[i], h[j]);
    d.spin[pair] = (h[i] + h[j]) / pair_sum(s, pair);
  }
  return isotropic_differential(trial, d, dF);
}

/// Jacobian of the deviator: I - 1 1^T / 3.
inline Mat3 deviator_projection() { return Mat3::Identity() - Mat3::Constant(1.0 / 3); }

}  // namespace weft
