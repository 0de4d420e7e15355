// Nearest points of segments and triangles.

#include "bodies/nearest_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace weft {
namespace {

constexpr std::array<Real, 3> weights_of(Real a, Real b, Real c) { return {a, b, c}; }

TEST(NearestWeightsTest, InsideOnASideAndAtACorner) {
  const std::array<Vec3, 3> corners{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  EXPECT_EQ(nearest_weights(corners, Vec3(0.25, 0.25, 7)), weights_of(0.5, 0.25, 0.25));
  EXPECT_EQ(nearest_weights(corners, Vec3(0.25, -3, 1)), weights_of(0.75, 0.25, 0));
  EXPECT_EQ(nearest_weights(corners, Vec3(1, 1, 0)), weights_of(0, 0.5, 0.5));
  EXPECT_EQ(nearest_weights(corners, Vec3(-1, -2, 0)), weights_of(1, 0, 0));
  EXPECT_EQ(nearest_weights(corners, Vec3(9, -1, 0)), weights_of(0, 1, 0));
  EXPECT_EQ(nearest_weights(std::array<Vec3, 2>{Vec3(0, 0, 0), Vec3(2, 0, 0)}, Vec3(0.5, 1, 0)),
            (std::array<Real, 2>{0.75, 0.25}));
}

TEST(NearestWeightsTest, NoOtherPointIsNearer) {
  std::mt19937 random(7);
  std::uniform_real_distribution<Real> any(-1, 1);
  const auto vector = [&] { return Vec3(any(random), any(random), any(random)); };
  for (int k = 0; k < 300; ++k) {
    const std::array<Vec3, 3> c{vector(), vector(), vector()};
    const Vec3 x = 2 * vector();
    const auto w = nearest_weights(c, x);
    EXPECT_NEAR(w[0] + w[1] + w[2], 1, 1e-14);
    const Real found = (w[0] * c[0] + w[1] * c[1] + w[2] * c[2] - x).norm();
    for (int i = 0; i <= 20; ++i)
      for (int j = 0; i + j <= 20; ++j)
        EXPECT_LE(found, (c[0] + i / 20.0 * (c[1] - c[0]) + j / 20.0 * (c[2] - c[0]) - x).norm() + 1e-12);
  }
}

TEST(NearestWeightsTest, ATriangleWithoutAreaIsItsSides) {
  const std::array<Vec3, 3> corners{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(3, 0, 0)};
  const auto w = nearest_weights(corners, Vec3(2, 1, 0));
  EXPECT_NEAR(w[1] + 3 * w[2], 2, 1e-12);
}

}  // namespace
}  // namespace weft
