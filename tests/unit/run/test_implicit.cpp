// Implicit steps of whole scenes: against closed forms, against explicit steps, and against what must be conserved.

#include "run/progress.hpp"
#include "weft/bodies/mesh_body.hpp"

#include "parallel/call.hpp"
#include "support/scenes.hpp"

#include <gtest/gtest.h>
#include <petscvec.h>

#include <cmath>
#include <map>

namespace weft {
namespace {

using test::Stage;

std::string deck(const std::string& gravity, Real max_dt, const std::string& material, const std::string& bodies,
                 const std::string& rest = "", const std::string& scheme = "implicit") {
  return "weft: 1\ndomain: {dx: 0.1, gravity: " + gravity +
         "}\ntime: {end: 100, frame_interval: 100, scheme: " + scheme + ", max_dt: " + std::to_string(max_dt) +
         "}\nmaterials: {stuff: {density: 1000, " + material + "}}\nbodies: [" + bodies + "]\n" + rest;
}

std::string box(const std::string& upper, const std::string& more = "") {
  return "{name: a, kind: continuum, material: stuff, sampling: regular, shape: {box: {lower: [0, 0, 0], upper: " +
         upper + "}}" + more + "}";
}

const std::string jelly = "law: neo_hookean, youngs_modulus: 1e4, poisson_ratio: 0.3";
const std::string stiff = "law: neo_hookean, youngs_modulus: 1e7, poisson_ratio: 0";

TEST(ImplicitTest, FallsAsBackwardEulerFalls) {
  Stage stage(deck("[0, 0, -10]", 0.01, stiff, box("[0.2, 0.2, 0.2]", ", velocity: [0, 0, 2]")));
  const Real before = stage.totals().momentum.z();
  stage.steps(5);
  const Totals after = stage.totals();
  EXPECT_NEAR(after.momentum.z(), before - 10 * stage.state.time * after.mass, 1e-9 * after.mass);
  EXPECT_NEAR(stage.state.time, 0.05, 1e-12);
  EXPECT_LT(after.elastic_energy, 1e-12 * after.kinetic_energy);
}

TEST(ImplicitTest, KeepsMomentumAndLosesSpinInProportionToDt) {
  Real lost_spin[2];
  for (const int fine : {0, 1}) {
    Stage stage(deck("[0, 0, 0]", fine == 0 ? 0.004 : 0.002, jelly,
                     box("[0.4, 0.3, 0.2]", ", velocity: [1, 0, 0], spin: [1, 2, 3]"), "solve: {tolerance: 1e-9}\n"));
    const Totals before = stage.totals();
    stage.steps(fine == 0 ? 20 : 40);
    const Totals after = stage.totals();
    EXPECT_LT((after.momentum - before.momentum).norm(), 1e-9 * before.momentum.norm());
    lost_spin[fine] = (after.angular_momentum - before.angular_momentum).norm() / before.angular_momentum.norm();
  }
  EXPECT_LT(lost_spin[0], 0.01);
  EXPECT_NEAR(lost_spin[0] / lost_spin[1], 2, 0.2);
}

/// First and second moments of two bars that were joined and are torn apart, after a tenth of a second.
std::vector<Vec3> ringing_bar(const std::string& scheme, Real dt) {
  Stage stage(deck("[0, 0, 0]", dt, jelly,
                   box("[0.4, 0.2, 0.2]", ", spin: [0, 0, 1]") +
                       ", {name: b, kind: continuum, material: stuff, sampling: regular, "
                       "shape: {box: {lower: [0.4, 0, 0], upper: [0.8, 0.2, 0.2]}}, velocity: [0.2, 0, 0]}",
                   "solve: {tolerance: 1e-8}\n", scheme));
  while (stage.state.time < 0.1) stage.stepper.take(0.1);
  // Sums over points that are the same on all ranks.
  std::vector<Vec3> moments;
  for (const auto& body : stage.scene.bodies) {
    Vec3 sum = Vec3::Zero(), square = Vec3::Zero();
    for (const Vec3& x : body->points().get<Position>().first(body->points().owned())) {
      sum += x;
      square += x.cwiseProduct(x);
    }
    for (Vec3* v : {&sum, &square}) {
      stage.comm.sum(std::span(v->data(), 3));
      moments.push_back(*v);
    }
  }
  return moments;
}
Real distance(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  Real sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]).squaredNorm();
  return std::sqrt(sum);
}

TEST(ImplicitTest, IsOfFirstOrderInDtAndMeetsTheExplicitScheme) {
  // At equal dt, for each transfer damps the finest motion, in either scheme.
  const auto gap = [](Real dt) { return distance(ringing_bar("implicit", dt), ringing_bar("explicit", dt)); };
  const Real coarse = gap(1e-2), fine = gap(5e-3), finest = gap(2.5e-3);
  EXPECT_GT(coarse, 1e-4);
  EXPECT_NEAR(std::log2(coarse / fine), 1, 0.25);
  EXPECT_NEAR(std::log2(fine / finest), 1, 0.25);
}

TEST(ImplicitTest, AStiffColumnComesToItsClosedFormAtHundredsOfExplicitSteps) {
  // Height L on a sticky floor, held sideways by nothing, nu = 0: the energy is rho^2 g^2 L^3 A / (6 E).
  const Real L = 0.8, A = 0.2 * 0.2, E = 1e7, rho = 1000, g = 10;
  const Real rounds = 60;
  Stage stage(deck("[0, -10, 0]", 0.05, stiff, box("[0.2, 0.8, 0.2]"),
                   "colliders: [{name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, condition: "
                   "sticky}]\n"));
  stage.steps(static_cast<int>(rounds));
  const Real explicit_dt = 0.5 * 0.1 * std::sqrt(rho / E);
  EXPECT_GT(stage.state.time / rounds, 99 * explicit_dt);
  const Totals totals = stage.totals();
  EXPECT_NEAR(totals.elastic_energy, rho * rho * g * g * L * L * L * A / (6 * E),
              0.1 * rho * rho * g * g * L * L * L * A / (6 * E));
  EXPECT_LT(totals.kinetic_energy, 1e-4 * totals.elastic_energy);
  // What gravity gave, the floor took.
  const Real weight_impulse = rho * A * L * g * stage.state.time;
  EXPECT_NEAR(stage.state.wall_impulse[0].linear.y(), weight_impulse, 1e-4 * weight_impulse);
}

/// Residuals of the Newton steps of the second of two large steps of a soft block that hits a floor.
std::vector<Real> residuals_of_impact(const std::string& solve) {
  Stage stage(deck("[0, 0, 0]", 0.02, jelly, box("[0.3, 0.2, 0.2]", ", velocity: [0.2, -2, 0]"),
                   "colliders: [{name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, condition: "
                   "sticky, contact: nodes}]\nsolve: {tolerance: 1e-12, " +
                       solve + "}\n"));
  stage.steps(1);
  return stage.stepper.take(1).residuals;
}

TEST(ImplicitTest, NewtonsMethodConvergesQuadratically) {
  for (const char* solve : {"solver: residual", "solver: minimise"}) {
    SCOPED_TRACE(solve);
    const std::vector<Real> r = residuals_of_impact(solve);
    ASSERT_GE(r.size(), 4u);
    // Beyond the first steps and above round-off, the order is near two.
    Real order = 0;
    for (std::size_t i = 1; i + 1 < r.size(); ++i)
      if (r[i + 1] > 1e-11 * r[0]) order = std::max(order, std::log(r[i + 1] / r[i]) / std::log(r[i] / r[i - 1]));
    EXPECT_GT(order, 1.7) << testing::PrintToString(r);
  }
}

TEST(ImplicitTest, AStepThatIsNotFoundIsHalvedAndStepsGrowBackOnceTheyAreEasy) {
  // Two Newton steps are too few for a hit on the floor at full length, but enough when the block is at rest again.
  const Real whole = 0.02;
  Stage stage(deck("[0, 0, 0]", whole, jelly, box("[0.3, 0.2, 0.2]", ", velocity: [0.2, -1, 0]"),
                   "colliders: [{name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, condition: "
                   "sticky, contact: nodes}]\nsolve: {max_iterations: 2, tolerance: 1e-6}\n"));
  Real shortest = whole, last = whole;
  std::string why;
  for (int step = 0; step < 100 && (shortest == whole || last < whole); ++step) {
    const StepReport report = stage.stepper.take(100);
    if (report.retries == 0) {
      EXPECT_NEAR(report.size.dt, std::min(whole, 1.5 * last), 1e-12) << step;
    }
    if (report.retries > 0 && why.empty()) why = report.refused;
    last = report.size.dt;
    shortest = std::min(shortest, last);
  }
  EXPECT_LT(shortest, whole);
  EXPECT_NE(why.find("solve.max_iterations"), std::string::npos) << why;
  EXPECT_DOUBLE_EQ(last, whole);
}

TEST(ImplicitTest, FrictionThatHoldsAndSlipsAtOnceIsFoundInFewNewtonSteps) {
  // A stiff block falls on a rough floor: its middle sticks, its rim slips outwards.
  Stage stage(
      deck("[0, -10, 0]", 0.01, "law: neo_hookean, youngs_modulus: 1e7, poisson_ratio: 0.3", box("[0.6, 0.2, 0.6]"),
           "colliders: [{name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, condition: separate, "
           "friction: 0.5, contact: nodes}]\n"));
  for (int step = 0; step < 5; ++step) {
    const StepReport report = stage.stepper.take(1);
    EXPECT_EQ(report.retries, 0);
    EXPECT_LE(report.newton, 6);
    const std::string iterations =
        std::to_string(report.newton) + " Newton, " + std::to_string(report.krylov) + " Krylov";
    EXPECT_NE(in_words(report).find(iterations), std::string::npos);
  }
  const Real weight_impulse = stage.totals().mass * 10 * stage.state.time;
  EXPECT_NEAR(stage.state.wall_impulse[0].linear.y() - stage.totals().momentum.y(), weight_impulse,
              1e-3 * weight_impulse);
}

TEST(ImplicitTest, AStiffBlockSlidesDownAnInclineAsCoulombAndBackwardEulerHaveIt) {
  // The plane is drawn level and gravity tilted by 25 degrees; after n steps x = a t^2 (1 + 1/n) / 2.
  for (const Real friction : {0.2, 0.6}) {
    Stage stage(deck("[4.145845, -8.890879, 0]", 0.01, "law: fixed_corotated, youngs_modulus: 1e7, poisson_ratio: 0.2",
                     box("[0.4, 0.2, 0.2]"),
                     "colliders: [{name: slope, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, condition: "
                     "separate, friction: " +
                         std::to_string(friction) + "}]\n"));
    const auto place = [&] {
      Real sum = 0;
      for (const Vec3& x : stage.scene.bodies[0]->points().get<Position>()) sum += x.x();
      return stage.comm.sum(sum) / stage.totals().particles;
    };
    const Real start = place();
    const int steps = 20;
    stage.steps(steps);
    const Real t = stage.state.time, a = std::max(0.0, 4.145845 - friction * 8.890879);
    EXPECT_NEAR(place() - start, a * t * t * (1 + 1.0 / steps) / 2, 0.01 * 4.145845 * t * t / 2);
  }
}

TEST(ImplicitTest, WithoutInertiaOneStepEndsInEquilibrium) {
  const Real L = 0.8, A = 0.2 * 0.2, E = 1e7, rho = 1000, g = 10;
  Stage stage(deck("[0, -10, 0]", 0.01, stiff, box("[0.2, 0.8, 0.2]"),
                   "colliders: [{name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, condition: "
                   "sticky}]\nsolve: {inertia: false}\n"));
  stage.steps(1);
  const Real energy = rho * rho * g * g * L * L * L * A / (6 * E);
  EXPECT_NEAR(stage.totals().elastic_energy, energy, 0.1 * energy);
  EXPECT_NEAR(stage.state.wall_impulse[0].linear.y(), rho * A * L * g * stage.state.time,
              1e-3 * rho * A * L * g * stage.state.time);
}

TEST(ImplicitTest, AWallThatMovesTakesAStiffBlockAlongInOneStep) {
  Stage stage(
      deck("[0, 0, 0]", 0.02, stiff, box("[0.2, 0.2, 0.2]"),
           "colliders: [{name: hand, shape: {box: {lower: [-1, -1, -1], upper: [0.1, 2, 2]}}, condition: sticky, "
           "motion: {velocity: [0.5, 0.2, 0]}}]\n"));
  stage.steps(4);
  const Totals totals = stage.totals();
  EXPECT_NEAR(totals.momentum.x(), 0.5 * totals.mass, 0.01 * totals.mass);
  EXPECT_NEAR(totals.momentum.y(), 0.2 * totals.mass, 0.01 * totals.mass);
  // The wall gave what the block has.
  EXPECT_LT((stage.state.wall_impulse[0].linear - totals.momentum).norm(), 1e-3 * totals.momentum.norm());
}

TEST(ImplicitTest, WallsGiveTheAngularMomentumThatABodyGains) {
  // But for what backward Euler loses, which is in proportion to dt.
  for (const char* contact : {"surface", "nodes"}) {
    SCOPED_TRACE(contact);
    Stage stage(
        deck("[0, 0, 0]", 1e-4, jelly, box("[0.4, 0.4, 0.3]", ", velocity: [0.3, -1, 0.2]"),
             std::string("solve: {tolerance: 1e-9}\n"
                         "colliders: [{name: slope, shape: {plane: {point: [0.1, 0, 0.1], normal: [0.4, 1, 0.2]}}, "
                         "friction: 0.2, motion: {spin: [0, 0, 1], center: [0, 0, 0]}, contact: ") +
                 contact + "}]\n"));
    const Totals before = stage.totals();
    stage.steps(80);
    const Totals after = stage.totals();
    const Impulse& given = stage.state.wall_impulse[0];
    EXPECT_GT(given.angular.norm(), 0.01 * before.angular_momentum.norm());
    EXPECT_LT((after.momentum - before.momentum - given.linear).norm(), 1e-8 * before.momentum.norm());
    EXPECT_LT((after.angular_momentum - before.angular_momentum - given.angular).norm(), 1e-5 * given.angular.norm());
  }
}

// --- Bodies with a mesh ----------------------------------------------------------------------------------------------

const std::string cotton =
    "law: sheet, youngs_modulus: 1e7, poisson_ratio: 0, contact: {stiffness: 1e5, "
    "shear_stiffness: 2e4, friction: 0.3}";
const std::string sheet =
    "{name: a, kind: membrane, material: stuff, thickness: 0.002, mesh: {rectangle: {width: 0.4, "
    "height: 0.4}, across: 8, along: 8}";
const std::string rail =
    "handles: [{name: rail, body: a, where: {box: {lower: [-1, 0.399, -1], upper: [2, 2, 1]}}, "
    "hold: {";

TEST(ImplicitMeshTest, AHangingSheetComesToItsClosedFormAtHundredsOfExplicitSteps) {
  // nu = 0: the energy is rho^2 g^2 L^3 A / (6 E), and the rail bears the weight.
  const Real L = 0.4, A = 0.4 * 0.002, E = 1e7, rho = 1000, g = 10;
  for (const char* solve : {"{plasticity: lagged}", "{plasticity: in_loop}", "{inertia: false}",
                            "{inertia: false, plasticity: in_loop, preconditioner: direct}"}) {
    SCOPED_TRACE(solve);
    Stage stage(deck("[0, -10, 0]", 0.1, cotton, sheet + "}", rail + "}}]\nsolve: " + solve + "\n"));
    Stage explicitly(deck("[0, -10, 0]", 0.1, cotton, sheet + "}", rail + "}}]\n", "explicit"));
    explicitly.steps(1);
    const int steps = std::string(solve).find("inertia") == std::string::npos ? 12 : 1;
    stage.steps(steps);
    EXPECT_GT(stage.state.time / steps, 50 * explicitly.state.time);
    const Totals totals = stage.totals();
    const Real energy = rho * rho * g * g * L * L * L * A / (6 * E), weight = rho * A * L * g;
    EXPECT_NEAR(totals.elastic_energy, energy, 0.02 * energy);
    EXPECT_NEAR(stage.state.handle_impulse[0].linear.y(), weight * stage.state.time, 1e-3 * weight * stage.state.time);
  }
}

TEST(ImplicitMeshTest, WithoutInertiaASheetThatIsPulledAnswersWithItsStiffness) {
  // nu = 0: a strain e takes the force E A e.
  const Real E = 1e7, A = 0.4 * 0.002, L = 0.4, speed = 0.04;
  const std::string hem =
      "handles: [{name: hem, body: a, where: {box: {lower: [-1, -1, -1], upper: [2, 0.001, 1]}}, hold: {}}, ";
  Stage stage(deck("[0, 0, 0]", 0.05, cotton, sheet + "}",
                   hem + rail.substr(rail.find('{')) +
                       "motion: {velocity: [0, 0.04, 0]}}}]\nsolve: {inertia: false, tolerance: 1e-6}\n"));
  for (const Real strain : {speed * 0.05 / L, speed * 0.1 / L}) {
    const Real before = stage.state.handle_impulse[0].linear.y();
    const StepReport report = stage.stepper.take(100);
    const Real force = -(stage.state.handle_impulse[0].linear.y() - before) / report.size.dt;
    EXPECT_NEAR(force, E * A * strain, 1e-3 * E * A * strain);
  }
}

TEST(ImplicitMeshTest, StepsOnTheSameNodesMakeNothingNewOfPETSc) {
  // Every object of PETSc has a number of its own, and they are counted up.
  const auto next_number = [](const Comm& comm) {
    Vec probe = nullptr;
    PetscObjectId number = 0;
    check_petsc(VecCreate(comm.handle(), &probe));
    check_petsc(PetscObjectGetId(reinterpret_cast<PetscObject>(probe), &number));
    check_petsc(VecDestroy(&probe));
    return number;
  };
  for (const char* solve : {"preconditioner: blocks", "preconditioner: direct",
                            "preconditioner: direct, solver: residual", "preconditioner: multigrid"}) {
    SCOPED_TRACE(solve);
    Stage stage(deck("[0, -10, 0]", 0.1, cotton, sheet + "}",
                     rail + "}}]\nsolve: {tolerance: 1e-6, plasticity: lagged, " + solve + "}\n"));
    stage.steps(3);
    const PetscObjectId before = next_number(stage.comm);
    EXPECT_GT(stage.stepper.take(100).newton, 0);
    // The conjugate gradients of PETSc, by which multigrid looks for the largest eigenvalue of the matrix of the step,
    // make their three vectors anew.
    EXPECT_EQ(next_number(stage.comm) - before - 1, std::string(solve) == "preconditioner: multigrid" ? 3 : 0);
  }
}

TEST(ImplicitMeshTest, AClampedStripSagsAsABeamAtHundredsOfExplicitSteps) {
  // A beam under the load q for each length has the energy q^2 L^5 / (40 E I), and under F at its end F^2 L^3 / (6 E
  // I); nu = 0.
  const std::string plastic = "law: stvk_hencky, youngs_modulus: 2e9, poisson_ratio: 0";
  const std::string strip =
      "{name: a, kind: shell, material: stuff, thickness: 0.01, contact: {stiffness: 1e7, friction: 0.3}, mesh: "
      "{rectangle: {width: 0.5, height: 0.1}, across: 12, along: 3}}";
  const std::string vice =
      "handles: [{name: vice, body: a, where: {box: {lower: [-1, -1, -1], upper: [0.001, 1, 1]}}, hold: {keep: "
      "clamp}}";
  const std::string pull =
      ", {name: end, body: a, where: {box: {lower: [0.499, -1, -1], upper: [1, 1, 1]}}, force: {total: [0, 0, -3], "
      "amplitude: [{time: 0, factor: 1}]}}";
  const Real q = 1000 * 0.1 * 0.01 * 10, EI = 2e9 * 0.1 * std::pow(0.01, 3) / 12;
  const Real of_weight = q * q * std::pow(0.5, 5) / (40 * EI), of_pull = 3 * 3 * std::pow(0.5, 3) / (6 * EI);
  for (const auto& [solve, gravity, handles, energy] :
       {std::tuple{"plasticity: lagged", "[0, 0, -10]", vice, of_weight},
        std::tuple{"inertia: false", "[0, 0, -10]", vice, of_weight},
        std::tuple{"inertia: false", "[0, 0, 0]", vice + pull, of_pull},
        std::tuple{"inertia: false, plasticity: in_loop", "[0, 0, -10]", vice, of_weight}}) {
    SCOPED_TRACE(solve);
    SCOPED_TRACE(gravity);
    std::string text =
        deck(gravity, 0.05, plastic, strip, handles + "]\nsolve: {preconditioner: direct, " + solve + "}\n");
    text.replace(text.find("dx:"), text.find(',', text.find("dx:")) - text.find("dx:"), "dx: 0.05");
    Stage stage(text);
    const StepLimit limit = stage.scene.bodies[0]->limit_from(0);
    const int steps = std::string(solve).find("inertia") == std::string::npos ? 8 : 1;
    stage.steps(steps);
    EXPECT_GT(stage.state.time / steps, 50 * 1.8 / limit.frequency);
    EXPECT_NEAR(stage.totals().elastic_energy, energy, 0.02 * energy);
  }
}

TEST(ImplicitMeshTest, HandlesLeadTheirPlacesAndGiveWhatTheBodyTakes) {
  Stage stage(deck("[0, -10, 0]", 0.02, cotton, sheet + "}",
                   rail + "motion: {velocity: [0.3, 0.1, 0.2], spin: [0, 1, 0]}}}]\nsolve: {tolerance: 1e-8}\n"));
  const Totals before = stage.totals();
  const MeshBody& body = dynamic_cast<const MeshBody&>(*stage.scene.bodies[0]);
  std::map<PointId, Vec3> rest_of;
  for (std::size_t r = 0; r < body.points().owned(); ++r)
    rest_of[body.points().get<Id>()[r]] = body.points().get<Position>()[r];
  stage.steps(5);
  const Real t = stage.state.time;
  const RigidState state = stage.scene.handles[0].hold()->motion.at(t);
  for (std::size_t r = 0; r < body.points().owned(); ++r) {
    const Vec3& rest = rest_of.at(body.points().get<Id>()[r]);
    if (rest.y() < 0.399) continue;
    EXPECT_LT((body.points().get<Position>()[r] - state.to_world(rest)).norm(), 1e-10 * 0.1);
  }
  const Totals after = stage.totals();
  const Vec3 given = after.momentum - before.momentum - before.mass * t * Vec3(0, -10, 0);
  EXPECT_LT((stage.state.handle_impulse[0].linear - given).norm(), 1e-6 * given.norm());
}

TEST(ImplicitMeshTest, HandlesLetGoWhenTheyAreTold) {
  // No step goes beyond that moment: until then the rail bears the weight, and afterwards the sheet falls freely.
  Stage stage(deck("[0, -10, 0]", 0.02, cotton, sheet + "}", rail + "until: 0.05}}]\n"));
  const Real weight = stage.totals().mass * 10;
  while (stage.state.time < 0.05) stage.steps(1);
  EXPECT_EQ(stage.state.time, 0.05);
  const Totals held = stage.totals();
  const Vec3 given = stage.state.handle_impulse[0].linear;
  EXPECT_NEAR(given.y(), held.momentum.y() + weight * 0.05, 1e-3 * weight * 0.05);
  EXPECT_GT(given.y(), 0.5 * weight * 0.05);
  stage.steps(3);
  EXPECT_EQ(stage.state.handle_impulse[0].linear, given);
  const Real fallen = weight * (stage.state.time - 0.05);
  EXPECT_NEAR(stage.totals().momentum.y(), held.momentum.y() - fallen, 1e-3 * fallen);
}

const std::string ball =
    ", {name: b, kind: continuum, material: soft, shape: {sphere: {center: [0.2, 0.2, 0.2], "
    "radius: 0.12}}, velocity: [0, 0, -2]}";
const std::string soft =
    "materials: {stuff: {density: 1000, law: sheet, youngs_modulus: 1e6, poisson_ratio: 0, "
    "contact: {stiffness: 1e5, shear_stiffness: 2e4, friction: 0.3}}, soft: {law: neo_hookean, density: 300, "
    "youngs_modulus: 2e4, poisson_ratio: 0.3}}\n";
std::string sheet_and_ball(Real dt, const std::string& solve, const std::string& scheme = "implicit") {
  std::string text =
      deck("[0, 0, 0]", dt, cotton, sheet + ", spin: [0, 0, 1]}" + ball, "solve: {" + solve + "}\n", scheme);
  return text.replace(text.find("materials:"), text.find("bodies:") - text.find("materials:"), soft);
}

TEST(ImplicitMeshTest, ASheetAndABallThatMeetKeepTheirMomentum) {
  for (const char* solve : {"tolerance: 1e-8, plasticity: lagged", "tolerance: 1e-8, plasticity: in_loop"}) {
    Stage stage(sheet_and_ball(5e-3, solve));
    const Totals before = stage.totals();
    stage.steps(12);
    const Totals after = stage.totals();
    EXPECT_LT((after.momentum - before.momentum).norm(), 1e-6 * before.momentum.norm()) << solve;
    EXPECT_GT(after.elastic_energy, 1e-3 * before.kinetic_energy) << "they never met";
  }
}

TEST(ImplicitMeshTest, IsOfFirstOrderInDtAndMeetsTheExplicitScheme) {
  const auto place = [](const std::string& scheme, Real dt) {
    Stage stage(sheet_and_ball(dt, "tolerance: 1e-8, plasticity: lagged", scheme));
    while (stage.state.time < 0.02) stage.stepper.take(0.02);
    std::vector<Vec3> moments;
    for (const auto& body : stage.scene.bodies)
      for (const bool square : {false, true}) {
        Vec3 sum = Vec3::Zero();
        for (const Vec3& x : body->points().get<Position>().first(body->points().owned()))
          sum += square ? x.cwiseProduct(x) : x;
        stage.comm.sum(std::span(sum.data(), 3));
        moments.push_back(sum);
      }
    return moments;
  };
  const auto gap = [&](Real dt) { return distance(place("implicit", dt), place("explicit", dt)); };
  const Real coarse = gap(1e-3), fine = gap(5e-4);
  EXPECT_NEAR(std::log2(coarse / fine), 1, 0.3) << coarse << " " << fine;
}

TEST(ImplicitMeshTest, NewtonsMethodConvergesQuadratically) {
  Stage stage(sheet_and_ball(1e-2, "tolerance: 1e-12, plasticity: lagged, solver: residual"));
  stage.steps(8);
  const std::vector<Real> r = stage.stepper.take(1).residuals;
  ASSERT_GE(r.size(), 3u);
  Real order = 0;
  for (std::size_t i = 1; i + 1 < r.size(); ++i)
    if (r[i + 1] > 1e-12 * r[0]) order = std::max(order, std::log(r[i + 1] / r[i]) / std::log(r[i] / r[i - 1]));
  EXPECT_GT(order, 1.7) << testing::PrintToString(r);
}

}  // namespace
}  // namespace weft
