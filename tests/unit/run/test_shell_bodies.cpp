// Shells in steps of the grid: momentum, rest, rigid flight, dents, and a stack that keeps its order.

#include "weft/bodies/shell_body.hpp"

#include "support/scenes.hpp"

#include <gtest/gtest.h>

#include <cmath>

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

TEST(ShellBodyTest, FallsAsOneWithoutDeforming) {
  Stage stage(deck("stvk_hencky", "[0, 0, -10]", shell("roof", curved + ", velocity: [1, 0, 0.5]")));
  const auto& body = body_of(stage);
  Real mass = stage.totals().mass;
  EXPECT_NEAR(mass, 800 * 0.01 * 0.4 * 0.3 * 110 * M_PI / 180, 1e-3 * mass);
  stage.steps(20);
  const Real t = stage.state.time;
  for (std::size_t r = 0; r < body.points().rows(); ++r) {
    const Vec3 way = body.points().get<Position>()[r] - body.mesh().x[body.points().get<Id>()[r]];
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
  EXPECT_LT(after.elastic_energy + after.kinetic_energy, before.kinetic_energy * (1 + 1e-3));
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
    stage.steps(150);
    Real strain = 0;
    const Picture picture = body_of(stage).picture();
    for (const Real e : picture.fields.get<PlasticStrain>()) strain = std::max(strain, e);
    return stage.comm.max(strain);
  };
  EXPECT_GT(plastic_after("von_mises, yield_stress: 500"), 1e-3);
  EXPECT_EQ(plastic_after("stvk_hencky"), 0);
}

}  // namespace
}  // namespace weft
