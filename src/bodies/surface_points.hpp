#pragma once
// Points on triangles of a surface, and the ways that it faces around its corners.

#include "weft/base/types.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {

/// A part of a triangle: barycentric coordinates of its middle, and its share of the area.
struct TrianglePart {
  Vec3 middle;
  Real share;
};

/// Parts of a triangle whose squares are as many as `density` [1/m^2] asks for: n^2 equal ones, of halves where it is
/// slender. Their mean is that of the triangle.
class TriangleParts {
 public:
  static std::vector<TrianglePart> of(const std::array<Vec3, 3>& corners, Real density) {
    TriangleParts parts(density);
    parts.add(corners, {Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()}, 1);
    return std::move(parts.parts_);
  }

 private:
  using Corners = std::array<Vec3, 3>;
  static constexpr Real slender = 3;  ///< Longest edge by height.

  explicit TriangleParts(Real density) : density_(density) {}

  void add(const Corners& x, const Corners& weights, Real share) {
    std::size_t a = 0;  // where the longest edge begins
    const auto squared = [&](std::size_t k) { return (x[(k + 1) % 3] - x[k]).squaredNorm(); };
    for (std::size_t k = 1; k < 3; ++k)
      if (squared(k) > (1 + round_off) * squared(a)) a = k;
    const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
    const Real twice_area = (x[b] - x[a]).cross(x[c] - x[a]).norm();
    if (squared(a) > slender * twice_area && density_ * squared(a) > slender * slender) {
      const Vec3 middle = (x[a] + x[b]) / 2, weight = (weights[a] + weights[b]) / 2;
      add({x[a], middle, x[c]}, {weights[a], weight, weights[c]}, share / 2);
      add({middle, x[b], x[c]}, {weight, weights[b], weights[c]}, share / 2);
      return;
    }
    const int n = std::max(1, static_cast<int>(std::ceil(std::sqrt(density_ * twice_area / 2) - round_off)));
    const auto add_part = [&](int i, int j, int k) {
      parts_.push_back({(i * weights[0] + j * weights[1] + k * weights[2]) / (3 * n), share / (n * n)});
    };
    for (int i = 0; i < n; ++i)
      for (int j = 0; i + j < n; ++j) {
        add_part(3 * i + 1, 3 * j + 1, 3 * (n - i - j) - 2);
        if (i + j + 1 < n) add_part(3 * i + 2, 3 * j + 2, 3 * (n - i - j) - 4);
      }
  }

  static constexpr Real round_off = 1e-9;
  Real density_;
  std::vector<TrianglePart> parts_;
};

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
