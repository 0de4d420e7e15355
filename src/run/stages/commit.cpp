// Commit: what follows when all chunks have moved.

#include <array>

#include "run/stages/stages.hpp"

namespace weft {
namespace {

/// dt grows by this factor from one step to the next after a refusal.
constexpr Real recovery_growth = 1.5;

/// Adds what walls and handles gave on all ranks to the state.
void count_impulses(StepContext& step) {
  auto& [by_walls, by_handles, wall_work, contact_energy] = step.given;
  RunState& state = step.state;
  if (!by_walls.empty()) step.comm.sum(std::span(by_walls.front().data(), 3 * by_walls.size()));
  static_assert(sizeof(HandleImpulse) == 7 * sizeof(Real));
  if (!by_handles.empty()) step.comm.sum(std::span(by_handles.front().linear.data(), 7 * by_handles.size()));
  if (!by_walls.empty()) {
    std::array<Real, 2> sums{wall_work, contact_energy};
    step.comm.sum(std::span(sums));
    state.wall_work += sums[0];
    step.report.contact_energy = sums[1];
  }
  for (std::size_t w = 0; w < by_walls.size(); ++w) state.wall_impulse[w] += by_walls[w];
  for (std::size_t h = 0; h < by_handles.size(); ++h) state.handle_impulse[h] += by_handles[h];
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
    for (std::size_t b = 0; b < step.scene.bodies.size(); ++b)
      if (step.scene.bodies[b]->roles().meets_grid)
        step.state.limits[b].include(step.scene.bodies[b]->finish(step.dt()));
    for (const auto& own : step.own_motions) {
      if (step.report.potential_before) *step.report.potential_before += own->potential_gained_before_last();
      own->commit(step.given.by_handles);
      const std::size_t b = own->body();
      step.state.limits[b].include(step.scene.bodies[b]->limit_from(0));
    }
  }
  step.handles.count_loads(step.dt(), step.given.by_handles);
  count_impulses(step);
  go_on(step);
}

}  // namespace weft
