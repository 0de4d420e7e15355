// Scatter: points to nodes.

#include <algorithm>
#include <utility>
#include <vector>

#include "run/stages/followers.hpp"
#include "run/stages/law_clock.hpp"
#include "run/stages/stages.hpp"

namespace weft {
namespace {

void scatter_set(StepContext& step, std::size_t s) {
  const VisitedSet& visited = step.sets[s];
  GridLayer& layer = step.layers[visited.layer];
  const PointSet& set = *visited.points;
  const Table& points = set.points();
  const bool with_forces = layer.advance->takes_forces();
  if (visited.has_surface) {  // contact points have neither gradients nor stress
    scatter_points<NodeInertia>(step, visited, step.bins[s],
                                {points.get<Position>(), points.get<TentativeVelocity>(), {}, points.get<Mass>()},
                                RowsAhead(visited.points->points()));
    return;
  }
  const bool has_stress = with_forces && set.is_matter();
  std::span<const Vec3> forces_on_points;
  if (has_stress) {
    forces_on_points = set.forces();
    if (visited.held != nullptr) {
      visited.held->renew();
      forces_on_points = visited.held->relieved(forces_on_points, step.state.time, step.dt());
    }
  }
  LawClock clock;
  const Respond respond = [&](ChunkRows rows, const ChunkForces& forces) {
    clock.measure(rows.size(), [&] { set.respond(rows, forces); });
  };
  // What these give to nodes is known apart: a change from the velocity of all would not keep the momentum of all.
  if (visited.follows != nullptr || visited.keeps_motion) {
    scatter_apart(
        layer.settings.transfer, step.bins[s],
        {points.get<Position>(), points.get<Velocity>(), points.get<Affine>(), points.get<Mass>(), forces_on_points},
        has_stress ? respond : Respond(), step.dt(), layer.nodes.get<NodeInertia>(), layer.nodes.get<NodeGiven>(),
        RowsAhead(visited.points->points()));
    step.timers.move(clock.seconds(), "scatter", "law");
    return;
  }
  scatter(
      layer.settings.transfer, step.bins[s],
      {points.get<Position>(), visited.is_predicted ? points.get<TentativeVelocity>() : points.get<Velocity>(),
       points.get<Affine>(), points.get<Mass>(), forces_on_points},
      [&](ChunkRows rows, const ChunkForces& forces) {
        if (with_forces) respond(rows, forces);
        else std::fill(forces.A.begin(), forces.A.end(), Mat3::Zero());  // the solve has them
      },
      step.dt(), layer.nodes.get<NodeInertia>(), RowsAhead(visited.points->points()));
  step.timers.move(clock.seconds(), "scatter", "law");
}

/// Implicit steps have contacts in their solve.
bool takes_contacts(const GridLayer& layer) { return layer.contacts.any() && layer.advance->takes_forces(); }

}  // namespace

void scatter(StepContext& step) {
  for (GridLayer& layer : step.layers) {
    if (!step.is_due(layer)) continue;
    layer.nodes.reset(layer.map().size());
    if (layer.nodes.has<NodeGiven>()) layer.nodes.get<NodeGiven>().reset(layer.map().size());
    layer.contacts.begin(step.dt());
  }
  {
    const auto timing = step.timers.measure("scatter");
    for (std::size_t s = 0; s < step.sets.size(); ++s)
      if (step.is_due(step.layers[step.sets[s].layer])) scatter_set(step, s);
    for (GridLayer& layer : step.layers)
      if (step.is_due(layer) && takes_contacts(layer)) layer.contacts.scatter(ground_of(layer.map(), layer.nodes));
  }
  const auto timing = step.timers.measure("exchange");
  for (GridLayer& layer : step.layers) {
    if (!step.is_due(layer)) continue;
    std::vector<ColumnView> fields{layer.nodes.get<NodeInertia>().view()};
    if (takes_contacts(layer)) fields.push_back(layer.nodes.get<NodeContact>().view());
    if (layer.nodes.has<NodeGiven>() && !layer.settings.has_contact_points)
      fields.push_back(layer.nodes.get<NodeGiven>().view());
    layer.map().forest().sum_to_owners(fields);
    layer.scattered_scale = layer.scale;
    if (!layer.nodes.has<NodeGiven>()) continue;
    // Those on a surface are alone on their layer, without forces.
    const bool are_alone = layer.settings.has_contact_points;
    find_means(layer.map(), are_alone ? layer.nodes.get<NodeInertia>() : layer.nodes.get<NodeGiven>(), 1,
               layer.nodes.get<NodeGiven>());
  }
}

}  // namespace weft
