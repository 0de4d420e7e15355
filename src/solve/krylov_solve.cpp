#include "solve/krylov_solve.hpp"

#include <algorithm>
#include <string>

namespace weft {
namespace {

/// Of Newton's linear systems: the first is solved to this, later ones as the residual falls [Eisenstat & Walker 1996],
/// but none to less than this part of what is still to go.
constexpr Real first_forcing = 1e-2, last_forcing = 0.9;
/// While the residual fell no further than the linear systems did, it says little of Newton's method; the next is
/// solved to no less than this.
constexpr Real second_forcing = 1e-3;
constexpr int most_krylov_steps = 2000;

KrylovSolve& solve_of(void* context) { return *static_cast<KrylovSolve*>(context); }

}  // namespace

KrylovSolve::KrylovSolve(const Comm& comm, GridProblem& problem, GridPreconditioner& preconditioner,
                         const ImplicitSettings& settings)
    : problem_(problem), preconditioner_(preconditioner), settings_(settings), right_(problem.create_vector()) {
  PetscInt n = 0;
  check_petsc(VecGetLocalSize(right_, &n));
  check_petsc(MatCreateShell(comm.handle(), n, n, PETSC_DETERMINE, PETSC_DETERMINE, this, &J_));
  const auto multiply = [](Mat matrix, Vec in, Vec out) -> PetscErrorCode {
    void* context = nullptr;
    check_petsc(MatShellGetContext(matrix, &context));
    solve_of(context).problem_.multiply(in, out);
    return 0;
  };
  check_petsc(MatShellSetOperation(J_, MATOP_MULT, reinterpret_cast<void (*)()>(+multiply)));
}

KrylovSolve::~KrylovSolve() {
  check_petsc(MatDestroy(&J_));
  check_petsc(VecDestroy(&right_));
}

void KrylovSolve::attach(KSP ksp) {
  ksp_ = ksp;
  check_petsc(KSPSetType(ksp, default_method()));
  check_petsc(KSPGMRESSetRestart(ksp, 60));
  attach_preconditioner();
  if (settings_.minimise) attach_elimination();
}

void KrylovSolve::attach_preconditioner() {
  PC pc = nullptr;
  check_petsc(KSPGetPC(ksp_, &pc));
  if (settings_.preconditioner == Preconditioner::none) {
    check_petsc(PCSetType(pc, PCNONE));
  } else {
    check_petsc(PCSetType(pc, PCSHELL));
    check_petsc(PCShellSetContext(pc, this));
    check_petsc(PCShellSetApply(pc, [](PC shell, Vec in, Vec out) -> PetscErrorCode {
      void* context = nullptr;
      check_petsc(PCShellGetContext(shell, &context));
      return solve_of(context).preconditioner_.apply(in, out), 0;
    }));
  }
  if (settings_.preconditioner == Preconditioner::multigrid || settings_.preconditioner == Preconditioner::direct)
    check_petsc(PCSetOptionsPrefix(pc, "outer_"));  // what options say of a PC is meant for that of the matrix
}

/// The system is solved for what walls leave free; afterwards the right side is what it was.
void KrylovSolve::attach_elimination() {
  check_petsc(KSPSetPreSolve(
      ksp_,
      [](KSP, Vec rhs, Vec, void* self) -> PetscErrorCode {
        check_petsc(VecCopy(rhs, solve_of(self).right_));
        return solve_of(self).problem_.eliminate_held(rhs), 0;
      },
      this));
  check_petsc(KSPSetPostSolve(
      ksp_, [](KSP, Vec rhs, Vec, void* self) -> PetscErrorCode { return VecCopy(solve_of(self).right_, rhs); }, this));
}

PetscErrorCode KrylovSolve::take_options() {
  const PetscErrorCode code = preconditioner_.create();
  if (code != 0) return code;
  KSPType chosen = nullptr;
  check_petsc(KSPGetType(ksp_, &chosen));
  if (std::string(chosen) == default_method()) {  // which norms and sides other methods know is their own affair
    if (!settings_.minimise) check_petsc(KSPSetPCSide(ksp_, PC_RIGHT));
    check_petsc(
        KSPSetNormType(ksp_, std::string(chosen) == KSPMINRES ? KSP_NORM_PRECONDITIONED : KSP_NORM_UNPRECONDITIONED));
  }
  return 0;
}

/// MINRES makes the residual smaller in every step, while that of CG rises and falls and is late to reach its goal.
/// With multigrid it did not repeat its bits after a stop.
const char* KrylovSolve::default_method() const {
  if (!settings_.minimise) return KSPGMRES;
  return settings_.preconditioner == Preconditioner::multigrid ? KSPCG : KSPMINRES;
}

PetscErrorCode KrylovSolve::set_up() {
  PetscInt last = 0;
  check_petsc(KSPGetIterationNumber(ksp_, &last));
  return preconditioner_.set_up(problem_.is_definite(), last);
}

void KrylovSolve::aim(std::span<const Real> residuals, Real goal) {
  const Real norm = residuals.back();
  Real forcing = first_forcing;
  if (residuals.size() > 1) {
    const Real fall = norm / residuals[residuals.size() - 2];
    forcing = std::min(forcing, 0.9 * fall * fall);
    if (fall > 0.5 * first_forcing) forcing = std::max(forcing, second_forcing);
  }
  forcing = std::min(std::max(forcing, last_forcing * goal / norm), 0.5);
  check_petsc(KSPSetTolerances(ksp_, forcing, PETSC_DEFAULT, PETSC_DEFAULT, most_krylov_steps));
}

bool KrylovSolve::found_negative_curvature() const {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  check_petsc(KSPGetConvergedReason(ksp_, &reason));
  return reason == KSP_DIVERGED_INDEFINITE_MAT || reason == KSP_DIVERGED_INDEFINITE_PC;
}

}  // namespace weft
