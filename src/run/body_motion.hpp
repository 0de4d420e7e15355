#pragma once
// A body that moves beside the grid, and may meet it by contact points.

#include "run/state.hpp"
#include "weft/bodies/roles.hpp"
#include "weft/coupling/wall_contacts.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/scene/scene.hpp"

#include <functional>
#include <span>
#include <vector>

namespace weft {

/// What walls, handles and joints gave to bodies on this rank in a try.
struct Given {
  std::vector<Impulse> by_walls, by_handles, by_joints;
  Real contact_energy = 0;  ///< (StepReport) [J].

  Given() = default;
  /// Nothing, as yet.
  explicit Given(const Scene& scene)
      : by_walls(scene.walls.size()), by_handles(scene.handles.size()), by_joints(scene.joints.size()) {}
  Given& operator+=(const Given& more);
};

/// Changes velocities of vertices to what the body can do; of rows of its vertices.
using ProjectVelocities = std::function<void(std::span<Vec3>)>;

/// The motion of one body, which keeps its state until the step is accepted. Contact with walls and with other layers
/// is the same for all: contact points remember the forces of both, which load the motion in its next step, or in the
/// next pass of this one. Scene and state are not owned. All members are collective but where they say otherwise.
class BodyMotion : public Predicts {
 public:
  /// body: its number in the scene.
  BodyMotion(const Comm& comm, const Scene& scene, const RunState& state, std::size_t body);

  std::size_t body() const { return body_; }
  /// The contact points that may touch walls in a step of at most dt [s], if walls act on these. bins: of contact
  /// points. Returns what ranks have to agree on before walls act.
  WallContacts& find_walls(const Bins& bins, const TransferSettings& transfer, Real dt);
  void let_walls_reach_vertices();

  /// A step begins, in which its surface meets another one, or itself, or does not. Not collective.
  void begin_step(bool meets_surface) { repeats_ = contact_passes_ && (meets_surface || !needs_surface()); }
  /// Whether it repeats contact only where surfaces meet.
  bool needs_surface() const { return contact_passes_ && contact_passes_->beside_surfaces_alone; }
  /// A try begins: contact points have the forces of the last step again. Not collective.
  void begin_passes();
  /// The forces of contact points on other layers in this pass [N].
  std::span<const Vec3> contact_forces() const { return forces_; }
  /// What of it loads the next motion [N]. Not collective.
  void load_contact_points(std::vector<Vec3> loads) { loads_ = std::move(loads); }
  std::span<const Vec3> contact_loads() const { return loads_; }
  /// After a pass in a step of dt: adds what other layers still changed [m/s] to the forces. passes: made so far.
  /// is_hit: rigid bodies hit one another. Returns whether the change calls for another one, on any rank.
  bool wants_another_pass(Real dt, int passes, bool is_hit, std::span<const Vec3> by_layers);
  /// Whether passes end with this one at the latest, where rigid bodies hit one another or do not. Not collective.
  static bool is_last_pass(int passes);
  /// Why the passes that were made are not enough, of an implicit body or in a hit.
  const Refusal& refusal_of_passes() const { return refusal_of_passes_; }
  /// Whether it may want one in this step.
  bool may_repeat() const { return repeats_; }

  /// Finds the motion over dt from the present state, which stays as it is.
  Refusal predict(Real dt) override = 0;
  /// What contact points have got since the first pass, in place of what passes added to their forces [N]. Not
  /// collective.
  void remember_since_first(std::span<const Vec3> forces);
  /// Before contact points scatter in another pass of a step of dt; passes: made so far.
  virtual void weigh_contact_points(Real dt, int passes) { static_cast<void>(dt), static_cast<void>(passes); }
  /// Whether the motion that is predicted is implicit: it answers to walls already, by a WallTerm over its vertices,
  /// and as a whole to other layers.
  virtual bool is_implicit() const { return false; }
  Refusal judge(Real) const override { return {}; }
  /// Of a step from the present state.
  virtual DtLimit dt_limit() = 0;
  /// In a step of dt; 0: it has none. Not collective.
  virtual int substeps(Real dt) const {
    static_cast<void>(dt);
    return 0;
  }
  /// Of the fastest vibration in a step of dt [rad/s]. Not collective.
  virtual Real frequency(Real dt) const = 0;
  /// Takes what the grid did to its contact points: their change of velocity [m/s]. Not collective.
  void receive(std::span<const Vec3> change);
  /// Hits leave no force to remember: takes what they gave to contact points in a step of dt [m/s].
  void forget(Real dt, std::span<const Vec3> by_hits);
  /// Contact points that are vertices are about to receive in a step of dt. Not collective.
  virtual void begin_blend(Real dt);
  /// Some of these, by row: as `receive`; at_nodes: what the velocities of nodes are at them [m/s]. Called by several
  /// threads at once, for different rows.
  virtual void receive_blended(ChunkRows rows, std::span<const Vec3> change, std::span<const Vec3> at_nodes);
  /// Changes the motion that was predicted by what contact points received:
  ///   v_p' = v_p + sum_q b_pq m_q dv_q / m_p,   x_p' = x_p + dt (v_p' - v_p)                            (K.2, H2, H3)
  /// What is held stays so.
  virtual void correct(Real dt) = 0;
  /// Of contact points that are vertices in the step so far, by row [m], and their velocities at its end [m/s].
  virtual std::span<const Vec3> displacements() const;
  virtual std::span<const Vec3> velocities() const;
  /// Moves the body as predict found last; adds what was given to it on this rank.
  virtual void commit(Given& given) = 0;
  /// Change of the potential energy from the start of the step to where the last explicit velocities were found at the
  /// end of a substep, or of implicit ones to the end [J], on all ranks.
  virtual Real potential_gained_before_last() = 0;
  /// Elastic energy of the joints of clamps, which its elements do not count, on this rank [J]; none before the first
  /// step. Not collective.
  virtual Real energy_of_clamps() const { return 0; }

 protected:
  MeshBody& mesh() const;
  /// What contact with walls has to know of a body that moves as a whole, in a step of dt.
  virtual std::optional<TouchingSet::Whole> whole(Real dt) {
    static_cast<void>(dt);
    return {};
  }
  WallContacts& walls() { return walls_; }
  /// Whether it rebounds from a wall on this rank, as predicted last.
  bool rebounds_from_walls() const { return walls_.any_rebounds(); }
  /// Of contact points, by row, whether they are led, so that walls let them pass; empty: none is. Collective.
  virtual std::function<bool(std::uint32_t)> led_points() const { return {}; }
  /// Whether contact points lie on the surface, and remember contact; else they are the vertices.
  bool has_surface() const { return scene_.layer_of(body_).has_contact_points; }
  const std::string& name() const { return scene_.bodies[body_]->name(); }
  /// Begins a try, whose first part is of dt: what contact points remember, and walls unless they are in the motion, as
  /// forces on vertices [N].
  std::vector<Vec3> remembered_forces(Real dt);
  /// The same in the next part, where vertices have moved by so much in the one before [m].
  std::vector<Vec3> go_on(std::span<const Vec3> moved);
  /// The impulses that walls have given to vertices in this part beside what was remembered [N s]. Not collective.
  std::vector<Vec3> news_of_walls(Real dt) const;
  /// Lets walls act at the end of a step, or a part of it, on vertices with mean velocities v over it [m/s], of owned
  /// rows with these masses: changes v. dt_before: of the step or part before [s].
  void meet_walls(std::span<const Real> mass, Real dt_before, std::span<Vec3> v, const ProjectVelocities& project = {});
  /// Made in this try.
  int passes() const { return passes_; }
  /// Keeps what was found, and moves contact points with the vertices.
  void keep_contact(std::span<const Real> turns, Given& given);

  const Comm comm_;
  const Scene& scene_;
  const RunState& state_;
  const std::size_t body_;
  std::vector<Vec3> received_;  ///< Impulses on vertices [N s], parts of elements of this rank; of vertices that are
                                ///< contact points changes of their velocities [m/s].
  Given given_;                 ///< In the step that was predicted.

 private:
  /// None where nothing acts.
  std::vector<Vec3> forces_on_vertices() const;

  std::optional<ContactPasses> contact_passes_;
  bool repeats_ = false;  ///< In this step.
  int passes_ = 0;
  std::vector<Vec3> forces_, loads_;  ///< Of contact points.
  std::vector<Vec3> first_forces_;    ///< Of the first pass.
  Refusal refusal_of_passes_;
  WallContacts walls_;
};

}  // namespace weft
