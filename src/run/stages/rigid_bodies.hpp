#pragma once
// What ranks know of the motion of rigid bodies, and what nodes do to these, by sums over all ranks. All are
// collective.

#include "run/stages/context.hpp"

namespace weft {

/// Tells all ranks how rigid bodies move as the step begins,
void share_motions(StepContext& step);
/// and how they were predicted to move.
void share_predictions(StepContext& step);
/// Loads rigid bodies with what their nodes remember, at the positions on the bodies that these move.
void load_rigid_bodies(StepContext& step);
/// Gives rigid bodies the impulses that their nodes got from other layers.
void push_rigid_bodies(StepContext& step);

}  // namespace weft
