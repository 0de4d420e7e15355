#include "run/stages/surfaces.hpp"

#include <utility>
#include <vector>

#include "weft/bodies/contact_points.hpp"
#include "weft/transfer/transfer.hpp"

namespace weft {
namespace {

/// What nodes know of the surface on a layer.
std::vector<NodeField*> fields_of_surface(GridLayer& layer) {
  std::vector<NodeField*> fields{&layer.nodes.get<NodeNormal>()};
  if (!layer.settings.has_contact_points) return fields;
  fields.insert(fields.end(),
                {&layer.nodes.get<NodeOffset>(), &layer.nodes.get<NodeFacing>(), &layer.nodes.get<NodeFacingAcross>()});
  if (layer.nodes.has<NodeMiddle>()) fields.push_back(&layer.nodes.get<NodeMiddle>());
  return fields;
}

/// The normals and planes of a surface, weighted by its area, and the middle of the mass of its points.
void scatter_surface(const TransferSettings& transfer, const Bins& bins, const Table& points, Layer& nodes) {
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
  if (nodes.has<NodeMiddle>()) scatter(transfer, bins, {x, x, {}, points.get<Mass>()}, {}, 0, nodes.get<NodeMiddle>());
}

/// The normals of a set near blocks that another layer has: the gradient of its mass, or those of its surface.
void scatter_normals(StepContext& step, std::size_t s) {
  const VisitedSet& set = step.sets[s];
  GridLayer& layer = step.layers[set.layer];
  const Table& points = std::as_const(*set.points).points();
  const Bins near = step.bins[s].near(step.layer_contact.is_shared(layer.number));
  if (set.has_surface) scatter_surface(step.transfer_of(set), near, points, layer.nodes);
  else
    scatter_mass(step.transfer_of(set), near, points.get<Position>(), points.get<Mass>(),
                 layer.nodes.get<NodeNormal>());
}

/// Tells all ranks how rigid bodies move.
void share(StepContext& step, RigidVelocity GridLayer::* which, RigidVelocity (RigidBodyMotion::*of)() const) {
  constexpr std::size_t reals = 15;
  std::vector<Real> values;
  for (const GridLayer& layer : step.layers) {
    if (layer.rigid == nullptr) continue;
    const RigidVelocity v = (layer.rigid->*of)();
    for (const Vec3& each : {v.centre, v.velocity}) values.insert(values.end(), each.begin(), each.end());
    values.insert(values.end(), v.gradient.data(), v.gradient.data() + v.gradient.size());
  }
  if (values.empty()) return;
  step.comm.sum(std::span(values));
  const Real* value = values.data();
  for (GridLayer& layer : step.layers) {
    if (layer.rigid == nullptr) continue;
    layer.*
        which = {Eigen::Map<const Vec3>(value), Eigen::Map<const Vec3>(value + 3), Eigen::Map<const Mat3>(value + 6)};
    value += reals;
  }
}

/// Of forces on the owned nodes of a layer, which act at their places on its body; force: of the node whose reals begin
/// at k. Threads change no bit of it.
template <class Force>
NodeForces forces_of_nodes(const GridLayer& layer, const Force& force) {
  const NodeField& places = layer.nodes.get<NodePlace>();
  std::vector<NodeForces> of_blocks(static_cast<std::size_t>(layer.map.owned()));
#pragma omp parallel for schedule(static)
  for (int b = 0; b < layer.map.owned(); ++b)
    for (std::ptrdiff_t k = b * NodeField::row; k < (b + 1) * NodeField::row; k += NodeField::width)
      of_blocks[static_cast<std::size_t>(b)].add(force(k),
                                                 Eigen::Map<const Vec3>(places.block(0) + k) - layer.start.centre);
  NodeForces sum;
  for (const NodeForces& each : of_blocks) sum += each;
  return sum;
}

/// Sums over all ranks.
void sum(const Comm& comm, std::span<NodeForces> forces) {
  std::vector<Real> values;
  for (const NodeForces& each : forces) {
    values.insert(values.end(), each.force.begin(), each.force.end());
    values.insert(values.end(), each.moment.data(), each.moment.data() + each.moment.size());
  }
  if (!values.empty()) comm.sum(std::span(values));
  const Real* value = values.data();
  for (NodeForces& each : forces) {
    each = {Eigen::Map<const Vec3>(value), Eigen::Map<const Mat3>(value + 3)};
    value += 12;
  }
}

/// Gives rigid bodies what forces on nodes, of(layer, k), do to them.
template <class Of>
void give(StepContext& step, void (RigidBodyMotion::*take)(const NodeForces&), const Of& of) {
  if (!step.has_layers()) return;
  std::vector<NodeForces> forces;
  for (const GridLayer& layer : step.layers)
    if (layer.rigid != nullptr)
      forces.push_back(forces_of_nodes(layer, [&](std::ptrdiff_t k) { return of(layer, k); }));
  sum(step.comm, forces);
  auto next = forces.begin();
  for (GridLayer& layer : step.layers)
    if (layer.rigid != nullptr) (layer.rigid->*take)(*next++);
}

}  // namespace

void find_surfaces(StepContext& step) {
  if (!step.has_layers()) return;
  {
    const auto timing = step.timers.measure("scatter");
    for (GridLayer& layer : step.layers)
      for (NodeField* field : fields_of_surface(layer)) field->reset(layer.map.size());
    for (std::size_t s = 0; s < step.sets.size(); ++s) scatter_normals(step, s);
  }
  {
    const auto timing = step.timers.measure("exchange");
    for (GridLayer& layer : step.layers) {
      std::vector<ColumnView> fields;
      for (NodeField* field : fields_of_surface(layer)) fields.push_back(field->view());
      layer.map.forest().sum_to_owners(fields);
    }
  }
  const auto timing = step.timers.measure("contact");
  share(step, &GridLayer::start, &RigidBodyMotion::velocity_now);
  step.layer_contact.look(step.meeting_layers(), step.scene.dx);
}

void load_rigid_bodies(StepContext& step) {
  give(step, &RigidBodyMotion::load, [](const GridLayer& layer, std::ptrdiff_t k) {
    return Vec3(Eigen::Map<const Vec3>(layer.nodes.get<NodeMemory>().block(0) + k + 1));
  });
}

void push_rigid_bodies(StepContext& step) {
  give(step, &RigidBodyMotion::push, [](const GridLayer& layer, std::ptrdiff_t k) {
    return Vec3(layer.nodes.get<NodeInertia>().block(0)[k] *
                Eigen::Map<const Vec3>(layer.nodes.get<NodeMeeting>().block(0) + k));
  });
}

void share_predictions(StepContext& step) { share(step, &GridLayer::moves, &RigidBodyMotion::velocity_predicted); }

}  // namespace weft
