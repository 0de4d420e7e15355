#pragma once
// The explicit grid step: symplectic Euler on the nodes of one layer.

#include "weft/grid/node_field.hpp"
#include "weft/grid/walls.hpp"

namespace weft {

struct ExplicitStep {
  Real dt;           ///< [s].
  Real time;         ///< At the start of the step [s].
  Real dx;           ///< [m].
  Vec3 gravity;      ///< [m/s^2].
  Real light_mass;   ///< Nodes lighter than this are held to `light_speed` [kg]; 0 for kernels that need no such care.
  Real light_speed;  ///< [m/s].
};

/// What the step did to this rank's nodes.
struct ExplicitReport {
  Real max_speed = 0;                ///< Of an owned node [m/s]; infinity if any velocity is not finite.
  Vec3 fastest_node = Vec3::Zero();  ///< Where [m].
};

/// From summed mass and momentum (forces times dt included) to the velocity of every owned node:
/// v_i = p_i / m_i + dt g, then the walls. Nodes without mass are at rest; ghosts wait for their owners.
/// wall_impulse grows by what the walls received on this rank.
ExplicitReport advance_explicit(const ExplicitStep& step, const BlockMap& map, std::span<const Wall> walls,
                                Layer& layer, std::span<Vec3> wall_impulse);

}  // namespace weft
