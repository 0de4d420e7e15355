// Prepare: what the tries of a step have in common.

#include <algorithm>
#include <utility>

#include "run/stages/stages.hpp"
#include "weft/bodies/contact_points.hpp"
#include "weft/run/totals.hpp"

namespace weft {

namespace {

/// Of the fastest vibration that the grid or a mesh has [rad/s]; what has none is as slow as makes no difference.
Real frequency(const StepLimit& limit, Real dx, Real dt) {
  constexpr Real least = 1e-3;
  return std::max({limit.wave_speed / dx, std::min(limit.mesh_speed / dx, limit.vibration()), least / dt});
}

/// The points of a layer that may touch walls.
void find_contacts(StepContext& step, std::size_t l) {
  const auto timing = step.timers.measure("contact");
  GridLayer& layer = step.layers[l];
  std::vector<TouchingSet> sets;
  for (std::size_t s = 0; s < step.sets.size(); ++s)
    if (const VisitedSet& set = step.sets[s]; set.layer == l) {
      if (set.follows != nullptr) set.follows->find_walls(step.bins[s], layer.settings.transfer, step.dt());
      if (!set.points->touches_walls() || set.follows != nullptr) continue;
      const StepLimit& limit = step.state.limits[set.body];
      sets.push_back({set.points, &step.bins[s], frequency(limit, step.scene.dx, step.dt()), limit.speed});
    }
  layer.contacts.find(step.comm, step.scene.walls, sets, layer.settings.transfer, step.state.time, step.dt());
  layer.contacts.act_on(layer.map);
}

/// Brings what contact points of a body remember to nodes, and hands the points the part of it that these give:
///   Phi_i = sum_q w_iq f_q,   load_q = m_q sum_i w_iq Phi_i / m_i
/// so that the load does the work that its nodes show.
void load_contact_points(StepContext& step, std::size_t s) {
  const VisitedSet& set = step.sets[s];
  GridLayer& layer = step.layers[set.layer];
  NodeField& memory = layer.nodes.get<NodeMemory>();
  memory.reset(layer.map.size());
  const Table& points = std::as_const(*set.points).points();
  const auto x = points.get<Position>(), forces = points.get<ContactForce>();
  const auto mass = points.get<Mass>();
  std::vector<Vec3> loads(points.rows(), Vec3::Zero());
  if (step.comm.any(std::ranges::any_of(forces, [](const Vec3& f) { return !f.isZero(0); }))) {
    std::vector<Vec3> acceleration(points.rows(), Vec3::Zero());
    for (std::size_t q = 0; q < loads.size(); ++q)
      if (mass[q] > 0) acceleration[q] = forces[q] / mass[q];
    const TransferSettings& transfer = layer.settings.transfer;
    scatter(
        transfer, step.bins[s], {x, acceleration, points.get<Affine>(), mass},
        [](ChunkRows, const ChunkForces& of) { std::ranges::fill(of.A, Mat3(Mat3::Zero())); }, 0, memory);
    layer.map.forest().sum_to_owners(memory.view());
    layer.map.forest().update_ghosts(memory.view());
    NodeField of_node = memory;
    const auto reals = static_cast<std::ptrdiff_t>(layer.map.size()) * NodeField::row;
    for (std::ptrdiff_t k = 0; k < reals; k += NodeField::width)
      if (const Real m = memory.block(0)[k]; m > 0)
        Eigen::Map<Vec3>(of_node.block(0) + k) = Eigen::Map<const Vec3>(memory.block(0) + k + 1) / m;
    loads = gathered(step, s, of_node);
    for (std::size_t q = 0; q < loads.size(); ++q) loads[q] *= mass[q];
  }
  set.follows->load_contact_points(std::move(loads));
}

}  // namespace

void prepare(StepContext& step, bool weigh) {
  if (!step.settings.is_implicit && (weigh || step.dt() == step.left)) {
    const auto timing = step.timers.measure("record");
    step.report.potential_before = totals_of(step.comm, step.scene).potential();
  }
  for (GridLayer& layer : step.layers) layer.advance->prepare(step, layer);
  for (std::size_t l = 0; l < step.layers.size(); ++l) find_contacts(step, l);
  {
    const auto timing = step.timers.measure("contact");
    for (std::size_t s = 0; s < step.sets.size(); ++s)
      if (step.sets[s].has_surface) load_contact_points(step, s);
  }
  step.given = {std::vector<Impulse>(step.scene.walls.size()), std::vector<Impulse>(step.scene.handles.size()), 0};
}

}  // namespace weft
