#include "weft/geometry/overlap.hpp"

#include "geometry/triangle_tree.hpp"

#include <limits>
#include <numbers>
#include <vector>

namespace weft {
namespace {

/// Looks at the points of one surface in the other, and keeps the deepest.
void look(const SurfaceMesh& of, const SurfaceMesh& other, std::optional<Overlap>& deepest) {
  const Box box = bounds_of(other);
  std::vector<Vec3> points;
  const auto add = [&](const Vec3& x) {
    if (box.contains(x)) points.push_back(x);
  };
  for (const Vec3& x : of.points) add(x);
  for (const auto& [i, j, k] : triangles_of(of)) add((of.points[i] + of.points[j] + of.points[k]) / 3);
  if (points.empty()) return;
  const TriangleTree tree(other.points, triangles_of(other));
  for (const Vec3& x : points) {
    if (tree.winding(x) <= 0) continue;
    const auto nearest = tree.nearest(x, std::numeric_limits<Real>::infinity());
    if (!nearest) continue;
    const Real depth = (nearest->point - x).norm();
    if (!deepest || depth > deepest->depth) deepest = Overlap{depth, x};
  }
}

}  // namespace

std::optional<Overlap> overlap_of(const SurfaceMesh& a, const SurfaceMesh& b) {
  std::optional<Overlap> deepest;
  look(a, b, deepest);
  look(b, a, deepest);
  return deepest;
}

std::optional<Vec3> wound_twice(const SurfaceMesh& surface) {
  constexpr int along = 20;
  const TriangleTree tree(surface.points, triangles_of(surface));
  const Box box = bounds_of(surface);
  for (int i = 0; i < along; ++i)
    for (int j = 0; j < along; ++j)
      for (int k = 0; k < along; ++k) {
        const Vec3 share = (Vec3(i, j, k) + Vec3::Constant(std::numbers::sqrt2 - 1)) / along;  // seldom on faces
        const Vec3 x = box.lower + share.cwiseProduct(box.upper - box.lower);
        if (tree.winding(x) > 1) return x;
      }
  return {};
}

}  // namespace weft
