// Series for functions of symmetric matrices near the identity, eigenvalues for those far from it.

#include "weft/math/symmetric.hpp"

#include "weft/math/svd.hpp"

#include <array>
#include <cmath>

namespace weft {
namespace {

/// The six numbers of a symmetric matrix.
struct Symmetric {
  Real xx, yy, zz, yz, xz, xy;

  static Symmetric lower_triangle(const Mat3& A) { return {A(0, 0), A(1, 1), A(2, 2), A(2, 1), A(2, 0), A(1, 0)}; }
  Mat3 full() const { return Mat3{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}; }
  Real squared_norm() const { return xx * xx + yy * yy + zz * zz + 2 * (yz * yz + xz * xz + xy * xy); }

  friend Symmetric operator+(Symmetric a, Real identity) {
    return {a.xx + identity, a.yy + identity, a.zz + identity, a.yz, a.xz, a.xy};
  }
  friend Symmetric operator*(Real f, const Symmetric& a) {
    return {f * a.xx, f * a.yy, f * a.zz, f * a.yz, f * a.xz, f * a.xy};
  }
  /// Product of matrices with the same eigenvectors, which is symmetric.
  friend Symmetric operator*(const Symmetric& a, const Symmetric& b) {
    return {a.xx * b.xx + a.xy * b.xy + a.xz * b.xz, a.xy * b.xy + a.yy * b.yy + a.yz * b.yz,
            a.xz * b.xz + a.yz * b.yz + a.zz * b.zz, a.xy * b.xz + a.yy * b.yz + a.yz * b.zz,
            a.xx * b.xz + a.xy * b.yz + a.xz * b.zz, a.xx * b.xy + a.xy * b.yy + a.xz * b.yz};
  }
};

Symmetric inverse(const Symmetric& a) {
  const Symmetric c = {a.yy * a.zz - a.yz * a.yz, a.xx * a.zz - a.xz * a.xz, a.xx * a.yy - a.xy * a.xy,
                       a.xy * a.xz - a.xx * a.yz, a.xy * a.yz - a.yy * a.xz, a.xz * a.yz - a.zz * a.xy};
  return 1 / (a.xx * c.xx + a.xy * c.xy + a.xz * c.xz) * c;
}

/// sum_n c_n W^n by Horner's rule, cut where c_n |W|^n falls beneath round-off.
template <std::size_t N>
Symmetric power_series(const std::array<Real, N>& c, const Symmetric& W, Real norm) {
  std::size_t n = 1;
  for (Real power = norm; n < N - 1 && c[n] * power > 1e-17; power *= norm) ++n;
  Symmetric sum = c[n] * W + c[n - 1];
  while (--n > 0) sum = W * sum + c[n - 1];
  return sum;
}

// log A = 2 artanh Z = Z sum 2 W^n / (2n + 1) with Z = (A - I)(A + I)^{-1}, W = Z^2.
constexpr Real log_radius = 0.1;  // of |W|: 2/35 0.1^17 < 1e-17
constexpr std::array<Real, 18> log_series = [] {
  std::array<Real, 18> c{};
  for (std::size_t n = 0; n < c.size(); ++n) c[n] = 2 / (2.0 * n + 1);
  return c;
}();
// exp A = sum A^n / n!.
constexpr Real exp_radius = 0.5;  // of |A|: 0.5^16 / 16! < 1e-17
constexpr std::array<Real, 18> exp_series = [] {
  std::array<Real, 18> c{1};
  for (std::size_t n = 1; n < c.size(); ++n) c[n] = c[n - 1] / n;
  return c;
}();

template <class Function>
Mat3 by_eigenvalues(const Mat3& A, Function function) {
  const SymmetricEigen eigen = symmetric_eigen(A);
  return eigen.Q * Vec3(eigen.values.unaryExpr(function)).asDiagonal() * eigen.Q.transpose();
}

}  // namespace

Mat3 log_symmetric(const Mat3& A) {
  const Symmetric a = Symmetric::lower_triangle(A);
  const Symmetric Z = (a + -1) * inverse(a + 1), W = Z * Z;
  const Real norm = std::sqrt(W.squared_norm());
  if (!(norm < log_radius)) return by_eigenvalues(A, [](Real x) { return std::log(x); });
  return (Z * power_series(log_series, W, norm)).full();
}

Mat3 exp_symmetric(const Mat3& A) {
  const Symmetric a = Symmetric::lower_triangle(A);
  const Real norm = std::sqrt(a.squared_norm());
  if (!(norm < exp_radius)) return by_eigenvalues(A, [](Real x) { return std::exp(x); });
  return power_series(exp_series, a, norm).full();
}

}  // namespace weft
