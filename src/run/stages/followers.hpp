#pragma once
// Points that follow bodies with freedoms of their own, as the nodes of their layer see them.

#include "run/stages/context.hpp"

namespace weft {

/// From the mass m and the sums m a that owned nodes have got to the means `factor` a; zero without mass. Both fields
/// may be the same.
void find_means(const BlockMap& map, const NodeField& sums, Real factor, NodeField& means);

}  // namespace weft
