// Bodies that move by freedoms of their own: flight, holds, what they leave alone, and what steps they allow.

#include "support/scenes.hpp"
#include "weft/bodies/mesh_body.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace weft {
namespace {

using test::Stage;

std::string deck(const std::string& gravity, const std::string& bodies, const std::string& more = "") {
  return "weft: 1\n"
         "domain: {dx: 0.05, gravity: " +
         gravity +
         "}\n"
         "time: {end: 10, frame_interval: 10, max_dt: 2e-3}\n"
         "materials:\n"
         "  metal: {law: stvk_hencky, density: 1000, youngs_modulus: 1e6, poisson_ratio: 0.3}\n"
         "  cloth: {law: sheet, density: 500, youngs_modulus: 1e5, poisson_ratio: 0.3, contact: {stiffness: 1e5, "
         "friction: 0.3}}\n"
         "  jelly: {law: fixed_corotated, density: 1000, youngs_modulus: 5e4, poisson_ratio: 0.3}\n"
         "bodies:\n" +
         bodies + more;
}

std::string shell(const std::string& stage, const std::string& more = "") {
  return "  - {name: plate, kind: shell, material: metal, thickness: 0.02, carrier: own, stage: {scheme: " + stage +
         "}, mesh: {rectangle: {width: 0.4, height: 0.3}, across: 6, along: 5, rotate: {axis: [1, 2, 3], angle: 40}}" +
         more + "}\n";
}
std::string sheet(const std::string& stage, const std::string& more = "") {
  return "  - {name: plate, kind: membrane, material: cloth, thickness: 0.002, bending: {youngs_modulus: 1e5}, "
         "carrier: "
         "own, stage: {scheme: " +
         stage +
         "}, mesh: {rectangle: {width: 0.4, height: 0.3}, across: 6, along: 5, rotate: {axis: [1, 2, 3], angle: 40}}" +
         more + "}\n";
}
const std::string jelly =
    "  - {name: lump, kind: continuum, material: jelly, shape: {sphere: {center: [0.2, 0.1, 0.1], radius: 0.1}}, spin: "
    "[3, 2, 1]}\n";

TEST(OwnMotionTest, FreeBodiesKeepMomentumAndAngularMomentumToRoundOff) {
  for (const auto& body : {shell("explicit", ", velocity: [1, 2, 3], spin: [4, -3, 5]"),
                           sheet("explicit", ", velocity: [1, 2, 3], spin: [4, -3, 5]")}) {
    Stage stage(deck("[0, 0, 0]", body));
    const Totals before = stage.totals();
    stage.steps(40);
    const Totals after = stage.totals();
    EXPECT_EQ(after.particles, before.particles);
    EXPECT_LT((after.momentum - before.momentum).norm(), 1e-12 * before.momentum.norm());
    EXPECT_LT((after.angular_momentum - before.angular_momentum).norm(), 1e-11 * before.angular_momentum.norm());
    EXPECT_GT(after.elastic_energy, 0) << "it is stretched by its spin";
  }
}

TEST(OwnMotionTest, FallsAsFarAsTheSchemeSays) {
  for (const std::string scheme : {"explicit", "implicit"}) {
    Stage stage(deck("[0, 0, -10]", shell(scheme)));
    stage.steps(20);
    const Totals totals = stage.totals();
    EXPECT_NEAR(totals.momentum.z(), -10 * totals.mass * stage.state.time, 1e-7 * totals.mass) << scheme;
  }
}

TEST(OwnMotionTest, HoldsAreMetToRoundOffOfTheSizeOfTheBodyAndLetGoInTime) {
  const std::string hold =
      "handles:\n"
      "  - {name: grip, body: plate, where: {box: {lower: [-1, -1, -1], upper: [0.05, 1, 1]}}, hold: {keep: KEEP, "
      "motion: "
      "{velocity: [0.3, 0, 0.1], spin: [0, 2, 1]}, until: 0.05}}\n";
  for (const std::string scheme : {"explicit", "implicit"})
    for (const auto& [body, keep] : {std::pair{shell(scheme), "clamp"}, {sheet(scheme), "place"}}) {
      std::string text = hold;
      text.replace(text.find("KEEP"), 4, keep);
      Stage stage(deck("[0, 0, -10]", body, text));
      stage.steps(20);
      const MeshBody& plate = *stage.scene.bodies[0]->roles().mesh;
      const GridHandle::Hold& held = *stage.scene.handles[0].hold();
      const RigidState aim = held.motion.at(stage.state.time);
      const auto x = plate.points().get<Position>();
      std::int64_t count = 0;
      for (const Grip& grip : plate.grips(stage.scene.handles[0].list)) {
        const HeldSum sum = held_sum_of(grip);
        const Vec3 axis = sum.direction(aim, sum.edge.of(x));
        EXPECT_LT(std::abs(sum.goal(axis, aim) - axis.dot(grip.sum(x))), 1e-11) << scheme << " " << keep;
        ++count;
      }
      EXPECT_GT(stage.comm.sum(count), 10);
      EXPECT_GT(stage.comm.sum(stage.state.handle_impulse[0].linear.norm()), 1e-4);
      // After the release the body falls freely: nothing but its weight changes its momentum.
      while (stage.state.time < 0.05 * (1 - 1e-9)) stage.steps(1);
      const Totals before = stage.totals();
      const Real start = stage.state.time;
      stage.steps(5);
      const Totals after = stage.totals();
      EXPECT_NEAR(after.momentum.z() - before.momentum.z(), -10 * after.mass * (stage.state.time - start),
                  1e-6 * after.mass);
      EXPECT_NEAR(after.momentum.x(), before.momentum.x(), 1e-6 * after.mass);
    }
}

TEST(OwnMotionTest, BodiesOnTheGridKeepTheirBitsBesideOneThatMovesThroughThem) {
  Stage alone(deck("[0, 0, -10]", jelly));
  Stage beside(deck("[0, 0, -10]", jelly + shell("explicit")));
  for (int k = 0; k < 15; ++k) {
    alone.steps(1);
    beside.steps(1);
    ASSERT_EQ(alone.state.time, beside.state.time);
  }
  const auto x = std::as_const(*alone.scene.bodies[0]).points().get<Position>();
  const auto y = std::as_const(*beside.scene.bodies[0]).points().get<Position>();
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t p = 0; p < x.size(); ++p) EXPECT_EQ(x[p], y[p]);
}

TEST(OwnMotionTest, GivenSubstepsLimitTheStepOfTheSceneAndGiveTheMotionOfAsManySmallSteps) {
  std::string few = shell("explicit", ", velocity: [0, 0, 1], spin: [0, 9, 0]");
  few.replace(few.find("explicit"), 8, "explicit, substeps: 4");
  const auto with_max_dt = [](std::string text, Real max_dt) {
    return text.replace(text.find("max_dt: 2e-3"), 12, "max_dt: " + std::to_string(max_dt));
  };
  Stage stage(with_max_dt(deck("[0, 0, 0]", few), 1));
  const StepReport report = stage.stepper.take(std::numeric_limits<Real>::infinity());
  EXPECT_EQ(report.size.limited_by, "stiffness of plate");
  EXPECT_LT(report.size.dt, 1);

  const Real dt = 4 * std::floor(report.size.dt / 8 * 1e6) * 1e-6;  // half of that, whole microseconds
  ASSERT_GT(dt, 1e-5);
  std::string one = few;
  one.replace(one.find("substeps: 4"), 11, "substeps: 1");
  Stage coarse(with_max_dt(deck("[0, 0, 0]", few), dt)), fine(with_max_dt(deck("[0, 0, 0]", one), dt / 4));
  coarse.steps(1);
  fine.steps(4);
  ASSERT_NEAR(fine.state.time, coarse.state.time, 1e-15);
  const auto x = std::as_const(*coarse.scene.bodies[0]).points().get<Position>();
  const auto y = std::as_const(*fine.scene.bodies[0]).points().get<Position>();
  for (std::size_t p = 0; p < x.size(); ++p) EXPECT_LT((x[p] - y[p]).norm(), 1e-14);
}

TEST(OwnMotionTest, EnergyIsThatOfTheWorkDone) {
  const std::string load =
      "handles:\n"
      "  - {name: vice, body: plate, where: {box: {lower: [-1, -1, -1], upper: [0.05, 1, 1]}}, hold: {}}\n"
      "  - {name: push, body: plate, force: {total: [0, 0, 1], amplitude: [{time: 0, factor: 1}]}}\n";
  Stage stage(deck("[0, 0, -1]", shell("explicit"), load));
  const Totals start = stage.totals();
  Real most = 0, largest_gap = 0;
  for (int k = 0; k < 100; ++k) {
    const StepReport report = stage.stepper.take(std::numeric_limits<Real>::infinity(), true);
    const Real left = energy_less_work(stage.scene, stage.state, report, stage.totals());
    most = std::max(most, std::abs(stage.state.handle_impulse[1].work));
    largest_gap = std::max(largest_gap, std::abs(left - start.potential()));
  }
  EXPECT_GT(most, 0);
  EXPECT_LT(largest_gap, 0.01 * stage.comm.max(most));
}

/// Two strands that swing from the horizontal, stretched by what they weigh and by their turning back.
std::string swinging_strands(const std::string& viscosity) {
  std::string text = deck("[0, 0, -9.81]",
                          "  - {name: hair, kind: strand, material: hair, radius: 4 mm, meets_grid: false, stage: "
                          "{scheme: explicit}, curves: {hair_tube: {inner_radius: 0, outer_radius: 0.02, length: 0.6, "
                          "strands: 2}, spacing: 0.03, rotate: {axis: [0, 1, 0], angle: 90}}}\n",
                          "handles:\n  - {name: root, body: hair, where: {box: {lower: [-0.001, -1, -1], upper: "
                          "[0.001, 1, 1]}}, hold: {keep: clamp}}\n");
  text.replace(text.find("max_dt: 2e-3"), 12, "max_dt: 1e-2");
  return text.insert(
      text.find("  metal:"),
      "  hair: {law: rod, density: 1000, youngs_modulus: 1e6, poisson_ratio: 0.4, viscosity: " + viscosity + "}\n");
}

TEST(OwnMotionTest, DampedStrandsTakeSubstepsThreeTimesAsLongAndLoseEnergy) {
  const auto first_substeps = [](Stage& stage) {
    return stage.stepper.take(std::numeric_limits<Real>::infinity()).substeps[0];
  };
  Stage undamped(swinging_strands("0")), hardly(swinging_strands("1")), damped(swinging_strands("10"));
  const int most = first_substeps(undamped), least = first_substeps(damped);
  EXPECT_NEAR(static_cast<Real>(most) / least, 3, 0.4);
  const int between = first_substeps(hardly);
  EXPECT_LT(between, most);
  EXPECT_GT(between, least);

  // Energies of a step are those of velocities between places: they miss some of it where a strand turns back.
  Real least_energy = std::numeric_limits<Real>::infinity(), largest_rise = 0, most_kinetic = 0;
  for (int k = 0; k < 200; ++k) {
    const StepReport report = damped.stepper.take(std::numeric_limits<Real>::infinity(), true);
    const Totals totals = damped.totals();
    const Real now = energy_less_work(damped.scene, damped.state, report, totals);
    least_energy = std::min(least_energy, now);
    largest_rise = std::max(largest_rise, now - least_energy);
    most_kinetic = std::max(most_kinetic, totals.motion());
  }
  EXPECT_GT(most_kinetic, 0.01) << "they swing";
  EXPECT_LT(least_energy, -0.2 * most_kinetic) << "they lose it";
  EXPECT_LT(largest_rise, 3e-4 * most_kinetic);
}

}  // namespace
}  // namespace weft
