#pragma once
// What layers have to know of one another before they meet.

#include "run/stages/context.hpp"

namespace weft {

/// Surfaces at nodes, where they face one another, and how rigid bodies move as the step begins. Collective.
void find_surfaces(StepContext& step);
/// Which bodies repeat contact in this step. Collective.
void choose_repeated(StepContext& step);
/// Where a side of a surface remembers anything, or may once layers have met.
void find_blocks_in_contact(const StepContext& step, GridLayer& side);

}  // namespace weft
