#include "run/stages/surfaces.hpp"

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include "run/stages/rigid_bodies.hpp"
#include "weft/bodies/contact_extent.hpp"
#include "weft/bodies/contact_points.hpp"
#include "weft/transfer/transfer.hpp"

namespace weft {
namespace {

/// What nodes know of the surface on a layer.
std::vector<NodeField*> fields_of_surface(GridLayer& layer) {
  std::vector<NodeField*> fields{&layer.nodes.get<NodeNormal>()};
  if (layer.nodes.has<NodeLed>()) fields.push_back(&layer.nodes.get<NodeLed>());
  if (layer.settings.is_thin)
    fields.insert(fields.end(),
                  {&layer.nodes.get<NodeMiddle>(), &layer.nodes.get<NodeSquares>(), &layer.nodes.get<NodeProducts>()});
  if (!layer.settings.has_contact_points) return fields;
  fields.insert(fields.end(),
                {&layer.nodes.get<NodeOffset>(), &layer.nodes.get<NodeFacing>(), &layer.nodes.get<NodeFacingAcross>()});
  if (layer.nodes.has<NodeThickness>())
    fields.insert(fields.end(), {&layer.nodes.get<NodeThickness>(), &layer.nodes.get<NodeThicknessAcross>()});
  if (layer.nodes.has<NodeMiddle>()) fields.push_back(&layer.nodes.get<NodeMiddle>());
  return fields;
}

/// The normals and planes of a surface, weighted by its area, and the middle of the mass of its points.
void scatter_surface(StepContext& step, const VisitedSet& set, const Bins& bins) {
  const Table& points = std::as_const(*set.points).points();
  const auto areas = points.get<SurfaceArea>(), normals = points.get<SurfaceNormal>(), x = points.get<Position>();
  std::vector<Vec3> values(areas.size());
  std::vector<Real> weights(areas.size());
  for (const std::uint32_t row : bins.order()) weights[row] = areas[row].norm();
  const auto add = [&]<BlockKeyed F>(F, auto&& of) {  // of: a vector for a normal and a place
    for (const std::uint32_t row : bins.order()) values[row] = of(normals[row], x[row]);
    scatter_points<F>(step, set, bins, {x, values, {}, weights});
  };
  const auto squares = [](const Vec3& n) { return Vec3(n.cwiseProduct(n)); };
  const auto products = [](const Vec3& n) { return Vec3(n.y() * n.z(), n.z() * n.x(), n.x() * n.y()); };
  add(NodeNormal{}, [](const Vec3& n, const Vec3&) { return n; });
  add(NodeOffset{}, [](const Vec3& n, const Vec3& at) { return Vec3(n.dot(at) * n); });
  add(NodeFacing{}, [&](const Vec3& n, const Vec3&) { return squares(n); });
  add(NodeFacingAcross{}, [&](const Vec3& n, const Vec3&) { return products(n); });
  const GridLayer& layer = step.layers[set.layer];
  if (layer.nodes.has<NodeThickness>()) {
    const auto thickness = points.get<SurfaceThickness>();
    for (const std::uint32_t row : bins.order()) values[row] = thickness[row] * squares(normals[row]);
    scatter_points<NodeThickness>(step, set, bins, {x, values, {}, weights});
    for (const std::uint32_t row : bins.order()) values[row] = thickness[row] * products(normals[row]);
    scatter_points<NodeThicknessAcross>(step, set, bins, {x, values, {}, weights});
  }
  if (layer.nodes.has<NodeMiddle>()) scatter_points<NodeMiddle>(step, set, bins, {x, x, {}, points.get<Mass>()});
}

/// The moments of the mass of thin bodies, whose points are slabs or threads as thick as they are drawn: of half the
/// thickness r, they have the variance r^2/3 about their middle. Strands count as their axes.
void scatter_extent(StepContext& step, const VisitedSet& set, const Bins& bins) {
  const Table& points = std::as_const(*set.points).points();
  const auto x = points.get<Position>();
  const auto mass = points.get<Mass>();
  std::span<const Symmetric3<Real>> extents;
  if (points.has<ContactExtent>()) extents = points.get<ContactExtent>();
  scatter_points<NodeMiddle>(step, set, bins, {x, x, {}, mass});
  std::vector<Vec3> products(x.size());
  for (const std::uint32_t row : bins.order()) {
    const Real r_squared = extents.empty() ? 0 : std::max(Real(0), extents[row].xx);
    products[row] = x[row].cwiseAbs2() + Vec3::Constant(r_squared / 3);
  }
  scatter_points<NodeSquares>(step, set, bins, {x, products, {}, mass});
  for (const std::uint32_t row : bins.order())
    products[row] = Vec3(x[row].y() * x[row].z(), x[row].z() * x[row].x(), x[row].x() * x[row].y());
  scatter_points<NodeProducts>(step, set, bins, {x, products, {}, mass});
}

/// The mass of vertices, or of points of continua, and how much of it handles lead. (16.1a)
void scatter_led(StepContext& step, const VisitedSet& set, const Bins& bins) {
  const Table& points = std::as_const(*set.points).points();
  const IsHeld is_led = step.held_positions[set.body].of(*set.points, step.state.time);
  std::vector<Vec3> share(points.rows(), Vec3::Zero());
  if (is_led)
    for (const std::uint32_t row : bins.order()) share[row].x() = is_led(row);
  scatter_points<NodeLed>(step, set, bins, {points.get<Position>(), share, {}, points.get<Mass>()});
}

/// The normals of a set near blocks that another layer has: the gradient of its mass, or those of its surface.
void scatter_normals(StepContext& step, std::size_t s) {
  const VisitedSet& set = step.sets[s];
  GridLayer& layer = step.layers[set.layer];
  const Table& points = std::as_const(*set.points).points();
  const Bins near = step.bins[s].near(step.layer_contact.is_shared(layer.number));
  if (set.has_surface) return scatter_surface(step, set, near);
  scatter_mass(step.transfer_of(set), near, points.get<Position>(), points.get<Mass>(), layer.nodes.get<NodeNormal>());
  const MeshBody* const mesh = step.scene.bodies[set.body]->roles().mesh;
  if (layer.nodes.has<NodeLed>() && (mesh == nullptr || set.points == mesh)) scatter_led(step, set, near);
  // Control points of shells, which reach nowhere, are not on the surface.
  if (layer.settings.is_thin && (set.follows != nullptr || points.has<ContactExtent>()))
    scatter_extent(step, set, near);
}

/// Brings what nodes know of surfaces to their owners; of a layer and its far side, if that takes part.
void scatter_layer(StepContext& step, GridLayer& layer) {
  const auto timing = step.timers.measure("scatter");
  for (GridLayer* side : layer.sides())
    for (NodeField* field : fields_of_surface(*side)) field->reset(side->map().size());
  for (std::size_t s = layer.first_set; s < layer.end_of_sets; ++s) scatter_normals(step, s);
  const auto exchanging = step.timers.measure("exchange");
  for (GridLayer* side : layer.sides()) {
    std::vector<ColumnView> fields;
    for (NodeField* field : fields_of_surface(*side)) fields.push_back(field->view());
    side->map().forest().sum_to_owners(fields);
  }
}

/// Ghosts learn which nodes have two sides.
void share_split(GridLayer& layer) {
  NodeField& split = layer.nodes.get<NodeSplit>();
  layer.map().forest().update_ghosts(split.view());
  layer.split = blocks_with_two_sides(split);
}

/// Nodes that are split by normals find where both sides were at rest, and split by that: so do points whose normals
/// are across, and those of edges.
void split_by_places(StepContext& step, GridLayer& layer) {
  share_split(layer);
  for (GridLayer* side : layer.sides()) side->nodes.get<NodeAtRest>().reset(layer.map().size());
  layer.split_by_normals = true;
  for (std::size_t s = layer.first_set; s < layer.end_of_sets; ++s) {
    const Table& points = std::as_const(*step.sets[s].points).points();
    const auto areas = points.get<SurfaceArea>();
    std::vector<Real> weights(areas.size());
    std::ranges::transform(areas, weights.begin(), [](const Vec3& area) { return area.norm(); });
    scatter_points<NodeAtRest>(step, step.sets[s], step.bins[s].near(step.layer_contact.is_shared(layer.number)),
                               {points.get<Position>(), points.get<SurfaceAtRest>(), {}, weights});
  }
  layer.split_by_normals = false;
  for (GridLayer* side : layer.sides()) layer.map().forest().sum_to_owners(side->nodes.get<NodeAtRest>().view());
  weft::split_by_places(layer.map(), step.scene.dx, layer.nodes, layer.far->nodes.get<NodeAtRest>());
  share_split(layer);
}

/// Lets far sides take part where nodes of any rank have two.
void switch_sides(StepContext& step) {
  std::vector<Real> have_two;
  for (GridLayer& layer : step.layers) {
    if (layer.far == nullptr) continue;
    const std::vector<char> split = blocks_with_two_sides(layer.nodes.get<NodeSplit>());
    const auto owned = std::span(split).first(static_cast<std::size_t>(layer.map().owned()));
    have_two.push_back(std::ranges::find(owned, 1) != owned.end() ? 1 : 0);
  }
  if (have_two.empty()) return;
  step.comm.max(std::span(have_two));
  auto next = have_two.begin();
  for (GridLayer& layer : step.layers)
    if (layer.far != nullptr) layer.has_two_sides = *next++ > 0;
}

/// Which layers have nodes that see two sides of their surface, and what of it is on the far one.
void find_sides(StepContext& step) {
  for (GridLayer& layer : step.layers)
    if (layer.far != nullptr) split_by_normals(layer.map(), layer.nodes);
  step.layer_contact.keep_whole(step.meeting_layers());
  switch_sides(step);
  bool any = false;
  for (GridLayer& layer : step.layers)
    if (layer.has_two_sides) {
      split_by_places(step, layer);
      any = true;
    }
  if (any) switch_sides(step);
}

}  // namespace

void find_surfaces(StepContext& step) {
  if (!step.has_layers()) return;
  for (GridLayer& layer : step.layers) layer.has_two_sides = false;
  for (GridLayer& layer : step.layers)
    if (layer.near == nullptr) scatter_layer(step, layer);
  find_sides(step);
  for (GridLayer& layer : step.layers)
    if (layer.has_two_sides) scatter_layer(step, layer);
  const auto timing = step.timers.measure("contact");
  share_motions(step);
  step.layer_contact.look(step.meeting_layers(), step.scene.dx);
}

void choose_repeated(StepContext& step) {
  std::vector<Real> meet(step.layers.size(), 0);  // of each layer, whether its surface meets one
  if (std::ranges::any_of(step.own_motions, [](const auto& own) { return own->needs_surface(); })) {
    step.layer_contact.mark_surfaces_that_meet(meet);
    step.comm.max(std::span(meet));
  }
  for (const VisitedSet& set : step.sets) {
    if (!set.has_surface) continue;
    GridLayer& near = step.layers[set.layer];
    set.follows->begin_step(meet[near.number] > 0 || (near.far != nullptr && meet[near.far->number] > 0));
    for (GridLayer* side : {&near, near.far})
      if (side != nullptr) side->repeats_contact = set.follows->may_repeat();
  }
}

void find_blocks_in_contact(const StepContext& step, GridLayer& side) {
  std::vector<char> are_in(static_cast<std::size_t>(side.map().owned()), 0);
  if (step.has_layers())
    for (const int b : step.layer_contact.blocks_that_meet(side.number)) are_in[static_cast<std::size_t>(b)] = 1;
  const NodeField& memory = side.nodes.get<NodeMemory>();
  side.in_contact.clear();
  for (int b = 0; b < side.map().owned(); ++b) {
    const auto remembers = [&](int place) {
      return !Vec3::Map(memory.block(b) + place * NodeField::width + 1).isZero(0);
    };
    if (are_in[static_cast<std::size_t>(b)] != 0 ||
        std::ranges::any_of(std::views::iota(0, nodes_per_block), remembers))
      side.in_contact.push_back(b);
  }
}

}  // namespace weft
