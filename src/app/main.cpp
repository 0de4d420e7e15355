// The program `weft`.

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "app/commands.hpp"
#include "weft/base/log.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/run/provenance.hpp"

int main(int argc, char** argv) {
  using namespace weft;

  // 1. MPI first: it may take arguments of its own, and everything below is collective.
  ParallelSession session(argc, argv);
  const Comm comm = Comm::world();
  log_to_terminal(comm.is_root());

  // 2. What is asked for. Every rank parses the same words, so every rank comes to the same end.
  CLI::App app{"Weft: threads, sheets, lumps, grains and liquids that touch.", "weft"};
  const std::shared_ptr<Command> command = add_commands(app);
  bool show_version = false, verbose = false;
  app.add_flag("--version", show_version, "Print the version and quit");
  app.add_flag("--verbose", verbose, "With --version: also compiler, flags and libraries");
  try {
    app.parse(argc, argv);
    if (show_version) {
      if (comm.is_root()) fmt::print("{}\n", version_text(verbose));
      return 0;
    }
    if (!command->chosen) throw CLI::CallForHelp();
  } catch (const CLI::ParseError& problem) {
    const int cli_code = comm.is_root() ? app.exit(problem) : problem.get_exit_code();
    return cli_code == 0 ? 0 : static_cast<int>(ExitCode::deck);
  }

  // 3. Do it. Errors for users are agreed between ranks; anything else cannot be, and ends the job.
  try {
    return command->chosen(comm);
  } catch (const Error& error) {
    log_error(error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& surprise) {
    std::fprintf(stderr, "weft: rank %d: %s\n", comm.rank(), surprise.what());
    comm.abort(static_cast<int>(ExitCode::failure));
  }
}
