// Edit: the one place where points, vertices and elements come and go.

#include "run/edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "run/stages/limits.hpp"
#include "run/stages/stages.hpp"
#include "weft/base/log.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/scene/build.hpp"
#include "weft/scene/reach.hpp"

namespace weft {
namespace {

/// In spacings of a source's points.
constexpr Real look_distance = 0.25;
/// The drift of points that are to be binned anew.
constexpr Real nowhere = std::numeric_limits<Real>::infinity();

/// Every rank finds the same new points and numbers them alike; each keeps an equal share, and the next step brings
/// them home.
void emit(const Comm& comm, Scene& scene, RunState& state) {
  for (std::size_t s = 0; s < scene.sources.size(); ++s) {
    const BodySource& source = scene.sources[s];
    const Real now = std::min(state.time, source.until);
    if (state.time < source.from || now <= state.emitted_until[s]) continue;
    // Looking at the shape is not free: wait until the material has moved by a part of the distance of its points.
    const bool closing = state.time >= source.until;
    if (!closing &&
        (now - state.emitted_until[s]) * source.source.velocity().norm() < look_distance * source.source.spacing())
      continue;
    const std::vector<Vec3> positions = source.source.emit(state.emitted_until[s], now);
    state.emitted_until[s] = now;

    PointBody& body = *scene.bodies[source.body]->roles().points;
    Table& points = body.points();
    const std::size_t first_row = points.rows();
    const std::size_t begin = positions.size() * comm.rank() / comm.size();
    const std::size_t end = positions.size() * (comm.rank() + 1) / comm.size();
    points.resize(first_row + end - begin);
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t p = first_row + k - begin;
      points.get<Position>()[p] = positions[k];
      points.get<Velocity>()[p] = source.source.velocity();
      points.get<Affine>()[p].setZero();
      points.get<Id>()[p] = state.next_id[source.body] + k;
    }
    state.next_id[source.body] += positions.size();
    body.rest(first_row, source.source.volume());
    if (body.touches_walls()) fit_to_walls(scene, state.time, body, first_row);
    if (!positions.empty()) state.drift[source.body] = nowhere;
    if (!state.limits.empty()) state.limits[source.body].include(body.limit_from(first_row));
  }
}

/// Removes the points outside the bounds; returns how many on this rank.
std::int64_t remove_outside(const Box& bounds, Table& points) {
  const auto x = std::as_const(points).get<Position>();
  const auto count = static_cast<std::ptrdiff_t>(x.size());
  std::int64_t removed = 0;
#pragma omp parallel for schedule(static) reduction(+ : removed)
  for (std::ptrdiff_t p = 0; p < count; ++p) removed += bounds.contains(x[p]) ? 0 : 1;
  if (removed == 0) return 0;  // as in nearly all steps
  std::vector<std::uint32_t> inside;
  for (std::uint32_t p = 0; p < x.size(); ++p)
    if (bounds.contains(x[p])) inside.push_back(p);
  points.reorder(inside);
  return removed;
}

/// Says once of each handle that some of what it holds has left the mesh.
void tell_of_grips(StepContext& step, std::size_t b, const Edited& edited) {
  for (std::size_t h = 0; h < step.scene.handles.size(); ++h) {
    const GridHandle& handle = step.scene.handles[h];
    if (handle.body != b || edited.lost_grips[handle.list] == 0 || step.handles_that_lost[h]) continue;
    step.handles_that_lost[h] = true;
    log_warning(fmt::format("handle {} lets go of what has left {} at t = {:.6g} s", handle.name,
                            step.scene.bodies[b]->name(), step.state.time));
  }
}

/// Says of each probe that the vertex that it follows has no element any more.
void tell_of_probes(const StepContext& step, std::size_t b, const Edited& edited) {
  for (std::size_t k = 0; k < step.scene.followed_points.size(); ++k) {
    const FollowedPoint& point = step.scene.followed_points[k];
    if (point.body != b) continue;
    if (step.comm.any(std::ranges::count(edited.lost_vertices, step.state.probe_points[k]) > 0))
      log_warning(fmt::format("probe {} has no values from t = {:.6g} s on: the vertex that it follows has left {}",
                              point.name, step.state.time, step.scene.bodies[b]->name()));
  }
}

/// Elements leave the meshes that want it; their limits are found anew.
void edit_meshes(StepContext& step, std::span<const Real> wanted) {
  RunState& state = step.state;
  for (std::size_t b = 0; b < wanted.size(); ++b) {
    if (!(wanted[b] > 0)) continue;
    MeshBody& mesh = *step.scene.bodies[b]->roles().mesh;
    const Edited edited = mesh.edit(step.comm);
    state.next_id[b] = static_cast<PointId>(mesh.next_vertex());
    state.removed_elements[b] = mesh.removed_elements();
    state.limits[b] = mesh.limit_from(0);
    tell_of_grips(step, b, edited);
    tell_of_probes(step, b, edited);
  }
  agree_on_limits(step.comm, state);
}

/// Removes the points of bodies outside the bounds of the scene; returns how many of each on this rank.
std::vector<std::int64_t> remove_points(Scene& scene) {
  std::vector<std::int64_t> removed(scene.bodies.size(), 0);
  for (std::size_t b = 0; scene.bounds && b < removed.size(); ++b)
    if (Body& body = *scene.bodies[b]; body.roles().mesh == nullptr)
      removed[b] = remove_outside(*scene.bounds, body.points());
  return removed;
}

/// Counts removed points and says so. removed: of each body, on this rank. Collective.
void count_removed(const Comm& comm, const Scene& scene, RunState& state, std::vector<std::int64_t> removed) {
  const std::size_t bodies = scene.bodies.size();
  std::vector<std::int64_t> left(bodies, 0);
  for (std::size_t b = 0; b < bodies; ++b)
    if (Body& body = *scene.bodies[b]; body.roles().mesh == nullptr)
      left[b] = static_cast<std::int64_t>(body.points().rows());
  comm.sum(removed);
  const std::int64_t all = std::accumulate(removed.begin(), removed.end(), std::int64_t(0));
  if (all == 0) return;
  comm.sum(left);
  std::string names;
  for (std::size_t b = 0; b < bodies; ++b)
    if (removed[b] > 0) names += fmt::format("{}{}", names.empty() ? "" : ", ", scene.bodies[b]->name());
  if (state.removed_points == 0)
    log_warning(
        fmt::format("{} particles of {} left domain.bounds at t = {:.6g} s and are gone, as all that follow will be; "
                    "the diagnostics count them (removed_particles).",
                    all, names, state.time));
  state.removed_points += all;
  for (std::size_t b = 0; b < bodies; ++b)
    if (removed[b] > 0 && left[b] == 0)
      log_warning(fmt::format("the last particle of {} left domain.bounds at t = {:.6g} s.", scene.bodies[b]->name(),
                              state.time));
  if (comm.sum(scene.points()) == 0 && scene.sources.empty())
    log_warning(fmt::format("nothing is left to simulate from t = {:.6g} s on.", state.time));
  std::fill(state.drift.begin(), state.drift.end(), nowhere);
}

}  // namespace

RunState start_scene(const Comm& comm, Scene& scene) {
  fill_bodies(comm, scene);
  RunState state;
  state.wall_impulse.assign(scene.walls.size(), {});
  state.handle_impulse.assign(scene.handles.size(), {});
  state.joint_impulse.assign(scene.joints.size(), {});
  state.next_id = scene.first_free_id;
  state.removed_elements.assign(scene.bodies.size(), 0);
  state.drift.assign(scene.bodies.size(), nowhere);
  state.emitted_until.assign(scene.sources.size(), -std::numeric_limits<Real>::infinity());
  state.cuts.at.assign(static_cast<std::size_t>(comm.size() - 1), 0);
  emit(comm, scene, state);
  count_removed(comm, scene, state, remove_points(scene));
  return state;
}

void edit(StepContext& step) {
  const auto timing = step.timers.measure("edit");
  RunState& state = step.state;
  emit(step.comm, step.scene, state);
  const std::vector<std::int64_t> removed = remove_points(step.scene);
  std::vector<Real> wanted;
  for (const auto& body : step.scene.bodies) {
    const MeshBody* mesh = body->roles().mesh;
    wanted.push_back(mesh != nullptr && mesh->wants_edit() ? 1 : 0);
  }
  wanted.push_back(std::ranges::any_of(removed, [](std::int64_t points) { return points > 0; }) ? 1 : 0);
  agree_on_limits(step.comm, state, wanted);
  if (wanted.back() > 0) count_removed(step.comm, step.scene, state, removed);
  wanted.pop_back();
  if (std::ranges::any_of(wanted, [](Real want) { return want > 0; })) edit_meshes(step, wanted);
  for (std::size_t b = 0; b < step.scene.bodies.size(); ++b) state.drift[b] += step.dt() * state.limits[b].speed;
}

}  // namespace weft
