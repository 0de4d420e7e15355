#pragma once
// Forward-mode automatic derivative: a number that carries its derivative in one direction along. Usable as the scalar
// of Eigen matrices and of every function templated on its scalar.

#include "weft/base/types.hpp"
#include "weft/math/svd.hpp"

#include <cmath>

namespace weft {

/// value + slope * d, d infinitesimal. Comparisons look at the value only, so that branches go where they would without
/// derivatives.
struct Dual {
  Real value = 0;
  Real slope = 0;

  Dual() = default;
  Dual(Real v) : value(v) {}  // NOLINT(google-explicit-constructor): constants mix freely with duals
  Dual(Real v, Real s) : value(v), slope(s) {}

  Dual& operator+=(const Dual& b) { return *this = {value + b.value, slope + b.slope}; }
  Dual& operator-=(const Dual& b) { return *this = {value - b.value, slope - b.slope}; }
  Dual& operator*=(const Dual& b) { return *this = {value * b.value, slope * b.value + value * b.slope}; }
  Dual& operator/=(const Dual& b) {
    const Real q = value / b.value;
    return *this = {q, (slope - q * b.slope) / b.value};
  }
  friend Dual operator+(Dual a, const Dual& b) { return a += b; }
  friend Dual operator-(Dual a, const Dual& b) { return a -= b; }
  friend Dual operator*(Dual a, const Dual& b) { return a *= b; }
  friend Dual operator/(Dual a, const Dual& b) { return a /= b; }
  friend Dual operator-(const Dual& a) { return {-a.value, -a.slope}; }
  friend bool operator==(const Dual& a, const Dual& b) { return a.value == b.value; }
  friend auto operator<=>(const Dual& a, const Dual& b) { return a.value <=> b.value; }
};

}  // namespace weft

namespace Eigen {
template <>
struct NumTraits<weft::Dual> : NumTraits<weft::Real> {
  using Real = weft::Dual;
  using NonInteger = weft::Dual;
  using Nested = weft::Dual;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 2,
    AddCost = 2,
    MulCost = 4
  };
};
}  // namespace Eigen

namespace weft {

inline Dual sqrt(const Dual& a) {
  const Real r = std::sqrt(a.value);
  return {r, a.slope == 0 ? 0 : 0.5 * a.slope / r};
}
inline Dual fast_sqrt(const Dual& a) { return sqrt(a); }
inline Dual cbrt(const Dual& a) {
  const Real r = std::cbrt(a.value);
  return {r, a.slope == 0 ? 0 : a.slope / (3 * r * r)};
}
inline Dual exp(const Dual& a) {
  const Real r = std::exp(a.value);
  return {r, r * a.slope};
}
inline Dual log(const Dual& a) { return {std::log(a.value), a.slope / a.value}; }
inline Dual pow(const Dual& a, Real b) { return {std::pow(a.value, b), b * std::pow(a.value, b - 1) * a.slope}; }
inline Dual atan2(const Dual& y, const Dual& x) {
  const Real square = x.value * x.value + y.value * y.value;
  return {std::atan2(y.value, x.value), (x.value * y.slope - y.value * x.slope) / square};
}
inline Dual abs(const Dual& a) { return a.value < 0 ? -a : a; }
inline Dual min(const Dual& a, const Dual& b) { return b.value < a.value ? b : a; }
inline Dual max(const Dual& a, const Dual& b) { return a.value < b.value ? b : a; }
inline bool isfinite(const Dual& a) { return std::isfinite(a.value) && std::isfinite(a.slope); }

/// The plain number of a scalar, its derivative dropped.
inline Real value_of(const Dual& a) { return a.value; }

/// M as a function of d along the line M + d * direction; any shape.
template <int rows, int cols>
Eigen::Matrix<Dual, rows, cols> along(const Eigen::Matrix<Real, rows, cols>& M,
                                      const Eigen::Matrix<Real, rows, cols>& direction) {
  return M.binaryExpr(direction, [](Real v, Real s) { return Dual(v, s); });
}
inline Matrix3<Dual> along(const Mat3& M, const Mat3& direction) { return along<3, 3>(M, direction); }
template <int rows, int cols>
Eigen::Matrix<Real, rows, cols> values(const Eigen::Matrix<Dual, rows, cols>& M) {
  return M.unaryExpr([](const Dual& a) { return a.value; });
}
template <int rows, int cols>
Eigen::Matrix<Real, rows, cols> slopes(const Eigen::Matrix<Dual, rows, cols>& M) {
  return M.unaryExpr([](const Dual& a) { return a.slope; });
}

/// The decompositions of a matrix that moves: values by the plain routines, slopes by their stated derivatives.
inline Svd<Dual> polar_svd(const Matrix3<Dual>& F) {
  const Svd<Real> at = polar_svd(values(F));
  const Svd<Real> d = svd_differential(at, slopes(F));
  const auto join = [](Real v, Real s) { return Dual(v, s); };
  return {at.U.binaryExpr(d.U, join), at.s.binaryExpr(d.s, join), at.V.binaryExpr(d.V, join)};
}
/// With B = Q^T dA Q: dvalues_i = B_ii, dQ = Q W, W_ij = B_ij / (values_j - values_i).
inline PrincipalAxes<Dual> principal_axes(const Symmetric3<Dual>& A) {
  const Mat3 M = values(A.full());
  const PrincipalAxes<Real> at = principal_axes(Symmetric3<Real>::of(M));
  const Mat3 B = at.Q.transpose() * slopes(A.full()) * at.Q;
  Mat3 W = Mat3::Zero();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (at.values[i] != at.values[j]) W(i, j) = B(i, j) / (at.values[j] - at.values[i]);
  const auto join = [](Real v, Real s) { return Dual(v, s); };
  return {at.values.binaryExpr(Vec3(B.diagonal()), join), along(at.Q, at.Q * W)};
}
inline Polar<Dual> polar(const Matrix3<Dual>& F) {
  const Polar<Real> at = polar(values(F));
  const Mat3 dR = polar_differential(at, slopes(F));
  const Mat3 dS = dR.transpose() * values(F) + at.R.transpose() * slopes(F);
  return {along(at.R, dR), along(at.S, dS)};
}

}  // namespace weft
