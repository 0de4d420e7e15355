#include "solve/node_walls.hpp"

#include "weft/math/svd.hpp"

#include <cmath>

namespace weft {
namespace {

/// Directions in which a wall leaves less of a change than this count as held.
constexpr Real held = 1e-6;

}  // namespace

void NodeWalls::begin_step(const ImplicitStep& step, std::span<const Wall> walls, const BlockMap& map,
                           const NodeField& inertia) {
  walls_ = walls;
  contacts_ = contacts_during(walls, step.time, step.dt, step.dx, map, inertia);
  grip_.assign(contacts_.size(), 0);
  nodes_.clear();
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const auto [block, place] = std::pair(contacts_[c].block, contacts_[c].place);
    const std::size_t node = static_cast<std::size_t>(block) * nodes_per_block + static_cast<std::size_t>(place);
    if (nodes_.empty() || nodes_.back().node != node) {
      const Vec3 x = (map.first_node(block) + node_at_place(place)).cast<Real>() * step.dx;
      nodes_.push_back({node, x, c, c, 1, {}, {}, {}, {}});
    }
    nodes_.back().end = c + 1;
  }
}

Vec3 NodeWalls::leave(const WallNode& node, Vec3 y) const {
  for (std::size_t c = node.begin; c < node.end; ++c) {
    const WallContact& contact = contacts_[c];
    const Wall& wall = walls_[static_cast<std::size_t>(contact.wall)];
    y = velocity_at_wall(wall.condition, wall.friction, y, contact.velocity, contact.normal);
  }
  return y;
}

void NodeWalls::linearise_at(WallNode& node, Vec3 y, Real mass) {
  const Mat3 I = Mat3::Identity();
  Mat3 symmetric = I;
  node.slope = I;
  for (std::size_t c = node.begin; c < node.end; ++c) {
    const auto& [block, place, w, velocity, n] = contacts_[c];
    const Wall& wall = walls_[static_cast<std::size_t>(w)];
    const Mat3 slope = velocity_differential_at_wall(wall.condition, wall.friction, y, velocity, n);
    node.slope = slope * node.slope;
    const bool touches = !slope.isIdentity(0);
    if (touches) symmetric = slope * (I - n * n.transpose()) * symmetric;
    grip_[c] = touches ? wall.friction * node.k * mass * std::abs((y - velocity).dot(n)) : 0;
    y = velocity_at_wall(wall.condition, wall.friction, y, velocity, n);
  }
  const SymmetricEigen eigen = symmetric_eigen(0.5 * (symmetric + symmetric.transpose()));
  const auto along_free = [&](auto&& value) -> Mat3 {
    Vec3 values = Vec3::Zero();
    for (int i = 0; i < 3; ++i)
      if (eigen.values[i] > held) values[i] = value(eigen.values[i]);
    return eigen.Q * values.asDiagonal() * eigen.Q.transpose();
  };
  node.free = along_free([](Real) { return 1.0; });
  node.inverse = along_free([](Real theta) { return 1 / theta; });
  node.drag = along_free([&](Real theta) { return node.k * (1 - theta) / theta; });
}

Real NodeWalls::friction(const WallNode& node, const Vec3& v) const {
  Real sum = 0;
  for (std::size_t c = node.begin; c < node.end; ++c) {
    const Vec3 slide = v - contacts_[c].velocity, n = contacts_[c].normal;
    sum += grip_[c] * (slide - slide.dot(n) * n).norm();
  }
  return sum;
}

Vec3 NodeWalls::finish(const WallNode& node, Vec3 y, Real mass, std::span<Impulse> by_walls) const {
  for (std::size_t c = node.begin; c < node.end; ++c) {
    const Vec3 before = y;
    const auto w = static_cast<std::size_t>(contacts_[c].wall);
    y = velocity_at_wall(walls_[w].condition, walls_[w].friction, before, contacts_[c].velocity, contacts_[c].normal);
    by_walls[w].add(node.k * mass * (y - before), node.x, contacts_[c].velocity);
  }
  return y;
}

}  // namespace weft
