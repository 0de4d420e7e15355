#pragma once
// A body whose own freedoms move it in time, beside the grid.

#include "run/exact_holds.hpp"
#include "run/own_system.hpp"
#include "weft/bodies/roles.hpp"
#include "weft/coupling/mesh_term.hpp"
#include "weft/motion/inertia.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/run/state.hpp"
#include "weft/solve/equilibrium.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// How many explicit substeps a step may have.
int most_substeps(const StageDeck& stage);

/// In n substeps of h = dt / n, explicit ones by symplectic Euler as the grid's,
///   v' = v + M^-1 (h f(x) + W^T lambda),   x' = x + h v',   W x' = goal(t + h),
/// with the impulses lambda of holds from W M^-1 W^T; implicit ones by backward Euler,
///   M (x' - x - h v) / h^2 = f(x') + W^T mu,   v' = (x' - x) / h.
/// Elements remember the start of the whole step. Scene and state are not owned. All members are collective.
class OwnMotion final : public Predicts {
 public:
  /// body: its number in the scene. is_asked_to_stop: between Newton's steps, not owned; as they stand then.
  OwnMotion(const Comm& comm, const Scene& scene, const RunState& state, std::size_t body,
            const StopQuestion& is_asked_to_stop);

  std::size_t body() const { return body_; }
  /// Finds the motion over dt from the present state, which stays as it is.
  Refusal predict(Real dt) override;
  Refusal judge(Real) const override { return {}; }
  /// Moves the body as predict found last; adds what handles gave to it on this rank.
  void commit(std::span<Impulse> impulses);
  /// Change of the potential energy from the start of the step to where the last explicit velocities were found at the
  /// end of a substep, or of implicit ones to the end [J], on all ranks.
  Real potential_gained_before_last();

 private:
  /// What there is once the body has its piece for good.
  struct Parts {
    Parts(const Comm& comm, const Scene& scene, std::size_t body);

    OwnSystem system;
    std::vector<Real> mass;  ///< Of the owned rows of vertices, and of those of turns [kg].
    std::vector<Real> mass_of_turns;
    std::optional<std::size_t> turns;  ///< Their block.
    Motion motion;
    FreedomValues velocity;
    FreedomValues before_last;  ///< Displacements where the last substep began.
    ExactHolds holds;
    std::vector<Inertia> inertia;              ///< Of each block.
    std::unique_ptr<MeshTerm> damping;         ///< Null if the body is not viscous.
    std::unique_ptr<Equilibrium> equilibrium;  ///< Of implicit steps.
    Real frequency_at_rest;                    ///< Of the elements, on all ranks [rad/s]; 0 if it is not known.
  };

  void begin();
  int substeps(Real dt) const;
  Real frequency_at_rest(const StepLimit& now) const;
  /// Damping goes by changes from here on.
  void begin_substep(Real h, const Motion& start);
  void step_explicitly(Real h, Real end);
  /// Whether explicit substeps of h are stable where the body is now. Collective.
  bool is_stable(Real h) const;
  EquilibriumReport step_implicitly(Real h, Real end);
  /// Counts what loads and clamps give over h, with the mean velocity over it.
  void count_loads(Real h, const FreedomValues& mean_velocity);
  void count_hold(std::size_t handle, std::span<const Real> impulses, Real end, std::span<const Vec3> mean_velocity);
  std::span<const Vec3> positions() const;

  const Comm comm_;
  const Scene& scene_;
  const RunState& state_;
  const std::size_t body_;
  const StageDeck stage_;
  const StopQuestion& is_asked_to_stop_;
  std::optional<Parts> parts_;
  std::vector<Impulse> given_;  ///< By each handle of the scene, in the step that was predicted.
};

}  // namespace weft
