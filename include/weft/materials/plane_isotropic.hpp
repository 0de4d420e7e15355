#pragma once
// Isotropic tensor functions of 2x2 matrices and their derivatives, by singular values: sheets, and sections of fibers.

#include "weft/base/types.hpp"
#include "weft/math/scalar.hpp"
#include "weft/math/svd.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

/// Derivative of G(B) = U diag(g) V^T in the principal frame of B = U diag(s) V^T. [docs/theory/sheets.md, 10.3]
template <class T>
struct PlaneDerivativeOf {
  Matrix2<T> stretch;  ///< dg_i / ds_j
  T shear;             ///< (g_0 - g_1) / (s_0 - s_1), with its limit where s_0 = s_1
  T spin;              ///< (g_0 + g_1) / (s_0 + s_1)
  /// g_i / s_i: turning out of the plane, for a sheet in space; a section in its own plane leaves it 0.
  Vector2<T> bend = Vector2<T>::Zero();
};

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

  /// U^T dB V: the diagonal, and half the sum and the difference (01) - (10) of the others. What turns of dB is seen
  /// from the turning of B, what mirrors from its mirroring.
  struct Seen {
    Vector2<T> diagonal;
    T sum, difference;
  };
  Seen seen(const Matrix2<T>& dB) const {
    const T e = 0.5 * (dB(0, 0) + dB(1, 1)), h = 0.5 * (dB(1, 0) - dB(0, 1));
    const T f = 0.5 * (dB(0, 0) - dB(1, 1)), g = 0.5 * (dB(1, 0) + dB(0, 1));
    const T &turned = turning(0, 0), &sine = turning(1, 0), &mirrored = mirroring(0, 0),
            &mirrored_sine = mirroring(1, 0);
    const T even = turned * e + sine * h, odd = mirrored * f + mirrored_sine * g;
    return {{even + odd, even - odd}, mirrored * g - mirrored_sine * f, sine * e - turned * h};
  }
  /// dG of an isotropic G with this derivative.
  Matrix2<T> change(const PlaneDerivativeOf<T>& d, const Matrix2<T>& dB) const {
    const Seen of = seen(dB);
    const Vector2<T> stretched = d.stretch * of.diagonal;
    const T e = 0.5 * (stretched[0] + stretched[1]), h = -d.spin * of.difference;
    const T f = 0.5 * (stretched[0] - stretched[1]), g = d.shear * of.sum;
    return T(e) * turning + T(f) * mirroring + h * quarter_turned(turning) + g * quarter_turned(mirroring);
  }

 private:
  /// The next direction, counterclockwise, of what turns or mirrors.
  static Matrix2<T> quarter_turned(const Matrix2<T>& A) {
    Matrix2<T> turned;
    turned << -A(1, 0), -A(1, 1), A(0, 0), A(0, 1);
    return turned;
  }
};

/// The positive semidefinite part of a symmetric 2x2 matrix.
template <class T>
Matrix2<T> positive_part(const Matrix2<T>& A) {
  using std::max, std::sqrt;
  const T mean = 0.5 * (A(0, 0) + A(1, 1)), x = 0.5 * (A(0, 0) - A(1, 1)), y = 0.5 * (A(0, 1) + A(1, 0));
  const T radius = sqrt(T(x * x + y * y)), upper = max(T(mean + radius), T(0)), lower = max(T(mean - radius), T(0));
  const T half = 0.5 * (upper + lower), scale = 0.5 * (upper - lower) / select(radius > 0, radius, T(1));
  Matrix2<T> part;
  part << half + scale * x, scale * y, scale * y, half - scale * x;
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
template <class T>
PlaneDerivativeOf<T> positive_part(const PlaneDerivativeOf<T>& d) {
  using std::max;
  const T zero = 0;
  return {
      positive_part(d.stretch), max(d.shear, zero), max(d.spin, zero), {max(d.bend[0], zero), max(d.bend[1], zero)}};
}

/// No eigenvalue of the derivative is larger.
template <class T>
T largest(const PlaneDerivativeOf<T>& d) {
  using std::abs, std::max;
  const T first = abs(d.stretch(0, 0)) + abs(d.stretch(0, 1)), second = abs(d.stretch(1, 0)) + abs(d.stretch(1, 1));
  return max(T(max(first, second)), max(T(max(d.shear, d.spin)), T(max(d.bend[0], d.bend[1]))));
}

}  // namespace weft
