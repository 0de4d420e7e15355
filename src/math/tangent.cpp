#include "weft/math/tangent.hpp"

#include <Eigen/Eigenvalues>

namespace weft {

Mat9 positive_part(const Mat9& matrix) {
  const Eigen::SelfAdjointEigenSolver<Mat9> eigen(0.5 * (matrix + matrix.transpose()));
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() * eigen.eigenvectors().transpose();
}

namespace {

using Matrix11 = Eigen::Matrix<Pack, 11, 11>;
constexpr int n = 11;

/// Rotates axes p and q so that A(p, q) vanishes, in lanes where it is more than `least`; false if there are none.
/// Reads and writes the upper triangle of A; the columns of V turn with it. [Jacobi 1846]
bool rotate(int p, int q, const Pack& least, Matrix11& A, Matrix11& V) {
  const Pack off = A(p, q);
  const PackMask rotates = abs(off) > least;
  if (!any(rotates)) return false;
  const Pack half = (A(q, q) - A(p, p)) / (2 * select(rotates, off, 1));
  const Pack tangent = select(rotates, copysign(1, half) / (abs(half) + sqrt(half * half + 1)), 0);
  const Pack c = rsqrt(tangent * tangent + 1), s = tangent * c;
  A(p, p) -= tangent * off;
  A(q, q) += tangent * off;
  A(p, q) = select(rotates, 0, off);
  const auto turn = [&](Pack& a, Pack& b) {
    const Pack before = a;
    a = c * before - s * b;
    b = s * before + c * b;
  };
  for (int k = 0; k < p; ++k) turn(A(k, p), A(k, q));
  for (int k = p + 1; k < q; ++k) turn(A(p, k), A(k, q));
  for (int k = q + 1; k < n; ++k) turn(A(p, k), A(q, k));
  for (int k = 0; k < n; ++k) turn(V(k, p), V(k, q));
  return true;
}

}  // namespace

[[gnu::flatten]] Matrix11 positive_part(const Matrix11& matrix) {
  constexpr int most_sweeps = 16;  // they converge quadratically
  Matrix11 A = matrix, V = Matrix11::Identity();
  const Pack least = 1e-16 * sqrt(A.squaredNorm());
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < most_sweeps; ++sweep) {
    rotated = false;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) rotated = rotate(p, q, least, A, V) || rotated;
  }
  Matrix11 part = Matrix11::Zero();
  for (int k = 0; k < n; ++k) {
    const Pack value = max(A(k, k), 0);
    for (int j = 0; j < n; ++j) {
      const Pack weighed = value * V(j, k);
      for (int i = 0; i < n; ++i) part(i, j) += V(i, k) * weighed;
    }
  }
  return part;
}

}  // namespace weft
