#pragma once
// Isotropic tensor functions of 2x2 matrices and their derivatives, by singular values: sheets, and sections of fibers.

#include "weft/base/types.hpp"
#include "weft/math/scalar.hpp"
#include "weft/math/svd.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

/// B = q (turning) + r (mirroring): the sum of a rotation and a reflection, each times its size. Isotropic functions of
/// B need no singular vectors, which are at half the angles of both.
template <class T>
struct PlaneParts {
  Matrix2<T> turning, mirroring;
  Vector2<T> s;  ///< The singular values q + r, q - r of B; the second has the sign of det B.

  explicit PlaneParts(const Matrix2<T>& B) {
    using std::sqrt;
    const T e = 0.5 * (B(0, 0) + B(1, 1)), f = 0.5 * (B(0, 0) - B(1, 1));
    const T g = 0.5 * (B(1, 0) + B(0, 1)), h = 0.5 * (B(1, 0) - B(0, 1));
    const T q = sqrt(T(e * e + h * h)), r = sqrt(T(f * f + g * g));
    const auto unit = [](const T& a, const T& b, const T& size, T& cosine, T& sine) {
      const Mask<T> exists = value_of(size) > 0;
      const T inverse = 1 / select(exists, size, T(1));
      cosine = select(exists, T(a * inverse), T(1));
      sine = b * inverse;
    };
    T cosine, sine;
    unit(e, h, q, cosine, sine);
    turning << cosine, -sine, sine, cosine;
    unit(f, g, r, cosine, sine);
    mirroring << cosine, sine, sine, -cosine;
    s = {q + r, q - r};
  }
  /// U diag(g) V^T with B = U diag(s) V^T.
  Matrix2<T> with(const T& g0, const T& g1) const {
    return T(0.5 * (g0 + g1)) * turning + T(0.5 * (g0 - g1)) * mirroring;
  }
};

/// Derivative of G(B) = U diag(g) V^T in the principal frame of B = U diag(s) V^T. [docs/theory/sheets.md, 10.3]
template <class T>
struct PlaneDerivativeOf {
  Matrix2<T> stretch;  ///< dg_i / ds_j
  T shear;             ///< (g_0 - g_1) / (s_0 - s_1), with its limit where s_0 = s_1
  T spin;              ///< (g_0 + g_1) / (s_0 + s_1)
  /// g_i / s_i: turning out of the plane, for a sheet in space; a section in its own plane leaves it 0.
  Vector2<T> bend = Vector2<T>::Zero();
};
using PlaneDerivative = PlaneDerivativeOf<Real>;

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
/// Frobenius norm of `positive_part`.
template <class T>
T norm_of_positive_part(const Matrix2<T>& A) {
  using std::max, std::sqrt;
  const T mean = 0.5 * (A(0, 0) + A(1, 1)), x = 0.5 * (A(0, 0) - A(1, 1)), y = 0.5 * (A(0, 1) + A(1, 0));
  const T radius = sqrt(T(x * x + y * y)), upper = max(T(mean + radius), T(0)), lower = max(T(mean - radius), T(0));
  return sqrt(T(upper * upper + lower * lower));
}
/// Shear, spin and bend are eigenvalues of a symmetric derivative, stretch holds the others.
inline PlaneDerivative positive_part(const PlaneDerivative& d) {
  return {positive_part(d.stretch), std::max(0.0, d.shear), std::max(0.0, d.spin), d.bend.cwiseMax(0)};
}

/// No eigenvalue of the derivative is larger.
template <class T>
T largest(const PlaneDerivativeOf<T>& d) {
  using std::abs, std::max;
  const T first = abs(d.stretch(0, 0)) + abs(d.stretch(0, 1)), second = abs(d.stretch(1, 0)) + abs(d.stretch(1, 1));
  return max(T(max(first, second)), max(T(max(d.shear, d.spin)), T(max(d.bend[0], d.bend[1]))));
}

}  // namespace weft
