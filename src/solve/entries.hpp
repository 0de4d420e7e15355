#pragma once
// Where the entries of a matrix of unknowns go.

#include <petscsys.h>

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

}  // namespace weft
