#pragma once
// The run: from a deck or a checkpoint to the end, or to where it is asked to stop.

#include "weft/deck/deck.hpp"
#include "weft/parallel/comm.hpp"

#include <atomic>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

namespace weft {

/// Requests from outside to a running program, by signals; looked at once a step.
struct Requests {
  std::atomic<bool> checkpoint{false};
  std::atomic<bool> stop{false};  ///< After a checkpoint.
};

struct RunOptions {
  std::filesystem::path output;
  std::string deck_file = {}, command = {};  ///< For the log.
  std::optional<std::string> resume;         ///< "auto", or a checkpoint's path.
  bool force = false;                        ///< Replace a run that the output folder already holds.
  std::optional<Real> until;                 ///< Instead of time.end [s].
  std::optional<std::int64_t> steps;         ///< Stop at this step, counted from the start of the scene.
  std::optional<int> checkpoint_every;       ///< Instead of output.checkpoint.every_steps.
  std::optional<Real> wall_limit;            ///< Stop in time for a checkpoint before this many seconds have passed.
};

/// Runs a deck and leaves its results in options.output. Throws Error; a run that goes wrong keeps its last good state
/// as a checkpoint. Collective.
void run(const Comm& comm, const Deck& deck, const RunOptions& options, Requests& requests);

/// A forecast of `run` as text: particles, memory, dt and what limits it, steps, output size. Takes a step in time to
/// measure the memory; writes nothing. Collective.
std::string check(const Comm& comm, const Deck& deck);

}  // namespace weft
