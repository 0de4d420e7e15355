#pragma once
// Singular values and polar decomposition of 2x2 and 3x3 matrices with rotations (never reflections) on both sides,
// symmetric eigenvalues, and the derivatives of these.

#include "weft/base/plane.hpp"
#include "weft/math/pack.hpp"
#include "weft/math/symmetric.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <cmath>

namespace weft {

/// Cofactor matrix det(F) F^{-T}; the derivative of det F. Exists for every F.
template <class T>
Matrix3<T> cofactor(const Matrix3<T>& F) {
  Matrix3<T> C;
  C.col(0) = F.col(1).cross(F.col(2));
  C.col(1) = F.col(2).cross(F.col(0));
  C.col(2) = F.col(0).cross(F.col(1));
  return C;
}

/// Change of the cofactor matrix as F changes by dF.
template <class T>
Matrix3<T> cofactor_differential(const Matrix3<T>& F, const Matrix3<T>& dF) {
  Matrix3<T> C;
  C.col(0) = dF.col(1).cross(F.col(2)) + F.col(1).cross(dF.col(2));
  C.col(1) = dF.col(2).cross(F.col(0)) + F.col(2).cross(dF.col(0));
  C.col(2) = dF.col(0).cross(F.col(1)) + F.col(0).cross(dF.col(1));
  return C;
}

/// F = U diag(s) V^T with rotations U, V (determinant +1) and s0 >= s1 >= |s2|; s2 has the sign of det F.
/// Exactly repeated singular values leave U and V a common freedom; any choice serves an isotropic function.
template <class T>
struct Svd {
  Matrix3<T> U;
  Vector3<T> s;
  Matrix3<T> V;
};

/// Accurate to a few units of round-off of s0 for every finite F: singular, inverted, zero, of any scale. Singular
/// values that are small because columns of F V are (not by cancellation) keep their own relative accuracy.
Svd<Real> polar_svd(const Mat3& F);
/// By value: laws call it for rare points only, and a matrix that is handed on by reference cannot stay in registers.
template <class T>
Svd<T> polar_svd(Matrix3<T> F);
template <>
Svd<Pack> polar_svd(Matrix3<Pack> F);

/// Change of (U, s, V) as F changes by dF: with B = U^T dF V,
///   ds_i = B_ii,  dU = U W, dV = V Z with W, Z skew,
///   W_ij = (B_ij s_j + s_i B_ji) / (s_j^2 - s_i^2),  Z_ij = (s_i B_ij + s_j B_ji) / (s_j^2 - s_i^2).
/// Exists only where |s_i| differ; a vanishing denominator gives zero rotation for its pair.
Svd<Real> svd_differential(const Svd<Real>& at, const Mat3& dF);

/// F = R S with R = U V^T the rotation of polar_svd and S = V diag(s) V^T symmetric (indefinite if det F < 0).
template <class T>
struct Polar {
  Matrix3<T> R;
  Matrix3<T> S;
};

/// Accurate to a few units of round-off. Cheaper than polar_svd for well-conditioned F with det F > 0.
Polar<Real> polar(const Mat3& F);

/// Change dR of the polar rotation as F changes by dF: dR = R [w]_x with
/// (tr(S) I - S) w = axial(R^T dF - dF^T R). [docs/theory/laws.md, 5.1] Unbounded where two singular values sum to
/// zero, which only singular or inverted F do; their sum is then held at 1e-6 of the largest; zero for F = 0.
Mat3 polar_differential(const Polar<Real>& at, const Mat3& dF);

/// A = Q diag(values) Q^T with a rotation Q and values in any order.
template <class T>
struct PrincipalAxes {
  Vector3<T> values;
  Matrix3<T> Q;
};
/// To a few units of round-off of the largest value; for numbers within 1e50 of one either way, and zero.
template <class T>
PrincipalAxes<T> principal_axes(const Symmetric3<T>& A);
template <>
PrincipalAxes<Real> principal_axes(const Symmetric3<Real>& A);
template <>
PrincipalAxes<Pack> principal_axes(const Symmetric3<Pack>& A);

/// exp A of any symmetric matrix, to some units of round-off of its largest eigenvalue.
template <class T>
Symmetric3<T> exponential(const Symmetric3<T>& A) {
  using std::exp;
  const auto is_near = A.squared_norm() < detail::exp_radius * detail::exp_radius;
  const Symmetric3<T> near = exp_near_zero(A);
  if (!any(!is_near)) return near;
  const PrincipalAxes<T> axes = principal_axes(A);
  const Vector3<T> values = axes.values.unaryExpr([](const T& a) { return T(exp(a)); });
  return select(is_near, near, Symmetric3<T>::of(axes.Q * values.asDiagonal() * axes.Q.transpose()));
}

/// A = Q diag(values) Q^T with a rotation Q and descending values.
struct SymmetricEigen {
  Vec3 values;
  Mat3 Q;
};

/// Eigenvalues of a symmetric matrix of any scale, to a few units of round-off of the largest. Reads the lower
/// triangle.
SymmetricEigen symmetric_eigen(const Mat3& A);

}  // namespace weft
