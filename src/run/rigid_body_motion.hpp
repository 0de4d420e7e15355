#pragma once
// The motion of a rigid body.

#include "run/body_motion.hpp"
#include "run/own_system.hpp"
#include "weft/bodies/rigid_frame.hpp"
#include "weft/coupling/layer_contact.hpp"

namespace weft {

/// Forces on nodes, or impulses, at positions r from the centre of a body, and the masses m of nodes that touch.
struct NodeForces {
  static constexpr int reals = 25;
  Vec3 force = Vec3::Zero();
  Mat3 moment = Mat3::Zero();  ///< sum f r^T.
  Real mass = 0;               ///< sum m [kg],
  Vec3 first = Vec3::Zero();   ///< sum m r [kg m],
  Mat3 second = Mat3::Zero();  ///< sum m r r^T [kg m^2].

  void add(const Vec3& f, Real m, const Vec3& r) {
    force += f;
    moment += f * r.transpose();
    mass += m;
    first += m * r;
    second += m * r * r.transpose();
  }
};

/// Momenta take the loads of the step, then the body moves by them (17.2). Impulses of walls and other layers at the
/// end change the momenta, and the body moves anew from where the step began. The four points are on one rank.
class RigidBodyMotion final : public BodyMotion {
 public:
  RigidBodyMotion(const Comm& comm, const Scene& scene, const RunState& state, std::size_t body);

  Refusal predict(Real dt) override;
  bool is_led() const { return frame_.is_led(); }
  /// Of the body on the rank that has it, else zero: as the step begins, and over the step as predicted last. Not
  /// collective.
  RigidVelocity velocity_now() const;
  RigidVelocity velocity_predicted() const;
  /// Whether it rebounds from a wall, as predicted last, on the rank that has the body.
  bool leaves_wall() const { return is_here() && rebounds_from_walls(); }
  /// What nodes remember loads the next motion [N], and what they do changes the last one [N s]. Not collective.
  void load(const NodeForces& forces);
  void push(const NodeForces& impulses);
  /// Nodes that touch together carry as much as the body lets them: with the inertia A of these and B of the body,
  /// six by six, and the masses of contact points times s,
  ///   s = 1 / (largest eigenvalue of B^-1 A)                                                                    (17.3)
  /// so that a pass changes the body by no more than it changes its nodes, and by as much as it can.
  void weigh_contact_points(Real dt, int passes) override;
  /// That s on the rank that has the body, else zero.
  Real scale_of_contact_points() const { return is_here() ? scale_ : 0; }
  DtLimit dt_limit() override;
  /// Nothing in it vibrates; springs of contact are as stiff as steps resolve, but no stiffer in short ones: surfaces
  /// that are too near would part the faster.
  Real frequency(Real dt) const override;
  void correct(Real dt) override;
  void commit(Given& given) override;
  Real potential_gained_before_last() override { return 0; }

 private:
  /// Springs as stiff as move the body by a gap in a step, whatever point touches. A round body that rolls touches with
  /// points that are ahead as a step begins: to act there would brake it, by g spin dt.
  std::optional<TouchingSet::Whole> whole(Real dt) override;
  /// Of what has fallen by about dx [m/s].
  Real speed_of_fall() const;
  bool is_here() const;
  FourPoints four(std::span<const Vec3> values) const;
  /// Turned as they will be at the end of the step that walls were looked for.
  FourPoints turned(const FourPoints& x) const;
  void move(Real dt);
  void let_walls_act(Real dt);
  /// Adds the impulses of handles in a step of dt, which are at the start of the step.
  void take_loads(Real dt, RigidMomentum& sum);
  /// What they gave, with the mean of the velocities before and after.
  void count_loads();
  std::vector<Vec3> mean_velocities(Real dt) const;

  const RigidFrame& frame_;
  const std::optional<std::size_t> joint_;  ///< Number in Scene::joints.
  std::optional<OwnSystem> system_;         ///< Once the body has its piece for good, if handles load it.
  std::vector<FourPoints> loads_;           ///< Of each handle of the scene: impulses on the points [N s].
  RigidMomentum momentum_{};                ///< At the end of the step, but for the joint.
  RigidFrame::Moved moved_{};
  Real dt_ = 0;                          ///< Of that motion [s].
  Mat3 turn_ = Mat3::Zero();             ///< TouchingSet::Whole::turn.
  Real scale_ = 1, smallest_scale_ = 1;  ///< Of contact points: now, and in the passes so far.
  NodeForces by_memory_{};               ///< What loads it.
  FourPoints node_loads_{};              ///< [N].
  FourPoints by_nodes_{};                ///< [N s].
};

}  // namespace weft
