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
/// Steps with definite matrices before exact ones are tried again for the first time.
constexpr int first_while = 2;
/// Factors of the drag.
constexpr Real less_drag = 0.2, more_drag = 5, least_drag = 1e-10, most_drag = 1e3;
/// How often a descent shortens a step, and how much of the slope may be left at its end, rising.
constexpr int most_cuts = 20;
constexpr Real slope_left = 0.5;

/// How much shorter the next trial is, after one that should have fallen by `fall` and rose by `rise`: to the lowest
/// point of the parabola through them, within bounds.
Real shorter(Real fall, Real rise) {
  return fall > 0 && std::isfinite(rise) ? std::clamp(fall / (2 * (rise + fall)), 0.1, 0.5) : 0.5;
}

}  // namespace

void Drag::note(bool full_step) {
  if (value > 0) value = std::clamp(value * (full_step ? less_drag : more_drag), least_drag, most_drag);
}

bool EnergySearch::take(const SearchVectors& at) {
  const bool was_definite = problem_.is_definite();
  if (!was_definite && linear_.found_negative_curvature()) return be_definite_for_a_while(), true;
  if (!descend(at)) return be_definite_for_a_while(), !was_definite;
  if (was_definite && --steps_left_ <= 0) problem_.be_definite(false);
  return true;
}

void EnergySearch::note(std::span<const Real> residuals) {
  if (residuals.size() == 1) next_while_ = first_while;
}

void EnergySearch::be_definite_for_a_while() {
  problem_.be_definite(true);
  steps_left_ = next_while_;
  next_while_ *= 2;
}

/// Returns false if no length descends; x then stays but for what the problem dictates.
bool EnergySearch::descend(const SearchVectors& at) {
  const auto& [x, f, dx, trial, trial_f] = at;
  problem_.dictate(x, dx);
  const Real slope = problem_.slope(f, dx);
  Real length = 1;
  const NoisyEnergy start = problem_.energy(x);
  bool descends = false;
  for (int trials = 0; !descends && trials <= most_trials; ++trials) {
    check_petsc(VecWAXPY(trial, -length, dx, x));
    const NoisyEnergy end = problem_.energy(trial);
    descends = end.value <= start.value - sufficient_decrease * length * std::max(slope, 0.0) + end.noise;
    if (descends) break;
    if (slope > 0 && end.value <= start.value + energy_doubt * end.noise) {
      problem_.residual(trial, trial_f);
      descends = problem_.slope(trial_f, dx) >= -(1 - 2 * sufficient_decrease) * slope;
    }
    if (!descends) length *= shorter(slope * length, end.value - start.value);
  }
  drag_.note(descends && length == 1);
  if (descends) check_petsc(VecCopy(trial, x));
  problem_.residual(x, f);
  return descends;
}

bool ResidualSearch::take(const SearchVectors& at) {
  const auto& [x, f, dx, trial, trial_f] = at;
  const Real start = size_(f);
  Real length = 1;
  bool descends = false;
  for (int trials = 0; !descends && trials <= most_trials; ++trials, length /= 2) {
    check_petsc(VecWAXPY(trial, -length, dx, x));
    problem_.residual(trial, trial_f);
    descends = size_(trial_f) <= (1 - sufficient_decrease * length) * start;
    if (length == 1) drag_.note(descends);
  }
  check_petsc(VecCopy(trial, x));
  check_petsc(VecCopy(trial_f, f));
  return descends;
}

void FullSteps::note(std::span<const Real> residuals) {
  if (residuals.size() < 2) return;
  drag_.value *= std::clamp(residuals.back() / residuals[residuals.size() - 2], 0.1, 2.0);
}

bool WorkDescent::take(const SearchVectors& at) {
  const auto& [x, f, dx, trial, trial_f] = at;
  const Real slope = problem_.slope(f, dx);
  const bool conditions_hold = conditions_hold_(f);
  if (!problem_.is_definite() && !(slope > 0)) {  // leads nowhere
    problem_.be_definite(true);
    return true;
  }
  Real length = 1;
  for (int cut = 0; cut <= most_cuts; ++cut) {
    check_petsc(VecWAXPY(trial, -length, dx, x));
    const bool finite = problem_.residual(trial, trial_f);
    const Real slope_at_end = finite ? problem_.slope(trial_f, dx) : 0;
    if (finite && (!conditions_hold || slope_at_end >= -slope_left * slope)) break;
    length *= finite ? std::clamp(slope / (slope - slope_at_end), 0.1, 0.5) : 0.1;
  }
  drag_.note(length == 1);
  problem_.be_definite(length < 1);
  check_petsc(VecCopy(trial, x));
  check_petsc(VecCopy(trial_f, f));
  return true;
}

}  // namespace weft
