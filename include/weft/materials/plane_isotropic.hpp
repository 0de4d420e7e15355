#pragma once
// Isotropic tensor functions of 2x2 matrices and their derivatives, by singular values: sheets, and sections of fibers.

#include "weft/base/types.hpp"
#include "weft/math/svd.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

/// Derivative of G(B) = U diag(g) V^T in the principal frame of B = U diag(s) V^T. [docs/theory/sheets.md, 10.3]
struct PlaneDerivative {
  Matrix2<Real> stretch;  ///< dg_i / ds_j
  Real shear;             ///< (g_0 - g_1) / (s_0 - s_1), with its limit where s_0 = s_1
  Real spin;              ///< (g_0 + g_1) / (s_0 + s_1)
  /// g_i / s_i: turning out of the plane, for a sheet in space; a section in its own plane leaves it 0.
  Vector2<Real> bend = Vector2<Real>::Zero();
};

/// U^T dG V where dB = U^T dB V is the change of B.
inline Matrix2<Real> plane_change(const PlaneDerivative& d, const Matrix2<Real>& dB) {
  Matrix2<Real> D;
  D.diagonal() = d.stretch * dB.diagonal();
  const Real symmetric = 0.5 * d.shear * (dB(0, 1) + dB(1, 0)), skew = 0.5 * d.spin * (dB(0, 1) - dB(1, 0));
  D(0, 1) = symmetric + skew;
  D(1, 0) = symmetric - skew;
  return D;
}

/// The positive semidefinite part of a symmetric 2x2 matrix.
inline Matrix2<Real> positive_part(const Matrix2<Real>& A) {
  const Real mean = 0.5 * A.trace(), x = 0.5 * (A(0, 0) - A(1, 1)), y = 0.5 * (A(0, 1) + A(1, 0));
  const Real radius = std::hypot(x, y), upper = std::max(0.0, mean + radius), lower = std::max(0.0, mean - radius);
  Matrix2<Real> part = 0.5 * (upper + lower) * Matrix2<Real>::Identity();
  if (radius > 0) {
    const Real scale = 0.5 * (upper - lower) / radius;
    part(0, 0) += scale * x;
    part(1, 1) -= scale * x;
    part(0, 1) += scale * y;
    part(1, 0) += scale * y;
  }
  return part;
}
/// Shear, spin and bend are eigenvalues of a symmetric derivative, stretch holds the others.
inline PlaneDerivative positive_part(const PlaneDerivative& d) {
  return {positive_part(d.stretch), std::max(0.0, d.shear), std::max(0.0, d.spin), d.bend.cwiseMax(0)};
}

/// No eigenvalue of the derivative is larger.
inline Real largest(const PlaneDerivative& d) {
  return std::max({d.stretch.cwiseAbs().rowwise().sum().maxCoeff(), d.shear, d.spin, d.bend.maxCoeff()});
}

}  // namespace weft
