#pragma once
// A tree of boxes over triangles: nearest points and winding numbers of closed surfaces.

#include "weft/geometry/shape.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace weft {

class TriangleTree {
 public:
  using Triangle = std::array<std::int32_t, 3>;

  /// The triangles refer to the points; at least one.
  TriangleTree(std::vector<Vec3> points, std::vector<Triangle> triangles);

  struct Nearest {
    Vec3 point;
    std::int32_t triangle;
  };
  /// The surface point nearest to x, if it is at most `within` [m] away.
  std::optional<Nearest> nearest(const Vec3& x, Real within) const;

  /// All triangles with a point at most `within` [m] away from x.
  std::vector<std::int32_t> all_at(const Vec3& x, Real within) const;

  /// How often the closed surface winds around x: exact for every x that is not on the surface to round-off, whether
  /// parts overlap or not.
  int winding(const Vec3& x) const;

  /// The point of a triangle nearest to x.
  Vec3 nearest_in(std::int32_t triangle, const Vec3& x) const;
  /// Unit normal of a triangle.
  Vec3 normal(std::int32_t triangle) const;
  /// The mean of its corners.
  Vec3 middle(std::int32_t triangle) const;

 private:
  /// The left child of a node follows it; leaves own triangles_[first, first + count).
  struct Node {
    Box box;
    std::int32_t right = 0, first = 0, count = 0;
  };

  Box box_of(const Triangle& t) const;
  void build(std::int32_t begin, std::int32_t end);
  int crossing(const Triangle& t, const Vec3& x) const;

  std::vector<Vec3> points_;
  std::vector<Triangle> triangles_;
  std::vector<Node> nodes_;
};

}  // namespace weft
