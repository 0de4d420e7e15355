#pragma once
// Symmetric 3x3 matrices: logarithm, exponential and square root as polynomials of the matrix, without decomposition.

#include "weft/base/types.hpp"
#include "weft/math/scalar.hpp"

#include <array>
#include <cmath>
#include <type_traits>

namespace weft {

/// The six numbers of a symmetric matrix.
template <class T>
struct Symmetric3 {
  T xx, yy, zz, yz, xz, xy;

  /// Reads the lower triangle.
  static Symmetric3 of(const Matrix3<T>& A) { return {A(0, 0), A(1, 1), A(2, 2), A(2, 1), A(2, 0), A(1, 0)}; }
  Matrix3<T> full() const {
    Matrix3<T> A;
    A(0, 0) = xx, A(1, 1) = yy, A(2, 2) = zz;
    A(2, 1) = A(1, 2) = yz, A(2, 0) = A(0, 2) = xz, A(1, 0) = A(0, 1) = xy;
    return A;
  }
  bool operator==(const Symmetric3&) const = default;
  T trace() const { return xx + yy + zz; }
  T squared_norm() const { return xx * xx + yy * yy + zz * zz + 2 * (yz * yz + xz * xz + xy * xy); }
  /// Sum of the principal minors of order two: s1 s2 + s2 s3 + s3 s1 of the eigenvalues.
  T second_invariant() const { return xx * yy - xy * xy + (yy * zz - yz * yz) + (zz * xx - xz * xz); }
  T determinant() const { return xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz); }
  Symmetric3 cofactor() const {
    return {yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy,
            xy * xz - xx * yz, xy * yz - yy * xz, xz * yz - zz * xy};
  }

  friend Symmetric3 operator+(const Symmetric3& a, const Symmetric3& b) {
    return {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.yz + b.yz, a.xz + b.xz, a.xy + b.xy};
  }
  friend Symmetric3 operator-(const Symmetric3& a, const Symmetric3& b) { return a + T(-1) * b; }
  /// The number stands for that multiple of the identity.
  friend Symmetric3 operator+(const Symmetric3& a, const T& identity) {
    return {a.xx + identity, a.yy + identity, a.zz + identity, a.yz, a.xz, a.xy};
  }
  friend Symmetric3 operator-(const Symmetric3& a, const T& identity) { return a + (-identity); }
  friend Symmetric3 operator*(const T& f, const Symmetric3& a) {
    return {f * a.xx, f * a.yy, f * a.zz, f * a.yz, f * a.xz, f * a.xy};
  }
};

/// Of packs; for single numbers there is a select already.
template <class Mask, class T>
  requires(!std::is_same_v<Mask, bool>)
Symmetric3<T> select(const Mask& mask, const Symmetric3<T>& a, const Symmetric3<T>& b) {
  return {select(mask, a.xx, b.xx), select(mask, a.yy, b.yy), select(mask, a.zz, b.zz),
          select(mask, a.yz, b.yz), select(mask, a.xz, b.xz), select(mask, a.xy, b.xy)};
}

/// A B of matrices with the same eigenvectors, which is symmetric.
template <class T>
Symmetric3<T> commuting_product(const Symmetric3<T>& a, const Symmetric3<T>& b) {
  return {a.xx * b.xx + a.xy * b.xy + a.xz * b.xz, a.xy * b.xy + a.yy * b.yy + a.yz * b.yz,
          a.xz * b.xz + a.yz * b.yz + a.zz * b.zz, a.xy * b.xz + a.yy * b.yz + a.yz * b.zz,
          a.xx * b.xz + a.xy * b.yz + a.xz * b.zz, a.xx * b.xy + a.xy * b.yy + a.xz * b.yz};
}

/// F F^T.
template <class T>
Symmetric3<T> left_square(const Matrix3<T>& F) {
  const auto rows = [&F](int i, int j) -> T { return F(i, 0) * F(j, 0) + F(i, 1) * F(j, 1) + F(i, 2) * F(j, 2); };
  return {rows(0, 0), rows(1, 1), rows(2, 2), rows(2, 1), rows(2, 0), rows(1, 0)};
}

/// S F.
template <class T>
Matrix3<T> operator*(const Symmetric3<T>& S, const Matrix3<T>& F) {
  Matrix3<T> A;
  for (int j = 0; j < 3; ++j) {
    A(0, j) = S.xx * F(0, j) + S.xy * F(1, j) + S.xz * F(2, j);
    A(1, j) = S.xy * F(0, j) + S.yy * F(1, j) + S.yz * F(2, j);
    A(2, j) = S.xz * F(0, j) + S.yz * F(1, j) + S.zz * F(2, j);
  }
  return A;
}

/// S v.
template <class T>
Vector3<T> operator*(const Symmetric3<T>& S, const Vector3<T>& v) {
  return {S.xx * v[0] + S.xy * v[1] + S.xz * v[2], S.xy * v[0] + S.yy * v[1] + S.yz * v[2],
          S.xz * v[0] + S.yz * v[1] + S.zz * v[2]};
}

/// sum c_n A^n by Horner's rule on the three coefficients of A^2, A and I, since by Cayley and Hamilton
/// A^3 = tr(A) A^2 - II A + III I: three products for each power.
template <class T, std::size_t N>
Symmetric3<T> power_series(const std::array<Real, N>& c, const Symmetric3<T>& A) {
  const T I = A.trace(), II = A.second_invariant(), III = A.determinant();
  T x = c[N - 1], y = c[N - 2], z = c[N - 3];
  for (std::size_t n = N - 3; n-- > 0;) {
    const T top = x;
    x = I * top + y;
    y = z - II * top;
    z = III * top + c[n];
  }
  return x * commuting_product(A, A) + y * A + z;
}

/// By the short series where `is_near`, else by the long one; a lane has the same bits whatever its neighbours need.
template <class T, class Mask, std::size_t Few, std::size_t Many>
Symmetric3<T> power_series(const Mask& is_near, const std::array<Real, Few>& few, const std::array<Real, Many>& many,
                           const Symmetric3<T>& A) {
  const Symmetric3<T> near = power_series(few, A);
  return any(!is_near) ? select(is_near, near, power_series(many, A)) : near;
}

namespace detail {
/// The polynomial of lower degree that takes the place of sum c_n w^n on [0, r]: from the highest power on, each is
/// replaced by what Chebyshev's polynomial of its degree, scaled to [0, r], leaves of it. [Lanczos 1938]
template <std::size_t kept, std::size_t N>
constexpr std::array<Real, kept> economized(std::array<Real, N> c, Real r) {
  for (std::size_t n = N - 1; n >= kept; --n) {
    // T*_n(u) = sum t_k u^k with t_n = 2^(2n-1), t_{k-1} = -t_k k (2k - 1) / (2 (n - k + 1) (n + k - 1)).
    Real ratio = 1, power = 1;  // t_k / t_n and r^{n-k}
    for (std::size_t k = n; k > 0; --k) {
      const Real a = static_cast<Real>(k), b = static_cast<Real>(n);
      ratio *= -a * (2 * a - 1) / (2 * (b - a + 1) * (b + a - 1));
      power *= r;
      c[k - 1] -= c[n] * ratio * power;
    }
  }
  std::array<Real, kept> low{};
  for (std::size_t n = 0; n < kept; ++n) low[n] = c[n];
  return low;
}

// log A = 2 artanh Z = Z sum 2 W^n / (2n + 1) with Z = (A - I)(A + I)^{-1}, W = Z^2.
template <std::size_t N>
constexpr std::array<Real, N> log_terms() {
  std::array<Real, N> c{};
  for (std::size_t n = 0; n < N; ++n) c[n] = 2 / (2.0 * static_cast<Real>(n) + 1);
  return c;
}
inline constexpr Real log_radius = 0.5;  // of tr W; 2/105 0.5^52 < 1e-17
inline constexpr std::array<Real, 23> log_series = economized<23>(log_terms<52>(), log_radius);
inline constexpr Real short_log_radius = 0.04;  // strains of a fifth; 2/25 0.04^12 < 1e-17
inline constexpr std::array<Real, 8> short_log_series = economized<8>(log_terms<12>(), short_log_radius);
// exp A = sum A^n / n!: 0.9^18 / 18! < 1e-16, 0.1^10 / 10! < 1e-16.
inline constexpr Real exp_radius = 0.9;  // of |A|
template <std::size_t N>
constexpr std::array<Real, N> exp_terms() {
  std::array<Real, N> c{1};
  for (std::size_t n = 1; n < N; ++n) c[n] = c[n - 1] / static_cast<Real>(n);
  return c;
}
inline constexpr std::array<Real, 18> exp_series = exp_terms<18>();
inline constexpr Real short_exp_radius = 0.1;
inline constexpr std::array<Real, 10> short_exp_series = exp_terms<10>();
}  // namespace detail

/// A function of a matrix by a way that serves only some matrices.
template <class T>
struct NearlyAlways {
  Symmetric3<T> value;
  decltype(T() < T()) valid;
};

/// Logarithm of a symmetric positive definite matrix whose eigenvalues a satisfy sum ((a - 1)/(a + 1))^2 < 1/2 (one
/// alone may lie between 1/5.8 and 5.8, and |log A| < 1.8), to a few units of round-off of the identity.
template <class T>
NearlyAlways<T> log_near_identity(const Symmetric3<T>& A) {
  const Symmetric3<T> sum = A + T(1), cofactor = sum.cofactor();
  const T J = sum.xx * cofactor.xx + sum.xy * cofactor.xy + sum.xz * cofactor.xz;
  const Symmetric3<T> Z = T(1 / J) * commuting_product(A - T(1), cofactor), W = commuting_product(Z, Z);
  const T size = W.trace();
  const auto series = power_series(size < detail::short_log_radius, detail::short_log_series, detail::log_series, W);
  // Eigenvalues beyond -1, for which the series is not meant, have |z| > 1.
  return {commuting_product(Z, series), size < detail::log_radius};
}

/// Exponential of a symmetric matrix of norm up to 0.9, to a few units of round-off.
template <class T>
Symmetric3<T> exp_near_zero(const Symmetric3<T>& A) {
  const auto is_near = A.squared_norm() < detail::short_exp_radius * detail::short_exp_radius;
  return power_series(is_near, detail::short_exp_series, detail::exp_series, A);
}

/// V with V^2 = b and det V = J, given b = F F^T and J = det F: the left stretch F = V R of the polar rotation R, which
/// is indefinite for J < 0. With the singular values s1 >= s2 >= |s3|, s3 of the sign of J, and d = (s1 + s2)(s2 + s3)
/// (s3 + s1): valid where d > (s1 + s2 + s3)^3 / 20, which is about s2 + s3 > s1 / 20; the error is 2e-14 s1^4 / d.
/// The trace x of V is the largest root of (x^2 - tr b)^2 - 8 J x - 4 II_b = 0, as tr b = x^2 - 2 II_V and
/// II_b = II_V^2 - 2 J x; then (II_V x - J) V = (II_V + tr b) b - b^2 + x J I. [Hoger & Carlson 1984]
/// near: where the trace is looked for first if J > 0; what is far from it may not be found, and is not valid then.
template <class T>
NearlyAlways<T> left_stretch(const Symmetric3<T>& b, const T& J, const T& near) {
  using std::sqrt, std::abs;
  const T I = b.trace(), II = b.second_invariant();
  // Halley's iteration is cubic; from above the largest of four real roots it descends without overshooting. If J > 0,
  // no other root is positive and has (s1 + s2)(s2 + s3)(s3 + s1) > 0.
  T x = near;
  const auto is_inverted = !(J > 0);
  if (any(is_inverted)) x = select(is_inverted, T(sqrt(3 * I)), x);
  auto moves = x > 0;
  for (int i = 0; i < 30 && any(moves); ++i) {
    const T w = x * x - I;
    const T f = w * w - 8 * J * x - 4 * II, df = 4 * w * x - 8 * J, half_ddf = 6 * x * x - 2 * I;
    const T step = f * df / (df * df - f * half_ddf);
    x = select(moves, T(x - step), x);
    moves = moves && abs(step) > 4e-6 * x;  // the next step would be within the error
  }
  const T II_V = 0.5 * (x * x - I), pairs = II_V * x - J;  // d
  const T inverse = 1 / pairs;
  const Symmetric3<T> V = T((II_V + I) * inverse) * b + T(-inverse) * commuting_product(b, b) + T(x * J * inverse);
  return {V, !moves && x > 0 && pairs > 0.05 * x * x * x};
}
template <class T>
NearlyAlways<T> left_stretch(const Symmetric3<T>& b, const T& J) {
  using std::sqrt;
  return left_stretch(b, J, T(sqrt(3 * b.trace())));
}

}  // namespace weft
