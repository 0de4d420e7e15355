// Rigid motions against difference quotients and closed forms.

#include "weft/base/error.hpp"
#include "weft/base/random.hpp"
#include "weft/geometry/mesh.hpp"
#include "weft/geometry/primitives.hpp"
#include "weft/geometry/rigid_motion.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <cmath>
#include <numbers>

namespace weft {
namespace {

constexpr Real pi = std::numbers::pi;

RigidMotion lively() {
  return RigidMotion::keyed({{0.5, {0, 0, 0}, {0, 0, 0}},
                             {1.0, {1, 0.2, 0}, {0.5, 0, 1}},
                             {2.5, {1.5, 0.1, 1}, {2, -1, 9}},
                             {3.0, {2, 0.1, 0}, {2, 1, 20}}},
                            {0.3, -0.4, 0.5});
}

/// Compares the velocity with the difference quotient of a material point's path.
void expect_velocity_is_the_rate_of_position(const RigidMotion& motion, Real t) {
  constexpr Real h = 1e-5;
  for (int k = 0; k < 5; ++k) {
    const Vec3 rest = Random(1, 2, k).uniform3();
    const Vec3 rate = (motion.at(t + h).to_world(rest) - motion.at(t - h).to_world(rest)) / (2 * h);
    // Central differences: h^2 / 6 times the third derivative of the path, below 1e5 for 25 rad/s with these slopes.
    EXPECT_LT((motion.at(t).velocity_at(motion.at(t).to_world(rest)) - rate).norm(), 1e-5) << "t = " << t;
  }
}

TEST(RigidMotionTest, RestIsTheStart) {
  const RigidMotion rest;
  EXPECT_FALSE(rest.moves());
  EXPECT_EQ(rest.at(7).to_world({1, 2, 3}), Vec3(1, 2, 3));
  EXPECT_EQ(rest.at(7).velocity_at({1, 2, 3}), Vec3(0, 0, 0));
}

TEST(RigidMotionTest, AQuarterTurnAboutAMovingCenter) {
  const RigidMotion motion = RigidMotion::steady({3, 0, 0}, {0, 0, pi / 2}, {1, 0, 0});
  EXPECT_TRUE(motion.moves());
  const RigidState after = motion.at(1);
  // The centre went from (1, 0, 0) to (4, 0, 0); the point one to its right is now one above it, and moves left about
  // it.
  EXPECT_LT((after.to_world({2, 0, 0}) - Vec3(4, 1, 0)).norm(), 1e-15);
  EXPECT_LT((after.velocity_at({4, 1, 0}) - Vec3(3 - pi / 2, 0, 0)).norm(), 1e-15);
  EXPECT_LT((after.to_rest({4, 1, 0}) - Vec3(2, 0, 0)).norm(), 1e-15);
}

TEST(RigidMotionTest, VelocityIsTheRateOfPositionForSteadyMotion) {
  const RigidMotion motion = RigidMotion::steady({1, -2, 0.5}, {0.3, 2, -1}, {0.2, 0.5, -0.3});
  for (const Real t : {-1.0, 0.0, 0.7, 12.0}) expect_velocity_is_the_rate_of_position(motion, t);
}

TEST(RigidMotionTest, VelocityIsTheRateOfPositionBetweenKeys) {
  for (Real t = 0.1; t < 3.5; t += 0.0937) expect_velocity_is_the_rate_of_position(lively(), t);
}

TEST(RigidMotionTest, VelocityIsContinuousAtAllTimes) {
  const RigidMotion motion = lively();
  for (const Real key : {0.5, 1.0, 2.5, 3.0}) {
    const RigidState before = motion.at(key - 1e-9), after = motion.at(key + 1e-9);
    // Accelerations are below 1e3, so 2e-9 s change velocities by less than 1e-5.
    EXPECT_LT((before.velocity - after.velocity).norm(), 1e-5) << key;
    EXPECT_LT((before.spin - after.spin).norm(), 1e-5) << key;
  }
}

TEST(RigidMotionTest, KeyframesAreReachedAndKeptOutside) {
  const RigidMotion motion = lively();
  const Vec3 center(0.3, -0.4, 0.5), x(1, 2, 3);
  const auto expected = [&](const Vec3& shift, const Vec3& turn) {
    return Vec3(center + shift + rotation_matrix(turn) * (x - center));
  };
  EXPECT_LT((motion.at(1.0).to_world(x) - expected({1, 0.2, 0}, {0.5, 0, 1})).norm(), 1e-14);
  EXPECT_LT((motion.at(2.5).to_world(x) - expected({1.5, 0.1, 1}, {2, -1, 9})).norm(), 1e-14);
  EXPECT_LT((motion.at(-5).to_world(x) - x).norm(), 1e-15);
  EXPECT_LT((motion.at(99).to_world(x) - expected({2, 0.1, 0}, {2, 1, 20})).norm(), 1e-14);
  EXPECT_EQ(motion.at(99).velocity_at(x), Vec3(0, 0, 0));
  EXPECT_EQ(motion.at(0.4).velocity_at(x), Vec3(0, 0, 0));
}

TEST(RigidMotionTest, PathsNeverLeaveTheRangeOfTheirKeys) {
  const RigidMotion motion = RigidMotion::keyed({{0, {0, 0, 0}, Vec3::Zero()},
                                                 {1, {1, 5, 0}, Vec3::Zero()},
                                                 {1.1, {1, 5.1, 9}, Vec3::Zero()},
                                                 {4, {1, 5, 9}, Vec3::Zero()}},
                                                Vec3::Zero());
  Vec3 last = Vec3::Zero();
  for (Real t = 0; t <= 4; t += 0.001) {
    const Vec3 now = motion.at(t).translation;
    EXPECT_LE(now[0], 1 + 1e-14);
    EXPECT_LE(now[1], 5.1 + 1e-14);
    EXPECT_GE(now[0], last[0] - 1e-14);  // keys that rise make a path that rises
    EXPECT_GE(now[2], last[2] - 1e-14);
    last = now;
  }
}

TEST(RigidMotionTest, SeveralTurnsAreSeveralTurns) {
  const RigidMotion motion =
      RigidMotion::keyed({{0, Vec3::Zero(), Vec3::Zero()}, {1, Vec3::Zero(), {0, 0, 6 * pi}}}, Vec3::Zero());
  Real angle = 0;
  constexpr int steps = 2000;
  for (int k = 0; k < steps; ++k) angle += motion.at((k + 0.5) / steps).spin[2] / steps;
  EXPECT_NEAR(angle, 6 * pi, 1e-4);  // midpoint rule, error 6 pi 12 / (24 steps^2)
  EXPECT_LT((motion.at(1).rotation - Mat3::Identity()).norm(), 1e-14);
}

TEST(RigidMotionTest, OneKeyframeIsAPlaceAndDoesNotMove) {
  const RigidMotion motion = RigidMotion::keyed({{1, {1, 2, 3}, {0, 0, pi}}}, Vec3::Zero());
  EXPECT_FALSE(motion.moves());
  EXPECT_LT((motion.at(0).to_world({1, 0, 0}) - Vec3(0, 2, 3)).norm(), 1e-14);
}

TEST(RigidMotionTest, TheBoundOfItsSpinHoldsAndIsNear) {
  const Vec3 o = Vec3::Zero();
  const RigidMotion motion =
      RigidMotion::keyed({{0, o, o}, {1, o, {0, 0, 3}}, {1.5, o, {0, 1, 9}}, {3, o, {2, 1, 9}}}, o);
  for (const auto& [begin, end] : {std::pair{0.0, 0.5}, {0.7, 1.2}, {1.1, 1.3}, {0.0, 3.0}, {4.0, 5.0}}) {
    Real most = 0;
    for (int k = 0; k <= 1000; ++k) most = std::max(most, motion.at(begin + k * (end - begin) / 1000).spin.norm());
    EXPECT_GE(motion.most_spin(begin, end), most - 1e-12);
    EXPECT_LE(motion.most_spin(begin, end), 5 * most);
  }
  EXPECT_EQ(RigidMotion::steady(o, {0, 3, 4}, o).most_spin(0, 1), 5);
}

TEST(RigidMotionTest, AVisitBetweenTwoTimesFindsTheFastestState) {
  const Vec3 o = Vec3::Zero();
  const RigidMotion motion = RigidMotion::keyed({{1, o, o}, {1.001, {0.1, 0, 0}, o}, {3, {0.1, 1, 0}, {0, 0, 3}}}, o);
  const auto fastest = [&](Real begin, Real end) {
    Real most = 0;
    motion.visit_between(begin, end, [&](const RigidState& at) { most = std::max(most, at.velocity.norm()); });
    return most;
  };
  EXPECT_EQ(fastest(0, 1), 0);
  EXPECT_NEAR(fastest(0, 5), 150, 1e-9);  // half-way between keys a cubic has 3/2 of the mean
  EXPECT_GT(fastest(1.5, 1.6), motion.at(1.5).velocity.norm() * (1 - 1e-12));
  EXPECT_EQ(fastest(1.5, 1e300), fastest(1.5, 3));
  EXPECT_EQ(fastest(4, 5), 0);
}

TEST(RigidMotionTest, BadKeyframesAreRefused) {
  const Vec3 o = Vec3::Zero();
  EXPECT_THROW(RigidMotion::keyed({}, o), Error);
  EXPECT_THROW(RigidMotion::keyed({{1, o, o}, {1, o, o}}, o), Error);
  EXPECT_THROW(RigidMotion::keyed({{1, o, o}, {0, o, o}}, o), Error);
  EXPECT_THROW(RigidMotion::keyed({{std::nan(""), o, o}}, o), Error);
  EXPECT_THROW(RigidMotion::steady({INFINITY, 0, 0}, o, o), Error);
}

TEST(MovingShapeTest, TheSurfaceFollowsTheMotion) {
  const MovingShape moving(make_box({0, 0, 0}, {1, 1, 1}), RigidMotion::steady({0, 0, 2}, {0, 0, pi / 2}, {0, 0, 0}));
  const RigidState state = moving.at(1);  // now from (-1, 0, 2) to (0, 1, 3)
  const Surface s = moving.surface(state, {-2, 0.5, 2.5});
  EXPECT_NEAR(s.distance, 1, 1e-14);
  EXPECT_LT((s.normal - Vec3(-1, 0, 0)).norm(), 1e-14);
  const Box box = bounds_of(moving.tessellate(state, {}));
  EXPECT_LT((box.lower - Vec3(-1, 0, 2)).norm() + (box.upper - Vec3(0, 1, 3)).norm(), 1e-14);
}

}  // namespace
}  // namespace weft
