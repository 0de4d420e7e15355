// Strands as Terms of a motion with turns: their elements and clamps pass the checks of all Terms.

#include "run/own_system.hpp"
#include "support/scenes.hpp"
#include "support/term_checks.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/coupling/mesh_term.hpp"
#include "weft/coupling/own_carrier.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace weft {
namespace {

const std::string strands =
    "weft: 1\n"
    "domain: {dx: 0.1, gravity: [0, 0, -1]}\n"
    "time: {end: 1, frame_interval: 1}\n"
    "materials: {nylon: {law: rod, density: 1e3, youngs_modulus: 1e6, poisson_ratio: 0.4, viscosity: 1e4}}\n"
    "bodies:\n"
    "  - {name: curls, kind: strand, material: nylon, half_axes: [1 cm, 0.6 cm], twist: 3 rad/m,"
    " curves: {hair_tube: {inner_radius: 0, outer_radius: 0.2, length: 0.4, strands: 3}, spacing: 0.05,"
    " plies: {count: 2, radius: 0.05, twist: 0.3}}}\n"
    "handles:\n"
    "  - {name: lower, body: curls, where: {box: {lower: [-1, -1, -0.001], upper: [1, 1, 0.001]}},"
    " hold: {keep: clamp, motion: {spin: [1, 0, 2]}}}\n"
    "  - {name: upper, body: curls, where: {box: {lower: [-1, -1, 0.399], upper: [1, 1, 0.401]}},"
    " hold: {keep: clamp, motion: {spin: [0, 1, -1]}}}\n";

TEST(StrandTermsTest, PassTheChecksOfTerms) {
  test::Stage stage(strands);
  const OwnSystem system(stage.scene, {0}, stage.scene.step.gravity);
  ASSERT_EQ(system.freedoms.block_count(), 2u);
  Motion motion(system.freedoms);
  motion.time = 0.1;
  MeshBody& body = *stage.scene.bodies[0]->roles().mesh;
  const MeshTerm damping(body, std::make_unique<OwnCarrier>(system.freedoms, 0, 1),
                         Parts{.elastic = false, .contact = false, .viscous = true}, Vec3::Zero());
  const Motion start(system.freedoms);
  body.begin_substep(0.01, {std::as_const(body).points().get<Position>(), {}, start.u.block(1)});
  for (const OwnSystem::Action& action : system.of_handle) action.clamp->begin_substep(0.01, start);
  EXPECT_EQ(damping.energy(start), 0);
  for (const Real size : {0.0, 0.005}) {
    motion.u = test::random_values(system.freedoms, size, 3);
    for (const auto& term : system.terms) test::check_term(*term, motion, 0.01);
    test::check_term(damping, motion, 0.01);
  }
  std::size_t clamps = 0;
  for (const OwnSystem::Action& action : system.of_handle)
    if (action.clamp != nullptr) ++clamps;
  EXPECT_EQ(clamps, 2u);
}

/// Forces of a clamp are a couple, whose moment its reaction tells, with that on turns.
TEST(StrandTermsTest, ReactionsOfClampsAreTheMomentsOfTheirForces) {
  test::Stage stage(strands);
  const OwnSystem system(stage.scene, {0}, stage.scene.step.gravity);
  Motion motion(system.freedoms);
  motion.time = 0.1;
  const Clamp& clamp = *system.of_handle[0].clamp;
  Load force(system.freedoms);
  clamp.add_force(motion, force);
  const auto x = std::as_const(*stage.scene.bodies[0]).points().get<Position>();
  Vec3 sum = Vec3::Zero(), moment = Vec3::Zero();
  for (std::size_t r = 0; r < x.size(); ++r) {
    sum += force.points(0)[r];
    moment += x[r].cross(force.points(0)[r]);
  }
  // What turns gain is along tangents; the rest is the couple.
  Vec3 along = Vec3::Zero();
  const Real gyration = std::sqrt(0.01 * 0.01 + 0.006 * 0.006) / 2;
  const Table& segments = *stage.scene.bodies[0]->roles().mesh->turning();
  const Picture picture = stage.scene.bodies[0]->picture();
  for (std::size_t s = 0; s < segments.rows(); ++s) {
    const Vec3 edge = x[picture.cells[2 * s + 1]] - x[picture.cells[2 * s]];
    along += force.block(1)[s] * gyration * edge.normalized();
  }
  Vec3 gap = clamp.reaction(motion).torque - moment - along;
  for (Vec3* v : {&sum, &moment, &gap}) stage.comm.sum(std::span(v->data(), 3));
  EXPECT_GT(moment.norm(), 1e-6);
  EXPECT_LT(sum.norm(), 1e-12 * moment.norm() / 0.05);
  EXPECT_LT(gap.norm(), 1e-12 * moment.norm());
}

TEST(StrandTermsTest, ClampsBendStrandsOnlyWhenTheyTurn) {
  test::Stage stage(strands);
  const OwnSystem system(stage.scene, {0}, stage.scene.step.gravity);
  Motion motion(system.freedoms);
  const Clamp& clamp = *system.of_handle[0].clamp;
  EXPECT_LT(stage.comm.sum(clamp.energy(motion)), 1e-25);
  motion.time = 0.1;
  EXPECT_GT(stage.comm.sum(clamp.energy(motion)), 1e-6);
}

}  // namespace
}  // namespace weft
