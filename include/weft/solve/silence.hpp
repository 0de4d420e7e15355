#pragma once
// Solves that are tried out and not kept.

#include <functional>

namespace weft {

/// Calls f while no solver of PETSc prints to the terminal, whatever its options ask for.
void in_silence(const std::function<void()>& f);

}  // namespace weft
