// The program `weft`.

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "app/commands.hpp"
#include "weft/base/log.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/run/provenance.hpp"

namespace {

/// Whether this process is the one that speaks, as far as can be told before MPI starts: the launchers number theirs.
bool speaks_before_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(name)) return std::string_view(rank) == "0";
  return true;
}

int exit_code_of(const weft::Error& error) {
  weft::log_error(error.what());
  return static_cast<int>(error.code());
}

}  // namespace

int main(int argc, char** argv) {
  using namespace weft;

  // 1. What is asked for. Every rank parses the same words, so every rank comes to the same end.
  const bool speaks = speaks_before_mpi();
  CLI::App app{"Weft, a distributed-memory solver for threads, sheets, shells, solids, grains and liquids in contact.",
               "weft"};
  const std::shared_ptr<Command> command = add_commands(app);
  bool show_version = false, verbose = false;
  app.add_flag("--version", show_version, "Print the version and quit");
  app.add_flag("--verbose", verbose, "With --version: also compiler, flags and libraries");
  try {
    app.parse(argc, argv);
    if (show_version) command->alone = [&] { return fmt::print("{}\n", version_text(verbose)), 0; };
    if (!command->chosen && !command->alone) throw CLI::CallForHelp();
  } catch (const CLI::ParseError& problem) {
    const int cli_code = speaks ? app.exit(problem) : problem.get_exit_code();
    return cli_code == 0 ? 0 : static_cast<int>(ExitCode::deck);
  }

  // 2. What one process can answer, also where MPI cannot start.
  if (command->alone) {
    log_to_terminal(speaks);
    try {
      return speaks ? command->alone() : 0;
    } catch (const Error& error) {
      return exit_code_of(error);
    }
  }

  // 3. The rest, with all ranks. Errors for users are agreed between ranks; anything else cannot be, and ends the job.
  ParallelSession session(argc, argv);
  const Comm comm = Comm::world();
  log_to_terminal(comm.is_root());
  try {
    return command->chosen(comm);
  } catch (const Error& error) {
    return exit_code_of(error);
  } catch (const std::exception& surprise) {
    const bool is_full = dynamic_cast<const std::bad_alloc*>(&surprise) != nullptr;
    std::fprintf(stderr, "weft: rank %d: %s\n", comm.rank(),
                 is_full
                     ? "out of memory: the scene is too large for this machine. A larger domain.dx or spacing, or more "
                       "machines, may help."
                     : surprise.what());
    comm.abort(static_cast<int>(ExitCode::failure));
  }
}
