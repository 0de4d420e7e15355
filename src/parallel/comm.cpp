// Start and end of MPI and PETSc, and the collective verbs of the communicator.

#include "weft/parallel/comm.hpp"

#include "parallel/call.hpp"
#include "weft/base/check.hpp"
#include "weft/parallel/traffic.hpp"

#include <malloc.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <limits>
#include <optional>
#include <sstream>
#include <thread>

namespace weft {
namespace {

/// Keeps freed memory with the process: touching fresh pages costs more than the exchange that they are for, and
/// PetscSF allocates new buffers with each graph.
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 64 << 20);
}

/// What a process does at a hangup stays as it was: UCX, a transport of Open MPI, makes SIGHUP turn its traces on, so
/// that a run whose terminal was closed would go on and fill disks.
class KeptHangup {
 public:
  KeptHangup() { sigaction(SIGHUP, nullptr, &before_); }
  ~KeptHangup() { sigaction(SIGHUP, &before_, nullptr); }
  KeptHangup(const KeptHangup&) = delete;
  KeptHangup& operator=(const KeptHangup&) = delete;

 private:
  struct sigaction before_{};
};

/// Signals are for checkpoints, so PETSc keeps its hands off them. A stray ~/.petscrc must not change results, and the
/// arguments of the program are not PETSc's.
void start_petsc() {
  // PETSc keeps the pointers for as long as it runs.
  static char name[] = "weft", no_signals[] = "-no_signal_handler", no_file[] = "-skip_petscrc";
  static char* words[] = {name, no_signals, no_file, nullptr};
  int count = 3;
  char** arguments = words;
  check_petsc(PetscInitialize(&count, &arguments, nullptr, nullptr));
}

/// Unless the user said how many, the ranks of a node share its cores: threads that wait for a core cost more than they
/// do.
void share_cores() {
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return;
  MPI_Comm node;
  int ranks = 1;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  check_mpi(MPI_Comm_size(node, &ranks));
  check_mpi(MPI_Comm_free(&node));
  // A rank that mpirun has bound sees its own cores alone; then they are not to be divided again.
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (omp_get_num_procs() == cores) omp_set_num_threads(std::max(1, cores / ranks));
}

template <class T>
void reduce_everywhere(MPI_Comm comm, std::span<T> values, MPI_Datatype type, MPI_Op op) {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), int_count(values.size()), type, op, comm));
  ++traffic().reductions;
}

/// MPI_MAX and MPI_MIN may lose a NaN; here a NaN of any rank survives, because its flag travels along.
void extreme_everywhere(MPI_Comm comm, std::span<Real> values, MPI_Op op) {
  const std::size_t n = values.size();
  const Real flag = op == MPI_MAX ? 1.0 : -1.0;
  std::vector<Real> values_and_flags(2 * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isnan(values[i])) values_and_flags[n + i] = flag;
    else values_and_flags[i] = values[i];
  }
  reduce_everywhere(comm, std::span(values_and_flags), MPI_DOUBLE, op);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = values_and_flags[n + i] == flag ? std::numeric_limits<Real>::quiet_NaN() : values_and_flags[i];
}

std::string broadcast_from(MPI_Comm comm, int source, std::string text) {
  auto length = static_cast<std::uint64_t>(text.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_UINT64_T, source, comm));
  text.resize(length);
  constexpr std::size_t most_at_once = 1 << 30;
  for (std::size_t begin = 0; begin < text.size(); begin += most_at_once) {
    const std::size_t count = std::min(most_at_once, text.size() - begin);
    check_mpi(MPI_Bcast(text.data() + begin, int_count(count), MPI_CHAR, source, comm));
  }
  return text;
}

}  // namespace

Traffic& traffic() {
  static Traffic counts;
  return counts;
}

void return_freed_memory() { malloc_trim(0); }

ParallelSession::ParallelSession(int& argc, char**& argv) {
  keep_freed_memory();
  int started = 0, threads = MPI_THREAD_SINGLE;
  check_mpi(MPI_Initialized(&started));
  if (!started) {
    const KeptHangup kept;
    check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads));
    owns_mpi_ = true;
  }
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  check_mpi(MPI_Query_thread(&threads));
  require(threads >= MPI_THREAD_FUNNELED, ExitCode::failure,
          "This MPI library was built without support for threads (MPI_THREAD_FUNNELED). Use one that has it.");
  start_petsc();
  share_cores();
}

ParallelSession::~ParallelSession() {
  check_petsc(PetscFinalize());
  if (owns_mpi_) MPI_Finalize();
}

Comm::Comm(MPI_Comm handle) : handle_(handle) {
  check_mpi(MPI_Comm_rank(handle, &rank_));
  check_mpi(MPI_Comm_size(handle, &size_));
}

void Comm::sum(std::span<Real> values) const { reduce_everywhere(handle_, values, MPI_DOUBLE, MPI_SUM); }
void Comm::sum(std::span<std::int64_t> values) const { reduce_everywhere(handle_, values, MPI_INT64_T, MPI_SUM); }
void Comm::sum(std::span<std::uint64_t> values) const { reduce_everywhere(handle_, values, MPI_UINT64_T, MPI_SUM); }
void Comm::max(std::span<Real> values) const { extreme_everywhere(handle_, values, MPI_MAX); }
void Comm::min(std::span<Real> values) const { extreme_everywhere(handle_, values, MPI_MIN); }

std::int64_t Comm::offset(std::int64_t value) const {
  std::int64_t before = 0;
  check_mpi(MPI_Exscan(&value, &before, 1, MPI_INT64_T, MPI_SUM, handle_));
  return rank_ == 0 ? 0 : before;
}

std::string Comm::broadcast(std::string from_root) const { return broadcast_from(handle_, 0, std::move(from_root)); }

int Comm::ranks_of_machine() const {
  MPI_Comm machine = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(handle_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
  int size = 0;
  check_mpi(MPI_Comm_size(machine, &size));
  check_mpi(MPI_Comm_free(&machine));
  return size;
}

void Comm::barrier() const { check_mpi(MPI_Barrier(handle_)); }

void Comm::agree(const std::function<void()>& work) const {
  std::optional<Error> error;
  try {
    work();
  } catch (const Error& caught) {
    error = caught;
  } catch (const std::exception& caught) {
    error = Error(ExitCode::failure, words_of(caught));
  }
  int speaker = error ? rank_ : size_;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, handle_));
  ++traffic().reductions;
  if (speaker == size_) return;
  int code = error ? static_cast<int>(error->code()) : 0;
  check_mpi(MPI_Bcast(&code, 1, MPI_INT, speaker, handle_));
  const std::string text = broadcast_from(handle_, speaker, error ? error->what() : "");
  throw Error(static_cast<ExitCode>(code), text);
}

void Comm::abort(int exit_code) const {
  MPI_Abort(handle_, exit_code);
  std::abort();
}

std::string profile_petsc(const std::string& options) {
  std::istringstream words(options);
  std::string others, word;
  while (words >> word) {
    if (word.starts_with("-log_view")) {
      const std::size_t colon = word.find(':');
      check_petsc(PetscLogDefaultBegin());
      check_petsc(PetscOptionsSetValue(nullptr, "-log_view", colon == word.npos ? nullptr : word.c_str() + colon));
    } else {
      others += (others.empty() ? "" : " ") + word;
    }
  }
  return others;
}

std::string parallel_libraries() {
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING], petsc[256];
  int length = 0;
  check_mpi(MPI_Get_library_version(mpi, &length));
  check_petsc(PetscGetVersion(petsc, sizeof(petsc)));
  const auto to_comma = [](const std::string& text) { return text.substr(0, text.find(',')); };
  return to_comma({mpi, static_cast<std::size_t>(length)}) + ", " + to_comma(petsc);
}

}  // namespace weft
