#pragma once
// The communicator: the few collective verbs that the program needs, and collective errors.

#include "weft/base/error.hpp"
#include "weft/base/types.hpp"

#include <mpi.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// Starts MPI and PETSc at construction (signals stay ours, PETSc sees no arguments) and ends them at destruction; an
/// MPI that runs already is used and left running. One for each process. Unless OMP_NUM_THREADS says otherwise, the
/// ranks of a node share its cores among their threads. Collective.
class ParallelSession {
 public:
  ParallelSession(int& argc, char**& argv);
  ~ParallelSession();
  ParallelSession(const ParallelSession&) = delete;
  ParallelSession& operator=(const ParallelSession&) = delete;

 private:
  bool owns_mpi_ = false;
};

/// A group of ranks (handle not owned). All members but rank, size and handle are collective.
class Comm {
 public:
  explicit Comm(MPI_Comm handle);
  static Comm world() { return Comm(MPI_COMM_WORLD); }

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  MPI_Comm handle() const { return handle_; }
  /// How many of the ranks share the memory of this one's machine. Collective.
  int ranks_of_machine() const;

  void sum(std::span<Real> values) const;
  void sum(std::span<std::int64_t> values) const;
  /// Adds modulo 2^64.
  void sum(std::span<std::uint64_t> values) const;
  /// A NaN on any rank makes the extreme NaN everywhere.
  void max(std::span<Real> values) const;
  void min(std::span<Real> values) const;
  Real sum(Real value) const {
    sum(std::span(&value, 1));
    return value;
  }
  std::int64_t sum(std::int64_t value) const {
    sum(std::span(&value, 1));
    return value;
  }
  Real max(Real value) const {
    max(std::span(&value, 1));
    return value;
  }
  Real min(Real value) const {
    min(std::span(&value, 1));
    return value;
  }
  bool any(bool value) const { return max(value ? 1.0 : 0.0) > 0; }
  /// Sum of `value` over the ranks before this one.
  std::int64_t offset(std::int64_t value) const;
  /// The root's bytes, everywhere.
  std::string broadcast(std::string from_root) const;
  void barrier() const;

  /// Runs `work` everywhere; if it throws on any rank, every rank throws the Error of the lowest such rank (anything
  /// but an Error counts as ExitCode::failure). `work` itself must not communicate. Collective.
  void agree(const std::function<void()>& work) const;

  /// Ends the whole job at once; for what cannot be agreed on. Not collective.
  [[noreturn]] void abort(int exit_code) const;

 private:
  MPI_Comm handle_;
  int rank_ = 0, size_ = 1;
};

/// Gives the memory that was freed back to the system; otherwise it is kept for what comes. For after what needs much
/// more of it than the steps do.
void return_freed_memory();

/// Takes -log_view out of a line of options for PETSc: what PETSc does is timed from then on, and at the end of the
/// session the times are printed. Returns the other options. Collective.
std::string profile_petsc(const std::string& options);

/// Names and versions of MPI and PETSc.
std::string parallel_libraries();

}  // namespace weft
