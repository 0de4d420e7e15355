#pragma once
// A body whose own freedoms move it in time, beside the grid.

#include "run/body_motion.hpp"
#include "run/exact_holds.hpp"
#include "run/own_system.hpp"
#include "weft/coupling/mesh_term.hpp"
#include "weft/coupling/wall_term.hpp"
#include "weft/motion/dead_load.hpp"
#include "weft/motion/inertia.hpp"
#include "weft/solve/equilibrium.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// How many explicit substeps a step may have. has_contact: the body meets others, or itself, at the end of steps.
/// damping_ratio: of its fastest mode [1].
int most_substeps(const StageSettings& stage, bool has_contact, Real damping_ratio);

/// The fastest mode of a body at rest.
struct FastestAtRest {
  Real frequency = 0;      ///< Of the elements [rad/s].
  Real damping_ratio = 0;  ///< At the least [1].
};

/// How large a step of a body may be that moves by itself. A step that followed each change of its frequencies would
/// feed modes.
DtLimit own_limit(const Scene& scene, std::size_t b, const StepLimit& now, const FastestAtRest& at_rest);

/// In n substeps of h = dt / n, explicit ones by symplectic Euler as the grid's, each with its contact with walls,
///   v' = v + M^-1 (h f(x) + W^T lambda),   x' = x + h v',   W x' = goal(t + h),
/// with the impulses lambda of holds from W M^-1 W^T; implicit ones by backward Euler,
///   M (x' - x - h v) / h^2 = f(x') + W^T mu,   v' = (x' - x) / h.
/// Elements remember the start of the whole step.
class OwnMotion final : public BodyMotion {
 public:
  /// is_asked_to_stop: between Newton's steps, not owned; as they stand then.
  OwnMotion(const Comm& comm, const Scene& scene, const RunState& state, std::size_t body,
            const StopQuestion& is_asked_to_stop);

  Refusal predict(Real dt) override;
  DtLimit dt_limit() override;
  int substeps(Real dt) const override;
  Real frequency(Real) const override { return state_.limits[body()].vibration(); }
  /// What the grid did to contact points that are vertices. With the velocities v* that they scattered, those of the
  /// nodes v_i, the change dv of these and the share xi that vertices take over [Han 2020, (4.12)],
  ///   v_p = (1 - xi) (v* + dv) + xi sum_i w_ip v_i,   x_p += dt dv
  /// at_nodes: the sum [m/s]. What is taken over changes no place within the step: it damps motions that substeps have
  /// led nowhere. Not collective.
  /// Of an implicit body they weigh what its answer to the last change of their forces says.
  void weigh_contact_points(Real dt, int passes) override;
  void receive_blended(ChunkRows rows, std::span<const Vec3> change, std::span<const Vec3> at_nodes) override;
  void begin_blend(Real dt) override;
  void correct(Real dt) override;
  std::span<const Vec3> displacements() const override;
  void commit(Given& given) override;
  Real potential_gained_before_last() override;
  Real energy_of_clamps() const override;
  /// One over the masses of vertices at the end of a step of dt, 0 of those whose places are held [1/kg].
  std::vector<Real> lightness(Real dt) const;
  /// The velocities of vertices that were predicted and corrected [m/s].
  std::span<const Vec3> velocities() const override { return std::as_const(piece_->velocity).points(0); }
  /// Changes that motion by impulses on owned vertices [N s], as `correct` does. What is held stays so. Collective.
  void push(Real dt, std::span<const Vec3> impulses);

 private:
  /// What there is once the body has its piece for good.
  struct Piece {
    Piece(const Comm& comm, const Scene& scene, std::size_t body);

    OwnSystem system;
    std::span<const Real> mass;  ///< Of the owned rows of vertices, and of those of turns [kg].
    std::span<const Real> mass_of_turns;
    std::optional<std::size_t> turns;  ///< Their block.
    Motion motion;
    FreedomValues velocity;
    std::optional<FreedomValues> before_last;    ///< Displacements where the last substep began; none: it is the first.
    std::optional<ExactHolds> holds;             ///< None without holds.
    std::vector<Inertia> inertia;                ///< Of each block, in implicit steps.
    std::unique_ptr<MeshTerm> damping;           ///< Null if the body is not viscous.
    std::unique_ptr<WallTerm> walls;             ///< Of implicit steps near walls,
    std::unique_ptr<Equilibrium> equilibrium;    ///< and what solves them.
    std::unique_ptr<DeadLoad> contact;           ///< What contact points remember; null without these.
    std::vector<Vec3> forces, loads, tentative;  ///< Of contact points in the last pass.
    Real scale = 1;                              ///< Of their masses.
    // Of vertices that meet the grid themselves.
    struct Blend {
      Real dt, share;  ///< Of the velocities of nodes that they take over in this step,
      Vec3 fall;       ///< and what gravity gives [m/s].
    } blend{};
    std::vector<Vec3> blended;  ///< Changes of velocities by what is taken over, unless they act at once [m/s].
    FastestAtRest at_rest;      ///< On all ranks.
  };

  /// What gravity gives in dt [m/s].
  Vec3 fall(Real dt) const;
  /// Vertices that are contact points scatter velocities without gravity, which the nodes of their layer add.
  void predict_vertices(Real dt);
  bool has_handles() const;
  bool has_balanced_turns() const { return mesh().has_balanced_turns(); }
  std::vector<Real> meet_holds(Real h, Real end, std::span<Vec3> v);
  void hold(Real dt, Real end, std::span<Vec3> dv);
  bool acts_at_once() const;
  void take_over();
  void count_change(std::span<const Real> by_holds, Real end, std::span<const Vec3> dv);
  FreedomValues summed(std::span<const Vec3> parts) const;
  FreedomValues change_by(std::span<const Vec3> impulses, Real dt, Real end);
  void push(Real dt, Real end, std::span<const Vec3> impulses);
  bool is_implicit() const override { return stage_.is_implicit; }
  void begin(std::vector<Vec3> forces);
  void begin_balance();
  /// Another pass of a single implicit step looks for its motion where the last one found it.
  bool starts_from_last_pass() const { return is_implicit() && passes() > 0 && stage_.substeps <= 1; }
  Refusal move(Real dt, bool nearly = false);
  void answer(Real dt);
  std::vector<Vec3> moved_in_substep() const;
  void let_walls_act(Real h, Real end);
  /// Vertices whose places are held at `end`.
  std::vector<bool> held(Real end) const;
  std::function<bool(std::uint32_t)> led_points() const override;
  ConstraintRows rows_of_holds(Real end) const;
  FastestAtRest at_rest(const StepLimit& now) const;
  /// Damping goes by changes from here on.
  void begin_substep(Real h, const Motion& start);
  void step_explicitly(Real h, Real end);
  /// Where vertices are at a motion [m].
  std::vector<Vec3> places(const FreedomValues& u) const;
  void balance_turns();
  /// Takes from the velocities what elements lose of the motion within them in h.
  void damp(Real h);
  /// Bound of the frequencies of the body with its clamps, from that without them, at a motion [rad/s]. Collective.
  Real with_clamps(Real frequency, const Motion& at) const;
  /// Why the body goes no further from where it is now in substeps of h, if it does not: explicit ones have become
  /// unstable, or a segment has turned too far. Collective.
  Refusal look(Real h) const;
  /// nearly: for another pass of contact.
  EquilibriumReport step_implicitly(Real h, Real end, bool nearly);
  /// Elastic energy of the joints of clamps at a motion [J]. Not collective.
  Real energy_of_clamps(const Motion& at) const;
  /// Counts what loads and clamps give over h, with the mean velocity over it.
  void count_loads(Real h, const FreedomValues& mean_velocity, const Motion* before = nullptr);
  void count_holds(std::span<const Real> impulses, Real end, std::span<const Vec3> mean_velocity);
  std::span<const Vec3> positions() const;

  const StageSettings stage_;
  const StopQuestion& is_asked_to_stop_;
  std::optional<Piece> piece_;
  StepLimit now_;  ///< Where the step begins, with what clamps add.
};

}  // namespace weft
