// Fuzz target of the states of runs and of static analyses in checkpoints: any text is refused with Error(checkpoint),
// or is a state that survives writing and reading, and fits a scene or is refused for it.

#include "run/path_state.hpp"
#include "run/state.hpp"
#include "weft/base/error.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace weft;

namespace {

void read_as_run(const std::string& given) {
  const SceneCounts scene{2, 1, 1, 1, 1, 1};
  const RunState state = state_from_text(given);
  const std::string text = to_text(state);
  if (to_text(state_from_text(text)) != text) std::abort();
  require_fits(state, scene);
  if (state.drift.size() != scene.bodies || state.next_id.size() != scene.bodies) std::abort();
}

void read_as_analysis(const std::string& given) {
  const PathState state = path_state_from_text(given);
  const std::string text = to_text(state);
  if (to_text(path_state_from_text(text)) != text || !(state.dt > 0)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto read : {read_as_run, read_as_analysis}) try {
      read(text);
    } catch (const Error& error) {
      if (error.code() != ExitCode::checkpoint) std::abort();
    }
  return 0;
}
