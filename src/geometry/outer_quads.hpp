#pragma once
// The outer row of a mesh of quads: one ring around every boundary, the image of the first inner row.
//
// Along a side the fan of quads around a boundary point has its image beyond it, so that the limit of a straight side
// is straight however many there are; two quads make the regular pattern of four. A corner of one quad is completed to
// four as well. The fan of a corner of more has three images, across both sides and across both of them, so that both
// stay straight. One quad fills a corner that turns inwards.

#include "geometry/surroundings.hpp"
#include "weft/base/error.hpp"
#include "weft/geometry/control_mesh.hpp"

#include <fmt/format.h>
#include <Eigen/Dense>

#include <numbers>
#include <numeric>

namespace weft {

template <class Point>
class OuterQuads {
 public:
  OuterQuads(FaceList& faces, std::vector<Point>& points, const std::vector<Vec3>& places, Beyond beyond)
      : faces_(faces),
        points_(points),
        places_(places),
        beyond_(beyond),
        inside_(faces),
        edges_(inside_),
        stars_(inside_, points.size()),
        boundary_(inside_, edges_, points.size()),
        outside_(points.size()) {
    const auto count = static_cast<std::int32_t>(points.size());
    for (std::int32_t b = 0; b < count; ++b)
      if (is_on_boundary(b)) kinds_.push_back(kind_of(b));
      else kinds_.push_back(Kind::inside);
    for (std::int32_t b = 0; b < count; ++b) add_spokes(b);
    // Both neighbours of an inward corner have the same outer point; `first` leads from each to the one that stays.
    first_.resize(points.size());
    std::iota(first_.begin(), first_.end(), 0);
    for (std::int32_t b = 0; b < count; ++b)
      if (kinds_[b] == Kind::inward) fill_inward(b);
    for (std::int32_t b = 0; b < count; ++b)
      if (is_on_boundary(b)) add_fan(b);
    for (std::size_t f = inside_.size(); f < faces.size(); ++f)
      for (std::int32_t& p : faces[f])
        if (p < static_cast<std::int32_t>(first_.size())) p = stays(p);
  }

 private:
  enum class Kind { inside, side, single, convex, inward };

  /// Beyond a boundary point: neighbours, from the edge that comes in to the one that goes out, and the far corners of
  /// the quads between them.
  struct Outside {
    std::vector<std::int32_t> spokes;
    std::vector<Point> far;
  };

  /// Around a boundary point: neighbours inside from the next of the boundary to the one before, and the far corners of
  /// the quads between them.
  struct Inside {
    std::vector<std::int32_t> spokes, far;
  };

  const Point& x(std::int32_t p) const { return points_[static_cast<std::size_t>(p)]; }
  bool is_on_boundary(std::int32_t b) const { return boundary_.after[b] != none; }

  Kind kind_of(std::int32_t b) const {
    constexpr Real pi = std::numbers::pi;
    const auto star = stars_.of(b);
    if (star.size() == 1) return Kind::single;
    const Real angle = angle_at(inside_, star, places_);
    if (angle < 0.75 * pi) return Kind::convex;
    return angle > 4 * pi / 3 && star.size() > 2 ? Kind::inward : Kind::side;
  }

  std::int32_t add_point(const Point& point) {
    points_.push_back(point);
    return static_cast<std::int32_t>(points_.size() - 1);
  }

  /// The point after p and q on a line through regular points, or none.
  std::int32_t straight_on(std::int32_t p, std::int32_t q) const {
    if (is_on_boundary(q)) {
      const bool along = stars_.of(q).size() == 2 && (boundary_.before[q] == p || boundary_.after[q] == p);
      return !along ? none : boundary_.before[q] == p ? boundary_.after[q] : boundary_.before[q];
    }
    if (stars_.of(q).size() != 4) return none;
    const Edges::Place left = edges_.find(p, q);
    const Edges::Place right = edges_.find(inside_[left.face][(left.corner + 2) % 4], q);
    return inside_[right.face][(right.corner + 2) % 4];
  }

  /// The point before b and p.
  Point point_before(std::int32_t b, std::int32_t p) const {
    const bool is_regular = stars_.of(b).size() <= 2;
    const std::int32_t q = beyond_ == Beyond::mirror || !is_regular ? none : straight_on(b, p),
                       r = q == none ? none : straight_on(p, q);
    if (r != none) return 4 * x(b) - 6 * x(p) + 4 * x(q) - x(r);
    if (q != none) return 3 * x(b) - 3 * x(p) + x(q);
    return 2 * x(b) - x(p);
  }

  Inside inside_of(std::int32_t b) const {
    Inside fan{{boundary_.after[b]}, {}};
    while (fan.spokes.back() != boundary_.before[b]) {
      const Edges::Place place = edges_.find(b, fan.spokes.back());
      fan.far.push_back(inside_[place.face][(place.corner + 2) % 4]);
      fan.spokes.push_back(inside_[place.face][(place.corner + 3) % 4]);
    }
    return fan;
  }

  void add_spokes(std::int32_t b) {
    if (!is_on_boundary(b) || kinds_[b] == Kind::inward) return;
    const Inside fan = inside_of(b);
    const std::size_t m = fan.far.size();
    auto& [spokes, far] = outside_[b];
    if (kinds_[b] == Kind::convex) {
      add_corner(b, fan);
    } else if (kinds_[b] == Kind::single) {
      const std::int32_t p = boundary_.before[b], q = boundary_.after[b];
      spokes.push_back(add_point(point_before(b, q)));
      spokes.push_back(add_point(point_before(b, p)));
      far.push_back(x(spokes[0]) + x(spokes[1]) - x(p) - x(q) + x(fan.far[0]));
    } else {
      for (std::size_t k = m - 1; k > 0; --k) {
        spokes.push_back(add_point(point_before(b, fan.spokes[k])));
        if (k > 1) far.push_back(2 * x(b) - x(fan.far[k - 1]));
      }
    }
  }

  /// With u along the side that goes out of b and v along the one that comes in: the images of the fan at (-u, v),
  /// (-u, -v) and (u, -v). Weights by positions only shift images along the side that they lie across. The far corners
  /// beside both sides are the images of neighbours, at 2 - u or 2 - v.
  void add_corner(std::int32_t b, const Inside& fan) {
    const std::int32_t p = boundary_.before[b], q = boundary_.after[b];
    const std::size_t m = fan.far.size();
    Eigen::Matrix<Real, 3, 2> sides;
    sides << places_[q] - places_[b], places_[p] - places_[b];
    const auto solver = sides.colPivHouseholderQr();
    const auto uv = [&](std::int32_t i) -> Vec2 { return solver.solve(places_[i] - places_[b]); };
    const auto along_in = [&](Real v) -> Point { return 2 * v * (x(p) - x(b)); };
    const auto along_out = [&](Real u) -> Point { return 2 * u * (x(q) - x(b)); };
    const auto across_in = [&](std::int32_t i) -> Point { return 2 * x(b) - x(i) + along_in(uv(i)[1]); };
    const auto across_out = [&](std::int32_t i) -> Point { return 2 * x(b) - x(i) + along_out(uv(i)[0]); };
    const auto across_both = [&](std::int32_t i, const Vec2& at) -> Point {
      return x(i) - along_out(at[0]) - along_in(at[1]);
    };
    auto& [spokes, far] = outside_[b];
    for (std::size_t k = m - 1; k > 0; --k) {
      spokes.push_back(add_point(across_in(fan.spokes[k])));
      far.push_back(across_in(fan.far[k - 1]));
    }
    for (std::size_t k = 0; k < m; ++k) {
      const std::int32_t spoke = fan.spokes[k], corner = fan.far[k];
      const Vec2 at = uv(corner);
      spokes.push_back(add_point(across_both(spoke, uv(spoke))));
      far.push_back(across_both(corner, {k == 0 ? 1 : at[0], k + 1 == m ? 1 : at[1]}));
    }
    for (std::size_t k = m; k > 0; --k) {
      spokes.push_back(add_point(across_out(fan.spokes[k])));
      if (k > 1) far.push_back(across_out(fan.far[k - 1]));
    }
  }

  std::int32_t stays(std::int32_t outer) const {
    while (first_[outer] != outer) outer = first_[outer];
    return outer;
  }

  void fill_inward(std::int32_t b) {
    const std::int32_t p = boundary_.before[b], q = boundary_.after[b];
    require(kinds_[p] != Kind::inward && kinds_[q] != Kind::inward, ExitCode::geometry,
            fmt::format("The boundary of a shell's mesh turns inwards at neighbouring points ({} and its neighbour, "
                        "counted from 0): divide the faces there.",
                        b));
    const std::int32_t shared = stays(outside_[p].spokes.back());
    first_[stays(outside_[q].spokes.front())] = shared;
    points_[shared] = x(p) + x(q) - x(b);
    faces_.push_back({q, b, p, shared});
  }

  /// The quad beyond the edge that leaves b, and those between the neighbours beyond b.
  void add_fan(std::int32_t b) {
    const std::int32_t q = boundary_.after[b];
    const auto& [spokes, far] = outside_[b];
    if (kinds_[b] != Kind::inward && kinds_[q] != Kind::inward)
      faces_.push_back({q, b, spokes.back(), outside_[q].spokes.front()});
    for (std::size_t k = 0; k < far.size(); ++k) faces_.push_back({b, spokes[k], add_point(far[k]), spokes[k + 1]});
  }

  FaceList& faces_;
  std::vector<Point>& points_;
  const std::vector<Vec3>& places_;
  Beyond beyond_;
  FaceList inside_;
  Edges edges_;
  Stars<FaceList> stars_;
  Boundary boundary_;
  std::vector<Outside> outside_;
  std::vector<Kind> kinds_;
  std::vector<std::int32_t> first_;
};

/// Adds the outer row to quads of material. Corners are told by the positions of their points.
template <class Point>
void add_outer_quads(FaceList& faces, std::vector<Point>& points, const std::vector<Vec3>& places, Beyond beyond) {
  OuterQuads<Point>(faces, points, places, beyond);
}

}  // namespace weft
