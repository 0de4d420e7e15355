// Measures and checks of polygon meshes.

#include "weft/base/error.hpp"
#include "weft/geometry/mesh.hpp"
#include "weft/geometry/primitives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SurfaceMesh cube() { return make_box({0, 0, 0}, {1, 1, 1})->tessellate({}); }

/// An L-shaped prism of height 2 and base area 3: its caps are concave hexagons.
SurfaceMesh l_prism() {
  SurfaceMesh mesh;
  for (const Real z : {0.0, 2.0})
    for (const auto& [x, y] : {std::pair{0.0, 0.0}, {2.0, 0.0}, {2.0, 1.0}, {1.0, 1.0}, {1.0, 2.0}, {0.0, 2.0}})
      mesh.points.emplace_back(x, y, z);
  mesh.add_face({6, 7, 8, 9, 10, 11});
  mesh.add_face({5, 4, 3, 2, 1, 0});
  for (int k = 0; k < 6; ++k) mesh.add_face({k, (k + 1) % 6, (k + 1) % 6 + 6, k + 6});
  return mesh;
}

std::string refusal(const SurfaceMesh& mesh) {
  try {
    require_closed(mesh, "part.obj");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::geometry);
    return error.what();
  }
  return "";
}

TEST(MeshTest, MeasuresOfACube) {
  EXPECT_DOUBLE_EQ(volume_of(cube()), 1);
  EXPECT_DOUBLE_EQ(area_of(cube()), 6);
}

TEST(MeshTest, ConcavePolygonsAreCutAlongTheirInside) {
  const SurfaceMesh mesh = l_prism();
  EXPECT_EQ(triangles_of(mesh).size(), 2u * 4 + 6 * 2);
  EXPECT_DOUBLE_EQ(volume_of(mesh), 6);
  // A fan from a bad corner would cover area twice; ears do not: 2 caps of 3, and the walls 8 x 2.
  EXPECT_DOUBLE_EQ(area_of(mesh), 22);
  EXPECT_TRUE(check(mesh).closed());
}

TEST(MeshTest, MeasuresKeepTheirDigitsFarFromTheOrigin) {
  const SurfaceMesh far = placed(l_prism(), {1, Mat3::Identity(), {1e6, -1e6, 1e6}});
  EXPECT_NEAR(volume_of(far), 6, 1e-8);  // coordinates have lost 6 of 16 digits
}

TEST(MeshTest, PlacingScalesMeasures) {
  const SurfaceMesh mesh = placed(l_prism(), {3, rotation_matrix({0.3, 0.2, -0.7}), {1, 2, 3}});
  EXPECT_NEAR(volume_of(mesh), 27 * 6, 1e-12);
  EXPECT_NEAR(area_of(mesh), 9 * 22, 1e-12);
}

TEST(MeshTest, ReversingTurnsVolumeNegative) { EXPECT_DOUBLE_EQ(volume_of(reversed(cube())), -1); }

TEST(MeshCheckTest, ACubeHasNothingWrong) {
  const MeshReport report = check(cube());
  EXPECT_TRUE(report.closed());
  EXPECT_EQ(report.components, 1);
  EXPECT_DOUBLE_EQ(report.volume, 1);
  EXPECT_EQ(refusal(cube()), "");
}

TEST(MeshCheckTest, SeveralPartsAreFine) {
  SurfaceMesh two = cube();
  two.append(placed(cube(), {1, Mat3::Identity(), {3, 0, 0}}));
  EXPECT_EQ(check(two).components, 2);
  EXPECT_DOUBLE_EQ(check(two).volume, 2);
  EXPECT_EQ(refusal(two), "");
}

TEST(MeshCheckTest, AMissingFaceLeavesFourOpenEdges) {
  SurfaceMesh mesh = cube();
  mesh.corners.resize(mesh.corners.size() - 4);
  mesh.offsets.pop_back();
  const MeshReport report = check(mesh);
  EXPECT_EQ(report.open_edges.count, 4);
  EXPECT_THAT(report.open_edges.first, ElementsAre("4-5", "4-6", "5-7", "6-7"));
  EXPECT_FALSE(report.closed());
  EXPECT_THAT(refusal(mesh), HasSubstr("part.obj: this mesh does not enclose a solid."));
  EXPECT_THAT(refusal(mesh), HasSubstr("4 open edges (4-5, 4-6, 5-7, 6-7): fill the holes"));
}

TEST(MeshCheckTest, AFaceTurnedRoundIsSeenAtItsEdges) {
  SurfaceMesh mesh = cube();
  std::reverse(mesh.corners.begin(), mesh.corners.begin() + 4);
  EXPECT_EQ(check(mesh).flipped_edges.count, 4);
  EXPECT_THAT(refusal(mesh), HasSubstr("4 edges between faces of opposite orientation"));
}

TEST(MeshCheckTest, AMeshThatIsInsideOutIsRefused) {
  EXPECT_TRUE(check(reversed(cube())).closed());
  EXPECT_THAT(refusal(reversed(cube())), HasSubstr("inside out (enclosed volume -1 m^3): flip the normals"));
}

TEST(MeshCheckTest, DuplicateFacesAreFoundWhicheverWayRound) {
  SurfaceMesh mesh = cube();
  mesh.add_face({1, 5, 7, 3});
  const MeshReport report = check(mesh);
  EXPECT_THAT(report.duplicate_faces.first, ElementsAre("6"));
  EXPECT_EQ(report.non_manifold_edges.count, 4);
  EXPECT_THAT(refusal(mesh), HasSubstr("1 faces given twice (6)"));
}

TEST(MeshCheckTest, AnInnerWallMakesEdgesNonManifold) {
  SurfaceMesh mesh = cube();
  mesh.add_face({0, 1, 7, 6});  // a diagonal wall: two of its edges are edges of the cube
  const MeshReport report = check(mesh);
  EXPECT_EQ(report.non_manifold_edges.count, 2);
  EXPECT_EQ(report.open_edges.count, 2);
}

TEST(MeshCheckTest, DegenerateFacesAreFound) {
  SurfaceMesh mesh = cube();
  mesh.points.emplace_back(0.5, 0, 0);
  mesh.add_face({0, 8, 1});
  mesh.add_face({0, 1, 1});
  const MeshReport report = check(mesh);
  EXPECT_THAT(report.degenerate_faces.first, ElementsAre("6", "7"));
  EXPECT_FALSE(report.closed());
}

TEST(MeshCheckTest, BadNumbersAndIndicesAreFound) {
  SurfaceMesh mesh = cube();
  mesh.points[3][1] = std::nan("");
  mesh.points.emplace_back(9, 9, 9);
  mesh.add_face({0, 1, 9});
  mesh.add_face({0, 1, -1});
  mesh.add_face({0, 1});
  const MeshReport report = check(mesh);
  EXPECT_THAT(report.non_finite_points.first, ElementsAre("3"));
  EXPECT_THAT(report.bad_indices.first, ElementsAre("6", "7", "8"));
  EXPECT_THAT(report.unused_points.first, ElementsAre("8"));
  EXPECT_THAT(refusal(mesh), HasSubstr("1 points that are not finite (3)"));
}

TEST(MeshCheckTest, OnlyTheFirstPlacesAreShown) {
  SurfaceMesh mesh;
  for (int k = 0; k < 60; ++k) mesh.points.emplace_back(k % 7, k % 5, k % 3);
  for (int k = 0; k < 60; k += 3) mesh.add_face({k, k + 1, k + 2});
  const MeshReport report = check(mesh);
  EXPECT_EQ(report.open_edges.count, 60);
  EXPECT_EQ(report.open_edges.first.size(), 5u);
  EXPECT_EQ(report.components, 20);
  EXPECT_THAT(refusal(mesh), HasSubstr("60 open edges (0-1, 0-2, 1-2, 3-4, 3-5, ...)"));
}

TEST(MeshCheckTest, AnEmptyMeshIsRefused) { EXPECT_THAT(refusal({}), HasSubstr("It has no faces")); }

}  // namespace
}  // namespace weft
