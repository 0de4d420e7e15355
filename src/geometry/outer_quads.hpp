#pragma once
// The outer row of a mesh of quads: one ring around every boundary, the image of the first inner row.
//
// Along a side the fan of quads around a boundary point has its image beyond it, so that the limit of a straight side
// is straight however many there are; two quads make the regular pattern of four. A corner of one quad is completed to
// four as well. The fan of a corner of more has three images, across both sides and across both of them, so that both
// stay straight. One quad fills a corner that turns inwards.
//
// The surface hardly feels the points that lie amid many around b. So each image of a corner moves as a whole with one
// free point of it, and the points amid the image of four faces or more beside a side move with its first and last.

#include "geometry/led_points.hpp"
#include "geometry/surroundings.hpp"
#include "weft/base/error.hpp"
#include "weft/geometry/control_mesh.hpp"

#include <fmt/format.h>
#include <Eigen/Dense>

#include <numbers>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

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

  const LedPoints& led_points() const { return led_points_; }

 private:
  /// Around a point of the boundary with as many faces, the surface hardly feels what lies amid their image.
  static constexpr std::size_t many = 4;

  enum class Kind { inside, side, single, convex, inward };

  /// A far corner of an outer quad. It is free if it follows no points.
  struct Far {
    Point place;
    LedPoint follows;
  };

  /// Beyond a boundary point: neighbours, from the edge that comes in to the one that goes out, and the far corners of
  /// the quads between them.
  struct Outside {
    std::vector<std::int32_t> spokes;
    std::vector<Far> far;
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

  Point place_of(const LedPoint& sum) const {
    Point place = zero_like(points_.front());
    for (std::int32_t k = 0; k < sum.count; ++k) place += sum.weights[k] * x(sum.points[k]);
    return place;
  }

  /// Whether the first or last spoke beyond b is that of the other neighbour of an inward corner too, and no image.
  bool shares_first(std::int32_t b) const { return kinds_[boundary_.before[b]] == Kind::inward; }
  bool shares_last(std::int32_t b) const { return kinds_[boundary_.after[b]] == Kind::inward; }

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
      far.push_back({x(spokes[0]) + x(spokes[1]) - x(p) - x(q) + x(fan.far[0]), {}});
    } else {
      for (std::size_t k = m - 1; k > 0; --k) {
        spokes.push_back(add_point(point_before(b, fan.spokes[k])));
        if (k > 1) far.push_back({2 * x(b) - x(fan.far[k - 1]), {}});
      }
      if (m >= many) lead_side(b, fan);
    }
  }

  /// The points amid the image beside a side follow its first and last spoke.
  void lead_side(std::int32_t b, const Inside& fan) {
    auto& [spokes, far] = outside_[b];
    const std::size_t m = fan.far.size();
    std::vector<Leader> leaders;
    if (!shares_first(b)) leaders.push_back({spokes.front(), opposite(b, fan.spokes[m - 1])});
    if (!shares_last(b)) leaders.push_back({spokes.back(), opposite(b, fan.spokes[1])});
    for (std::size_t k = m - 2; k > 1; --k)
      led_points_.emplace_back(spokes[m - 1 - k], led(opposite(b, fan.spokes[k]), leaders));
    for (std::size_t k = m - 1; k > 1; --k) far[m - 1 - k].follows = led(opposite(b, fan.far[k - 1]), leaders);
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
    const auto across_in = [&](std::int32_t i) {
      const Real v = uv(i)[1];
      return LedPoint{{i, b, p}, {-1, 2 - 2 * v, 2 * v}, 3};
    };
    const auto across_out = [&](std::int32_t i) {
      const Real u = uv(i)[0];
      return LedPoint{{i, b, q}, {-1, 2 - 2 * u, 2 * u}, 3};
    };
    const auto across_both = [&](std::int32_t i, const Vec2& at) {
      return LedPoint{{i, b, q, p}, {1, 2 * (at[0] + at[1]), -2 * at[0], -2 * at[1]}, 4};
    };
    std::vector<LedPoint> spokes, far;
    for (std::size_t k = m - 1; k > 0; --k) {
      spokes.push_back(across_in(fan.spokes[k]));
      far.push_back(across_in(fan.far[k - 1]));
    }
    add_image(b, spokes, far, 0, shares_first(b));
    spokes.clear(), far.clear();
    for (std::size_t k = 0; k < m; ++k) {
      const Vec2 at = uv(fan.far[k]);
      spokes.push_back(across_both(fan.spokes[k], uv(fan.spokes[k])));
      far.push_back(across_both(fan.far[k], {k == 0 ? 1 : at[0], k + 1 == m ? 1 : at[1]}));
    }
    add_image(b, spokes, far, 0, false);
    spokes.clear(), far.clear();
    for (std::size_t k = m; k > 0; --k) {
      spokes.push_back(across_out(fan.spokes[k]));
      if (k > 1) far.push_back(across_out(fan.far[k - 1]));
    }
    add_image(b, spokes, far, m - 1, shares_last(b));
  }

  /// Adds points beyond b. One spoke is free and leads the others and the far corners, unless it is shared.
  void add_image(std::int32_t b, std::span<const LedPoint> spokes, std::span<const LedPoint> far, std::size_t leading,
                 bool is_shared) {
    auto& all = outside_[b];
    const std::size_t first = all.spokes.size();
    for (const LedPoint& image : spokes) all.spokes.push_back(add_point(place_of(image)));
    std::vector<Leader> leaders;
    if (!is_shared) leaders.push_back({all.spokes[first + leading], spokes[leading]});
    for (std::size_t k = 0; k < spokes.size(); ++k)
      if (k != leading) led_points_.emplace_back(all.spokes[first + k], led(spokes[k], leaders));
    for (const LedPoint& image : far) all.far.push_back({place_of(image), led(image, leaders)});
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
    for (std::size_t k = 0; k < far.size(); ++k) {
      const std::int32_t corner = add_point(far[k].place);
      if (far[k].follows.count > 0) led_points_.emplace_back(corner, far[k].follows);
      faces_.push_back({b, spokes[k], corner, spokes[k + 1]});
    }
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
  LedPoints led_points_;
};

/// Adds the outer row to quads of material, and tells which of its points follow others. Corners are told by the
/// positions of their points.
template <class Point>
LedPoints add_outer_quads(FaceList& faces, std::vector<Point>& points, const std::vector<Vec3>& places, Beyond beyond) {
  return OuterQuads<Point>(faces, points, places, beyond).led_points();
}

}  // namespace weft
