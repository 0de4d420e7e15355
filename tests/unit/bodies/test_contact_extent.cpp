// How far ellipsoids about points reach.

#include "weft/bodies/contact_extent.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

namespace weft::test {
namespace {

TEST(ContactExtentTest, AnEllipsoidEndsWhereItsTangentPlaneIs) {
  const Mat3 F = MatrixSource(3).near_identity(0.4);
  const Mat3 extent = 0.04 * F * F.transpose();  // the image of a ball
  const Vec3 n = Vec3(1, -2, 0.5).normalized();
  const auto [r, to_end] = reach_along(extent, n);
  EXPECT_NEAR(n.dot(to_end), -r, 1e-15);
  EXPECT_NEAR((F.inverse() * to_end).norm(), 0.2, 1e-15);
  for (int k = 0; k < 200; ++k) {
    const Vec3 on_ball = 0.2 * MatrixSource(static_cast<std::uint32_t>(k)).vector().normalized();
    EXPECT_GE(n.dot(F * on_ball), -r - 1e-15);
  }
}

TEST(ContactExtentTest, ReachesAlongFacesAtRightAnglesAreSetOneByOne) {
  const Vec3 a = Vec3(1, 2, 2) / 3, b = Vec3(2, 1, -2) / 3;
  const Mat3 extent = with_reach(with_reach(ball_extent(0.25).full(), a, 0.05), b, 0.45);
  EXPECT_NEAR(reach_along(extent, a).distance, 0.05, 1e-15);
  EXPECT_NEAR(reach_along(extent, b).distance, 0.45, 1e-15);
  EXPECT_NEAR(reach_along(extent, a.cross(b)).distance, 0.25, 1e-15);
}

TEST(ContactExtentTest, TheFaceThatIsSetLastCountsAndNoAxisBecomesNegative) {
  MatrixSource source(9);
  for (int k = 0; k < 50; ++k) {
    const Vec3 a = source.vector().normalized(), b = source.vector().normalized();
    const Mat3 extent = with_reach(with_reach(ball_extent(0.25).full(), a, 0.4), b, 0.01);
    EXPECT_NEAR(reach_along(extent, b).distance, 0.01, 1e-14);
    EXPECT_GE(Eigen::SelfAdjointEigenSolver<Mat3>(extent).eigenvalues().minCoeff(), -1e-16);
  }
}

TEST(ContactExtentTest, WhatIsInAWallReachesBackAndHasNoEnd) {
  const Mat3 extent = with_reach(ball_extent(0.25).full(), Vec3::UnitY(), -0.1);
  EXPECT_NEAR(reach_along(extent, Vec3::UnitY()).distance, -0.1, 1e-15);
  EXPECT_TRUE(reach_along(extent, Vec3::UnitY()).to_end.isZero(0));
  EXPECT_NEAR(reach_along(extent, Vec3::UnitX()).distance, 0.25, 1e-15);
  EXPECT_NEAR(reach_along(with_reach(Mat3::Zero(), Vec3::UnitZ(), 0.3), Vec3::UnitZ()).distance, 0.3, 1e-15);
}

}  // namespace
}  // namespace weft::test
