#pragma once
// What is made from the matrix of nodes to precondition an implicit step: algebraic multigrid or a direct solver.

#include "solve/petsc_options.hpp"
#include "weft/base/kinds.hpp"
#include "weft/parallel/comm.hpp"

#include <petscksp.h>

#include <vector>

namespace weft {

/// Options that PETSc has no functions for: `mumps_options`, and how multigrid finds the largest eigenvalue for its
/// smoothers. By conjugate gradients, whose measure knows the scale of light nodes; where there is no symmetry, by more
/// steps of GMRES, which does not.
PetscOptionList options_of_matrix_preconditioners(bool symmetric);

/// All members but the destructor are collective.
class MatrixPreconditioner {
 public:
  /// kind: multigrid or direct; `symmetric` if all matrices will be.
  MatrixPreconditioner(const Comm& comm, Preconditioner kind, bool symmetric)
      : comm_(comm), kind_(kind), is_symmetric_(symmetric) {}
  ~MatrixPreconditioner();
  MatrixPreconditioner(const MatrixPreconditioner&) = delete;
  MatrixPreconditioner& operator=(const MatrixPreconditioner&) = delete;

  /// Forgets what PETSc kept of earlier matrices: of other patterns, or what depends on their values and would change
  /// the bits of a run that goes on after a stop. The code is that of PETSc's options. Throws Error(deck) where PETSc
  /// has no MUMPS for a direct solver.
  PetscErrorCode create();
  /// From now on for this matrix, which may change until `set_up`.
  void set_matrix(Mat A);
  /// The code is that of PETSc's options, of which some are looked at only here.
  PetscErrorCode set_up();
  void apply(Vec in, Vec out);

 private:
  PetscErrorCode create_direct();

  const Comm comm_;
  const Preconditioner kind_;
  const bool is_symmetric_;
  PC pc_ = nullptr;
};

/// Tells multigrid which vectors A takes to nearly zero. They become orthonormal here and are destroyed.
void set_near_null_space(Mat A, std::vector<Vec> modes);

}  // namespace weft
