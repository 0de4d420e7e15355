// Advance: the velocities of the nodes, layer by layer.

#include <fmt/format.h>

#include <algorithm>

#include "run/stages/stages.hpp"

namespace weft {
namespace {

/// What happened to the velocities that followers gave to their nodes.
void find_change(GridLayer& layer) {
  const NodeField& velocity = layer.nodes.get<NodeVelocity>();
  NodeField& change = layer.nodes.get<NodeChange>();
  const auto reals = static_cast<std::ptrdiff_t>(layer.map.owned()) * NodeField::row;
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t k = 0; k < reals; k += NodeField::width) {
    Eigen::Map<Vec3> of_node(change.block(0) + k);
    of_node = Eigen::Map<const Vec3>(velocity.block(0) + k) - of_node;
  }
}

}  // namespace

bool advance(StepContext& step) {
  std::fill(step.given.by_walls.begin(), step.given.by_walls.end(), Impulse{});
  std::fill(step.given.by_handles.begin(), step.given.by_handles.end(), Impulse{});
  step.given.contact_energy = 0;
  for (GridLayer& layer : step.layers) {
    const AdvanceReport found = layer.advance->advance(step, layer);
    step.given.contact_energy += found.contact_energy;
    step.report.newton += found.newton;
    step.report.krylov += found.krylov;
    if (!found.residuals.empty()) step.report.residuals = found.residuals;  // one layer may be implicit, others not
    if (found.failure.empty()) continue;
    layer.nodes.get<NodeVelocity>().reset(layer.map.size());  // no motion was found for which points could be blamed
    step.is_found = false;
    step.fault.excess = 2;
    step.fault.text = fmt::format("the implicit step was not found: {}", found.failure);
    return false;
  }
  if (step.has_layers()) {
    const auto timing = step.timers.measure("contact");
    step.layer_contact.exchange(step.meeting_layers(), step.scene.dx, step.dt());
  }
  const auto timing = step.timers.measure("exchange");
  for (GridLayer& layer : step.layers) {
    std::vector<ColumnView> fields{layer.nodes.get<NodeVelocity>().view()};
    if (layer.settings.has_followers) {
      find_change(layer);
      fields.push_back(layer.nodes.get<NodeChange>().view());
    }
    if (layer.settings.has_contact_points) fields.push_back(layer.nodes.get<NodeMeeting>().view());
    layer.map.forest().update_ghosts(fields);
  }
  return true;
}

}  // namespace weft
