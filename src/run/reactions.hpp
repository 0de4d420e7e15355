#pragma once
// Reactions: what handles that prescribe give to bodies, from the impulses along their conditions.

#include "run/state.hpp"
#include "weft/bodies/handle.hpp"
#include "weft/motion/motion.hpp"
#include "weft/scene/scene.hpp"

#include <memory>
#include <span>

namespace weft {

/// A sum over vertices that a handle prescribes along an axis, in a step of its body.
struct PrescribedSum {
  std::size_t handle;
  HeldAim aim;
  Vec3 x;     ///< The sum when the step begins [m].
  Vec3 axis;  ///< Its direction when it ends, by the edge when it begins.

  /// How far it is to come along the axis; state: of the handle when the step ends [m].
  Real change(const RigidState& state) const { return aim.goal(axis, state) - axis.dot(x); }
  /// What an impulse along the axis gives to the body, about the centre of the handle. speed: of the sum along the
  /// axis, for the work [m/s].
  void add_to(Impulse& given, const RigidState& state, Real along, Real speed) const;
};

/// A handle of the scene that prescribes, and its conditions on the vertices of its body.
struct VertexHold {
  std::size_t handle;
  std::unique_ptr<Handle> conditions;
};

/// freedoms.block(block) has the vertices of the body. The handle is a Hold.
VertexHold hold_vertices(const Scene& scene, std::size_t handle, const Freedoms& freedoms, std::size_t block);

/// Adds what holds gave in a step that ends with `motion`, that of their body's points since they were committed.
/// impulses: along the conditions of this rank, hold by hold [N s]; mean_speeds: of what they are on, meanwhile [m/s].
void add_reactions(std::span<const VertexHold> holds, std::span<const Real> impulses, const Motion& motion,
                   std::span<const Real> mean_speeds, std::span<Impulse> by_handles);

}  // namespace weft
