#include "weft/run/step.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "weft/bodies/continuum.hpp"
#include "weft/coupling/continuum_term.hpp"
#include "weft/coupling/mesh_term.hpp"
#include "weft/parallel/ship.hpp"
#include "weft/run/edit.hpp"
#include "weft/solve/explicit.hpp"

namespace weft {
namespace {

/// Rows are brought into visiting order once they are this much out of it, for the memory's sake; results do not depend
/// on it.
constexpr Real most_disorder = 0.1;
/// A step is refused when a node moves this many times further than the deck's CFL number allows.
constexpr Real cfl_slack = 2;
/// A stop this much further than dt, as a fraction of dt, is reached by the same step.
constexpr Real round_off = 1e-6;
/// So many steps before a stop they become equal, and by a tenth shorter at most.
constexpr Real last_steps = 10;
/// dt grows by this factor from one step to the next after a refusal.
constexpr Real recovery_growth = 1.5;
/// Meshes are cut anew when this share of their points lies in blocks of other ranks.
constexpr Real most_mesh_drift = 0.5;
/// No run takes so many steps; what wants more will not end.
constexpr Real most_steps = 1e12;

/// Fraction of the time an elastic wave takes over dx that an explicit step may last (docs/theory/step.md, 4).
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

/// Limit of an explicit step with a mesh of frequency omega, in 1 / omega: symplectic Euler is stable up to 2.
constexpr Real vibration_number = 1.8;

/// When something that starts with this speed has fallen this far.
Real time_to_fall(Real distance, Real speed, Real gravity) {
  return 2 * distance / (speed + std::sqrt(speed * speed + 4 * gravity * distance));
}

bool flows_in_loop(const SolveDeck& deck, const TrialBody& points) {
  return deck.plasticity ? *deck.plasticity == Plasticity::in_loop : points.flows_in_loop();
}
/// Contact that lags sticks, but slip in the loop has no energy, without which a quasi-static step needs `direct`.
bool flows_in_loop(const SolveDeck& deck, const TrialMesh&) {
  return deck.plasticity ? *deck.plasticity == Plasticity::in_loop : deck.inertia;
}

/// When handles let go next [s]: no step goes beyond it.
Real next_release(const Scene& scene, Real time) {
  Real next = std::numeric_limits<Real>::infinity();
  for (const GridHandle& handle : scene.handles)
    if (const GridHandle::Hold* hold = handle.hold(); hold != nullptr && hold->holds_from(time))
      next = std::min(next, hold->until);
  return next;
}

/// Calls f with the body as it takes part in implicit steps: a TrialBody or a TrialMesh.
auto as_trial(const Body& body, auto&& f) {
  if (const auto* points = dynamic_cast<const TrialBody*>(&body)) return f(*points);
  return f(dynamic_cast<const TrialMesh&>(body));
}

/// Throws Error(deck) if a body cannot take part in the way that the deck asks for.
ImplicitSettings implicit_settings(const Scene& scene) {
  const SolveDeck& deck = scene.deck.solve;
  bool all_have_energy = true;
  std::string without_energy;
  for (const auto& body : scene.bodies) {
    if (as_trial(*body, [&](const auto& trial) { return trial.has_trial_energy(flows_in_loop(deck, trial)); }))
      continue;
    all_have_energy = false;
    without_energy = body->name();
  }
  require(all_have_energy || deck.solver != Solver::minimise, ExitCode::deck,
          fmt::format("{}: solver minimise: the flow of body {} in the loop is not the derivative of an energy, so "
                      "there is nothing to minimise. Use \"solver: residual\", or \"plasticity: lagged\".",
                      deck.place.text, without_energy));
  // Friction on colliders is not the derivative of an energy either; `minimise` takes its strength from the iterate
  // before; multigrid keeps to symmetric matrices, with which it repeats its bits after a stop.
  const bool has_friction =
      std::any_of(scene.walls.begin(), scene.walls.end(), [](const Wall& w) { return w.friction > 0; });
  return {.minimise = deck.solver
                          ? *deck.solver == Solver::minimise
                          : all_have_energy && !(has_friction && deck.preconditioner != Preconditioner::multigrid),
          .inertia = deck.inertia,
          .tolerance = deck.tolerance.value_or(1e-4),
          .max_iterations = deck.max_iterations,
          .preconditioner = deck.preconditioner,
          .petsc = deck.petsc};
}

std::string point_text(const Body& body, const Table& points, std::size_t p) {
  const auto& x = points.get<Position>()[p];
  return fmt::format("point {} of body {} at ({:.4g}, {:.4g}, {:.4g}) m", points.get<Id>()[p], body.name(), x.x(),
                     x.y(), x.z());
}

/// The limits, and how far points drifted, of all ranks together. Collective.
void agree_on_limits(const Comm& comm, RunState& state) {
  std::vector<Real> values = state.drift;
  for (const StepLimit& limit : state.limits)
    values.insert(values.end(),
                  {limit.wave_speed, limit.viscosity, limit.speed, limit.mesh_speed, limit.frequency, limit.bending});
  comm.max(values);
  const Real* v = values.data();
  for (Real& drift : state.drift) drift = *v++;
  for (StepLimit& limit : state.limits) {
    limit = {v[0], v[1], v[2], v[3], v[4], v[5]};
    v += 6;
  }
}

/// How long threads spend within pieces of work that take a few microseconds each. Every seventh piece is timed: a look
/// at the clock is not free either, and bins have often eight chunks, of which the first finds the caches cold.
class LawClock {
 public:
  template <class F>
  void measure(std::size_t rows, F&& work) {
    Share& mine = shares_[static_cast<std::size_t>(omp_get_thread_num())];
    if (mine.pieces++ % pieces_to_one_timed != 0) return work();
    const double began = wall_seconds();
    work();
    const double seconds = wall_seconds() - began, count = static_cast<double>(rows);
    // A piece during which another process ran says nothing of the six that were not timed.
    mine.rows += count;
    mine.longest = std::min(mine.longest, slowest_to_fastest * seconds / count);
    mine.seconds = std::min(mine.seconds + std::min(seconds, mine.longest * count), mine.longest * mine.rows);
  }
  /// On average over the threads.
  double seconds() const {
    double sum = 0;
    for (const Share& share : shares_) sum += share.seconds;
    return pieces_to_one_timed * sum / static_cast<double>(shares_.size());
  }

 private:
  static constexpr int pieces_to_one_timed = 7;
  static constexpr double slowest_to_fastest = 10;             ///< Of rows, when nothing comes in between.
  struct alignas(64) Share {                                   // a cache line of its own
    double seconds = 0, rows = 0;                              ///< Of the pieces that were timed.
    double longest = std::numeric_limits<double>::infinity();  ///< A row is not taken to last longer than this [s].
    long pieces = 0;
  };
  std::vector<Share> shares_ = std::vector<Share>(static_cast<std::size_t>(omp_get_max_threads()));
};

}  // namespace

void find_limits(const Comm& comm, const Scene& scene, RunState& state) {
  state.limits.clear();
  for (const auto& body : scene.bodies) state.limits.push_back(body->limit_from(0));
  agree_on_limits(comm, state);
}

StepSize size_of_step(const Scene& scene, const RunState& state) {
  constexpr std::array reasons{"waves in ", "viscosity of ", "speed of ", "stiffness of "};
  const Real dx = scene.transfer.dx, reach = scene.deck.time.cfl * dx;
  std::vector<Real> limits;
  for (const StepLimit& limit : state.limits) {  // a zero below gives infinity: no limit
    if (scene.deck.time.scheme == Scheme::implicit_euler) {
      const Real none = std::numeric_limits<Real>::infinity();
      limits.insert(limits.end(),
                    {none, none, time_to_fall(reach, limit.speed, scene.deck.domain.gravity.norm()), none});
      continue;
    }
    limits.push_back(wave_number(scene.transfer.kernel) * dx / limit.wave_speed);
    limits.push_back(diffusion_number * dx * dx / limit.viscosity);
    limits.push_back(reach / limit.speed);
    // Along a mesh two bounds hold, that of the grid and that of the mesh by itself; the longer step is safe.
    limits.push_back(
        std::max(wave_number(scene.transfer.kernel) * dx / limit.mesh_speed, vibration_number / limit.vibration()));
  }

  StepSize size{scene.deck.time.max_dt, "time.max_dt"};
  for (std::size_t l = 0; l < limits.size(); ++l)
    if (limits[l] < size.dt) size = {limits[l], reasons[l % reasons.size()] + scene.bodies[l / reasons.size()]->name()};
  for (const BodySource& source : scene.sources) {
    const Real limit = scene.deck.time.cfl * dx / source.source.velocity().norm();
    if (state.time < source.until && limit < size.dt) size = {limit, "speed of source " + source.name};
  }
  return size;
}

Real energy_less_work(const Scene& scene, const RunState& state, const StepReport& last, const Totals& totals) {
  Real potential = totals.potential();
  if (state.step > 0 && scene.deck.time.scheme != Scheme::implicit_euler)
    potential = (last.potential_before.value_or(std::numeric_limits<Real>::quiet_NaN()) + potential) / 2;
  return totals.motion() + potential - state.work();
}

Stepper::Stepper(const Comm& comm, Scene& scene, RunState& state, Timers& timers)
    : comm_(comm), scene_(scene), state_(state), timers_(timers), handles_(comm, scene) {
  for (std::size_t b = 0; b < scene.bodies.size(); ++b)
    for (PointSet* points : scene.bodies[b]->sets()) sets_.push_back({b, points});
  bins_.resize(sets_.size());
  is_binned_.assign(sets_.size(), false);
  if (!is_implicit()) return;
  settings_ = implicit_settings(scene);
  std::vector<const Bins*> first_bins;  // of each body
  for (std::size_t s = 0; s < sets_.size(); ++s) {
    const Body& body = *scene.bodies[sets_[s].body];
    if (sets_[s].points != &body) continue;
    first_bins.push_back(&bins_[s]);
    if (const auto* mesh = dynamic_cast<const TrialMesh*>(&body)) {
      terms_.push_back(std::make_unique<MeshTerm>(dynamic_cast<const MeshBody&>(body), *mesh, bins_[s], bins_[s + 1],
                                                  scene_.transfer, flows_in_loop(scene.deck.solve, *mesh),
                                                  settings_.inertia ? Vec3(Vec3::Zero()) : scene.deck.domain.gravity));
    } else {
      const auto& points = dynamic_cast<const TrialBody&>(body);
      terms_.push_back(std::make_unique<ContinuumTerm>(body, points, bins_[s], scene_.transfer,
                                                       flows_in_loop(scene.deck.solve, points)));
    }
  }
  if (!scene.handles.empty()) holds_ = std::make_unique<GridHolds>(scene, std::move(first_bins));
}

StepReport Stepper::take(Real not_beyond, bool weigh) {
  settle(false);
  if (state_.limits.empty()) {
    const auto timing = timers_.measure("size");
    find_limits(comm_, scene_, state_);
  }
  StepReport report;
  report.size = size_of_step(scene_, state_);
  Real& dt = report.size.dt;
  if (state_.recovery_dt < dt) report.size = {state_.recovery_dt, "recovery"};
  if (!(dt > scene_.deck.time.end / most_steps)) {
    suspicions_ = suspect_states(scene_);
    throw Error(
        ExitCode::numerics,
        fmt::format("step {} at t = {:.6g} s: dt = {:.3g} s, limited by {}, is too small ever to reach "
                    "time.end. Likely cause: {}, or a unit mistaken. {}",
                    state_.step + 1, state_.time, dt, report.size.limited_by,
                    report.size.limited_by == "time.max_dt"               ? "time.max_dt itself"
                    : report.size.limited_by.starts_with("speed of ")     ? "a speed far too large for domain.dx"
                    : report.size.limited_by.starts_with("viscosity of ") ? "a viscosity far too large for domain.dx"
                                                                          : "a stiffness far too large for its density",
                    accuse(comm_, suspicions_)));
  }
  const Real release = next_release(scene_, state_.time);
  const bool releases = release < (1 - same_time) * not_beyond;  // or else both are one
  if (releases) not_beyond = release;
  // The last steps to a stop are equal: a sliver would change dt more, which moves velocities against places.
  const Real left = not_beyond - state_.time, steps = std::ceil(left / ((1 + round_off) * dt));
  if (steps <= 1) report.size = {left, releases ? "release" : "output"};
  else if (steps <= last_steps && steps * dt > (1 + round_off) * left) dt = left / steps;

  if (!is_implicit() && (weigh || dt == left)) {
    const auto timing = timers_.measure("record");
    report.potential_before = totals_of(comm_, scene_).potential();
  }

  if (!is_implicit()) {
    const auto timing = timers_.measure("elements");
    for (const auto& body : scene_.bodies) body->prepare();
    handles_.load(state_.time);
    if (!scene_.handles.empty()) handles_.settle(state_.cuts, state_.time);
  }
  Impulses given{std::vector<Vec3>(scene_.walls.size()), std::vector<HandleImpulse>(scene_.handles.size())};
  for (;;) {
    Fault fault = try_step(dt, given, report);
    if (comm_.max(fault.excess) <= 1) break;
    fault = worst_of_ranks(fault);
    if (report.refused.empty()) report.refused = fault.text;
    if (report.retries == scene_.deck.time.max_retries) give_up(report, fault);
    dt /= 2;
    report.size.limited_by = "recovery";
    ++report.retries;
  }

  commit(dt);
  handles_.count_loads(dt, given.by_handles);
  count_impulses(given);
  state_.newton_steps += report.newton;
  state_.krylov_steps += report.krylov;
  state_.time = dt == left ? not_beyond : state_.time + dt;
  state_.last_dt = dt;
  ++state_.step;
  // Growth from a refused step back to what the bodies allow.
  if (report.retries > 0) state_.recovery_dt = recovery_growth * dt;
  else if (report.size.limited_by == "recovery") state_.recovery_dt *= recovery_growth;

  const auto timing = timers_.measure("edit");
  edit_points(comm_, scene_, state_);
  agree_on_limits(comm_, state_);
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b) state_.drift[b] += dt * state_.limits[b].speed;
  return report;
}

/// Scatter and advance with this dt; nothing but the grid changes.
Stepper::Fault Stepper::try_step(Real dt, Impulses& given, StepReport& report) {
  layer_.reset(map_.size());
  if (is_implicit()) handles_.load_alone(state_.time + dt);
  {
    const auto timing = timers_.measure("scatter");
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      const PointSet& set = *sets_[s].points;
      const Table& points = set.points();
      LawClock clock;
      scatter(
          scene_.transfer, bins_[s],
          {points.get<Position>(), points.get<Velocity>(), points.get<Affine>(), points.get<Mass>(),
           is_implicit() ? std::span<const Vec3>() : set.forces()},
          [&](ChunkRows rows, const ChunkForces& forces) {
            if (is_implicit()) std::fill(forces.A.begin(), forces.A.end(), Mat3::Zero());  // the solve has them
            else clock.measure(rows.size(), [&] { set.respond(rows, forces); });
          },
          dt, layer_.inertia, RowsAhead(sets_[s].points->points()));
      timers_.move(clock.seconds(), "scatter", "law");
    }
  }
  {
    const auto timing = timers_.measure("exchange");
    map_.forest().sum_to_owners(layer_.inertia.view());
  }
  const Real cfl_speed = scene_.deck.time.cfl * scene_.transfer.dx / dt;
  const Real speed_bound = cfl_slack * cfl_speed;
  std::fill(given.by_walls.begin(), given.by_walls.end(), Vec3::Zero());
  if (is_implicit()) {
    const auto timing = timers_.measure("solve");
    const ImplicitReport solved = advance_implicit(dt, given);
    given.wall_work = solved.wall_work;
    report.newton += solved.newton;
    report.krylov += solved.krylov;
    report.residuals = solved.residuals;
    if (!solved.converged) {
      layer_.velocity.reset(map_.size());  // no motion was found for which points could be blamed
      return {2, fmt::format("the implicit step was not found: {}", solved.failure)};
    }
  } else {
    const auto timing = timers_.measure("grid");
    given.wall_work = advance_explicit(
        {dt, state_.last_dt, state_.time, scene_.transfer.dx, scene_.deck.domain.gravity, scene_.light_mass, cfl_speed},
        map_, scene_.walls, layer_, given.by_walls);
    if (!scene_.handles.empty()) handles_.hold(dt, state_.time, map_, layer_, given.by_handles);
  }
  const FastestNode fastest = fastest_node(map_, scene_.transfer.dx, layer_.velocity);
  {
    const auto timing = timers_.measure("exchange");
    map_.forest().update_ghosts(layer_.velocity.view());
  }
  const auto timing = timers_.measure("accept");
  Fault fault = worst_of_points(dt);
  const Real excess = fastest.speed / speed_bound;
  // Light nodes at the edge of a body may move far in a large step without moving any point by much.
  const bool counts = !is_implicit() || !std::isfinite(fastest.speed);
  if (counts && excess > fault.excess) {
    const Vec3& x = fastest.x;
    fault = {excess,
             fmt::format("the grid node at ({:.4g}, {:.4g}, {:.4g}) m moves at {:.4g} m/s, more than {:.2g} grid "
                         "spacings in one step",
                         x.x(), x.y(), x.z(), fastest.speed, cfl_slack * scene_.deck.time.cfl),
             x};
  }
  return fault;
}

/// Adds what walls and handles gave on all ranks in a step to the state.
void Stepper::count_impulses(Impulses& given) {
  auto& [by_walls, by_handles, wall_work] = given;
  if (!by_walls.empty()) comm_.sum(std::span(by_walls.front().data(), 3 * by_walls.size()));
  static_assert(sizeof(HandleImpulse) == 7 * sizeof(Real));
  if (!by_handles.empty()) comm_.sum(std::span(by_handles.front().linear.data(), 7 * by_handles.size()));
  if (!by_walls.empty()) state_.wall_work += comm_.sum(wall_work);
  for (std::size_t w = 0; w < by_walls.size(); ++w) state_.wall_impulse[w] += by_walls[w];
  for (std::size_t h = 0; h < by_handles.size(); ++h) {
    state_.handle_impulse[h].linear += by_handles[h].linear;
    state_.handle_impulse[h].angular += by_handles[h].angular;
    state_.handle_impulse[h].work += by_handles[h].work;
  }
}

ImplicitReport Stepper::advance_implicit(Real dt, Impulses& given) {
  if (!implicit_) {
    std::vector<const Term*> terms;
    for (const auto& term : terms_) terms.push_back(term.get());
    std::vector<const Constraints*> constraints;
    if (holds_) constraints.push_back(holds_.get());
    implicit_ = std::make_unique<ImplicitGrid>(comm_, map_, std::move(terms), std::move(constraints), settings_);
  }
  // Along a mesh the grid's bound and that of the mesh by itself hold; see size_of_step.
  const Real dx = scene_.transfer.dx, per_frequency = wave_number(scene_.transfer.kernel) * dx / vibration_number;
  Real wave_speed = 0;
  for (const StepLimit& limit : state_.limits)
    wave_speed =
        std::max({wave_speed, limit.wave_speed, std::min(limit.mesh_speed, limit.vibration() * per_frequency)});
  ImplicitReport report = implicit_->advance({dt, state_.time, dx, scene_.deck.domain.gravity, wave_speed},
                                             scene_.walls, layer_, given.by_walls);
  if (holds_) {
    std::fill(given.by_handles.begin(), given.by_handles.end(), HandleImpulse{});
    holds_->add_impulses(state_.time + dt, dt, report.of_conditions, given.by_handles);
  }
  return report;
}

/// The point that the step would deform most, if it is too much.
Stepper::Fault Stepper::worst_of_points(Real dt) const {
  Fault fault;
  const Real most_strain = scene_.deck.time.max_strain;
  for (std::size_t s = 0; s < sets_.size(); ++s) {
    const Table& points = sets_[s].points->points();
    const Steepest worst =
        steepest_above(most_strain / dt, scene_.transfer, bins_[s], points.get<Position>(), layer_.velocity);
    const Real strain = dt * worst.norm, excess = strain / most_strain;
    if (excess <= fault.excess) continue;
    fault.excess = excess;
    const std::string point = point_text(*scene_.bodies[sets_[s].body], points, worst.row);
    fault.text = std::isfinite(strain)
                     ? fmt::format("{} would deform by {:.3g} in one step, more than time.max_strain = {}", point,
                                   strain, most_strain)
                     : fmt::format("the velocity gradient of {} is not a finite number", point);
  }
  return fault;
}

/// What the rank with the worst fault says, everywhere. Collective.
Stepper::Fault Stepper::worst_of_ranks(const Fault& mine) const {
  const Real worst = comm_.max(mine.excess);
  const bool is_worst = mine.excess == worst;
  const int speaker = static_cast<int>(comm_.min(Real(is_worst ? comm_.rank() : comm_.size())));
  Fault fault{worst, "", comm_.rank() == speaker ? mine.node : Vec3::Zero()};
  comm_.sum(std::span(fault.node.data(), 3));
  try {
    comm_.agree([&] {
      if (comm_.rank() == speaker) throw Error(ExitCode::numerics, mine.text);
    });
  } catch (const Error& spoken) {
    fault.text = spoken.what();
  }
  return fault;
}

/// The last try is left as it was refused, so that points can be blamed for it.
void Stepper::give_up(const StepReport& report, const Fault& fault) {
  suspicions_ = suspect_states(scene_);
  for (std::size_t s = 0; s < sets_.size(); ++s)
    suspect_motions(scene_, *sets_[s].points, bins_[s], layer_.velocity, report.size.dt, fault.node, suspicions_);
  throw Error(ExitCode::numerics,
              fmt::format("step {} at t = {:.6g} s was refused {} times, down to dt = {:.3g} s: {}. {} Usual cures: a "
                          "smaller time.cfl or time.max_dt, a softer or denser material, more particles_per_cell, a "
                          "thicker or slower collider.",
                          state_.step + 1, state_.time, report.retries + 1, report.size.dt, fault.text,
                          accuse(comm_, suspicions_)));
}

/// Gathers the accepted motion; bodies move and deform with it. What the next step is limited by is seen on the way.
void Stepper::commit(Real dt) {
  // The grid has taken what points give, and gather writes their velocities and gradients anew: the most of what they
  // carry need not be moved.
  reorder_points({Velocity::label.name, Affine::label.name});
  if (const std::size_t bytes = bytes_of_points(); bytes > bytes_when_trimmed_) {  // columns that grew have moved
    return_freed_memory();
    bytes_when_trimmed_ = bytes;
  }
  std::fill(state_.limits.begin(), state_.limits.end(), StepLimit{});
  {
    const auto timing = timers_.measure("gather");
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      PointSet& set = *sets_[s].points;
      LawClock clock;
      std::vector<StepLimit> by_thread(static_cast<std::size_t>(omp_get_max_threads()));
      state_.drift[sets_[s].body] = gather(
          scene_.transfer, bins_[s], std::as_const(set.points()).get<Position>(), layer_.velocity,
          [&](ChunkRows rows, const ChunkMotion& motion) {
            clock.measure(rows.size(), [&] {
              by_thread[static_cast<std::size_t>(omp_get_thread_num())].include(set.commit(rows, dt, motion));
            });
          },
          {set.points().get<Velocity>(), set.points().get<Affine>()}, RowsAhead(set.points()));
      timers_.move(clock.seconds(), "gather", "law");
      for (const StepLimit& limit : by_thread) state_.limits[sets_[s].body].include(limit);
    }
  }
  const auto timing = timers_.measure("elements");
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b) state_.limits[b].include(scene_.bodies[b]->finish(dt));
}

/// Finds the bins of points that may leave the tiles of theirs, or of all points, wherever they are at home; the error
/// is this rank's alone, for all to agree on. Quadrature points follow the vertices of their mesh, so meshes are binned
/// in every step.
std::optional<Error> Stepper::find_points(bool all) {
  const auto timing = timers_.measure("sort");
  const Real dx = scene_.transfer.dx, margin = drift_margin(scene_.transfer.kernel) * dx;
  try {
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      Table& points = sets_[s].points->points();
      const auto x = std::as_const(points).get<Position>();
      Real& drift = state_.drift[sets_[s].body];
      const bool is_due = !(drift <= margin);
      if (is_of_mesh(s)) {
        is_binned_[s] = false;
        bins_[s].find(dx, x);
      } else if (is_due || all || !is_binned_[s]) {
        is_binned_[s] = false;
        if (is_due) find_homes(dx, x, points.get<Home>());
        bins_[s].find(std::as_const(points).get<Home>());
        drift = is_due ? 0 : drift;
      }
    }
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// The visiting order of points whose bins were found.
void Stepper::arrange_points() {
  const auto timing = timers_.measure("sort");
  for (std::size_t s = 0; s < sets_.size(); ++s) {
    if (is_binned_[s]) continue;
    bins_[s].arrange(sets_[s].points->points().get<Id>());
    is_binned_[s] = true;
  }
}

/// Brings rows into visiting order; what stood in the columns `overwritten` is lost.
void Stepper::reorder_points(std::initializer_list<std::string_view> overwritten) {
  const auto timing = timers_.measure("sort");
  for (std::size_t s = 0; s < sets_.size(); ++s) {
    if (is_of_mesh(s) || bins_[s].disorder() <= most_disorder) continue;
    sets_[s].points->points().reorder(bins_[s].order(), overwritten);
    bins_[s].rows_were_reordered();
  }
}

void Stepper::settle(bool recut) {
  std::optional<Error> error = find_points(recut);
  if (std::find(is_binned_.begin(), is_binned_.end(), false) == is_binned_.end()) return;
  const auto agree = [&] {
    if (!comm_.any(error.has_value())) return;
    std::fill(state_.drift.begin(), state_.drift.end(), std::numeric_limits<Real>::infinity());
    suspicions_ = suspect_states(scene_);
    const std::string accused = accuse(comm_, suspicions_);
    comm_.agree([&] {
      if (error) throw Error(error->code(), fmt::format("{}. {}", error->what(), accused));
    });
  };
  if (recut) {
    agree();
    cut_anew();
    error = find_points(false);
  }
  // Mostly nobody has anything to do, and one reduction tells all.
  std::vector<Real> needs(bins_.size() + 2, 0);
  if (!error)
    for (std::size_t s = 0; s < bins_.size(); ++s)
      needs[s] = !is_of_mesh(s) && !is_binned_[s] && has_leavers(bins_[s]) ? 1 : 0;
  needs[bins_.size()] = !error && touches_other_blocks() ? 1 : 0;
  needs[bins_.size() + 1] = error ? 1 : 0;
  {
    const auto timing = timers_.measure("exchange");
    comm_.max(needs);
  }
  if (needs[bins_.size() + 1] > 0) agree();
  bool rebuild = needs[bins_.size()] > 0;
  if (std::any_of(needs.begin(), needs.begin() + static_cast<std::ptrdiff_t>(bins_.size()),
                  [](Real need) { return need > 0; })) {
    for (std::size_t s = 0; s < bins_.size(); ++s)
      if (needs[s] > 0) send_home(s);
    error = find_points(false);
    agree();
    rebuild = comm_.any(touches_other_blocks());
  }
  arrange_points();
  if (is_implicit()) reorder_points({});  // points are visited many times before they move
  if (recut) return_freed_memory();       // what moved the points is as large as they are
  const auto timing = timers_.measure("activate");
  if (rebuild) {
    implicit_.reset();
    map_ = BlockMap(comm_, state_.cuts, touched_);
    map_is_stale_ = false;
  }
  for (Bins& bins : bins_)
    if (rebuild || !bins.is_numbered()) bins.number(map_);
}

/// New cuts of the curve by the points' present blocks; meshes are cut along them.
void Stepper::cut_anew() {
  const auto timing = timers_.measure("balance");
  std::vector<BlockWork> work;
  for (const Bins& bins : bins_)
    for (const Bin& bin : bins.bins()) work.push_back({bin.key, bin.end - bin.begin});
  const Cuts cuts = balanced_cuts(comm_, work);
  map_is_stale_ = map_is_stale_ || !(cuts == state_.cuts);
  state_.cuts = cuts;
  for (const auto& body : scene_.bodies)
    body->share(comm_, [&](const Vec3& x) { return cuts.owner(home_block(scene_.transfer.dx, x)); });
}

bool Stepper::has_leavers(const Bins& bins) const {
  return std::any_of(bins.bins().begin(), bins.bins().end(),
                     [&](const Bin& bin) { return state_.cuts.owner(bin.key) != comm_.rank(); });
}

/// Ships the points of a set whose block another rank owns.
void Stepper::send_home(std::size_t set) {
  const auto timing = timers_.measure("exchange");
  Table& points = sets_[set].points->points();
  ship(comm_, points, bins_[set].leavers(state_.cuts, comm_.rank()));
}

/// Whether the map has to be made anew for what the points of this rank touch now (touched_ afterwards).
bool Stepper::touches_other_blocks() {
  const auto timing = timers_.measure("activate");
  if (std::all_of(bins_.begin(), bins_.end(), [](const Bins& b) { return b.is_numbered(); })) return map_is_stale_;
  std::vector<BlockKey> touched = touched_blocks(bins_);
  map_is_stale_ = map_is_stale_ || touched != touched_;
  touched_ = std::move(touched);
  return map_is_stale_;
}

/// By where points stand, not by their bins, which a run that was resumed has not found yet.
Real Stepper::mesh_drift() const {
  if (comm_.size() == 1) return 0;
  std::array<std::int64_t, 2> counts{0, 0};  // elsewhere, all
  for (std::size_t s = 0; s < sets_.size(); ++s)
    if (is_of_mesh(s))
      for (const Vec3& x : std::as_const(sets_[s].points->points()).get<Position>()) {
        counts[0] += state_.cuts.owner(home_block(scene_.transfer.dx, x)) == comm_.rank() ? 0 : 1;
        ++counts[1];
      }
  comm_.sum(std::span(counts));
  return counts[1] > 0 ? static_cast<Real>(counts[0]) / static_cast<Real>(counts[1]) : 0;
}

Real Stepper::imbalance() const { return weft::imbalance(comm_, scene_.points()); }

Real Stepper::balance() {
  const Real found = imbalance();
  if (found > scene_.deck.balance.threshold || mesh_drift() > most_mesh_drift) settle(true);
  return found;
}

std::size_t Stepper::bytes_of_points() const {
  std::size_t sum = 0;
  for (const Visited& set : sets_) sum += set.points->points().bytes();
  return sum;
}

std::size_t Stepper::bytes() const {
  std::size_t sum = layer_.inertia.bytes() + layer_.velocity.bytes();
  for (const Bins& bins : bins_) sum += bins.bytes();
  return sum;
}

}  // namespace weft
