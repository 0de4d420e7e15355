#pragma once
// Points on triangles of a surface, and the ways that it faces around its corners.

#include "weft/base/types.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace weft {

/// Into how many parts an edge of a triangle of this area [m^2] is divided, so that the squares of it are as many
/// points as `density` [1/m^2] asks for.
inline int parts_of_edge(Real density, Real area) {
  return std::max(1, static_cast<int>(std::ceil(std::sqrt(density * area) - 1e-9)));
}

/// Barycentric coordinates of the middles of n^2 equal parts of a triangle: their mean is that of the triangle.
inline std::vector<Vec3> middles_of_parts(int n) {
  std::vector<Vec3> middles;
  for (int i = 0; i < n; ++i)
    for (int j = 0; i + j < n; ++j) {
      middles.emplace_back(3 * i + 1, 3 * j + 1, 3 * (n - i - j) - 2);
      if (i + j + 1 < n) middles.emplace_back(3 * i + 2, 3 * j + 2, 3 * (n - i - j) - 4);
    }
  for (Vec3& middle : middles) middle /= 3 * n;
  return middles;
}

/// The ways that a surface faces at a point, few: those of the faces around it, and their mean.
class Sides {
 public:
  /// normals: unit, of the faces; of those that are nearly the same one counts.
  static Sides of(std::span<const Vec3> normals) {
    Sides sides;
    Vec3 sum = Vec3::Zero();
    for (const Vec3& normal : normals) {
      const auto is_same = [&](const Vec3& side) { return side.dot(normal) > same; };
      if (std::ranges::any_of(sides.all(), is_same) || sides.count_ + 1 == most) continue;
      sides.of_[sides.count_++] = normal;
      sum += normal;
    }
    if (sides.count_ > 1) sides.of_[sides.count_++] = sum.stableNormalized();
    return sides;
  }
  /// Whether one is within 60 degrees of this unit vector: what meets two faces at their edge comes from between them.
  bool face(const Vec3& way) const {
    constexpr Real least = 0.5;
    return std::ranges::any_of(all(), [&](const Vec3& side) { return side.dot(way) > least; });
  }

 private:
  static constexpr std::size_t most = 8;
  static constexpr Real same = 0.98;  ///< Cosine.
  std::span<const Vec3> all() const { return std::span(of_).first(count_); }

  std::array<Vec3, most> of_{};
  std::size_t count_ = 0;
};

/// Numbers of corners, counter-clockwise as seen from outside.
using Triangle = std::array<std::int32_t, 3>;

/// Unit, out of the surface.
inline Vec3 normal_of(const Triangle& triangle, std::span<const Vec3> points) {
  const auto x = [&](std::size_t k) { return points[static_cast<std::size_t>(triangle[k])]; };
  return (x(1) - x(0)).cross(x(2) - x(0)).stableNormalized();
}

/// The sides of the surface at its vertices, by their numbers.
inline std::unordered_map<std::int32_t, Sides> sides_of(std::span<const Vec3> points,
                                                        std::span<const Triangle> surface) {
  std::unordered_map<std::int32_t, std::vector<Vec3>> normals;
  for (const Triangle& triangle : surface)
    for (const std::int32_t v : triangle) normals[v].push_back(normal_of(triangle, points));
  std::unordered_map<std::int32_t, Sides> sides;
  for (const auto& [v, around] : normals) sides.emplace(v, Sides::of(around));
  return sides;
}

}  // namespace weft
