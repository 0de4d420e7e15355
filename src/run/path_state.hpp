#pragma once
// The state of a static analysis besides its bodies, and its text in a checkpoint.

#include "run/state.hpp"
#include "weft/solve/equilibrium.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace weft {

/// All of it goes into a checkpoint.
struct PathState : RunClock {
  Real last_time = 0;                                      ///< Length of the last step [s].
  Real dt = 0;                                             ///< Of the next step in time [s].
  PathMeasure measure{0, 0};                               ///< Along the arc; zero before the second step.
  Real length = 0;                                         ///< Of the next step along the arc.
  std::optional<std::int64_t> negative_modes{};            ///< Motions that release energy, of the last state.
  std::optional<std::int64_t> unstable_states{}, jumps{};  ///< Since the start.
};

std::string to_text(const PathState& state);

/// Throws Error(checkpoint) if the text is none, or of a state in which no analysis can be.
PathState path_state_from_text(const std::string& text);

}  // namespace weft
