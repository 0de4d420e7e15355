#include "solve/newton.hpp"

#include <cmath>

namespace weft {
namespace {

Newton& newton_of(void* context) { return *static_cast<Newton*>(context); }

NewtonEnd end_of(SNESConvergedReason reason) {
  if (reason > 0) return NewtonEnd::converged;
  switch (reason) {
    case SNES_DIVERGED_MAX_IT:
      return NewtonEnd::too_many_steps;
    case SNES_DIVERGED_LINEAR_SOLVE:
      return NewtonEnd::no_linear_solution;
    case SNES_DIVERGED_FNORM_NAN:
    case SNES_DIVERGED_FUNCTION_DOMAIN:
      return NewtonEnd::not_finite;
    case SNES_DIVERGED_LINE_SEARCH:
      return NewtonEnd::no_step;
    default:
      return NewtonEnd::diverged;
  }
}

}  // namespace

Newton::Newton(const Comm& comm, PetscDatabase& options, NewtonProblem& problem, LinearSolve& linear,
               Real shortest_step)
    : options_(options), problem_(problem), linear_(linear) {
  create(comm, shortest_step);
  KSP ksp = nullptr;
  check_petsc(SNESGetKSP(snes_, &ksp));
  linear_.attach(ksp);
  options_.apply([&] {
    const PetscErrorCode code = SNESSetFromOptions(snes_);
    return code != 0 ? code : linear_.take_options();
  });
}

Newton::~Newton() { check_petsc(SNESDestroy(&snes_)); }

void Newton::create(const Comm& comm, Real shortest_step) {
  check_petsc(SNESCreate(comm.handle(), &snes_));
  check_petsc(SNESSetFunction(
      snes_, nullptr,
      [](SNES snes, Vec at, Vec out, void* self) -> PetscErrorCode { return newton_of(self).look(snes, at, out), 0; },
      this));
  check_petsc(SNESSetJacobian(
      snes_, linear_.matrix(), linear_.matrix(),
      [](SNES, Vec at, Mat, Mat, void* self) -> PetscErrorCode {
        newton_of(self).problem_.linearise(at);
        return newton_of(self).linear_.set_up();
      },
      this));
  check_petsc(SNESSetConvergenceTest(
      snes_,
      [](SNES, PetscInt iteration, PetscReal, PetscReal, PetscReal norm, SNESConvergedReason* reason,
         void* self) -> PetscErrorCode { return newton_of(self).judge(iteration, norm, reason), 0; },
      this, nullptr));
  check_petsc(SNESSetType(snes_, SNESNEWTONLS));
  check_petsc(SNESSetTolerances(snes_, PETSC_DEFAULT, PETSC_DEFAULT, shortest_step, PETSC_MAX_INT, PETSC_MAX_INT));
  if (linear_.may_fall_short()) check_petsc(SNESSetMaxLinearSolveFailures(snes_, PETSC_MAX_INT));
}

void Newton::look(SNES snes, Vec at, Vec out) {
  if (!problem_.residual(at, out)) check_petsc(SNESSetFunctionDomainError(snes));
}

void Newton::search_by(StepSearch& search) {
  if (search_ == &search) return;
  search_ = &search;
  SNESLineSearch line = nullptr;
  check_petsc(SNESGetLineSearch(snes_, &line));
  check_petsc(SNESLineSearchSetType(line, search.kind()));
  check_petsc(SNESLineSearchShellSetUserFunc(
      line, [](SNESLineSearch its, void* self) -> PetscErrorCode { return newton_of(self).search(its), 0; }, this));
  options_.apply([&] { return SNESLineSearchSetFromOptions(line); });
}

void Newton::search(SNESLineSearch line) {
  SearchVectors at{};
  check_petsc(SNESLineSearchGetVecs(line, &at.x, &at.f, &at.dx, &at.trial, &at.trial_f));
  if (!search_->take(at)) check_petsc(SNESLineSearchSetReason(line, SNES_LINESEARCH_FAILED_REDUCT));
  check_petsc(SNESLineSearchComputeNorms(line));
}

void Newton::judge(int iteration, Real norm, SNESConvergedReason* reason) {
  residuals_.push_back(norm);
  search_->note(residuals_);
  const Real goal = goal_.tolerance * problem_.reference() + problem_.noise(iteration);
  *reason = SNES_CONVERGED_ITERATING;
  if (!std::isfinite(norm)) *reason = SNES_DIVERGED_FNORM_NAN;
  else if (norm <= goal && problem_.parts_are_met(goal_.tolerance, iteration)) *reason = SNES_CONVERGED_FNORM_RELATIVE;
  else if (iteration >= goal_.max_iterations) *reason = SNES_DIVERGED_MAX_IT;
  else if (goal_.is_asked_to_stop && goal_.is_asked_to_stop()) *reason = SNES_DIVERGED_MAX_IT, is_interrupted_ = true;
  else linear_.aim(residuals_, goal);
}

NewtonReport Newton::solve(Vec x, StepSearch& search, const NewtonGoal& goal) {
  search_by(search);
  goal_ = goal;
  residuals_.clear();
  is_interrupted_ = false;
  options_.solve([&] { return SNESSolve(snes_, nullptr, x); });
  if (is_interrupted_) throw Interrupted{};

  SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
  PetscInt newton = 0, krylov = 0;
  NewtonReport report;
  check_petsc(SNESGetConvergedReason(snes_, &reason));
  check_petsc(SNESGetIterationNumber(snes_, &newton));
  check_petsc(SNESGetLinearSolveIterations(snes_, &krylov));
  check_petsc(SNESGetFunctionNorm(snes_, &report.residual));
  report.end = end_of(reason);
  report.newton = newton;
  report.krylov = krylov;
  report.residuals = std::move(residuals_);
  return report;
}

}  // namespace weft
