#include "solve/symmetric_factor.hpp"

#include "parallel/call.hpp"

namespace weft {
namespace {

/// Controls of MUMPS: percentage of space beyond what it expects, and whether its last dense block is factored by one
/// rank, without which the inertia is not known.
constexpr PetscInt more_space = 14, root_by_one_rank = 13;

}  // namespace

SymmetricFactor::SymmetricFactor(const Comm& comm, Mat matrix, bool to_be_factored) : matrix_(matrix) {
  PetscBool is_set = PETSC_FALSE, is_symmetric = PETSC_FALSE;
  check_petsc(MatIsSymmetricKnown(matrix_, &is_set, &is_symmetric));
  if (is_set != PETSC_TRUE || is_symmetric != PETSC_TRUE) {
    Mat transposed = nullptr;
    check_petsc(MatTranspose(matrix_, MAT_INITIAL_MATRIX, &transposed));
    check_petsc(MatAXPY(transposed, 1, matrix_, DIFFERENT_NONZERO_PATTERN));
    check_petsc(MatScale(transposed, 0.5));
    check_petsc(MatDestroy(&matrix_));
    matrix_ = transposed;
    check_petsc(MatSetOption(matrix_, MAT_SYMMETRIC, PETSC_TRUE));
  }
  if (!to_be_factored) return;
  check_petsc(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  const PetscErrorCode code = factor();
  check_petsc(PetscPopErrorHandler());
  is_factored_ = !comm.any(code != 0 || !is_factored_);
}

SymmetricFactor::~SymmetricFactor() {
  check_petsc(MatDestroy(&factor_));
  check_petsc(MatDestroy(&matrix_));
}

PetscErrorCode SymmetricFactor::factor() {
  MatFactorInfo how;
  MatFactorError error = MAT_FACTOR_NOERROR;
  PetscInt negative = 0;
  PetscCall(MatFactorInfoInitialize(&how));
  PetscCall(MatGetFactor(matrix_, MATSOLVERMUMPS, MAT_FACTOR_CHOLESKY, &factor_));
  PetscCall(MatMumpsSetIcntl(factor_, more_space, 200));
  PetscCall(MatMumpsSetIcntl(factor_, root_by_one_rank, 1));
  PetscCall(MatCholeskyFactorSymbolic(factor_, matrix_, nullptr, &how));
  PetscCall(MatCholeskyFactorNumeric(factor_, matrix_, &how));
  PetscCall(MatFactorGetError(factor_, &error));
  if (error != MAT_FACTOR_NOERROR) return 0;
  PetscCall(MatGetInertia(factor_, &negative, nullptr, nullptr));
  negative_ = negative;
  is_factored_ = true;
  return 0;
}

void SymmetricFactor::solve(Vec right, Vec solution) const { check_petsc(MatSolve(factor_, right, solution)); }

}  // namespace weft
