// Scatter: points to nodes.

#include <algorithm>
#include <utility>
#include <vector>

#include "run/stages/followers.hpp"
#include "run/stages/law_clock.hpp"
#include "run/stages/stages.hpp"
#include "weft/bodies/contact_points.hpp"

namespace weft {
namespace {

void scatter_set(StepContext& step, std::size_t s) {
  const VisitedSet& visited = step.sets[s];
  GridLayer& layer = step.layers[visited.layer];
  const PointSet& set = *visited.points;
  const Table& points = set.points();
  const bool with_forces = layer.advance->takes_forces();
  if (visited.has_surface) {  // contact points have neither gradients nor stress
    scatter(layer.settings.transfer, step.bins[s],
            {points.get<Position>(), points.get<TentativeVelocity>(), {}, points.get<Mass>()}, {}, step.dt(),
            layer.nodes.get<NodeInertia>(), RowsAhead(visited.points->points()));
    return;
  }
  LawClock clock;
  const Respond respond = [&](ChunkRows rows, const ChunkForces& forces) {
    clock.measure(rows.size(), [&] { set.respond(rows, forces); });
  };
  if (visited.follows != nullptr) {  // a change from the velocity of all would not keep the momentum of all
    const bool has_stress = with_forces && set.is_matter();
    scatter_apart(layer.settings.transfer, step.bins[s],
                  {points.get<Position>(), points.get<Velocity>(), points.get<Affine>(), points.get<Mass>()},
                  has_stress ? respond : Respond(), step.dt(), layer.nodes.get<NodeInertia>(),
                  layer.nodes.get<NodeGiven>(), RowsAhead(visited.points->points()));
    step.timers.move(clock.seconds(), "scatter", "law");
    return;
  }
  scatter(
      layer.settings.transfer, step.bins[s],
      {points.get<Position>(), visited.is_predicted ? points.get<TentativeVelocity>() : points.get<Velocity>(),
       points.get<Affine>(), points.get<Mass>(), with_forces ? set.forces() : std::span<const Vec3>()},
      [&](ChunkRows rows, const ChunkForces& forces) {
        if (with_forces) respond(rows, forces);
        else std::fill(forces.A.begin(), forces.A.end(), Mat3::Zero());  // the solve has them
      },
      step.dt(), layer.nodes.get<NodeInertia>(), RowsAhead(visited.points->points()));
  step.timers.move(clock.seconds(), "scatter", "law");
}

/// Implicit steps have contacts in their solve.
bool takes_contacts(const GridLayer& layer) { return layer.contacts.any() && layer.advance->takes_forces(); }

/// What nodes know of the surface on a layer beside its normals.
std::vector<NodeField*> fields_of_surface(GridLayer& layer) {
  std::vector<NodeField*> fields;
  if (!layer.settings.has_contact_points) return fields;
  fields = {&layer.nodes.get<NodeOffset>(), &layer.nodes.get<NodeFacing>(), &layer.nodes.get<NodeFacingAcross>()};
  if (layer.is_rigid) fields.push_back(&layer.nodes.get<NodeMiddle>());
  if (layer.nodes.has<NodeStart>()) fields.push_back(&layer.nodes.get<NodeStart>());
  return fields;
}

/// The normals and planes of a surface, weighted by its area, and the middle of the mass of its points.
void scatter_surface(const TransferSettings& transfer, const Bins& bins, const Table& points, GridLayer& layer) {
  Layer& nodes = layer.nodes;
  const auto areas = points.get<SurfaceArea>(), x = points.get<Position>();
  std::vector<Vec3> normals(areas.size()), values(areas.size());
  std::vector<Real> weights(areas.size());
  for (const std::uint32_t row : bins.order()) {
    weights[row] = areas[row].norm();
    normals[row] = areas[row].stableNormalized();
  }
  const auto add = [&](NodeField& field, auto&& of) {  // of: a vector for a normal and a place
    for (const std::uint32_t row : bins.order()) values[row] = of(normals[row], x[row]);
    scatter(transfer, bins, {x, values, {}, weights}, {}, 0, field);
  };
  add(nodes.get<NodeNormal>(), [](const Vec3& n, const Vec3&) { return n; });
  add(nodes.get<NodeOffset>(), [](const Vec3& n, const Vec3& at) { return Vec3(n.dot(at) * n); });
  add(nodes.get<NodeFacing>(), [](const Vec3& n, const Vec3&) { return Vec3(n.cwiseProduct(n)); });
  add(nodes.get<NodeFacingAcross>(),
      [](const Vec3& n, const Vec3&) { return Vec3(n.y() * n.z(), n.z() * n.x(), n.x() * n.y()); });
  if (layer.is_rigid) scatter(transfer, bins, {x, x, {}, points.get<Mass>()}, {}, 0, nodes.get<NodeMiddle>());
  if (nodes.has<NodeStart>())
    scatter(transfer, bins, {x, points.get<Velocity>(), {}, points.get<Mass>()}, {}, 0, nodes.get<NodeStart>());
}

/// The normals of a set near blocks that another layer has: the gradient of its mass, or those of its surface.
void scatter_normals(StepContext& step, std::size_t s) {
  const VisitedSet& set = step.sets[s];
  GridLayer& layer = step.layers[set.layer];
  const Table& points = std::as_const(*set.points).points();
  const Bins near = step.bins[s].near(step.layer_contact.is_shared(layer.number));
  if (set.has_surface) scatter_surface(step.transfer_of(set), near, points, layer);
  else
    scatter_mass(step.transfer_of(set), near, points.get<Position>(), points.get<Mass>(),
                 layer.nodes.get<NodeNormal>());
}

/// What layers have to know of one another at nodes.
void scatter_for_contact(StepContext& step) {
  if (!step.has_layers()) return;
  for (GridLayer& layer : step.layers) {
    layer.nodes.get<NodeNormal>().reset(layer.map.size());
    for (NodeField* field : fields_of_surface(layer)) field->reset(layer.map.size());
  }
  for (std::size_t s = 0; s < step.sets.size(); ++s) scatter_normals(step, s);
}

}  // namespace

void scatter(StepContext& step) {
  for (GridLayer& layer : step.layers) {
    if (!step.is_due(layer)) continue;
    layer.nodes.reset(layer.map.size());
    if (layer.settings.has_followers) layer.nodes.get<NodeGiven>().reset(layer.map.size());
    layer.contacts.begin(step.dt());
  }
  {
    const auto timing = step.timers.measure("scatter");
    for (std::size_t s = 0; s < step.sets.size(); ++s)
      if (step.is_due(step.layers[step.sets[s].layer])) scatter_set(step, s);
    if (step.passes == 0) scatter_for_contact(step);  // surfaces stay where they are in a try
    for (GridLayer& layer : step.layers)
      if (step.is_due(layer) && takes_contacts(layer)) layer.contacts.scatter(ground_of(layer.map, layer.nodes));
  }
  const auto timing = step.timers.measure("exchange");
  for (GridLayer& layer : step.layers) {
    if (!step.is_due(layer)) continue;
    std::vector<ColumnView> fields{layer.nodes.get<NodeInertia>().view()};
    if (takes_contacts(layer)) fields.push_back(layer.nodes.get<NodeContact>().view());
    if (step.passes == 0 && step.has_layers()) {
      fields.push_back(layer.nodes.get<NodeNormal>().view());
      for (NodeField* field : fields_of_surface(layer)) fields.push_back(field->view());
    }
    if (layer.settings.has_followers && !layer.settings.has_contact_points)
      fields.push_back(layer.nodes.get<NodeGiven>().view());
    layer.map.forest().sum_to_owners(fields);
    if (!layer.settings.has_followers) continue;
    // Those on a surface are alone on their layer, without forces.
    const bool are_alone = layer.settings.has_contact_points;
    find_means(layer.map, are_alone ? layer.nodes.get<NodeInertia>() : layer.nodes.get<NodeGiven>(), 1,
               layer.nodes.get<NodeGiven>());
  }
}

}  // namespace weft
