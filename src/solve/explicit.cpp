#include "weft/solve/explicit.hpp"

#include <cmath>
#include <limits>

namespace weft {
namespace {

/// v = p / m + dt g on the nodes of one block; empty nodes are at rest, and a mass that is not a number shows.
void velocity_of_block(const ExplicitStep& step, const Real* inertia, Real* velocity) {
  const Vec3 fall = step.dt * step.gravity;
  for (int place = 0; place < nodes_per_block; ++place) {
    const Real mass = inertia[place * NodeField::width];
    Real* value = velocity + place * NodeField::width;
    value[3] = mass > 0 ? 1 : 0;
    Eigen::Map<Vec3> v(value);
    if (!(mass > 0)) {
      v.setConstant(mass == 0 ? 0 : mass);
      continue;
    }
    v = Eigen::Map<const Vec3>(inertia + place * NodeField::width + 1) / mass + fall;
    if (mass < step.light_mass) {
      const Real speed = v.norm();
      if (speed > step.light_speed) v *= step.light_speed / speed;
    }
  }
}

}  // namespace

void advance_explicit(const ExplicitStep& step, const BlockMap& map, std::span<const Wall> walls, Layer& layer,
                      std::span<Impulse> by_walls) {
  const NodeField& inertia = layer.get<NodeInertia>();
  NodeField& velocity = layer.get<NodeVelocity>();
#pragma omp parallel for schedule(static)
  for (int b = 0; b < map.owned(); ++b) velocity_of_block(step, inertia.block(b), velocity.block(b));

  apply_walls(walls, step.time - step.dt_before / 2, step.time + step.dt / 2, step.dx, map, inertia, velocity,
              by_walls);
}

FastestNode fastest_node(const BlockMap& map, Real dx, const NodeField& velocity) {
  std::vector<FastestNode> by_block(static_cast<std::size_t>(map.owned()));
#pragma omp parallel for schedule(static)
  for (int b = 0; b < map.owned(); ++b) {
    int fastest = 0;
    Real most = -1;  // speed squared
    for (int place = 0; place < nodes_per_block; ++place) {
      Real speed2 = Eigen::Map<const Vec3>(velocity.block(b) + place * NodeField::width).squaredNorm();
      if (std::isnan(speed2)) speed2 = std::numeric_limits<Real>::infinity();
      if (speed2 <= most) continue;
      fastest = place;
      most = speed2;
    }
    by_block[b] = {std::sqrt(most), (map.first_node(b) + node_at_place(fastest)).cast<Real>() * dx};
  }
  FastestNode fastest;
  for (const FastestNode& f : by_block)
    if (f.speed > fastest.speed) fastest = f;
  return fastest;
}

}  // namespace weft
