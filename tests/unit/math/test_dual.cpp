// Dual numbers: the rules of differentiation, alone and through matrices.

#include "weft/math/dual.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace weft {
namespace {

using test::MatrixSource;

TEST(DualTest, KnowsTheDerivativesOfElementaryFunctions) {
  const Real x = 1.7;
  const Dual d(x, 1);
  EXPECT_DOUBLE_EQ((d * d * d).slope, 3 * x * x);
  EXPECT_DOUBLE_EQ((1 / d).slope, -1 / (x * x));
  EXPECT_DOUBLE_EQ((2.0 - d).slope, -1);
  EXPECT_DOUBLE_EQ(sqrt(d).slope, 0.5 / std::sqrt(x));
  EXPECT_DOUBLE_EQ(cbrt(d).slope, std::cbrt(x) / (3 * x));
  EXPECT_DOUBLE_EQ(exp(d).slope, std::exp(x));
  EXPECT_DOUBLE_EQ(log(d).slope, 1 / x);
  EXPECT_DOUBLE_EQ(pow(d, 2.5).slope, 2.5 * std::pow(x, 1.5));
  EXPECT_DOUBLE_EQ(abs(-d).slope, 1);
  EXPECT_DOUBLE_EQ(max(d, Dual(3)).slope, 0);
  EXPECT_DOUBLE_EQ(min(d, Dual(3)).slope, 1);
}

TEST(DualTest, ComparesByValue) {
  EXPECT_TRUE(Dual(1, 5) < Dual(2, 0));
  EXPECT_TRUE(Dual(1, 5) == Dual(1, 0));
  EXPECT_TRUE(Dual(1, 5) > 0.5);
}

TEST(DualTest, DeterminantOfAMovingMatrixMovesByTheCofactor) {
  MatrixSource source(1);
  const Mat3 F = source.matrix(), dF = source.matrix();
  EXPECT_NEAR(along(F, dF).determinant().slope, cofactor(F).cwiseProduct(dF).sum(), 1e-14);
}

TEST(DualTest, DecompositionsOfAMovingMatrixRebuildItWithItsMotion) {
  MatrixSource source(2);
  for (int i = 0; i < 100; ++i) {
    const Mat3 F = source.with_singular_values({1.5, 1.1, i % 2 ? 0.6 : -0.6}), dF = source.matrix();
    const Svd<Dual> svd = polar_svd(along(F, dF));
    const Matrix3<Dual> product = svd.U * svd.s.asDiagonal() * svd.V.transpose();
    EXPECT_LT((values(product) - F).norm(), 1e-14);
    EXPECT_LT((slopes(product) - dF).norm(), 1e-13);
    const Polar<Dual> p = polar(along(F, dF));
    EXPECT_LT((slopes(Matrix3<Dual>(p.R * p.S)) - dF).norm(), 1e-13);
    EXPECT_LT(slopes(Matrix3<Dual>(p.R.transpose() * p.R)).norm(), 1e-13);
  }
}

}  // namespace
}  // namespace weft
