#include "weft/run/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "weft/parallel/ship.hpp"
#include "weft/run/edit.hpp"
#include "weft/solve/explicit.hpp"

namespace weft {
namespace {

/// Rows are brought into visiting order every so many steps, for the memory's sake; results do not depend on it.
constexpr int steps_between_reorders = 16;
/// A step is refused when a node moves this many times further than the deck's CFL number allows.
constexpr Real cfl_slack = 2;
/// A stop this much further than dt, as a fraction of dt, is reached by the same step.
constexpr Real round_off = 1e-6;
/// dt grows by this factor from one step to the next after a refusal.
constexpr Real recovery_growth = 1.5;

/// Fraction of the time an elastic wave takes over dx that an explicit step may last (docs/theory.md, Step size).
Real wave_number(KernelKind kernel) {
  switch (kernel) {
    case KernelKind::linear:
      return 0.2;
    case KernelKind::quadratic:
      return 0.5;
    case KernelKind::cubic:
      break;
  }
  return 0.7;
}

/// Limit of an explicit step with viscosity nu, in dx^2 / nu: 1/6 for diffusion in three dimensions, twice as fast for
/// the compression that 2 eta sym(L) also resists.
constexpr Real diffusion_number = 1.0 / 12;

std::string point_text(const Body& body, std::size_t p) {
  const auto& x = body.points().get<Position>()[p];
  return fmt::format("point {} of body {} at ({:.4g}, {:.4g}, {:.4g}) m", body.points().get<Id>()[p], body.name(),
                     x.x(), x.y(), x.z());
}

}  // namespace

StepSize size_of_step(const Comm& comm, const Scene& scene, Real time) {
  constexpr std::array reasons{"waves in ", "viscosity of ", "speed of "};
  const Real dx = scene.transfer.dx;
  std::vector<Real> limits;
  for (const auto& body : scene.bodies) {
    const StepLimit limit = body->limit();  // a zero below gives infinity: no limit
    limits.push_back(wave_number(scene.transfer.kernel) * dx / limit.wave_speed);
    limits.push_back(diffusion_number * dx * dx / limit.viscosity);
    limits.push_back(scene.deck.time.cfl * dx / limit.speed);
  }
  comm.min(limits);

  StepSize size{scene.deck.time.max_dt, "time.max_dt"};
  for (std::size_t l = 0; l < limits.size(); ++l)
    if (limits[l] < size.dt) size = {limits[l], reasons[l % reasons.size()] + scene.bodies[l / reasons.size()]->name()};
  for (const BodySource& source : scene.sources) {
    const Real limit = scene.deck.time.cfl * dx / source.source.velocity().norm();
    if (time < source.until && limit < size.dt) size = {limit, "speed of source " + source.name};
  }
  return size;
}

Stepper::Stepper(const Comm& comm, Scene& scene, RunState& state, Timers& timers)
    : comm_(comm), scene_(scene), state_(state), timers_(timers), bins_(scene.bodies.size()) {}

StepReport Stepper::take(Real not_beyond) {
  settle(false);
  StepReport report;
  {
    const auto timing = timers_.measure("size");
    report.size = size_of_step(comm_, scene_, state_.time);
  }
  Real& dt = report.size.dt;
  if (state_.recovery_dt < dt) report.size = {state_.recovery_dt, "recovery"};
  const Real left = not_beyond - state_.time;
  if ((1 + round_off) * dt >= left) report.size = {left, "output"};
  else if (2 * dt > left) report.size = {left / 2, "output"};  // two equal steps rather than one and a sliver

  {
    const auto timing = timers_.measure("law");
    for (auto& body : scene_.bodies) body->respond(dt);
  }
  std::vector<Vec3> wall_impulse(scene_.walls.size());
  for (;;) {
    const Fault fault = try_step(dt, wall_impulse);
    if (comm_.max(fault.excess) <= 1) break;
    if (report.refused.empty()) report.refused = fault.text;
    if (report.retries == scene_.deck.time.max_retries)
      comm_.agree([&] {
        require(fault.excess <= 1, ExitCode::numerics,
                fmt::format(
                    "step {} at t = {:.6g} s was refused {} times, down to dt = {:.3g} s: {}. Usual cures: a smaller "
                    "time.cfl or time.max_dt, a softer or denser material, more particles_per_cell, a thicker or "
                    "slower collider.",
                    state_.step + 1, state_.time, report.retries + 1, dt, fault.text));
      });
    dt /= 2;
    report.size.limited_by = "recovery";
    ++report.retries;
  }

  {
    const auto timing = timers_.measure("law");
    for (auto& body : scene_.bodies) body->commit(dt);
  }
  for (std::size_t w = 0; w < wall_impulse.size(); ++w) {
    comm_.sum(std::span(wall_impulse[w].data(), 3));
    state_.wall_impulse[w] += wall_impulse[w];
  }
  state_.time = dt == left ? not_beyond : state_.time + dt;
  ++state_.step;
  // Growth from a refused step back to what the bodies allow.
  if (report.retries > 0) state_.recovery_dt = recovery_growth * dt;
  else if (dt == state_.recovery_dt) state_.recovery_dt *= recovery_growth;

  const auto timing = timers_.measure("edit");
  edit_points(comm_, scene_, state_);
  return report;
}

/// Scatter, advance and gather with this dt; nothing but work columns and the grid changes.
Stepper::Fault Stepper::try_step(Real dt, std::vector<Vec3>& wall_impulse) {
  layer_.reset(map_.size());
  {
    const auto timing = timers_.measure("scatter");
    for (std::size_t b = 0; b < bins_.size(); ++b) {
      const Table& points = scene_.bodies[b]->points();
      scatter(scene_.transfer, bins_[b],
              {points.get<Position>(), points.get<Velocity>(), points.get<Affine>(), points.get<Mass>(),
               points.get<EnergyGradient>()},
              dt, layer_.inertia);
    }
  }
  {
    const auto timing = timers_.measure("exchange");
    map_.forest().sum_to_owners(layer_.inertia.view());
  }
  const Real speed_bound = cfl_slack * scene_.deck.time.cfl * scene_.transfer.dx / dt;
  ExplicitReport nodes;
  {
    const auto timing = timers_.measure("grid");
    std::fill(wall_impulse.begin(), wall_impulse.end(), Vec3::Zero());
    nodes = advance_explicit(
        {dt, state_.time, scene_.transfer.dx, scene_.deck.domain.gravity, scene_.light_mass, speed_bound}, map_,
        scene_.walls, layer_, wall_impulse);
  }
  {
    const auto timing = timers_.measure("exchange");
    map_.forest().update_ghosts(layer_.velocity.view());
  }
  {
    const auto timing = timers_.measure("gather");
    for (std::size_t b = 0; b < bins_.size(); ++b) {
      Table& points = scene_.bodies[b]->points();
      gather(scene_.transfer, bins_[b], layer_.velocity,
             {points.get<Position>(), points.get<GatheredVelocity>(), points.get<GatheredAffine>()});
    }
  }
  const auto timing = timers_.measure("accept");
  Fault fault = worst_of_points(dt);
  const Real excess = nodes.max_speed / speed_bound;
  if (excess > fault.excess) {
    const Vec3& x = nodes.fastest_node;
    fault = {excess,
             fmt::format("the grid node at ({:.4g}, {:.4g}, {:.4g}) m moves at {:.4g} m/s, more than {:.2g} grid "
                         "spacings in one step",
                         x.x(), x.y(), x.z(), nodes.max_speed, cfl_slack * scene_.deck.time.cfl)};
  }
  return fault;
}

/// The point that the step would deform most.
Stepper::Fault Stepper::worst_of_points(Real dt) const {
  Fault fault;
  for (const auto& body : scene_.bodies) {
    const auto C = body->points().get<GatheredAffine>();
    const std::size_t count = body->points().owned();
    Real worst = 0;
#pragma omp parallel for schedule(static) reduction(max : worst)
    for (std::size_t p = 0; p < count; ++p) {
      const Real size2 = C[p].squaredNorm();
      worst = std::max(worst, std::isfinite(size2) ? size2 : std::numeric_limits<Real>::infinity());
    }
    const Real excess = dt * std::sqrt(worst) / scene_.deck.time.max_strain;
    if (excess <= fault.excess) continue;
    fault.excess = excess;
    if (excess <= 1) continue;
    std::size_t p = 0;
    while (C[p].squaredNorm() < worst) ++p;  // also stops at NaN
    fault.text = std::isfinite(worst)
                     ? fmt::format("{} would deform by {:.3g} in one step, more than time.max_strain = {}",
                                   point_text(*body, p), dt * std::sqrt(worst), scene_.deck.time.max_strain)
                     : fmt::format("the velocity gradient of {} is not a finite number", point_text(*body, p));
  }
  return fault;
}

void Stepper::sort_points() {
  const auto timing = timers_.measure("sort");
  comm_.agree([&] {
    for (std::size_t b = 0; b < bins_.size(); ++b) {
      Table& points = scene_.bodies[b]->points();
      const auto sort = [&] {
        bins_[b].sort(scene_.transfer.kernel, scene_.transfer.dx, points.get<Position>(), points.get<Id>());
      };
      sort();
      if (state_.step % steps_between_reorders == 0 && !bins_[b].in_order()) {
        points.reorder(bins_[b].order());
        sort();
      }
    }
  });
}

/// Ships the points whose block another rank owns; true if any rank had such points.
bool Stepper::send_home() {
  const auto timing = timers_.measure("exchange");
  std::vector<Real> leavers(bins_.size(), 0);
  std::vector<std::vector<int>> homes(bins_.size());
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    homes[b].assign(scene_.bodies[b]->points().owned(), comm_.rank());
    for (const Bin& bin : bins_[b].bins()) {
      const int owner = state_.cuts.owner(bin.key);
      if (owner == comm_.rank()) continue;
      leavers[b] = 1;
      for (std::uint32_t k = bin.begin; k < bin.end; ++k) homes[b][bins_[b].order()[k]] = owner;
    }
  }
  comm_.max(leavers);
  bool any = false;
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    if (leavers[b] == 0) continue;
    ship(comm_, scene_.bodies[b]->points(), homes[b]);
    any = true;
  }
  return any;
}

void Stepper::settle(bool recut) {
  sort_points();
  if (recut) {
    std::vector<BlockWork> work;
    for (const Bins& bins : bins_)
      for (const Bin& bin : bins.bins()) work.push_back({bin.key, bin.end - bin.begin});
    const Cuts cuts = balanced_cuts(comm_, work);
    map_is_stale_ = map_is_stale_ || !(cuts == state_.cuts);
    state_.cuts = cuts;
  }
  if (send_home()) sort_points();
  activate_blocks();
}

/// Makes the blocks that points touch the active ones; rebuilds the map only if some rank touches others than before.
void Stepper::activate_blocks() {
  const auto timing = timers_.measure("activate");
  std::vector<BlockKey> touched;
  for (const Bins& bins : bins_) bins.append_touched(touched);
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  if (comm_.any(map_is_stale_ || touched != touched_)) {
    touched_ = std::move(touched);
    map_ = BlockMap(comm_, state_.cuts, touched_);
    map_is_stale_ = false;
  }
  for (Bins& bins : bins_) bins.number(map_);
}

Real Stepper::imbalance() const { return weft::imbalance(comm_, scene_.points()); }

std::size_t Stepper::bytes() const {
  std::size_t sum = layer_.inertia.bytes() + layer_.velocity.bytes();
  for (const Bins& bins : bins_) sum += bins.bytes();
  return sum;
}

}  // namespace weft
