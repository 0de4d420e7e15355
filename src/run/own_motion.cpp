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
/// Contact sees the mass that contact points carry, and what lies behind them only in the substeps that follow. What
/// the grid gives once in a step feeds modes that swing by half a turn in it; they turn by 0.4 in a substep.
constexpr int most_substeps_between_contacts = 4;
/// Passes of contact leave forces of implicit bodies unbalanced by this share of the change that they make.
constexpr Real share_left_by_passes = 1e-6;
/// An explicit body is looked at this often whether it has stiffened.
constexpr int substeps_between_looks = 16;
/// Freedoms of an implicit body for which each rank factors the matrix by itself.
constexpr std::int64_t most_factored_alone = 100000;
/// Clamps turn by no more in a step [rad]: of half a turn more their segments would not know which way.
constexpr Real most_turn = std::numbers::pi / 2;

/// By sums of every eighth, which do not wait for one another.
bool are_finite(std::span<const Real> values) {
  std::array<Real, 8> sums{};
  std::size_t k = 0;
  for (; k + sums.size() <= values.size(); k += sums.size())
    for (std::size_t s = 0; s < sums.size(); ++s) sums[s] += values[k + s];
  for (std::size_t s = 0; k < values.size(); ++k, ++s) sums[s] += values[k];
  return std::ranges::all_of(sums, [](Real sum) { return std::isfinite(sum); });
}

EquilibriumSettings settings_of(const Scene& scene, const MeshBody& body, const StageSettings& stage,
                                bool touches_walls, bool is_small, const StopQuestion& is_asked_to_stop) {
  return {.size = scene.size,
          .time_scale = scene.step.end,
          .tolerance = stage.tolerance,
          .flows = body.flows(),
          .slack = touches_walls,
          .elastic_terms = 1,
          .repeats_bits = is_small,
          .is_asked_to_stop = is_asked_to_stop};
}

}  // namespace

int most_substeps(const StageSettings& stage, bool has_contact) {
  if (stage.substeps > 0) return stage.substeps;
  return has_contact ? most_substeps_between_contacts : most_stable_substeps;
}

DtLimit own_limit(const Scene& scene, std::size_t b, const StepLimit& now, Real frequency_at_rest) {
  const std::optional<StageSettings>& stage = scene.step.stages[b];  // none of a rigid body
  const std::string& name = scene.bodies[b]->name();
  const bool touches = scene.bodies[b]->roles().contact_points != nullptr;
  const SceneLayer& layer = scene.layer_of(b);
  DtLimit limit;
  if (stage && !stage->is_implicit)
    limit = {most_substeps(*stage, touches && (layer.has_contact_points || scene.step.is_stressed_by_grid[b])) *
                 own_substep(now.vibration(), frequency_at_rest),
             "stiffness of " + name};
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

OwnMotion::Parts::Parts(const Comm& comm, const Scene& scene, std::size_t body)
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
      is_small(comm.sum(static_cast<std::int64_t>(3 * mass.size() + mass_of_turns.size())) <= most_factored_alone),
      frequency_at_rest([&] {
        const MeshBody& mesh = *scene.bodies[body]->roles().mesh;
        return comm.max(mesh.frequency_at(mesh.points().get<RestPosition>()));
      }()) {
  const auto& stage = scene.step.stages[body];
  if (stage && stage->is_implicit) {
    inertia.emplace_back(system.freedoms, 0, std::vector<Real>(mass.begin(), mass.end()));
    if (turns)
      inertia.emplace_back(system.freedoms, *turns, std::vector<Real>(mass_of_turns.begin(), mass_of_turns.end()));
  }
  if (!system.holds.empty())
    holds.emplace(comm, system.freedoms, std::vector<Real>(mass.begin(), mass.end()), scene.size);
  const MeshBody& mesh = *scene.bodies[body]->roles().mesh;
  if (mesh.contact_points() != nullptr)
    contact = std::make_unique<DeadLoad>(0, std::vector<Vec3>(), Amplitude{{{0, 1}}});
  if (mesh.is_viscous())
    damping =
        std::make_unique<MeshTerm>(mesh, std::make_unique<OwnCarrier>(system.freedoms, 0, turns),
                                   weft::Parts{.elastic = false, .contact = false, .viscous = true}, Vec3::Zero());
}

OwnMotion::OwnMotion(const Comm& comm, const Scene& scene, const RunState& state, std::size_t body,
                     const StopQuestion& is_asked_to_stop)
    : BodyMotion(comm, scene, state, body), stage_(*scene.step.stages[body]), is_asked_to_stop_(is_asked_to_stop) {}

std::span<const Vec3> OwnMotion::positions() const {
  return std::as_const(*scene_.bodies[body_]).points().get<Position>();
}

/// From the committed state, with the forces of contact on vertices [N].
void OwnMotion::begin(std::vector<Vec3> forces) {
  if (!parts_) parts_.emplace(comm_, scene_, body_);
  Parts& own = *parts_;
  MeshBody& body = mesh();
  if (own.contact) own.contact->set_forces(std::move(forces));
  if (is_implicit() && passes() == 0) {
    // Anew in each step: reactions and factors of earlier ones are no state, and a resumed run knows nothing of them.
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
    own.equilibrium = std::make_unique<Equilibrium>(
        comm_, own.system.freedoms, std::move(terms), own.system.all_holds(),
        settings_of(scene_, body, stage_, walls().any(), own.is_small, is_asked_to_stop_));
  }
  const auto v = std::as_const(body).points().get<Velocity>();
  std::copy(v.begin(), v.end(), own.velocity.points(0).begin());
  if (own.turns) std::ranges::copy(body.turning()->get<TurnVelocity>(), own.velocity.block(*own.turns).begin());
  if (!starts_from_last_pass()) own.motion.u.set_zero();
}

DtLimit OwnMotion::dt_limit() {
  if (!parts_) parts_.emplace(comm_, scene_, body_);
  Motion& start = parts_->motion;
  start.u.set_zero();
  start.time = state_.time;
  now_ = state_.limits[body_];
  if (!is_implicit()) now_.frequency = with_clamps(now_.frequency, start);
  DtLimit limit = own_limit(scene_, body_, now_, frequency_at_rest(now_));
  Real spin = 0;
  for (const OwnSystem::Action& action : parts_->system.of_handle)
    if (action.clamp != nullptr) spin = std::max(spin, action.clamp->most_spin(state_.time, state_.time + limit.dt));
  if (const Real by_turns = most_turn / spin; by_turns < limit.dt) limit = {by_turns, "turning clamps of " + name()};
  return limit;
}

Real OwnMotion::with_clamps(Real frequency, const Motion& at) const {
  const Parts& own = *parts_;
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
  const Real needed = std::ceil(dt / own_substep(now_.vibration(), frequency_at_rest(now_)) * (1 - same_time));
  return static_cast<int>(std::clamp<Real>(needed, 1, most_stable_substeps));
}

/// Where the elements do not know it, a power of three below the present one.
Real OwnMotion::frequency_at_rest(const StepLimit& now) const {
  if (parts_->frequency_at_rest > 0) return std::hypot(parts_->frequency_at_rest, now.bending);
  return std::pow(3, std::floor(std::log(now.vibration()) / std::log(3.0)));
}

Refusal OwnMotion::predict(Real dt) {
  begin(remembered_forces(is_implicit() ? dt : dt / substeps(dt)));
  if (Refusal refusal = move(dt, starts_from_last_pass()); refusal.excess > 1) return refusal;
  if (parts_->contact && has_surface()) mesh().predict_contact_points(parts_->velocity.points(0));
  else if (parts_->contact) predict_vertices(dt);
  if (!are_finite(parts_->velocity.all()))
    return {2, fmt::format("a velocity of body {} is not a finite number", name())};
  return {};
}

/// The masses of contact points grow to what the body sets against a change of their forces:
///   s = dt sum df_q . dL_q / m_q / sum dL_q . dv_q                                                           (16.8)
/// the smallest of the passes so far, so that none overshoots.
void OwnMotion::weigh_contact_points(Real dt, int passes) {
  if (!is_implicit()) return;
  Parts& own = *parts_;
  mesh().scale_contact_points(1);
  const Table& points = std::as_const(*mesh().contact_points()).points();
  const auto mass = points.get<Mass>();
  const auto v = points.get<TentativeVelocity>(), forces = contact_forces(), loads = contact_loads();
  std::array<Real, 2> sums{0, 0};
  for (std::size_t q = 0; passes > 0 && q < mass.size(); ++q) {
    const Vec3 more = loads[q] - own.loads[q];
    if (mass[q] > 0) sums[0] += dt * (forces[q] - own.forces[q]).dot(more) / mass[q];
    sums[1] += more.dot(v[q] - own.tentative[q]);
  }
  own.forces.assign(forces.begin(), forces.end());
  own.loads.assign(loads.begin(), loads.end());
  own.tentative.assign(v.begin(), v.end());
  comm_.sum(std::span(sums));
  const bool is_known = sums[0] > 0 && sums[1] > 0;
  if (passes == 0) own.scale = 1;
  else if (is_known && (own.scale == 1 || sums[0] < own.scale * sums[1]))
    own.scale = std::max(Real(1), sums[0] / sums[1]);
  mesh().scale_contact_points(own.scale);
}

/// Over dt, in substeps.
Refusal OwnMotion::move(Real dt, bool nearly) {
  Parts& own = *parts_;
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
    if (!is_implicit() && is_time_to_look && !is_stable(dt / n))
      return {2, fmt::format("body {} has become too stiff for its substeps", name())};
  }
  return {};
}

bool OwnMotion::is_stable(Real h) const {
  const std::span<const Vec3> at = positions(), u = parts_->motion.u.points(0);
  std::vector<Vec3> x(at.size());
  for (std::size_t r = 0; r < x.size(); ++r) x[r] = at[r] + u[r];
  return h * with_clamps(comm_.max(mesh().frequency_at(x)), parts_->motion) <= vibration_number;
}

void OwnMotion::begin_substep(Real h, const Motion& start) {
  if (!parts_->damping) return;
  const std::span<const Vec3> at = positions(), u = start.u.points(0);
  std::vector<Vec3> x(at.size());
  for (std::size_t r = 0; r < x.size(); ++r) x[r] = at[r] + u[r];
  const auto turns = parts_->turns ? start.u.block(*parts_->turns) : std::span<const Real>();
  mesh().begin_substep(h, {x, {}, turns});
  for (const OwnSystem::Action& action : parts_->system.of_handle)
    if (action.clamp != nullptr) action.clamp->begin_substep(h, start);
}

/// Explicit damping goes by the change that the velocities before would have brought.
void OwnMotion::step_explicitly(Real h, Real end) {
  Parts& own = *parts_;
  Motion& motion = own.motion;
  motion.time = end - h;
  Load force(own.system.freedoms);
  if (own.damping) {
    Motion before = motion;
    for (std::size_t k = 0; k < before.u.all().size(); ++k) before.u.all()[k] -= h * own.velocity.all()[k];
    before.time -= h;
    begin_substep(h, before);
    own.damping->add_force(motion, force);
  }
  for (const auto& term : own.system.terms) term->add_force(motion, force);
  if (own.contact) own.contact->add_force(motion, force);
  force.sum_to_owners();
  std::optional<FreedomValues> mean;  // velocities before and after, for the work of handles
  if (has_handles()) mean = own.velocity;
  const auto v = own.velocity.points(0), f = force.points(0);
  for (std::size_t r = 0; r < own.mass.size(); ++r) v[r] += h / own.mass[r] * f[r];
  if (own.turns) {
    const auto turning = own.velocity.block(*own.turns), moments = force.block(*own.turns);
    for (std::size_t r = 0; r < own.mass_of_turns.size(); ++r) turning[r] += h / own.mass_of_turns[r] * moments[r];
  }
  if (mesh().damping() > 0) damp(h);
  const std::vector<Real> by_holds = meet_holds(h, end, v);
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

bool OwnMotion::has_handles() const {
  return std::ranges::any_of(parts_->system.of_handle, [](const OwnSystem::Action& action) {
    return action.hold != nullptr || action.load != nullptr || action.clamp != nullptr;
  });
}

/// Changes velocities of owned vertices, or changes of these, so that what is held is at `end`, h after where it is.
std::vector<Real> OwnMotion::meet_holds(Real h, Real end, std::span<Vec3> v) {
  if (parts_->system.holds.empty()) return {};
  return parts_->holds->meet(rows_of_holds(end), h, parts_->motion.u.points(0), v);
}

void OwnMotion::damp(Real h) {
  Parts& own = *parts_;
  own.velocity.update_ghosts();
  const std::span<const Vec3> at = positions(), u = own.motion.u.points(0);
  std::vector<Vec3> x(at.begin(), at.end());
  for (std::size_t r = 0; r < x.size(); ++r) x[r] += u[r];
  const auto v = own.velocity.points(0);
  Load loss(own.system.freedoms);
  mesh().add_loss_within(x, v, loss.points(0));
  loss.sum_to_owners();
  const Real share = -std::expm1(-mesh().damping() * h);
  for (std::size_t r = 0; r < own.mass.size(); ++r) v[r] += share / own.mass[r] * loss.points(0)[r];
}

EquilibriumReport OwnMotion::step_implicitly(Real h, Real end, bool nearly) {
  Parts& own = *parts_;
  Motion& motion = own.motion;
  Motion start(own.system.freedoms);
  if (!starts_from_last_pass()) start.u = motion.u;
  start.time = motion.time = end - h;
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
  count_loads(h, own.velocity);
  for (std::size_t i = 0; i < scene_.handles.size(); ++i) {
    const OwnSystem::Action& action = own.system.of_handle[i];
    if (action.hold == nullptr || !action.hold->holds_to(end)) continue;
    std::vector<Real> impulses = own.equilibrium->constraint_forces(action.number);
    for (Real& impulse : impulses) impulse *= h;
    count_hold(i, impulses, end, own.velocity.points(0));
  }
  return found;
}

void OwnMotion::count_loads(Real h, const FreedomValues& mean_velocity) {
  Parts& own = *parts_;
  const auto x = positions();
  for (std::size_t i = 0; i < scene_.handles.size(); ++i) {
    const OwnSystem::Action& action = own.system.of_handle[i];
    if (action.load == nullptr && action.clamp == nullptr) continue;
    Load force(own.system.freedoms);
    if (action.load != nullptr) {
      action.load->add_force(own.motion, force);
      for (std::size_t r = 0; r < x.size(); ++r) {
        const Vec3 impulse = h * force.points(0)[r], now = x[r] + own.motion.u.points(0)[r];
        given_.by_handles[i].add(impulse, now, mean_velocity.points(0)[r]);
      }
    }
    if (action.clamp != nullptr) {
      action.clamp->add_force(own.motion, force);
      given_.by_handles[i].angular += h * action.clamp->reaction(own.motion).torque;
      for (std::size_t k = 0; k < force.all().size(); ++k)
        given_.by_handles[i].work += h * force.all()[k] * mean_velocity.all()[k];
    }
  }
}

/// impulses: along the conditions of all holds, in their order.
void OwnMotion::count_holds(std::span<const Real> impulses, Real end, std::span<const Vec3> mean_velocity) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < scene_.handles.size(); ++i)
    if (const Handle* hold = parts_->system.of_handle[i].hold; hold != nullptr && hold->holds_to(end)) {
      count_hold(i, impulses.subspan(first, hold->conditions()), end, mean_velocity);
      first += hold->conditions();
    }
}

void OwnMotion::count_hold(std::size_t handle, std::span<const Real> impulses, Real end,
                           std::span<const Vec3> mean_velocity) {
  parts_->motion.time = end;
  given_.by_handles[handle] +=
      given_by(*parts_->system.of_handle[handle].hold, impulses, parts_->motion, mean_velocity);
}

Vec3 OwnMotion::fall(Real dt) const { return dt * scene_.step.gravity; }

void OwnMotion::predict_vertices(Real dt) {
  const auto v = std::as_const(parts_->velocity).points(0);
  const auto to = mesh().contact_points()->points().get<Velocity>();
  const Vec3 fall = this->fall(dt);
  for (std::size_t r = 0; r < to.size(); ++r) to[r] = v[r] - fall;
}

std::span<const Vec3> OwnMotion::displacements() const { return std::as_const(parts_->motion.u).points(0); }

/// The motion since the last substep began [m].
std::vector<Vec3> OwnMotion::moved_in_substep() const {
  const auto u = std::as_const(parts_->motion.u).points(0);
  std::vector<Vec3> moved(u.begin(), u.end());
  if (!parts_->before_last) return moved;
  const auto before = std::as_const(*parts_->before_last).points(0);
  for (std::size_t r = 0; r < u.size(); ++r) moved[r] -= before[r];
  return moved;
}

/// At the end of a substep of h.
void OwnMotion::let_walls_act(Real h, Real end) {
  Parts& own = *parts_;
  std::vector<Vec3> mean = moved_in_substep();
  for (Vec3& v : mean) v /= h;
  meet_walls(own.mass, std::min(state_.last_dt, h), mean);
  push(h, end, summed(news_of_walls(h)).points(0).first(own.mass.size()));
}

void OwnMotion::begin_blend(Real dt) {
  WEFT_ENSURE(mesh().contact_points_are_vertices() && mesh().forest().ghosts() == 0);
  Parts& own = *parts_;
  if (!acts_at_once()) {
    received_.resize(own.system.freedoms.rows(0));
    own.blended.resize(received_.size());
  }
  own.blend = {dt, scene_.step.blends[body_]->share(dt), fall(dt)};
}

/// Whether vertices take what they receive as they do.
bool OwnMotion::acts_at_once() const { return parts_->system.holds.empty() && !scene_.step.has_impulses(body_); }

/// Of vertices, changes of velocities stand for impulses.
void OwnMotion::receive_blended(ChunkRows rows, std::span<const Vec3> change, std::span<const Vec3> at_nodes) {
  Parts& own = *parts_;
  const auto& [dt, share, fall] = own.blend;
  const bool at_once = acts_at_once();
  const auto u = own.motion.u.points(0), v = own.velocity.points(0);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::uint32_t r = rows[k];
    const Vec3 received = change[k] - fall, blended = share * (at_nodes[k] - v[r] - received);
    if (at_once) {
      u[r] += dt * received;
      v[r] += received + blended;
    } else {
      received_[r] = received;
      own.blended[r] = blended;
    }
  }
}

void OwnMotion::correct(Real dt) {
  Parts& own = *parts_;
  if (!own.contact) return;
  if (is_implicit() && has_surface()) return answer(dt);
  if (has_surface()) return push(dt, summed(received_).points(0).first(own.mass.size()));
  if (acts_at_once()) return;
  const auto u = own.motion.u.points(0), v = own.velocity.points(0);
  hold(dt, state_.time + dt, received_);
  for (std::size_t r = 0; r < v.size(); ++r) {
    u[r] += dt * received_[r];
    v[r] += received_[r];
  }
}

/// Once impulses have acted on the velocities that move vertices.
void OwnMotion::take_over() {
  Parts& own = *parts_;
  if (!own.contact || has_surface() || acts_at_once()) return;
  hold(own.blend.dt, state_.time + own.blend.dt, own.blended);
  const auto v = own.velocity.points(0);
  for (std::size_t r = 0; r < v.size(); ++r) v[r] += own.blended[r];
}

/// Changes of the velocities of vertices become those that what is held allows.
void OwnMotion::hold(Real dt, Real end, std::span<Vec3> dv) { count_change(meet_holds(dt, end, dv), end, dv); }

/// An implicit body answers to what contact gave as a whole. If no motion is found, its skin does.
void OwnMotion::answer(Real dt) {
  const FreedomValues u = parts_->motion.u, v = parts_->velocity;
  const Given given = given_;
  std::vector<Vec3> forces = remembered_forces(dt);
  for (std::size_t r = 0; r < forces.size(); ++r) forces[r] += received_[r] / dt;
  begin(std::move(forces));
  if (move(dt).excess <= 1) return;
  parts_->motion.u = u;
  parts_->velocity = v;
  given_ = given;
  push(dt, summed(received_).points(0).first(parts_->mass.size()));
}

/// What ranks have of values of vertices, in one for the owner.
FreedomValues OwnMotion::summed(std::span<const Vec3> parts) const {
  FreedomValues sum(parts_->system.freedoms);
  std::ranges::copy(parts, sum.points(0).begin());
  sum.sum_to_owners();
  return sum;
}

ConstraintRows OwnMotion::rows_of_holds(Real end) const {
  ConstraintRows rows;
  for (const Constraints* hold : parts_->system.all_holds()) hold->append(end, rows);
  return rows;
}

/// A vertex is held that three conditions are of alone.
std::vector<bool> OwnMotion::held(Real end) const {
  const ConstraintRows rows = rows_of_holds(end);
  std::vector<int> conditions(parts_->mass.size(), 0);
  for (std::size_t c = 0; c < rows.count(); ++c) {
    const auto first = rows.freedom.begin() + static_cast<std::ptrdiff_t>(rows.begin[c]);
    const auto last = rows.freedom.begin() + static_cast<std::ptrdiff_t>(rows.begin[c + 1]);
    const auto vertex = static_cast<std::size_t>(*first / 3);
    if (vertex < conditions.size() && std::all_of(first, last, [&](std::int32_t f) { return f / 3 == *first / 3; }))
      ++conditions[vertex];
  }
  std::vector<bool> held;
  for (const int count : conditions) held.push_back(count >= 3);
  return held;
}

/// Contact points of vertices that are held: the others would have to make up for what these do in a wall.
std::function<bool(std::uint32_t)> OwnMotion::led_points() const {
  if (!parts_ || std::ranges::none_of(parts_->system.of_handle, [&](const OwnSystem::Action& action) {
        return action.hold != nullptr && action.hold->holds_to(state_.time);
      }))
    return {};
  const std::vector<bool> owned = held(state_.time);
  FreedomValues is_held(parts_->system.freedoms);
  for (std::size_t r = 0; r < owned.size(); ++r) is_held.points(0)[r][0] = owned[r] ? 1 : 0;
  is_held.update_ghosts();
  return [is_held = std::move(is_held), stencils = mesh().contact_stencils()](std::uint32_t row) {
    const auto& [rows, weights] = stencils[row];
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (weights[k] != 0 && is_held.points(0)[static_cast<std::size_t>(rows[k])][0] > 0) return true;
    return false;
  };
}

std::vector<Real> OwnMotion::lightness(Real dt) const {
  const std::vector<bool> is_held = held(state_.time + dt);
  std::vector<Real> lightness;
  for (std::size_t r = 0; r < is_held.size(); ++r) lightness.push_back(is_held[r] ? 0 : 1 / parts_->mass[r]);
  return lightness;
}

void OwnMotion::push(Real dt, std::span<const Vec3> impulses) { push(dt, state_.time + dt, impulses); }

/// In a part of the step, dt long, that is over at `end`.
void OwnMotion::push(Real dt, Real end, std::span<const Vec3> impulses) {
  Parts& own = *parts_;
  const FreedomValues changes = change_by(impulses, dt, end);
  const std::span<const Real> change = changes.all();
  const auto u = own.motion.u.all(), v = own.velocity.all();
  for (std::size_t k = 0; k < change.size(); ++k) {
    v[k] += change[k];
    u[k] += dt * change[k];
  }
}

/// Of velocities, by impulses on owned vertices and by what holds those that are held.
FreedomValues OwnMotion::change_by(std::span<const Vec3> impulses, Real dt, Real end) {
  Parts& own = *parts_;
  FreedomValues change(own.system.freedoms);
  const auto dv = change.points(0);
  for (std::size_t r = 0; r < own.mass.size(); ++r) dv[r] = impulses[r] / own.mass[r];
  const std::vector<Real> by_holds = meet_holds(dt, end, dv);
  change.update_ghosts();
  count_change(by_holds, end, dv);
  return change;
}

/// What holds give as velocities change by dv.
void OwnMotion::count_change(std::span<const Real> by_holds, Real end, std::span<const Vec3> dv) {
  if (by_holds.empty()) return;
  const auto v = std::as_const(parts_->velocity).points(0);
  std::vector<Vec3> mean(v.begin(), v.end());
  for (std::size_t r = 0; r < mean.size(); ++r) mean[r] += dv[r] / 2;
  count_holds(by_holds, end, mean);
}

void OwnMotion::commit(Given& given) {
  take_over();
  MeshBody& body = mesh();
  const auto x = body.points().get<Position>(), v = body.points().get<Velocity>();
  const auto u = parts_->motion.u.points(0), to = parts_->velocity.points(0);
  for (std::size_t r = 0; r < x.size(); ++r) {
    x[r] += u[r];
    v[r] = to[r];
  }
  const auto turns = parts_->turns ? parts_->motion.u.block(*parts_->turns) : std::span<Real>();
  if (parts_->turns)
    std::ranges::copy(parts_->velocity.block(*parts_->turns), body.turning()->get<TurnVelocity>().begin());
  keep_contact(turns, given);
  if (is_implicit() && has_surface()) body.scale_contact_points(1);
}

Real OwnMotion::potential_gained_before_last() {
  Parts& own = *parts_;
  const auto potential = [&](const Motion& at) {
    Real sum = 0;
    for (std::size_t k = 0; k < own.system.potentials; ++k) sum += own.system.terms[k]->energy(at);
    return sum;
  };
  if (!is_implicit() && !own.before_last) return 0;
  Motion at(own.system.freedoms);
  const Real before = potential(at);
  FreedomValues& last = is_implicit() ? own.motion.u : *own.before_last;
  std::swap(at.u, last);
  const Real after = potential(at);
  std::swap(at.u, last);
  return comm_.sum(after - before);
}

}  // namespace weft
