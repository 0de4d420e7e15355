// Home: points stand in the bins of their home blocks, on the ranks that own these.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "run/stages/stages.hpp"
#include "weft/base/memory.hpp"
#include "weft/bodies/continuum.hpp"
#include "weft/parallel/ship.hpp"

namespace weft {
namespace {

/// Finds the bins of points that may leave the tiles of theirs, or of all points, wherever they are at home; the error
/// is this rank's alone, for all to agree on. Quadrature points follow the vertices of their mesh, so meshes are binned
/// in every step.
std::optional<Error> find_points(StepContext& step, bool all) {
  const auto timing = step.timers.measure("sort");
  std::vector<bool> is_due(step.sets.size());
  try {
    for (std::size_t s = 0; s < step.sets.size(); ++s) {
      VisitedSet& set = step.sets[s];
      Bins& bins = step.bins[s];
      Table& points = set.points->points();
      const TransferSettings& transfer = step.transfer_of(set);
      const auto x = std::as_const(points).get<Position>();
      if (set.is_of_mesh) {
        set.is_binned = false;
        bins.find(transfer.dx, x);
        continue;
      }
      is_due[s] = !(step.state.drift[set.body] <= drift_margin(transfer.kernel) * transfer.dx);
      if (!is_due[s] && !all && set.is_binned) continue;
      set.is_binned = false;
      if (is_due[s]) find_homes(transfer.dx, x, points.get<Home>());
      bins.find(std::as_const(points).get<Home>());
    }
  } catch (const Error& error) {
    return error;
  }
  for (std::size_t s = 0; s < step.sets.size(); ++s)
    if (is_due[s]) step.state.drift[step.sets[s].body] = 0;
  return std::nullopt;
}

/// Throws the error of a rank, if there is one, on all ranks.
void agree_on(StepContext& step, const std::optional<Error>& error) {
  if (!step.comm.any(error.has_value())) return;
  std::fill(step.state.drift.begin(), step.state.drift.end(), std::numeric_limits<Real>::infinity());
  step.suspicions = suspect_states(step.scene);
  const std::string accused = accuse(step.comm, step.suspicions);
  step.comm.agree([&] {
    if (error) throw Error(error->code(), fmt::format("{}. {}", error->what(), accused));
  });
}

/// The visiting order of points whose bins were found.
void arrange_points(StepContext& step) {
  const auto timing = step.timers.measure("sort");
  for (std::size_t s = 0; s < step.sets.size(); ++s) {
    if (step.sets[s].is_binned) continue;
    step.bins[s].arrange(step.sets[s].points->points().get<Id>());
    step.sets[s].is_binned = true;
    if (step.sets[s].points->touches_walls()) step.sets[s].half_axis = largest_half_axis(*step.sets[s].points);
  }
}

/// New cuts of the curve by the points' present blocks; meshes are cut along them.
void cut_anew(StepContext& step) {
  const auto timing = step.timers.measure("balance");
  std::vector<BlockWork> work;
  for (const Bins& bins : step.bins)
    for (const Bin& bin : bins.bins()) work.push_back({bin.key, bin.end - bin.begin});
  const Cuts cuts = balanced_cuts(step.comm, work);
  for (GridLayer& layer : step.layers) layer.map_is_stale = layer.map_is_stale || !(cuts == step.state.cuts);
  step.state.cuts = cuts;
  for (const auto& body : step.scene.bodies)
    if (body->roles().is_carried_by_grid)
      body->share(step.comm, [&](const Vec3& x) { return cuts.owner(home_block(step.scene.dx, x)); });
}

bool has_leavers(const StepContext& step, std::size_t s) {
  if (step.sets[s].is_of_mesh || step.sets[s].is_binned) return false;
  const auto bins = step.bins[s].bins();
  return std::any_of(bins.begin(), bins.end(),
                     [&](const Bin& bin) { return step.state.cuts.owner(bin.key) != step.comm.rank(); });
}

/// Ships the points of a set whose block another rank owns.
void send_home(StepContext& step, std::size_t s) {
  const auto timing = step.timers.measure("exchange");
  ship(step.comm, step.sets[s].points->points(), step.bins[s].leavers(step.state.cuts, step.comm.rank()));
}

/// Whether the map has to be made anew for what the points of this rank touch now (layer.touched afterwards).
bool touches_other_blocks(StepContext& step, GridLayer& layer) {
  const auto timing = step.timers.measure("activate");
  const auto bins = std::span(step.bins).subspan(layer.first_set, layer.end_of_sets - layer.first_set);
  if (std::all_of(bins.begin(), bins.end(), [](const Bins& b) { return b.is_numbered(); })) return layer.map_is_stale;
  std::vector<BlockKey> touched = touched_blocks(bins);
  layer.map_is_stale = layer.map_is_stale || touched != layer.touched;
  layer.touched = std::move(touched);
  return layer.map_is_stale;
}

/// Sends points to the ranks of their blocks. Mostly nobody has anything to do, and one reduction tells all.
void bring_home(StepContext& step, std::optional<Error> error) {
  const std::size_t sets = step.sets.size(), layers = step.scene.layers.size();
  std::vector<Real> needs(sets + layers + 1, 0);  // to send; then other maps, an error
  if (!error) {
    for (std::size_t s = 0; s < sets; ++s) needs[s] = has_leavers(step, s) ? 1 : 0;
    for (std::size_t l = 0; l < layers; ++l) needs[sets + l] = touches_other_blocks(step, step.layers[l]) ? 1 : 0;
  }
  needs.back() = error ? 1 : 0;
  {
    const auto timing = step.timers.measure("exchange");
    step.comm.max(needs);
  }
  if (needs.back() > 0) agree_on(step, error);
  const auto need_maps = std::span(needs).subspan(sets, layers);
  for (std::size_t l = 0; l < layers; ++l) step.layers[l].needs_map = need_maps[l] > 0;
  const auto to_send = std::span(needs).first(sets);
  if (std::ranges::none_of(to_send, [](Real need) { return need > 0; })) return;
  for (std::size_t s = 0; s < sets; ++s)
    if (to_send[s] > 0) send_home(step, s);
  agree_on(step, find_points(step, false));
  for (std::size_t l = 0; l < layers; ++l) need_maps[l] = touches_other_blocks(step, step.layers[l]) ? 1 : 0;
  step.comm.max(need_maps);
  for (std::size_t l = 0; l < layers; ++l) step.layers[l].needs_map = need_maps[l] > 0;
}

}  // namespace

void home(StepContext& step, bool recut) {
  std::optional<Error> error = find_points(step, recut);
  const bool has_sets = !step.sets.empty();  // or else there must be an empty map nevertheless
  if (has_sets && std::all_of(step.sets.begin(), step.sets.end(), [](const VisitedSet& set) { return set.is_binned; }))
    return;
  if (recut) {
    agree_on(step, error);
    cut_anew(step);
    error = find_points(step, false);
  }
  bring_home(step, error);
  arrange_points(step);
  // A solve visits the points many times before they move.
  reorder_rows(step, [&](const VisitedSet& set) { return !step.layers[set.layer].advance->takes_forces(); }, {});
  if (recut) return_freed_memory();  // what moved the points is as large as they are
}

}  // namespace weft
