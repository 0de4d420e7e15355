#include "solve/matrix_preconditioner.hpp"

#include "parallel/call.hpp"
#include "weft/base/check.hpp"

#include <string_view>

namespace weft {

PetscOptionList options_of_matrix_preconditioners(bool symmetric) {
  PetscOptionList options = mumps_options();
  if (symmetric) options.emplace_back("mg_levels_esteig_ksp_type", "cg");
  else options.emplace_back("mg_levels_esteig_ksp_max_it", "30");
  return options;
}

MatrixPreconditioner::~MatrixPreconditioner() { check_petsc(PCDestroy(&pc_)); }

PetscErrorCode MatrixPreconditioner::create() {
  check_petsc(PCDestroy(&pc_));
  check_petsc(PCCreate(comm_.handle(), &pc_));
  if (kind_ == Preconditioner::direct) return create_direct();
  check_petsc(PCSetType(pc_, PCGAMG));
  check_petsc(PCGAMGSetReuseInterpolation(pc_, PETSC_TRUE));
  check_petsc(
      PCGAMGSetUseSAEstEig(pc_, PETSC_FALSE));  // smoothers are for the values that the matrix has, see `set_up`
  const PetscErrorCode code = PCSetFromOptions(pc_);
  if (code != 0) return code;
  PCType chosen = nullptr;
  check_petsc(PCGetType(pc_, &chosen));
  // It works only within the linear solver that it changes, and otherwise breaks.
  return std::string_view(chosen) == PCEISENSTAT ? PETSC_ERR_SUP : PetscErrorCode(0);
}

/// Each rank factors all of the matrix: parallel MUMPS does not repeat its bits.
PetscErrorCode MatrixPreconditioner::create_direct() {
  const MatFactorType factor = is_symmetric_ ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU;
  PetscBool has_mumps = PETSC_FALSE;
  check_petsc(MatSolverTypeGet(MATSOLVERMUMPS, MATSEQAIJ, factor, nullptr, &has_mumps, nullptr));
  require(has_mumps == PETSC_TRUE, ExitCode::deck,
          "solve.preconditioner: \"direct\" needs a PETSc that was built with MUMPS; choose \"multigrid\" or "
          "\"blocks\".");
  PC pc = pc_;
  if (comm_.size() > 1) {
    KSP alone = nullptr;
    check_petsc(PCSetType(pc_, PCREDUNDANT));
    check_petsc(PCRedundantGetKSP(pc_, &alone));
    check_petsc(KSPGetPC(alone, &pc));
  }
  check_petsc(PCSetType(pc, is_symmetric_ ? PCCHOLESKY : PCLU));
  check_petsc(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
  return PCSetFromOptions(pc_);
}

void MatrixPreconditioner::set_matrix(Mat A) { check_petsc(PCSetOperators(pc_, A, A)); }
PetscErrorCode MatrixPreconditioner::set_up() { return PCSetUp(pc_); }
void MatrixPreconditioner::apply(Vec in, Vec out) { check_petsc(PCApply(pc_, in, out)); }

void set_near_null_space(Mat A, std::vector<Vec> modes) {
  for (std::size_t m = 0; m < modes.size(); ++m) {  // Gram and Schmidt, twice for round-off
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t other = 0; other < m; ++other) {
        PetscScalar along = 0;
        check_petsc(VecDot(modes[m], modes[other], &along));
        check_petsc(VecAXPY(modes[m], -along, modes[other]));
      }
    check_petsc(VecNormalize(modes[m], nullptr));
  }
  MPI_Comm comm = MPI_COMM_NULL;
  check_petsc(PetscObjectGetComm(reinterpret_cast<PetscObject>(A), &comm));
  MatNullSpace space = nullptr;
  check_petsc(MatNullSpaceCreate(comm, PETSC_FALSE, static_cast<PetscInt>(modes.size()), modes.data(), &space));
  check_petsc(MatSetNearNullSpace(A, space));
  check_petsc(MatNullSpaceDestroy(&space));
  for (Vec& mode : modes) check_petsc(VecDestroy(&mode));
}

}  // namespace weft
