// Advance: the velocities of the nodes, layer by layer.

#include <fmt/format.h>

#include <algorithm>

#include "run/stages/stages.hpp"

namespace weft {
namespace {

/// What happened to the velocities that followers gave to their nodes.
void find_change(GridLayer& layer) {
  const NodeField& velocity = layer.nodes.get<NodeVelocity>();
  const NodeField& given = layer.nodes.get<NodeGiven>();
  NodeField& change = layer.nodes.get<NodeChange>();
  change.reset(layer.map().size());
  const auto reals = static_cast<std::ptrdiff_t>(layer.map().owned()) * NodeField::row;
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t k = 0; k < reals; k += NodeField::width) {
    Eigen::Map<Vec3>(change.block(0) + k) =
        Eigen::Map<const Vec3>(velocity.block(0) + k) - Eigen::Map<const Vec3>(given.block(0) + k);
  }
}

/// Walls that act on points do so once more after layers have met: what these gave would be in no spring.
void press_on_walls(StepContext& step) {
  const auto timing = step.timers.measure("contact");
  for (GridLayer& layer : step.layers) {
    if (!layer.contacts.any() || !layer.advance->takes_forces()) continue;
    if (step.has_layers()) layer.contacts.solve_after_others(ground_of(layer.map(), layer.nodes));
    step.given.contact_energy += layer.contacts.add_given(step.state.last_dt, step.given.by_walls);
  }
}

}  // namespace

bool advance(StepContext& step) {
  const bool repeats = std::ranges::any_of(step.layers, &GridLayer::takes_passes);
  for (GridLayer& layer : step.layers) {
    if (!StepContext::is_on(layer)) continue;
    if (step.passes > 0 && layer.rigid != nullptr) continue;  // its body moves the nodes
    if (!step.is_due(layer)) {
      layer.nodes.get<NodeVelocity>() = *layer.alone;
      continue;
    }
    layer.given = Given(step.scene);
    const AdvanceReport found = layer.advance->advance(step, layer);
    if (repeats && !layer.takes_passes()) layer.alone = layer.nodes.get<NodeVelocity>();
    step.report.newton += found.newton;
    step.report.krylov += found.krylov;
    if (!found.residuals.empty()) step.report.residuals = found.residuals;  // one layer may be implicit, others not
    if (found.failure.empty()) continue;
    layer.nodes.get<NodeVelocity>().reset(layer.map().size());  // no motion was found for which points could be blamed
    step.is_found = false;
    step.fault.excess = 2;
    step.fault.text = fmt::format("the implicit step was not found: {}", found.failure);
    return false;
  }
  step.given = Given(step.scene);
  for (const GridLayer& layer : step.layers)
    if (StepContext::is_on(layer)) step.given += layer.given;
  if (step.has_layers()) {
    const auto timing = step.timers.measure("contact");
    const std::vector<MeetingLayer> meeting = step.meeting_layers();
    if (step.passes == 0) step.layer_contact.find_hits(step.comm, meeting, step.dt());
    step.layer_contact.exchange(meeting, step.dt());
  }
  press_on_walls(step);
  const auto timing = step.timers.measure("exchange");
  for (GridLayer& layer : step.layers) {
    if (!StepContext::is_on(layer)) continue;
    std::vector<ColumnView> fields{layer.nodes.get<NodeVelocity>().view()};
    if (layer.settings.has_followers && layer.rigid == nullptr) {
      find_change(layer);
      fields.push_back(layer.nodes.get<NodeChange>().view());
    }
    if (layer.settings.keeps_motion) fields.push_back(layer.nodes.get<NodeGiven>().view());
    if (layer.settings.has_contact_points) fields.push_back(layer.nodes.get<NodeMeeting>().view());
    if (layer.nodes.has<NodeBorne>()) fields.push_back(layer.nodes.get<NodeBorne>().view());
    if (layer.nodes.has<NodeRebound>()) fields.push_back(layer.nodes.get<NodeRebound>().view());
    layer.map().forest().update_ghosts(fields);
  }
  return true;
}

}  // namespace weft
