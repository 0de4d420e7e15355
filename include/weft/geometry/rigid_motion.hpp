#pragma once
// Prescribed rigid motion, steady or by keyframes, and shapes that follow it.

#include "weft/geometry/shape.hpp"

#include <Eigen/Geometry>

#include <algorithm>
#include <memory>
#include <vector>

namespace weft {

/// Place and velocity of a rigid thing at one moment.
struct RigidState {
  Mat3 rotation = Mat3::Identity();  ///< From the position at rest to the world: x = rotation * X + translation.
  Vec3 translation = Vec3::Zero();   ///< [m].
  Vec3 center = Vec3::Zero();        ///< Where the centre of rotation is now [m].
  Vec3 velocity = Vec3::Zero();      ///< Of the centre [m/s].
  Vec3 spin = Vec3::Zero();          ///< Angular velocity [rad/s], world axes.

  Vec3 to_world(const Vec3& rest) const { return rotation * rest + translation; }
  Vec3 to_rest(const Vec3& world) const { return rotation.transpose() * (world - translation); }
  /// Velocity [m/s] of the material that is at the world position x.
  Vec3 velocity_at(const Vec3& x) const { return velocity + spin.cross(x - center); }
};

/// A pose that a motion goes through.
struct Keyframe {
  Real time;             ///< [s].
  Vec3 translation;      ///< Of the centre from its position at rest [m].
  Vec3 rotation_vector;  ///< Axis times angle [rad]; the angle may be more than a turn.
};

/// A rigid motion as a function of time. Starts as rest.
class RigidMotion {
 public:
  RigidMotion() = default;
  /// Constant velocity [m/s] of the centre and constant spin [rad/s] about it; `center` [m] is its position at t = 0.
  static RigidMotion steady(const Vec3& velocity, const Vec3& spin, const Vec3& center);
  /// Goes through the keyframes (increasing in time, at least one) and rests before the first and after the last.
  /// Translation and rotation vector are monotone cubics between keys: once continuously differentiable for all times,
  /// never beyond the keys. Keys about one axis are interpolated in the angle, so several turns are several turns.
  static RigidMotion keyed(std::vector<Keyframe> keys, const Vec3& center);

  RigidState at(Real time) const;
  /// False if it is at rest at all times.
  bool moves() const;
  /// A bound of the angular velocity between two times [rad/s].
  Real most_spin(Real begin, Real end) const;
  /// Calls visit(state) at times of [begin, end] that show how fast it moves there: both ends, keys, and quarters of
  /// the cubics between.
  template <class Visit>
  void visit_between(Real begin, Real end, Visit&& visit) const {
    constexpr int parts = 4;
    visit(at(begin));
    for (std::size_t k = 1; k < keys_.size(); ++k) {
      const Real from = std::max(begin, keys_[k - 1].time), to = std::min(end, keys_[k].time);
      for (int part = 0; from < to && part <= parts; ++part) visit(at(from + part * (to - from) / parts));
    }
  }

 private:
  Vec3 center_ = Vec3::Zero(), velocity_ = Vec3::Zero(), spin_ = Vec3::Zero();
  std::vector<Keyframe> keys_;
  std::vector<Keyframe> slopes_;  ///< Time derivatives of translation and rotation vector at the keys.
};

/// A shape that follows a rigid motion.
class MovingShape {
 public:
  MovingShape(std::shared_ptr<const Shape> rest, RigidMotion motion)
      : rest_(std::move(rest)), motion_(std::move(motion)) {}

  const Shape& rest() const { return *rest_; }
  const RigidMotion& motion() const { return motion_; }
  /// Take the state once for a time, then ask for many points.
  RigidState at(Real time) const { return motion_.at(time); }
  /// Distance and world normal at the world position x.
  Surface surface(const RigidState& state, const Vec3& x) const;
  /// Shape::holding in the world, for material outside.
  Normals holding(const RigidState& state, const Vec3& x, Real slack) const;
  /// Shape::faces in the world.
  Faces faces(const RigidState& state, const Vec3& x, Real reach, Side side = Side::outside) const;
  /// The surface in the world, to draw.
  SurfaceMesh tessellate(const RigidState& state, const Box& view) const;

 private:
  std::shared_ptr<const Shape> rest_;
  RigidMotion motion_;
};

}  // namespace weft
