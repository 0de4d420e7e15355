#include "weft/bodies/rigid_frame.hpp"

#include "weft/math/svd.hpp"

#include <cmath>

namespace weft {
namespace {

constexpr int most_newton_steps = 20;
constexpr Real round_off = 1e-15;

const Mat3 tetrahedron_axes = (Mat3() << 1, 1, -1, 1, -1, 1, 1, -1, -1).finished();
/// t_k of (17.1).
Vec3 corner(std::size_t k) {
  return k < 3 ? Vec3(tetrahedron_axes.col(static_cast<Eigen::Index>(k))) : Vec3(-1, -1, 1);
}

Vec3 mean(const FourPoints& values) { return (values[0] + values[1] + values[2] + values[3]) / 4; }

/// sum_k a_k t_k^T / 4, with which affine values are a = mean + that t.
Mat3 by_corners(const FourPoints& values) {
  Mat3 sum = Mat3::Zero();
  for (std::size_t k = 0; k < 4; ++k) sum += values[k] * corner(k).transpose() / 4;
  return sum;
}

/// About the mean, of points of mass 1.
Mat3 second_moment(const FourPoints& x, const Vec3& about) {
  Mat3 sum = Mat3::Zero();
  for (const Vec3& each : x) sum += (each - about) * (each - about).transpose();
  return sum;
}

Mat3 rotation_by(const Vec3& vector) {
  const Real angle = vector.norm();
  return angle > 0 ? Eigen::AngleAxis<Real>(angle, vector / angle).toRotationMatrix() : Mat3(Mat3::Identity());
}

/// The rotation that a matrix is but for round-off.
Mat3 normalized(const Mat3& R) { return Eigen::Quaternion<Real>(R).normalized().toRotationMatrix(); }

}  // namespace

Mat3 second_moment_of_inertia(const Mat3& inertia) { return inertia.trace() / 2 * Mat3::Identity() - inertia; }

FourPoints equal_points(const RigidMass& of) {
  const SymmetricEigen axes = symmetric_eigen(of.second_moment / of.mass);
  const Mat3 root = axes.Q * axes.values.cwiseMax(Real(0)).cwiseSqrt().asDiagonal() * axes.Q.transpose();
  FourPoints x;
  for (std::size_t k = 0; k < 4; ++k) x[k] = of.centre + root * corner(k);
  return x;
}

std::array<Real, 4> weights_at(const FourPoints& rest, const Vec3& x) {
  const Vec3 scaled = by_corners(rest).inverse() * (x - mean(rest));
  std::array<Real, 4> weights;
  for (std::size_t k = 0; k < 4; ++k) weights[k] = (1 + corner(k).dot(scaled)) / 4;
  return weights;
}

Mat3 gradient(const FourPoints& x, const FourPoints& v) { return by_corners(v) * by_corners(x).inverse(); }

FourPoints forces_on(const FourPoints& x, const Vec3& force, const Mat3& moment) {
  const Mat3 scaled = moment * by_corners(x).inverse().transpose();
  FourPoints forces;
  for (std::size_t k = 0; k < 4; ++k) forces[k] = (force + scaled * corner(k)) / 4;
  return forces;
}

RigidFrame::RigidFrame(Real mass, const FourPoints& rest, std::optional<Joint> joint)
    : mass_(mass / 4), rest_(rest), joint_(joint) {}

Real RigidFrame::radius() const { return std::sqrt(second_moment(rest_, mean(rest_)).trace() / 4); }

Mat3 RigidFrame::inertia(const FourPoints& x, const Vec3& about) const {
  const Mat3 S = mass_ * second_moment(x, about);
  return S.trace() * Mat3::Identity() - S;
}

RigidMomentum RigidFrame::momentum(const FourPoints& x, const FourPoints& v) const {
  RigidMomentum sum{Vec3::Zero(), Vec3::Zero()};
  FourPoints p;
  for (std::size_t k = 0; k < 4; ++k) p[k] = mass_ * v[k];
  add(x, p, sum);
  return sum;
}

Twist RigidFrame::twist(const FourPoints& x, const FourPoints& v) const {
  const RigidMomentum p = momentum(x, v);
  return {p.linear / (4 * mass_), inertia(x, mean(x)).inverse() * p.angular};
}

Mat3 RigidFrame::rotation(const FourPoints& x) const {
  const Vec3 centre = mean(x), rest = mean(rest_);
  Mat3 sum = Mat3::Zero();
  for (std::size_t k = 0; k < 4; ++k) sum += (x[k] - centre) * (rest_[k] - rest).transpose();
  return normalized(sum * second_moment(rest_, rest).inverse());
}

void RigidFrame::add(const FourPoints& x, const FourPoints& forces, RigidMomentum& sum) {
  const Vec3 centre = mean(x);
  for (std::size_t k = 0; k < 4; ++k) {
    sum.linear += forces[k];
    sum.angular += (x[k] - centre).cross(forces[k]);
  }
}

Twist RigidFrame::answer(const FourPoints& x, const RigidMomentum& impulse) const {
  const Vec3 centre = mean(x);
  if (!joint_) return {impulse.linear / (4 * mass_), inertia(x, centre).inverse() * impulse.angular};
  if (joint_->leads()) return {Vec3::Zero(), Vec3::Zero()};
  const Vec3& a = joint_->axis;
  if (joint_->kind == Joint::Kind::slider) return {impulse.linear.dot(a) / (4 * mass_) * a, Vec3::Zero()};
  const Vec3 arm = centre - joint_->point, about = impulse.angular + arm.cross(impulse.linear);
  const Mat3 J = inertia(x, joint_->point);
  const Vec3 spin =
      joint_->kind == Joint::Kind::ball ? Vec3(J.inverse() * about) : Vec3(about.dot(a) / a.dot(J * a) * a);
  return {spin.cross(arm), spin};
}

/// (17.2), by Newton's method over turns f exp(d): r x (d x s) = (r . s) d - s (r . d), s = f r.
Mat3 RigidFrame::turn(const FourPoints& x, const Vec3& about, const Vec3& angular, Real dt) const {
  const Mat3 S = mass_ * second_moment(x, about);
  const Vec3 wanted = dt * angular;
  Mat3 f = rotation_by(dt * inertia(x, about).inverse() * angular);
  for (int step = 0; step < most_newton_steps; ++step) {
    const Mat3 B = f * S;  // sum m s r^T
    const Vec3 missing = wanted - Vec3(B(2, 1) - B(1, 2), B(0, 2) - B(2, 0), B(1, 0) - B(0, 1));
    if (missing.norm() <= round_off * (wanted.norm() + S.trace())) break;
    f = rotation_by((B.trace() * Mat3::Identity() - B).inverse() * missing) * f;
  }
  return f;
}

/// The points turned, with their centre moved to a position. Turns are counted from rest, so that shapes do not drift.
RigidFrame::Moved RigidFrame::follow(const FourPoints& x, const Mat3& turned, const Vec3& to) const {
  const Vec3 rest = mean(rest_);
  const Mat3 now = normalized(turned * rotation(x));
  Moved moved;
  for (std::size_t k = 0; k < 4; ++k) moved.x[k] = to + now * (rest_[k] - rest);
  return moved;
}

/// Those of a point that moves with `velocity` and of the turn about it that has this angular momentum. What round-off
/// leaves of it is taken away, for it would add up.
void RigidFrame::set_velocities(const Vec3& velocity, const Vec3& angular, const Vec3& about, Moved& moved) const {
  const Mat3 mobility = inertia(moved.x, about).inverse();
  Vec3 missing = angular, spin = Vec3::Zero();
  for (int pass = 0; pass < 2; ++pass) {
    spin += mobility * missing;
    missing = angular;
    for (std::size_t k = 0; k < 4; ++k) {
      const Vec3 arm = moved.x[k] - about;
      moved.v[k] = velocity + spin.cross(arm);
      missing -= mass_ * arm.cross(moved.v[k] - velocity);
    }
  }
}

/// Velocities are those that lead there in dt, as of free bodies.
RigidFrame::Moved RigidFrame::move_to(const RigidState& pose, const FourPoints& x, Real dt) const {
  Moved moved;
  for (std::size_t k = 0; k < 4; ++k) moved.x[k] = pose.to_world(rest_[k]);
  const Eigen::AngleAxis<Real> turn(normalized(pose.rotation * rotation(x).transpose()));
  const Vec3 centre = mean(moved.x), velocity = (centre - mean(x)) / dt, spin = turn.angle() / dt * turn.axis();
  for (std::size_t k = 0; k < 4; ++k) moved.v[k] = velocity + spin.cross(moved.x[k] - centre);
  return moved;
}

RigidFrame::Moved RigidFrame::move(const FourPoints& x, const FourPoints& v, const RigidMomentum& p, Real dt,
                                   Real end) const {
  const Vec3 centre = mean(x);
  if (!joint_) {
    Moved moved = follow(x, turn(x, centre, p.angular, dt), centre + dt / mass() * p.linear);
    set_velocities(p.linear / mass(), p.angular, mean(moved.x), moved);
    return moved;
  }
  const bool is_prescribed = joint_->kind == Joint::Kind::prescribed;
  Moved moved = is_prescribed ? move_to(joint_->motion.at(end), x, dt) : move_on_joint(x, v, p, dt);
  const RigidMomentum after = momentum(moved.x, moved.v);
  moved.by_joint.linear = after.linear - p.linear;
  moved.by_joint.angular = after.angular - p.angular + mean(moved.x).cross(after.linear) - centre.cross(p.linear);
  if (is_prescribed) {
    const RigidMomentum start = momentum(x, v);
    const Twist begin = twist(x, v), now = twist(moved.x, moved.v);
    const auto energy = [](const RigidMomentum& of, const Twist& at) {
      return (of.linear.dot(at.velocity) + of.angular.dot(at.spin)) / 2;
    };
    moved.by_joint.work = energy(after, now) - energy(start, begin) -
                          energy({p.linear - start.linear, p.angular - start.angular},
                                 {begin.velocity + now.velocity, begin.spin + now.spin});
  }
  return moved;
}

/// A ball, hinge or slider; what it gives has its work alone.
RigidFrame::Moved RigidFrame::move_on_joint(const FourPoints& x, const FourPoints& v, const RigidMomentum& p,
                                            Real dt) const {
  const Vec3 centre = mean(x);
  const Vec3 &point = joint_->point, &axis = joint_->axis, arm = centre - point;
  // Of the freedom of a hinge or slider: momentum, inertia, then the speed with drive and damping.
  const auto speed_of = [&](Real before, Real of_mass) {
    return joint_->speed.value_or((before + dt * joint_->drive) / (of_mass + dt * joint_->damping));
  };
  const auto work_of = [](Real start, Real before, Real after, Real of_mass) {
    return (of_mass * after - before) * (start / of_mass + after) / 2;
  };
  const RigidMomentum start = momentum(x, v);
  Moved moved;
  if (joint_->kind == Joint::Kind::slider) {
    const Real before = p.linear.dot(axis), along = speed_of(before, mass());
    moved = follow(x, Mat3::Identity(), centre + dt * along * axis);
    moved.v.fill(along * axis);
    moved.by_joint.work = work_of(start.linear.dot(axis), before, along, mass());
    return moved;
  }
  const Mat3 J = inertia(x, point);
  const auto about_point = [&](const RigidMomentum& of) { return Vec3(of.angular + arm.cross(of.linear)); };
  const Vec3 about = about_point(p);
  if (joint_->kind == Joint::Kind::hinge) {
    const Real J_a = axis.dot(J * axis), before = about.dot(axis), along = speed_of(before, J_a);
    const Mat3 f = rotation_by(dt * along * axis);
    moved = follow(x, f, point + f * arm);
    for (std::size_t k = 0; k < 4; ++k) moved.v[k] = along * axis.cross(moved.x[k] - point);
    moved.by_joint.work = work_of(about_point(start).dot(axis), before, along, J_a);
    return moved;
  }
  const Vec3 damped = J * (J + dt * joint_->damping * Mat3::Identity()).inverse() * about;
  const Mat3 f = turn(x, point, damped, dt);
  moved = follow(x, f, point + f * arm);
  set_velocities(Vec3::Zero(), damped, point, moved);
  moved.by_joint.work = (damped - about).dot(J.inverse() * (about_point(start) + damped)) / 2;
  return moved;
}

}  // namespace weft
