// Logarithm and exponential of symmetric matrices, near the identity and far from it.

#include "weft/math/symmetric.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace weft {
namespace {

using test::MatrixSource;

Mat3 with_eigenvalues(const Mat3& Q, const Vec3& values) { return Q * values.asDiagonal() * Q.transpose(); }

TEST(SymmetricTest, LogarithmAndExponentialActOnEigenvalues) {
  MatrixSource source(1);
  for (const Real size : {0.0, 1e-12, 1e-6, 1e-3, 0.03, 0.1, 0.2, 0.3, 0.35, 0.5, 1.0, 3.0})
    for (int i = 0; i < 50; ++i) {
      const Mat3 Q = source.rotation();
      const Vec3 e = i == 0 ? Vec3(size, size, size) : i == 1 ? Vec3(size, size, -size) : Vec3(size * source.vector());
      const Mat3 A = with_eigenvalues(Q, e), exp_A = with_eigenvalues(Q, e.array().exp());
      // Round-off of matrices of size exp(3) at most, and its image under the logarithm, whose slope is exp(3) at most.
      const Real round_off = 1e-14 * std::exp(2 * size);
      EXPECT_LT((exp_symmetric(A) - exp_A).norm(), round_off) << size;
      EXPECT_LT((log_symmetric(exp_A) - A).norm(), round_off) << size;
    }
}

TEST(SymmetricTest, SmallStrainsKeepTheirDigits) {
  // The logarithm of I + E with E exact in binary is E - E^2/2 up to E^3/3 < 1e-22.
  const Real s = std::ldexp(1.0, -24);
  const Mat3 E = s * Mat3{{2, 1, 0}, {1, -1, 3}, {0, 3, 1}};
  EXPECT_LT((log_symmetric(Mat3::Identity() + E) - (E - 0.5 * E * E)).norm(), 1e-20);
}

}  // namespace
}  // namespace weft
