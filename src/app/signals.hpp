#pragma once
// Signals become requests that the run looks at once a step.

#include "weft/run/loop.hpp"

namespace weft {

/// From now on USR1, TERM and INT ask the run to stop after a checkpoint (a second INT ends it at once), USR2 asks for
/// a checkpoint.
Requests& requests_by_signal();

}  // namespace weft
