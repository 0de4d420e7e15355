// Elements leave meshes in the stage edit: what is kept, what is held, and what the state of a run knows of it.

#include "run/edit.hpp"

#include "support/scenes.hpp"
#include "weft/bodies/mesh_body.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace weft {
namespace {

using test::Stage;

/// A sheet that turns so fast that it tears.
std::string spun_sheet(const std::string& more) {
  return "weft: 1\n"
         "domain: {dx: 0.05, gravity: [0, 0, 0]}\n"
         "time: {end: 1, frame_interval: 1}\n"
         "materials:\n"
         "  denim: {law: sheet, density: 400, youngs_modulus: 8e4, poisson_ratio: 0.2,"
         " contact: {stiffness: 2e4, shear_stiffness: 4e3, friction: 0.3}}\n"
         "bodies:\n"
         "  - {name: sheet, kind: membrane, material: denim, thickness: 0.005, tear_stretch: 1.2,"
         " bending: {youngs_modulus: 1e5, poisson_ratio: 0.2},"
         " mesh: {rectangle: {width: 0.5, height: 0.5}, across: 15, along: 15}, velocity: [1, 0, 0.5],"
         " spin: [0, 5, 45]}\n" +
         more;
}

MeshBody& sheet_of(Stage& stage) { return *stage.scene.bodies[0]->roles().mesh; }

TEST(MeshEditTest, WhatTearsKeepsItsMassAndMomentum) {
  Stage stage(spun_sheet(""));
  const Totals before = stage.totals();
  stage.steps(60);
  MeshBody& sheet = sheet_of(stage);
  const Totals after = stage.totals();
  const std::int64_t left = stage.comm.sum(static_cast<std::int64_t>(sheet.elements().size()));
  EXPECT_GT(stage.state.removed_elements[0], 50);
  EXPECT_GT(left, 20);
  EXPECT_EQ(stage.state.removed_elements[0] + left, sheet.counts().elements);
  EXPECT_GT(stage.state.next_id[0], static_cast<PointId>(sheet.counts().vertices)) << "no vertex was split";
  EXPECT_EQ(stage.state.next_id[0], static_cast<PointId>(sheet.next_vertex()));
  EXPECT_NEAR(after.mass, before.mass, 1e-13 * before.mass);
  EXPECT_LT((after.momentum - before.momentum).norm(), 1e-12 * before.mass);
  // A split adds a point, and nothing takes one away.
  EXPECT_EQ(static_cast<PointId>(after.particles - before.particles),
            stage.state.next_id[0] - static_cast<PointId>(sheet.counts().vertices));
  EXPECT_FALSE(stage.comm.any(sheet.wants_edit()));
}

TEST(MeshEditTest, AHoldLeadsAllCopiesOfItsVertices) {
  Stage stage(
      spun_sheet("handles:\n"
                 "  - {name: hub, body: sheet, where: {box: {lower: [0.05, 0.05, -1], upper: [0.45, 0.45, 1]}},"
                 " hold: {motion: {velocity: [0, 0, 0.2]}}}\n"));
  stage.steps(40);
  MeshBody& sheet = sheet_of(stage);
  EXPECT_GT(stage.state.removed_elements[0], 20);
  const GridHandle& hub = stage.scene.handles[0];
  const RigidState state = hub.hold()->motion.at(stage.state.time);
  for (const Grip& grip : sheet.grips(hub.list)) {
    const HeldAim aim = aim_of(grip);
    EXPECT_TRUE(std::ranges::binary_search(sheet.elements(), grip.element));
    const Vec3 along = aim.direction(state, Vec3::Zero());
    EXPECT_NEAR(along.dot(grip.sum(sheet.points().get<Position>())), aim.goal(along, state), 1e-3 * 0.05);
  }
}

TEST(MeshEditTest, DeadLoadsAreSharedByTheMassOfCopies) {
  Stage stage(spun_sheet("handles:\n  - {name: load, body: sheet, force: {total: [0, 0, -0.01]}}\n"));
  stage.steps(60);
  MeshBody& sheet = sheet_of(stage);
  const GridHandle& load = stage.scene.handles[0];
  Real shares = 0, grips = 0;
  for (const Grip& grip : sheet.grips(load.list)) {
    const Real share = sheet.share_of_vertex(grip.rows.front());
    shares += share;
    grips += 1;
    EXPECT_LE(share, 1);
    EXPECT_GT(share, 0);
  }
  shares = stage.comm.sum(shares);
  grips = stage.comm.sum(grips);
  EXPECT_LT(shares, grips) << "no vertex was split";
  EXPECT_EQ(grips, stage.comm.sum(static_cast<Real>(sheet.points().owned()))) << "a grip for each vertex";
}

}  // namespace
}  // namespace weft
