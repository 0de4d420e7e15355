#include "weft/run/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "weft/base/check.hpp"

namespace weft {
namespace {

using nlohmann::json;

/// JSON has no infinities; they are written as null, with the sign that the field implies.
json number(Real value) { return std::isfinite(value) ? json(value) : json(nullptr); }
Real number_or(const json& value, Real otherwise) { return value.is_null() ? otherwise : value.get<Real>(); }

/// nlohmann::json by itself would make a whole number of any number.
std::int64_t whole(const json& value) { return value.get_ref<const json::number_integer_t&>(); }
std::vector<PointId> ids(const json& list) {
  std::vector<PointId> values;
  for (const json& value : list) values.push_back(value.get_ref<const json::number_unsigned_t&>());
  return values;
}
Vec3 vector_at(const json& list, std::size_t first) {
  return {list.at(first).get<Real>(), list.at(first + 1).get<Real>(), list.at(first + 2).get<Real>()};
}

constexpr Real infinity = std::numeric_limits<Real>::infinity();

}  // namespace

Real RunState::work() const {
  Real sum = wall_work;
  for (const HandleImpulse& given : handle_impulse) sum += given.work;
  return sum;
}

std::string to_text(const RunState& state) {
  json j;
  j["step"] = state.step;
  j["time"] = state.time;
  j["last_dt"] = state.last_dt;
  j["next_frame"] = state.next_frame;
  j["recovery_dt"] = number(state.recovery_dt);
  j["limits"] = json::array();
  for (const StepLimit& l : state.limits)
    j["limits"].push_back({number(l.wave_speed), number(l.viscosity), number(l.speed), number(l.mesh_speed),
                           number(l.frequency), number(l.bending)});
  j["drift"] = json::array();
  for (const Real d : state.drift) j["drift"].push_back(number(d));
  j["wall_impulse"] = json::array();
  for (const Vec3& p : state.wall_impulse) j["wall_impulse"].push_back({p.x(), p.y(), p.z()});
  j["wall_work"] = state.wall_work;
  j["handle_impulse"] = json::array();
  for (const auto& [p, l, work] : state.handle_impulse)
    j["handle_impulse"].push_back({p.x(), p.y(), p.z(), l.x(), l.y(), l.z(), work});
  j["handles_since"] = state.handles_since;
  j["next_id"] = state.next_id;
  j["emitted_until"] = json::array();
  for (const Real t : state.emitted_until) j["emitted_until"].push_back(number(t));
  j["probe_points"] = state.probe_points;
  j["removed_points"] = state.removed_points;
  j["newton_steps"] = state.newton_steps;
  j["krylov_steps"] = state.krylov_steps;
  return j.dump();
}

RunState state_from_text(const std::string& text) {
  try {
    const json j = json::parse(text);
    RunState state;
    state.step = whole(j.at("step"));
    state.time = j.at("time");
    state.last_dt = j.at("last_dt");
    state.next_frame = whole(j.at("next_frame"));
    state.recovery_dt = number_or(j.at("recovery_dt"), infinity);
    for (const json& l : j.at("limits"))
      state.limits.push_back({number_or(l.at(0), infinity), number_or(l.at(1), infinity), number_or(l.at(2), infinity),
                              number_or(l.at(3), infinity), number_or(l.at(4), infinity),
                              number_or(l.at(5), infinity)});
    for (const json& d : j.at("drift")) state.drift.push_back(number_or(d, infinity));
    for (const json& p : j.at("wall_impulse")) state.wall_impulse.push_back(vector_at(p, 0));
    state.wall_work = j.at("wall_work");
    for (const json& p : j.at("handle_impulse"))
      state.handle_impulse.push_back({vector_at(p, 0), vector_at(p, 3), p.at(6)});
    state.handles_since = j.at("handles_since");
    state.next_id = ids(j.at("next_id"));
    for (const json& t : j.at("emitted_until")) state.emitted_until.push_back(number_or(t, -infinity));
    state.probe_points = ids(j.at("probe_points"));
    state.removed_points = whole(j.at("removed_points"));
    state.newton_steps = whole(j.at("newton_steps"));
    state.krylov_steps = whole(j.at("krylov_steps"));
    return state;
  } catch (const json::exception& problem) {
    throw Error(ExitCode::checkpoint,
                std::string("the state of the run in the checkpoint cannot be read: ") + problem.what());
  }
}

void require_fits(const RunState& state, const SceneCounts& scene) {
  const auto refuse = [](const std::string& what) {
    throw Error(ExitCode::checkpoint, "the state of the run in the checkpoint does not fit this scene: " + what + ".");
  };
  const auto expect = [&](const char* list, std::size_t found, std::size_t expected) {
    if (found != expected) refuse(fmt::format("its {} has {} entries, expected {}", list, found, expected));
  };
  if (!state.limits.empty()) expect("limits", state.limits.size(), scene.bodies);
  expect("drift", state.drift.size(), scene.bodies);
  expect("next_id", state.next_id.size(), scene.bodies);
  expect("wall_impulse", state.wall_impulse.size(), scene.colliders);
  expect("handle_impulse", state.handle_impulse.size(), scene.handles);
  expect("emitted_until", state.emitted_until.size(), scene.sources);
  expect("probe_points", state.probe_points.size(), scene.nearest_probes);
  constexpr std::int64_t most_frames = std::int64_t{1} << 53;  // whole numbers that a real can hold
  if (state.step < 0 || state.next_frame < 0 || state.next_frame > most_frames)
    refuse(fmt::format("step {} and next_frame {} are no counts", state.step, state.next_frame));
  if (!(state.time >= 0 && state.last_dt >= 0 && state.recovery_dt > 0))
    refuse(fmt::format("time {} s, last_dt {} s and recovery_dt {} s are no times", state.time, state.last_dt,
                       state.recovery_dt));
  if (!std::is_sorted(state.cuts.at.begin(), state.cuts.at.end())) refuse("its cuts between ranks are not in order");
}

}  // namespace weft
