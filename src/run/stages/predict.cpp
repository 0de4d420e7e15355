// Predict and repeat: motions of bodies before the grid moves them.

#include <algorithm>

#include "run/stages/rigid_bodies.hpp"
#include "run/stages/stages.hpp"
#include "run/stages/surfaces.hpp"
#include "weft/bodies/contact_points.hpp"
#include "weft/transfer/transfer.hpp"

namespace weft {
namespace {

/// What takes the memory of contact points: the nodes of their own layer, or those of implicit layers that they meet.
enum class Taker { surface, implicit_layers };

/// What nodes take of memory, at contact points: c_q = sum_i w_iq c_i.
std::vector<Real> touch_at_points(StepContext& step, std::size_t s) {
  for (GridLayer* side : step.layers[step.sets[s].layer].sides())
    side->map().forest().update_ghosts(side->nodes.get<NodeTouch>().view());
  const std::vector<Vec3> gathered_touch = gathered<NodeTouch>(step, s);
  std::vector<Real> of_points(gathered_touch.size());
  std::ranges::transform(gathered_touch, of_points.begin(), [](const Vec3& touch) { return touch.x(); });
  return of_points;
}

/// Nodes take no more than so many times what those around them take: c_i <= most sum_q w_iq m_q c_q / m_i. (16.6c)
void limit_touch(StepContext& step, std::size_t s) {
  constexpr Real most = 20;
  const VisitedSet& set = step.sets[s];
  const std::vector<Real> touch = touch_at_points(step, s);
  std::vector<Vec3> around(touch.size(), Vec3::Zero());
  for (std::size_t q = 0; q < touch.size(); ++q) around[q].x() = touch[q];
  const Table& points = std::as_const(*set.points).points();
  scatter_points<NodeMemory>(step, set, step.bins[s], {points.get<Position>(), around, {}, points.get<Mass>()});
  for (GridLayer* side : step.layers[set.layer].sides()) {
    NodeField &sums = side->nodes.get<NodeMemory>(), &of_nodes = side->nodes.get<NodeTouch>();
    side->map().forest().sum_to_owners(sums.view());
    const auto reals = static_cast<std::ptrdiff_t>(side->map().owned()) * NodeField::row;
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t k = 0; k < reals; k += NodeField::width)
      if (const Real* const sum = sums.block(0) + k; sum[0] > 0)
        of_nodes.block(0)[k] = std::min(of_nodes.block(0)[k], most * sum[1] / sum[0]);
    sums.reset(side->map().size());
  }
}

/// Finds what owned nodes take of the memory of contact points of a body.
void find_touch(StepContext& step, std::size_t s, Taker taker) {
  for (GridLayer* side : step.layers[step.sets[s].layer].sides()) {
    NodeField& touch = side->nodes.get<NodeTouch>();
    touch.reset(side->map().size());
    step.layer_contact.mark_touch(side->number, touch);
    if (taker == Taker::implicit_layers) step.layer_contact.weigh_touch(step.meeting_layers(), side->number, touch);
  }
  if (taker == Taker::surface) limit_touch(step, s);
}

/// Owned nodes take what came to them by how they touch.
void scale_by_touch(GridLayer& layer) {
  NodeField& memory = layer.nodes.get<NodeMemory>();
  const NodeField& touch = layer.nodes.get<NodeTouch>();
  const auto reals = static_cast<std::ptrdiff_t>(layer.map().owned()) * NodeField::row;
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t k = 0; k < reals; k += NodeField::width) Vec3::Map(memory.block(0) + k + 1) *= touch.block(0)[k];
}

/// Brings what contact points of a body remember to nodes that touch: Phi_i = c_i sum_q w_iq f_q / c_q. (16.6)
void scatter_memory(StepContext& step, std::size_t s, Taker taker) {
  const VisitedSet& set = step.sets[s];
  const std::vector<GridLayer*> sides = step.layers[set.layer].sides();
  for (GridLayer* side : sides) side->nodes.get<NodeMemory>().reset(side->map().size());
  const Table& points = std::as_const(*set.points).points();
  const auto forces = set.follows->contact_forces();
  if (!step.comm.any(std::ranges::any_of(forces, [](const Vec3& f) { return !f.isZero(0); }))) return;
  const auto mass = points.get<Mass>();
  find_touch(step, s, taker);
  const std::vector<Real> touch = touch_at_points(step, s);
  std::vector<Vec3> acceleration(points.rows(), Vec3::Zero());
  for (std::size_t q = 0; q < acceleration.size(); ++q)
    if (touch[q] * mass[q] > 0) acceleration[q] = forces[q] / (touch[q] * mass[q]);
  scatter_points<NodeMemory>(step, set, step.bins[s], {points.get<Position>(), acceleration, {}, mass});
  for (GridLayer* side : sides) {
    side->map().forest().sum_to_owners(side->nodes.get<NodeMemory>().view());
    scale_by_touch(*side);
  }
}

/// Implicit layers are loaded by the opposite of what contact points remember, on nodes that touch, by their mass:
///   Phi_i = -c_i m_i sum_q w_iq f_q / sum_j w_jq c_j m_j                                                       (16.9)
void load_implicit_layers(StepContext& step) {
  for (GridLayer& layer : step.layers)
    if (layer.is_loaded) layer.nodes.get<NodeMemory>().reset(layer.map().size());
  for (std::size_t s = 0; s < step.sets.size(); ++s) {
    if (!step.sets[s].has_surface) continue;
    scatter_memory(step, s, Taker::implicit_layers);
    for (const GridLayer* side : step.layers[step.sets[s].layer].sides())
      step.layer_contact.oppose_memory(step.meeting_layers(), side->number);
  }
  const bool any_repeats = std::ranges::any_of(
      step.sets, [](const VisitedSet& set) { return set.has_surface && set.follows->may_repeat(); });
  for (GridLayer& layer : step.layers) {
    if (!layer.is_loaded) continue;
    find_blocks_in_contact(step, layer);
    layer.repeats_contact = any_repeats && step.comm.any(!layer.in_contact.empty());
  }
}

/// The memory with which a try begins, and where it can come to more.
void begin_memory(StepContext& step) {
  step.accelerated.begin();
  if (std::ranges::any_of(step.layers, &GridLayer::is_loaded)) load_implicit_layers(step);
  for (std::size_t s = 0; s < step.sets.size(); ++s) {
    if (!step.sets[s].has_surface) continue;
    scatter_memory(step, s, Taker::surface);
    for (GridLayer* side : step.layers[step.sets[s].layer].sides()) {
      find_blocks_in_contact(step, *side);
      side->pull.reset(side->map().size());
      if (side->repeats_contact) side->first_memory = side->nodes.get<NodeMemory>();
    }
  }
}

/// Phi_i / m_i, less what was remembered at first, if that is given.
void find_pull(GridLayer& layer, const NodeField* first) {
  const NodeField& memory = layer.nodes.get<NodeMemory>();
  const auto count = static_cast<std::ptrdiff_t>(layer.in_contact.size());
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t b = 0; b < count; ++b) {
    const int block = layer.in_contact[static_cast<std::size_t>(b)];
    for (int k = 0; k < NodeField::row; k += NodeField::width) {
      const Real m = memory.block(block)[k];
      Vec3 phi = Vec3::Map(memory.block(block) + k + 1);
      if (first != nullptr) phi -= Vec3::Map(first->block(block) + k + 1);
      Vec3::Map(layer.pull.block(block) + k) = m > 0 ? Vec3(phi / m) : Vec3(Vec3::Zero());
    }
  }
  layer.map().forest().update_ghosts(layer.pull.view());
}

/// What the memory of nodes is at contact points, m_q sum_i w_iq Phi_i / m_i [N]; or what has come to it since the
/// first pass.
std::vector<Vec3> memory_at_points(StepContext& step, std::size_t s, bool since_first) {
  GridLayer& layer = step.layers[step.sets[s].layer];
  for (GridLayer* side : layer.sides()) find_pull(*side, since_first ? &side->first_memory : nullptr);
  std::vector<Vec3> of_points = gathered(step, s, layer.pull, layer.has_two_sides ? &layer.far->pull : nullptr);
  const auto mass = std::as_const(*step.sets[s].points).points().get<Mass>();
  for (std::size_t q = 0; q < of_points.size(); ++q) of_points[q] *= mass[q];
  return of_points;
}

/// After a pass nodes remember what they gave in it, and what (17.4) makes of that.
void add_to_memory(StepContext& step) {
  std::vector<AcceleratedPasses::Nodes> repeated;
  for (GridLayer& layer : step.layers)
    if (layer.repeats_contact && StepContext::is_on(layer))
      repeated.push_back({layer.in_contact, &layer.nodes.get<NodeInertia>(), &layer.nodes.get<NodeMeeting>(),
                          &layer.nodes.get<NodeMemory>()});
  const bool is_last = BodyMotion::is_last_pass(step.passes - step.first_pass + 1);
  if (!repeated.empty()) step.accelerated.go_on(step.comm, step.dt(), repeated, is_last);
}

/// The motions of bodies that predict, of which some may refuse dt.
void predict_bodies(StepContext& step) {
  const auto is_due = [&](const BodyMotion* own) { return step.passes == 0 || own->may_repeat(); };
  if (step.passes == 0) begin_memory(step);
  else add_to_memory(step);
  for (std::size_t s = 0; s < step.sets.size(); ++s) {
    BodyMotion* own = step.sets[s].follows;
    if (!step.sets[s].has_surface || !is_due(own)) continue;
    // Points of a body that repeats contact remember what its nodes do; and the part of their memory that loads the
    // body does the work that its nodes show.
    if (step.passes > 0) own->remember_since_first(memory_at_points(step, s, true));
    if (step.layers[step.sets[s].layer].rigid == nullptr) own->load_contact_points(memory_at_points(step, s, false));
  }
  load_rigid_bodies(step);
  const auto predict = [&](Predicts& body) {
    if (const Refusal refusal = body.predict(step.dt()); refusal.excess > step.fault.excess)
      step.fault = {refusal, step.fault.node};
  };
  for (const auto& own : step.own_motions)
    if (is_due(own.get())) predict(*own);
  for (const VisitedSet& set : step.sets)
    if (set.has_surface && is_due(set.follows)) set.follows->weigh_contact_points(step.dt(), step.passes);
  share_predictions(step);
  for (Predicts* body : step.predicting)
    if (step.passes == 0) predict(*body);
  step.is_found = step.comm.max(step.fault.excess) <= 1;
  if (!step.is_found)  // nodes have no motion for which points could be blamed
    for (GridLayer& layer : step.layers) layer.nodes.get<NodeVelocity>().reset(layer.map().size());
}

}  // namespace

bool predict(StepContext& step) {
  step.fault = {};
  step.passes = step.first_pass = 0;
  step.is_found = true;
  if (step.predicting.empty() && step.own_motions.empty()) return true;
  const auto timing = step.timers.measure("predict");
  for (const auto& own : step.own_motions) own->begin_passes();
  predict_bodies(step);
  return step.is_found;
}

bool repeat(StepContext& step) {
  ++step.passes;
  const auto timing = step.timers.measure("predict");
  bool contact = false, any = false;
  for (std::size_t s = 0; s < step.sets.size(); ++s)
    if (const VisitedSet& set = step.sets[s]; set.has_surface) {
      const std::vector<Vec3> by_layers = gathered<NodeMeeting>(step, s);
      const bool is_hit = step.layers[set.layer].rigid != nullptr && step.layer_contact.any_hits();
      contact = set.follows->wants_another_pass(step.dt(), step.passes - step.first_pass, is_hit, by_layers) || contact;
      if (const Refusal& refusal = set.follows->refusal_of_passes(); refusal.excess > step.fault.excess)
        step.fault = {refusal, step.fault.node};
    }
  for (const auto& [repeats, s] : step.repeating) {
    const std::vector<Vec3> received = gathered<NodeVelocity>(step, s);
    any = repeats->wants_another_pass(step.dt(), step.passes, received) || any;
  }
  if (!step.repeating.empty()) any = step.comm.any(any);
  if (!contact && step.fault.excess <= 1 &&
      step.layer_contact.let_rebound(step.meeting_layers())) {  // passes begin anew
    contact = true;
    step.first_pass = step.passes;
    step.accelerated.begin();
  }
  if (contact) predict_bodies(step);
  if (!contact && step.fault.excess > 1) step.is_found = false;
  return step.is_found && (contact || any);
}

}  // namespace weft
