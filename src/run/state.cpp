#include "weft/run/state.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "weft/base/error.hpp"

namespace weft {
namespace {

using nlohmann::json;

/// JSON has no infinities; they are written as null, with the sign that the field implies.
json number(Real value) { return std::isfinite(value) ? json(value) : json(nullptr); }
Real number_or(const json& value, Real otherwise) { return value.is_null() ? otherwise : value.get<Real>(); }

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
    state.step = j.at("step");
    state.time = j.at("time");
    state.last_dt = j.at("last_dt");
    state.next_frame = j.at("next_frame");
    state.recovery_dt = number_or(j.at("recovery_dt"), infinity);
    for (const json& l : j.at("limits"))
      state.limits.push_back({number_or(l.at(0), infinity), number_or(l.at(1), infinity), number_or(l.at(2), infinity),
                              number_or(l.at(3), infinity), number_or(l.at(4), infinity),
                              number_or(l.at(5), infinity)});
    for (const json& d : j.at("drift")) state.drift.push_back(number_or(d, infinity));
    for (const json& p : j.at("wall_impulse")) state.wall_impulse.emplace_back(p.at(0), p.at(1), p.at(2));
    state.wall_work = j.at("wall_work");
    for (const json& p : j.at("handle_impulse"))
      state.handle_impulse.push_back({Vec3(p.at(0), p.at(1), p.at(2)), Vec3(p.at(3), p.at(4), p.at(5)), p.at(6)});
    state.handles_since = j.at("handles_since");
    state.next_id = j.at("next_id").get<std::vector<PointId>>();
    for (const json& t : j.at("emitted_until")) state.emitted_until.push_back(number_or(t, -infinity));
    state.probe_points = j.at("probe_points").get<std::vector<PointId>>();
    state.removed_points = j.at("removed_points");
    state.newton_steps = j.at("newton_steps");
    state.krylov_steps = j.at("krylov_steps");
    return state;
  } catch (const json::exception& problem) {
    throw Error(ExitCode::checkpoint,
                std::string("the state of the run in the checkpoint cannot be read: ") + problem.what());
  }
}

}  // namespace weft
