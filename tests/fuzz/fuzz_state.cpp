// Fuzz target of the state of a run in a checkpoint: any text is refused with Error(checkpoint), or is a state that
// survives writing and reading, and fits a scene or is refused for it.

#include "weft/base/error.hpp"
#include "weft/run/state.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const SceneCounts scene{2, 1, 1, 1, 1};
  try {
    const RunState state = state_from_text(std::string(reinterpret_cast<const char*>(data), size));
    const std::string text = to_text(state);
    if (to_text(state_from_text(text)) != text) std::abort();
    require_fits(state, scene);
    if (state.drift.size() != scene.bodies || state.next_id.size() != scene.bodies) std::abort();
  } catch (const Error& error) {
    if (error.code() != ExitCode::checkpoint) std::abort();
  }
  return 0;
}
