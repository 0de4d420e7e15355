#pragma once
// Linear systems of an implicit step: a matrix that is only multiplied with, preconditioned, and solved no better than
// the next Newton step deserves.

#include "solve/grid_preconditioner.hpp"
#include "solve/newton.hpp"

namespace weft {

/// The symmetric systems of a problem that minimises are solved by MINRES, the others by GMRES.
class KrylovSolve final : public LinearSolve {
 public:
  KrylovSolve(const Comm& comm, GridProblem& problem, GridPreconditioner& preconditioner,
              const ImplicitSettings& settings);
  ~KrylovSolve() override;
  KrylovSolve(const KrylovSolve&) = delete;
  KrylovSolve& operator=(const KrylovSolve&) = delete;

  Mat matrix() const override { return J_; }
  void attach(KSP ksp) override;
  PetscErrorCode take_options() override;
  PetscErrorCode set_up() override;
  void aim(std::span<const Real> residuals, Real goal) override;
  bool may_fall_short() const override { return true; }
  bool found_negative_curvature() const override;

 private:
  const char* default_method() const;
  void attach_preconditioner();
  void attach_elimination();

  GridProblem& problem_;
  GridPreconditioner& preconditioner_;
  const ImplicitSettings& settings_;
  Mat J_ = nullptr;
  Vec right_ = nullptr;  ///< The right side while the system is solved.
  KSP ksp_ = nullptr;    ///< Not owned.
};

}  // namespace weft
