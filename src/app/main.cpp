// The program `weft`.

#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "app/commands.hpp"
#include "weft/base/budget.hpp"
#include "weft/base/check.hpp"
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

/// Throws Error(failure) if the environment leaves no room to start in: libraries would end the program by a signal.
void require_room_to_start() {
  constexpr int threads_of_a_core = 64, threads_anywhere = 256;
  const int most = std::max(threads_anywhere, threads_of_a_core * omp_get_num_procs());
  weft::require(omp_get_max_threads() <= most, weft::ExitCode::failure,
                fmt::format("OMP_NUM_THREADS asks for {} threads; this machine has {} cores. Ask for {} at most.",
                            omp_get_max_threads(), omp_get_num_procs(), most));
  constexpr weft::Real least_space = 1e9;  // that MPI, PETSc and threads map, not what they use
  weft::require(
      weft::address_space() > least_space, weft::ExitCode::failure,
      fmt::format("`ulimit -v` leaves {:.2g} GB of addresses to this process, which needs {:.2g} GB to start.",
                  weft::address_space() * 1e-9, least_space * 1e-9));
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
    } catch (const std::exception& surprise) {
      log_error(weft::words_of(surprise));
      return static_cast<int>(ExitCode::failure);
    }
  }

  // 3. The rest, with all ranks. Errors for users are agreed between ranks; anything else cannot be, and ends the job.
  try {
    require_room_to_start();
  } catch (const Error& error) {
    log_to_terminal(speaks);
    return exit_code_of(error);
  }
  ParallelSession session(argc, argv);
  const Comm comm = Comm::world();
  log_to_terminal(comm.is_root());
  try {
    return command->chosen(comm);
  } catch (const Error& error) {
    return exit_code_of(error);
  } catch (const std::exception& surprise) {
    std::fprintf(stderr, "weft: rank %d: %s\n", comm.rank(), weft::words_of(surprise));
    comm.abort(static_cast<int>(ExitCode::failure));
  }
}
