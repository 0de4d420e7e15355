#include "run/path_state.hpp"

#include <fmt/format.h>

#include <cmath>

#include "run/state_members.hpp"

namespace weft {

template <>
inline constexpr auto members<PathMeasure> =
    std::tuple{Member{"displacement", "m", &PathMeasure::displacement}, Member{"time", "s", &PathMeasure::time}};
template <>
inline constexpr auto members<PathState> = std::tuple_cat(
    members<RunClock>,
    std::tuple{Member{"last_time", "s", &PathState::last_time}, Member{"dt", "s", &PathState::dt},
               Member{"measure", "", &PathState::measure}, Member{"length", "1", &PathState::length},
               Member{"negative_modes", "", &PathState::negative_modes},
               Member{"unstable_states", "", &PathState::unstable_states}, Member{"jumps", "", &PathState::jumps}});

std::string to_text(const PathState& state) { return as_json(state).dump(); }

PathState path_state_from_text(const std::string& text) {
  auto state = state_from<PathState>(text);
  const auto refuse = [](const std::string& what) {
    throw Error(ExitCode::checkpoint, "the state of the analysis in the checkpoint cannot be: " + what + ".");
  };
  if (!are_counts(state)) refuse(fmt::format("step {} and next_frame {} are no counts", state.step, state.next_frame));
  const auto is_count = [](std::int64_t n, std::int64_t most) { return 0 <= n && n <= most; };
  for (const std::int64_t n : {state.unstable_states.value_or(0), state.jumps.value_or(0)})
    if (!is_count(n, state.step)) refuse(fmt::format("{} of {} states cannot be counted", n, state.step));
  if (const std::int64_t n = state.negative_modes.value_or(0); !is_count(n, std::int64_t{1} << 53))
    refuse(fmt::format("{} modes cannot be counted", n));
  // Along a load path the load, which the time stands for, may fall below zero.
  if (!(std::isfinite(state.time) && std::isfinite(state.last_time) && state.dt > 0 && std::isfinite(state.dt)))
    refuse(fmt::format("time {} s, last_time {} s and dt {} s are no times", state.time, state.last_time, state.dt));
  const PathMeasure& measure = state.measure;
  const bool has_path = measure.displacement != 0 || measure.time != 0;
  const auto is_size = [](Real x) { return x > 0 && std::isfinite(x); };
  if (has_path && !(is_size(measure.displacement) && is_size(measure.time) && is_size(state.length)))
    refuse(fmt::format("a length of {} in a measure of {} m and {} s is none", state.length, measure.displacement,
                       measure.time));
  return state;
}

}  // namespace weft
