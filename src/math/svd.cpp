// Jacobi rotations for singular values and eigenvalues, Newton's iteration for the polar rotation.

#include "weft/math/svd.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace weft {
namespace {

constexpr Real eps = std::numeric_limits<Real>::epsilon();

/// Cosine and sine of the rotation that makes [alpha gamma; gamma beta] diagonal, at most 45 degrees:
/// tan(2 angle) = 2 gamma / (beta - alpha), with the first vector becoming c a - s b, the second s a + c b.
template <class T>
struct Rotation {
  T c, s;
  T shift;  ///< what goes from the first diagonal entry to the second: gamma s / c
};
template <class T>
Rotation<T> jacobi_rotation(const T& alpha, const T& beta, const T& gamma) {
  using std::abs, std::copysign;
  const T delta = beta - alpha, square = delta * delta + 4 * gamma * gamma;
  const T h = fast_sqrt(square), sum = h + abs(delta);
  const T r = rsqrt(2 * h * sum);  // c^2 + s^2 = r^2 (sum^2 + 4 gamma^2) = 1
  return {sum * r, copysign(T(2 * r), delta) * gamma, copysign(T(0.5 * (h - abs(delta))), delta)};
}

/// Columns p and q of M become (c p - s q, s p + c q).
template <class T>
void rotate_columns(Matrix3<T>& M, int p, int q, const Rotation<T>& g) {
  for (int i = 0; i < 3; ++i) {
    const T a = M(i, p), b = M(i, q);
    M(i, p) = g.c * a - g.s * b;
    M(i, q) = g.s * a + g.c * b;
  }
}

/// Where told so, swaps two columns and turns one over, so that the determinant keeps its sign.
template <class T, class Mask>
void swap_columns(const Mask& swaps, Matrix3<T>& M, int p, int q) {
  for (int i = 0; i < 3; ++i) {
    const T a = M(i, p), b = M(i, q);
    M(i, p) = select(swaps, T(-b), a);
    M(i, q) = select(swaps, a, b);
  }
}
/// Where told so, swaps two numbers.
template <class T, class Mask>
void swap_values(const Mask& swaps, T& a, T& b) {
  const T old = a;
  a = select(swaps, b, old);
  b = select(swaps, old, b);
}

template <class T>
Vector3<T> any_perpendicular(const Vector3<T>& unit) {
  using std::abs;
  const T x = abs(unit[0]), y = abs(unit[1]), z = abs(unit[2]);
  const auto x_least = x <= y && x <= z, y_least = !x_least && y <= z;
  const T one(1), zero(0);
  const Vector3<T> axis(select(x_least, one, zero), select(y_least, one, zero), select(x_least || y_least, zero, one));
  const Vector3<T> perpendicular = unit.cross(axis);
  return perpendicular * rsqrt(T(perpendicular.squaredNorm()));
}

/// A power of two that brings `largest` near one; one where squares of squares neither over- nor underflow anyway.
Real safe_scale(Real largest) {
  if (!std::isfinite(largest) || (largest > 1e-50 && largest < 1e50)) return 1;
  return std::ldexp(Real(1), -std::clamp(std::ilogb(largest), -1022, 1022));
}
Pack safe_scale(const Pack& largest) {
  if (!any(!(largest > 1e-50 && largest < 1e50))) return 1;
  return by_lanes(largest, [](Real x) { return safe_scale(x); });
}

template <class T>
Svd<T> svd_by_rotations(const Matrix3<T>& F) {
  using std::abs, std::max, std::sqrt;
  T largest = abs(F(0));
  for (int i = 1; i < 9; ++i) largest = max(largest, T(abs(F(i))));
  const T scale = safe_scale(largest);
  // One-sided Jacobi [Hestenes 1958]: rotations V make the columns of B = F V orthogonal.
  Matrix3<T> B = scale * F, V = Matrix3<T>::Identity();
  constexpr Real tolerance = 4 * eps;  // a cosine between columns that is round-off
  const auto never = largest < 0;
  auto rotated = never;
  const auto make_orthogonal = [&](int p, int q) {
    const T alpha = B.col(p).squaredNorm(), beta = B.col(q).squaredNorm(), gamma = B.col(p).dot(B.col(q));
    const auto rotates = gamma * gamma > tolerance * tolerance * alpha * beta;
    if (!any(rotates)) return;
    const Rotation<T> turn = jacobi_rotation(alpha, beta, gamma);
    const Rotation<T> g = {select(rotates, turn.c, T(1)), select(rotates, turn.s, T(0)), T(0)};
    rotate_columns(B, p, q, g);
    rotate_columns(V, p, q, g);
    rotated = rotated || rotates;
  };
  for (int sweep = 0; sweep < 16; ++sweep) {
    rotated = never;
    make_orthogonal(0, 1);
    make_orthogonal(0, 2);
    make_orthogonal(1, 2);
    if (!any(rotated)) break;
  }
  Vector3<T> square = B.colwise().squaredNorm().transpose();
  const auto sort = [&](int p, int q) {
    const auto swaps = square[p] < square[q];
    swap_values(swaps, square[p], square[q]);
    swap_columns(swaps, B, p, q);
    swap_columns(swaps, V, p, q);
  };
  sort(0, 1);
  sort(1, 2);
  sort(0, 1);
  Matrix3<T> U;
  Vector3<T> s;
  s[0] = sqrt(square[0]);
  U.col(0) = B.col(0) * T(1 / s[0]);
  const Vector3<T> second = B.col(1) - U.col(0).dot(B.col(1)) * U.col(0);
  const T length = second.norm();
  U.col(1) = second * T(1 / length);
  // Beneath this a column is smaller than round-off of the first by far, and its square may have underflowed.
  const auto vanishes = !(length > 1e-100 * s[0]);
  if (any(vanishes)) U.col(1) = select(vanishes, any_perpendicular(Vector3<T>(U.col(0))), Vector3<T>(U.col(1)));
  U.col(2) = U.col(0).cross(U.col(1));
  s[2] = U.col(2).dot(B.col(2));
  s[1] = max(T(U.col(1).dot(B.col(1))), T(abs(s[2])));
  s[0] = max(s[0], s[1]);
  const T unscale = 1 / scale;
  const auto zero = largest == 0;
  const Matrix3<T> I = Matrix3<T>::Identity();
  // A rotation by nothing may turn -0 to 0 in a lane of which neighbours rotate on; adding 0 makes all zeros alike.
  const auto with_like_zeros = [](const T& x) { return T(x + 0.0); };
  return {select(zero, I, U).unaryExpr(with_like_zeros),
          select(zero, Vector3<T>(Vector3<T>::Zero()), Vector3<T>(unscale * s)).unaryExpr(with_like_zeros),
          select(zero, I, V).unaryExpr(with_like_zeros)};
}

/// The eigenvalue that stands apart from both others, its vector, and then a plane problem. With the scaled deviator
/// B = dev A / p, p^2 = |dev A|^2 / 6, eigenvalues are the roots of x^3 - 3 x - det B: none lies beyond 2 and, where
/// det B > 0, the largest beyond sqrt(3) and the others below 0; where det B < 0 the same holds of -B.
template <class T>
PrincipalAxes<T> axes_by_deflation(const Symmetric3<T>& A) {
  using std::abs, std::copysign, std::max;
  const T mean = A.trace() / 3;
  const Symmetric3<T> deviator = A - mean;
  const T square = deviator.squared_norm() / 6, per_p = rsqrt(max(square, T(1e-300))), p = square * per_p;
  const Symmetric3<T> B = per_p * deviator;
  // One step of Newton's iteration from the polynomial that meets 2 cos(acos(r) / 3) in Chebyshev's points of [0, 1]
  // and errs by 3e-8.
  static constexpr std::array<Real, 8> root{1.73205083,    0.333330086,  -0.0961547007,  0.0487847677,
                                            -0.0285791296, 0.0153286035, -0.00584566101, 0.00108521543};
  const T det = B.determinant(), r = abs(T(0.5 * det));
  T x = root[root.size() - 1];
  for (std::size_t n = root.size() - 1; n-- > 0;) x = x * r + root[n];
  x -= (x * (x * x - 3) - 2 * r) / (3 * (x * x - 1));
  const T apart = copysign(x, det);
  // cof(B - x I) = c n n^T with c >= 6, of which the longest column is n times c / sqrt(3) at least.
  const Symmetric3<T> C = (B - apart).cofactor();
  const auto second = C.yy > C.xx && C.yy >= C.zz, third = !second && C.zz > C.xx;
  const auto column = [&](const T& x, const T& y, const T& z) { return select(second, y, select(third, z, x)); };
  Vector3<T> n(column(C.xx, C.xy, C.xz), column(C.xy, C.yy, C.yz), column(C.xz, C.yz, C.zz));
  n *= rsqrt(T(n.squaredNorm()));
  // n, u, v are a rotation. [Duff et al. 2017]
  const T sign = copysign(T(1), n[2]), a = -1 / (sign + n[2]), b = n[0] * n[1] * a;
  const Vector3<T> u(1 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]), v(b, sign + n[1] * n[1] * a, -n[1]);
  const auto times = [&B](const Vector3<T>& w) {
    return Vector3<T>(B.xx * w[0] + B.xy * w[1] + B.xz * w[2], B.xy * w[0] + B.yy * w[1] + B.yz * w[2],
                      B.xz * w[0] + B.yz * w[1] + B.zz * w[2]);
  };
  const Vector3<T> Bv = times(v);
  const T alpha = u.dot(times(u)), beta = v.dot(Bv), gamma = u.dot(Bv);
  const auto turns = gamma * gamma >= 1e-300;
  const Rotation<T> turn = jacobi_rotation(alpha, beta, gamma);
  const T c = select(turns, turn.c, T(1)), s = select(turns, turn.s, T(0)), shift = select(turns, turn.shift, T(0));
  PrincipalAxes<T> axes;
  axes.values = {mean + p * apart, mean + p * (alpha - shift), mean + p * (beta + shift)};
  axes.Q.col(0) = n;
  axes.Q.col(1) = c * u - s * v;
  axes.Q.col(2) = s * u + c * v;
  return axes;
}

}  // namespace

Svd<Real> polar_svd(const Mat3& F) { return svd_by_rotations(F); }
template <>
[[gnu::flatten]] Svd<Pack> polar_svd(Matrix3<Pack> F) {
  return svd_by_rotations(F);
}

template <>
PrincipalAxes<Real> principal_axes(const Symmetric3<Real>& A) {
  return axes_by_deflation(A);
}
template <>
[[gnu::flatten]] PrincipalAxes<Pack> principal_axes(const Symmetric3<Pack>& A) {
  return axes_by_deflation(A);
}

Svd<Real> svd_differential(const Svd<Real>& at, const Mat3& dF) {
  const Mat3 B = at.U.transpose() * dF * at.V;
  Mat3 W = Mat3::Zero(), Z = Mat3::Zero();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const Real gap = (at.s[j] - at.s[i]) * (at.s[j] + at.s[i]);
      if (gap == 0) continue;
      W(i, j) = (B(i, j) * at.s[j] + at.s[i] * B(j, i)) / gap;
      Z(i, j) = (at.s[i] * B(i, j) + at.s[j] * B(j, i)) / gap;
    }
  return {at.U * W, B.diagonal(), at.V * Z};
}

Polar<Real> polar(const Mat3& F) {
  // Newton's iteration R <- (R + R^{-T}) / 2 [Higham 1986], which converges quadratically to the nearest rotation. The
  // error of its result grows with the condition of F, so badly conditioned and inverted F take the long way.
  Mat3 C = cofactor(F);
  Real J = F.col(0).dot(C.col(0));
  const Real size = F.squaredNorm();
  if (!(J > 0 && 64 * J * J > size * size * size / 27) || size < 1e-60 || size > 1e60) {
    const Svd<Real> svd = polar_svd(F);
    const Mat3 S = svd.V * svd.s.asDiagonal() * svd.V.transpose();
    return {svd.U * svd.V.transpose(), 0.5 * (S + S.transpose())};
  }
  // Scaled to determinant one at first, since distance from volume one costs iterations.
  const Real scale = J < 0.5 || J > 2 ? 1 / std::cbrt(J) : 1;
  Mat3 R = 0.5 * (scale * F + C / (scale * J));
  for (int i = 0; i < 20; ++i) {
    C = cofactor(R);
    J = R.col(0).dot(C.col(0));
    const Mat3 step = 0.5 * (C / J - R);
    R += step;
    if (step.squaredNorm() < 1e-17) break;  // the next step would be about step^2: round-off
  }
  const Mat3 S = R.transpose() * F;
  return {R, 0.5 * (S + S.transpose())};
}

Mat3 polar_differential(const Polar<Real>& at, const Mat3& dF) {
  const Mat3 A = at.R.transpose() * dF;
  const Vec3 axial(A(2, 1) - A(1, 2), A(0, 2) - A(2, 0), A(1, 0) - A(0, 1));
  const Mat3 K = at.S.trace() * Mat3::Identity() - at.S;
  const Mat3 C = cofactor(K);
  const Real det = K.col(0).dot(C.col(0)), size = K.cwiseAbs().maxCoeff();
  if (size == 0) return Mat3::Zero();
  Vec3 w;
  if (det > 1e-5 * size * size * size) {
    w = C * axial / det;  // K is symmetric
  } else {
    const SymmetricEigen eigen = symmetric_eigen(K);
    w = eigen.Q * (eigen.Q.transpose() * axial).cwiseQuotient(eigen.values.cwiseMax(1e-6 * size));
  }
  Mat3 W;
  W << 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0;
  return at.R * W;
}

SymmetricEigen symmetric_eigen(const Mat3& A) {
  const Real largest = A.cwiseAbs().maxCoeff();
  if (largest == 0) return {Vec3::Zero(), Mat3::Identity()};
  const Real scale = safe_scale(largest);
  auto [d, Q] = axes_by_deflation(scale * Symmetric3<Real>::of(A));
  for (const int p : {0, 1, 0}) {
    const bool swaps = d[p] < d[p + 1];
    swap_values(swaps, d[p], d[p + 1]);
    swap_columns(swaps, Q, p, p + 1);
  }
  return {d / scale, Q};
}

}  // namespace weft
