#include "weft/grid/walls.hpp"

#include <cmath>

namespace weft {
namespace {

/// In grid spacings. Nodes on the surface belong to the wall, whatever side round-off puts them on.
constexpr Real on_surface = 1e-9;

/// Applies one wall to one block; returns the impulse that the wall received.
Vec3 apply_wall(const Wall& wall, const RigidState& state, Real dx, const Vec3i& first_node, const Real* inertia,
                Real* velocity) {
  constexpr Real half_edge = (block_width - 1) / 2.0;
  const Vec3 middle = (first_node.cast<Real>() + Vec3::Constant(half_edge)) * dx;
  const Real half_diagonal = std::sqrt(3.0) * half_edge * dx, slack = on_surface * dx;
  Vec3 impulse = Vec3::Zero();
  if (wall.shape.surface(state, middle).distance > half_diagonal + 2 * slack) return impulse;

  for (int place = 0; place < nodes_per_block; ++place) {
    const Real mass = inertia[place * NodeField::width];
    if (!(mass > 0)) continue;
    const Vec3 x = (first_node + node_at_place(place)).cast<Real>() * dx;
    const Surface surface = wall.shape.surface(state, x);
    if (surface.distance > slack) continue;
    Eigen::Map<Vec3> v(velocity + place * NodeField::width);
    const Vec3 before = v;
    v = velocity_at_wall(wall.condition, wall.friction, before, state.velocity_at(x), surface.normal);
    impulse += mass * (before - v);
  }
  return impulse;
}

}  // namespace

Vec3 velocity_at_wall(WallCondition condition, Real friction, const Vec3& v, const Vec3& v_wall, const Vec3& normal) {
  if (condition == WallCondition::sticky) return v_wall;
  const Vec3 relative = v - v_wall;
  const Real normal_speed = relative.dot(normal);
  if (condition == WallCondition::separate && normal_speed >= 0) return v;
  const Vec3 tangential = relative - normal_speed * normal;
  const Real slide = tangential.norm(), loss = friction * std::abs(normal_speed);
  if (slide <= loss) return v_wall;
  return v_wall + (1 - loss / slide) * tangential;
}

std::vector<Mat3> wall_projections(std::span<const Wall> walls, Real time, Real dx, const BlockMap& map,
                                   const std::function<const Real*(const Vec3i& block)>& velocity_of) {
  std::vector<Mat3> projections(static_cast<std::size_t>(map.owned()) * nodes_per_block, Mat3::Identity());
  for (const Wall& wall : walls) {
    const RigidState state = wall.shape.at(time);
    for (int b = 0; b < map.owned(); ++b) {
      const Real* velocity = velocity_of(map.block(b));
      for (int place = 0; place < nodes_per_block; ++place) {
        const Vec3 x = (map.first_node(b) + node_at_place(place)).cast<Real>() * dx;
        const Surface surface = wall.shape.surface(state, x);
        if (surface.distance > on_surface * dx) continue;
        Mat3& P = projections[static_cast<std::size_t>(b) * nodes_per_block + place];
        if (wall.condition == WallCondition::sticky) {
          P.setZero();
          continue;
        }
        const Eigen::Map<const Vec3> v(velocity + place * NodeField::width);
        const Vec3 relative = v - state.velocity_at(x), n = P * surface.normal;
        const bool leaves =
            wall.condition == WallCondition::separate && relative.dot(surface.normal) > 1e-9 * (1e-9 + relative.norm());
        // Of a second wall only what the first leaves free.
        if (!leaves && n.squaredNorm() > 1e-12) P -= n * n.transpose() / n.squaredNorm();
      }
    }
  }
  return projections;
}

void apply_walls(std::span<const Wall> walls, Real time, Real dx, const BlockMap& map, const NodeField& inertia,
                 NodeField& velocity, std::span<Vec3> impulse) {
  for (std::size_t w = 0; w < walls.size(); ++w) {
    const RigidState state = walls[w].shape.at(time);
    std::vector<Vec3> by_block(static_cast<std::size_t>(map.owned()), Vec3::Zero());
#pragma omp parallel for schedule(dynamic, 8)
    for (int b = 0; b < map.owned(); ++b)
      by_block[b] = apply_wall(walls[w], state, dx, map.first_node(b), inertia.block(b), velocity.block(b));
    for (const Vec3& share : by_block) impulse[w] += share;
  }
}

}  // namespace weft
