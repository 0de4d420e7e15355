#pragma once
// The point of a segment, triangle or tetrahedron, and of a mesh of them, that is nearest to another.

#include "weft/base/types.hpp"
#include "weft/bodies/meshed.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

namespace weft {

/// Barycentric weights of the point of a simplex that is nearest to x: that of its plane where all weights are
/// positive, else the nearest one of its sides.
template <std::size_t n>
std::array<Real, n> nearest_weights(const std::array<Vec3, n>& corners, const Vec3& x) {
  std::array<Real, n> weights{1};
  if constexpr (n > 1) {
    Eigen::Matrix<Real, 3, static_cast<int>(n) - 1> along;
    for (std::size_t k = 1; k < n; ++k) along.col(static_cast<int>(k) - 1) = corners[k] - corners[0];
    const Eigen::Matrix<Real, static_cast<int>(n) - 1, 1> s =
        (along.transpose() * along).inverse() * (along.transpose() * (x - corners[0]));
    weights[0] = 1 - s.sum();
    std::copy(s.begin(), s.end(), weights.begin() + 1);
    if (std::all_of(weights.begin(), weights.end(), [](Real w) { return w >= 0; })) return weights;
    Real least = std::numeric_limits<Real>::infinity();
    for (std::size_t left_out = 0; left_out < n; ++left_out) {
      std::array<Vec3, n - 1> side;
      std::copy_if(corners.begin(), corners.end(), side.begin(),
                   [&](const Vec3& corner) { return &corner != &corners[left_out]; });
      const std::array<Real, n - 1> of_side = nearest_weights(side, x);
      Vec3 at = Vec3::Zero();
      for (std::size_t k = 0; k < n - 1; ++k) at += of_side[k] * side[k];
      if (!((at - x).norm() < least)) continue;
      least = (at - x).norm();
      for (std::size_t k = 0; k < n; ++k) weights[k] = k == left_out ? 0 : of_side[k < left_out ? k : k - 1];
    }
  }
  return weights;
}

/// The site of some elements that is nearest to x, by their corners. vertices_of(e): the corners of an element, then
/// its other vertices; weights_of(w): weights of all of these at the barycentric coordinates w.
template <std::size_t corner_count, class Vertices, class Positions, class Weights>
Site nearest_site(const ElementRange& range, const Vec3& x, const Positions& positions, Vertices&& vertices_of,
                  Weights&& weights_of) {
  Site nearest;
  Real least = std::numeric_limits<Real>::infinity();
  for (std::int64_t e = range.begin; e < range.end; ++e) {
    const auto vertices = vertices_of(e);
    std::array<Vec3, corner_count> corners;
    for (std::size_t a = 0; a < corner_count; ++a) corners[a] = positions[static_cast<std::size_t>(vertices[a])];
    const auto weights = weights_of(nearest_weights(corners, x));
    Stencil place{{vertices.begin(), vertices.end()}, {weights.begin(), weights.end()}};
    const Vec3 where = place.of(positions);
    if (!((where - x).norm() < least)) continue;
    least = (where - x).norm();
    nearest.place = std::move(place);
    nearest.where = where;
    nearest.element = e;
  }
  return nearest;
}

}  // namespace weft
