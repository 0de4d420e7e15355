// Advance: the velocities of the nodes, layer by layer.

#include <fmt/format.h>

#include <algorithm>

#include "run/stages/stages.hpp"

namespace weft {

bool advance(StepContext& step) {
  std::fill(step.given.by_walls.begin(), step.given.by_walls.end(), Impulse{});
  std::fill(step.given.by_handles.begin(), step.given.by_handles.end(), Impulse{});
  step.given.contact_energy = 0;
  for (GridLayer& layer : step.layers) {
    const AdvanceReport found = layer.advance->advance(step, layer);
    step.given.contact_energy += found.contact_energy;
    step.report.newton += found.newton;
    step.report.krylov += found.krylov;
    step.report.residuals = found.residuals;
    if (found.failure.empty()) continue;
    layer.nodes.get<NodeVelocity>().reset(step.map.size());  // no motion was found for which points could be blamed
    step.is_found = false;
    step.fault.excess = 2;
    step.fault.text = fmt::format("the implicit step was not found: {}", found.failure);
    return false;
  }
  const auto timing = step.timers.measure("exchange");
  step.map.forest().update_ghosts(step.of_layers<NodeVelocity>());
  return true;
}

}  // namespace weft
