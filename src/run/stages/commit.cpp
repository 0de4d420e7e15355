// Commit: what follows when all chunks have moved.

#include <algorithm>
#include <array>
#include <utility>

#include "run/stages/stages.hpp"

namespace weft {
namespace {

/// dt grows by this factor from one step to the next after a refusal.
constexpr Real recovery_growth = 1.5;

/// Adds what was given on all ranks to what was given so far, in one sum. Collective.
void count_given(StepContext& step) {
  static_assert(sizeof(Impulse) == 7 * sizeof(Real));
  RunState& state = step.state;
  const std::array<std::pair<std::span<Impulse>, std::span<Impulse>>, 3> kinds{
      {{step.given.by_walls, state.wall_impulse},
       {step.given.by_handles, state.handle_impulse},
       {step.given.by_joints, state.joint_impulse}}};
  std::vector<Real> sums;
  for (const auto& [given, so_far] : kinds)
    for (const Impulse& impulse : given) sums.insert(sums.end(), impulse.linear.data(), impulse.linear.data() + 7);
  if (sums.empty()) return;
  sums.push_back(step.given.contact_energy);
  step.comm.sum(sums);
  const Real* of_given = sums.data();
  for (const auto& [given, so_far] : kinds)
    for (std::size_t i = 0; i < given.size(); ++i, of_given += 7) {
      std::copy_n(of_given, 7, given[i].linear.data());
      so_far[i] += given[i];
    }
  step.report.contact_energy = *of_given;
}

/// The clock, the counts and the dt that comes next after a refusal.
void go_on(StepContext& step) {
  RunState& state = step.state;
  const StepReport& report = step.report;
  const Real dt = step.dt();
  state.newton_steps += report.newton;
  state.krylov_steps += report.krylov;
  state.time = dt == step.left ? step.stop : state.time + dt;
  state.last_dt = dt;
  ++state.step;
  // Growth from a refused step back to what the bodies allow.
  if (report.retries > 0) state.recovery_dt = recovery_growth * dt;
  else if (report.size.limited_by == "recovery") state.recovery_dt *= recovery_growth;
}

}  // namespace

void commit(StepContext& step) {
  {
    const auto timing = step.timers.measure("elements");
    step.report.substeps.assign(step.scene.bodies.size(), 0);
    for (std::size_t b = 0; b < step.scene.bodies.size(); ++b)
      if (step.scene.bodies[b]->roles().is_carried_by_grid)
        step.state.limits[b].include(step.scene.bodies[b]->finish(step.dt()));
    for (const auto& own : step.own_motions) {
      if (step.report.potential_before) *step.report.potential_before += own->potential_gained_before_last();
      own->commit(step.given);
      const std::size_t b = own->body();
      step.report.substeps[b] = own->substeps(step.dt());
      step.state.limits[b].include(step.scene.bodies[b]->roles().mesh->limit_by_itself());
    }
  }
  for (const GridLayer& layer : step.layers) layer.handles.count_loads(step.dt(), step.given.by_handles);
  count_given(step);
  if (step.strand_impulses != nullptr) {
    step.report.impulses = step.strand_impulses->counts();
    step.state.energy_taken = step.state.energy_taken.value_or(0) + step.strand_impulses->energy_taken();
  }
  go_on(step);
}

}  // namespace weft
