#pragma once
// What layers have to know of one another before they meet, and what nodes do to rigid bodies. All are collective.

#include "run/stages/context.hpp"

namespace weft {

/// Surfaces at nodes, where they face one another, and how rigid bodies move as the step begins.
void find_surfaces(StepContext& step);
/// Which bodies repeat contact in this step.
void choose_repeated(StepContext& step);
/// Where a side of a surface remembers anything, or may once layers have met. Not collective.
void find_blocks_in_contact(const StepContext& step, GridLayer& side);
/// Loads rigid bodies with what their nodes remember, at the positions on the bodies that these move.
void load_rigid_bodies(StepContext& step);
/// Tells all ranks how rigid bodies were predicted to move.
void share_predictions(StepContext& step);
/// Gives rigid bodies the impulses that their nodes got from other layers.
void push_rigid_bodies(StepContext& step);

}  // namespace weft
