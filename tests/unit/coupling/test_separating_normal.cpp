// Normals of outer edges that material meets: against a search among all normals of the edge, and the work that they
// do.

#include "coupling/separating_normal.hpp"

#include <gtest/gtest.h>

#include "support/random_matrices.hpp"
#include "weft/bodies/contact_extent.hpp"
#include "weft/geometry/primitives.hpp"

#include <cmath>
#include <numbers>

namespace weft {
namespace {

using test::MatrixSource;

/// The box x, z < 0, whose edge is the y axis, turned and moved.
struct Table {
  Placement placement;
  std::unique_ptr<Shape> shape = placed(make_box(Vec3(-9, -9, -9), Vec3(0, 9, 0)), placement);

  Vec3 normal_to(const Vec3& x, const Vec3& end, const Mat3& extent) const {
    const WallAround around{1e-3, [&](const Vec3& y) { return shape->surface(y); },
                            [&](const Vec3& y) { return shape->surface(y).distance; }};
    const Mat3& R = placement.rotation;
    const Surface face = shape->surface(placement(x));
    return R.transpose() * separated(around, placement(x), face, placement(end), R * extent * R.transpose()).normal;
  }
};

/// g of (6.1a) for the edge of the table.
Real separation(const Vec3& x, const Mat3& extent, const Vec3& n) {
  return n[0] * x[0] + n[2] * x[2] - reach_along(extent, n).distance;
}

/// The normal of the edge that is this far turned from the top [rad].
Vec3 of_edge(Real angle) { return {std::sin(angle), 0, std::cos(angle)}; }

Mat3 ellipsoid(MatrixSource& random) {
  const Mat3 axes = random.rotation();
  return axes * Vec3(0.09, 0.01, 0.04).asDiagonal() * axes.transpose();
}

TEST(SeparatingNormalTest, NoNormalOfTheEdgeSeparatesMore) {
  MatrixSource random(3);
  for (int trial = 0; trial < 50; ++trial) {
    const Table table{{1, random.rotation(), random.vector()}};
    const Mat3 extent = ellipsoid(random);
    const Vec3 x(0.1 + 0.2 * random.vector()[0], random.vector()[1], 0.2 + 0.1 * random.vector()[2]);
    const Vec3 n = table.normal_to(x, x, extent);
    Real most = -1;
    for (int k = 0; k <= 1000; ++k) most = std::max(most, separation(x, extent, of_edge(k * std::numbers::pi / 2000)));
    EXPECT_NEAR(n[1], 0, 1e-4);
    EXPECT_GE(std::min(n[0], n[2]), -1e-3);
    EXPECT_NEAR(separation(x, extent, n), most, 1e-5);
  }
}

TEST(SeparatingNormalTest, BallsAndFacesHaveTheirNearestOne) {
  MatrixSource random(4);
  const Table table{{1, random.rotation(), random.vector()}};
  const Vec3 beyond(0.1, 0.4, 0.2), over(-0.1, 0.4, 0.2);
  EXPECT_NEAR((table.normal_to(beyond, beyond, ball_extent(0.1).full()) - Vec3(1, 0, 2).normalized()).norm(), 0, 1e-9);
  EXPECT_NEAR((table.normal_to(over, over, Mat3(Vec3(0.01, 0.04, 0.04).asDiagonal())) - Vec3::UnitZ()).norm(), 0, 1e-9);
}

TEST(SeparatingNormalTest, WhatPassesMeetsTheFaceThatItsWayLeadsTo) {
  MatrixSource random(5);
  const Table table{{1, random.rotation(), random.vector()}};
  const Vec3 x(0.2, 0.4, 0.01);
  EXPECT_NEAR((table.normal_to(x, x - 0.5 * Vec3::UnitX(), Mat3::Zero()) - Vec3::UnitZ()).norm(), 0, 1e-9);
  EXPECT_NEAR((table.normal_to(x, x - Vec3(0.5, 0, 0.5), Mat3::Zero()) - Vec3::UnitX()).norm(), 0, 1e-9);
  EXPECT_NEAR((table.normal_to(x, x + 0.3 * Vec3::UnitX(), Mat3::Zero()) - Vec3(50, 0, 1).normalized()).norm(), 0,
              1e-3);
}

TEST(SeparatingNormalTest, OnlyTheMotionAtTheEndChangesTheGap) {
  MatrixSource random(6);
  const Table table{{}};
  for (int trial = 0; trial < 50; ++trial) {
    const Mat3 extent = ellipsoid(random), gradient = random.matrix();
    const Vec3 x(0.2, 0, 0.2), v = random.vector();
    const auto gap_after = [&](Real t) {
      const Mat3 growth = Mat3::Identity() + t * gradient, now = growth * extent * growth.transpose();
      return separation(x + t * v, now, table.normal_to(x + t * v, x + t * v, now));
    };
    const Vec3 n = table.normal_to(x, x, extent);
    const Vec3 of_end = v + gradient * reach_along(extent, n).to_end;
    const Real h = 1e-4;
    EXPECT_NEAR((gap_after(h) - gap_after(-h)) / (2 * h), n.dot(of_end), 1e-2);
  }
}

TEST(SeparatingNormalTest, WallsThatEndFlushHaveNoEdgeBetweenThem) {
  const auto left = make_box(Vec3(-9, -9, -9), Vec3(0, 9, 0)), right = make_box(Vec3(0, -9, -9), Vec3(9, 9, 0));
  const Vec3 x(0.01, 0, 0.2);
  const Mat3 extent = Vec3(0.09, 0.04, 0.04).asDiagonal();
  const WallAround around{
      1e-3, [&](const Vec3& y) { return left->surface(y); },
      [&](const Vec3& y) { return std::min(left->surface(y).distance, right->surface(y).distance); }};
  const Surface face = left->surface(x);
  const Surface met = separated(around, x, face, x, extent);
  EXPECT_EQ(met.normal, face.normal);
  EXPECT_NEAR(met.distance, face.distance, 1e-12);
}

}  // namespace
}  // namespace weft
