#include <gtest/gtest.h>

#include "support/random_matrices.hpp"

#include "weft/bodies/rigid_frame.hpp"

#include <Eigen/Geometry>

#include <cmath>
#include <numbers>

namespace weft {
namespace {

constexpr Real mass = 3;
const Vec3 centre(0.4, -0.2, 0.7);

Mat3 turn(Real angle, const Vec3& axis) { return Eigen::AngleAxis<Real>(angle, axis.normalized()).toRotationMatrix(); }

/// Of a block with these edges, turned.
Mat3 second_moment_of(const Vec3& edges, const Mat3& R) {
  return mass / 12 * R * edges.cwiseAbs2().asDiagonal() * R.transpose();
}
Mat3 inertia_of(const Mat3& S) { return S.trace() * Mat3::Identity() - S; }

const Mat3 tilted = turn(0.9, {1, -2, 0.5});
const Mat3 second = second_moment_of({1, 0.6, 0.3}, tilted);

FourPoints moving(const FourPoints& x, const Vec3& velocity, const Vec3& spin) {
  FourPoints v;
  for (std::size_t k = 0; k < 4; ++k) v[k] = velocity + spin.cross(x[k] - centre);
  return v;
}
Vec3 mean(const FourPoints& x) { return (x[0] + x[1] + x[2] + x[3]) / 4; }

/// Of the points about the origin [kg m^2/s].
Vec3 angular_momentum(const FourPoints& x, const FourPoints& v) {
  Vec3 sum = Vec3::Zero();
  for (std::size_t k = 0; k < 4; ++k) sum += mass / 4 * x[k].cross(v[k]);
  return sum;
}
Real energy(const FourPoints& v) {
  Real sum = 0;
  for (const Vec3& each : v) sum += mass / 8 * each.squaredNorm();
  return sum;
}

TEST(RigidFrameTest, FourPointsHaveMassCentreAndSecondMoment) {
  const FourPoints x = equal_points({mass, centre, second});
  Mat3 found = Mat3::Zero();
  for (const Vec3& each : x) found += mass / 4 * (each - centre) * (each - centre).transpose();
  EXPECT_LT((mean(x) - centre).norm(), 1e-15);
  EXPECT_LT((found - second).norm(), 1e-15);
}

TEST(RigidFrameTest, AnyPlaceIsAWeightedSumOfThem) {
  const FourPoints x = equal_points({mass, centre, second});
  for (const Vec3& place : {Vec3(0, 0, 0), Vec3(3, -1, 0.5), centre, x[2]}) {
    const auto b = weights_at(x, place);
    EXPECT_NEAR(b[0] + b[1] + b[2] + b[3], 1, 1e-14);
    EXPECT_LT((b[0] * x[0] + b[1] * x[1] + b[2] * x[2] + b[3] * x[3] - place).norm(), 1e-13);
  }
}

TEST(RigidFrameTest, AnImpulseOffTheCentreChangesBothMomenta) {  // METHODS M20
  const FourPoints x = equal_points({mass, centre, second});
  const RigidFrame frame(mass, x, {});
  const Vec3 at(1, 0.3, -0.4), impulse(0.2, -1, 0.5);
  const auto b = weights_at(x, at);
  FourPoints impulses;
  for (std::size_t k = 0; k < 4; ++k) impulses[k] = b[k] * impulse;
  RigidMomentum sum{Vec3::Zero(), Vec3::Zero()};
  RigidFrame::add(x, impulses, sum);
  const Twist twist = frame.answer(x, sum);
  EXPECT_LT((mass * twist.velocity - impulse).norm(), 1e-14);
  EXPECT_LT((inertia_of(second) * twist.spin - (at - centre).cross(impulse)).norm(), 1e-14);
}

TEST(RigidFrameTest, FreeBodiesKeepBothMomentaAndTheirShapeAndNearlyEnergy) {
  for (const Vec3& edges : {Vec3(1, 0.6, 0.3), Vec3(1, 1, 0.2), Vec3(0.5, 0.5, 0.5)}) {
    const FourPoints rest = equal_points({mass, centre, second_moment_of(edges, tilted)});
    const RigidFrame frame(mass, rest, {});
    FourPoints x = rest, v = moving(x, {1e-5, 2e-5, -1e-5}, {0.4, 3, -0.7});  // places stay exact to round-off
    const RigidMomentum before = frame.momentum(x, v);
    const Vec3 angular = angular_momentum(x, v);
    const Real at_start = energy(v);
    Real most = 0;
    for (int step = 0; step < 100000; ++step) {
      const auto moved = frame.move(x, v, frame.momentum(x, v), 0.01, 0);
      x = moved.x;
      v = moved.v;
      most = std::max(most, std::abs(energy(v) / at_start - 1));
    }
    EXPECT_LT((frame.momentum(x, v).linear - before.linear).norm(), 1e-12);
    EXPECT_LT((frame.momentum(x, v).angular - before.angular).norm(), 1e-12 * before.angular.norm());
    EXPECT_LT((angular_momentum(x, v) - angular).norm(), 1e-12 * angular.norm());
    EXPECT_LT(most, 2e-3);
    for (std::size_t k = 1; k < 4; ++k) EXPECT_NEAR((x[k] - x[0]).norm(), (rest[k] - rest[0]).norm(), 1e-12);
  }
}

/// A symmetric top precesses about its angular momentum with L / I_1.
TEST(RigidFrameTest, ASymmetricTopPrecesses) {
  const Mat3 S = second_moment_of({0.6, 0.6, 0.2}, Mat3::Identity()), I = inertia_of(S);
  const FourPoints rest = equal_points({mass, centre, S});
  const RigidFrame frame(mass, rest, {});
  FourPoints x = rest, v = moving(x, Vec3::Zero(), {1, 0, 5});
  const Vec3 L = frame.momentum(x, v).angular;
  const Real dt = 1e-3, omega = L.norm() / I(0, 0);
  const int steps = static_cast<int>(std::lround(2 * std::numbers::pi / omega / dt));
  for (int step = 0; step < steps; ++step) {
    const auto moved = frame.move(x, v, frame.momentum(x, v), dt, 0);
    x = moved.x;
    v = moved.v;
  }
  // After the time of `steps`, the axis of the top has turned about L by omega t.
  const Vec3 axis = frame.rotation(x) * Vec3::UnitZ();
  const Vec3 expected = turn(omega * steps * dt, L) * Vec3::UnitZ();
  EXPECT_LT((axis - expected).norm(), 1e-4);
}

TEST(RigidFrameTest, TurnsConvergeWithSecondOrder) {
  const FourPoints rest = equal_points({mass, centre, second});
  const RigidFrame frame(mass, rest, {});
  const auto rotation_after = [&](int steps) {
    FourPoints x = rest, v = moving(x, Vec3::Zero(), {0.4, 3, -0.7});
    for (int step = 0; step < steps; ++step) {
      const auto moved = frame.move(x, v, frame.momentum(x, v), 1.0 / steps, 0);
      x = moved.x;
      v = moved.v;
    }
    return frame.rotation(x);
  };
  const Mat3 fine = rotation_after(6400);
  const Real coarse_error = (rotation_after(50) - fine).norm(), error = (rotation_after(100) - fine).norm();
  EXPECT_NEAR(std::log2(coarse_error / error), 2, 0.1);
}

/// A joint of each kind with a body that is pushed: what it must keep, and that its impulse is what is missing.
TEST(RigidFrameTest, JointsKeepWhatTheyHold) {
  const Vec3 point(-0.3, 0.1, 0.2), axis = Vec3(1, 2, 2) / 3;
  const FourPoints rest = equal_points({mass, centre, second});
  for (const Joint::Kind kind : {Joint::Kind::ball, Joint::Kind::hinge, Joint::Kind::slider}) {
    const RigidFrame frame(mass, rest, Joint{kind, point, axis, 0, 0, {}});
    FourPoints x = rest, v{};
    Real work = 0;
    for (Vec3& each : v) each.setZero();
    for (int step = 0; step < 200; ++step) {
      RigidMomentum p = frame.momentum(x, v);
      p.linear += Vec3(0.03, -0.01, 0.02);
      p.angular += Vec3(0.001, 0.004, -0.002);
      const auto moved = frame.move(x, v, p, 0.01, 0);
      const Vec3 angular = p.angular + mean(x).cross(p.linear) + moved.by_joint.angular;
      const RigidMomentum after = frame.momentum(moved.x, moved.v);
      EXPECT_LT((p.linear + moved.by_joint.linear - after.linear).norm(), 1e-14);
      EXPECT_LT((angular - angular_momentum(moved.x, moved.v)).norm(), 1e-13);
      work = std::max(work, std::abs(moved.by_joint.work));
      x = moved.x;
      v = moved.v;
    }
    const Mat3 R = frame.rotation(x);
    const Vec3 of_point = mean(x) + R * (point - centre);  // as it moved with the body
    if (kind == Joint::Kind::slider) {
      EXPECT_LT((R - Mat3::Identity()).norm(), 1e-12);
      EXPECT_LT((mean(x) - centre).cross(axis).norm(), 1e-12);
      EXPECT_GT((mean(x) - centre).norm(), 0.01);
    } else {
      EXPECT_LT((of_point - point).norm(), 1e-12);
      EXPECT_GT((R - Mat3::Identity()).norm(), 0.1);
    }
    if (kind == Joint::Kind::hinge) {
      EXPECT_LT((R * axis - axis).norm(), 1e-12);
    }
    EXPECT_LT(work, 1e-14);
  }
}

TEST(RigidFrameTest, DriveDampingAndSpeedOfAHinge) {
  const Vec3 axis = Vec3::UnitY();
  const FourPoints rest = equal_points({mass, centre, second});
  const Vec3 arm = centre;  // from the origin
  const Real J = axis.dot(inertia_of(second) * axis) + mass * arm.cross(axis).squaredNorm();
  const auto spin_after = [&](const Joint& joint, Real start, Real time, int steps) {
    const RigidFrame frame(mass, rest, joint);
    FourPoints x = rest, v;
    for (std::size_t k = 0; k < 4; ++k) v[k] = start * axis.cross(x[k]);
    Real work = 0;
    for (int step = 0; step < steps; ++step) {
      const auto moved = frame.move(x, v, frame.momentum(x, v), time / steps, 0);
      x = moved.x;
      v = moved.v;
      work += moved.by_joint.work;
    }
    EXPECT_NEAR(work, energy(v) - J * start * start / 2, 1e-12);
    return frame.twist(x, v).spin.dot(axis);
  };
  const Joint free{Joint::Kind::hinge, Vec3::Zero(), axis, 0, 0, {}};
  Joint driven = free, damped = free, led = free;
  driven.drive = 0.7;
  damped.damping = 0.9;
  led.speed = -2;
  EXPECT_NEAR(spin_after(driven, 0.1, 1.5, 100), 0.1 + 1.5 * 0.7 / J, 1e-12);
  EXPECT_NEAR(spin_after(damped, 2, 1, 4000), 2 * std::exp(-0.9 / J), 1e-3);
  EXPECT_NEAR(spin_after(led, 0.3, 1, 10), -2, 1e-14);
}

/// Forces at places on the body do the work of forces on its points, for whatever affine velocities these have.
TEST(RigidFrameTest, ForcesAtPlacesDoTheWorkOfForcesOnPoints) {
  test::MatrixSource random(7);
  const FourPoints x{random.vector(), random.vector(), random.vector(), random.vector()};
  const FourPoints v{random.vector(), random.vector(), random.vector(), random.vector()};
  const Vec3 centre = (x[0] + x[1] + x[2] + x[3]) / 4, mean = (v[0] + v[1] + v[2] + v[3]) / 4;
  const Mat3 G = gradient(x, v);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_LT((mean + G * (x[k] - centre) - v[k]).norm(), 1e-12);
  Vec3 force = Vec3::Zero();
  Mat3 moment = Mat3::Zero();
  Real work = 0;
  for (int i = 0; i < 5; ++i) {
    const Vec3 f = random.vector(), r = random.vector();
    force += f;
    moment += f * r.transpose();
    work += f.dot(mean + G * r);
  }
  const FourPoints forces = forces_on(x, force, moment);
  for (std::size_t k = 0; k < 4; ++k) work -= forces[k].dot(v[k]);
  EXPECT_NEAR(work, 0, 1e-12);
}

}  // namespace
}  // namespace weft
