#include "solve/symmetric_factor.hpp"

#include "parallel/call.hpp"

#include <algorithm>

namespace weft {
namespace {

/// Controls of MUMPS: percentage of space beyond what it expects, and whether its last dense block is factored by one
/// rank, without which the inertia is not known.
constexpr PetscInt more_space = 14, root_by_one_rank = 13;

}  // namespace

SymmetricFactor::SymmetricFactor(const Comm& comm, Mat matrix, Factors factors) : matrix_(matrix) {
  PetscBool is_set = PETSC_FALSE, is_symmetric = PETSC_FALSE;
  check_petsc(MatIsSymmetricKnown(matrix_, &is_set, &is_symmetric));
  if (is_set != PETSC_TRUE || is_symmetric != PETSC_TRUE) take_symmetric_part();
  if (factors == Factors::none) return;
  if (factors == Factors::of_each_rank) gather(comm);
  check_petsc(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  const PetscErrorCode code = factor(all_ != nullptr ? all_ : matrix_);
  check_petsc(PetscPopErrorHandler());
  is_factored_ = !comm.any(code != 0 || !is_factored_);
}

SymmetricFactor::~SymmetricFactor() {
  check_petsc(VecScatterDestroy(&to_all_));
  check_petsc(VecDestroy(&all_values_));
  check_petsc(MatDestroy(&factor_));
  check_petsc(MatDestroy(&all_));
  check_petsc(MatDestroy(&matrix_));
}

void SymmetricFactor::take_symmetric_part() {
  Mat transposed = nullptr;
  check_petsc(MatTranspose(matrix_, MAT_INITIAL_MATRIX, &transposed));
  check_petsc(MatAXPY(transposed, 1, matrix_, DIFFERENT_NONZERO_PATTERN));
  check_petsc(MatScale(transposed, 0.5));
  check_petsc(MatDestroy(&matrix_));
  matrix_ = transposed;
  check_petsc(MatSetOption(matrix_, MAT_SYMMETRIC, PETSC_TRUE));
}

void SymmetricFactor::gather(const Comm& comm) {
  Vec of_rank = nullptr;
  check_petsc(MatCreateRedundantMatrix(matrix_, comm.size(), MPI_COMM_NULL, MAT_INITIAL_MATRIX, &all_));
  check_petsc(MatCreateVecs(matrix_, &of_rank, nullptr));
  check_petsc(VecScatterCreateToAll(of_rank, &to_all_, &all_values_));
  check_petsc(VecDestroy(&of_rank));
}

PetscErrorCode SymmetricFactor::factor(Mat matrix) {
  MatFactorInfo how;
  MatFactorError error = MAT_FACTOR_NOERROR;
  PetscInt negative = 0;
  PetscCall(MatFactorInfoInitialize(&how));
  PetscCall(MatGetFactor(matrix, MATSOLVERMUMPS, MAT_FACTOR_CHOLESKY, &factor_));
  PetscCall(MatMumpsSetIcntl(factor_, more_space, 200));
  PetscCall(MatMumpsSetIcntl(factor_, root_by_one_rank, 1));
  PetscCall(MatCholeskyFactorSymbolic(factor_, matrix, nullptr, &how));
  PetscCall(MatCholeskyFactorNumeric(factor_, matrix, &how));
  PetscCall(MatFactorGetError(factor_, &error));
  if (error != MAT_FACTOR_NOERROR) return 0;
  PetscCall(MatGetInertia(factor_, &negative, nullptr, nullptr));
  negative_ = negative;
  is_factored_ = true;
  return 0;
}

void SymmetricFactor::solve(Vec right, Vec solution) const {
  if (all_ == nullptr) return check_petsc(MatSolve(factor_, right, solution));
  Vec all_solutions = nullptr;
  check_petsc(VecDuplicate(all_values_, &all_solutions));
  check_petsc(VecScatterBegin(to_all_, right, all_values_, INSERT_VALUES, SCATTER_FORWARD));
  check_petsc(VecScatterEnd(to_all_, right, all_values_, INSERT_VALUES, SCATTER_FORWARD));
  check_petsc(MatSolve(factor_, all_values_, all_solutions));
  PetscInt first = 0, count = 0;
  PetscScalar* own = nullptr;
  const PetscScalar* all = nullptr;
  check_petsc(VecGetOwnershipRange(solution, &first, nullptr));
  check_petsc(VecGetLocalSize(solution, &count));
  check_petsc(VecGetArray(solution, &own));
  check_petsc(VecGetArrayRead(all_solutions, &all));
  std::copy_n(all + first, count, own);
  check_petsc(VecRestoreArrayRead(all_solutions, &all));
  check_petsc(VecRestoreArray(solution, &own));
  check_petsc(VecDestroy(&all_solutions));
}

}  // namespace weft
