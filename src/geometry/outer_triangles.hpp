#pragma once
// The outer row of a mesh of triangles: one ring around every boundary, the image of the first inner row.
//
// Each edge of the boundary gets a triangle whose apex lies opposite to that of the triangle inside. Along a side the
// fan around a boundary point has an image beyond it: a point of m triangles gets as many outside, so that the limit of
// a straight side is straight whatever m is, and three triangles make the regular pattern of six. At convex corners
// points are added such that the limit passes through the corner: with one or two triangles they continue the regular
// pattern. Both edges of a corner that turns inwards share their apex.
//
// The surface hardly feels the points amid the image of many: they move with the first and the last of it.

#include "geometry/led_points.hpp"
#include "geometry/surroundings.hpp"
#include "weft/geometry/control_mesh.hpp"

#include <array>
#include <numbers>
#include <numeric>

namespace weft {

template <class Point>
class OuterTriangles {
 public:
  OuterTriangles(FaceList& faces, std::vector<Point>& points, const std::vector<Vec3>& places, Beyond beyond)
      : faces_(faces),
        points_(points),
        beyond_(beyond),
        inside_(faces),
        edges_(inside_),
        stars_(inside_, points.size()),
        boundary_(inside_, edges_, points.size()),
        apex_of_(points.size(), none) {
    const auto count = static_cast<std::int32_t>(points.size());
    for (std::int32_t b = 0; b < count; ++b)
      if (is_on_boundary(b)) kinds_.push_back(kind_of(b, places));
      else kinds_.push_back(Kind::inside);
    add_apexes(count);
    for (std::int32_t b = 0; b < count; ++b)
      if (is_on_boundary(b)) add_fan(b);
  }

  const LedPoints& led_points() const { return led_points_; }

 private:
  enum class Kind { inside, side, shared, convex, inward };

  /// Of as many points between the apexes beyond a point, the surface hardly feels those amid.
  static constexpr std::size_t many = 4;

  const Point& x(std::int32_t p) const { return points_[static_cast<std::size_t>(p)]; }
  bool is_on_boundary(std::int32_t b) const { return boundary_.after[b] != none; }
  bool shares(std::int32_t b) const { return kinds_[b] == Kind::shared || kinds_[b] == Kind::inward; }

  Kind kind_of(std::int32_t b, const std::vector<Vec3>& places) const {
    const auto star = stars_.of(b);
    if (!is_sharp(inside_, star, places)) return star.size() == 2 ? Kind::shared : Kind::side;
    const Real angle = angle_at(inside_, star, places);
    if (angle < std::numbers::pi) return Kind::convex;
    return angle > 4 * std::numbers::pi / 3 ? Kind::inward : Kind::side;
  }

  std::int32_t third(std::int32_t p, std::int32_t q) const {  // of the triangle inside along p -> q
    const Edges::Place place = edges_.find(p, q);
    return place.face == none ? none : inside_[place.face][(place.corner + 2) % 3];
  }

  /// Second difference across an edge of the row inside, on one hand of the triangle (p, q, i) at the boundary.
  void add_bend(std::int32_t i, std::int32_t q, bool right, Point& sum, int& count) const {
    const std::int32_t a = right ? third(i, q) : third(q, i);
    if (a == none) return;
    const std::int32_t r = right ? third(i, a) : third(a, i);
    if (r == none) return;
    sum += x(q) + x(r) - x(i) - x(a);
    ++count;
  }

  /// The apex beyond the edge p -> q: opposite to that inside, or on parabolas through three regular rows.
  Point apex(std::int32_t p, std::int32_t q) const {
    const std::int32_t i = third(p, q);
    const Point opposite = x(p) + x(q) - x(i);
    if (beyond_ == Beyond::mirror || (!is_on_boundary(i) && stars_.of(i).size() != 6)) return opposite;
    Point bend = zero_like(opposite);
    int count = 0;
    add_bend(i, q, true, bend, count);
    add_bend(i, p, false, bend, count);
    return count > 0 ? Point(opposite + bend / static_cast<Real>(count)) : opposite;
  }

  std::int32_t add_point(const Point& point) {
    points_.push_back(point);
    return static_cast<std::int32_t>(points_.size() - 1);
  }

  /// One apex for each edge of the boundary, or for several in a row whose points share it.
  void add_apexes(std::int32_t count) {
    std::vector<std::int32_t> group(static_cast<std::size_t>(count));  // of the edge that leaves a point: a former one
    std::iota(group.begin(), group.end(), 0);
    const auto first = [&](std::int32_t b) {
      while (group[b] != b) b = group[b];
      return b;
    };
    for (std::int32_t b = 0; b < count; ++b)
      if (is_on_boundary(b) && shares(b)) group[first(b)] = first(boundary_.before[b]);
    std::vector<Point> sum(static_cast<std::size_t>(count), zero_like(points_.front()));
    std::vector<Real> edges(static_cast<std::size_t>(count), 0);
    for (std::int32_t b = 0; b < count; ++b) {
      if (!is_on_boundary(b)) continue;
      const std::int32_t g = first(b);
      sum[g] += kinds_[b] == Kind::inward ? Point(x(boundary_.before[b]) + x(boundary_.after[b]) - x(b))
                                          : apex(b, boundary_.after[b]);
      edges[g] += 1;
    }
    for (std::int32_t b = 0; b < count; ++b) {
      if (!is_on_boundary(b)) continue;
      const std::int32_t g = first(b);
      if (apex_of_[g] == none) apex_of_[g] = add_point(sum[g] / edges[g]);
      apex_of_[b] = apex_of_[g];
    }
  }

  /// Neighbours of b inside, from the next point of the boundary to the one before.
  std::vector<std::int32_t> spokes(std::int32_t b) const {
    std::vector<std::int32_t> ring{boundary_.after[b]};
    while (ring.back() != boundary_.before[b]) ring.push_back(third(b, ring.back()));
    return ring;
  }

  /// The triangles outside around b, of which the first lies beyond the edge that leaves it.
  void add_fan(std::int32_t b) {
    const std::int32_t q = boundary_.after[b];
    faces_.push_back({q, b, apex_of_[b]});
    if (shares(b)) return;
    const std::vector<std::int32_t> ring = spokes(b);
    std::vector<std::int32_t> beyond{apex_of_[boundary_.before[b]]};
    if (kinds_[b] == Kind::convex) add_corner(b, ring, beyond);
    else add_image(b, ring, beyond);
    beyond.push_back(apex_of_[b]);
    for (std::size_t k = 0; k + 1 < beyond.size(); ++k) faces_.push_back({b, beyond[k], beyond[k + 1]});
  }

  /// The images of neighbours beyond a side, between the apexes.
  void add_image(std::int32_t b, const std::vector<std::int32_t>& ring, std::vector<std::int32_t>& beyond) {
    const std::size_t last = 2, first = ring.size() - 3;
    for (std::size_t k = first; k >= last; --k) beyond.push_back(add_point(2 * x(b) - x(ring[k])));
    if (first + 1 < last + many) return;
    const std::array<Leader, 2> leaders = {Leader{beyond[1], opposite(b, ring[first])},
                                           Leader{beyond.back(), opposite(b, ring[last])}};
    for (std::size_t k = first - 1; k > last; --k)
      led_points_.emplace_back(beyond[1 + first - k], led(opposite(b, ring[k]), leaders));
  }

  /// Points beyond a convex corner, such that all around it have their mean in it.
  void add_corner(std::int32_t b, const std::vector<std::int32_t>& ring, std::vector<std::int32_t>& beyond) {
    Point sum = x(beyond.front()) + x(apex_of_[b]) - 2 * x(b);
    for (const std::int32_t p : ring) sum += x(p) - x(b);
    if (ring.size() == 3) {
      beyond.push_back(add_point(x(b) - sum));
      return;
    }
    const Point apart = x(ring.back()) - x(ring.front());
    const Point far = x(b) - sum / 2.0;
    beyond.push_back(add_point(far + apart / 2.0));
    beyond.push_back(add_point(far - apart / 2.0));
  }

  FaceList& faces_;
  std::vector<Point>& points_;
  Beyond beyond_;
  FaceList inside_;
  Edges edges_;
  Stars<FaceList> stars_;
  Boundary boundary_;
  std::vector<Kind> kinds_;
  std::vector<std::int32_t> apex_of_;  ///< Beyond the edge that leaves each point of the boundary.
  LedPoints led_points_;
};

/// Adds the outer row to triangles of material, and tells which of its points follow others. Corners are told by the
/// positions of their points.
template <class Point>
LedPoints add_outer_triangles(FaceList& faces, std::vector<Point>& points, const std::vector<Vec3>& places,
                              Beyond beyond) {
  return OuterTriangles<Point>(faces, points, places, beyond).led_points();
}

}  // namespace weft
