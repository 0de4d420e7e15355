// Handles on continua: points that are held, moved or loaded.

#include "weft/bodies/continuum.hpp"
#include "weft/bodies/mesh_body.hpp"

#include "support/scenes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace weft {
namespace {

using test::Stage;

/// A bar of 0.2 x 0.2 m from z = -0.6 to 0.1 m. more: keys of the scheme, of solve.
std::string bar(const std::string& gravity, const std::string& handles, const std::string& scheme = "explicit",
                const std::string& more = "", const std::string& young = "1e5") {
  return "weft: 1\ndomain: {dx: 0.05, gravity: " + gravity +
         "}\ntime: {end: 1, frame_interval: 1, max_dt: 0.002, scheme: " + scheme +
         "}\nmaterials: {rubber: {law: neo_hookean, density: 1000, youngs_modulus: " + young +
         ", poisson_ratio: 0}}\n"
         "bodies: [{name: bar, kind: continuum, material: rubber, sampling: regular, shape: {box: {lower: [0, 0, -0.6],"
         " upper: [0.2, 0.2, 0.1]}}}]\nhandles:\n" +
         handles + more;
}
const std::string top = "  - {name: top, body: bar, where: {box: {lower: [-1, -1, 0], upper: [1, 1, 1]}}, hold: {";
const std::string end = "  - {name: pull, body: bar, where: {box: {lower: [-1, -1, -1], upper: [1, 1, -0.575]}}, ";

/// Positions of the body's points on all ranks, by id; zero where no point has an id.
std::vector<Vec3> positions(const Stage& stage) {
  const Table& points = std::as_const(*stage.scene.bodies[0]).points();
  std::vector<Vec3> x(static_cast<std::size_t>(stage.state.next_id[0]), Vec3::Zero());
  for (std::size_t p = 0; p < points.owned(); ++p) x[points.get<Id>()[p]] = points.get<Position>()[p];
  stage.comm.sum(std::span(x.front().data(), 3 * x.size()));
  return x;
}

/// Mean of z over the points whose z was within these bounds at rest [m].
Real mean_height(std::span<const Vec3> x, std::span<const Vec3> rest, Real lower, Real upper) {
  Real sum = 0, count = 0;
  for (std::size_t p = 0; p < x.size(); ++p)
    if (lower < rest[p].z() && rest[p].z() < upper && !rest[p].isZero(0)) {
      sum += x[p].z();
      count += 1;
    }
  return sum / count;
}

class EveryScheme : public testing::TestWithParam<const char*> {};

TEST_P(EveryScheme, HeldPointsGoWhereTheHandleGoesAndItGivesWhatTheBodyTakes) {
  const std::string scheme = GetParam();
  Stage stage(bar("[0, 0, 0]", top + "motion: {spin: [0.3, 2, 0.5], center: [0.1, 0.1, 0.05]}}}\n", scheme,
                  "solve: {tolerance: 1e-10}\n"));
  const std::vector<Vec3> rest = positions(stage);
  const Totals before = stage.totals();
  stage.steps(30);
  const std::vector<Vec3> x = positions(stage);
  const RigidState state = stage.scene.handles[0].hold()->motion.at(stage.state.time);
  for (std::size_t p = 0; p < x.size(); ++p) {
    if (rest[p].isZero(0) || rest[p].z() < 0) continue;  // no point has this id, or it is free
    EXPECT_LT((x[p] - state.to_world(rest[p])).norm(), 1e-14);
  }
  const Totals after = stage.totals();
  const Impulse& given = stage.state.handle_impulse[0];
  EXPECT_GT(after.momentum.norm(), 0.01 * after.mass);  // most of the bar does not turn about its middle
  // An implicit step balances impulses to solve.tolerance.
  EXPECT_LT((given.linear - after.momentum).norm(), (scheme == "explicit" ? 1e-12 : 1e-10) * after.mass);
  // The torque is about the centre, which rests. An implicit step takes angular momentum out by itself.
  const Vec3 center(0.1, 0.1, 0.05);
  const Vec3 angular = after.angular_momentum - center.cross(after.momentum);
  EXPECT_LT((given.angular - angular).norm(), (scheme == "explicit" ? 1e-12 : 0.05) * angular.norm());
  EXPECT_NEAR(before.mass, after.mass, 0);
}

TEST_P(EveryScheme, WhatIsHeldAlongOneAxisIsFreeAcrossIt) {
  Stage stage(
      bar("[1, 0, -10]", "  - {name: all, body: bar, hold: {axes: [z]}}\n", GetParam(), "solve: {tolerance: 1e-10}\n"));
  const std::vector<Vec3> rest = positions(stage);
  stage.steps(20);
  const std::vector<Vec3> x = positions(stage);
  for (std::size_t p = 0; p < x.size(); ++p) EXPECT_NEAR(x[p].z(), rest[p].z(), 1e-15);
  const Totals totals = stage.totals();
  const Real weight = 10 * totals.mass;
  EXPECT_NEAR(totals.momentum.x(), totals.mass * stage.state.time, 1e-7 * totals.mass);
  EXPECT_NEAR(stage.state.handle_impulse[0].linear.z(), weight * stage.state.time, 1e-7 * weight * stage.state.time);
  EXPECT_EQ(stage.state.handle_impulse[0].linear.x(), 0);
}

TEST_P(EveryScheme, AHandleDoesTheWorkThatMovesItsBody) {
  // All of the body is held, at rest at first; then it has the velocity of its handle.
  const std::string scheme = GetParam();
  Stage stage(bar("[0, 0, 0]", "  - {name: all, body: bar, hold: {motion: {velocity: [0.3, 0, 0.4]}}}\n", scheme,
                  "solve: {tolerance: 1e-10}\n"));
  stage.steps(3);
  const Totals totals = stage.totals();
  EXPECT_NEAR(totals.kinetic_energy, totals.mass * 0.25 / 2, 1e-12 * totals.mass);
  EXPECT_LT(totals.elastic_energy, 1e-20);
  // The impulse takes place at the velocity at the end of an implicit step.
  const Real energy = (scheme == "explicit" ? 1 : 2) * totals.kinetic_energy;
  EXPECT_NEAR(stage.state.handle_impulse[0].work, energy, (scheme == "explicit" ? 1e-12 : 0.02) * energy);
}

TEST_P(EveryScheme, LoadsGiveWhatTheyAreAndDoTheirWork) {
  // The body is free, so its momentum is what the load gave. 0.2 x 0.2 m^2 at 50 Pa are 2 N, as is an acceleration of
  // the 1 kg in the lowest layer, of 8 x 8 x 1 particles.
  for (const char* load : {"force: {total: [0, 0, -2], amplitude: [{time: 0, factor: 1}]}}\n",
                           "traction: {per_area: [0, 0, -50], amplitude: [{time: 0, factor: 1}]}}\n",
                           "gravity: {acceleration: [0, 0, -2], amplitude: [{time: 0, factor: 1}]}}\n"}) {
    Stage stage(bar("[0, 0, 0]", end + load, GetParam(), "solve: {tolerance: 1e-10}\n"));
    stage.steps(40);
    const Totals totals = stage.totals();
    const Impulse& given = stage.state.handle_impulse[0];
    EXPECT_NEAR(given.linear.z(), -2 * stage.state.time, 1e-13) << load;
    EXPECT_LT((totals.momentum - given.linear).norm(), 1e-11 * totals.mass) << load;
    EXPECT_LT((totals.angular_momentum - given.angular).norm(), 1e-8 * given.angular.norm()) << load;
    const Real energy = totals.motion() + totals.elastic_energy;
    EXPECT_GT(given.work, 0) << load;
    EXPECT_LT(energy, given.work) << load;
    EXPECT_NEAR(energy, given.work, 0.4 * given.work) << load;
  }
}
INSTANTIATE_TEST_SUITE_P(PointHandles, EveryScheme, testing::Values("explicit"));
INSTANTIATE_TEST_SUITE_P(ImplicitPointHandles, EveryScheme, testing::Values("implicit"));

TEST(ImplicitPointHandlesTest, AHungBarStretchesAsItsClosedFormAndItsHandleBearsTheWeight) {
  // nu = 0: the energy is rho^2 g^2 L^3 A / (6 E), with L = 0.6 m below the handle.
  const Real E = 1e6, rho = 1000, g = 10, L = 0.6, A = 0.04;
  Stage stage(bar("[0, 0, -10]", top + "}}\n", "implicit", "solve: {inertia: false, tolerance: 1e-10}\n", "1e6"));
  stage.steps(1);
  const Totals totals = stage.totals();
  const Real energy = rho * rho * g * g * L * L * L * A / (6 * E), weight = totals.mass * g * stage.state.time;
  EXPECT_NEAR(totals.elastic_energy, energy, 0.05 * energy);
  EXPECT_NEAR(stage.state.handle_impulse[0].linear.z(), weight, 1e-9 * weight);
}

TEST(PointHandlesTest, ABarThatHangsDoesNotLeaveItsHandleWhereverThatEnds) {
  // At a node, and half way to the next one, which it does not lead. Let go at rest it falls by twice its static
  // stretch rho g L^2 / (2 E), a little more as it stretches by a tenth, and swings about that.
  const Real E = 1e5, rho = 1000, g = 10, L = 0.6, stretch = rho * g * L * L / (2 * E);
  for (const Real lower : {0.0, -0.025}) {
    Stage stage(bar("[0, 0, -10]", "  - {name: top, body: bar, where: {box: {lower: [-1, -1, " + std::to_string(lower) +
                                       "], upper: [1, 1, 1]}}, hold: {}}\n"));
    const std::vector<Vec3> rest = positions(stage);
    Real most = 0, sum = 0;
    int steps = 0;
    for (; stage.state.time < 0.48; ++steps) {  // two periods of 4 L / c = 0.24 s
      stage.steps(1);
      const Real fallen = mean_height(rest, rest, -0.6, -0.575) - mean_height(positions(stage), rest, -0.6, -0.575);
      most = std::max(most, fallen);
      sum += fallen;
    }
    EXPECT_NEAR(most, 2 * stretch, 0.15 * stretch) << lower;
    EXPECT_NEAR(sum / steps, stretch, 0.15 * stretch) << lower;
  }
}

TEST(ImplicitPointHandlesTest, ABarThatIsPulledStretchesAsHooke) {
  // The mean displacement of the lowest layer, whose middle is L = 0.5875 m below the handle, is F L / (E A).
  const Real E = 1e6, F = 40, L = 0.5875, A = 0.04;
  for (const char* load : {"force: {total: [0, 0, -40], amplitude: [{time: 0, factor: 1}]}}\n",
                           "traction: {per_area: [0, 0, -1000], amplitude: [{time: 0, factor: 1}]}}\n"}) {
    std::string handles = top;
    handles.append("}}\n").append(end).append(load);
    Stage stage(bar("[0, 0, 0]", handles, "implicit", "solve: {inertia: false, tolerance: 1e-10}\n", "1e6"));
    const std::vector<Vec3> rest = positions(stage);
    stage.steps(1);
    const std::vector<Vec3> x = positions(stage);
    const Real moved = mean_height(x, rest, -0.6, -0.575) - mean_height(rest, rest, -0.6, -0.575);
    EXPECT_NEAR(-moved, F * L / (E * A), 0.02 * F * L / (E * A)) << load;
    EXPECT_NEAR(stage.state.handle_impulse[0].linear.z(), F * stage.state.time, 1e-9 * F * stage.state.time) << load;
  }
}

TEST(PointHandlesTest, ABarThatSwingsOnItsHandleKeepsItsEnergy) {
  Stage stage(bar("[0, 0, -10]", top + "}}\n"));
  const Totals before = stage.totals();
  const Real potential = before.gravitational_energy;
  Real most = 0;
  while (stage.state.time < 0.4) {  // 1.7 periods of 4 L / c = 0.24 s
    stage.steps(1);
    most = std::max(most, stage.totals().kinetic_energy);
  }
  const Totals after = stage.totals();
  const Real energy = after.motion() + after.elastic_energy + after.gravitational_energy - potential;
  EXPECT_LE(stage.state.handle_impulse[0].work, 1e-3 * most);
  EXPECT_LT(energy, 0);
  EXPECT_GT(energy, -0.2 * most);
}

TEST(PointHandlesTest, LetsGoAtItsTime) {
  Stage stage(bar("[0, 0, -10]", top + "until: 0.05}}\n"));
  while (stage.state.time < 0.05) stage.steps(1);
  EXPECT_EQ(stage.state.time, 0.05);
  const Impulse given = stage.state.handle_impulse[0];
  const Totals held = stage.totals();
  EXPECT_NEAR(held.momentum.z(), given.linear.z() - 0.5 * held.mass, 1e-12 * held.mass);
  stage.steps(10);
  EXPECT_EQ(stage.state.handle_impulse[0].linear, given.linear);
  const Totals after = stage.totals();
  EXPECT_NEAR(after.momentum.z(), held.momentum.z() - 10 * (stage.state.time - 0.05) * held.mass, 1e-12 * held.mass);
}

TEST(PointHandlesTest, OneParticleCanBeHeldAndTwoHandlesMayShareOne) {
  // A hold by one particle stops a body that falls slowly; another holds the same one in another direction.
  Stage stage(bar("[0.5, 0, -1]",
                  "  - {name: one, body: bar, where: {sphere: {center: [0.1125, 0.1125, 0.0875], radius: 0.001}}, "
                  "hold: {axes: [z]}}\n"
                  "  - {name: other, body: bar, where: {sphere: {center: [0.1125, 0.1125, 0.0875], radius: 0.001}}, "
                  "hold: {axes: [x, y]}}\n"));
  EXPECT_EQ(stage.scene.handles[0].extent.part, stage.scene.handles[1].extent.part);
  const std::vector<Vec3> rest = positions(stage);
  stage.steps(60);
  const std::vector<Vec3> x = positions(stage);
  int held = 0;
  for (std::size_t p = 0; p < x.size(); ++p)
    if ((rest[p] - Vec3(0.1125, 0.1125, 0.0875)).norm() < 0.001) {
      ++held;
      EXPECT_LT((x[p] - rest[p]).norm(), 1e-15);
    }
  EXPECT_EQ(held, 1);
  EXPECT_GT(stage.state.handle_impulse[0].linear.z(), 0);
  EXPECT_LT(stage.state.handle_impulse[1].linear.x(), 0);
  EXPECT_EQ(stage.state.handle_impulse[0].linear.x(), 0);
}

TEST(PointHandlesTest, AClothAndABlockMayBeHeldAtTheSameNodes) {
  // They share nodes, and the block leads them; the vertices of the cloth hold all the same.
  Stage stage(
      "weft: 1\ndomain: {dx: 0.05, gravity: [0, 0, -10]}\ntime: {end: 1, frame_interval: 1}\n"
      "materials:\n"
      "  rubber: {law: neo_hookean, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0}\n"
      "  cotton: {law: sheet, density: 500, youngs_modulus: 2e4, poisson_ratio: 0.3,"
      " contact: {stiffness: 1e4, shear_stiffness: 2e3, friction: 0.3}}\n"
      "bodies:\n"
      "  - {name: block, kind: continuum, material: rubber, sampling: regular, shape: {box: {lower: [0, 0, -0.2],"
      " upper: [0.3, 0.3, 0]}}}\n"
      "  - {name: cloth, kind: membrane, material: cotton, thickness: 0.01, mesh: {rectangle: {width: 0.6, height: "
      "0.5}, across: 12, along: 10, translate: [-0.1, -0.1, 0.01]}}\n"
      "handles:\n"
      "  - {name: block, body: block, hold: {}}\n"
      "  - {name: cloth, body: cloth, vertices: [0, 70, 80], hold: {}}\n");
  const Totals before = stage.totals();
  stage.steps(30);
  const Totals after = stage.totals();
  const Vec3 given = stage.state.handle_impulse[0].linear + stage.state.handle_impulse[1].linear;
  const Vec3 taken = after.momentum - before.momentum - after.mass * stage.state.time * Vec3(0, 0, -10);
  EXPECT_LT((given - taken).norm(), 1e-11 * taken.norm());
  const MeshBody& cloth = *stage.scene.bodies[1]->roles().mesh;
  for (const Grip& grip : cloth.grips(stage.scene.handles[1].list))
    EXPECT_NEAR(aim_of(grip).axis.dot(grip.sum(cloth.points().get<Position>())), aim_of(grip).rest, 1e-14);
}

TEST(PointHandlesTest, TheRightResultantAndAreaAreSaid) {
  Stage stage(bar("[0, 0, 0]", top + "}}\n" + end + "traction: {per_area: [0, 0, -50]}}\n"));
  const HandleExtent& held = stage.scene.handles[0].extent;
  EXPECT_EQ(held.dimension, 3);
  EXPECT_NEAR(held.part, 0.1 * 0.04, 1e-15);
  EXPECT_NEAR(held.whole, 0.7 * 0.04, 1e-15);
  const HandleExtent& pulled = stage.scene.handles[1].extent;
  EXPECT_EQ(pulled.dimension, 2);
  EXPECT_NEAR(pulled.part, 0.04, 1e-15);
  EXPECT_LT((pulled.force - Vec3(0, 0, -2)).norm(), 1e-13);
  EXPECT_LT((pulled.middle - Vec3(0.1, 0.1, -0.5875)).norm(), 1e-13);
  EXPECT_LT(pulled.moment.norm(), 1e-13);
}

TEST(PointHandlesTest, WhatParticlesCannotDoIsRefusedAtItsPlace) {
  const auto refusal = [](const std::string& handles) -> std::string {
    try {
      Stage stage(bar("[0, 0, 0]", handles));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::deck);
      return error.what();
    }
    return "";
  };
  using testing::HasSubstr;
  const std::string all = "  - {name: all, body: bar, ";
  EXPECT_THAT(refusal(all + "hold: {keep: clamp}}\n"), HasSubstr("only their place can be kept"));
  EXPECT_THAT(refusal(all + "boundary: 0, hold: {}}\n"), HasSubstr("belong to no group"));
  EXPECT_THAT(refusal(all + "pressure: {value: 1}}\n"), HasSubstr("test.yaml:7"));
  EXPECT_THAT(refusal(all + "edge_force: {per_length: [1, 0, 0]}}\n"), HasSubstr("\"edge_force\""));
  EXPECT_THAT(refusal(all + "where: {sphere: {center: [9, 9, 9], radius: 1}}, hold: {}}\n"),
              HasSubstr("no particle of bar"));
  EXPECT_THAT(refusal(all + "where: {sphere: {center: [0.1, 0.1, -0.3], radius: 0.05}}, traction: {per_area: [1, 0, "
                            "0]}}\n"),
              HasSubstr("outermost layer"));
  EXPECT_THAT(refusal(top + "}}\n" + all + "hold: {axes: [z]}}\n"), HasSubstr("handles top and all hold the same"));
  EXPECT_EQ(refusal(top + "axes: [x]}}\n" + all + "hold: {axes: [z]}}\n"), "");
}

}  // namespace
}  // namespace weft
