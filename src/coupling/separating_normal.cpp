#include "separating_normal.hpp"

#include <cmath>
#include <numbers>

#include "weft/bodies/contact_extent.hpp"

namespace weft {
namespace {

/// An edge has one plane of normals, a corner more.
constexpr int most_arcs = 3;
/// Each halves the arc in which the normal is.
constexpr int most_halvings = 14;
/// What is nearer to the wall than it is to the foot, by this part, is along no normal.
constexpr Real precision = 1e-8;
/// Angles [rad]: smaller turns are none, and so far behind the last normal of an edge is a face.
constexpr Real least_turn = 1e-3, to_face = 0.05;

Vec3 across(const Vec3& n, const Vec3& v) { return v - n.dot(v) * n; }

Vec3 foot_of(const WallAround& wall, const Vec3& place) {
  const auto [distance, normal] = wall.surface(place);
  return place - distance * normal;
}

}  // namespace

Surface separated(const WallAround& wall, const Vec3& x, const Surface& face, const Vec3& middle, const Mat3& extent) {
  Vec3 foot = x - face.distance * face.normal, n = face.normal;
  const auto to_end = [&](const Vec3& way) -> Vec3 { return middle + reach_along(extent, way).to_end - foot; };
  const auto is_normal = [&](const Vec3& way, const Vec3& at) {
    return wall.distance_to(at + wall.near * way) >= (1 - precision) * wall.near;
  };
  for (int arc = 0; arc < most_arcs; ++arc) {
    const Vec3 rise = across(n, to_end(n));
    if (!(rise.norm() > least_turn * wall.near)) break;
    // Over a face or along an edge the foot goes with what is over it.
    const Vec3 way = to_face * rise.normalized();
    const Vec3 moved = foot_of(wall, foot + wall.near * (n + way)) - foot;
    Vec3 turn = across(n, way - moved / wall.near);
    if (!(turn.norm() > least_turn * to_face)) {
      // What is over a face and ends beside it meets its edge.
      const Vec3 edge = foot_of(wall, foot + wall.near * n + across(n, reach_along(extent, n).to_end));
      const bool is_beside = std::abs(n.dot(edge - foot)) < precision * wall.near && is_normal(n, edge);
      if (arc > 0 || !is_beside) break;
      foot = edge;
      continue;
    }
    turn.normalize();
    const auto turned = [&](Real angle) -> Vec3 { return std::cos(angle) * n + std::sin(angle) * turn; };
    const auto rises_at = [&](Real angle) {
      return to_end(turned(angle)).dot(turned(angle + std::numbers::pi / 2)) > 0 && is_normal(turned(angle), foot);
    };
    if (!rises_at(least_turn)) break;
    Real low = least_turn, high = std::numbers::pi;
    for (int k = 0; k < most_halvings; ++k) {
      const Real angle = (low + high) / 2;
      (rises_at(angle) ? low : high) = angle;
    }
    const Vec3 beside = wall.surface(foot + wall.near * turned(low + to_face)).normal;
    n = (beside - turned(low)).norm() < least_turn ? beside : turned(low);
  }
  return {n.dot(x - foot), n};
}

}  // namespace weft
