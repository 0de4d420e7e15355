// Size: the dt that bodies, sources, settings and the next stop allow.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "run/own_motion.hpp"
#include "run/stages/limits.hpp"
#include "run/stages/stages.hpp"
#include "run/totals.hpp"

namespace weft {
namespace {

/// A stop this much further than dt, as a fraction of dt, is reached by the same step.
constexpr Real round_off = 1e-6;
/// So many steps before a stop they become equal, and by a tenth shorter at most.
constexpr Real last_steps = 10;
/// The way of a collider is limited to within a part of 2^-these.
constexpr int refinements_of_limit = 6;
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

std::array<Vec3, 8> corners_of(const Box& box) {
  std::array<Vec3, 8> corners;
  for (unsigned k = 0; k < 8; ++k)
    for (int axis = 0; axis < 3; ++axis) corners[k][axis] = (k >> axis & 1U) != 0 ? box.upper[axis] : box.lower[axis];
  return corners;
}

/// How fast a wall moves at most between two times [m/s]: its corners, or, if it is without end, how fast it nears
/// where points are.
Real most_speed(const Wall& wall, Real begin, Real end, const std::optional<Box>& points) {
  Real most = 0;
  const std::optional<Box> box = wall.shape.rest().surface_bounds();
  wall.shape.motion().visit_between(begin, end, [&](const RigidState& state) {
    most = std::max(most, state.velocity.norm());
    if (box)
      for (const Vec3& corner : corners_of(*box))
        most = std::max(most, state.velocity_at(state.to_world(corner)).norm());
    else if (points)
      for (const Vec3& corner : corners_of(*points))
        most = std::max(most, std::abs(state.velocity_at(corner).dot(wall.shape.surface(state, corner).normal)));
  });
  return most;
}

/// Around all points, if there are any and a wall without end that turns in this time, the same on all ranks.
std::optional<Box> points_that_walls_sweep(const Comm& comm, const Scene& scene, Real begin, Real end) {
  const auto sweeps = [&](const Wall& wall) {
    return !wall.shape.rest().surface_bounds() && wall.shape.motion().most_spin(begin, end) > 0;
  };
  if (std::ranges::none_of(scene.walls, sweeps)) return {};
  const Box box = box_of_points(comm, scene);
  return (box.lower.array() <= box.upper.array()).all() ? std::optional(box) : std::nullopt;
}

/// Of a collider: nothing may pass it within a step, which others limit to `dt`. One that begins at rest may be fast
/// before the step ends.
DtLimit limit_of(const Wall& wall, const Scene& scene, Real time, Real dt, const std::optional<Box>& points) {
  DtLimit limit;
  if (!wall.shape.motion().moves()) return limit;
  const Real reach = scene.step.cfl * scene.dx;
  const auto longest = [&](Real within) { return reach / most_speed(wall, time, time + within, points); };
  Real safe = longest(dt);
  for (int k = 0; k < refinements_of_limit && safe < dt; ++k) {
    const Real middle = (safe + dt) / 2;
    (longest(middle) < middle ? dt : safe) = middle;
  }
  include(limit, safe, "speed of collider ", wall.name);
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

/// Of everything but bodies that move by themselves and colliders.
StepSize size_of_grid_and_sources(const Scene& scene, const RunState& state) {
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
  for (const BodySource& source : scene.sources)
    if (state.time < source.until)
      keep_smaller({scene.step.cfl * scene.dx / source.source.velocity().norm(), "speed of source " + source.name});
  return size;
}

/// The smaller of two limits.
void include(StepSize& size, const DtLimit& limit) {
  if (limit.dt < size.dt) size = {limit.dt, limit.reason};
}

/// within: time until the step ends at the latest [s].
void include_walls(StepSize& size, const Comm& comm, const Scene& scene, Real time, Real within) {
  const std::optional<Box> points = points_that_walls_sweep(comm, scene, time, time + within);
  for (const Wall& wall : scene.walls) include(size, limit_of(wall, scene, time, std::min(size.dt, within), points));
}

}  // namespace

StepSize size_of_step(const Comm& comm, const Scene& scene, const RunState& state, Real not_beyond) {
  StepSize size = size_of_grid_and_sources(scene, state);
  for (std::size_t b = 0; b < state.limits.size(); ++b)
    if (const Roles roles = scene.bodies[b]->roles(); !roles.is_carried_by_grid) {
      FastestAtRest at_rest{state.limits[b].vibration()};
      if (scene.step.stages[b])
        at_rest.damping_ratio = comm.max(roles.mesh->damping_ratio_at(roles.mesh->points().get<RestPosition>()));
      include(size, own_limit(scene, b, state.limits[b], at_rest));
    }
  include_walls(size, comm, scene, state.time, not_beyond - state.time);
  return size;
}

void size(StepContext& step, Real not_beyond) {
  RunState& state = step.state;
  if (state.limits.empty()) {
    const auto timing = step.timers.measure("size");
    find_limits(step.comm, step.scene, state);
  }
  step.report = {};
  step.report.size = size_of_grid_and_sources(step.scene, state);
  for (const auto& own : step.own_motions) include(step.report.size, own->dt_limit());
  include_walls(step.report.size, step.comm, step.scene, state.time, not_beyond - state.time);
  if (state.recovery_dt < step.dt()) step.report.size = {state.recovery_dt, "recovery"};
  if (!(step.dt() > step.settings.end / most_steps)) refuse_tiny(step);
  land(step, not_beyond);
}

}  // namespace weft
