#include "weft/grid/walls.hpp"

#include <cmath>

namespace weft {
namespace {

/// In grid spacings. Nodes on the surface belong to the wall, whatever side round-off puts them on.
constexpr Real on_surface = 1e-9;

bool acts_on_nodes(const Wall& wall) { return wall.contact == WallContactKind::nodes; }

/// Whether a wall may reach nodes of the block that starts at this node.
bool may_touch(const Wall& wall, const RigidState& state, Real dx, const Vec3i& first_node) {
  constexpr Real half_edge = (block_width - 1) / 2.0;
  const Vec3 middle = (first_node.cast<Real>() + Vec3::Constant(half_edge)) * dx;
  return wall.shape.surface(state, middle).distance <= (std::sqrt(3.0) * half_edge + 2 * on_surface) * dx;
}

/// Applies one wall, as it is now, to one block; returns what it gave. An impulse works on what moves as the mean of
/// velocities before and after it.
Impulse apply_wall(const Wall& wall, const RigidState& before, const RigidState& now, Real dx, const Vec3i& first_node,
                   const Real* inertia, Real* velocity) {
  const Real slack = on_surface * dx;
  Impulse given;
  if (!may_touch(wall, now, dx, first_node)) return given;

  for (int place = 0; place < nodes_per_block; ++place) {
    const Real mass = inertia[place * NodeField::width];
    if (!(mass > 0)) continue;
    const Vec3 x = (first_node + node_at_place(place)).cast<Real>() * dx;
    if (wall.shape.surface(now, x).distance > slack) continue;
    Eigen::Map<Vec3> v(velocity + place * NodeField::width);
    const Vec3 free = v, v_wall = now.velocity_at(x);
    for (const Vec3& normal : wall.shape.holding(now, x, slack))
      v = velocity_at_wall(wall.condition, wall.friction, v, v_wall, normal);
    given.add(mass * (v - free), x, (before.velocity_at(x) + v_wall) / 2);
  }
  return given;
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

std::optional<Mat3> wall_projection(std::span<const Wall> walls, std::span<const RigidState> states, Real dx,
                                    const Vec3& x, const Vec3& v) {
  const Real slack = on_surface * dx;
  std::optional<Mat3> P;
  for (std::size_t w = 0; w < walls.size(); ++w) {
    if (!acts_on_nodes(walls[w]) || walls[w].shape.surface(states[w], x).distance > slack) continue;
    if (walls[w].condition == WallCondition::sticky) return Mat3::Zero();
    const Vec3 relative = v - states[w].velocity_at(x);
    for (const Vec3& normal : walls[w].shape.holding(states[w], x, slack)) {
      const bool leaves =
          walls[w].condition == WallCondition::separate && relative.dot(normal) > 1e-9 * (1e-9 + relative.norm());
      if (leaves) continue;
      if (!P) P = Mat3::Identity();
      // Of a second wall only what the first leaves free.
      const Vec3 n = *P * normal;
      if (n.squaredNorm() > 1e-12) *P -= n * n.transpose() / n.squaredNorm();
    }
  }
  return P;
}

Mat3 velocity_differential_at_wall(WallCondition condition, Real friction, const Vec3& v, const Vec3& v_wall,
                                   const Vec3& normal) {
  if (condition == WallCondition::sticky) return Mat3::Zero();
  const Vec3 relative = v - v_wall;
  const Real normal_speed = relative.dot(normal);
  if (condition == WallCondition::separate && normal_speed >= 0) return Mat3::Identity();
  const Vec3 tangential = relative - normal_speed * normal;
  const Real slide = tangential.norm(), loss = friction * std::abs(normal_speed);
  if (slide <= loss) return Mat3::Zero();
  // d (1 - loss / |v_t|) v_t, with d loss = friction sign(v_n) n . dv.
  const Vec3 along = tangential / slide;
  const Mat3 tangent_plane = Mat3::Identity() - normal * normal.transpose();
  return (1 - loss / slide) * tangent_plane + loss / slide * along * along.transpose() -
         std::copysign(friction, normal_speed) * along * normal.transpose();
}

std::vector<WallContact> contacts_during(std::span<const Wall> walls, Real time, Real dt, Real dx, const BlockMap& map,
                                         const NodeField& inertia) {
  struct Moment {
    RigidState start, middle, end;
  };
  std::vector<Moment> moments;
  for (const Wall& wall : walls)
    moments.push_back({wall.shape.at(time), wall.shape.at(time + dt / 2), wall.shape.at(time + dt)});

  const Real slack = on_surface * dx;
  std::vector<std::vector<WallContact>> of_block(static_cast<std::size_t>(map.owned()));
#pragma omp parallel for schedule(dynamic, 8)
  for (int b = 0; b < map.owned(); ++b) {
    std::vector<int> near;
    for (std::size_t w = 0; w < walls.size(); ++w)
      if (acts_on_nodes(walls[w]) && may_touch(walls[w], moments[w].middle, dx, map.first_node(b)))
        near.push_back(static_cast<int>(w));
    if (near.empty()) continue;
    for (int place = 0; place < nodes_per_block; ++place) {
      if (!(inertia.block(b)[place * NodeField::width] > 0)) continue;
      const Vec3 x = (map.first_node(b) + node_at_place(place)).cast<Real>() * dx;
      for (const int w : near) {
        const auto& [start, middle, end] = moments[w];
        if (walls[w].shape.surface(middle, x).distance > slack) continue;
        const Vec3 material = middle.to_rest(x), velocity = (end.to_world(material) - start.to_world(material)) / dt;
        for (const Vec3& normal : walls[w].shape.holding(middle, x, slack))
          of_block[b].push_back({b, place, w, velocity, normal});
      }
    }
  }
  std::vector<WallContact> all;
  for (const auto& some : of_block) all.insert(all.end(), some.begin(), some.end());
  return all;
}

void apply_walls(std::span<const Wall> walls, Real time_before, Real time, Real dx, const BlockMap& map,
                 const NodeField& inertia, NodeField& velocity, std::span<Impulse> given) {
  for (std::size_t w = 0; w < walls.size(); ++w) {
    if (!acts_on_nodes(walls[w])) continue;
    const RigidState before = walls[w].shape.at(time_before), now = walls[w].shape.at(time);
    std::vector<Impulse> by_block(static_cast<std::size_t>(map.owned()));
#pragma omp parallel for schedule(dynamic, 8)
    for (int b = 0; b < map.owned(); ++b)
      by_block[b] = apply_wall(walls[w], before, now, dx, map.first_node(b), inertia.block(b), velocity.block(b));
    for (const Impulse& share : by_block) given[w] += share;
  }
}

}  // namespace weft
