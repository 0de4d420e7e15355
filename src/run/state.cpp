#include "run/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "run/state_members.hpp"

namespace weft {

namespace {

Real work_of(std::span<const Impulse> impulses) {
  Real sum = 0;
  for (const Impulse& given : impulses) sum += given.work;
  return sum;
}

}  // namespace

Real RunState::wall_work() const { return work_of(wall_impulse); }
Real RunState::work() const { return wall_work() + work_of(handle_impulse) + work_of(joint_impulse); }

std::string to_text(const RunState& state) { return as_json(state).dump(); }
RunState state_from_text(const std::string& text) { return state_from<RunState>(text); }

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
  expect("removed_elements", state.removed_elements.size(), scene.bodies);
  expect("wall_impulse", state.wall_impulse.size(), scene.colliders);
  expect("handle_impulse", state.handle_impulse.size(), scene.handles);
  expect("joint_impulse", state.joint_impulse.size(), scene.joints);
  expect("emitted_until", state.emitted_until.size(), scene.sources);
  expect("probe_points", state.probe_points.size(), scene.nearest_probes);
  if (!are_counts(state)) refuse(fmt::format("step {} and next_frame {} are no counts", state.step, state.next_frame));
  if (!(state.time >= 0 && state.last_dt >= 0 && state.recovery_dt > 0))
    refuse(fmt::format("time {} s, last_dt {} s and recovery_dt {} s are no times", state.time, state.last_dt,
                       state.recovery_dt));
  if (!std::is_sorted(state.cuts.at.begin(), state.cuts.at.end())) refuse("its cuts between ranks are not in order");
}

}  // namespace weft
