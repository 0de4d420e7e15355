// Nearest points by descent into the nearer box first; winding numbers by signed crossings of a ray along x.

#include "geometry/triangle_tree.hpp"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace weft {

namespace {

constexpr std::int32_t leaf_size = 4;
/// Halving 2^31 triangles down to leaves takes fewer levels.
constexpr int most_levels = 40;

Real squared_distance(const Box& box, const Vec3& x) {
  return (box.lower - x).cwiseMax(x - box.upper).cwiseMax(0).squaredNorm();
}

/// Calls visit(k) for the triangles of the leaves of a tree, from left to right, but for boxes that are passed over.
template <class Nodes, class PassesOver, class Visit>
void visit_triangles(const Nodes& nodes, PassesOver passes_over, Visit visit) {
  std::array<std::int32_t, most_levels> stack;
  int waiting = 0;
  stack[waiting++] = 0;
  while (waiting > 0) {
    const std::int32_t index = stack[--waiting];
    const auto& node = nodes[index];
    if (passes_over(node.box)) continue;
    for (std::int32_t k = node.first; k < node.first + node.count; ++k) visit(k);
    if (node.count > 0) continue;
    stack[waiting++] = node.right;
    stack[waiting++] = index + 1;
  }
}

/// The point of a triangle nearest to x, by the region of the plane that x projects into. [Ericson 2005, 5.1.5]
Vec3 nearest_in_triangle(const Vec3& x, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 ab = b - a, ac = c - a, ax = x - a, bx = x - b, cx = x - c;
  const Real d1 = ab.dot(ax), d2 = ac.dot(ax);
  if (d1 <= 0 && d2 <= 0) return a;
  const Real d3 = ab.dot(bx), d4 = ac.dot(bx);
  if (d3 >= 0 && d4 <= d3) return b;
  const Real vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return a + d1 / (d1 - d3) * ab;
  const Real d5 = ab.dot(cx), d6 = ac.dot(cx);
  if (d6 >= 0 && d5 <= d6) return c;
  const Real vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return a + d2 / (d2 - d6) * ac;
  const Real va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 >= d3 && d5 >= d6) return b + (d4 - d3) / ((d4 - d3) + (d5 - d6)) * (c - b);
  const Real sum = va + vb + vc;
  return a + vb / sum * ab + vc / sum * ac;
}

}  // namespace

TriangleTree::TriangleTree(std::vector<Vec3> points, std::vector<Triangle> triangles)
    : points_(std::move(points)), triangles_(std::move(triangles)) {
  nodes_.reserve(triangles_.size());
  build(0, static_cast<std::int32_t>(triangles_.size()));
}

Box TriangleTree::box_of(const Triangle& t) const {
  Box box;
  for (const auto i : t) box.include(points_[i]);
  return box;
}

void TriangleTree::build(std::int32_t begin, std::int32_t end) {
  const std::size_t node = nodes_.size();
  nodes_.emplace_back();
  Box box, middles;
  const auto middle = [&](const Triangle& t) { return Vec3(points_[t[0]] + points_[t[1]] + points_[t[2]]); };
  for (std::int32_t k = begin; k < end; ++k) {
    const Box of_triangle = box_of(triangles_[k]);
    box.include(of_triangle.lower);
    box.include(of_triangle.upper);
    middles.include(middle(triangles_[k]));
  }
  nodes_[node].box = box;
  if (end - begin <= leaf_size) {
    nodes_[node].first = begin;
    nodes_[node].count = end - begin;
    return;
  }
  int axis;
  (middles.upper - middles.lower).maxCoeff(&axis);
  const std::int32_t half = begin + (end - begin) / 2;
  std::nth_element(triangles_.begin() + begin, triangles_.begin() + half, triangles_.begin() + end,
                   [&](const Triangle& a, const Triangle& b) {
                     const Real at_a = middle(a)[axis], at_b = middle(b)[axis];
                     return at_a != at_b ? at_a < at_b : a < b;
                   });
  build(begin, half);
  nodes_[node].right = static_cast<std::int32_t>(nodes_.size());
  build(half, end);
}

std::optional<TriangleTree::Nearest> TriangleTree::nearest(const Vec3& x, Real within) const {
  std::optional<Nearest> best;
  Real best_squared = within * within;
  struct Waiting {
    std::int32_t node;
    Real squared;
  };
  std::array<Waiting, most_levels> stack;
  int waiting = 0;
  stack[waiting++] = {0, squared_distance(nodes_[0].box, x)};
  while (waiting > 0) {
    const Waiting next = stack[--waiting];
    if (next.squared > best_squared) continue;
    const Node& node = nodes_[next.node];
    for (std::int32_t k = node.first; k < node.first + node.count; ++k) {
      const Triangle& t = triangles_[k];
      const Vec3 point = nearest_in_triangle(x, points_[t[0]], points_[t[1]], points_[t[2]]);
      const Real squared = (x - point).squaredNorm();
      if (squared < best_squared || (!best && squared == best_squared)) {
        best_squared = squared;
        best = {point, k};
      }
    }
    if (node.count > 0) continue;
    Waiting near = {next.node + 1, squared_distance(nodes_[next.node + 1].box, x)};
    Waiting far = {node.right, squared_distance(nodes_[node.right].box, x)};
    if (far.squared < near.squared) std::swap(near, far);
    stack[waiting++] = far;
    stack[waiting++] = near;
  }
  return best;
}

std::vector<std::int32_t> TriangleTree::all_at(const Vec3& x, Real within) const {
  std::vector<std::int32_t> all;
  visit_triangles(
      nodes_, [&](const Box& box) { return squared_distance(box, x) > within * within; },
      [&](std::int32_t k) {
        const Triangle& t = triangles_[k];
        const Vec3 point = nearest_in_triangle(x, points_[t[0]], points_[t[1]], points_[t[2]]);
        if ((x - point).squaredNorm() <= within * within) all.push_back(k);
      });
  return all;
}

int TriangleTree::winding(const Vec3& x) const {
  int winding = 0;
  visit_triangles(
      nodes_,
      [&](const Box& box) {
        return x[0] > box.upper[0] || x[1] < box.lower[1] || x[1] > box.upper[1] || x[2] < box.lower[2] ||
               x[2] > box.upper[2];
      },
      [&](std::int32_t k) { winding += crossing(triangles_[k], x); });
  return winding;
}

/// +1 if the ray from x along +x leaves the solid through this triangle, -1 if it enters, 0 if it misses.
/// Seen along x, the triangle is hit if its outline winds around the ray. Each edge counts by itself, evaluated from
/// its lower to its upper end, so that the two triangles of an edge see exactly opposite contributions: rays through
/// edges and corners are counted once.
int TriangleTree::crossing(const Triangle& t, const Vec3& x) const {
  int outline = 0;
  for (int a = 0; a < 3; ++a) {
    std::int32_t low = t[a], high = t[(a + 1) % 3];
    int sense = 1;
    if (points_[low][2] > points_[high][2]) {
      std::swap(low, high);
      sense = -1;
    }
    const Vec3 &p = points_[low], &q = points_[high];
    if (x[2] < p[2] || x[2] >= q[2]) continue;
    if ((q[1] - p[1]) * (x[2] - p[2]) - (q[2] - p[2]) * (x[1] - p[1]) > 0) outline += sense;
  }
  if (outline == 0) return 0;

  const Box box = box_of(t);
  if (box.upper[0] <= x[0]) return 0;
  if (box.lower[0] > x[0]) return outline;
  const Vec3& a = points_[t[0]];
  const Real above = (points_[t[1]] - a).cross(points_[t[2]] - a).dot(x - a);  // on the outer side of the plane if > 0
  return (outline > 0 ? above < 0 : above > 0) ? outline : 0;
}

Vec3 TriangleTree::nearest_in(std::int32_t triangle, const Vec3& x) const {
  const Triangle& t = triangles_[triangle];
  return nearest_in_triangle(x, points_[t[0]], points_[t[1]], points_[t[2]]);
}

Vec3 TriangleTree::middle(std::int32_t triangle) const {
  const Triangle& t = triangles_[triangle];
  return (points_[t[0]] + points_[t[1]] + points_[t[2]]) / 3;
}

Vec3 TriangleTree::normal(std::int32_t triangle) const {
  const Triangle& t = triangles_[triangle];
  return (points_[t[1]] - points_[t[0]]).cross(points_[t[2]] - points_[t[0]]).normalized();
}

}  // namespace weft
