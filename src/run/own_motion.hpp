#pragma once
// A body whose own freedoms move it in time, beside the grid.

#include "run/exact_holds.hpp"
#include "run/own_system.hpp"
#include "weft/bodies/roles.hpp"
#include "weft/coupling/mesh_term.hpp"
#include "weft/coupling/wall_contacts.hpp"
#include "weft/motion/dead_load.hpp"
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

/// What walls and handles gave to bodies on this rank in a try.
struct Given {
  std::vector<Impulse> by_walls, by_handles;
  Real contact_energy = 0;  ///< (StepReport) [J].
};

/// How many explicit substeps a step may have. has_surface: the body meets others at the end of steps, by points on its
/// surface.
int most_substeps(const StageDeck& stage, bool has_surface);

/// How large a step of a body may be that moves by itself; frequencies [rad/s]. A step that followed each change of
/// them would feed modes.
DtLimit own_limit(const Scene& scene, std::size_t b, const StepLimit& now, Real frequency_at_rest);

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
  /// The contact points that may touch walls in a step of at most dt [s], if walls act on these. bins: of contact
  /// points. Collective.
  void find_walls(const Bins& bins, const TransferSettings& transfer, Real dt);
  /// The forces on contact points that load the motion in the next tries [N].
  void load_contact_points(std::vector<Vec3> loads) { loads_ = std::move(loads); }
  /// Finds the motion over dt from the present state, which stays as it is.
  Refusal predict(Real dt) override;
  Refusal judge(Real) const override { return {}; }
  /// Of a step from the present state. Collective.
  DtLimit dt_limit();
  /// Takes what the grid did to its contact points in a step of dt: their change of velocity [m/s], and the part of it
  /// that is of other layers. Not collective.
  void receive(Real dt, std::span<const Vec3> change, std::span<const Vec3> by_layers);
  /// The same of a body whose contact points are its vertices. With the velocities v* that they scattered, those of the
  /// nodes v_i, the change dv of these and the share xi that vertices take over [Han 2020, (4.12)],
  ///   v_p = (1 - xi) (v* + dv) + xi sum_i w_ip v_i,   x_p += dt dv
  /// at_nodes: the sum [m/s]. What is taken over changes no place within the step: it damps motions that substeps have
  /// led nowhere. Not collective.
  void receive_blended(Real dt, std::span<const Vec3> change, std::span<const Vec3> at_nodes);
  /// Changes the motion that was predicted by what contact points received:
  ///   v_p' = v_p + sum_q b_pq m_q dv_q / m_p,   x_p' = x_p + dt (v_p' - v_p)                            (K.2, H2, H3)
  /// What is held stays so.
  void correct(Real dt);
  /// Contact points have the mean velocities of the step that was corrected as tentative ones.
  void show_motion(Real dt);
  /// Moves the body as predict found last; adds what walls and handles gave to it on this rank.
  void commit(Given& given);
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
    std::unique_ptr<DeadLoad> contact;         ///< What contact points remember; null without these.
    std::vector<Vec3> received;                ///< Impulses on vertices [N s], parts of elements of this rank.
    std::vector<Vec3> blended;                 ///< The same that vertices get by taking over velocities of nodes.
    Real frequency_at_rest;                    ///< Of the elements, on all ranks [rad/s]; 0 if it is not known.
  };

  /// The points that walls act on: contact points on a surface, else vertices.
  PointSet& touching_points() const;
  /// What gravity gives in dt [m/s].
  Vec3 fall(Real dt) const;
  /// Vertices that are contact points scatter velocities without gravity, which the nodes of their layer add.
  void take_off_gravity(Real dt);
  FreedomValues change_by(std::span<const Vec3> impulses, Real dt);
  void begin(Real dt);
  void meet_walls(Real dt);
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
  void count_holds(std::span<const Real> impulses, Real end, std::span<const Vec3> mean_velocity);
  void count_hold(std::size_t handle, std::span<const Real> impulses, Real end, std::span<const Vec3> mean_velocity);
  std::span<const Vec3> positions() const;

  const Comm comm_;
  const Scene& scene_;
  const RunState& state_;
  const std::size_t body_;
  const StageDeck stage_;
  const StopQuestion& is_asked_to_stop_;
  std::optional<Parts> parts_;
  std::vector<Vec3> loads_;  ///< On contact points.
  WallContacts walls_;
  Given given_;  ///< In the step that was predicted.
};

}  // namespace weft
