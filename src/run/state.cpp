#include "weft/run/state.hpp"

#include "run/state_members.hpp"

namespace weft {

Real RunState::work() const {
  Real sum = wall_work;
  for (const HandleImpulse& given : handle_impulse) sum += given.work;
  return sum;
}

std::string to_text(const RunState& state) { return as_json(state).dump(); }
RunState state_from_text(const std::string& text) { return state_from<RunState>(text); }

}  // namespace weft
