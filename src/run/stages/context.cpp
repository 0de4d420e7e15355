#include "run/stages/context.hpp"

#include "run/own_motion.hpp"
#include "weft/bodies/contact_points.hpp"
#include "weft/transfer/transfer.hpp"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

/// Rows are brought into visiting order once they are this much out of it, for the memory's sake; results do not depend
/// on it.
constexpr Real most_disorder = 0.1;

/// What followers gave to nodes, and its change.
void add_fields_of_followers(Layer& nodes) {
  nodes.add<NodeGiven>();
  nodes.add<NodeChange>();
}

void add_fields_of_surface(Layer& nodes) {
  nodes.add<NodeMemory>();
  nodes.add<NodeTouch>();
  nodes.add<NodeOffset>();
  nodes.add<NodeFacing>();
  nodes.add<NodeFacingAcross>();
  nodes.add<NodeAtRest>();
  nodes.add<NodeMeeting>();
}

void add_thickness(Layer& nodes) {
  nodes.add<NodeThickness>();
  nodes.add<NodeThicknessAcross>();
}

/// What nodes know of the extent of thin bodies.
void add_fields_of_thin_bodies(Layer& nodes) {
  nodes.add<NodeMiddle>();
  nodes.add<NodeSquares>();
  nodes.add<NodeProducts>();
}

}  // namespace

StepContext::StepContext(const Comm& its_comm, Scene& its_scene, RunState& its_state, Timers& its_timers)
    : comm(its_comm),
      scene(its_scene),
      settings(its_scene.step),
      state(its_state),
      timers(its_timers),
      layer_contact(its_scene.layers.size(), its_scene.friction),
      handles_that_lost(its_scene.handles.size(), false) {
  if (settings.has_impulses()) {
    strand_impulses = std::make_unique<StrandImpulses>(comm, scene);
    correcting.push_back(strand_impulses.get());
  }
  layers.reserve(2 * scene.layers.size());  // advances and handles stay where they are
  for (std::size_t l = 0; l < scene.layers.size(); ++l) {
    layers.push_back({.number = l, .settings = scene.layers[l], .handles = Handles(comm, scene, l, bins_of_body)});
    Layer& nodes = layers[l].nodes;
    if (scene.layers.size() > 1) nodes.add<NodeNormal>();
    if (scene.layers[l].is_thin) add_fields_of_thin_bodies(nodes);
    if (scene.layers[l].has_contact_points) add_fields_of_surface(nodes);
    if (scene.layers[l].has_followers) add_fields_of_followers(nodes);
    else if (scene.layers[l].keeps_motion) nodes.add<NodeGiven>();
    layers[l].first_set = sets.size();
    for (std::size_t b = 0; b < scene.bodies.size(); ++b)
      if (scene.on_layer[b] == l) add_body(b);
    layers[l].end_of_sets = sets.size();
  }
  add_fields_of_thin_parts();
  add_far_sides();
  add_fields_of_holds();
  add_fields_of_rigid_bodies();
  add_fields_of_implicit_layers();
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) held_positions.emplace_back(scene, b);
  bins.resize(sets.size());
  bins_of_body.resize(scene.bodies.size(), nullptr);
  for (std::size_t s = 0; s < sets.size(); ++s)
    if (sets[s].points == scene.bodies[sets[s].body].get()) bins_of_body[sets[s].body] = &bins[s];
  for (std::size_t l = 0; l < layers.size(); ++l)
    layers[l].advance = settings.is_implicit && !layers[l].settings.has_contact_points ? make_implicit_advance(*this, l)
                                                                                       : make_explicit_advance();
}

/// Where handles prescribe positions, a layer does not yield to others.
void StepContext::add_fields_of_holds() {
  if (!has_layers()) return;
  for (const VisitedSet& set : sets) {
    Layer& nodes = layers[set.layer].nodes;
    if (!carries_what_handles_lead(set) || nodes.has<NodeLed>()) continue;
    nodes.add<NodeLed>();
    nodes.add<NodeBorne>();
  }
}

Totals StepContext::totals() const {
  Totals found = totals_of(comm, scene);
  Real of_clamps = 0;
  for (const auto& own : own_motions) of_clamps += own->energy_of_clamps();
  found.elastic_energy += comm.sum(of_clamps);
  return found;
}

bool StepContext::carries_what_handles_lead(const VisitedSet& set) const {
  return set.held != nullptr ||
         (set.points == scene.bodies[set.body].get() && std::ranges::find(led_bodies, set.body) != led_bodies.end());
}

void StepContext::add_fields_of_rigid_bodies() {
  if (std::ranges::none_of(layers, [](const GridLayer& layer) { return layer.rigid != nullptr; })) return;
  for (GridLayer& layer : layers) {
    if (layer.settings.has_contact_points) layer.nodes.add<NodeMiddle>();
    if (layer.rigid == nullptr) continue;
    layer.nodes.add<NodePlace>();
    layer.nodes.add<NodeRebound>();
  }
}

/// Contact points remember what they give to such a layer, and it is loaded by that.
void StepContext::add_fields_of_implicit_layers() {
  const auto has_surface = [](const GridLayer& layer) { return layer.settings.has_contact_points; };
  if (!settings.is_implicit || std::ranges::none_of(layers, has_surface)) return;
  for (GridLayer& layer : layers) {
    if (has_surface(layer)) continue;
    layer.is_loaded = true;
    layer.nodes.add<NodeMemory>();
    layer.nodes.add<NodeMeeting>();
  }
}

/// Beside masses nodes know how thick surfaces are.
void StepContext::add_fields_of_thin_parts() {
  const auto has_surface = [](const GridLayer& layer) { return layer.settings.has_contact_points; };
  if (std::ranges::all_of(layers, [&](const GridLayer& layer) { return has_surface(layer) || layer.settings.is_thin; }))
    return;
  for (GridLayer& layer : layers)
    if (has_surface(layer)) add_thickness(layer.nodes);
}

/// A surface meets only others: without these, and alone, it has no sides.
void StepContext::add_far_sides() {
  if (!has_layers()) return;
  for (std::size_t l = 0; l < scene.layers.size(); ++l) {
    GridLayer& near = layers[l];
    if (!near.settings.has_contact_points) continue;
    const std::size_t number = layers.size();
    near.nodes.add<NodeSplit>();
    layers.push_back({.number = number,
                      .settings = near.settings,
                      .handles = Handles(comm, scene, number, bins_of_body),
                      .rigid = near.rigid,
                      .near = &near});
    near.far = &layers.back();
    Layer& nodes = near.far->nodes;
    nodes.add<NodeNormal>();
    if (near.nodes.has<NodeThickness>()) add_thickness(nodes);
    add_fields_of_surface(nodes);
    add_fields_of_followers(nodes);
  }
}

void StepContext::add_body(std::size_t b) {
  const Roles roles = scene.bodies[b]->roles();
  if (roles.predicts != nullptr) predicting.push_back(roles.predicts);
  if (roles.repeats != nullptr) {
    repeating.push_back({roles.repeats, sets.size()});
    layers[scene.on_layer[b]].is_repeated = true;
  }
  if (roles.corrects != nullptr && std::find(correcting.begin(), correcting.end(), roles.corrects) == correcting.end())
    correcting.push_back(roles.corrects);
  if (roles.is_carried_by_grid) add_carried_by_grid(b, roles);
  else add_own_motion(b, roles);
}

void StepContext::add_own_motion(std::size_t b, const Roles& roles) {
  const std::size_t layer = scene.on_layer[b];
  if (roles.rigid != nullptr) {
    auto own = std::make_unique<RigidBodyMotion>(comm, scene, state, b);
    if (roles.contact_points != nullptr) layers[layer].rigid = own.get();
    own_motions.push_back(std::move(own));
  } else {
    auto own = std::make_unique<OwnMotion>(comm, scene, state, b, is_asked_to_stop);
    if (strand_impulses != nullptr && settings.has_impulses(b)) strand_impulses->add(*own);
    own_motions.push_back(std::move(own));
  }
  if (roles.contact_points == nullptr) return;
  sets.push_back({.points = roles.contact_points,
                  .body = b,
                  .layer = layer,
                  .is_of_mesh = true,
                  .is_predicted = true,
                  .is_corrected = true,
                  .follows = own_motions.back().get(),
                  .has_surface = scene.layers[layer].has_contact_points});
}

void StepContext::add_carried_by_grid(std::size_t b, const Roles& roles) {
  const Body& body = *scene.bodies[b];
  const bool is_held = std::ranges::any_of(
      scene.handles, [b](const GridHandle& handle) { return handle.body == b && handle.hold() != nullptr; });
  const bool is_led = is_held && roles.mesh == nullptr, has_held = is_held && roles.mesh != nullptr;
  if (is_led) led_bodies.push_back(b);
  if (has_held) held.push_back(std::make_unique<HeldVertices>(comm, scene, b));
  for (PointSet* points : scene.bodies[b]->sets())
    sets.push_back({.points = points,
                    .body = b,
                    .layer = scene.on_layer[b],
                    .is_of_mesh = roles.mesh != nullptr,
                    .is_predicted = roles.predicts != nullptr && points->points().has<TentativeVelocity>(),
                    .is_corrected = roles.corrects != nullptr || (is_led && points == &body),
                    .held = has_held && points == roles.mesh ? held.back().get() : nullptr,
                    .keeps_motion = settings.blends[b].has_value()});
}

std::vector<MeetingLayer> StepContext::meeting_layers() {
  std::vector<MeetingLayer> meeting;
  for (GridLayer& layer : layers) {
    const TransferSettings& transfer = layer.settings.transfer;
    const Real spread = transfer.kernel == KernelKind::linear
                            ? 0
                            : moment_of_inertia(transfer, Vec3::Zero()).x() / (transfer.dx * transfer.dx);
    meeting.push_back({.map = layer.blocks.get(),
                       .nodes = &layer.nodes,
                       .has_contact_points = layer.settings.has_contact_points,
                       .is_thin = layer.settings.is_thin,
                       .layer = layer.near != nullptr ? layer.near->number : layer.number,
                       .has_strength = layer.settings.has_strength,
                       .is_far = layer.near != nullptr,
                       .is_on = is_on(layer),
                       .has_two_sides = is_on(layer) && (layer.near != nullptr || layer.has_two_sides),
                       .meets_itself = layer.settings.meets_itself,
                       .spread = spread,
                       .moves = layer.rigid != nullptr ? &layer.moves : nullptr,
                       .start = layer.rigid != nullptr ? &layer.start : nullptr,
                       .is_led = layer.rigid != nullptr && layer.rigid->is_led(),
                       .leaves_wall = layer.leaves_wall,
                       .restitution = layer.settings.restitution,
                       .slowest_hit = settings.slowest_hit,
                       .remembered = &layer.first_memory,
                       .is_implicit = layer.is_loaded});
  }
  for (const VisitedSet& set : sets)
    if (set.has_surface && !state.limits.empty()) {
      meeting[set.layer].frequency = set.follows->frequency(dt());
      if (const GridLayer* far = layers[set.layer].far) meeting[far->number].frequency = meeting[set.layer].frequency;
    }
  return meeting;
}

NodeSides sides_of(const StepContext& step, const VisitedSet& set) {
  const GridLayer& layer = step.layers[set.layer];
  const Table& points = std::as_const(*set.points).points();
  return {&layer.nodes.get<NodeSplit>(), layer.split,
          layer.split_by_normals ? points.get<SurfaceNormal>() : points.get<SurfaceAtRest>()};
}

std::vector<Vec3> gathered(const StepContext& step, std::size_t s, const NodeField& field, const NodeField* far) {
  const VisitedSet& set = step.sets[s];
  const auto x = std::as_const(*set.points).points().get<Position>();
  std::vector<Vec3> of_points(x.size());
  if (far == nullptr) gather_values(step.transfer_of(set), step.bins[s], x, field, of_points);
  else gather_from_sides(step.transfer_of(set), step.bins[s], x, sides_of(step, set), field, *far, of_points);
  return of_points;
}

void reorder_rows(StepContext& step, const std::function<bool(const VisitedSet&)>& is_chosen,
                  std::initializer_list<std::string_view> overwritten) {
  const auto timing = step.timers.measure("sort");
  for (std::size_t s = 0; s < step.sets.size(); ++s) {
    const VisitedSet& set = step.sets[s];
    if (set.is_of_mesh || !is_chosen(set) || step.bins[s].disorder() <= most_disorder) continue;
    set.points->points().reorder(step.bins[s].order(), overwritten);
    step.bins[s].rows_were_reordered();
  }
}

}  // namespace weft
