#pragma once
// The members of the state of a run, which a checkpoint holds as text.

#include "run/declared.hpp"
#include "run/state.hpp"
#include "weft/base/error.hpp"

namespace weft {

template <>
inline constexpr auto members<RunClock> =
    std::tuple{Member{"step", "", &RunClock::step}, Member{"time", "s", &RunClock::time},
               Member{"next_frame", "", &RunClock::next_frame}};

template <>
inline constexpr auto members<StepLimit> =
    std::tuple{Member{"wave_speed", "m/s", &StepLimit::wave_speed}, Member{"viscosity", "m^2/s", &StepLimit::viscosity},
               Member{"speed", "m/s", &StepLimit::speed},           Member{"mesh_speed", "m/s", &StepLimit::mesh_speed},
               Member{"frequency", "rad/s", &StepLimit::frequency}, Member{"bending", "rad/s", &StepLimit::bending}};

template <>
inline constexpr auto members<Impulse> =
    std::tuple{Member{"linear", "kg m/s", &Impulse::linear}, Member{"angular", "kg m^2/s", &Impulse::angular},
               Member{"work", "J", &Impulse::work}};

/// All but the cuts, which a checkpoint holds as numbers.
template <>
inline constexpr auto members<RunState> = std::tuple_cat(
    members<RunClock>,
    std::tuple{
        Member{"dt", "s", &RunState::last_dt}, Member{"recovery_dt", "s", &RunState::recovery_dt},
        Member{"limits", "", &RunState::limits}, Member{"drift", "m", &RunState::drift},
        Member{"wall_impulse", "", &RunState::wall_impulse}, Member{"handle_impulse", "", &RunState::handle_impulse},
        Member{"joint_impulse", "", &RunState::joint_impulse}, Member{"handles_since", "s", &RunState::handles_since},
        Member{"next_id", "", &RunState::next_id}, Member{"removed_elements", "", &RunState::removed_elements},
        Member{"emitted_until", "s", &RunState::emitted_until}, Member{"probe_points", "", &RunState::probe_points},
        Member{"energy_taken", "J", &RunState::energy_taken},
        Member{"removed_particles", "", &RunState::removed_points}, Member{"newton_steps", "", &RunState::newton_steps},
        Member{"krylov_steps", "", &RunState::krylov_steps}});

/// Whether step and frame are numbers to which a run can count.
inline bool are_counts(const RunClock& clock) {
  constexpr std::int64_t most = std::int64_t{1} << 53;  // whole numbers that a real can hold
  return 0 <= clock.step && clock.step <= most && 0 <= clock.next_frame && clock.next_frame <= most;
}

/// The state in the text of a checkpoint. Throws Error(checkpoint) if the text is none.
template <Declared State>
State state_from(const std::string& text) {
  try {
    State state;
    from_json_to(nlohmann::json::parse(text), state);
    return state;
  } catch (const nlohmann::json::exception& problem) {
    throw Error(ExitCode::checkpoint,
                std::string("the state of the run in the checkpoint cannot be read: ") + problem.what());
  }
}

}  // namespace weft
