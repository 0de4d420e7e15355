#pragma once
// Where the entries of a matrix of unknowns go.

#include "parallel/call.hpp"

#include <petscmat.h>

#include <span>

namespace weft {

/// Takes entries at numbers of unknowns among those of all ranks.
class Entries {
 public:
  virtual ~Entries() = default;
  /// Adds k, row by row.
  virtual void add(std::span<const PetscInt> rows, std::span<const PetscInt> columns,
                   std::span<const PetscScalar> k) = 0;
  void add(PetscInt i, PetscInt j, PetscScalar value) { add(std::span(&i, 1), std::span(&j, 1), std::span(&value, 1)); }
};

/// Of a matrix of PETSc.
class MatEntries final : public Entries {
 public:
  using Entries::add;
  explicit MatEntries(Mat matrix) : matrix_(matrix) {}
  void add(std::span<const PetscInt> rows, std::span<const PetscInt> columns, std::span<const PetscScalar> k) override {
    check_petsc(MatSetValues(matrix_, int_count(rows.size()), rows.data(), int_count(columns.size()), columns.data(),
                             k.data(), ADD_VALUES));
  }
  /// Once all is added. Collective.
  void finish() {
    check_petsc(MatAssemblyBegin(matrix_, MAT_FINAL_ASSEMBLY));
    check_petsc(MatAssemblyEnd(matrix_, MAT_FINAL_ASSEMBLY));
  }

 private:
  Mat matrix_;
};

}  // namespace weft
