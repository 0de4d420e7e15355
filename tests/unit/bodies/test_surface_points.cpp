// Parts of triangles that contact points stand for, and the sides of a surface.

#include "bodies/surface_points.hpp"

#include <gtest/gtest.h>

#include "support/random_matrices.hpp"

#include <cmath>
#include <limits>

namespace weft {
namespace {

using test::MatrixSource;

/// A triangle of this base and height, whose top is over this part of the base, its corners in any order.
std::array<Vec3, 3> triangle(Real base, Real height, Real top, std::size_t first) {
  std::array<Vec3, 3> corners;
  corners[first] = Vec3::Zero();
  corners[(first + 1) % 3] = {base, 0, 0};
  corners[(first + 2) % 3] = {top * base, height, 0};
  return corners;
}

TEST(SurfacePointsTest, PartsHaveTheAreaAndTheMeanOfTheTriangle) {
  for (const Real height : {1.0, 0.3, 0.02, 1e-4})
    for (const Real density : {0.1, 4.0, 400.0}) {
      Real area = 0;
      Vec3 mean = Vec3::Zero();
      for (const auto& [weights, share] : TriangleParts::of(triangle(1.5, height, 0.3, 1), density)) {
        EXPECT_NEAR(weights.sum(), 1, 1e-12);
        area += share;
        mean += share * weights;
      }
      EXPECT_NEAR(area, 1, 1e-12);
      EXPECT_NEAR((mean - Vec3::Constant(1.0 / 3)).norm(), 0, 1e-12);
    }
}

TEST(SurfacePointsTest, NoPlaceOfATriangleIsFarFromAPartOrCorner) {
  MatrixSource random(8);
  const Real spacing = 0.1;
  for (int trial = 0; trial < 300; ++trial) {
    const Real height = std::pow(10.0, random.uniform(-4, 0));
    const auto corners = triangle(1.5, height, random.uniform(-0.5, 1.5), trial % 3);
    std::vector<Vec3> points(corners.begin(), corners.end());
    for (const auto& [b, share] : TriangleParts::of(corners, 1 / (spacing * spacing)))
      points.push_back(b[0] * corners[0] + b[1] * corners[1] + b[2] * corners[2]);
    for (int place = 0; place < 30; ++place) {
      const Real u = std::sqrt(random.uniform(0, 1)), v = random.uniform(0, 1);
      const Vec3 x = (1 - u) * corners[0] + u * (1 - v) * corners[1] + u * v * corners[2];
      Real nearest = std::numeric_limits<Real>::infinity();
      for (const Vec3& point : points) nearest = std::min(nearest, (point - x).norm());
      EXPECT_LT(nearest, 1.7 * spacing);
    }
  }
}

TEST(SurfacePointsTest, SquaresOfPartsThatAreNotSlenderAreAsManyAsAskedFor) {
  EXPECT_EQ(TriangleParts::of(triangle(1, 1, 0, 0), 2).size(), 1);
  EXPECT_EQ(TriangleParts::of(triangle(1, 1, 0, 0), 2.1).size(), 4);
  EXPECT_EQ(TriangleParts::of(triangle(1, 1, 0.5, 2), 18).size(), 9);
}

TEST(SurfacePointsTest, CornersFaceWhereTheirFacesDo) {
  const std::vector<Vec3> points{Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
  const std::vector<Triangle> tetrahedron{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  const auto sides = sides_of(points, tetrahedron);
  ASSERT_EQ(sides.size(), 4);
  for (const Vec3& way : {Vec3(-1, 0, 0), Vec3(0, -1, 0), Vec3(0, 0, -1), Vec3(-1, -1, -1), Vec3(-1, -1, 0)})
    EXPECT_TRUE(sides.at(0).face(way.normalized()));
  for (const Vec3& way : {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(1, 1, 1), Vec3(1, 1, -0.5)})
    EXPECT_FALSE(sides.at(0).face(way.normalized()));
  EXPECT_FALSE(sides.at(1).face(-Vec3::UnitX()));
}

}  // namespace
}  // namespace weft
