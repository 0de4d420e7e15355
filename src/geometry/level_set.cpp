// A closed mesh as a shape: OpenVDB finds and holds the voxels near the surface, a tree of triangles gives distances.

#include "weft/geometry/level_set.hpp"

#include "geometry/triangle_tree.hpp"
#include "weft/base/check.hpp"

#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <utility>

namespace weft {

namespace {

/// A band of more voxels is coarsened; this many take about 40 MB and a few seconds while the level set is made.
constexpr Real most_voxels = 2e6;
/// Interpolation reaches one cell, sqrt(3) voxels, beyond a point, and OpenVDB's band may end half a voxel early: this
/// many voxels are stored beyond the band.
constexpr Real margin = 2.5;

/// What OpenVDB wants to know of a mesh, in units of voxels from the origin.
struct MeshInVoxels {
  const std::vector<Vec3>& points;
  const std::vector<TriangleTree::Triangle>& triangles;
  Vec3 origin;
  Real voxel;

  // NOLINTBEGIN(readability-identifier-naming): OpenVDB's names
  std::size_t polygonCount() const { return triangles.size(); }
  std::size_t pointCount() const { return points.size(); }
  std::size_t vertexCount(std::size_t) const { return 3; }
  void getIndexSpacePoint(std::size_t triangle, std::size_t corner, openvdb::Vec3d& position) const {
    const Vec3 p = (points[triangles[triangle][corner]] - origin) / voxel;
    position = {p[0], p[1], p[2]};
  }
  // NOLINTEND(readability-identifier-naming)
};

/// The voxel, enlarged until the band of this area is affordable.
Real affordable_voxel(LevelSetBand band, Real area) {
  while (2 * area * (std::max(band.width, 3 * band.voxel) + margin * band.voxel) >
         most_voxels * std::pow(band.voxel, 3))
    band.voxel *= 1.05;
  return band.voxel;
}

/// Cosine of the angle by which two faces must differ to meet in an edge; what is less is taken for a smooth surface.
constexpr Real least_bend = 0.9;
/// Cosine between a normal and the way from the nearest point of a face, for which that point lies within the face.
constexpr Real square = 1 - 1e-9;

/// Whether faces of a mesh meet in an edge.
bool meet_in_edges(std::span<const Vec3> points, std::span<const TriangleTree::Triangle> triangles) {
  std::map<std::pair<std::int32_t, std::int32_t>, Vec3> normal_at;  // of the first face at each edge
  for (const auto& t : triangles) {
    const Vec3 normal = (points[t[1]] - points[t[0]]).cross(points[t[2]] - points[t[0]]).normalized();
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [known, is_new] = normal_at.try_emplace(std::minmax(t[k], t[(k + 1) % 3]), normal);
      if (!is_new && normal.dot(known->second) <= least_bend) return true;
    }
  }
  return false;
}

class LevelSet final : public Shape {
 public:
  LevelSet(SurfaceMesh mesh, std::vector<TriangleTree::Triangle> triangles, const LevelSetBand& band)
      : mesh_(std::move(mesh)),
        box_(bounds_of(mesh_)),
        volume_(volume_of(mesh_)),
        voxel_(affordable_voxel(band, area_of(mesh_))),
        width_(std::max(band.width, 3 * voxel_)),
        has_edges_(meet_in_edges(mesh_.points, triangles)),
        tree_(mesh_.points, triangles) {
    const MeshInVoxels in_voxels{mesh_.points, triangles, box_.lower, voxel_};
    // On one thread: ties between equally near triangles would otherwise fall by chance.
    tbb::task_arena(1).execute([&] {
      const auto scale = openvdb::math::Transform::createLinearTransform(voxel_);
      grid_ = openvdb::tools::meshToVolume<openvdb::FloatGrid>(in_voxels, *scale,
                                                               static_cast<float>(width_ / voxel_ + margin), 0.0f,
                                                               openvdb::tools::UNSIGNED_DISTANCE_FIELD);
    });
    complete_distances();
  }

  Surface surface(const Vec3& x) const override {
    const Vec3 beyond = (box_.lower - x).cwiseMax(x - box_.upper).cwiseMax(0);
    if (beyond.norm() > width_) {
      const Vec3 side = (x.array() < box_.lower.array()).select(-Vec3::Ones(), Vec3::Ones());
      return {beyond.norm(), side.cwiseProduct(beyond).normalized()};
    }
    const std::optional<Surface> rough = interpolate(x);
    if (!rough) return far_away(x);
    if (std::abs(rough->distance) > 2 * voxel_) return *rough;
    return refine(x, *rough);
  }

  bool contains(const Vec3& x) const override {
    if (!box_.contains(x)) return false;
    const Vec3 i = (x - box_.lower) / voxel_;
    float distance;
    const openvdb::Coord nearest(static_cast<int>(std::lround(i[0])), static_cast<int>(std::lround(i[1])),
                                 static_cast<int>(std::lround(i[2])));
    // The nearest voxel is within sqrt(3) / 2 of a voxel: a surface further away than that is not in between.
    if (grid_->tree().probeValue(nearest, distance) && std::abs(distance) > voxel_) return distance < 0;
    return tree_.winding(x) > 0;
  }

  /// By the triangles: distances of voxels do not reach far.
  bool misses_ball(const Vec3& x, Real radius) const override {
    const Vec3 beyond = (box_.lower - x).cwiseMax(x - box_.upper).cwiseMax(0);
    return beyond.norm() > radius || (!tree_.nearest(x, 2 * radius) && tree_.winding(x) <= 0);
  }

  /// Those of the triangles at the nearest point of the surface, if these meet in an edge or corner that is an inner
  /// one for the material.
  Normals holding(const Vec3& x, Side side, Real slack) const override {
    const Normals single = Shape::holding(x, side, slack);
    const auto nearest = tree_.nearest(x, std::abs(surface(x).distance) + 2 * voxel_);
    if (!nearest) return single;
    const Real sign = side == Side::outside ? 1 : -1;
    Normals normals;
    std::array<Vec3, 3> middles;  // of the triangles with these normals
    bool is_inner = true;
    for (const std::int32_t triangle : tree_.all_at(nearest->point, std::max(slack, 1e-9 * voxel_))) {
      const Vec3 n = sign * tree_.normal(triangle), middle = tree_.middle(triangle);
      if (std::any_of(normals.begin(), normals.end(), [&](const Vec3& known) { return n.dot(known) > least_bend; }))
        continue;
      if (normals.count == 3) break;
      for (int k = 0; k < normals.count; ++k)
        is_inner = is_inner && n.dot(middles[k] - nearest->point) > 0 && normals.of[k].dot(middle - nearest->point) > 0;
      middles[normals.count] = middle;
      normals.add(n);
    }
    return is_inner && normals.count > 1 ? normals : single;
  }

  /// The nearest one, and others that x looks at as squarely: their nearest points lie along their normals. Beyond an
  /// outer edge none does.
  Faces faces(const Vec3& x, Side side, Real reach) const override {
    Faces faces = Shape::faces(x, side, reach);
    if (!has_edges_ || faces.count == 0 || faces.of[0].distance <= 0) return faces;
    const Real sign = side == Side::outside ? 1 : -1;
    if (side == Side::inside && faces.of[0].distance > 2 * voxel_) {  // interpolated across edges
      const auto [distance, normal] = refine(x, {-faces.of[0].distance, -faces.of[0].normal});
      faces.of[0] = {-distance, -normal};
    }
    for (const std::int32_t triangle : tree_.all_at(x, reach)) {
      const Vec3 normal = sign * tree_.normal(triangle), away = x - tree_.nearest_in(triangle, x);
      const Real distance = away.norm();
      if (!(normal.dot(away) > square * distance) || faces.count == static_cast<int>(faces.of.size())) continue;
      const auto known = std::find_if(faces.begin(), faces.end(),
                                      [&](const Surface& face) { return normal.dot(face.normal) > least_bend; });
      if (known == faces.end()) faces.add({distance, normal});
      else if (distance < known->distance) *known = {distance, normal};
    }
    return faces;
  }

  bool has_edges(Side) const override { return has_edges_; }
  std::optional<Box> bounds() const override { return box_; }
  std::optional<Real> volume() const override { return volume_; }
  SurfaceMesh tessellate(const Box&) const override { return mesh_; }

 private:
  Vec3 position(const openvdb::Coord& c) const { return box_.lower + voxel_ * Vec3(c.x(), c.y(), c.z()); }

  /// Replaces OpenVDB's distances, which are those of triangles near by but not always the nearest, by exact ones with
  /// sign. Neighbours are on the same side if one is further from the surface than from the other.
  void complete_distances() {
    std::vector<openvdb::FloatTree::LeafNodeType*> leaves;
    grid_->tree().getNodes(leaves);
#pragma omp parallel for schedule(dynamic, 8)
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      openvdb::Coord last;
      bool last_inside = false, last_tells = false;
      for (auto voxel = leaves[k]->beginValueOn(); voxel; ++voxel) {
        const openvdb::Coord here = voxel.getCoord();
        const Vec3 x = position(here);
        const auto nearest = tree_.nearest(x, *voxel + 0.01 * voxel_);
        const Real distance = nearest ? (x - nearest->point).norm() : *voxel;
        const bool inside = last_tells && here == last.offsetBy(0, 0, 1) ? last_inside : tree_.winding(x) > 0;
        last = here;
        last_inside = inside;
        last_tells = distance > 1.01 * voxel_;
        voxel.setValue(static_cast<float>(inside ? -distance : distance));
      }
    }
  }

  /// Trilinear distance and its gradient's direction; nothing where the band does not hold all eight corners.
  std::optional<Surface> interpolate(const Vec3& x) const {
    const Vec3 i = (x - box_.lower) / voxel_, base = i.array().floor(), s = i - base;
    const openvdb::Coord corner(static_cast<int>(base[0]), static_cast<int>(base[1]), static_cast<int>(base[2]));
    auto values = grid_->getConstUnsafeAccessor();
    Real distance = 0;
    Vec3 gradient = Vec3::Zero();
    for (int c = 0; c < 8; ++c) {
      const Vec3i up = {c & 1, (c >> 1) & 1, (c >> 2) & 1};
      float value;
      if (!values.probeValue(corner.offsetBy(up[0], up[1], up[2]), value)) return std::nullopt;
      Vec3 w, dw;
      for (int a = 0; a < 3; ++a) {
        w[a] = up[a] ? s[a] : 1 - s[a];
        dw[a] = up[a] ? 1 : -1;
      }
      distance += w.prod() * value;
      gradient += value * Vec3(dw[0] * w[1] * w[2], w[0] * dw[1] * w[2], w[0] * w[1] * dw[2]);
    }
    const Real slope = gradient.norm();
    return Surface{distance, slope > 0 ? Vec3(gradient / slope) : outward(x)};
  }

  /// Exact against the triangles.
  Surface refine(const Vec3& x, const Surface& rough) const {
    const auto nearest = tree_.nearest(x, std::abs(rough.distance) + 2 * voxel_);
    if (!nearest) return rough;
    const Real side = tree_.winding(x) > 0 ? -1 : 1;
    const Vec3 away = x - nearest->point;
    const Real distance = away.norm();
    // So near to the surface the difference of two positions has no direction left.
    const bool touches = distance <= 1e-12 * (box_.upper - box_.lower).norm();
    return {side * distance, touches ? tree_.normal(nearest->triangle) : Vec3(side / distance * away)};
  }

  Surface far_away(const Vec3& x) const { return {tree_.winding(x) > 0 ? -width_ : width_, outward(x)}; }

  Vec3 outward(const Vec3& x) const {
    const Vec3 from_middle = x - 0.5 * (box_.lower + box_.upper);
    const Real length = from_middle.norm();
    return length > 0 ? Vec3(from_middle / length) : Vec3::UnitX();
  }

  SurfaceMesh mesh_;
  Box box_;
  Real volume_, voxel_, width_;
  bool has_edges_;
  TriangleTree tree_;
  openvdb::FloatGrid::Ptr grid_;
};

}  // namespace

std::unique_ptr<Shape> make_level_set(SurfaceMesh mesh, const LevelSetBand& band) {
  require(band.voxel > 0 && std::isfinite(band.voxel) && band.width > 0 && std::isfinite(band.width),
          ExitCode::geometry, "A level set needs a positive voxel and a positive width of its band.");
  require_closed(mesh, "level set");
  std::vector<TriangleTree::Triangle> triangles = triangles_of(mesh);
  return std::make_unique<LevelSet>(std::move(mesh), std::move(triangles), band);
}

}  // namespace weft
