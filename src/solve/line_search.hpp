#pragma once
// How far an implicit step follows a direction of Newton's method.

#include "solve/grid_problem.hpp"

#include <functional>

namespace weft {

/// Takes x to x - length dx, with a length of one unless the energy then falls too little [Armijo 1966], and f to the
/// residual there. Where round-off hides the fall, slopes decide [Hager & Zhang 2005]. What walls dictate of dx is done
/// in full, and dx loses it. Returns false if no length does; x then stays but for the walls. trial: work. Collective.
bool descend_energy(GridProblem& problem, Vec x, Vec f, Vec dx, Vec trial, Vec trial_f);

/// The same by `size` of the residual. Where no length does, x goes on by the least.
bool descend_residual(GridProblem& problem, const std::function<Real(Vec)>& size, Vec x, Vec f, Vec dx, Vec trial,
                      Vec trial_f);

}  // namespace weft
