// Gauss-Legendre rules against the integrals of monomials.

#include "weft/math/quadrature.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Quadrature, TwoPointsLieAtTheKnownPlaces) {
  const Quadrature rule = gauss(2);
  EXPECT_DOUBLE_EQ(rule.at[0], 0.5 - 0.5 / std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(rule.at[1], 0.5 + 0.5 / std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(rule.weight[0], 0.5);
}

TEST(Quadrature, NPointsIntegrateMonomialsUpToDegree2NMinus1AndNoFurther) {
  for (int n = 1; n <= 10; ++n) {
    const Quadrature rule = gauss(n);
    for (int degree = 0; degree <= 2 * n; ++degree) {
      Real sum = 0;
      for (int k = 0; k < n; ++k) sum += rule.weight[k] * std::pow(rule.at[k], degree);
      const Real error = std::abs(sum - 1.0 / (degree + 1));
      if (degree < 2 * n) {
        EXPECT_LT(error, 1e-15) << n << " points, degree " << degree;
      } else {
        // The error of x^2n is (n!)^4 / ((2n + 1) (2n)!^2), 1e-13 for n = 10.
        EXPECT_GT(error, 1e-14) << n << " points, degree " << degree;
      }
    }
  }
}

}  // namespace
}  // namespace weft
