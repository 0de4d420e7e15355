#pragma once
// The explicit grid step: symplectic Euler on the nodes of one layer.

#include "weft/grid/node_field.hpp"
#include "weft/grid/walls.hpp"

namespace weft {

struct ExplicitStep {
  Real dt;           ///< [s].
  Real dt_before;    ///< Of the step before, 0 for the first [s].
  Real time;         ///< At the start of the step [s].
  Real dx;           ///< [m].
  Vec3 gravity;      ///< [m/s^2].
  Real light_mass;   ///< Nodes lighter than this are held to `light_speed` [kg]; 0 for kernels that need no such care.
  Real light_speed;  ///< [m/s].
};

/// The owned node of this rank that moves fastest.
struct FastestNode {
  Real speed = 0;         ///< [m/s]; infinity if any velocity is not finite.
  Vec3 x = Vec3::Zero();  ///< Where [m].
};
FastestNode fastest_node(const BlockMap& map, Real dx, const NodeField& velocity);

/// From summed mass and momentum (forces times dt included) to the velocity of every owned node:
/// v_i = p_i / m_i + dt g, then the walls. Nodes without mass are at rest; ghosts wait for their owners.
/// by_walls grows by what each wall gave on this rank.
void advance_explicit(const ExplicitStep& step, const BlockMap& map, std::span<const Wall> walls, Layer& layer,
                      std::span<Impulse> by_walls);

}  // namespace weft
