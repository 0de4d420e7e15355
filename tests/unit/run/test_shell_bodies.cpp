// Shells in steps of the grid: momentum, rest, rigid flight, dents, and a stack that keeps its order.

#include "weft/bodies/shell_body.hpp"

#include "bodies/shell_sites.hpp"
#include "support/scenes.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/geometry/patches.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace weft {
namespace {

using test::Stage;

std::string deck(const std::string& law, const std::string& gravity, const std::string& bodies) {
  return "weft: 1\n"
         "domain: {dx: 0.05, gravity: " +
         gravity +
         "}\n"
         "time: {end: 10, frame_interval: 10}\n"
         "materials:\n"
         "  sheet: {density: 800, youngs_modulus: 1e5, poisson_ratio: 0.3, law: " +
         law +
         "}\n"
         "  soft: {law: fixed_corotated, density: 200, youngs_modulus: 5e3, poisson_ratio: 0.3}\n"
         "bodies:\n" +
         bodies;
}
std::string shell(const std::string& name, const std::string& more) {
  return "  - {name: " + name +
         ", kind: shell, material: sheet, thickness: 0.01, contact: {stiffness: 2e4, shear_stiffness: 4e3, friction: "
         "0.3}, " +
         more + "}\n";
}
const std::string curved = "mesh: {cylinder_patch: {radius: 0.3, length: 0.4, from: -50, to: 60}, across: 9, along: 7}";
const std::string ball =
    "  - {name: ball, kind: continuum, material: soft, shape: {sphere: {center: [0.03, 0.2, 0.46], radius: 0.1}},"
    " velocity: [0, 0, -2]}\n";

MeshBody& body_of(Stage& stage, std::size_t b = 0) { return dynamic_cast<MeshBody&>(*stage.scene.bodies[b]); }

/// Places of all control points by their number.
std::vector<Vec3> places(Stage& stage) {
  const MeshBody& body = body_of(stage);
  std::vector<Vec3> x(static_cast<std::size_t>(body.counts().vertices), Vec3::Zero());
  for (std::size_t r = 0; r < body.points().owned(); ++r)
    x[body.points().get<Id>()[r]] = body.points().get<Position>()[r];
  stage.comm.sum(std::span(x.front().data(), 3 * x.size()));
  return x;
}

TEST(ShellBodyTest, FallsAsOneWithoutDeforming) {
  Stage stage(deck("stvk_hencky", "[0, 0, -10]", shell("roof", curved + ", velocity: [1, 0, 0.5]")));
  const auto& body = body_of(stage);
  const auto rest = places(stage);
  Real mass = stage.totals().mass;
  EXPECT_NEAR(mass, 800 * 0.01 * 0.4 * 0.3 * 110 * M_PI / 180, 1e-3 * mass);
  stage.steps(20);
  const Real t = stage.state.time;
  for (std::size_t r = 0; r < body.points().rows(); ++r) {
    const Vec3 way = body.points().get<Position>()[r] - rest[body.points().get<Id>()[r]];
    EXPECT_NEAR(way.x(), t, 1e-12);
    EXPECT_NEAR(way.y(), 0, 1e-12);
  }
  EXPECT_LT(stage.totals().elastic_energy, 1e-12);
}

TEST(ShellBodyTest, KeepsMassAndMomentumWhileItIsHit) {
  Stage stage(deck("von_mises, yield_stress: 2e3", "[0, 0, 0]",
                   shell("roof", curved + ", velocity: [0.5, 0, 0], spin: [0, 1, 2]") + ball));
  const Totals before = stage.totals();
  stage.steps(80);
  const Totals after = stage.totals();
  EXPECT_NEAR(after.mass, before.mass, 1e-13 * before.mass);
  EXPECT_LT((after.momentum - before.momentum).norm(), 1e-12 * before.mass);
  EXPECT_GT(after.elastic_energy, 1e-3 * before.kinetic_energy) << "they never met";
  EXPECT_LT(after.elastic_energy + after.kinetic_energy + after.affine_energy,
            (before.kinetic_energy + before.affine_energy) * (1 + 1e-3));
}

TEST(ShellBodyTest, CutAnewKeepsEnergyAndPlaces) {
  Stage stage(deck("von_mises, yield_stress: 1e3", "[0, 0, 0]", shell("roof", curved) + ball));
  MeshBody& body = body_of(stage);
  stage.steps(60);
  const Real energy = stage.comm.sum(body.elastic_energy());
  const auto sum_of_places = [&] {
    Vec3 sum = Vec3::Zero();
    for (const Vec3& x : body.points().get<Position>().first(body.points().owned())) sum += x;
    for (const Vec3& x : body.samples().get<Director>().first(body.samples().owned())) sum += 0.1 * x;
    stage.comm.sum(std::span(sum.data(), 3));
    return sum;
  };
  const Vec3 places = sum_of_places();
  const int ranks = stage.comm.size();
  body.share(stage.comm, [&](const Vec3& x) { return static_cast<int>(std::abs(x.x() * 1e3)) % ranks; });
  EXPECT_NEAR(stage.comm.sum(body.elastic_energy()), energy, 1e-12 * energy);
  EXPECT_LT((sum_of_places() - places).norm(), 1e-11);
  stage.steps(2);
}

TEST(ShellBodyTest, MetalKeepsItsDentAndRubberForgetsIt) {
  // A ball hits a plate in free flight and bounces off.
  const auto plastic_after = [](const std::string& law) {
    Stage stage(deck(law, "[0, 0, 0]",
                     shell("plate", "laminae: 5, mesh: {rectangle: {width: 0.5, height: 0.5}, across: 8, along: 8}") +
                         "  - {name: ball, kind: continuum, material: soft, shape: {sphere: {center: [0.25, 0.25, "
                         "0.2], radius: 0.1}}, velocity: [0, 0, -4]}\n"));
    stage.steps(25);
    Real strain = 0;
    const Picture picture = body_of(stage).picture();
    for (const Real e : picture.fields.get<PlasticStrain>()) strain = std::max(strain, e);
    return stage.comm.max(strain);
  };
  EXPECT_GT(plastic_after("von_mises, yield_stress: 500"), 1e-3);
  EXPECT_EQ(plastic_after("stvk_hencky"), 0);
}

/// How far energy less work rises, over the peak of the energy above its least.
struct Excess {
  Real over_first, over_least;  ///< Of the values before.
};
Excess excess_of_energy(const std::string& text, Real max_dt, Real end) {
  std::string its_text = text;
  its_text.replace(text.find("frame_interval: 10"), 18, "frame_interval: 10, max_dt: " + std::to_string(max_dt));
  Stage stage(its_text);
  const Real first = energy_less_work(stage.scene, stage.state, {}, stage.totals());
  Real least = first, over_first = 0, over_least = 0, highest = 0, lowest = 0;
  while (stage.state.time < end) {
    const StepReport report = stage.stepper.take(end, true);
    const Totals now = stage.totals();
    const Real energy = energy_less_work(stage.scene, stage.state, report, now);
    over_first = std::max(over_first, energy - first);
    over_least = std::max(over_least, energy - least);
    least = std::min(least, energy);
    highest = std::max(highest, now.motion() + now.potential());
    lowest = std::min(lowest, now.potential());
  }
  return {over_first / (highest - lowest), over_least / (highest - lowest)};
}

TEST(ShellBodyTest, HasNoMoreEnergyThanTheWorkDoneOnIt) {
  // A clamp swings a strip; a plate falls aslant on a floor that rises to meet it and sinks.
  const std::string swung =
      deck("stvk_hencky", "[0, 0, 0]",
           shell("strip", "mesh: {rectangle: {width: 0.6, height: 0.2}, across: 12, along: 4}") +
               "handles:\n  - {name: clamp, body: strip, where: {box: {lower: [-1, -1, -1], upper: "
               "[0.001, 1, 1]}}, hold: {keep: clamp, motion: {keyframes: [{time: 0}, {time: 0.05, "
               "translate: [0, 0, 0.05]}, {time: 0.1}]}}}\n");
  const Excess of_swung = excess_of_energy(swung, 1, 0.25);
  EXPECT_LT(of_swung.over_first, 1e-3);
  EXPECT_LT(of_swung.over_least, 1e-3);
  const std::string dropped =
      deck("stvk_hencky", "[0, 0, -10]",
           shell("plate",
                 "mesh: {rectangle: {width: 0.4, height: 0.3}, across: 8, along: 6, rotate: {axis: [0, 1, 0], angle: "
                 "20 deg}, translate: [0, 0, 0.2]}") +
               "colliders:\n  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}, condition: "
               "separate, motion: {keyframes: [{time: 0}, {time: 0.1, translate: [0, 0, 0.1]}, {time: 0.2}]}}\n");
  EXPECT_LT(excess_of_energy(dropped, 1, 0.25).over_first, 1e-3);
}

TEST(ShellBodyTest, AFloorThatCarriesItGivesNoMoreThanItsWork) {
  // Without friction, which would hide it: the floor is slowed down under the weight of the plate.
  const auto carried = [](const std::string& contact) {
    return deck(
        "stvk_hencky", "[0, 0, -10]",
        shell("plate",
              "mesh: {rectangle: {width: 0.4, height: 0.3}, across: 8, along: 6, rotate: {axis: [0, 1, 0], angle: "
              "10 deg}, translate: [0, 0, 0.03]}") +
            "colliders:\n  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}, condition: "
            "separate, contact: " +
            contact + ", motion: {keyframes: [{time: 0}, {time: 0.3, translate: [0, 0, 0.06]}, {time: 0.6}]}}\n");
  };
  // With the wall's velocity at one time they would be 5e-3 and 1.7e-4.
  EXPECT_LT(excess_of_energy(carried("nodes"), 1, 0.4).over_least, 1e-3);
  EXPECT_LT(excess_of_energy(carried("nodes"), 1e-3, 0.4).over_least, 1e-4);
  // Without what its springs store they would be 2e-3.
  EXPECT_LT(excess_of_energy(carried("surface"), 1, 0.4).over_least, 1e-3);
  EXPECT_LT(excess_of_energy(carried("surface"), 1e-3, 0.4).over_least, 1e-3);
}

TEST(ShellBodyTest, KeepsItsEnergyToSecondOrderInTheStep) {
  // A plate is drawn out by a tenth and bent by its spin, in steps that are limited by its stiffness alone.
  const std::string text =
      deck("stvk_hencky", "[0, 0, 0]",
           shell("plate", "spin: [14, 0, 14], mesh: {rectangle: {width: 0.6, height: 0.4}, across: 12, along: 8}"));
  const Real coarse = excess_of_energy(text, 1, 0.06).over_first, fine = excess_of_energy(text, 1e-3, 0.06).over_first;
  EXPECT_LT(coarse, 2e-4);  // with energies half a step apart it would be 7e-3
  EXPECT_LT(fine, 0.25 * coarse);
}

// --- Handles ---------------------------------------------------------------------------------------------------------

const std::string strip = "mesh: {rectangle: {width: 0.6, height: 0.2}, across: 12, along: 4}";
const std::string at_left = "where: {box: {lower: [-1, -1, -1], upper: [0.001, 1, 1]}}, ";
const std::string at_right = "where: {box: {lower: [0.599, -1, -1], upper: [1, 1, 1]}}, ";

Stage strip_with(const std::string& handles, const std::string& gravity = "[0, 0, 0]") {
  return Stage(deck("stvk_hencky", gravity, shell("strip", strip) + "handles:\n" + handles));
}

TEST(ShellHandlesTest, ClampLeadsPlaceAndSlope) {
  Stage stage = strip_with("  - {name: clamp, body: strip, " + at_left +
                               "hold: {keep: clamp, motion: {velocity: [0.1, 0, 0.4], spin: [0, -2, 0]}}}\n",
                           "[0, 0, -10]");
  const Totals before = stage.totals();
  stage.steps(60);
  const GridHandle::Hold& hold = *stage.scene.handles[0].hold();
  const RigidState state = hold.motion.at(stage.state.time);
  const MeshBody& body = body_of(stage);
  std::int64_t slopes = 0;
  Real largest = 0;
  for (const Grip& grip : body.grips(stage.scene.handles[0].list)) {
    const HeldAim aim = aim_of(grip);
    const Vec3 along = aim.direction(state, Vec3::Zero());
    slopes += aim.total == 0 ? 1 : 0;
    largest = std::max(largest, std::abs(aim.goal(along, state) - along.dot(grip.sum(body.points().get<Position>()))));
  }
  EXPECT_EQ(stage.comm.sum(slopes), 7);  // five lines across the edge, and one beyond each end
  EXPECT_LT(largest, 1e-10 * 0.05);
  // Momentum changes by what gravity and the clamp give, energy at most by their work.
  const Totals after = stage.totals();
  const Impulse& given = stage.state.handle_impulse[0];
  const Vec3 gain = after.momentum - before.momentum - before.mass * stage.state.time * Vec3(0, 0, -10);
  EXPECT_LT((given.linear - gain).norm(), 1e-11 * gain.norm());
  const Real energy =
      after.kinetic_energy + after.elastic_energy + after.gravitational_energy - before.gravitational_energy;
  EXPECT_GT(given.work, 0);
  EXPECT_LT(energy, given.work * 1.02);
}

TEST(ShellHandlesTest, SymmetryKeepsAnEdgeInItsPlaneAndSquareToIt) {
  Stage stage = strip_with("  - {name: mirror, body: strip, " + at_left +
                               "hold: {keep: symmetry, normal: [1, 0, 0]}}\n" + "  - {name: pull, body: strip, " +
                               at_right + "edge_force: {per_length: [1, 0, 2], amplitude: [{time: 0, factor: 1}]}}\n",
                           "[0, 0, 20]");
  const auto rest = places(stage);
  stage.steps(80);
  const auto x = places(stage);
  const Sites sites = sites_of(patch(12, 4, rectangle(0.6, 0.2)), {0, 48});
  Real farthest = 0, steepest = 0, highest = 0;
  for (const std::vector<Site>& side : sites.sides)
    for (const Site& site : side)
      if (site.where.x() < 1e-6 && !site.at_end && std::abs(site.slope.of(rest).x()) > 1e-6) {
        farthest = std::max(farthest, std::abs(site.place.of(x).x()));
        steepest = std::max(steepest, std::abs(site.slope.of(x).z()));
        highest = std::max(highest, site.place.of(x).z());
      }
  EXPECT_LT(farthest, 1e-10 * 0.05);
  EXPECT_LT(steepest, 1e-10 * 0.05);
  EXPECT_GT(highest, 1e-3) << "the edge is free to move in the plane";
}

TEST(ShellHandlesTest, SymmetryOfTrianglesKeepsThePresentNormalInThePlane) {
  const std::string file = ::testing::TempDir() + "mirrored_triangles.obj";
  if (Comm::world().is_root()) {
    std::ofstream out(file);
    for (int j = 0; j <= 4; ++j)
      for (int i = 0; i <= 12; ++i) out << "v " << 0.05 * i << " " << 0.05 * j << " 0\n";
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 12; ++i) {
        const int a = 13 * j + i + 1;
        out << "f " << a << " " << a + 1 << " " << a + 13 << "\nf " << a + 1 << " " << a + 14 << " " << a + 13 << "\n";
      }
  }
  Comm::world().barrier();
  Stage stage(deck("stvk_hencky", "[0, 0, 20]",
                   shell("strip", "mesh: {file: {path: " + file + "}}") + "handles:\n  - {name: mirror, body: strip, " +
                       at_left + "hold: {keep: symmetry, normal: [1, 0, 0]}}\n" + "  - {name: pull, body: strip, " +
                       at_right + "edge_force: {per_length: [1, 0, 2], amplitude: [{time: 0, factor: 1}]}}\n"));
  stage.steps(80);
  const auto x = body_of(stage).points().get<Position>();
  std::int64_t slopes = 0;
  Real steepest = 0, farthest = 0;
  for (const Grip& grip : body_of(stage).grips(stage.scene.handles[0].list)) {
    const HeldAim aim = aim_of(grip);
    const Vec3 sum = grip.sum(x), edge = grip.sum(x, 1);
    if (aim.total == 0) {
      ++slopes;
      steepest = std::max(steepest, std::abs(aim.direction({}, edge).dot(sum)) / sum.norm());
    } else farthest = std::max(farthest, std::abs(sum.x()));
  }
  EXPECT_EQ(stage.comm.sum(slopes), 7);  // at five vertices, and the twist at both ends
  EXPECT_LT(stage.comm.max(farthest), 1e-10 * 0.05);
  EXPECT_LT(stage.comm.max(steepest), 1e-5) << "of the normal when the step began";
}

TEST(ShellHandlesTest, EdgeMomentTurnsWithoutPushing) {
  Stage stage = strip_with("  - {name: turn, body: strip, " + at_right +
                           "edge_moment: {per_length: 0.02, amplitude: [{time: 0, factor: 1}]}}\n");
  stage.steps(40);
  const Totals after = stage.totals();
  const Real given = 0.02 * 0.2 * stage.state.time;
  EXPECT_LT(after.momentum.norm(), 1e-12);
  EXPECT_NEAR(stage.state.handle_impulse[0].angular.y(), given, 1e-3 * given);
  EXPECT_NEAR(after.angular_momentum.y(), given, 0.02 * given);  // contact points are put back onto the surface
}

TEST(ShellHandlesTest, GroupsOfTheMeshFileAreParts) {
  const std::string file = ::testing::TempDir() + "shell_handles.obj";
  if (Comm::world().is_root()) {
    std::ofstream out(file);
    for (int j = 0; j <= 2; ++j)
      for (int i = 0; i <= 4; ++i) out << "v " << 0.1 * i << " " << 0.1 * j << " 0\n";
    for (int j = 0; j < 2; ++j) {
      out << "g half_" << j << "\n";
      for (int i = 0; i < 4; ++i)
        out << "f " << 5 * j + i + 1 << " " << 5 * j + i + 2 << " " << 5 * j + i + 7 << " " << 5 * j + i + 6 << "\n";
    }
  }
  Comm::world().any(false);
  Stage stage(deck("stvk_hencky", "[0, 0, 0]",
                   shell("card", "mesh: {file: {path: " + file + "}}") +
                       "handles:\n  - {name: load, body: card, group: half_1, traction: {per_area: [0, 0, 1], "
                       "amplitude: [{time: 0, factor: 1}]}}\n"));
  stage.steps(5);
  EXPECT_NEAR(stage.totals().momentum.z(), 0.04 * stage.state.time, 1e-12);
}

}  // namespace
}  // namespace weft
