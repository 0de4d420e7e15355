#include "solve/line_search.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

/// Shorter steps that are tried, and the share of the decrease along the slope that a step must reach.
constexpr int most_trials = 12;
constexpr Real sufficient_decrease = 1e-4;
/// Differences of energies beneath this many times what may be round-off are in doubt.
constexpr Real energy_doubt = 1e4;

/// How much shorter the next trial is, after one that should have fallen by `fall` and rose by `rise`: to the lowest
/// point of the parabola through them, within bounds.
Real shorter(Real fall, Real rise) {
  return fall > 0 && std::isfinite(rise) ? std::clamp(fall / (2 * (rise + fall)), 0.1, 0.5) : 0.5;
}

}  // namespace

bool descend_energy(GridProblem& problem, Vec x, Vec f, Vec dx, Vec trial, Vec trial_f) {
  problem.do_as_walls_dictate(x, dx);
  Real slope = 0, length = 1;
  check_petsc(VecDot(f, dx, &slope));
  const GridProblem::Energy start = problem.energy(x);
  bool descends = false;
  for (int trials = 0; !descends && trials <= most_trials; ++trials) {
    check_petsc(VecWAXPY(trial, -length, dx, x));
    const GridProblem::Energy end = problem.energy(trial);
    descends = end.value <= start.value - sufficient_decrease * length * std::max(slope, 0.0) + end.noise;
    if (descends) break;
    if (slope > 0 && end.value <= start.value + energy_doubt * end.noise) {
      Real slope_at_end = 0;
      problem.residual(trial, trial_f);
      check_petsc(VecDot(trial_f, dx, &slope_at_end));
      descends = slope_at_end >= -(1 - 2 * sufficient_decrease) * slope;
    }
    if (!descends) length *= shorter(slope * length, end.value - start.value);
  }
  if (descends) check_petsc(VecCopy(trial, x));
  problem.residual(x, f);
  return descends;
}

bool descend_residual(GridProblem& problem, const std::function<Real(Vec)>& size, Vec x, Vec f, Vec dx, Vec trial,
                      Vec trial_f) {
  const Real start = size(f);
  Real length = 1;
  bool descends = false;
  for (int trials = 0; !descends && trials <= most_trials; ++trials, length /= 2) {
    check_petsc(VecWAXPY(trial, -length, dx, x));
    problem.residual(trial, trial_f);
    descends = size(trial_f) <= (1 - sufficient_decrease * length) * start;
  }
  check_petsc(VecCopy(trial, x));
  check_petsc(VecCopy(trial_f, f));
  return descends;
}

}  // namespace weft
