#include "run/own_motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "run/stages/limits.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/coupling/own_carrier.hpp"

namespace weft {
namespace {

/// Unless the deck says how many.
constexpr int most_stable_substeps = 1000;
/// Contact sees the mass that contact points carry, and what lies behind them only in the substeps that follow [rad].
constexpr Real most_turn_between_contacts = 1.6;
/// Passes of contact leave forces of implicit bodies unbalanced by this share of the change that they make.
constexpr Real share_left_by_passes = 1e-6;
/// An explicit body is looked at this often whether it has stiffened.
constexpr int substeps_between_looks = 16;
/// Turns without inertia keep this share of it in implicit steps, since nothing else may keep a segment as it is.
constexpr Real inertia_of_balanced_turns = 1e-6;
/// Clamps and segments turn by no more in a step [rad]: of half a turn their frames would not know which way,
constexpr Real most_turn = std::numbers::pi / 2;
/// and are not carried so far.
constexpr Real farthest_turn = 2.5;

/// By sums of every eighth, which do not wait for one another.
bool are_finite(std::span<const Real> values) {
  std::array<Real, 8> sums{};
  std::size_t k = 0;
  for (; k + sums.size() <= values.size(); k += sums.size())
    for (std::size_t s = 0; s < sums.size(); ++s) sums[s] += values[k + s];
  for (std::size_t s = 0; k < values.size(); ++k, ++s) sums[s] += values[k];
  return std::ranges::all_of(sums, [](Real sum) { return std::isfinite(sum); });
}

EquilibriumSettings settings_of(const Scene& scene, MeshBody& body, const StageSettings& stage, bool touches_walls,
                                const StopQuestion& is_asked_to_stop) {
  return {.size = scene.size,
          .time_scale = scene.step.end,
          .tolerance = stage.tolerance,
          .flows = body.flows(),
          .slack = touches_walls,
          .elastic_terms = 1,
          .has_units = body.turning() != nullptr,
          .is_asked_to_stop = is_asked_to_stop};
}

}  // namespace

int most_substeps(const StageSettings& stage, bool has_contact, Real damping_ratio) {
  if (stage.substeps > 0) return stage.substeps;
  if (!has_contact) return most_stable_substeps;
  return static_cast<int>(most_turn_between_contacts / turn_of_substep(damping_ratio) * (1 + same_time));
}

DtLimit own_limit(const Scene& scene, std::size_t b, const StepLimit& now, const FastestAtRest& at_rest) {
  const std::optional<StageSettings>& stage = scene.step.stages[b];  // none of a rigid body
  const std::string& name = scene.bodies[b]->name();
  const bool touches = scene.bodies[b]->roles().contact_points != nullptr;
  const SceneLayer& layer = scene.layer_of(b);
  DtLimit limit;
  if (stage && !stage->is_implicit) {
    const bool has_contact = touches && layer.has_contact_points;
    limit = {most_substeps(*stage, has_contact, at_rest.damping_ratio) *
                 own_substep(now.vibration(), at_rest.frequency, at_rest.damping_ratio),
             "stiffness of " + name};
  }
  const bool is_implicit = scene.step.is_implicit || (stage && stage->is_implicit);
  if (const Real by_waves = wave_number(layer.transfer.kernel) * scene.dx / now.wave_speed;
      touches && !is_implicit && by_waves < limit.dt)
    limit = {by_waves, "waves in contact of " + name};
  if (const Real by_speed = scene.step.cfl * scene.dx / now.speed; touches && by_speed < limit.dt)
    limit = {by_speed, "speed of " + name};
  if (const auto& impulses = scene.step.impulses[b]; impulses && !impulses->swept)
    if (const Real by_speed = scene.step.cfl * impulses->distance / now.speed; by_speed < limit.dt)
      limit = {by_speed, "speed of " + name + " against the distance of its impulses"};
  return limit;
}

OwnMotion::Piece::Piece(const Comm& comm, const Scene& scene, std::size_t body)
    : system(scene, {body}, scene.step.gravity),
      mass([&] {
        const Table& points = std::as_const(*scene.bodies[body]).points();
        return points.get<Mass>().first(points.owned());
      }()),
      mass_of_turns([&] {
        const Table* turning = scene.bodies[body]->roles().mesh->turning();
        return turning != nullptr ? turning->get<Mass>() : std::span<const Real>();
      }()),
      turns(system.turns.front()),
      motion(system.freedoms),
      velocity(system.freedoms),
      at_rest([&] {
        const MeshBody& mesh = *scene.bodies[body]->roles().mesh;
        const auto rest = mesh.points().get<RestPosition>();
        std::array<Real, 2> most{mesh.frequency_at(rest), mesh.damping_ratio_at(rest)};
        comm.max(most);
        return FastestAtRest{most[0], most[1]};
      }()) {
  const auto& stage = scene.step.stages[body];
  if (stage && stage->is_implicit) {
    inertia.emplace_back(system.freedoms, 0, std::vector<Real>(mass.begin(), mass.end()));
    if (turns) {
      std::vector<Real> masses(mass_of_turns.begin(), mass_of_turns.end());
      if (scene.bodies[body]->roles().mesh->has_balanced_turns())
        for (Real& m : masses) m *= inertia_of_balanced_turns;
      inertia.emplace_back(system.freedoms, *turns, std::move(masses));
    }
  }
  if (!system.holds.empty())
    holds.emplace(comm, system.freedoms, std::vector<Real>(mass.begin(), mass.end()), scene.size);
  const MeshBody& mesh = *scene.bodies[body]->roles().mesh;
  if (mesh.contact_points() != nullptr)
    contact = std::make_unique<DeadLoad>(0, std::vector<Vec3>(), Amplitude{{{0, 1}}});
  if (mesh.is_viscous())
    damping = std::make_unique<MeshTerm>(mesh, std::make_unique<OwnCarrier>(system.freedoms, 0, turns),
                                         Parts{.elastic = false, .contact = false, .viscous = true}, Vec3::Zero());
}

OwnMotion::OwnMotion(const Comm& comm, const Scene& scene, const RunState& state, std::size_t body,
                     const StopQuestion& is_asked_to_stop)
    : BodyMotion(comm, scene, state, body), stage_(*scene.step.stages[body]), is_asked_to_stop_(is_asked_to_stop) {}

std::span<const Vec3> OwnMotion::positions() const {
  return std::as_const(*scene_.bodies[body_]).points().get<Position>();
}

/// From the committed state, with the forces of contact on vertices [N].
void OwnMotion::begin(std::vector<Vec3> forces) {
  if (!piece_) piece_.emplace(comm_, scene_, body_);
  Piece& own = *piece_;
  MeshBody& body = mesh();
  if (own.contact) own.contact->set_forces(std::move(forces));
  if (is_implicit() && passes() == 0) begin_balance();
  const auto v = std::as_const(body).points().get<Velocity>();
  std::copy(v.begin(), v.end(), own.velocity.points(0).begin());
  if (own.turns) std::ranges::copy(body.turning()->get<TurnVelocity>(), own.velocity.block(*own.turns).begin());
  if (!starts_from_last_pass()) own.motion.u.set_zero();
}

/// Reactions and factors of earlier steps are no state, and a resumed run knows nothing of them. Where walls are near,
/// so is the layout of the matrix.
void OwnMotion::begin_balance() {
  Piece& own = *piece_;
  if (own.equilibrium && !own.walls && !walls().any()) return own.equilibrium->forget();
  std::vector<const Term*> terms = own.system.all_terms();
  for (const Inertia& of_block : own.inertia) terms.push_back(&of_block);
  if (own.damping) terms.push_back(own.damping.get());
  if (own.contact) terms.push_back(own.contact.get());
  own.walls.reset();
  if (walls().any()) {
    const bool has_friction = std::ranges::any_of(scene_.walls, [](const Wall& wall) { return wall.friction > 0; });
    own.walls = std::make_unique<WallTerm>(walls(), has_friction, false);
    terms.push_back(own.walls.get());
  }
  own.equilibrium =
      std::make_unique<Equilibrium>(comm_, own.system.freedoms, std::move(terms), own.system.all_holds(),
                                    settings_of(scene_, mesh(), stage_, walls().any(), is_asked_to_stop_));
}

DtLimit OwnMotion::dt_limit() {
  if (!piece_) piece_.emplace(comm_, scene_, body_);
  Motion& start = piece_->motion;
  start.u.set_zero();
  start.time = state_.time;
  now_ = state_.limits[body_];
  if (!is_implicit()) now_.frequency = with_clamps(now_.frequency, start);
  DtLimit limit = own_limit(scene_, body_, now_, at_rest(now_));
  Real spin = 0;
  for (const OwnSystem::Action& action : piece_->system.of_handle)
    if (action.clamp != nullptr) spin = std::max(spin, action.clamp->most_spin(state_.time, state_.time + limit.dt));
  if (const Real by_turns = most_turn / spin; by_turns < limit.dt) limit = {by_turns, "turning clamps of " + name()};
  const Real turning = comm_.max(mesh().fastest_turn(std::as_const(mesh()).points().get<Velocity>()));
  if (const Real by_turns = most_turn / turning; by_turns < limit.dt)
    limit = {by_turns, "turning segments of " + name()};
  return limit;
}

Real OwnMotion::with_clamps(Real frequency, const Motion& at) const {
  const Piece& own = *piece_;
  const auto clamps = [](const OwnSystem::Action& action) { return action.clamp != nullptr; };
  if (std::ranges::none_of(own.system.of_handle, clamps)) return frequency;
  Load sums(own.system.freedoms);
  for (const OwnSystem::Action& action : own.system.of_handle)
    if (clamps(action)) action.clamp->add_row_sums(at, sums);
  Real square = 0;
  const auto of_vertices = sums.points(0);
  for (std::size_t r = 0; r < own.mass.size(); ++r) square = std::max(square, of_vertices[r][0] / own.mass[r]);
  const auto of_turns = own.turns ? sums.block(*own.turns) : std::span<Real>();
  for (std::size_t r = 0; r < of_turns.size(); ++r) square = std::max(square, of_turns[r] / own.mass_of_turns[r]);
  return mesh().stiffened(frequency, comm_.max(square));
}

int OwnMotion::substeps(Real dt) const {
  if (stage_.substeps > 0) return stage_.substeps;
  if (is_implicit()) return 1;
  const auto [frequency, damping_ratio] = at_rest(now_);
  const Real longest = own_substep(now_.vibration(), frequency, damping_ratio);
  const Real needed = std::ceil(dt / longest * (1 - same_time));
  return static_cast<int>(std::clamp<Real>(needed, 1, most_stable_substeps));
}

FastestAtRest OwnMotion::at_rest(const StepLimit& now) const {
  const auto& [frequency, damping_ratio] = piece_->at_rest;
  return {std::hypot(frequency, now.bending), damping_ratio};
}

Refusal OwnMotion::predict(Real dt) {
  begin(remembered_forces(is_implicit() ? dt : dt / substeps(dt)));
  if (Refusal refusal = move(dt, starts_from_last_pass()); refusal.excess > 1) return refusal;
  if (piece_->contact && has_surface()) mesh().predict_contact_points(piece_->velocity.points(0));
  else if (piece_->contact) predict_vertices(dt);
  if (!are_finite(piece_->velocity.all()))
    return {2, fmt::format("a velocity of body {} is not a finite number", name())};
  return {};
}

/// Over dt, in substeps.
Refusal OwnMotion::move(Real dt, bool nearly) {
  Piece& own = *piece_;
  const int n = substeps(dt);
  for (int k = 0; k < n; ++k) {
    const Real end = state_.time + dt * (k + 1) / n;
    if (k > 0 && !is_implicit() && walls().any()) own.contact->set_forces(go_on(moved_in_substep()));
    if (k == 0) own.before_last.reset();
    else own.before_last = own.motion.u;
    if (!is_implicit()) {
      step_explicitly(dt / n, end);
      if (own.contact && walls().any()) let_walls_act(dt / n, end);
    } else if (const EquilibriumReport found = step_implicitly(dt / n, end, nearly); !found.converged) {
      return {2, fmt::format("the implicit step of body {} was not found: {}", name(), found.failure)};
    }
    // A single substep has the forces of where the step began, whose bound is its limit.
    const bool is_time_to_look = (k + 1) % substeps_between_looks == 0 || (k + 1 == n && n > 1);
    if (is_implicit() || is_time_to_look)
      if (Refusal refusal = look(dt / n); refusal.excess > 1) return refusal;
  }
  return {};
}

std::vector<Vec3> OwnMotion::places(const FreedomValues& u) const {
  std::vector<Vec3> x(positions().begin(), positions().end());
  for (std::size_t r = 0; r < x.size(); ++r) x[r] += u.points(0)[r];
  return x;
}

Refusal OwnMotion::look(Real h) const {
  const Motion& at = piece_->motion;
  const std::vector<Vec3> x = places(at.u);
  std::array<Real, 2> most{is_implicit() ? 0 : mesh().frequency_at(x), mesh().largest_turn(x)};
  comm_.max(most);
  if (!is_implicit() && !(h * with_clamps(most[0], at) <= vibration_number))
    return {2, fmt::format("body {} has become too stiff for its substeps", name())};
  if (most[1] > farthest_turn) return {2, fmt::format("a segment of body {} has turned by half a turn", name())};
  return {};
}

void OwnMotion::begin_substep(Real h, const Motion& start) {
  if (!piece_->damping) return;
  const auto turns = piece_->turns ? start.u.block(*piece_->turns) : std::span<const Real>();
  mesh().begin_substep(h, {places(start.u), {}, turns});
  for (const OwnSystem::Action& action : piece_->system.of_handle)
    if (action.clamp != nullptr) action.clamp->begin_substep(h, start);
}

/// Turns without inertia come to be where they stay in a substep.
void OwnMotion::balance_turns() {
  Motion& motion = piece_->motion;
  std::vector<TurnLink> clamps;
  for (const OwnSystem::Action& action : piece_->system.of_handle)
    if (action.clamp != nullptr) action.clamp->add_turned_joints(motion, clamps);
  mesh().balance_turns(places(motion.u), clamps, motion.u.block(*piece_->turns));
}

/// Explicit damping goes by the change that the velocities before would have brought.
void OwnMotion::step_explicitly(Real h, Real end) {
  Piece& own = *piece_;
  Motion& motion = own.motion;
  motion.time = end - h;
  motion.load_span = h;
  Load force(own.system.freedoms);
  if (own.damping) {
    Motion before = motion;
    for (std::size_t k = 0; k < before.u.all().size(); ++k) before.u.all()[k] -= h * own.velocity.all()[k];
    before.time -= h;
    begin_substep(h, before);
  }
  if (has_balanced_turns()) balance_turns();
  if (own.damping) own.damping->add_force(motion, force);
  for (const auto& term : own.system.terms) term->add_force(motion, force);
  if (own.contact) own.contact->add_force(motion, force);
  force.sum_to_owners();
  std::optional<FreedomValues> mean;  // velocities before and after, for the work of handles
  if (has_handles()) mean = own.velocity;
  const auto v = own.velocity.points(0), f = force.points(0);
  for (std::size_t r = 0; r < own.mass.size(); ++r) v[r] += h / own.mass[r] * f[r];
  if (own.turns && !has_balanced_turns()) {
    const auto turning = own.velocity.block(*own.turns), moments = force.block(*own.turns);
    for (std::size_t r = 0; r < own.mass_of_turns.size(); ++r) turning[r] += h / own.mass_of_turns[r] * moments[r];
  }
  std::vector<Real> by_holds = meet_holds(h, end, v);
  if (mesh().damping() > 0) {  // of motion that holds allow: without them what they bear would be motion
    damp(h);
    const std::vector<Real> after = meet_holds(h, end, v);
    for (std::size_t c = 0; c < after.size(); ++c) by_holds[c] += after[c];
  }
  own.velocity.update_ghosts();

  const auto u = motion.u.all(), velocities = own.velocity.all();
  if (mean) {
    const auto means = mean->all();
    for (std::size_t k = 0; k < means.size(); ++k) means[k] = (means[k] + velocities[k]) / 2;
    count_loads(h, *mean);
    count_holds(by_holds, end, mean->points(0));
  }
  for (std::size_t k = 0; k < u.size(); ++k) u[k] += h * velocities[k];
}

void OwnMotion::damp(Real h) {
  Piece& own = *piece_;
  own.velocity.update_ghosts();
  const auto v = own.velocity.points(0);
  Load loss(own.system.freedoms);
  mesh().add_loss_within(places(own.motion.u), v, loss.points(0));
  loss.sum_to_owners();
  const Real share = -std::expm1(-mesh().damping() * h);
  for (std::size_t r = 0; r < own.mass.size(); ++r) v[r] += share / own.mass[r] * loss.points(0)[r];
}

EquilibriumReport OwnMotion::step_implicitly(Real h, Real end, bool nearly) {
  Piece& own = *piece_;
  Motion& motion = own.motion;
  Motion start(own.system.freedoms);
  if (!starts_from_last_pass()) start.u = motion.u;
  start.time = motion.time = end - h;
  motion.load_span = -h;
  begin_substep(h, start);
  FreedomValues free = start.u;
  for (std::size_t k = 0; k < free.all().size(); ++k) free.all()[k] += h * own.velocity.all()[k];
  own.inertia.front().begin(h, std::as_const(free).block(0));
  if (own.turns) own.inertia.back().begin(h, std::as_const(free).block(*own.turns));
  if (!starts_from_last_pass()) motion.u = free;
  walls().begin(end - state_.time);
  EquilibriumReport found =
      own.equilibrium->by_chords(motion, end, !starts_from_last_pass(), nearly ? share_left_by_passes : 0);
  if (!found.converged) found = own.equilibrium->at_time(motion, end);
  if (!found.converged) return found;
  if (own.walls) given_.contact_energy = walls().count(motion.u.block(0).data(), 1, h, false, given_.by_walls);
  const auto u = motion.u.all(), v = own.velocity.all();
  for (std::size_t k = 0; k < u.size(); ++k) v[k] = (u[k] - start.u.all()[k]) / h;
  start.time = end;
  start.load_span = -h;
  count_loads(h, own.velocity, &start);
  if (has_balanced_turns()) std::ranges::fill(own.velocity.block(*own.turns), 0);
  std::vector<Real> impulses;
  for (std::size_t k = 0; k < own.system.holds.size(); ++k)
    if (own.system.holds[k].conditions->holds_to(end))
      for (const Real force : own.equilibrium->constraint_forces(k)) impulses.push_back(h * force);
  count_holds(impulses, end, own.velocity.points(0));
  return found;
}

Vec3 OwnMotion::fall(Real dt) const { return dt * scene_.step.gravity; }

std::span<const Vec3> OwnMotion::displacements() const { return std::as_const(piece_->motion.u).points(0); }

void OwnMotion::commit(Given& given) {
  take_over();
  MeshBody& body = mesh();
  const auto x = body.points().get<Position>(), v = body.points().get<Velocity>();
  const auto u = piece_->motion.u.points(0), to = piece_->velocity.points(0);
  for (std::size_t r = 0; r < x.size(); ++r) {
    x[r] += u[r];
    v[r] = to[r];
  }
  const auto turns = piece_->turns ? piece_->motion.u.block(*piece_->turns) : std::span<Real>();
  if (piece_->turns)
    std::ranges::copy(piece_->velocity.block(*piece_->turns), body.turning()->get<TurnVelocity>().begin());
  keep_contact(turns, given);
  if (is_implicit() && has_surface()) body.scale_contact_points(1);
}

Real OwnMotion::energy_of_clamps() const {
  if (!piece_) return 0;
  Motion at(piece_->system.freedoms);
  at.time = state_.time;
  return energy_of_clamps(at);
}

Real OwnMotion::potential_gained_before_last() {
  Piece& own = *piece_;
  const auto potential = [&](const Motion& at) {
    Real sum = energy_of_clamps(at);
    for (std::size_t k = 0; k < own.system.potentials; ++k) sum += own.system.terms[k]->energy(at);
    return sum;
  };
  if (!is_implicit() && !own.before_last) return 0;
  Motion at(own.system.freedoms);
  at.time = state_.time;
  const Real before = potential(at);
  at.time = own.motion.time;
  FreedomValues& last = is_implicit() ? own.motion.u : *own.before_last;
  std::swap(at.u, last);
  const Real after = potential(at);
  std::swap(at.u, last);
  return comm_.sum(after - before);
}

}  // namespace weft
