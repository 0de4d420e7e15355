// The outside of a heap of points, by OpenVDB's level sets.

#include "weft/geometry/point_skin.hpp"

#include "weft/base/check.hpp"

#include <fmt/format.h>
#include <openvdb/openvdb.h>
#include <openvdb/tools/LevelSetFilter.h>
#include <openvdb/tools/ParticlesToLevelSet.h>
#include <openvdb/tools/VolumeToMesh.h>

#include <cmath>

namespace weft {

namespace {

/// Balls of this many spacings leave no hole between points of a heap that is sheared or stretched a little.
constexpr Real ball_radius = 1.3;
/// The surface of a block lies this many spacings outside of its outermost points.
constexpr Real skin_depth = 0.5;

openvdb::Vec3d vdb(const Vec3& x) { return {x[0], x[1], x[2]}; }

/// Points as OpenVDB's rasterizer asks for them.
struct Balls {
  using PosType = openvdb::Vec3R;
  std::span<const Vec3> points;
  std::size_t size() const { return points.size(); }
  void getPos(std::size_t n, openvdb::Vec3R& x) const { x = vdb(points[n]); }
};

openvdb::FloatGrid::Ptr level_set_of(const PointHeap& heap, const SkinFineness& fineness) {
  require(fineness.voxel > 0 && fineness.voxel <= 0.8 * heap.spacing, ExitCode::deck,
          fmt::format("A voxel of {:.4g} m is not fine enough for points {:.4g} m apart: take 0.8 of this or less.",
                      fineness.voxel, heap.spacing));
  auto grid = openvdb::createLevelSet<openvdb::FloatGrid>(fineness.voxel);
  grid->setName("surface");
  if (heap.points.empty()) return grid;
  openvdb::tools::ParticlesToLevelSet<openvdb::FloatGrid> joined(*grid);
  joined.rasterizeSpheres(Balls{heap.points}, ball_radius * heap.spacing);
  joined.finalize(true);
  openvdb::tools::LevelSetFilter<openvdb::FloatGrid> filter(*grid);
  for (int k = 0; k < fineness.smoothing; ++k) filter.mean();
  filter.offset(static_cast<float>((ball_radius - skin_depth) * heap.spacing));
  return grid;
}

struct Volumes {
  openvdb::FloatGrid::Ptr density;
  openvdb::Vec3SGrid::Ptr velocity;
};

/// Every point adds its volume to the eight voxels around it by trilinear weights.
Volumes volumes_of(const PointHeap& heap) {
  Volumes volumes{openvdb::FloatGrid::create(), openvdb::Vec3SGrid::create()};
  volumes.density->setName("density");
  volumes.density->setGridClass(openvdb::GRID_FOG_VOLUME);
  volumes.velocity->setName("velocity");
  volumes.velocity->setVectorType(openvdb::VEC_CONTRAVARIANT_RELATIVE);
  const auto scale = openvdb::math::Transform::createLinearTransform(heap.spacing);
  volumes.density->setTransform(scale);
  volumes.velocity->setTransform(scale);
  auto density = volumes.density->getAccessor();
  auto velocity = volumes.velocity->getAccessor();
  for (std::size_t p = 0; p < heap.points.size(); ++p) {
    const Vec3 place = heap.points[p] / heap.spacing, base = place.array().floor(), s = place - base;
    for (int c = 0; c < 8; ++c) {
      const Vec3i up = {c & 1, (c >> 1) & 1, (c >> 2) & 1};
      Real weight = 1;
      for (int a = 0; a < 3; ++a) weight *= up[a] ? s[a] : 1 - s[a];
      if (weight == 0) continue;
      const openvdb::Coord voxel(static_cast<int>(base[0]) + up[0], static_cast<int>(base[1]) + up[1],
                                 static_cast<int>(base[2]) + up[2]);
      density.setValue(voxel, density.getValue(voxel) + static_cast<float>(weight));
      if (!heap.velocities.empty())
        velocity.setValue(voxel, velocity.getValue(voxel) + openvdb::Vec3s(vdb(weight * heap.velocities[p])));
    }
  }
  for (auto voxel = volumes.velocity->beginValueOn(); voxel; ++voxel)
    voxel.setValue(*voxel / density.getValue(voxel.getCoord()));
  return volumes;
}

}  // namespace

SurfaceMesh skin_of(const PointHeap& heap, const SkinFineness& fineness) {
  std::vector<openvdb::Vec3s> points;
  std::vector<openvdb::Vec3I> triangles;
  std::vector<openvdb::Vec4I> quads;
  openvdb::tools::volumeToMesh(*level_set_of(heap, fineness), points, triangles, quads);
  SurfaceMesh mesh;
  for (const openvdb::Vec3s& x : points) mesh.points.emplace_back(x[0], x[1], x[2]);
  // OpenVDB lists corners clockwise as seen from outside.
  const auto corner = [](openvdb::Index32 i) { return static_cast<std::int32_t>(i); };
  for (const openvdb::Vec3I& t : triangles) mesh.add_face({corner(t[2]), corner(t[1]), corner(t[0])});
  for (const openvdb::Vec4I& q : quads) mesh.add_face({corner(q[3]), corner(q[2]), corner(q[1]), corner(q[0])});
  return mesh;
}

void write_vdb(const std::filesystem::path& file, const PointHeap& heap, const SkinFineness& fineness) {
  openvdb::initialize();
  const Volumes volumes = volumes_of(heap);
  openvdb::GridPtrVec grids{level_set_of(heap, fineness), volumes.density};
  if (!heap.velocities.empty()) grids.push_back(volumes.velocity);
  try {
    openvdb::io::File to(file.string());
    to.write(grids);
    to.close();
  } catch (const openvdb::IoError& problem) {
    throw Error(ExitCode::file_system, fmt::format("{}: cannot be written: {}.", file.string(), problem.what()));
  }
}

}  // namespace weft
