// Accept: whether a try becomes the step. All ranks decide alike.

#include <fmt/format.h>

#include <cmath>

#include "run/stages/limits.hpp"
#include "run/stages/stages.hpp"
#include "weft/solve/explicit.hpp"

namespace weft {
namespace {

std::string point_text(const Body& body, const Table& points, std::size_t p) {
  const auto& x = points.get<Position>()[p];
  return fmt::format("point {} of body {} at ({:.4g}, {:.4g}, {:.4g}) m", points.get<Id>()[p], body.name(), x.x(),
                     x.y(), x.z());
}

/// The point of a set that the step would deform most, if it is too much.
Refusal strain_of(const StepContext& step, std::size_t s, const VelocityRanges& ranges) {
  const VisitedSet& set = step.sets[s];
  const Table& points = set.points->points();
  const Real dt = step.dt(), most_strain = step.settings.max_strain;
  const GridLayer& layer = step.layers[set.layer];
  const Steepest worst = steepest_above(most_strain / dt, layer.settings.transfer, step.bins[s], points.get<Position>(),
                                        layer.nodes.get<NodeVelocity>(), ranges);
  const Real strain = dt * worst.norm;
  if (!(strain > 0)) return {};
  const std::string point = point_text(*step.scene.bodies[set.body], points, worst.row);
  return {strain / most_strain,
          std::isfinite(strain) ? fmt::format("{} would deform by {:.3g} in one step, more than time.max_strain = {}",
                                              point, strain, most_strain)
                                : fmt::format("the velocity gradient of {} is not a finite number", point)};
}

/// The node of a layer that moves fastest, if it is too fast.
Fault speed_of_nodes(const StepContext& step, const GridLayer& layer, const VelocityRanges& ranges) {
  const Real dx = step.scene.dx, most = cfl_slack * (step.settings.cfl * dx / step.dt());
  if (ranges.largest(layer.map().owned()) <= most) return {};
  const FastestNode fastest = fastest_node(layer.map(), dx, layer.nodes.get<NodeVelocity>());
  // Light nodes at the edge of a body may move far in a large step without moving any point by much.
  if (!layer.advance->takes_forces() && std::isfinite(fastest.speed)) return {};
  const Real excess = fastest.speed / most;
  if (!(excess > 1)) return {};
  const Vec3& x = fastest.x;
  return {{excess, fmt::format("the grid node at ({:.4g}, {:.4g}, {:.4g}) m moves at {:.4g} m/s, more than {:.2g} grid "
                               "spacings in one step",
                               x.x(), x.y(), x.z(), fastest.speed, cfl_slack * step.settings.cfl)},
          x};
}

/// The worst of this rank, once motions were found.
Fault worst_fault(const StepContext& step) {
  Fault worst;
  for (const GridLayer& layer : step.layers) {
    if (!StepContext::is_on(layer)) continue;
    const VelocityRanges ranges(layer.settings.transfer, layer.nodes.get<NodeVelocity>());
    for (std::size_t s = layer.first_set; s < layer.end_of_sets; ++s)
      if (step.sets[s].points->is_matter())
        if (const Refusal found = strain_of(step, s, ranges); found.excess > worst.excess) worst = {found, worst.node};
    if (const Fault found = speed_of_nodes(step, layer, ranges); found.excess > worst.excess) worst = found;
  }
  for (const Predicts* body : step.predicting)
    if (const Refusal found = body->judge(step.dt()); found.excess > worst.excess) worst = {found, worst.node};
  return worst;
}

/// What the rank with the worst fault says, everywhere. Collective.
Fault worst_of_ranks(const Comm& comm, const Fault& mine) {
  const Real worst = comm.max(mine.excess);
  const bool is_worst = mine.excess == worst;
  const int speaker = static_cast<int>(comm.min(Real(is_worst ? comm.rank() : comm.size())));
  Fault fault{{worst, ""}, comm.rank() == speaker ? mine.node : Vec3::Zero()};
  comm.sum(std::span(fault.node.data(), 3));
  try {
    comm.agree([&] {
      if (comm.rank() == speaker) throw Error(ExitCode::numerics, mine.text);
    });
  } catch (const Error& spoken) {
    fault.text = spoken.what();
  }
  return fault;
}

/// The last try is left as it was refused, so that points can be blamed for it.
[[noreturn]] void give_up(StepContext& step, const Fault& fault) {
  step.suspicions = suspect_states(step.scene);
  for (std::size_t s = 0; s < step.sets.size(); ++s)
    suspect_motions(step.scene, step.transfer_of(step.sets[s]), *step.sets[s].points, step.bins[s],
                    step.layers[step.sets[s].layer].nodes.get<NodeVelocity>(), step.dt(), fault.node, step.suspicions);
  throw Error(ExitCode::numerics,
              fmt::format("step {} at t = {:.6g} s was refused {} times, down to dt = {:.3g} s: {}. {} Usual cures: a "
                          "smaller time.cfl or time.max_dt, a softer or denser material, more particles_per_cell, a "
                          "thicker or slower collider.",
                          step.state.step + 1, step.state.time, step.report.retries + 1, step.dt(), fault.text,
                          accuse(step.comm, step.suspicions)));
}

}  // namespace

bool accept(StepContext& step) {
  if (step.is_found) {
    const auto timing = step.timers.measure("accept");
    step.fault = worst_fault(step);
  }
  if (step.comm.max(step.fault.excess) <= 1) return true;
  const Fault fault = worst_of_ranks(step.comm, step.fault);
  StepReport& report = step.report;
  if (report.refused.empty()) report.refused = fault.text;
  if (report.retries == step.settings.max_retries) give_up(step, fault);
  report.size.dt /= 2;
  report.size.limited_by = "recovery";
  ++report.retries;
  for (GridLayer& layer : step.layers) layer.advance->shorten(step, layer);
  return false;
}

}  // namespace weft
