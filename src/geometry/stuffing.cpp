// Isosurface stuffing: a lattice of tetrahedra is cut along the surface of a shape. [Labelle & Shewchuk 2007]

#include "geometry/words.hpp"
#include "weft/base/budget.hpp"
#include "weft/geometry/tet_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace weft {
namespace {

/// Vertices of the lattice by their coordinates in halves of a cube's edge: corners of cubes are even in all three,
/// centres odd.
using LatticePoint = Vec3i;

/// Where a lattice vertex is moved onto the surface: its distance from where an edge crosses, over the edge's length.
constexpr Real near_on_long = 0.24999, near_on_short = 0.41189;
/// Lengths that differ by this part are equal: the last digits of a number, other in other units, choose no mesh.
constexpr Real round_off = 1e-9;

class Stuffing {
 public:
  Stuffing(const Shape& shape, const Box& box, Real size, int most_levels)
      : shape_(shape), size_(size), most_levels_(most_levels) {
    const Vec3 middle = (box.lower + box.upper) / 2, half = (box.upper - box.lower) / 2;
    for (int a = 0; a < 3; ++a) {
      const Real cubes = std::ceil(2 * half[a] / size * (1 - round_off)) + 2;  // one beyond the shape on either side
      require_countable("this shape", 2 * cubes, "points along an edge");
      cubes_[a] = static_cast<int>(cubes);
    }
    origin_ = middle - 0.5 * size * cubes_.cast<Real>();
    const Real points = (2 * cubes_.cast<Real>() + Vec3::Ones()).prod();
    require_countable("this shape", points, "points of the lattice");
    distance_.assign(static_cast<std::size_t>(points), 0);
    number_.assign(distance_.size(), -1);
    level_.assign(static_cast<std::size_t>(cubes_.cast<std::int64_t>().prod()), 0);
  }

  TetMesh mesh() {
    measure();
    warp();
    coarsen();
    each_tet([this](const std::array<LatticePoint, 4>& tet) { fill(tet); });
    return std::move(mesh_);
  }

 private:
  /// Of a position in a box of so many along each axis.
  static std::size_t number_in(const Vec3i& counts, const Vec3i& p) {
    const auto at = [&](int axis) { return static_cast<std::size_t>(p[axis]); };
    const auto count = [&](int axis) { return static_cast<std::size_t>(counts[axis]); };
    return at(0) + count(0) * (at(1) + count(1) * at(2));
  }
  std::size_t index(const LatticePoint& p) const { return number_in(2 * cubes_ + Vec3i::Ones(), p); }
  Vec3 place(const LatticePoint& p) const {
    const auto moved = moved_.find(index(p));
    return moved != moved_.end() ? moved->second : Vec3(origin_ + 0.5 * size_ * p.cast<Real>());
  }
  Real distance(const LatticePoint& p) const { return distance_[index(p)]; }
  bool crosses(const LatticePoint& p, const LatticePoint& q) const { return distance(p) * distance(q) < 0; }

  /// f(point) for every vertex of the lattice.
  template <class F>
  void each_point(F&& f) const {
    for (int z = 0; z <= 2 * cubes_[2]; ++z)
      for (int y = z % 2; y <= 2 * cubes_[1]; y += 2)
        for (int x = z % 2; x <= 2 * cubes_[0]; x += 2) f(LatticePoint(x, y, z));
  }
  bool is_in(const Vec3i& cube) const { return (cube.array() >= 0).all() && (cube.array() < cubes_.array()).all(); }
  std::uint8_t& level(const Vec3i& cube) { return level_[number_in(cubes_, cube)]; }
  /// Whether f(cube) holds for all cubes from a lowest one on, `count` along each edge, and all are in the lattice.
  template <class F>
  bool all_of(const Vec3i& lowest, int count, F&& f) const {
    if (!is_in(lowest) || !is_in(lowest + (count - 1) * Vec3i::Ones())) return false;
    for (int z = 0; z < count; ++z)
      for (int y = 0; y < count; ++y)
        for (int x = 0; x < count; ++x)
          if (!f(Vec3i(lowest + Vec3i(x, y, z)))) return false;
    return true;
  }
  bool is_inside(const Vec3i& cube) const {
    const LatticePoint centre = 2 * cube + LatticePoint::Ones();
    bool all = distance(centre) < 0;
    for (const int x : {-1, 1})
      for (const int y : {-1, 1})
        for (const int z : {-1, 1}) all = all && distance(centre + LatticePoint(x, y, z)) < 0;
    return all;
  }
  /// Eight cubes become one of the next level, 2^level cubes along its edges, where those around them, half as large,
  /// have come as far: so the surface keeps the smallest, and cubes that touch differ by one level.
  void coarsen() {
    for (int next = 1; next <= most_levels_; ++next) {
      const int width = 1 << next, ring = width / 2;
      const auto has_come = [&](const Vec3i& cube) { return next == 1 ? is_inside(cube) : level(cube) >= next - 1; };
      for (int z = 0; z < cubes_[2]; z += width)
        for (int y = 0; y < cubes_[1]; y += width)
          for (int x = 0; x < cubes_[0]; x += width) {
            const Vec3i lowest(x, y, z);
            if (all_of(lowest - ring * Vec3i::Ones(), width + 2 * ring, has_come))
              all_of(lowest, width, [&](const Vec3i& cube) { return level(cube) = static_cast<std::uint8_t>(next); });
          }
    }
  }

  /// A cube of the lattice, of n^3 of the smallest.
  struct Cube {
    Vec3i lowest;
    int n;
    LatticePoint centre() const { return 2 * lowest + n * LatticePoint::Ones(); }
  };
  Cube cube_at(const Vec3i& place) {
    const int n = 1 << level(place);
    return {place / n * n, n};
  }
  /// Corners of the side of a cube along +-axis, around it.
  static std::array<LatticePoint, 4> side(const Cube& cube, int axis, int sign) {
    const LatticePoint middle = cube.centre() + sign * cube.n * LatticePoint::Unit(axis);
    const LatticePoint u = cube.n * LatticePoint::Unit((axis + 1) % 3), v = cube.n * LatticePoint::Unit((axis + 2) % 3);
    return {middle - u - v, middle + u - v, middle + u + v, middle - u + v};
  }
  /// Whether smaller cubes than n^3 meet at the middle of an edge.
  bool is_halved(const LatticePoint& middle, int n) {
    for (const int x : {-1, 0})
      for (const int y : {-1, 0})
        for (const int z : {-1, 0}) {
          const Vec3i cube = middle / 2 + Vec3i(x, y, z);
          if (is_in(cube) && (1 << level(cube)) < n) return true;
        }
    return false;
  }

  /// f(corners) for every tetrahedron. Between equal cubes: both centres and an edge of the side between them, or half
  /// of it where smaller cubes meet it. Between unequal ones: a centre and half of the side of the smaller one, which
  /// is halved from the middle of that of the larger one.
  template <class F>
  void each_tet(F&& f) {
    for (int z = 0; z < cubes_[2]; ++z)
      for (int y = 0; y < cubes_[1]; ++y)
        for (int x = 0; x < cubes_[0]; ++x) {
          const Cube cube = cube_at({x, y, z});
          if (cube.lowest != Vec3i(x, y, z)) continue;
          for (int axis = 0; axis < 3; ++axis)
            for (const int sign : {1, -1}) {
              const Vec3i beyond = cube.lowest + (sign > 0 ? cube.n : -1) * Vec3i::Unit(axis);
              if (!is_in(beyond)) continue;
              const Cube other = cube_at(beyond);
              if (other.n == cube.n && sign > 0) join_equal(cube, other, axis, f);
              if (other.n > cube.n) join_larger(cube, other, axis, sign, f);
            }
        }
  }
  template <class F>
  void join_equal(const Cube& cube, const Cube& other, int axis, F& f) {
    const std::array<LatticePoint, 4> square = side(cube, axis, 1);
    for (std::size_t k = 0; k < 4; ++k) {
      const LatticePoint &a = square[k], &b = square[(k + 1) % 4], middle = (a + b) / 2;
      if (cube.n == 1 || !is_halved(middle, cube.n)) {
        f(std::array{cube.centre(), other.centre(), a, b});
      } else {
        f(std::array{cube.centre(), other.centre(), a, middle});
        f(std::array{cube.centre(), other.centre(), middle, b});
      }
    }
  }
  template <class F>
  void join_larger(const Cube& cube, const Cube& larger, int axis, int sign, F& f) {
    std::array<LatticePoint, 4> square = side(cube, axis, sign);
    const LatticePoint middle = larger.centre() - sign * larger.n * LatticePoint::Unit(axis);
    std::ranges::rotate(square, std::ranges::find(square, middle));
    for (const LatticePoint& centre : {cube.centre(), larger.centre()})
      for (const std::size_t k : {1, 2}) f(std::array{centre, square[0], square[k], square[k + 1]});
  }

  void measure() {
    each_point([this](const LatticePoint& p) {
      const Real distance = shape_.surface(place(p)).distance;
      distance_[index(p)] = std::abs(distance) > round_off * size_ ? distance : 0;
    });
  }

  /// Where the surface crosses the edge between two vertices that lie on its two sides.
  Vec3 crossing(const LatticePoint& p, const LatticePoint& q) const {
    Vec3 inside = place(p), outside = place(q);
    if (distance(p) > 0) std::swap(inside, outside);
    constexpr int halvings = 48;  // to round-off
    for (int k = 0; k < halvings; ++k) {
      const Vec3 middle = (inside + outside) / 2;
      (shape_.surface(middle).distance > 0 ? outside : inside) = middle;
    }
    return inside;
  }

  /// Vertices that are near the surface move onto it, to the nearest crossing of their edges.
  void warp() {
    each_point([this](const LatticePoint& p) {
      if (distance(p) == 0) return;
      std::optional<Vec3> nearest;
      Real least = 1;
      for (const auto& [step, limit] : edges()) {
        const LatticePoint q = p + step;
        if ((q.array() < 0).any() || (q.array() > 2 * cubes_.array()).any() || !crosses(p, q)) continue;
        const Vec3 at = crossing(p, q);
        const Real share = (at - place(p)).norm() / (limit * (place(q) - place(p)).norm());
        if (share < least * (1 - round_off)) {
          least = share;
          nearest = at;
        }
      }
      if (!nearest) return;
      moved_[index(p)] = *nearest;
      distance_[index(p)] = 0;
    });
  }
  /// The 14 edges of a vertex, each with what counts as near on it.
  static const std::vector<std::pair<LatticePoint, Real>>& edges() {
    static const std::vector<std::pair<LatticePoint, Real>> all = [] {
      std::vector<std::pair<LatticePoint, Real>> list;
      for (int axis = 0; axis < 3; ++axis)
        for (const int sign : {-2, 2}) list.emplace_back(sign * LatticePoint::Unit(axis), near_on_long);
      for (const int x : {-1, 1})
        for (const int y : {-1, 1})
          for (const int z : {-1, 1}) list.emplace_back(LatticePoint(x, y, z), near_on_short);
      return list;
    }();
    return all;
  }

  std::int32_t vertex(const LatticePoint& p) {
    std::int32_t& number = number_[index(p)];
    if (number < 0) number = add(place(p));
    return number;
  }
  std::int32_t cut(const LatticePoint& p, const LatticePoint& q) {
    const auto [known, is_new] = cuts_.try_emplace(std::minmax(index(p), index(q)), 0);
    if (is_new) known->second = add(crossing(p, q));
    return known->second;
  }
  std::int32_t add(const Vec3& x) {
    mesh_.points.push_back(x);
    return static_cast<std::int32_t>(mesh_.points.size()) - 1;
  }

  void add_tet(std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
    const auto& x = mesh_.points;
    if (six_volumes(x[a], x[b], x[c], x[d]) < 0) std::swap(c, d);
    mesh_.nodes.insert(mesh_.nodes.end(), {a, b, c, d});
  }
  /// Faces with four corners are halved from the one with the lowest number, so that neighbours agree.
  void add_pyramid(std::array<std::int32_t, 4> base, std::int32_t tip) {
    std::ranges::rotate(base, std::ranges::min_element(base));
    add_tet(base[0], base[1], base[2], tip);
    add_tet(base[0], base[2], base[3], tip);
  }
  /// p[k + 3] is opposite to p[k]. [Dompierre et al. 1999]
  void add_prism(std::array<std::int32_t, 6> p) {
    const auto lowest = static_cast<std::size_t>(std::ranges::min_element(p) - p.begin());
    const std::size_t turn = lowest % 3, other = lowest < 3 ? 0 : 3;
    const auto at = [&](std::size_t k) { return p[(k % 3 + turn) % 3 + (k < 3 ? other : 3 - other)]; };
    add_tet(at(0), at(3), at(4), at(5));
    add_pyramid({at(1), at(2), at(5), at(4)}, at(0));
  }

  /// The part of a tetrahedron of the lattice that lies inside.
  void fill(const std::array<LatticePoint, 4>& tet) {
    std::vector<LatticePoint> in, on, out;
    for (const LatticePoint& p : tet) (distance(p) < 0 ? in : distance(p) > 0 ? out : on).push_back(p);
    if (in.empty()) return;
    const auto edge = [&](std::size_t i, std::size_t o) { return cut(in[i], out[o]); };
    if (out.empty()) {
      add_tet(vertex(tet[0]), vertex(tet[1]), vertex(tet[2]), vertex(tet[3]));
    } else if (in.size() == 1) {
      std::array<std::int32_t, 3> others{};
      for (std::size_t k = 0; k < on.size(); ++k) others[k] = vertex(on[k]);
      for (std::size_t k = 0; k < out.size(); ++k) others[on.size() + k] = edge(0, k);
      add_tet(vertex(in[0]), others[0], others[1], others[2]);
    } else if (in.size() == 3) {
      add_prism({vertex(in[0]), vertex(in[1]), vertex(in[2]), edge(0, 0), edge(1, 0), edge(2, 0)});
    } else if (on.size() == 1) {
      add_pyramid({vertex(in[0]), vertex(in[1]), edge(1, 0), edge(0, 0)}, vertex(on[0]));
    } else {
      add_prism({vertex(in[0]), edge(0, 0), edge(0, 1), vertex(in[1]), edge(1, 0), edge(1, 1)});
    }
  }

  const Shape& shape_;
  Real size_;
  int most_levels_;
  Vec3i cubes_;
  Vec3 origin_;
  std::vector<Real> distance_;
  std::vector<std::int32_t> number_;
  std::vector<std::uint8_t> level_;  ///< Of the cube that a smallest one belongs to.
  std::map<std::size_t, Vec3> moved_;
  std::map<std::pair<std::size_t, std::size_t>, std::int32_t> cuts_;
  TetMesh mesh_;
};

}  // namespace

TetMesh tets_of_shape(const Shape& shape, Real size, Real inner_size) {
  const std::optional<Box> box = shape.bounds();
  WEFT_ENSURE(box.has_value());
  const auto levels = static_cast<int>(std::floor(std::log2(std::max(inner_size, size) / size) + 1e-9));
  TetMesh mesh = Stuffing(shape, *box, size, levels).mesh();
  if (mesh.count() == 0) fail(fmt::format("edges of {:.3g} m miss this shape: make \"size\" smaller.", size));
  return mesh;
}

}  // namespace weft
