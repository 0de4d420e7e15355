#pragma once
// How far Newton's method follows a direction.

#include "solve/newton.hpp"

#include <functional>

namespace weft {

/// A drag against motion, in units of the typical stiffness, that a problem has on its diagonal. A step of full length
/// lowers it, a short one raises it [Levenberg 1944]; one of zero stays.
struct Drag {
  Real value = 0;
  void note(bool full_step);
};

/// Descends the energy of a problem: a full step unless the energy then falls too little [Armijo 1966]; where round-off
/// hides the fall, slopes decide [Hager & Zhang 2005]. What the problem dictates of a step is done in full. Where exact
/// matrices have negative curvature or lead nowhere, the next Newton steps take definite ones: two, and twice as many
/// each time that exact ones fail again.
class EnergySearch final : public StepSearch {
 public:
  EnergySearch(NewtonProblem& problem, const LinearSolve& linear, Drag& drag)
      : problem_(problem), linear_(linear), drag_(drag) {}
  bool take(const SearchVectors& at) override;
  void note(std::span<const Real> residuals) override;

 private:
  bool descend(const SearchVectors& at);
  void be_definite_for_a_while();

  NewtonProblem& problem_;
  const LinearSolve& linear_;
  Drag& drag_;
  int next_while_ = 0, steps_left_ = 0;  ///< Steps with definite matrices.
};

/// Halves a step until `size` of the residual falls. Where no length does, x goes on by the least.
class ResidualSearch final : public StepSearch {
 public:
  ResidualSearch(NewtonProblem& problem, std::function<Real(Vec)> size, Drag& drag)
      : problem_(problem), size_(std::move(size)), drag_(drag) {}
  bool take(const SearchVectors& at) override;

 private:
  NewtonProblem& problem_;
  const std::function<Real(Vec)> size_;
  Drag& drag_;
};

/// Full steps, or steps damped by the error that is left [Nowak & Weimann 1991], with a drag that fades as the forces
/// balance [Mulder & van Leer 1985, switched evolution relaxation].
class FullSteps final : public StepSearch {
 public:
  FullSteps(bool damped, Drag& drag) : damped_(damped), drag_(drag) {}
  SNESLineSearchType kind() const override { return damped_ ? SNESLINESEARCHNLEQERR : SNESLINESEARCHBASIC; }
  void note(std::span<const Real> residuals) override;

 private:
  const bool damped_;
  Drag& drag_;
};

/// Goes no farther than forces work along the way: a step is shortened until the forces -r at its end do not oppose it
/// more than half as much as they drive its beginning. No energy is asked for, since a pressure has none. After a
/// step of full length matrices are exact, as long as these lead downhill.
class WorkDescent final : public StepSearch {
 public:
  /// conditions_hold(r): whether what the residual says beside forces is met; else any finite step is taken.
  WorkDescent(NewtonProblem& problem, std::function<bool(Vec)> conditions_hold, Drag& drag)
      : problem_(problem), conditions_hold_(std::move(conditions_hold)), drag_(drag) {}
  bool take(const SearchVectors& at) override;

 private:
  NewtonProblem& problem_;
  const std::function<bool(Vec)> conditions_hold_;
  Drag& drag_;
};

}  // namespace weft
