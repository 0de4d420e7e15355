#include "solve/factored_solve.hpp"

namespace weft {

void FactoredSolve::attach(KSP ksp) {
  ksp_ = ksp;
  PC pc = nullptr;
  check_petsc(KSPGetPC(ksp, &pc));
  check_petsc(KSPSetType(ksp, KSPPREONLY));
  if (by_each_rank_) {
    KSP alone = nullptr;
    check_petsc(PCSetType(pc, PCREDUNDANT));
    check_petsc(PCRedundantGetKSP(pc, &alone));
    check_petsc(KSPGetPC(alone, &pc));
  }
  check_petsc(PCSetType(pc, problem_.symmetric() ? PCCHOLESKY : PCLU));
  check_petsc(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
}

PetscErrorCode FactoredSolve::set_up() {
  problem_.assemble();
  return 0;
}

bool FactoredSolve::factor() {
  check_petsc(set_up());
  check_petsc(KSPSetOperators(ksp_, matrix_, matrix_));
  return true;
}

bool FactoredSolve::solve(Vec right, Vec solution) {
  check_petsc(KSPSolve(ksp_, right, solution));
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  check_petsc(KSPGetConvergedReason(ksp_, &reason));
  if (reason < 0) forget_factors();
  return reason >= 0;
}

bool FactoredSolve::is_direct() const {
  PC pc = nullptr;
  PetscBool is = PETSC_FALSE;
  check_petsc(KSPGetPC(ksp_, &pc));
  check_petsc(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(pc), &is, PCCHOLESKY, PCLU,
                                        by_each_rank_ ? PCREDUNDANT : "", ""));
  return is == PETSC_TRUE;
}

void FactoredSolve::forget_factors() {
  PC pc = nullptr;
  check_petsc(KSPGetPC(ksp_, &pc));
  check_petsc(PCReset(pc));
  check_petsc(PCSetFailedReason(pc, PC_NOERROR));  // PCREDUNDANT keeps the last one
}

}  // namespace weft
