#pragma once
// Points that follow bodies with freedoms of their own, as the nodes of their layer see them.

#include "run/stages/context.hpp"

namespace weft {

/// Adds up mass and momentum of the tentative velocities of followers in NodeGiven, apart from those of others and
/// from forces: a change from the velocity of all would not keep the momentum of all. Owners have to be told.
void scatter_followers(StepContext& step, GridLayer& layer);
/// From mass and momentum of owned nodes to their velocities; zero without mass. Both fields may be the same.
void find_velocities(const BlockMap& map, const NodeField& inertia, NodeField& velocity);

}  // namespace weft
