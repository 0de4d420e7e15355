#pragma once
// How long a run may take.

#include "weft/base/types.hpp"

#include <string>

namespace weft {

/// Seconds from now, from "HH:MM:SS" or, for "slurm", from the end of the Slurm job that this process belongs to.
/// Throws Error(deck).
Real wall_limit_from(const std::string& text);

}  // namespace weft
