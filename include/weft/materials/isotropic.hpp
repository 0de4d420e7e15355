#pragma once
// One routine for all isotropic laws: tensor functions of F that act on its singular values, and their derivatives.
// Pairs of axes are named by the axis that they leave out: pair k is (i, j) = others(k).

#include "weft/base/types.hpp"
#include "weft/math/svd.hpp"
#include "weft/math/symmetric.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {

inline std::pair<int, int> others(int k) { return {k == 0 ? 1 : 0, k == 2 ? 1 : 2}; }

/// G(F) = U diag(g) V^T where F = U diag(s) V^T.
template <class T>
Matrix3<T> isotropic(const Svd<T>& svd, const Vector3<T>& g) {
  return svd.U * g.asDiagonal() * svd.V.transpose();
}

/// Q diag(values) Q^T.
template <class T>
Symmetric3<T> symmetric_from(const Matrix3<T>& Q, const Vector3<T>& values) {
  return Symmetric3<T>::of(Q * values.asDiagonal() * Q.transpose());
}

/// Derivative of an isotropic tensor function G in the principal frame. [docs/theory/laws.md, 5]
template <class T>
struct PrincipalDerivativeOf {
  Matrix3<T> stretch;  ///< dg_i / ds_j
  Vector3<T> shear;    ///< (g_i - g_j) / (s_i - s_j) of pair k, with its limit where s_i = s_j
  Vector3<T> spin;     ///< (g_i + g_j) / (s_i + s_j) of pair k
};
using PrincipalDerivative = PrincipalDerivativeOf<Real>;

/// s_i + s_j >= 0 of pair k, kept from zero: it vanishes only for singular or inverted F, where the polar rotation
/// jumps and the derivative does not exist.
template <class T>
T pair_sum(const Vector3<T>& s, int k) {
  using std::max;
  const auto [i, j] = others(k);
  return max(T(s[i] + s[j]), T(1e-6));
}

/// The map from dF to the change of G(F) as F changes by dF.
template <class T>
auto isotropic_differential(const Svd<T>& svd, const PrincipalDerivativeOf<T>& d) {
  return [svd, d](const Matrix3<T>& dF) -> Matrix3<T> {
    const Matrix3<T> B = svd.U.transpose() * dF * svd.V;
    Matrix3<T> D;
    D.diagonal() = d.stretch * B.diagonal();
    for (int k = 0; k < 3; ++k) {
      const auto [i, j] = others(k);
      const T symmetric = 0.5 * d.shear[k] * (B(i, j) + B(j, i)), skew = 0.5 * d.spin[k] * (B(i, j) - B(j, i));
      D(i, j) = symmetric + skew;
      D(j, i) = symmetric - skew;
    }
    return svd.U * D * svd.V.transpose();
  };
}

/// The positive semidefinite part of a symmetric derivative: shear and spin are eigenvalues, stretch holds the others.
template <class T>
PrincipalDerivativeOf<T> positive_part(const PrincipalDerivativeOf<T>& d) {
  const auto positive = [](const Vector3<T>& values) -> Vector3<T> {
    using std::max;
    return values.unaryExpr([](const T& a) { return T(max(a, T(0))); });
  };
  const PrincipalAxes<T> axes = principal_axes(Symmetric3<T>::of(d.stretch));
  const Vector3<T> values = positive(axes.values);
  return {axes.Q * values.asDiagonal() * axes.Q.transpose(), positive(d.shear), positive(d.spin)};
}

/// Bounds of the eigenvalues of A, by trace and deviator: exact for uniaxial A.
template <class T>
struct Bounds {
  T lower, upper;
  T deviator;  ///< |dev A|
};
template <class T>
Bounds<T> bounds(const Symmetric3<T>& A) {
  using std::sqrt;
  const T mean = A.trace() / 3, deviator = sqrt((A - mean).squared_norm()), reach = std::sqrt(2.0 / 3) * deviator;
  return {mean - reach, mean + reach, deviator};
}
/// The largest sum of sizes in a row, which no eigenvalue exceeds in size: exact for diagonal A, and found without a
/// root.
template <class T>
T largest_row_sum(const Symmetric3<T>& A) {
  using std::abs, std::max;
  const T yz = abs(A.yz), xz = abs(A.xz), xy = abs(A.xy);
  return max(T(abs(A.xx) + xy + xz), max(T(abs(A.yy) + xy + yz), T(abs(A.zz) + xz + yz)));
}
/// Bounds of the squared singular values of F, the eigenvalues of F F^T.
template <class T>
Bounds<T> squared_stretch_bounds(const Matrix3<T>& F) {
  using std::max;
  const Bounds<T> b = bounds(left_square(F));
  return {max(T(0), b.lower), b.upper, b.deviator};
}

}  // namespace weft
