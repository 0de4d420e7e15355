#pragma once
// Newton's method over a problem: the only place that has a SNES of PETSc. Small strategies say how far steps go and
// how linear systems are solved.

#include "solve/petsc_options.hpp"
#include "weft/base/interrupted.hpp"
#include "weft/base/types.hpp"
#include "weft/parallel/comm.hpp"

#include <petscsnes.h>

#include <limits>
#include <vector>

namespace weft {

/// Energy and what may be round-off of it [J].
struct NoisyEnergy {
  Real value;
  Real noise;
};

/// What Newton's method solves: residual(x) = 0, the derivative of an energy where there is one. All members but the
/// settings of `definite` are collective.
class NewtonProblem {
 public:
  virtual ~NewtonProblem() = default;

  /// Energy at x; for problems that have one.
  virtual NoisyEnergy energy(Vec x) {
    static_cast<void>(x);
    return {std::numeric_limits<Real>::quiet_NaN(), 0};
  }
  /// Returns false where x is not admissible; a residual that is not finite says so too.
  virtual bool residual(Vec x, Vec out) = 0;
  /// Takes the derivative of the residual at x, where the residual was looked at last.
  virtual void linearise(Vec x) = 0;
  /// Size of what balances where the residual was looked at last, in the unit of the residual's norm.
  virtual Real reference() const = 0;
  /// Norms of the residual beneath are round-off after so many steps.
  virtual Real noise(int iteration) const = 0;

  /// Whether what is asked for beside the norm of all of the residual holds where it was looked at last, after so many
  /// steps: conditions, and the balance of each part.
  virtual bool parts_are_met(Real tolerance, int iteration) const {
    static_cast<void>(tolerance), static_cast<void>(iteration);
    return true;
  }
  /// What the problem dictates of a step x - dx, whatever its length: that part goes from dx to -x.
  virtual void dictate(Vec x, Vec dx) const { static_cast<void>(x), static_cast<void>(dx); }
  /// Slope of the energy along dx where the residual is r: r . dx, or the part of it that is work of forces.
  virtual Real slope(Vec r, Vec dx) const {
    Real sum = 0;
    check_petsc(VecDot(r, dx, &sum));
    return sum;
  }

  /// Whether derivatives belong to symmetric matrices without negative eigenvalues, from the next `linearise` on.
  bool is_definite() const { return is_definite_; }
  void be_definite(bool is) { is_definite_ = is; }

 private:
  bool is_definite_ = false;
};

/// How the linear systems of Newton's method are solved.
class LinearSolve {
 public:
  virtual ~LinearSolve() = default;
  /// Of the systems.
  virtual Mat matrix() const = 0;
  /// Chooses the method, before the user's options may change it.
  virtual void attach(KSP ksp) = 0;
  /// After the user's options; the code is theirs.
  virtual PetscErrorCode take_options() = 0;
  /// Makes ready for the derivative that the problem has now; the code is that of PETSc's options.
  virtual PetscErrorCode set_up() = 0;
  /// Says how well the next system is to be solved: from the norms of the residual so far, and where they are to go.
  virtual void aim(std::span<const Real> residuals, Real goal) {
    static_cast<void>(residuals), static_cast<void>(goal);
  }
  /// Whether Newton's method goes on with solutions that are not as good as asked for.
  virtual bool may_fall_short() const = 0;
  /// Whether the last system was found to have a direction of negative curvature.
  virtual bool found_negative_curvature() const { return false; }
};

/// Where a search is: the point x, the residual f there, the direction (a full step leads to x - dx), and work.
struct SearchVectors {
  Vec x, f, dx, trial, trial_f;
};

/// How far steps go along Newton's direction, unless the user's options say.
class StepSearch {
 public:
  virtual ~StepSearch() = default;
  /// The kind of PETSc; `SNESLINESEARCHSHELL` asks for `take`.
  virtual SNESLineSearchType kind() const { return SNESLINESEARCHSHELL; }
  /// Takes x along dx and f to the residual there. False: no step comes nearer. Collective.
  virtual bool take(const SearchVectors& at) {
    static_cast<void>(at);
    return false;
  }
  /// Sees the norms of the residual, the last one included, before it is judged.
  virtual void note(std::span<const Real> residuals) { static_cast<void>(residuals); }
};

/// When Newton's method ends: at a norm of the residual below tolerance times the reference of the problem, plus noise.
struct NewtonGoal {
  Real tolerance;
  int max_iterations;
  StopQuestion is_asked_to_stop{};  ///< Before each step; none: never.
};

enum class NewtonEnd { converged, too_many_steps, no_linear_solution, not_finite, no_step, diverged };

struct NewtonReport {
  NewtonEnd end = NewtonEnd::diverged;
  int newton = 0, krylov = 0;   ///< Iterations.
  Real residual = 0;            ///< The last norm.
  std::vector<Real> residuals;  ///< Before the first and after each Newton step.
};

/// One solver for many solves of a problem. Nothing is owned but PETSc's objects. All members are collective.
class Newton {
 public:
  /// shortest_step: a step that no search can make better counts as the end if it is shorter than this part of x.
  /// Throws Error(deck) if PETSc cannot set up what an option asks for.
  Newton(const Comm& comm, PetscDatabase& options, NewtonProblem& problem, LinearSolve& linear, Real shortest_step);
  ~Newton();
  Newton(const Newton&) = delete;
  Newton& operator=(const Newton&) = delete;

  /// x: in, a guess; out, where the method ended. Throws Interrupted.
  NewtonReport solve(Vec x, StepSearch& search, const NewtonGoal& goal);

 private:
  void create(const Comm& comm, Real shortest_step);
  void search_by(StepSearch& search);
  void look(SNES snes, Vec at, Vec out);
  void search(SNESLineSearch line);
  void judge(int iteration, Real norm, SNESConvergedReason* reason);

  PetscDatabase& options_;
  NewtonProblem& problem_;
  LinearSolve& linear_;
  SNES snes_ = nullptr;
  // Of the solve that is going on.
  StepSearch* search_ = nullptr;
  NewtonGoal goal_{};
  std::vector<Real> residuals_;
  bool is_interrupted_ = false;
};

}  // namespace weft
