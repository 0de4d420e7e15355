// Prepare: what the tries of a step have in common.

#include <algorithm>
#include <limits>
#include <utility>

#include "run/handles.hpp"
#include "run/stages/stages.hpp"
#include "run/stages/surfaces.hpp"
#include "weft/bodies/contact_points.hpp"

namespace weft {

namespace {

/// Of the fastest vibration that the grid or a mesh has [rad/s]; what has none is as slow as makes no difference.
Real frequency(const StepLimit& limit, Real dx, Real dt) {
  constexpr Real least = 1e-3;
  return std::max({limit.wave_speed / dx, std::min(limit.mesh_speed / dx, limit.vibration()), least / dt});
}

/// How far points of a set reach at most [m]; those that enter are at rest.
Real reach(const VisitedSet& set, const StepLimit& limit) {
  if (!set.points->extent_deforms()) return set.half_axis;
  return limit.stretch > 0 ? std::max(limit.stretch, Real(1)) * set.half_axis : std::numeric_limits<Real>::infinity();
}

/// The points of a layer that may touch walls; adds what ranks have to agree on.
void find_contacts(StepContext& step, std::size_t l, std::vector<WallContacts*>& found) {
  GridLayer& layer = step.layers[l];
  std::vector<TouchingSet> sets;
  for (std::size_t s = 0; s < step.sets.size(); ++s)
    if (const VisitedSet& set = step.sets[s]; set.layer == l) {
      if (set.follows != nullptr)
        found.push_back(&set.follows->find_walls(step.bins[s], layer.settings.transfer, step.dt()));
      if (!set.points->touches_walls() || set.follows != nullptr) continue;
      const StepLimit& limit = step.state.limits[set.body];
      sets.push_back(
          {set.points, &step.bins[s], frequency(limit, step.scene.dx, step.dt()), limit.speed, reach(set, limit)});
      if (const MeshBody* mesh = step.scene.bodies[set.body]->roles().mesh; mesh != nullptr && set.points == mesh)
        sets.back().faces = [mesh](std::uint32_t row, const Vec3& way) { return mesh->faces(row, way); };
      sets.back().is_led = step.held_positions[set.body].of(*set.points, step.state.time);
      sets.back().is_foreseen = layer.advance->takes_forces();
      sets.back().gained = step.scene.step.gravity.norm() * step.dt();
    }
  layer.contacts.find(step.scene.walls, sets, layer.settings.transfer, step.state.time, step.dt());
  found.push_back(&layer.contacts);
}

void find_contacts(StepContext& step) {
  const auto timing = step.timers.measure("contact");
  std::vector<WallContacts*> found;
  for (std::size_t l = 0; l < step.layers.size(); ++l) find_contacts(step, l, found);
  WallContacts::agree(step.comm, found);
  for (GridLayer& layer : step.layers) {
    layer.contacts.act_on(layer.map());
    // Where nothing has touched a wall yet, nodes do without.
    if (layer.contacts.any() && !layer.nodes.has<NodeContact>()) layer.nodes.add<NodeContact>();
  }
  for (const VisitedSet& set : step.sets)
    if (set.follows != nullptr) set.follows->let_walls_reach_vertices();
}

}  // namespace

void prepare(StepContext& step, bool weigh) {
  if (!step.settings.is_implicit && (weigh || step.dt() == step.left)) {
    const auto timing = step.timers.measure("record");
    step.report.potential_before = step.totals().potential();
  }
  for (GridLayer& layer : step.layers) layer.advance->prepare(step, layer);
  find_contacts(step);
  find_surfaces(step);
  choose_repeated(step);
}

}  // namespace weft
