// Size: the dt that bodies, sources, settings and the next stop allow.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "run/own_motion.hpp"
#include "run/stages/limits.hpp"
#include "run/stages/stages.hpp"

namespace weft {
namespace {

/// A stop this much further than dt, as a fraction of dt, is reached by the same step.
constexpr Real round_off = 1e-6;
/// So many steps before a stop they become equal, and by a tenth shorter at most.
constexpr Real last_steps = 10;
/// No run takes so many steps; what wants more will not end.
constexpr Real most_steps = 1e12;

/// When something that starts with this speed has fallen this far.
Real time_to_fall(Real distance, Real speed, Real gravity) {
  return 2 * distance / (speed + std::sqrt(speed * speed + 4 * gravity * distance));
}

/// The smaller of two limits, the first if they are equal.
void include(DtLimit& limit, Real dt, const char* reason, const std::string& name) {
  if (dt < limit.dt) limit = {dt, reason + name};
}

/// Of an explicit step of a body. Divisions by zero give infinity: no limit.
DtLimit explicit_limit(const Scene& scene, KernelKind kernel, const StepLimit& of_points, const std::string& name) {
  const Real dx = scene.dx, waves = wave_number(kernel) * dx;
  DtLimit limit;
  include(limit, waves / of_points.wave_speed, "waves in ", name);
  include(limit, diffusion_number * dx * dx / of_points.viscosity, "viscosity of ", name);
  include(limit, scene.step.cfl * dx / of_points.speed, "speed of ", name);
  // Along a mesh two bounds hold, that of the grid and that of the mesh by itself; the longer step is safe.
  include(limit, std::max(waves / of_points.mesh_speed, vibration_number / of_points.vibration()), "stiffness of ",
          name);
  return limit;
}

/// Of an implicit one.
DtLimit implicit_limit(const Scene& scene, const StepLimit& of_points, const std::string& name) {
  const Real reach = scene.step.cfl * scene.dx;
  DtLimit limit;
  include(limit, time_to_fall(reach, of_points.speed, scene.step.gravity.norm()), "speed of ", name);
  return limit;
}

/// Of a collider that acts on points: nothing may pass it within a step. What has no bounds is known by its centre.
DtLimit limit_of(const Wall& wall, const Scene& scene, Real time) {
  DtLimit limit;
  if (wall.contact != WallContactKind::surface || !wall.shape.motion().moves()) return limit;
  const RigidState state = wall.shape.at(time);
  Real speed = state.velocity.norm();
  if (const std::optional<Box> box = wall.shape.rest().bounds())
    for (int corner = 0; corner < 8; ++corner) {
      const Vec3 at_rest(corner & 1 ? box->upper[0] : box->lower[0], corner & 2 ? box->upper[1] : box->lower[1],
                         corner & 4 ? box->upper[2] : box->lower[2]);
      speed = std::max(speed, state.velocity_at(state.to_world(at_rest)).norm());
    }
  include(limit, scene.step.cfl * scene.dx / speed, "speed of collider ", wall.name);
  return limit;
}

/// When handles let go next [s]: no step goes beyond it.
Real next_release(const Scene& scene, Real time) {
  Real next = std::numeric_limits<Real>::infinity();
  for (const GridHandle& handle : scene.handles)
    if (const GridHandle::Hold* hold = handle.hold(); hold != nullptr && hold->holds_from(time))
      next = std::min(next, hold->until);
  return next;
}

[[noreturn]] void refuse_tiny(StepContext& step) {
  const std::string& reason = step.report.size.limited_by;
  step.suspicions = suspect_states(step.scene);
  throw Error(ExitCode::numerics,
              fmt::format("step {} at t = {:.6g} s: dt = {:.3g} s, limited by {}, is too small ever to reach "
                          "time.end. Likely cause: {}, or a unit mistaken. {}",
                          step.state.step + 1, step.state.time, step.dt(), reason,
                          reason == "time.max_dt"               ? "time.max_dt itself"
                          : reason.starts_with("speed of ")     ? "a speed far too large for domain.dx"
                          : reason.starts_with("viscosity of ") ? "a viscosity far too large for domain.dx"
                                                                : "a stiffness far too large for its density",
                          accuse(step.comm, step.suspicions)));
}

/// Makes dt such that a step ends at the stop. The last steps to a stop are equal: a sliver would change dt more, which
/// moves velocities against positions.
void land(StepContext& step, Real not_beyond) {
  const Real release = next_release(step.scene, step.state.time);
  const bool releases = release < (1 - same_time) * not_beyond;  // or else both are one
  step.stop = releases ? release : not_beyond;
  step.left = step.stop - step.state.time;
  StepSize& size = step.report.size;
  const Real left = step.left, steps = std::ceil(left / ((1 + round_off) * size.dt));
  if (steps <= 1) size = {left, releases ? "release" : "output"};
  else if (steps <= last_steps && steps * size.dt > (1 + round_off) * left) size.dt = left / steps;
}

}  // namespace

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

void agree_on_limits(const Comm& comm, RunState& state, std::span<Real> others) {
  std::vector<Real> values = state.drift;
  values.insert(values.end(), others.begin(), others.end());
  for (const StepLimit& limit : state.limits)
    values.insert(values.end(), {limit.wave_speed, limit.viscosity, limit.speed, limit.mesh_speed, limit.frequency,
                                 limit.bending, limit.stretch});
  comm.max(values);
  const Real* v = values.data();
  for (Real& drift : state.drift) drift = *v++;
  for (Real& other : others) other = *v++;
  for (StepLimit& limit : state.limits) {
    limit = {v[0], v[1], v[2], v[3], v[4], v[5], v[6]};
    v += 7;
  }
}

void find_limits(const Comm& comm, const Scene& scene, RunState& state) {
  state.limits.clear();
  for (const auto& body : scene.bodies) state.limits.push_back(body->limit_from(0));
  agree_on_limits(comm, state);
}

namespace {

/// Of everything but bodies that move by themselves.
StepSize size_without_own(const Scene& scene, const RunState& state) {
  StepSize size{scene.step.max_dt, "time.max_dt"};
  const auto keep_smaller = [&size](const DtLimit& limit) {
    if (limit.dt < size.dt) size = {limit.dt, limit.reason};
  };
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    Body& body = *scene.bodies[b];
    if (b < state.limits.size() && body.roles().is_carried_by_grid)
      keep_smaller(scene.step.is_implicit
                       ? implicit_limit(scene, state.limits[b], body.name())
                       : explicit_limit(scene, scene.layer_of(b).transfer.kernel, state.limits[b], body.name()));
    if (const Predicts* predicts = body.roles().predicts) keep_smaller(predicts->limit());
  }
  for (const Wall& wall : scene.walls) keep_smaller(limit_of(wall, scene, state.time));
  for (const BodySource& source : scene.sources)
    if (state.time < source.until)
      keep_smaller({scene.step.cfl * scene.dx / source.source.velocity().norm(), "speed of source " + source.name});
  return size;
}

/// The smaller of two limits.
void include(StepSize& size, const DtLimit& limit) {
  if (limit.dt < size.dt) size = {limit.dt, limit.reason};
}

}  // namespace

StepSize size_of_step(const Scene& scene, const RunState& state) {
  StepSize size = size_without_own(scene, state);
  for (std::size_t b = 0; b < state.limits.size(); ++b)
    if (!scene.bodies[b]->roles().is_carried_by_grid)
      include(size, own_limit(scene, b, state.limits[b], state.limits[b].vibration()));
  return size;
}

void size(StepContext& step, Real not_beyond) {
  RunState& state = step.state;
  if (state.limits.empty()) {
    const auto timing = step.timers.measure("size");
    find_limits(step.comm, step.scene, state);
  }
  step.report = {};
  step.report.size = size_without_own(step.scene, state);
  for (const auto& own : step.own_motions) include(step.report.size, own->dt_limit());
  if (state.recovery_dt < step.dt()) step.report.size = {state.recovery_dt, "recovery"};
  if (!(step.dt() > step.settings.end / most_steps)) refuse_tiny(step);
  land(step, not_beyond);
}

}  // namespace weft
