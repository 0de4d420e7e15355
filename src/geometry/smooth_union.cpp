#include "weft/geometry/smooth_union.hpp"

#include "weft/base/check.hpp"
#include "weft/geometry/mesh.hpp"
#include "weft/geometry/tet_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {
namespace {

/// Cubes of a drawing along the longest side, or across the thinnest part if these are more; in all at most.
constexpr Real drawn_cubes = 40, cubes_across = 4, most_drawn_cubes = 1e6;
/// Of a distance, where parts that face one another cancel.
constexpr Real least_slope = 0.5;

class SmoothUnion final : public Shape {
 public:
  SmoothUnion(std::vector<std::unique_ptr<Shape>> parts, Real blend)
      : parts_(std::move(parts)), blend_(blend), rise_(blend * (1 - 1 / std::sqrt(static_cast<Real>(parts_.size())))) {
    Box around;
    for (const auto& part : parts_) {
      const std::optional<Box> box = part->bounds();
      require(box.has_value(), ExitCode::geometry, "The parts of a union must be bounded.");
      around.include(box->lower);
      around.include(box->upper);
      thinnest_ = std::min(thinnest_, (box->upper - box->lower).minCoeff());
    }
    const Real size = (around.upper - around.lower).norm();
    require(blend_ <= size, ExitCode::geometry,
            fmt::format("The blend of a union, {:.3g} m, must not exceed its size, {:.3g} m.", blend_, size));
    box_ = {around.lower - Vec3::Constant(rise_), around.upper + Vec3::Constant(rise_)};
  }

  Surface surface(const Vec3& x) const override {
    Surface nearest{std::numeric_limits<Real>::infinity(), Vec3::UnitZ()};
    Vec3 outward = Vec3::Zero();
    Real squares = 0;
    for (const auto& part : parts_) {
      const Surface of_part = part->surface(x);
      if (of_part.distance < nearest.distance) nearest = of_part;
      const Real share = std::max(0.0, blend_ - of_part.distance);
      squares += share * share;
      outward += share * of_part.normal;
    }
    if (nearest.distance >= blend_) return nearest;
    const Real root = std::sqrt(squares), slope = outward.norm() / root;
    const Real distance = (blend_ - root) / std::max(least_slope, slope);
    return {distance, slope > 0 ? Vec3(outward.normalized()) : nearest.normal};
  }
  bool has_edges(Side side) const override {
    return std::ranges::any_of(parts_, [side](const auto& part) { return part->has_edges(side); });
  }
  std::optional<Box> bounds() const override { return box_; }
  std::optional<Real> volume() const override { return std::nullopt; }

  SurfaceMesh tessellate(const Box&) const override {
    const Vec3 size = box_.upper - box_.lower;
    const Real edge = std::min(size.maxCoeff() / drawn_cubes, thinnest_ / cubes_across);
    const TetMesh filled = tets_of_shape(*this, std::max(edge, std::cbrt(size.prod() / most_drawn_cubes)));
    SurfaceMesh mesh;
    std::vector<std::int32_t> number(filled.points.size(), -1);
    for (const OuterFace& face : outer_faces(filled)) {
      std::array<std::int32_t, 3> corners{};
      for (std::size_t k = 0; k < 3; ++k) {
        const auto node = static_cast<std::size_t>(
            filled.tet(face.tet)[static_cast<std::size_t>(tet_faces[static_cast<std::size_t>(face.face)][k])]);
        if (number[node] < 0) {
          number[node] = static_cast<std::int32_t>(mesh.points.size());
          mesh.points.push_back(filled.points[node]);
        }
        corners[k] = number[node];
      }
      mesh.add_face({corners[0], corners[1], corners[2]});
    }
    return mesh;
  }

  bool misses_ball(const Vec3& x, Real radius) const override {
    return std::ranges::all_of(parts_, [&](const auto& part) { return part->misses_ball(x, radius + rise_); });
  }

 private:
  std::vector<std::unique_ptr<Shape>> parts_;
  Real blend_;
  Real rise_;  ///< How far the surface is from its parts at most: where all are equally near [m].
  Real thinnest_ = std::numeric_limits<Real>::infinity();  ///< Least extent of the box of a part [m].
  Box box_;
};

}  // namespace

std::unique_ptr<Shape> make_smooth_union(std::vector<std::unique_ptr<Shape>> parts, Real blend) {
  require(!parts.empty(), ExitCode::geometry, "A union needs parts.");
  require(blend > 0 && std::isfinite(blend), ExitCode::geometry, "The blend of a union must be a positive number.");
  return std::make_unique<SmoothUnion>(std::move(parts), blend);
}

}  // namespace weft
