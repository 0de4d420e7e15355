#include "weft/solve/implicit.hpp"

#include "solve/grid_preconditioner.hpp"
#include "solve/grid_problem.hpp"
#include "solve/line_search.hpp"
#include "solve/petsc_options.hpp"

#include <petscsnes.h>

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

/// Of Newton's linear systems: the first is solved to this, later ones as the residual falls [Eisenstat & Walker 1996],
/// but none to less than this part of what is still to go.
constexpr Real first_forcing = 1e-2, last_forcing = 0.9;
/// While the residual fell no further than the linear systems did, it says little of Newton's method; the next is
/// solved to no less than this.
constexpr Real second_forcing = 1e-3;
constexpr int most_krylov_steps = 2000;

const char* words_for(SNESConvergedReason reason) {
  switch (reason) {
    case SNES_DIVERGED_MAX_IT:
      return "the impulses do not balance within solve.max_iterations";
    case SNES_DIVERGED_LINEAR_SOLVE:
      return "PETSc's linear solver gave up";
    case SNES_DIVERGED_FNORM_NAN:
    case SNES_DIVERGED_FUNCTION_DOMAIN:
      return "a force is not finite";
    case SNES_DIVERGED_LINE_SEARCH:
      return "no step along Newton's direction brings the solution nearer";
    default:
      return "Newton's method diverges";
  }
}

template <class T>
T& self_of(void* context) {
  return *static_cast<T*>(context);
}

}  // namespace

/// Newton's method (SNES) for a GridProblem, its linear systems (KSP) without a matrix of theirs.
struct ImplicitGrid::Solver {
  const ImplicitSettings settings;
  PetscDatabase options;
  GridProblem problem;
  GridPreconditioner preconditioner;

  Vec x = nullptr, residual_vector = nullptr, work = nullptr;
  Mat J = nullptr;
  SNES snes = nullptr;
  KSP ksp = nullptr;

  // Of the step that is taken.
  std::vector<Real> residuals;  ///< Before each Newton step [sqrt(J)].
  bool definite = false;        ///< The exact matrices of this step have a direction of negative curvature.

  Solver(const Comm& comm, const BlockMap& map, std::vector<const Term*> terms, std::vector<const Constraints*> held,
         ImplicitSettings its)
      : settings(std::move(its)),
        options(comm, settings.petsc, options_of_matrix_preconditioners(settings.minimise)),
        problem(comm, map, std::move(terms), std::move(held), settings),
        preconditioner(comm, map, problem, settings) {
    create_vectors(comm);
    create_solver(comm);
  }

  ~Solver() {
    check_petsc(SNESDestroy(&snes));
    check_petsc(MatDestroy(&J));
    for (Vec* v : {&x, &residual_vector, &work}) check_petsc(VecDestroy(v));
  }

  // --- Set-up ------------------------------------------------------------------------------------------------------

  void create_vectors(const Comm& comm) {
    const PetscInt n = 3 * static_cast<PetscInt>(problem.nodes());
    check_petsc(VecCreateMPI(comm.handle(), n, PETSC_DETERMINE, &x));
    for (Vec* v : {&residual_vector, &work}) check_petsc(VecDuplicate(x, v));
    check_petsc(MatCreateShell(comm.handle(), n, n, PETSC_DETERMINE, PETSC_DETERMINE, this, &J));
    const auto multiply = [](Mat matrix, Vec in, Vec out) -> PetscErrorCode {
      void* context = nullptr;
      check_petsc(MatShellGetContext(matrix, &context));
      self_of<Solver>(context).problem.multiply(in, out);
      return 0;
    };
    check_petsc(MatShellSetOperation(J, MATOP_MULT, reinterpret_cast<void (*)()>(+multiply)));
  }

  void create_solver(const Comm& comm) {
    check_petsc(SNESCreate(comm.handle(), &snes));
    check_petsc(SNESSetFunction(
        snes, residual_vector,
        [](SNES, Vec at, Vec out, void* self) -> PetscErrorCode {
          return self_of<Solver>(self).problem.residual(at, out), 0;
        },
        this));
    check_petsc(SNESSetJacobian(
        snes, J, J,
        [](SNES, Vec at, Mat, Mat, void* self) -> PetscErrorCode { return self_of<Solver>(self).linearise(at); },
        this));
    check_petsc(SNESSetConvergenceTest(
        snes,
        [](SNES, PetscInt it, PetscReal, PetscReal, PetscReal f, SNESConvergedReason* reason,
           void* self) -> PetscErrorCode { return self_of<Solver>(self).judge(it, f, reason), 0; },
        this, nullptr));
    check_petsc(SNESSetType(snes, SNESNEWTONLS));
    // Newton's method lives with a linear solution that is not as good as it should be.
    check_petsc(SNESSetMaxLinearSolveFailures(snes, settings.max_iterations + 1));
    SNESLineSearch line = nullptr;
    check_petsc(SNESGetLineSearch(snes, &line));
    check_petsc(SNESLineSearchSetType(line, SNESLINESEARCHSHELL));
    check_petsc(SNESLineSearchShellSetUserFunc(
        line, [](SNESLineSearch l, void* self) -> PetscErrorCode { return self_of<Solver>(self).search(l), 0; }, this));

    check_petsc(SNESGetKSP(snes, &ksp));
    check_petsc(KSPSetType(ksp, default_method()));
    check_petsc(KSPGMRESSetRestart(ksp, 60));
    PC pc = nullptr;
    check_petsc(KSPGetPC(ksp, &pc));
    if (settings.preconditioner == Preconditioner::none) {
      check_petsc(PCSetType(pc, PCNONE));
    } else {
      check_petsc(PCSetType(pc, PCSHELL));
      check_petsc(PCShellSetContext(pc, this));
      check_petsc(PCShellSetApply(pc, [](PC shell, Vec in, Vec out) -> PetscErrorCode {
        void* context = nullptr;
        check_petsc(PCShellGetContext(shell, &context));
        return self_of<Solver>(context).preconditioner.apply(in, out), 0;
      }));
    }
    if (settings.preconditioner == Preconditioner::multigrid || settings.preconditioner == Preconditioner::direct)
      check_petsc(PCSetOptionsPrefix(pc, "outer_"));  // what options say of a PC is meant for that of the matrix
    if (settings.minimise) {
      check_petsc(KSPSetPreSolve(
          ksp,
          [](KSP, Vec rhs, Vec, void* self) -> PetscErrorCode {
            check_petsc(VecCopy(rhs, self_of<Solver>(self).work));
            return self_of<Solver>(self).problem.eliminate_held(rhs), 0;
          },
          this));
      check_petsc(KSPSetPostSolve(
          ksp, [](KSP, Vec rhs, Vec, void* self) -> PetscErrorCode { return VecCopy(self_of<Solver>(self).work, rhs); },
          this));
    }
    options.apply([&] {
      PetscErrorCode code = SNESSetFromOptions(snes);
      if (code == 0) code = preconditioner.create();
      if (code != 0) return code;
      KSPType chosen = nullptr;
      check_petsc(KSPGetType(ksp, &chosen));
      if (std::string(chosen) == default_method()) {  // which norms and sides other methods know is their own affair
        if (!settings.minimise) check_petsc(KSPSetPCSide(ksp, PC_RIGHT));
        check_petsc(KSPSetNormType(
            ksp, std::string(chosen) == KSPMINRES ? KSP_NORM_PRECONDITIONED : KSP_NORM_UNPRECONDITIONED));
      }
      return PetscErrorCode(0);
    });
  }

  /// MINRES makes the residual smaller in every step, while that of CG rises and falls and is late to reach its goal.
  /// With multigrid it did not repeat its bits after a stop.
  const char* default_method() const {
    if (!settings.minimise) return KSPGMRES;
    return settings.preconditioner == Preconditioner::multigrid ? KSPCG : KSPMINRES;
  }

  // --- Newton's method ---------------------------------------------------------------------------------------------

  Real goal() const { return settings.tolerance * problem.reference() + problem.noise(); }

  void judge(PetscInt iteration, Real residual_norm, SNESConvergedReason* reason) {
    *reason = SNES_CONVERGED_ITERATING;
    residuals.push_back(residual_norm);
    if (!std::isfinite(residual_norm)) *reason = SNES_DIVERGED_FNORM_NAN;
    else if (residual_norm <= goal()) *reason = SNES_CONVERGED_FNORM_RELATIVE;
    else if (iteration >= settings.max_iterations) *reason = SNES_DIVERGED_MAX_IT;
    if (*reason != SNES_CONVERGED_ITERATING) return;

    Real forcing = first_forcing;
    if (iteration > 0) {
      const Real fall = residual_norm / residuals[residuals.size() - 2];
      forcing = std::min(forcing, 0.9 * fall * fall);
      if (fall > 0.5 * first_forcing) forcing = std::max(forcing, second_forcing);
    }
    forcing = std::min(std::max(forcing, last_forcing * goal() / residual_norm), 0.5);
    check_petsc(KSPSetTolerances(ksp, forcing, PETSC_DEFAULT, PETSC_DEFAULT, most_krylov_steps));
  }

  /// Where exact matrices have negative curvature or lead nowhere, the next Newton step takes definite ones.
  void search(SNESLineSearch line) {
    Vec at = nullptr, f = nullptr, y = nullptr, trial = nullptr, trial_f = nullptr;
    check_petsc(SNESLineSearchGetVecs(line, &at, &f, &y, &trial, &trial_f));
    bool fails = false;
    if (!settings.minimise) {
      fails = !descend_residual(problem, [this](Vec r) { return size_of(r); }, at, f, y, trial, trial_f);
    } else if (!definite && found_negative_curvature()) {
      definite = true;
    } else {
      const bool descends = descend_energy(problem, at, f, y, trial, trial_f);
      fails = !descends && definite;
      definite = definite || !descends;
    }
    if (fails) check_petsc(SNESLineSearchSetReason(line, SNES_LINESEARCH_FAILED_REDUCT));
    check_petsc(SNESLineSearchComputeNorms(line));
  }

  /// |r|, or without inertia |P r|, P being the preconditioner of the last linear system: with a good one that is the
  /// length of the step that would mend r [Deuflhard 1974]. A strip that sags by a full step is stretched a little,
  /// which multiplies |r| by thirty and is mended by a step of a hundredth.
  Real size_of(Vec r) {
    const bool by_preconditioner = settings.judges_by_preconditioner();
    Real size = 0;
    if (by_preconditioner) preconditioner.apply(r, work);
    check_petsc(VecNorm(by_preconditioner ? work : r, NORM_2, &size));
    return size;
  }

  bool found_negative_curvature() const {
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    check_petsc(KSPGetConvergedReason(ksp, &reason));
    return reason == KSP_DIVERGED_INDEFINITE_MAT || reason == KSP_DIVERGED_INDEFINITE_PC;
  }

  /// At the unknowns where the residual was looked at last.
  PetscErrorCode linearise(Vec at) {
    problem.linearise(at, definite);
    PetscInt last = 0;
    check_petsc(KSPGetIterationNumber(ksp, &last));
    return preconditioner.set_up(definite, last);
  }

  // --- The step ----------------------------------------------------------------------------------------------------

  ImplicitReport advance(const ImplicitStep& step, std::span<const Wall> walls, Layer& layer,
                         std::span<Vec3> wall_impulse) {
    problem.begin_step(step, walls, layer.get<NodeInertia>());
    preconditioner.begin_step();
    problem.guess(x, residual_vector);
    residuals.clear();
    definite = false;
    options.solve([&] { return SNESSolve(snes, nullptr, x); });

    ImplicitReport report;
    SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
    PetscInt newton = 0, krylov = 0;
    check_petsc(SNESGetConvergedReason(snes, &reason));
    check_petsc(SNESGetIterationNumber(snes, &newton));
    check_petsc(SNESGetLinearSolveIterations(snes, &krylov));
    report.converged = reason > 0;
    report.newton = newton;
    report.krylov = krylov;
    if (!report.converged) report.failure = words_for(reason);
    report.residuals = residuals;
    problem.finish_step(x, layer, wall_impulse, report);
    return report;
  }
};

ImplicitGrid::ImplicitGrid(const Comm& comm, const BlockMap& map, std::vector<const Term*> terms,
                           std::vector<const Constraints*> constraints, ImplicitSettings settings)
    : solver_(std::make_unique<Solver>(comm, map, std::move(terms), std::move(constraints), std::move(settings))) {}

ImplicitGrid::~ImplicitGrid() = default;

ImplicitReport ImplicitGrid::advance(const ImplicitStep& step, std::span<const Wall> walls, Layer& layer,
                                     std::span<Vec3> wall_impulse) {
  return solver_->advance(step, walls, layer, wall_impulse);
}

}  // namespace weft
