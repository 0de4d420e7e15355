#pragma once
// Mechanisms: rigid motions of connected components that neither conditions nor forces resist.

#include "solve/static_problem.hpp"
#include "weft/solve/stability.hpp"

#include <span>
#include <vector>

namespace weft {

/// Of a problem where it was looked at last, over blocks whose rows are points of three freedoms. Points are of one
/// component if elements join them. positions: of each block, of its rows [m]. Collective.
std::vector<FreeComponent> find_free_components(const Comm& comm, StaticProblem& problem,
                                                const std::vector<std::span<const Vec3>>& positions);

}  // namespace weft
