#pragma once
// The run of a static analysis: balanced states from load to load, or along the load path.

#include "weft/run/loop.hpp"

namespace weft {

/// What `run` does for a deck with scheme static. Leaves frames, checkpoints and load_displacement.csv. Collective.
void run_static(const Comm& comm, const Deck& deck, const RunOptions& options, Requests& requests);

/// What `check` does for such a deck. Collective.
std::string check_static(const Comm& comm, const Deck& deck);

}  // namespace weft
