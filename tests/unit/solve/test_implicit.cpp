// Implicit steps of nodes that are tied to where they stand, against closed forms, on every rank count.

#include "weft/solve/implicit.hpp"

#include "support/implicit_ground.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include <cmath>

namespace weft {
namespace {

constexpr Real dt = 0.02, stiffness = 4000;  // dt^2 K / m is 1.6 to 4.8

/// A step of a ground that is tied by anchors.
struct Tied {
  test::ImplicitGround ground;
  test::Anchors anchors;
  ImplicitReport report;
  std::vector<Impulse> by_walls;

  Tied(ImplicitSettings settings, std::span<const Wall> walls, Real hardening = 0)
      : anchors(ground, stiffness, hardening), by_walls(walls.size()) {
    settings.tolerance = 1e-12;
    ImplicitGrid grid(Comm::world(), ground.map, {&anchors}, {}, settings);
    report = grid.advance(test::ImplicitGround::step(dt), walls, ground.layer, by_walls);
  }

  /// Calls visit(n, node, m, v*, v) for nodes with mass.
  template <class Visit>
  void for_each(Visit&& visit) {
    ground.for_each_node([&](std::size_t n, const Vec3i& node, const Real* inertia, const Real* v) {
      if (!(inertia[0] > 0)) return;
      const Vec3 free = Vec3::Map(inertia + 1) / inertia[0] + dt * test::ImplicitGround::step(dt).gravity;
      visit(n, node, inertia[0], free, Vec3(Vec3::Map(v)));
    });
  }
};

class OfSettings : public testing::TestWithParam<std::tuple<bool, Preconditioner>> {
 protected:
  static ImplicitSettings settings() {
    return {.minimise = std::get<0>(GetParam()), .preconditioner = std::get<1>(GetParam())};
  }
};

TEST_P(OfSettings, LinearForcesGiveTheClosedForm) {
  Tied tied(settings(), {});
  ASSERT_TRUE(tied.report.converged) << tied.report.failure;
  tied.for_each([&](std::size_t n, const Vec3i&, Real m, const Vec3& free, const Vec3& v) {
    const Mat3 A = Mat3::Identity() + dt * dt / m * tied.anchors.K(n);
    EXPECT_LE((v - A.inverse() * free).norm(), 1e-9);
  });
}

/// Loads of contact, and others of the same step, which begins where the first ones end.
TEST_P(OfSettings, LoadsMoveNodesAsGravityDoes) {
  test::ImplicitGround ground;
  test::Anchors anchors(ground, stiffness);
  ImplicitSettings of_solve = settings();
  of_solve.tolerance = 1e-12;
  ImplicitGrid grid(Comm::world(), ground.map, {&anchors}, {}, of_solve);
  NodeField loads("loads", "N");
  ImplicitStep step = test::ImplicitGround::step(dt);
  step.loads = &loads;
  for (const Real size : {30.0, -70.0}) {
    loads.reset(ground.map.size());
    const auto load = [&](const Vec3i& node, Real m) { return Vec3(size * m * Vec3(node.x() % 3, 1, node.z() % 2)); };
    ground.for_each_node([&](std::size_t n, const Vec3i& node, const Real* inertia, const Real*) {
      Vec3::Map(loads.block(0) + NodeField::width * n + 1) = load(node, inertia[0]);
    });
    const ImplicitReport report = grid.advance(step, {}, ground.layer, {});
    ASSERT_TRUE(report.converged) << report.failure;
    ground.for_each_node([&](std::size_t n, const Vec3i& node, const Real* inertia, const Real* v) {
      const Real m = inertia[0];
      if (!(m > 0)) return;
      const Vec3 free = Vec3::Map(inertia + 1) / m + dt * (step.gravity + load(node, m) / m);
      EXPECT_LE((Vec3::Map(v) - (Mat3::Identity() + dt * dt / m * anchors.K(n)).inverse() * free).norm(), 1e-9);
    });
    step.is_another = true;
  }
}

TEST_P(OfSettings, HardeningForcesBalance) {
  const Real hardening = 1e7;
  Tied tied(settings(), {}, hardening);
  ASSERT_TRUE(tied.report.converged) << tied.report.failure;
  EXPECT_GT(tied.report.newton, 1);
  tied.for_each([&](std::size_t n, const Vec3i&, Real m, const Vec3& free, const Vec3& v) {
    const Vec3 u = dt * v, force = tied.anchors.K(n) * u / m + hardening * u.squaredNorm() * u;
    EXPECT_LE((v - free + dt * force).norm(), 1e-9);
  });
}

TEST_P(OfSettings, WallsLeaveWhatTheirConditionsSay) {
  const std::vector<Wall> walls = test::three_walls();
  Tied tied(settings(), walls);
  ASSERT_TRUE(tied.report.converged) << tied.report.failure;
  const RigidState ball = walls[1].shape.at(dt / 2);
  const Vec3 slope = Vec3(0, 1, 0.3).normalized();
  std::int64_t held = 0;
  Impulse gained;
  tied.for_each([&](std::size_t n, const Vec3i& node, Real m, const Vec3& free, const Vec3& v) {
    const Vec3 x = test::ImplicitGround::place(node);
    const bool in_ball = (x - ball.center).norm() < 0.169, by_slope = (x - Vec3(0, -0.15, 0)).dot(slope) < -1e-9;
    if (by_slope) {
      EXPECT_GE(v.dot(slope), -1e-9);
    }
    if (x.x() < -0.25 - 1e-9) {
      EXPECT_NEAR(v.x(), 0, 1e-9);
    }
    if (in_ball && !by_slope) {
      EXPECT_LE((v - ball.velocity_at(x)).norm(), 2e-3);  // mean over the step, in which the ball turns
      ++held;
    }
    gained.add(m * (v - free) + dt * dt * tied.anchors.K(n) * v, x, Vec3::Zero());
  });
  EXPECT_GT(Comm::world().sum(held), 5);
  for (const Impulse& given : tied.by_walls) {
    gained.linear -= given.linear;
    gained.angular -= given.angular;
  }
  Comm::world().sum(std::span(gained.linear.data(), 6));
  EXPECT_LE(gained.linear.norm(), 1e-7);
  EXPECT_LE(gained.angular.norm(), 1e-7);
}

std::string name_of(const testing::TestParamInfo<OfSettings::ParamType>& info) {
  const auto [minimise, preconditioner] = info.param;
  constexpr std::array names{"None", "Blocks", "Multigrid", "Direct"};
  return std::string(minimise ? "Minimise" : "Residual") + names[static_cast<std::size_t>(preconditioner)];
}
INSTANTIATE_TEST_SUITE_P(ImplicitTest, OfSettings,
                         testing::Combine(testing::Bool(),
                                          testing::Values(Preconditioner::none, Preconditioner::blocks,
                                                          Preconditioner::multigrid, Preconditioner::direct)),
                         name_of);

TEST(ImplicitTest, WithoutInertiaForcesCarryTheWeight) {
  Tied tied({.inertia = false}, {});
  ASSERT_TRUE(tied.report.converged) << tied.report.failure;
  const Vec3 g = test::ImplicitGround::step(dt).gravity;
  tied.for_each([&](std::size_t n, const Vec3i&, Real m, const Vec3&, const Vec3& v) {
    EXPECT_LE((tied.anchors.K(n) / m * dt * v - g).norm(), 1e-8);
  });
}

}  // namespace
}  // namespace weft
