// Closed surfaces in one another: depths of boxes in closed form.

#include "weft/geometry/overlap.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

SurfaceMesh box(const Vec3& lower, const Vec3& upper) {
  SurfaceMesh mesh;
  for (int k = 0; k < 8; ++k)
    mesh.points.emplace_back((k & 1) != 0 ? upper.x() : lower.x(), (k & 2) != 0 ? upper.y() : lower.y(),
                             (k & 4) != 0 ? upper.z() : lower.z());
  mesh.add_face({0, 2, 3, 1});
  mesh.add_face({4, 5, 7, 6});
  mesh.add_face({0, 1, 5, 4});
  mesh.add_face({2, 6, 7, 3});
  mesh.add_face({0, 4, 6, 2});
  mesh.add_face({1, 3, 7, 5});
  return mesh;
}

TEST(OverlapTest, FindsTheDeepestPointWhicheverComesFirst) {
  const SurfaceMesh low = box(Vec3::Zero(), Vec3(2, 2, 1)), high = box(Vec3(0.5, 0.6, 0.9), Vec3(1.3, 1.4, 2));
  for (const auto& found : {overlap_of(low, high), overlap_of(high, low)}) {
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->depth, 0.1, 1e-14);
    EXPECT_NEAR(found->where.z(), 0.9, 1e-14);
  }
}

TEST(OverlapTest, SurfacesThatTouchOrAreApartDoNotOverlap) {
  const SurfaceMesh low = box(Vec3::Zero(), Vec3(2, 2, 1));
  EXPECT_FALSE(overlap_of(low, box(Vec3(0.5, 0.6, 1.1), Vec3(1.3, 1.4, 2))));
  const auto touching = overlap_of(low, box(Vec3(0.5, 0.6, 1), Vec3(1.3, 1.4, 2)));
  EXPECT_TRUE(!touching || touching->depth < 1e-14);
}

TEST(OverlapTest, BodiesWithinOthersAreAsDeepAsTheirDeepestPoint) {
  const auto found = overlap_of(box(Vec3::Zero(), Vec3(4, 4, 4)), box(Vec3(1, 1, 1), Vec3(2, 2, 2)));
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->depth, 2, 1e-14);
}

}  // namespace
}  // namespace weft
