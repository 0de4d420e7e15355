// Closed surfaces in one another: depths of boxes in closed form.

#include "weft/geometry/overlap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

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

SurfaceMesh together(SurfaceMesh a, const SurfaceMesh& b, bool turns_b_inside_out) {
  const auto first = static_cast<std::int32_t>(a.points.size());
  a.points.insert(a.points.end(), b.points.begin(), b.points.end());
  for (std::int64_t f = 0; f < b.face_count(); ++f) {
    std::vector<std::int32_t> corners;
    for (const std::int32_t corner : b.face(f)) corners.push_back(first + corner);
    if (turns_b_inside_out) std::ranges::reverse(corners);
    a.add_face(corners);
  }
  return a;
}

TEST(OverlapTest, PartsOfOneSurfaceOverlapWhereItWindsTwice) {
  const SurfaceMesh big = box(Vec3::Zero(), Vec3(4, 4, 4)), within = box(Vec3(1, 1, 1), Vec3(3, 3, 3));
  EXPECT_FALSE(wound_twice(big));
  EXPECT_FALSE(wound_twice(together(big, within, true)));                              // a hole
  EXPECT_FALSE(wound_twice(together(big, box(Vec3(4, 0, 0), Vec3(6, 4, 4)), false)));  // they touch
  for (const SurfaceMesh& other : {within, box(Vec3(3, -1, 1), Vec3(5, 5, 3)), big}) {
    const auto found = wound_twice(together(big, other, false));
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(bounds_of(big).contains(*found) && bounds_of(other).contains(*found));
  }
}

}  // namespace
}  // namespace weft
