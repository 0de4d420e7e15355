#pragma once
// Rigid bodies as four points of equal mass, free or on a joint. [docs/theory/rigid.md]

#include "weft/base/impulse.hpp"
#include "weft/geometry/rigid_motion.hpp"

#include <array>
#include <optional>
#include <span>

namespace weft {

/// What ties a rigid body to the world.
struct Joint {
  enum class Kind { ball, hinge, slider, prescribed };
  Kind kind;
  Vec3 point;                 ///< Of a ball or hinge: what stays [m].
  Vec3 axis;                  ///< Of a hinge or slider: unit.
  Real damping = 0;           ///< [N m s] of turns, [N s/m] of a slider.
  Real drive = 0;             ///< Torque of a hinge [N m], force of a slider [N].
  std::optional<Real> speed;  ///< Prescribed: [rad/s] of a hinge, [m/s] of a slider.
  RigidMotion motion{};       ///< Of a body whose poses are prescribed.

  /// Whether it leaves the body no freedom.
  bool leads() const { return speed.has_value() || kind == Kind::prescribed; }
};

/// Of a rigid body, about its centre.
struct RigidMomentum {
  Vec3 linear;   ///< [kg m/s].
  Vec3 angular;  ///< [kg m^2/s].
};
struct Twist {
  Vec3 velocity;  ///< Of the centre [m/s].
  Vec3 spin;      ///< [rad/s].
};

/// How heavy a rigid body is, at rest.
struct RigidMass {
  Real mass;           ///< [kg].
  Vec3 centre;         ///< [m].
  Mat3 second_moment;  ///< About the centre, the integral of r r^T dm [kg m^2].
};
/// The second moment of a body with this inertia [kg m^2]: (tr I) / 2 - I.
Mat3 second_moment_of_inertia(const Mat3& inertia);

/// Places or velocities of the four points.
using FourPoints = std::array<Vec3, 4>;

/// The four points of a body with centre c, mass M and second moment S = integral of r r^T dm at rest:
///   x_k = c + sqrt(S / M) t_k,   t_k = (1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1) (17.1)
/// Each has M / 4, and all together M, c and S, since sum_k t_k = 0 and sum_k t_k t_k^T = 4 I.
FourPoints equal_points(const RigidMass& of);
/// The weights b_k = (1 + t_k . sqrt(S / M)^-1 (x - c)) / 4 of a position x that moves with them: sum_k b_k x_k = x.
std::array<Real, 4> weights_at(const FourPoints& rest, const Vec3& x);

/// The gradient of velocities that are affine and have these values at the points x.
Mat3 gradient(const FourPoints& x, const FourPoints& v);
/// Forces on the points x that do the work of forces f at positions r from the centre; force: their sum, moment: sum f
/// r^T.
FourPoints forces_on(const FourPoints& x, const Vec3& force, const Mat3& moment);

/// How these points move.
class RigidFrame {
 public:
  RigidFrame(Real mass, const FourPoints& rest, std::optional<Joint> joint);

  Real mass() const { return 4 * mass_; }  ///< Of all [kg].
  /// How far its points are from the centre: the polar radius of gyration, nearly [m].
  Real radius() const;
  RigidMomentum momentum(const FourPoints& x, const FourPoints& v) const;
  /// How the body moves with them, whatever the joint.
  Twist twist(const FourPoints& x, const FourPoints& v) const;
  /// From rest to there.
  Mat3 rotation(const FourPoints& x) const;
  /// Adds forces on the points, or impulses, to those about the centre.
  static void add(const FourPoints& x, const FourPoints& forces, RigidMomentum& sum);
  /// The change of motion by impulses on the body, of which the joint takes its part.
  Twist answer(const FourPoints& x, const RigidMomentum& impulse) const;

  struct Moved {
    FourPoints x, v;   ///< v: of a rigid motion with the momentum at the end.
    Impulse by_joint;  ///< About the origin.
  };
  /// A step of dt from velocities v, with momentum p: theirs and the loads of the step. Free turns f keep angular
  /// momentum, and are those of Moser and Veselov:  sum_k m_k r_k x f r_k = dt L (17.2) A joint does work by the mean
  /// of the velocities before and after, as loads do. end: of the step [s].
  Moved move(const FourPoints& x, const FourPoints& v, const RigidMomentum& p, Real dt, Real end) const;
  /// Whether impulses leave its motion as it is.
  bool is_led() const { return joint_ && joint_->leads(); }

 private:
  Mat3 turn(const FourPoints& x, const Vec3& about, const Vec3& angular, Real dt) const;
  Mat3 inertia(const FourPoints& x, const Vec3& about) const;
  Moved move_on_joint(const FourPoints& x, const FourPoints& v, const RigidMomentum& p, Real dt) const;
  Moved move_to(const RigidState& pose, const FourPoints& x, Real dt) const;
  Moved follow(const FourPoints& x, const Mat3& turned, const Vec3& to) const;
  void set_velocities(const Vec3& velocity, const Vec3& angular, const Vec3& about, Moved& moved) const;

  Real mass_;  ///< Of each point [kg].
  FourPoints rest_;
  std::optional<Joint> joint_;
};

}  // namespace weft
