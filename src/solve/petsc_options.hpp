#pragma once
// Options that a deck hands to PETSc. PETSc's own way to meet a bad option is to end the program; here it becomes an
// error for the user.

#include "parallel/call.hpp"
#include "weft/parallel/comm.hpp"

#include <petscksp.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Names without the dash, and values.
using PetscOptionList = std::vector<std::pair<std::string, std::string>>;

/// With these MUMPS, of one rank or of all, analyses a matrix by its pattern alone, so that what it finds serves all
/// matrices of that pattern, and a run that goes on after a stop finds the same: no permutation by values, METIS,
/// scales found as it factors, no pairs of pivots by values, and room for pivots that have to wait.
PetscOptionList mumps_options();

/// A database of options of its own, so that one solve's options do not reach another's.
class PetscDatabase {
 public:
  /// text: as on PETSc's command line, "-ksp_type gmres -pc_type asm". ours: options that nobody needs to ask for.
  PetscDatabase(const Comm& comm, std::string text, PetscOptionList ours = {});
  ~PetscDatabase();
  PetscDatabase(const PetscDatabase&) = delete;
  PetscDatabase& operator=(const PetscDatabase&) = delete;

  /// Runs calls of PETSc with these options in force; returns true if one failed on any rank. Collective.
  bool fails(const std::function<PetscErrorCode()>& calls) const;
  /// The same, but throws Error(deck) with advice if a call fails. Collective.
  void apply(const std::function<PetscErrorCode()>& calls) const;
  /// The same for a solve. The first sets up all that options speak of, and throws Error(deck) also if there are some
  /// that nothing asked for; what fails later throws Error(numerics). Collective.
  void solve(const std::function<PetscErrorCode()>& calls);

 private:
  void require_known() const;

  Comm comm_;
  std::string text_;
  PetscOptionList ours_;
  PetscOptions options_ = nullptr;
  bool is_text_bad_ = false;
  bool has_solved_ = false;
};

}  // namespace weft
