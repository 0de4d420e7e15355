#include "run/step.hpp"

#include <array>
#include <limits>
#include <utility>

#include "run/stages/stages.hpp"
#include "weft/base/error.hpp"
#include "weft/solve/silence.hpp"

namespace weft {
namespace {

/// Meshes are cut anew when this share of their points lies in blocks of other ranks.
constexpr Real most_mesh_drift = 0.5;

}  // namespace

StepReport Stepper::take(Real not_beyond, bool weigh) {
  StepContext& step = *step_;
  home(step, false);
  activate(step);
  size(step, not_beyond);
  prepare(step, weigh);
  do {  // a try: nothing but the grid changes
    if (!predict(step)) continue;
    do scatter(step);
    while (advance(step) && repeat(step));
  } while (!accept(step));
  gather(step);
  correct(step);
  commit(step);
  edit(step);
  return step.report;
}

void Stepper::rehearse(bool recut) {
  StepContext& step = *step_;
  try {
    home(step, recut);
    activate(step);
    size(step, std::numeric_limits<Real>::infinity());
    prepare(step, false);
    if (predict(step)) {
      scatter(step);
      in_silence([&] { advance(step); });
    }
  } catch (const Error& error) {
    if (error.code() == ExitCode::deck) throw;
  }
  for (GridLayer& layer : step.layers) layer.advance->blocks_changed();  // what solvers keep is not of a step
}

void Stepper::bring_home(bool recut) {
  home(*step_, recut);
  activate(*step_);
}

Stepper::Stepper(const Comm& comm, Scene& scene, RunState& state, Timers& timers)
    : step_(std::make_unique<StepContext>(comm, scene, state, timers)) {}
Stepper::~Stepper() = default;

void Stepper::heed(StopQuestion is_asked_to_stop) { step_->is_asked_to_stop = std::move(is_asked_to_stop); }

const Suspicions& Stepper::suspicions() const { return step_->suspicions; }
std::size_t Stepper::layers() const { return step_->layers.size(); }
std::optional<std::size_t> Stepper::layer_in_use(std::size_t layer) const {
  const GridLayer& of = step_->layers[layer];
  if (!StepContext::is_on(of)) return {};
  return of.near != nullptr ? of.near->number : of.number;
}
const BlockMap& Stepper::map(std::size_t layer) const { return step_->layers[layer].map(); }
const Layer& Stepper::nodes(std::size_t layer) const { return step_->layers[layer].nodes; }

Totals Stepper::totals() const { return step_->totals(); }

/// By where points stand, not by their bins, which a run that was resumed has not found yet.
Real Stepper::mesh_drift() const {
  if (step_->comm.size() == 1) return 0;
  std::array<std::int64_t, 2> counts{0, 0};  // elsewhere, all
  for (const VisitedSet& set : step_->sets)
    if (set.is_of_mesh && set.follows == nullptr)  // contact points stay with their body
      for (const Vec3& x : std::as_const(*set.points).points().get<Position>()) {
        const BlockKey home = home_block(step_->transfer_of(set).dx, x);
        counts[0] += step_->state.cuts.owner(home) == step_->comm.rank() ? 0 : 1;
        ++counts[1];
      }
  step_->comm.sum(std::span(counts));
  return counts[1] > 0 ? static_cast<Real>(counts[0]) / static_cast<Real>(counts[1]) : 0;
}

Real Stepper::imbalance() const {
  std::int64_t points = 0;  // that are visited, whether they are matter or not
  for (const VisitedSet& set : step_->sets) points += static_cast<std::int64_t>(set.points->points().owned());
  return weft::imbalance(step_->comm, points);
}

Real Stepper::balance() {
  const Real found = imbalance();
  if (found > step_->settings.most_imbalance || mesh_drift() > most_mesh_drift) bring_home(true);
  return found;
}

Real energy_less_work(const Scene& scene, const RunState& state, const StepReport& last, const Totals& totals) {
  Real potential = totals.potential();
  if (state.step > 0 && !scene.step.is_implicit)
    potential = (last.potential_before.value_or(std::numeric_limits<Real>::quiet_NaN()) + potential) / 2;
  return totals.motion() + potential + last.contact_energy - state.work();
}

}  // namespace weft
