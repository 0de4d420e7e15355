#include "weft/scene/reach.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "weft/bodies/contact_extent.hpp"
#include "weft/math/svd.hpp"

namespace weft {
namespace {

/// Smaller overlaps, in grid spacings, are round-off.
constexpr Real least_overlap = 1e-9;

/// The ellipsoid of a point in a wall, or of one that is in another wall: r is an axis along the normal, and nothing
/// changes across it.
Mat3 with_axis(const Mat3& extent, const Vec3& normal, Real r) {
  const Mat3 across = Mat3::Identity() - normal * normal.transpose();
  return across * extent * across + std::copysign(r * r, r) * normal * normal.transpose();
}

}  // namespace

void set_reach(PointSet& set, std::size_t p, Faces faces) {
  std::ranges::sort(faces, std::ranges::greater(), &Surface::distance);
  Symmetric3<Real>& extent = set.points().get<ContactExtent>()[p];
  for (const auto& [distance, normal] : faces) {
    if (!set.extent_turns()) {
      extent = ball_extent(distance);
      continue;
    }
    const Mat3 before = extent.full();
    const bool is_in_wall = distance < 0 || symmetric_eigen(before).values.minCoeff() < 0;
    extent = Symmetric3<Real>::of((is_in_wall ? with_axis : with_reach)(before, normal, distance));
  }
}

void fit_to_walls(const Scene& scene, Real time, PointSet& set, std::size_t first) {
  const Table& points = std::as_const(set).points();
  const auto x = points.get<Position>();
  for (const Wall& wall : scene.walls) {
    if (wall.contact != WallContactKind::surface) continue;
    const RigidState now = wall.shape.at(time);
    for (std::size_t p = first; p < x.size(); ++p) {
      const Symmetric3<Real> extent = points.get<ContactExtent>()[p];
      const Real largest = std::sqrt(std::max(Real(0), extent.trace()));
      Faces overlapping;
      for (const Surface& face : wall.shape.faces(now, x[p], largest))
        if (reach_along(extent.full(), face.normal).distance - face.distance > least_overlap * scene.dx)
          overlapping.add(face);
      set_reach(set, p, overlapping);
    }
  }
}

}  // namespace weft
