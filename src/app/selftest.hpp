#pragma once
// A test of the installed program by itself: a small run, and what must hold of any run.

#include <filesystem>

#include "weft/parallel/comm.hpp"

namespace weft {

/// Runs a small scene in `folder`, which is new or empty and which all ranks see, and prints what was found. Returns 0
/// and deletes what it made if all is well, else 1. Throws Error(file_system) for a folder that holds anything.
/// Collective.
int selftest(const Comm& comm, const std::filesystem::path& folder);

}  // namespace weft
