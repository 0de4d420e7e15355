// Surfaces and volumes around points, of shapes whose volume is known.

#include "weft/base/error.hpp"
#include "weft/geometry/mesh_reader.hpp"
#include "weft/geometry/mesh_writer.hpp"
#include "weft/geometry/point_skin.hpp"

#include <gtest/gtest.h>
#include <openvdb/openvdb.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <numbers>

namespace weft {
namespace {

constexpr Real spacing = 0.1;
constexpr SkinFineness fine{spacing / 2};

/// Middles of the cells of a lattice where `inside` is true.
std::vector<Vec3> lattice(int cells, const std::function<bool(const Vec3&)>& inside) {
  std::vector<Vec3> points;
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j < cells; ++j)
      for (int k = 0; k < cells; ++k)
        if (const Vec3 x = spacing * Vec3(i + 0.5, j + 0.5, k + 0.5); inside(x)) points.push_back(x);
  return points;
}

std::vector<Vec3> block() {
  return lattice(10, [](const Vec3&) { return true; });
}

TEST(PointSkin, OfABlockIsClosedTurnedOutwardAndOfItsSize) {
  const std::vector<Vec3> points = block();
  const SurfaceMesh skin = skin_of({points, {}, spacing}, fine);
  const MeshReport report = check(skin);
  EXPECT_TRUE(report.closed());
  EXPECT_EQ(report.components, 1);
  // Balls and smoothing round the 12 edges with a radius r of up to 1.5 spacings, each of which loses (1 - pi/4) r^2.
  // Between four balls of radius 1.3 spacings there are dimples, on the average 0.066 spacings deep on the 6 faces.
  EXPECT_GT(report.volume, 1 - 12 * (1 - std::numbers::pi / 4) * std::pow(1.5 * spacing, 2) - 6 * 0.066 * spacing);
  EXPECT_LT(report.volume, 1);
  const Box box = bounds_of(skin);
  EXPECT_LT((box.lower - Vec3::Zero()).cwiseAbs().maxCoeff(), 0.15 * spacing);
  EXPECT_LT((box.upper - Vec3::Ones()).cwiseAbs().maxCoeff(), 0.15 * spacing);
}

TEST(PointSkin, OfABallLiesOnIt) {
  const Vec3 middle = Vec3::Constant(0.8);
  const std::vector<Vec3> points = lattice(16, [&](const Vec3& x) { return (x - middle).norm() < 0.7; });
  const SurfaceMesh skin = skin_of({points, {}, spacing}, fine);
  EXPECT_TRUE(check(skin).closed());
  for (const Vec3& x : skin.points) EXPECT_NEAR((x - middle).norm(), 0.7, 0.6 * spacing);  // the lattice has steps
  EXPECT_NEAR(volume_of(skin), 4 / 3.0 * std::numbers::pi * std::pow(0.7, 3), 0.05);
}

TEST(PointSkin, OfTwoHeapsApartHasTwoParts) {
  std::vector<Vec3> points = block();
  for (const Vec3& x : block()) points.push_back(x + Vec3(1.5, 0, 0));
  EXPECT_EQ(check(skin_of({points, {}, spacing}, fine)).components, 2);
}

TEST(PointSkin, OfNothingIsEmpty) {
  const SurfaceMesh skin = skin_of({{}, {}, spacing}, fine);
  EXPECT_EQ(skin.points.size(), 0);
  EXPECT_EQ(skin.face_count(), 0);
}

TEST(PointSkin, RefusesVoxelsThatLosePoints) {
  const std::vector<Vec3> points = block();
  EXPECT_THROW(skin_of({points, {}, spacing}, {0.9 * spacing}), Error);
}

struct VdbFile : testing::Test {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("weft_" + std::to_string(getpid()) + ".vdb");
  ~VdbFile() override { std::filesystem::remove(path); }

  template <class Grid>
  typename Grid::Ptr read(const std::string& name) {
    openvdb::initialize();
    openvdb::io::File file(path.string());
    file.open();
    return openvdb::gridPtrCast<Grid>(file.readGrid(name));
  }
};

TEST_F(VdbFile, HoldsTheLevelSetTheVolumeAndTheVelocityOfThePoints) {
  const std::vector<Vec3> points = lattice(10, [](const Vec3& x) { return x.sum() < 2; });
  std::vector<Vec3> velocities;  // linear in space, which trilinear weights keep
  for (const Vec3& x : points) velocities.push_back(Vec3(1, 2, 3) + Vec3(x[1], -x[0], 0));
  write_vdb(path, {points, velocities, spacing}, fine);

  const auto surface = read<openvdb::FloatGrid>("surface");
  EXPECT_EQ(surface->getGridClass(), openvdb::GRID_LEVEL_SET);
  EXPECT_NEAR(surface->voxelSize()[0], spacing / 2, 1e-12);
  const auto near = [&](const auto& grid, const Vec3& x) {
    return grid->tree().getValue(openvdb::Coord::round(grid->worldToIndex({x[0], x[1], x[2]})));
  };
  EXPECT_LT(near(surface, {0.5, 0.5, 0.5}), 0);
  EXPECT_GT(near(surface, {0.9, 0.9, 0.9}), 0);
  EXPECT_NEAR(near(surface, {0, 0.5, 0.5}), 0, 0.15 * spacing);

  const auto density = read<openvdb::FloatGrid>("density");
  EXPECT_EQ(density->getGridClass(), openvdb::GRID_FOG_VOLUME);
  Real volume = 0;
  for (auto v = density->cbeginValueOn(); v; ++v) volume += *v * std::pow(spacing, 3);
  const Real expected = static_cast<Real>(points.size()) * std::pow(spacing, 3);
  EXPECT_NEAR(volume, expected, 1e-5 * expected);  // single precision
  EXPECT_NEAR(near(density, {0.5, 0.5, 0.5}), 1, 1e-5);

  const auto velocity = read<openvdb::Vec3SGrid>("velocity");
  EXPECT_EQ(velocity->activeVoxelCount(), density->activeVoxelCount());
  const auto v = near(velocity, {0.5, 0.4, 0.3});
  EXPECT_NEAR(v[0], 1.4, 1e-5);
  EXPECT_NEAR(v[1], 1.5, 1e-5);
  EXPECT_NEAR(v[2], 3, 1e-5);
}

TEST_F(VdbFile, OfNothingCanBeRead) {
  write_vdb(path, {{}, {}, spacing}, fine);
  EXPECT_EQ(read<openvdb::FloatGrid>("surface")->activeVoxelCount(), 0);
  EXPECT_EQ(read<openvdb::FloatGrid>("density")->activeVoxelCount(), 0);
}

TEST_F(VdbFile, ThatCannotBeWrittenIsAnError) {
  const std::vector<Vec3> points = block();
  EXPECT_THROW(write_vdb("/no/such/folder/x.vdb", {points, {}, spacing}, fine), Error);
}

TEST(MeshWriter, WhatIsWrittenIsReadAgain) {
  const std::vector<Vec3> points = lattice(3, [](const Vec3&) { return true; });
  const SurfaceMesh mesh = skin_of({points, {}, spacing}, fine);
  for (const auto& [name, bytes] : {std::pair{"x.obj", obj_text(mesh)}, {"x.ply", ply_bytes(mesh, {})}}) {
    const SurfaceMesh again = read_mesh(name, bytes);
    ASSERT_EQ(again.points.size(), mesh.points.size()) << name;
    for (std::size_t i = 0; i < mesh.points.size(); ++i)  // they come from single precision
      EXPECT_EQ(again.points[i].cast<float>(), mesh.points[i].cast<float>()) << name;
    EXPECT_EQ(again.corners, mesh.corners) << name;
    EXPECT_EQ(again.offsets, mesh.offsets) << name;
  }
}

}  // namespace
}  // namespace weft
