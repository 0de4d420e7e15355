#pragma once
// A matrix of PETSc that is filled again and again by the same calls.

#include "solve/entries.hpp"
#include "weft/parallel/comm.hpp"

#include <petscmat.h>

#include <cstddef>
#include <span>
#include <vector>

namespace weft {

/// The calls of `add`, their order and where they add are the same in every round, of which the first lists them. A
/// rank sums its own entries in the order of the calls, and PETSc adds the sums of ranks in the order of its list, so
/// the arrival of messages changes no bit.
class ListedMatrix final : public Entries {
 public:
  /// A rank has the unknowns from `begin` on. Collective, as all members but `add` are.
  ListedMatrix(const Comm& comm, PetscInt begin, std::size_t unknowns);
  ~ListedMatrix() override;
  ListedMatrix(const ListedMatrix&) = delete;
  ListedMatrix& operator=(const ListedMatrix&) = delete;

  using Entries::add;
  /// Until the layout stands, looks at no values.
  void add(std::span<const PetscInt> rows, std::span<const PetscInt> columns, std::span<const PetscScalar> k) override;
  /// After the first round: entries are those that it added to.
  void lay_out();
  /// Before each other round, from zeros, and after it.
  void begin();
  void finish();

  Mat matrix() const { return matrix_; }
  /// The matrix now belongs to the caller, and there is no other round.
  Mat release();

 private:
  /// Unknowns with consecutive numbers, which have consecutive places in every row of a call.
  struct Run {
    PetscInt begin, end;
  };
  /// Of a rank, those of its own unknowns first, then those that it adds to on other ranks; columns ascend in each.
  struct Rows {
    std::vector<PetscInt> number;  ///< Of the others, ascending.
    std::vector<std::vector<PetscInt>> columns;
  };

  void find_runs(std::span<const PetscInt> columns);
  template <class F>
  void for_each_listed(F&& f);
  std::size_t row_of(const Rows& rows, PetscInt number) const;
  Rows list_rows();
  void find_places(const Rows& rows);
  void tell_petsc(const Rows& rows);

  const PetscInt begin_;
  const std::size_t unknowns_;
  std::vector<PetscInt> listed_;     ///< Of each call the numbers of rows and columns, the rows and the columns.
  std::vector<Run> runs_;            ///< Of the call at hand.
  std::vector<PetscInt> place_;      ///< Among the values, of each run of each row of each call.
  std::size_t next_ = 0;             ///< Of `place_`.
  std::vector<PetscScalar> values_;  ///< Of the entries of the rows of this rank, row by row.
  bool is_laid_out_ = false;
  Mat matrix_ = nullptr;
};

}  // namespace weft
