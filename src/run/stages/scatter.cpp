// Scatter: points to nodes.

#include <algorithm>
#include <utility>

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
  LawClock clock;
  scatter(
      layer.transfer, step.bins[s],
      {points.get<Position>(), visited.is_predicted ? points.get<TentativeVelocity>() : points.get<Velocity>(),
       points.get<Affine>(), points.get<Mass>(), with_forces ? set.forces() : std::span<const Vec3>()},
      [&](ChunkRows rows, const ChunkForces& forces) {
        if (with_forces) clock.measure(rows.size(), [&] { set.respond(rows, forces); });
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
    layer.nodes.reset(step.map.size());
    layer.contacts.begin(step.dt());
  }
  {
    const auto timing = step.timers.measure("scatter");
    for (std::size_t s = 0; s < step.sets.size(); ++s) scatter_set(step, s);
    for (GridLayer& layer : step.layers)
      if (takes_contacts(layer)) layer.contacts.scatter(layer.nodes);
  }
  const auto timing = step.timers.measure("exchange");
  step.map.forest().sum_to_owners(step.of_layers<NodeInertia>());
  for (GridLayer& layer : step.layers)
    if (takes_contacts(layer)) step.map.forest().sum_to_owners(layer.nodes.get<NodeContact>().view());
}

}  // namespace weft
