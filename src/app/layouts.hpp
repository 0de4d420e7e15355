#pragma once
// Running the program again under mpiexec, with other numbers of ranks and threads.

#include <string>
#include <vector>

namespace weft {

/// How the cores of a machine are shared out.
struct Layout {
  int ranks, threads;
};

/// All layouts that use every core, by falling number of threads.
std::vector<Layout> layouts_of(int cores);

/// What this program prints when it runs with these arguments in this layout, in the environment that it was started in
/// itself; empty if it cannot be started or fails.
std::string output_of(const Layout& layout, const std::vector<std::string>& arguments);

}  // namespace weft
