#pragma once
// Linear systems of Newton's method with an assembled matrix that is factored.

#include "solve/direct_solve.hpp"

namespace weft {

/// A problem whose derivative can be assembled.
class AssembledProblem : public NewtonProblem {
 public:
  /// Whether all its matrices are symmetric.
  virtual bool symmetric() const = 0;
  /// The matrix for all its derivatives, its own. Collective.
  virtual Mat matrix() = 0;
  /// Makes that the derivative where it was taken last. Collective.
  virtual void assemble() = 0;
};

/// By MUMPS with `mumps_options`, unless the user's options say.
class FactoredSolve final : public DirectSolve {
 public:
  /// by_each_rank: all of the matrix, for parallel MUMPS does not repeat its bits.
  explicit FactoredSolve(AssembledProblem& problem, bool by_each_rank = false)
      : problem_(problem), by_each_rank_(by_each_rank), matrix_(problem.matrix()) {}

  Mat matrix() const override { return matrix_; }
  void attach(KSP ksp) override;
  PetscErrorCode take_options() override { return KSPSetFromOptions(ksp_); }
  PetscErrorCode set_up() override;
  /// Factors are made as they are asked for.
  bool factor() override;
  bool solve(Vec right, Vec solution) override;
  void forget_factors() override;
  bool is_direct() const override;

 private:
  AssembledProblem& problem_;
  const bool by_each_rank_;
  Mat matrix_;         ///< The problem's.
  KSP ksp_ = nullptr;  ///< Not owned.
};

}  // namespace weft
