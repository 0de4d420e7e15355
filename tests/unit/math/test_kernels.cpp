// The B-spline kernels: consistency, inertia, gradients.

#include "weft/math/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace weft {
namespace {

template <class K>
class KernelTest : public ::testing::Test {
 protected:
  struct At {
    int base;
    Real w[K::nodes], dw[K::nodes];
  };
  static At at(Real x) {
    At a;
    a.base = K::base(x);
    K::weights(x - a.base, a.w);
    K::gradients(x - a.base, a.dw);
    return a;
  }
  /// Coordinates over several cells on both sides of zero, including nodes and cell middles.
  static std::vector<Real> coordinates() {
    std::vector<Real> xs;
    for (int i = -320; i <= 320; ++i) xs.push_back(i / 64.0);
    for (int i = -40; i <= 40; ++i) xs.push_back(i * 0.1237);
    return xs;
  }
};
using Kernels = ::testing::Types<LinearKernel, QuadraticKernel, CubicKernel>;
TYPED_TEST_SUITE(KernelTest, Kernels);

constexpr Real round_off = 1e-14;  // sums of four products of numbers below ten

TYPED_TEST(KernelTest, WeightsAreNotNegativeAndSumToOne) {
  for (const Real x : this->coordinates()) {
    const auto a = this->at(x);
    Real sum = 0;
    for (const Real w : a.w) {
      EXPECT_GE(w, 0) << x;
      sum += w;
    }
    EXPECT_NEAR(sum, 1, round_off) << x;
  }
}

TYPED_TEST(KernelTest, WeightedNodesGiveTheCoordinateBack) {
  for (const Real x : this->coordinates()) {
    const auto a = this->at(x);
    Real sum = 0;
    for (int i = 0; i < TypeParam::nodes; ++i) sum += a.w[i] * (a.base + i);
    EXPECT_NEAR(sum, x, round_off) << x;
  }
}

TYPED_TEST(KernelTest, GradientsSumToZeroAndReproduceSlopeOne) {
  for (const Real x : this->coordinates()) {
    const auto a = this->at(x);
    Real sum = 0, slope = 0;
    for (int i = 0; i < TypeParam::nodes; ++i) {
      sum += a.dw[i];
      slope += a.dw[i] * (a.base + i);
    }
    EXPECT_NEAR(sum, 0, round_off) << x;
    EXPECT_NEAR(slope, 1, round_off) << x;
  }
}

TYPED_TEST(KernelTest, InertiaIsTheStatedConstantOrTheHatFunctionsProduct) {
  for (const Real x : this->coordinates()) {
    const auto a = this->at(x);
    Real inertia = 0;
    for (int i = 0; i < TypeParam::nodes; ++i) inertia += a.w[i] * (a.base + i - x) * (a.base + i - x);
    const Real fraction = x - std::floor(x);
    const Real expected = TypeParam::inverse_inertia > 0 ? 1 / TypeParam::inverse_inertia : fraction * (1 - fraction);
    EXPECT_NEAR(inertia, expected, round_off) << x;
  }
}

TYPED_TEST(KernelTest, GradientsAreDerivativesOfWeights) {
  // Weights are cubic in x at most, so the central difference errs by h^2/6 |w'''| <= 3/6 h^2 and round-off 1e-16/h.
  const Real h = 1e-5;
  for (const Real x : this->coordinates()) {
    const auto a = this->at(x);
    const Real t = x - a.base;
    Real plus[TypeParam::nodes], minus[TypeParam::nodes];
    TypeParam::weights(t + h, plus);
    TypeParam::weights(t - h, minus);
    for (int i = 0; i < TypeParam::nodes; ++i) EXPECT_NEAR((plus[i] - minus[i]) / (2 * h), a.dw[i], 1e-9) << x;
  }
}

TYPED_TEST(KernelTest, WeightsAreContinuousWhereTheBaseNodeJumps) {
  // Between neighbouring coordinates the weight of any one node moves by less than its largest slope, one.
  const Real step = 1e-9;
  for (int i = -8; i <= 8; ++i) {
    const Real x = 0.5 * i;
    const auto below = this->at(x - step), above = this->at(x + step);
    for (int node = below.base - 1; node <= above.base + TypeParam::nodes; ++node) {
      const auto weight = [&](const auto& a) {
        const int k = node - a.base;
        return k < 0 || k >= TypeParam::nodes ? 0.0 : a.w[k];
      };
      EXPECT_NEAR(weight(below), weight(above), 2.1 * step) << x << " node " << node;
    }
  }
}

TEST(FloorTest, RoundsDownOnBothSidesOfZero) {
  EXPECT_EQ(floor_to_int(2.0), 2);
  EXPECT_EQ(floor_to_int(1.999), 1);
  EXPECT_EQ(floor_to_int(-0.001), -1);
  EXPECT_EQ(floor_to_int(-2.0), -2);
  EXPECT_EQ(floor_to_int(-2.001), -3);
}

TEST(KernelBaseTest, BaseNodesFollowTheRuleOfEachKernel) {
  EXPECT_EQ(LinearKernel::base(3.2), 3);
  EXPECT_EQ(LinearKernel::base(-3.2), -4);
  EXPECT_EQ(QuadraticKernel::base(3.2), 2);
  EXPECT_EQ(QuadraticKernel::base(3.6), 3);
  EXPECT_EQ(QuadraticKernel::base(-3.2), -4);
  EXPECT_EQ(CubicKernel::base(3.2), 2);
  EXPECT_EQ(CubicKernel::base(-3.2), -5);
}

}  // namespace
}  // namespace weft
