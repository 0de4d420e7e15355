#pragma once
// Walls: colliders as conditions on the velocity of the nodes inside them or on their surface.

#include "weft/base/impulse.hpp"
#include "weft/base/kinds.hpp"
#include "weft/geometry/rigid_motion.hpp"
#include "weft/grid/node_field.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct Wall {
  std::string name;
  MovingShape shape;
  WallCondition condition;
  Real friction;  ///< Coulomb coefficient; for slip and separate.
  WallContactKind contact = WallContactKind::nodes;
  WallEdges edges = WallEdges::rounded;
};

/// The velocity that a wall leaves to material of velocity v at a node inside it. normal: outward, unit.
/// sticky: v_wall. slip: the normal part of the relative velocity goes. separate: it goes only if it points into the
/// wall. The tangential part then loses at most friction times the normal part (Coulomb).
Vec3 velocity_at_wall(WallCondition condition, Real friction, const Vec3& v, const Vec3& v_wall, const Vec3& normal);

/// The derivative of velocity_at_wall by v: where the condition switches, that of one of its sides.
Mat3 velocity_differential_at_wall(WallCondition condition, Real friction, const Vec3& v, const Vec3& v_wall,
                                   const Vec3& normal);

/// A wall at an owned node with mass that is in it during a step; behind an inner edge of the wall one for each of the
/// parts of its surface that meet there.
struct WallContact {
  int block, place;  ///< The node.
  int wall;
  Vec3 velocity;  ///< Displacement of the wall's material at the node during the step over dt [m/s].
  Vec3 normal;    ///< Outward, unit.
};
/// Where the walls are in the middle of the step from `time` [s] on, node by node, for each node in the order of walls.
std::vector<WallContact> contacts_during(std::span<const Wall> walls, Real time, Real dt, Real dx, const BlockMap& map,
                                         const NodeField& inertia);

/// Applies the walls, one after another as listed, to the owned nodes with mass. Adds to given[w] what wall w gave to
/// the material on this rank. time: to which the velocities belong, when walls are looked at; time_before: to which
/// those before this step belong [s]. [docs/theory/step.md, 3]
void apply_walls(std::span<const Wall> walls, Real time_before, Real time, Real dx, const BlockMap& map,
                 const NodeField& inertia, NodeField& velocity, std::span<Impulse> given);

/// The projection on the changes of velocity that walls leave possible to a node at x with velocity v, walls being
/// done: none at sticky walls, along the surface at others that the node does not leave; absent where walls leave all.
/// states: of the walls, when they are looked at. [docs/theory/handles.md, 10.9]
std::optional<Mat3> wall_projection(std::span<const Wall> walls, std::span<const RigidState> states, Real dx,
                                    const Vec3& x, const Vec3& v);

}  // namespace weft
