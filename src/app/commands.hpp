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

/// The subcommand that the arguments chose; returns the exit code. Empty until the arguments are parsed. Collective.
struct Command {
  std::function<int(const Comm&)> chosen;
};

/// Adds all subcommands. The returned command must outlive the parsing of `app`.
std::shared_ptr<Command> add_commands(CLI::App& app);

}  // namespace weft
