// Level sets of meshes against closed forms, and against the mesh itself.

#include "geometry/triangle_tree.hpp"
#include "weft/base/error.hpp"
#include "weft/base/random.hpp"
#include "weft/geometry/level_set.hpp"
#include "weft/geometry/primitives.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace weft {
namespace {

/// A mesh of the unit sphere: a cube whose faces are cut into n x n and pushed out.
SurfaceMesh sphere_mesh(int n) {
  const SurfaceMesh cube = make_box({-1, -1, -1}, {1, 1, 1})->tessellate({});
  SurfaceMesh mesh;
  for (std::int64_t f = 0; f < 6; ++f) {
    const auto face = cube.face(f);
    const Vec3 corner = cube.points[face[0]], u = cube.points[face[1]] - corner, v = cube.points[face[3]] - corner;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const auto first = static_cast<std::int32_t>(mesh.points.size());
        for (const auto& [a, b] : {std::pair{i, j}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}})
          mesh.points.push_back((corner + u * a / n + v * b / n).normalized());
        mesh.add_face({first, first + 1, first + 2, first + 3});
      }
  }
  // Join equal corners of neighbouring squares.
  std::vector<std::int32_t> order(mesh.points.size()), name(mesh.points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  const auto rounded = [&](std::int32_t i) {
    const Vec3 p = (mesh.points[i] * 1e9).array().round();
    return std::array{p[0], p[1], p[2]};
  };
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return rounded(a) < rounded(b); });
  SurfaceMesh joined;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k == 0 || rounded(order[k]) != rounded(order[k - 1])) joined.points.push_back(mesh.points[order[k]]);
    name[order[k]] = static_cast<std::int32_t>(joined.points.size()) - 1;
  }
  for (const std::int32_t corner : mesh.corners) joined.corners.push_back(name[corner]);
  joined.offsets = mesh.offsets;
  return joined;
}

Vec3 probe(int k, Real reach) { return Vec3::Constant(-reach) + 2 * reach * Random(21, 22, k).uniform3(); }

const Mat3 turned = rotation_matrix({0.4, -0.3, 0.8});

std::vector<TriangleTree::Triangle> triangles(const SurfaceMesh& mesh) { return triangles_of(mesh); }

TEST(TriangleTreeTest, TheNearestPointIsThatOfAllTriangles) {
  const SurfaceMesh mesh = sphere_mesh(6);
  const TriangleTree tree(mesh.points, triangles(mesh));
  for (int k = 0; k < 200; ++k) {
    const Vec3 x = probe(k, 2);
    // Brute force by dense points on each triangle gives an upper bound that is near.
    Real nearest = 1e9;
    constexpr int n = 8;
    for (const auto& t : triangles(mesh))
      for (int i = 0; i <= n; ++i)
        for (int j = 0; i + j <= n; ++j)
          nearest = std::min(
              nearest,
              (x - (mesh.points[t[0]] * i + mesh.points[t[1]] * j + mesh.points[t[2]] * (n - i - j)) / n).norm());
    const auto found = tree.nearest(x, 1e9);
    ASSERT_TRUE(found);
    const Real distance = (x - found->point).norm();
    EXPECT_LE(distance, nearest + 1e-14);
    // Triangles of edge at most 0.5 and dense points every 1/8 of it: within 0.05 of the nearest one.
    EXPECT_GE(distance, nearest - 0.05);
    EXPECT_FALSE(tree.nearest(x, 0.999 * distance));
  }
}

TEST(TriangleTreeTest, RaysThroughCornersAndEdgesAreCountedOnce) {
  const SurfaceMesh box = make_box({0, 0, 0}, {2, 2, 2})->tessellate({});
  const TriangleTree tree(box.points, triangles(box));
  // From these points rays along x meet diagonals, edges and corners of the faces exactly.
  for (int i = -2; i <= 6; ++i)
    for (int j = -2; j <= 6; ++j)
      for (int k = -2; k <= 6; ++k) {
        const Vec3 x = 0.5 * Vec3(i, j, k);
        if ((x.array() == 0).any() || (x.array() == 2).any()) {
          // On the planes of the faces: outside must stay outside.
          if ((x.array() < 0).any() || (x.array() > 2).any()) {
            EXPECT_EQ(tree.winding(x), 0) << x.transpose();
          }
          continue;
        }
        const bool inside = (x.array() > 0).all() && (x.array() < 2).all();
        EXPECT_EQ(tree.winding(x), inside ? 1 : 0) << x.transpose();
      }
}

TEST(LevelSetTest, DistancesToASphereAreThoseOfItsMesh) {
  // Squares of at most 0.05 with diagonals of 0.071: the mesh lies up to 0.071^2 / 8 = 6.3e-4 inside the sphere.
  constexpr int n = 40;
  constexpr Real sag = 6.3e-4;
  constexpr Real voxel = 0.05, width = 0.3;
  const auto shape = make_level_set(sphere_mesh(n), {voxel, width});
  Real worst_near = 0, worst_far = 0, worst_normal = 0;
  for (int k = 0; k < 20000; ++k) {
    const Vec3 x = probe(k, 1.4);
    const Real exact = x.norm() - 1;
    const Surface s = shape->surface(x);
    if (std::abs(exact) < width - 1e-3) {
      Real& worst = std::abs(exact) < 1.5 * voxel ? worst_near : worst_far;
      worst = std::max(worst, std::abs(s.distance - exact));
      worst_normal = std::max(worst_normal, (s.normal - x.normalized()).norm());
    }
  }
  EXPECT_LT(worst_near, sag);
  EXPECT_LT(worst_normal, 0.05);  // facets turn by up to their edge over the radius
  // Interpolation adds voxel^2 / 8 times the second derivatives of the distance, two of 1 / r with r > 0.7.
  EXPECT_LT(worst_far, sag + voxel * voxel / 4 / 0.7);
}

TEST(LevelSetTest, DistancesToABoxAreExactNearAllEdgesAndCorners) {
  constexpr Real voxel = 0.1, width = 0.6;
  const auto exact = placed(make_box({-1, -0.5, -0.7}, {1, 0.5, 0.7}), {1, turned, {0.1, 0.2, 0.3}});
  const auto shape = make_level_set(exact->tessellate({}), {voxel, width});
  Real worst_near = 0, worst_far = 0;
  for (int k = 0; k < 50000; ++k) {
    const Vec3 x = probe(k, 1.9);
    const Surface e = exact->surface(x), s = shape->surface(x);
    if (std::abs(e.distance) > width) continue;
    ASSERT_EQ(s.distance < 0, e.distance < 0);
    const Real error = std::abs(s.distance - e.distance);
    if (std::abs(e.distance) < 1.5 * voxel) {
      worst_near = std::max(worst_near, error);
      if (e.distance > 1e-4) {
        EXPECT_LT((s.normal - e.normal).norm(), 1e-9);
      }
    } else {
      worst_far = std::max(worst_far, error);
    }
  }
  EXPECT_LT(worst_near, 1e-13);
  // Interpolation across the ridges inside, where the distance has a kink of 90 degrees: 1 - 1 / sqrt(2) of half a
  // voxel and more where three ridges meet.
  EXPECT_LT(worst_far, 0.5 * voxel);
}

TEST(LevelSetTest, TheNormalIsTheGradientOfTheDistance) {
  const auto shape = make_level_set(sphere_mesh(20), {0.1, 0.4});
  constexpr Real h = 1e-6;
  for (int k = 0; k < 2000; ++k) {
    const Vec3 x = probe(k, 1.3);
    const Surface s = shape->surface(x);
    if (std::abs(s.distance) > 0.19) continue;  // where the distance is exact
    Vec3 gradient;
    for (int a = 0; a < 3; ++a)
      gradient[a] =
          (shape->surface(x + h * Vec3::Unit(a)).distance - shape->surface(x - h * Vec3::Unit(a)).distance) / (2 * h);
    if (std::abs(gradient.norm() - 1) > 1e-3) continue;  // a kink inside between facets
    EXPECT_LT((gradient - s.normal).norm(), 1e-2) << s.distance;
  }
}

TEST(LevelSetTest, ContainsAgreesWithTheSolidEverywhere) {
  const auto exact = placed(make_box({-1, -0.5, -0.7}, {1, 0.5, 0.7}), {1, turned, {0.1, 0.2, 0.3}});
  const auto shape = make_level_set(exact->tessellate({}), {0.07, 0.2});
  for (int k = 0; k < 100000; ++k) {
    const Vec3 x = probe(k, 2.5);
    ASSERT_EQ(shape->contains(x), exact->contains(x)) << x.transpose();
  }
}

TEST(LevelSetTest, FarAwayTheDistanceIsAtLeastTheBand) {
  constexpr Real width = 0.2;
  const auto shape = make_level_set(sphere_mesh(10), {0.05, width});
  for (const Vec3& direction : {Vec3(1, 0, 0), Vec3(1, 1, 1), Vec3(-1, 2, 0.5)})
    for (const Real radius : {0.0, 0.1, 0.5, 0.7, 1.3, 2.0, 1e3, 1e6}) {
      const Surface s = shape->surface(radius * direction.normalized());
      EXPECT_NEAR(s.normal.norm(), 1, 1e-12);
      if (radius > 1) {
        EXPECT_GE(s.distance, width);
        EXPECT_LE(s.distance, radius - 1 + 0.02);
        EXPECT_GT(s.normal.dot(direction), 0);
      } else {
        EXPECT_LE(s.distance, -width);
      }
    }
}

TEST(LevelSetTest, OverlappingPartsAreOneSolidAndInnerSurfacesAreCavities) {
  SurfaceMesh mesh = make_box({0, 0, 0}, {2, 2, 2})->tessellate({});
  mesh.append(make_box({1, 0.5, 0.5}, {4, 1.5, 1.5})->tessellate({}));                // overlaps the first
  mesh.append(reversed(make_box({0.2, 0.2, 0.2}, {0.8, 0.8, 0.8})->tessellate({})));  // a cavity in it
  const auto shape = make_level_set(mesh, {0.1, 0.3});
  for (int k = 0; k < 20000; ++k) {
    const Vec3 x = Vec3(-1, -1, -1) + Vec3(6, 4, 4).cwiseProduct(Random(23, 24, k).uniform3());
    const bool first = Box{{0, 0, 0}, {2, 2, 2}}.contains(x), second = Box{{1, 0.5, 0.5}, {4, 1.5, 1.5}}.contains(x);
    const bool cavity = Box{{0.2, 0.2, 0.2}, {0.8, 0.8, 0.8}}.contains(x);
    ASSERT_EQ(shape->contains(x), (first && !cavity) || second) << x.transpose();
    ASSERT_EQ(shape->surface(x).distance <= 0, (first && !cavity) || second) << x.transpose();
  }
}

TEST(LevelSetTest, KnowsItsMesh) {
  const SurfaceMesh mesh = make_box({1, 2, 3}, {2, 4, 4})->tessellate({});
  const auto shape = make_level_set(mesh, {0.1, 0.3});
  EXPECT_EQ(shape->bounds()->lower, Vec3(1, 2, 3));
  EXPECT_EQ(shape->bounds()->upper, Vec3(2, 4, 4));
  EXPECT_NEAR(*shape->volume(), 2, 1e-14);
  EXPECT_EQ(shape->tessellate({}).corners, mesh.corners);
}

TEST(LevelSetTest, TwoLevelSetsOfOneMeshAreEqualToTheLastBit) {
  const auto one = make_level_set(sphere_mesh(15), {0.05, 0.3}), two = make_level_set(sphere_mesh(15), {0.05, 0.3});
  for (int k = 0; k < 5000; ++k) {
    const Vec3 x = probe(k, 1.4);
    ASSERT_EQ(one->surface(x).distance, two->surface(x).distance);
    ASSERT_EQ(one->surface(x).normal, two->surface(x).normal);
  }
}

TEST(LevelSetTest, AnAbsurdlyFineVoxelIsCoarsenedInsteadOfFillingTheMemory) {
  const auto exact = make_box({0, 0, 0}, {1000, 1000, 1000});
  const auto shape = make_level_set(exact->tessellate({}), {1e-3, 4e-3});
  for (const Vec3& x : {Vec3(500, 500, -0.25), Vec3(-0.1, -0.2, 0.3), Vec3(999.9, 5, 5)})
    EXPECT_NEAR(shape->surface(x).distance, exact->surface(x).distance, 1e-12);
}

TEST(LevelSetTest, OpenMeshesAndBadBandsAreRefused) {
  SurfaceMesh open = make_box({0, 0, 0}, {1, 1, 1})->tessellate({});
  EXPECT_THROW(make_level_set(open, {0, 1}), Error);
  EXPECT_THROW(make_level_set(open, {0.1, std::nan("")}), Error);
  open.corners.resize(open.corners.size() - 4);
  open.offsets.pop_back();
  EXPECT_THROW(make_level_set(open, {0.1, 0.3}), Error);
}

}  // namespace
}  // namespace weft
