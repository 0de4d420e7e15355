// Loads that follow a surface: derivatives, and resultants by hand.

#include "weft/bodies/follower_load.hpp"

#include "support/term_checks.hpp"

#include <Eigen/Geometry>

namespace weft {
namespace {

/// Four points of a bilinear face, integrated at its middle.
struct Face {
  std::vector<Vec3> x{{0, 0, 0}, {2, 0, 0.3}, {2.2, 1, 0}, {0, 1.5, 0.1}};
  Forest forest{Comm(MPI_COMM_SELF), 4, {}};
  Freedoms freedoms{{{"face", 3, &forest}}};
  Motion motion{freedoms};
  Sample middle{{0, 1, 2, 3}, {0.25, 0.25, 0.25, 0.25}, {-0.5, 0.5, 0.5, -0.5}, {-0.5, -0.5, 0.5, 0.5}, 0, 0, {}};

  Face() { motion.time = 0.5; }
  FollowerLoad load(Follower kind, Real magnitude, Real measure) {
    middle.measure = measure;
    Grip grip = grip_of(middle, follower_measure(kind, middle, x));
    grip.rows = middle.rows;
    return {kind, magnitude, Amplitude{{{0, 0}, {1, 2}}}, 0, {grip}, x};
  }
};

TEST(FollowerLoadTest, PressureGivesPressureTimesAreaAlongTheNormal) {
  Face face;
  const Vec3 area = 0.5 * (face.x[2] - face.x[0]).cross(face.x[3] - face.x[1]);
  const FollowerLoad pressure = face.load(Follower::pressure, 3, area.norm());
  const Load force = test::force_of(pressure, face.motion);
  Vec3 sum = Vec3::Zero();
  for (const Vec3& f : force.points(0)) sum += f;
  EXPECT_LE((sum - 3 * area).norm(), 1e-14);

  // Turned by a quarter about x and made twice as large, it pushes four times as hard along the turned normal.
  const auto turned = [](const Vec3& v) { return Vec3(2 * v.x(), -2 * v.z(), 2 * v.y()); };
  for (int i = 0; i < 4; ++i) face.motion.u.points(0)[i] = turned(face.x[i]) - face.x[i];
  const Load later = test::force_of(pressure, face.motion);
  sum.setZero();
  for (const Vec3& f : later.points(0)) sum += f;
  EXPECT_LE((sum - 3 * 2 * turned(area)).norm(), 1e-13);
}

TEST(FollowerLoadTest, EdgeMomentIsAPureMomentAboutTheEdge) {
  Face face;
  const Real moment = 0.7, length = 1.9;
  for (const bool bent : {false, true}) {
    const FollowerLoad load = face.load(Follower::edge_moment, moment, length);
    if (bent) face.motion.u = test::random_values(face.freedoms, 0.3, 5);
    const Load force = test::force_of(load, face.motion);
    Vec3 sum = Vec3::Zero(), torque = Vec3::Zero(), along = Vec3::Zero();
    for (int i = 0; i < 4; ++i) {
      const Vec3 x = face.x[i] + face.motion.u.points(0)[i];
      sum += force.points(0)[i];
      torque += x.cross(force.points(0)[i]);
      along += face.middle.d1[i] * x;
    }
    EXPECT_LE(sum.norm(), 1e-14);
    EXPECT_LE((torque - moment * length * along.normalized()).norm(), 1e-14);
  }
}

TEST(FollowerLoadTest, PassesTheChecksThatEveryTermPasses) {
  Face face;
  face.motion.u = test::random_values(face.freedoms, 0.2, 9);
  test::check_term(face.load(Follower::pressure, 3, 2), face.motion, 0.3);
  test::check_term(face.load(Follower::edge_moment, 3, 2), face.motion, 0.3);
}

}  // namespace
}  // namespace weft
