#include "support/scenes.hpp"
#include "weft/bodies/continuum.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

namespace weft {
namespace {

using test::Stage;

/// Two soft blocks, turning and approaching, free of gravity and walls.
std::string free_blocks(const std::string& kernel, Real damping) {
  return "weft: 1\n"
         "domain: {dx: 0.05, gravity: [0, 0, 0]}\n"
         "time: {end: 1, frame_interval: 1}\n"
         "transfer: {kernel: " +
         kernel + ", rpic_damping: " + std::to_string(damping) + "}\n" +
         "materials: {soft: {law: fixed_corotated, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0.3}}\n"
         "bodies:\n"
         "  - {name: a, kind: continuum, material: soft, shape: {box: {lower: [0, 0, 0], upper: [0.4, 0.3, 0.2]}},"
         " sampling: jittered, velocity: [1, 0, 0], spin: [1, 2, 3]}\n"
         "  - {name: b, kind: continuum, material: soft, shape: {box: {lower: [0.45, 0, 0], upper: [0.8, 0.3, 0.3]}},"
         " sampling: poisson, velocity: [-1, 0.2, 0], spin: [-3, 1, 0]}\n";
}

class StepConserves : public testing::TestWithParam<std::tuple<const char*, Real>> {};

TEST_P(StepConserves, MassAndBothMomentaThroughACollision) {
  const auto [kernel, damping] = GetParam();
  Stage stage(free_blocks(kernel, damping));
  const Totals before = stage.totals();
  const Real momentum_scale = before.mass * 1, angular_scale = before.mass * 1 * 0.5;
  stage.steps(40);
  const Totals after = stage.totals();
  EXPECT_EQ(after.particles, before.particles);
  EXPECT_NEAR(after.mass, before.mass, 1e-14 * before.mass);
  // Round-off of 40 steps.
  EXPECT_LT((after.momentum - before.momentum).norm(), 1e-13 * momentum_scale);
  EXPECT_LT((after.angular_momentum - before.angular_momentum).norm(), 1e-12 * angular_scale);
  EXPECT_GT(after.elastic_energy, 1e-4 * before.kinetic_energy) << "the blocks never met";
}

INSTANTIATE_TEST_SUITE_P(Kernels, StepConserves,
                         testing::Values(std::tuple("quadratic", 0.0), std::tuple("cubic", 0.0),
                                         std::tuple("quadratic", 0.3), std::tuple("cubic", 1.0)));

/// A block that turns and falls obliquely onto an inclined floor, and a mill that hits it from the side.
std::string hit_block(const std::string& contact, const std::string& how) {
  return fmt::format(
      "weft: 1\n"
      "domain: {{dx: 0.05, gravity: [1, -9, 2]}}\n"
      "time: {{end: 1, frame_interval: 1}}\n"
      "materials: {{soft: {{law: neo_hookean, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0.3}}}}\n"
      "bodies: [{{name: a, kind: continuum, material: soft, velocity: [1, -2, 0.5], spin: [1, 2, 3],"
      " shape: {{box: {{lower: [0, 0, 0], upper: [0.4, 0.3, 0.2]}}}}}}]\n"
      "colliders:\n"
      "  - {{name: floor, contact: {0}, {1}, shape: {{plane: {{point: [0, -0.11, 0], normal: [0.2, 1, 0.1]}}}}}}\n"
      "  - {{name: mill, contact: {0}, {1}, shape: {{box: {{lower: [0.45, -0.5, -0.2], upper: [0.8, 0.5, 0.5]}}}},"
      " motion: {{velocity: [-1, 0, 0], spin: [0, 2, 3], center: [0.8, 0, 0.2]}}}}\n",
      contact, how);
}

class CollidersGive : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(CollidersGive, BothMomentaThatTheBodyGainsBesideGravity) {
  const auto [contact, how] = GetParam();
  Stage stage(hit_block(contact, how));
  const Totals before = stage.totals();
  Impulse given;  // by gravity, which acts where points are before they move
  const Table& points = std::as_const(*stage.scene.bodies[0]).points();
  for (int step = 0; step < 60; ++step) {
    Vec3 moment = Vec3::Zero();
    for (std::size_t p = 0; p < points.owned(); ++p) moment += points.get<Mass>()[p] * points.get<Position>()[p];
    stage.comm.sum(std::span(moment.data(), 3));
    stage.steps(1);
    given.linear += stage.state.last_dt * before.mass * stage.scene.step.gravity;
    given.angular += stage.state.last_dt * moment.cross(stage.scene.step.gravity);
  }
  for (const Impulse& by_wall : stage.state.wall_impulse) {
    EXPECT_GT(by_wall.linear.norm(), 0.1 * before.momentum.norm());
    EXPECT_GT(by_wall.angular.norm(), 0.1 * before.angular_momentum.norm());
    given += by_wall;
  }
  const Totals after = stage.totals();
  // Round-off of 60 steps.
  EXPECT_LT((after.momentum - before.momentum - given.linear).norm(), 1e-13 * before.momentum.norm());
  EXPECT_LT((after.angular_momentum - before.angular_momentum - given.angular).norm(), 1e-13 * before.momentum.norm());
}

INSTANTIATE_TEST_SUITE_P(Contacts, CollidersGive,
                         testing::Combine(testing::Values("surface", "nodes"),
                                          testing::Values("friction: 0.3", "condition: slip, friction: 0.3",
                                                          "condition: sticky")));

TEST(StepTest, MaterialThatBeginsInAWallGainsNoEnergyThere) {
  for (const char* shape :
       {"sphere: {center: [0.12, 0, 0], radius: 0.2}", "box: {lower: [-0.1, -0.2, -0.2], upper: [1, 0.2, 0.2]}"})
    for (const char* condition : {"separate", "slip", "sticky"}) {
      SCOPED_TRACE(testing::Message() << shape << ", " << condition);
      Stage stage(fmt::format(
          "weft: 1\n"
          "domain: {{dx: 0.05, gravity: [0, 0, 0]}}\n"
          "time: {{end: 1, frame_interval: 1}}\n"
          "materials: {{soft: {{law: neo_hookean, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0.3}}}}\n"
          "bodies: [{{name: a, kind: continuum, material: soft, velocity: [0.5, 0.3, 0], spin: [1, 2, 3],"
          " shape: {{box: {{lower: [-0.2, -0.2, -0.2], upper: [0.2, 0.2, 0.2]}}}}}}]\n"
          "colliders: [{{name: tank, hollow: true, condition: {}, shape: {{{}}}}}]\n",
          condition, shape));
      const Real before = stage.totals().kinetic_energy;
      stage.steps(60);
      const Totals after = stage.totals();
      EXPECT_LT(after.kinetic_energy + after.elastic_energy, before);
    }
}

TEST(StepTest, FallsAsSymplecticEulerFalls) {
  Stage stage(
      "weft: 1\n"
      "domain: {dx: 0.1, gravity: [0, 0, -10]}\n"
      "time: {end: 1, frame_interval: 1, max_dt: 0.001}\n"
      "materials: {soft: {law: neo_hookean, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0.3}}\n"
      "bodies: [{name: a, kind: continuum, material: soft, sampling: regular,"
      " shape: {box: {lower: [0, 0, 0], upper: [0.3, 0.3, 0.3]}}, velocity: [0, 0, 2]}]\n");
  const auto height = [&] {
    Real sum = 0;
    for (const Vec3& x : stage.scene.bodies[0]->points().get<Position>()) sum += x.z();
    return stage.comm.sum(sum) / stage.totals().particles;
  };
  const Real start = height(), dt = 0.001;
  stage.steps(100);
  const Real t = stage.state.time;
  EXPECT_NEAR(t, 100 * dt, 1e-14);
  // v_n = v0 - g n dt, x_n = x0 + sum v_k dt = x0 + v0 t - g t (t + dt) / 2, exactly.
  EXPECT_NEAR(height() - start, 2 * t - 10 * t * (t + dt) / 2, 1e-13);
}

TEST(StepTest, PointsKeepTheirHomesUntilTheyMayHaveDriftedByTheMargin) {
  for (const KernelKind kernel : {KernelKind::linear, KernelKind::quadratic, KernelKind::cubic}) {
    constexpr std::array names{"linear", "quadratic", "cubic"};
    const Real dx = 0.05, margin = drift_margin(kernel) * dx;
    Stage stage(free_blocks(names[static_cast<std::size_t>(kernel)], 0));
    const Table& points = stage.scene.bodies[0]->points();
    const auto homes = [&] {
      std::map<std::uint64_t, BlockCode> by_id;
      for (std::size_t p = 0; p < points.owned(); ++p) by_id[points.get<Id>()[p]] = points.get<Home>()[p];
      return by_id;
    };
    int kept = 0;
    for (int step = 0; step < 60; ++step) {
      const bool is_due = stage.state.drift[0] > margin;
      const auto before = homes();
      stage.steps(1);
      if (!is_due) {
        ++kept;
        EXPECT_EQ(homes(), before);
      }
      const Real drift = stage.state.drift[0] / dx + 1e-9;
      Real farthest = 0;
      for (std::size_t p = 0; p < points.owned(); ++p) {
        const Vec3 at =
            points.get<Position>()[p] / dx - (block_width * block_of_code(points.get<Home>()[p])).cast<Real>();
        EXPECT_GT(at.minCoeff(), bin_start - drift);
        EXPECT_LT(at.maxCoeff(), bin_start + block_width + drift);
        farthest = std::max({farthest, bin_start - at.minCoeff(), at.maxCoeff() - (bin_start + block_width)});
      }
      // No more than what the last step adds on trust, and may have taken back.
      const Real step_of_fastest = stage.state.last_dt * stage.state.limits[0].speed / dx;
      EXPECT_LT(drift, stage.comm.max(farthest) + 2 * step_of_fastest + 2e-9);
    }
    EXPECT_LT(kept, 60) << "nothing moved so far";
    EXPECT_GT(kept, 30);
  }
}

// Explicit steps scatter from rows as they find them and then bring them into order, implicit ones before they solve.
TEST(StepTest, TheOrderOfRowsChangesNoBit) {
  // What belongs to each point of a rank, as it stands in the columns.
  const auto state_of = [](Stage& stage) {
    std::map<PointId, std::string> by_id;
    for (const auto& body : stage.scene.bodies) {
      Table& points = body->points();
      for (const ColumnView& column : points.columns(Keep::state))
        for (std::size_t p = 0; p < points.owned(); ++p)
          by_id[points.get<Id>()[p]].append(reinterpret_cast<const char*>(column.row(p)), column.row_bytes);
    }
    return by_id;
  };
  for (const char* scheme : {"explicit", "implicit"}) {
    SCOPED_TRACE(scheme);
    const auto after_steps = [&](bool shuffled) {
      std::string deck = free_blocks("quadratic", 0);
      const auto replace = [&deck](std::size_t at, const std::string& old, const std::string& now) {
        deck.replace(at, old.size(), now);
      };
      replace(deck.find("time: {"), "time: {", fmt::format("time: {{max_dt: 0.002, scheme: {}, ", scheme));
      replace(deck.rfind("material: soft"), "material: soft", "material: powder");
      replace(deck.find("materials: {"), "materials: {",
              "materials: {powder: {law: snow, density: 400, youngs_modulus: 1e4, poisson_ratio: 0.2}, ");
      Stage stage(deck);
      std::mt19937 random(7);
      for (const auto& body : stage.scene.bodies) {
        std::vector<std::uint32_t> order(body->points().rows());
        std::iota(order.begin(), order.end(), 0u);
        if (shuffled) std::shuffle(order.begin(), order.end(), random);
        body->points().reorder(order);
      }
      stage.stepper.bring_home(true);
      stage.steps(8);
      return state_of(stage);
    };
    const auto shuffled = after_steps(true);
    EXPECT_TRUE(shuffled == after_steps(false));
  }
}

TEST(StepTest, ARefusedStepLeavesBodiesAndStateAlone) {
  Stage stage(
      "weft: 1\n"
      "domain: {dx: 0.1}\n"
      "time: {end: 1, frame_interval: 1, max_retries: 2, max_strain: 1e-9}\n"
      "materials: {soft: {law: neo_hookean, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0.3}}\n"
      "bodies: [{name: a, kind: continuum, material: soft, shape: {sphere: {center: [0, 0, 0], radius: 0.3}},"
      " spin: [0, 0, 5]}]\n");
  const auto x = stage.scene.bodies[0]->points().get<Position>();
  const std::vector<Vec3> before(x.begin(), x.end());
  try {
    stage.steps(1);
    FAIL() << "a spinning body cannot deform by less than 1e-9";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::numerics);
    EXPECT_NE(std::string(error.what()).find("body a"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("time.max_strain"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("particles are suspect"), std::string::npos) << error.what();
  }
  for (const Suspicion suspicion : stage.stepper.suspicions()[0].marks) EXPECT_EQ(suspicion, Suspicion::motion);
  EXPECT_EQ(stage.state.step, 0);
  EXPECT_EQ(stage.state.time, 0);
  const auto now = stage.scene.bodies[0]->points().get<Position>();
  EXPECT_TRUE(std::equal(before.begin(), before.end(), now.begin(), now.end()));
}

TEST(StepTest, ANumberThatIsNoneIsFoundInTheSameStepAndBlamedOnItsPoint) {
  for (const bool in_velocity : {true, false}) {
    Stage stage(free_blocks("quadratic", 0));
    stage.steps(3);
    const PointId victim = 17;
    Table& points = stage.scene.bodies[1]->points();
    for (std::size_t r = 0; r < points.owned(); ++r) {
      if (points.get<Id>()[r] != victim) continue;
      if (in_velocity) points.get<Velocity>()[r].y() = std::numeric_limits<Real>::quiet_NaN();
      else points.get<Position>()[r].x() = std::numeric_limits<Real>::infinity();
    }
    try {
      stage.steps(1);
      FAIL() << "the step was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::numerics);
      EXPECT_NE(std::string(error.what()).find("id 17 of b"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("1 particles hold numbers"), std::string::npos) << error.what();
    }
    EXPECT_EQ(stage.state.step, 3);
    std::int64_t marked = 0;
    const Suspicions& suspicions = stage.stepper.suspicions();
    const auto suspects = suspicions_of(points, suspicions);
    ASSERT_EQ(suspects.size(), points.owned());
    for (std::size_t r = 0; r < points.owned(); ++r) {
      if (suspects[r] != Suspicion::state) continue;
      ++marked;
      EXPECT_EQ(points.get<Id>()[r], victim);
    }
    EXPECT_EQ(stage.comm.sum(marked), 1);
  }
}

TEST(StepTest, AStepTooSmallToEndIsAnError) {
  Stage stage(
      "weft: 1\n"
      "domain: {dx: 0.1}\n"
      "time: {end: 1, frame_interval: 1}\n"
      "materials: {hard: {law: neo_hookean, density: 1000, youngs_modulus: 1e300, poisson_ratio: 0.3}}\n"
      "bodies: [{name: a, kind: continuum, material: hard, shape: {sphere: {center: [0, 0, 0], radius: 0.3}}}]\n");
  try {
    stage.steps(1);
    FAIL() << "the step was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::numerics);
    EXPECT_NE(std::string(error.what()).find("waves in a"), std::string::npos) << error.what();
  }
}

TEST(StepTest, ASmallerDtIsTriedAndThenRecovers) {
  // |C| = 5 sqrt(2) everywhere: the first dt that is small enough is the second or a later half.
  Stage stage(
      "weft: 1\n"
      "domain: {dx: 0.1, gravity: [0, 0, 0]}\n"
      "time: {end: 1, frame_interval: 1, max_strain: 0.01}\n"
      "materials: {soft: {law: neo_hookean, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0.3}}\n"
      "bodies: [{name: a, kind: continuum, material: soft, shape: {sphere: {center: [0, 0, 0], radius: 0.3}},"
      " spin: [0, 0, 5]}]\n");
  const StepReport first = stage.stepper.take(1);
  EXPECT_GT(first.retries, 0);
  EXPECT_LE(first.size.dt * 5 * std::sqrt(2.0), 0.011);
  const StepReport second = stage.stepper.take(1);
  EXPECT_LE(second.retries, 1) << "the next step starts from what was found, not from the bodies' limit";
}

TEST(StepTest, LightNodesOfTheLinearKernelDoNotHaveStepsRefused) {
  // Points that enter an empty cell push nodes of hardly any mass, beside which they may not deform too much.
  Stage stage(free_blocks("linear", 0));
  int retries = 0;
  for (int s = 0; s < 60; ++s) retries += stage.stepper.take(1).retries;
  EXPECT_EQ(retries, 0);
}

TEST(StepTest, LandsExactlyOnTheMomentItMayNotPass) {
  Stage stage(free_blocks("quadratic", 0));
  while (stage.state.time < 0.0123) stage.stepper.take(0.0123);
  EXPECT_EQ(stage.state.time, 0.0123);
}

TEST(StepTest, SourcesAndBoundsCountTheSameOnAnyRanks) {
  Stage stage(
      "weft: 1\n"
      "domain: {dx: 0.1, gravity: [0, 0, -10], bounds: {lower: [-1, -1, -0.2], upper: [1, 1, 1]}}\n"
      "time: {end: 1, frame_interval: 1}\n"
      "materials: {water: {law: tait, density: 1000, bulk_modulus: 1e4}}\n"
      "bodies: [{name: a, kind: continuum, material: water}]\n"
      "sources: [{name: tap, body: a, shape: {box: {lower: [0, 0, 0.2], upper: [0.2, 0.2, 0.3]}},"
      " velocity: [0, 0, -2], until: 0.2}]\n");
  while (stage.state.time < 0.4) stage.stepper.take(0.4);
  const Totals totals = stage.totals();
  EXPECT_GT(stage.state.removed_points, 0) << "nothing fell out of the bounds";
  // Every id that was given out is either still there or was removed.
  EXPECT_EQ(static_cast<std::int64_t>(totals.particles) + stage.state.removed_points,
            static_cast<std::int64_t>(stage.state.next_id[0]));
  // A tap of 0.2 x 0.2 m at 2 m/s for 0.2 s, and its own 0.1 m: 0.02 m^3, within a layer of points.
  const Real emitted = static_cast<Real>(stage.state.next_id[0]) * 0.001 / 8;
  EXPECT_NEAR(emitted, 0.04 * (0.1 + 0.4), 0.04 * 0.06);
}

TEST(StepTest, WhatASourceEmitsBesideAWallFlowsAlongIt) {
  for (const char* law : {"drucker_prager, youngs_modulus: 1e7, poisson_ratio: 0.3", "tait, bulk_modulus: 1e7"})
    for (const char* normal : {"[0, 0, 1]", "[-1, 2, 3]"}) {
      SCOPED_TRACE(testing::Message() << law << ", " << normal);
      Stage stage(
          fmt::format("weft: 1\n"
                      "domain: {{dx: 0.1, gravity: [0, 0, 0]}}\n"
                      "time: {{end: 1, frame_interval: 1}}\n"
                      "materials: {{stuff: {{law: {}, density: 1000}}}}\n"
                      "bodies: [{{name: a, kind: continuum, material: stuff}}]\n"
                      "sources: [{{name: tap, body: a, shape: {{box: {{lower: [0, 0, 0], upper: [0.3, 0.3, 0.3]}}}},"
                      " velocity: [2, 1, 0]}}]\n"
                      "colliders: [{{name: floor, shape: {{plane: {{point: [0.03, 0.03, 0], normal: {}}}}}}}]\n",
                      law, normal));
      while (stage.state.time < 0.2) stage.stepper.take(0.2);
      const Totals totals = stage.totals();
      const Real emitted = totals.mass * (2 * 2 + 1 * 1) / 2;
      EXPECT_NEAR(totals.kinetic_energy + totals.elastic_energy, emitted, 1e-3 * emitted);
    }
}

TEST(StepTest, RecuttingChangesOwnersButNotPoints) {
  Stage stage(free_blocks("quadratic", 0));
  stage.steps(5);
  const Totals before = stage.totals();
  stage.state.cuts.at.assign(static_cast<std::size_t>(stage.comm.size() - 1), 0);  // all to the last rank
  stage.stepper.bring_home(false);
  EXPECT_EQ(stage.totals().particles, before.particles);
  stage.stepper.bring_home(true);
  const Totals after = stage.totals();
  EXPECT_EQ(after.particles, before.particles);
  EXPECT_NEAR(after.kinetic_energy, before.kinetic_energy, 1e-13 * before.kinetic_energy);
  EXPECT_LT(stage.stepper.imbalance(), 1.6);
}

TEST(StepTest, WorkStaysEvenWhereAllPointsMoveToOneSideAsFastAsTheyMay) {
  // A cube of 300 blocks for each rank, one point in a cell, that crosses the ranks' borders by 0.3 cells a step.
  const Comm comm = Comm::world();
  if (comm.size() == 1 || comm.size() > 4) return;  // nothing to share, or too many points for a quick test
  const Real dx = 0.01, edge = dx * std::cbrt(300.0 * 64 * comm.size()), speed = 0.3 * dx / 1e-4 / std::sqrt(3);
  Stage stage(fmt::format(
      "weft: 1\n"
      "domain: {{dx: {0}, gravity: [0, 0, 0]}}\n"
      "time: {{end: 1, frame_interval: 1, max_dt: 1e-4}}\n"
      "materials: {{water: {{law: tait, density: 1000, bulk_modulus: 1e4}}}}\n"
      "bodies: [{{name: a, kind: continuum, material: water, particles_per_cell: 1, velocity: [{2}, {2}, {2}],"
      " shape: {{box: {{lower: [0, 0, 0], upper: [{1}, {1}, {1}]}}}}}}]\n",
      dx, edge, speed));
  EXPECT_LT(stage.stepper.imbalance(), 1.1);
  const Cuts first = stage.state.cuts;
  Real worst = 1;
  while (stage.state.step < 25) {
    if (stage.state.step % stage.scene.deck.balance.every == 0) stage.stepper.balance();
    stage.steps(1);
    worst = std::max(worst, stage.stepper.imbalance());
  }
  EXPECT_FALSE(stage.state.cuts == first) << "nothing was there to be balanced";
  EXPECT_LT(worst, 1.3);
}

}  // namespace
}  // namespace weft
