#pragma once
// The subcommands of the program.

#include <functional>
#include <memory>
#include <string>

#include "weft/parallel/comm.hpp"

namespace CLI {
class App;
}

namespace weft {

/// The subcommand that the arguments chose, as one of two functions that return the exit code. Both are empty until the
/// arguments are parsed.
struct Command {
  std::function<int(const Comm&)> chosen;  ///< Collective.
  std::function<int()> alone;              ///< For one process; needs no MPI.
};

/// Adds all subcommands. The returned command must outlive the parsing of `app`.
std::shared_ptr<Command> add_commands(CLI::App& app);

}  // namespace weft
