#pragma once
// The stages of a step, in their order. All are collective.

#include "run/stages/context.hpp"

namespace weft {

/// Points that may have left the tile of their bin are binned anew, and those that left go to the rank of their block;
/// with new cuts of the curve, and of meshes along them, if `recut`.
void home(StepContext& step, bool recut);
/// The blocks that points touch, if they are others than before, and their numbers in bins.
void activate(StepContext& step);
/// The first dt to try, at most to the time not_beyond [s].
void size(StepContext& step, Real not_beyond);
/// What does not depend on dt: the energy of the positions if `weigh` or if the step reaches its stop, forces of
/// elements, loads and what is held.
void prepare(StepContext& step, bool weigh);

// A try with dt; nothing but the grid changes.

/// Motions of bodies before the grid moves them. Returns false if one was not found on some rank.
bool predict(StepContext& step);
/// Mass, momentum and forces, points to nodes, summed to owners.
void scatter(StepContext& step);
/// The velocities of all nodes, ghosts among them. Returns false if they were not found.
bool advance(StepContext& step);
/// Whether a body wants scatter and advance once more.
bool repeat(StepContext& step);
/// Whether all ranks accept the step. If not, dt is smaller afterwards. Throws Error(numerics) after the last retry.
bool accept(StepContext& step);

// The step is accepted.

/// Nodes to points. Bodies that nobody corrects move and deform at once, chunk by chunk.
void gather(StepContext& step);
/// Changes the velocities of bodies that take part, and then moves and deforms these.
void correct(StepContext& step);
/// Elements follow their vertices; the clock and the counts of the run go on.
void commit(StepContext& step);
/// Points come and go; limits of the next step.
void edit(StepContext& step);

}  // namespace weft
