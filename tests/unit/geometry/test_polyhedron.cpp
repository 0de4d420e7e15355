#include <gtest/gtest.h>

#include "weft/geometry/polyhedron.hpp"
#include "weft/geometry/primitives.hpp"
#include "weft/geometry/tet_mesh.hpp"

#include <Eigen/Geometry>

#include <cmath>

namespace weft {
namespace {

std::vector<std::array<std::int32_t, 3>> surface_of(const TetMesh& mesh) {
  std::vector<std::array<std::int32_t, 3>> triangles;
  for (const OuterFace& face : outer_faces(mesh)) {
    const auto& nodes = tet_faces[static_cast<std::size_t>(face.face)];
    const auto tet = mesh.tet(face.tet);
    triangles.push_back({tet[static_cast<std::size_t>(nodes[0])], tet[static_cast<std::size_t>(nodes[1])],
                         tet[static_cast<std::size_t>(nodes[2])]});
  }
  return triangles;
}

TEST(PolyhedronTest, ABlockThatIsTurnedAndFarAwayHasTheMomentsOfItsEdges) {
  const Vec3 edges(1, 0.6, 0.3), middle(30, -20, 10);
  const Mat3 R = Eigen::AngleAxis<Real>(0.7, Vec3(1, 2, -1).normalized()).toRotationMatrix();
  TetMesh mesh = block_of_tets({-edges / 2, edges / 2}, 0.17);
  for (Vec3& x : mesh.points) x = R * x + middle;
  const Moments moments = moments_of(mesh.points, surface_of(mesh));
  const Real volume = edges.prod();
  const Mat3 second = volume / 12 * R * edges.cwiseAbs2().asDiagonal() * R.transpose();
  EXPECT_NEAR(moments.volume, volume, 1e-13);
  EXPECT_LT((moments.centre - middle).norm(), 1e-12);
  EXPECT_LT((moments.second_moment - second).norm(), 1e-12 * second.norm());
}

TEST(PolyhedronTest, MomentsAreTheSumsOfThoseOfTetrahedra) {
  const TetMesh mesh = tets_of_shape(*make_torus({0.1, 0, 0}, {1, 1, 2}, 1, 0.4), 0.2);
  const Moments moments = moments_of(mesh.points, surface_of(mesh));
  Real volume = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  for (std::int64_t t = 0; t < mesh.count(); ++t) {
    std::array<Vec3, 4> x;
    for (std::size_t a = 0; a < 4; ++a) x[a] = mesh.points[static_cast<std::size_t>(mesh.tet(t)[a])];
    const Real V = six_volumes(x[0], x[1], x[2], x[3]) / 6;
    const Vec3 sum = x[0] + x[1] + x[2] + x[3];
    volume += V;
    first += V / 4 * sum;
    second += V / 20 * sum * sum.transpose();
    for (const Vec3& each : x) second += V / 20 * each * each.transpose();
  }
  const Vec3 centre = first / volume;
  second -= volume * centre * centre.transpose();
  EXPECT_NEAR(moments.volume, volume, 1e-12 * volume);
  EXPECT_LT((moments.centre - centre).norm(), 1e-13);
  EXPECT_LT((moments.second_moment - second).norm(), 1e-12 * second.norm());
}

TEST(PolyhedronTest, ASurfaceInsideOutHasANegativeVolume) {
  const TetMesh mesh = block_of_tets({Vec3::Zero(), Vec3::Ones()}, 1);
  auto triangles = surface_of(mesh);
  for (auto& triangle : triangles) std::swap(triangle[0], triangle[1]);
  EXPECT_NEAR(moments_of(mesh.points, triangles).volume, -1, 1e-14);
  EXPECT_EQ(moments_of(mesh.points, {}).volume, 0);
}

}  // namespace
}  // namespace weft
