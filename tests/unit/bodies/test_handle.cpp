// Handles: which sites they take, what they ask of the motion, and their reactions.

#include "weft/bodies/handle.hpp"

#include "weft/geometry/primitives.hpp"
#include "weft/parallel/comm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

Stencil at(std::int32_t row) { return {{row}, {1}}; }

Site site(const Vec3& where) {
  Site s;
  s.where = where;
  return s;
}

/// A square of 5 x 5 vertices with two sides, of which each has a site beyond its ends.
Sites square_sites() {
  Sites sites;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i) {
      sites.vertices.push_back(site({0.25 * i, 0.25 * j, 0}));
      sites.vertices.back().point = 5 * j + i;
    }
  for (const int axis : {0, 1}) {
    auto& side = sites.sides.emplace_back();
    for (int i = -1; i <= 5; ++i) {
      Vec3 where = Vec3::Zero();
      where[axis] = 0.25 * i;
      side.push_back(site(where));
      side.back().at_end = i < 0 || i > 4;
      side.back().point = side.back().at_end ? 100 + 10 * axis + i : (axis == 0 ? i : 5 * i);
    }
  }
  return sites;
}

std::vector<std::int32_t> points_in(const Shape& shape) {
  std::vector<std::int32_t> points;
  for (const Site& s : sites_in(square_sites(), {.shape = &shape})) points.push_back(s.point);
  std::sort(points.begin(), points.end());
  return points;
}

TEST(SitesInTest, TakesAWholeSideWithWhatLiesBeyondItsEnds) {
  // Nothing of the side x = 0, which starts there.
  EXPECT_EQ(points_in(*make_box({-0.1, -0.1, -0.1}, {1.1, 0.1, 0.1})),
            (std::vector<std::int32_t>{0, 1, 2, 3, 4, 99, 105}));
}

TEST(SitesInTest, TakesPartOfASideWithoutItsEnds) {
  EXPECT_EQ(points_in(*make_box({0.2, -0.1, -0.1}, {0.6, 0.1, 0.1})), (std::vector<std::int32_t>{1, 2}));
}

TEST(SitesInTest, TakesSingleVerticesInsideAndOnTheBoundary) {
  EXPECT_EQ(points_in(*make_sphere({0.5, 0.5, 0}, 0.01)), std::vector<std::int32_t>{12});
  EXPECT_EQ(points_in(*make_sphere({0, 0, 0}, 0.01)), std::vector<std::int32_t>{0});
  EXPECT_EQ(points_in(*make_sphere({0.5, 0, 0}, 0.01)), std::vector<std::int32_t>{2});
}

TEST(SitesInTest, PartsAreChosenByNumberAndBoundaryAsWell) {
  const auto points_of = [](const Selection& part) {
    std::vector<std::int32_t> points;
    for (const Site& s : vertices_in(square_sites(), part)) points.push_back(s.point);
    return points;
  };
  const auto box = make_box({0.2, -0.1, -0.1}, {1.1, 0.1, 0.1});
  EXPECT_EQ(points_of({.vertices = std::set<std::int32_t>{2, 12, 77}}), (std::vector<std::int32_t>{2, 12}));
  EXPECT_EQ(points_of({.shape = box.get(), .vertices = std::set<std::int32_t>{2, 12}}), std::vector<std::int32_t>{2});
  EXPECT_TRUE(points_of({.boundary = 3}).empty());
  Sample sample;
  sample.face = 7;
  sample.boundary = 1;
  sample.where = {0.5, 0, 0};
  EXPECT_TRUE((Selection{.faces = std::set<std::int64_t>{7}, .boundary = 1}.has(sample)));
  EXPECT_FALSE((Selection{.faces = std::set<std::int64_t>{6}}.has(sample)));
  EXPECT_FALSE((Selection{.boundary = 0}.has(sample)));
  EXPECT_FALSE((Selection{.shape = make_sphere({0, 0, 0}, 0.1).get()}.has(sample)));
}

/// A line of three points across an edge, and a fourth.
struct Body {
  std::vector<Vec3> positions{{-0.1, 0, 0.02}, {0, 0, 0}, {0.1, 0, 0.01}, {1, 2, 3}};
  Forest forest{Comm(MPI_COMM_SELF), 4, {}};
  Freedoms freedoms{{{"body", 3, &forest}}};
  Motion motion{freedoms};

  Site edge() const {
    Site s;
    s.place = {{0, 1, 2}, {1.0 / 6, 4.0 / 6, 1.0 / 6}};
    s.slope = {{0, 2}, {-0.5, 0.5}};
    s.normal = {0, 0, 1};
    return s;
  }
  Site corner() const {
    Site s;
    s.place = at(3);
    return s;
  }
  Handle handle(std::span<const Site> sites, const HandleSettings& settings) const {
    return {freedoms, 0, held_sums(sites, settings, positions), settings.motion, positions};
  }
  /// Largest gap of the conditions at a time.
  Real gap(const Handle& handle, Real time) const {
    ConstraintRows rows;
    handle.append(time, rows);
    Real largest = 0;
    for (std::size_t c = 0; c < rows.count(); ++c) {
      Real sum = -rows.target[c];
      for (std::size_t k = rows.begin[c]; k < rows.begin[c + 1]; ++k)
        sum += rows.weight[k] * motion.u.all()[rows.freedom[k]];
      largest = std::max(largest, std::abs(sum));
    }
    return largest;
  }
};

TEST(HandleTest, RigidMotionOfTheHandleMeetsAllItsConditions) {
  Body body;
  const std::vector<Site> sites{body.edge(), body.corner()};
  const RigidMotion turn =
      RigidMotion::keyed({{0, Vec3::Zero(), Vec3::Zero()}, {1, {0.3, 0, 1}, {0, 2.5, 1}}}, {0.2, 0.1, 0});
  const Handle handle = body.handle(sites, {.hold = Hold::clamp, .motion = turn});
  EXPECT_EQ(handle.conditions(), 7u);  // two places and one slope
  EXPECT_LE(body.gap(handle, 0), 1e-15);
  for (const Real time : {0.3, 1.0}) {
    const RigidState state = turn.at(time);
    for (int i = 0; i < 4; ++i) body.motion.u.points(0)[i] = state.to_world(body.positions[i]) - body.positions[i];
    EXPECT_LE(body.gap(handle, time), 1e-14);
    body.motion.u.points(0)[1] += Vec3(0, 1e-3, 0);
    EXPECT_GT(body.gap(handle, time), 1e-4);
  }
}

TEST(HandleTest, TargetsCountFromCommittedPositions) {
  Body body;
  const std::vector<Site> sites{body.corner()};
  const Handle handle =
      body.handle(sites, {.hold = Hold::place, .motion = RigidMotion::steady({1, 0, 0}, Vec3::Zero(), Vec3::Zero())});
  body.positions[3] += Vec3(0.25, 0, 0);  // the body has gone along for a while
  ConstraintRows rows;
  handle.append(1, rows);
  EXPECT_NEAR(rows.target[0], 0.75, 1e-15);
}

TEST(HandleTest, ClampLeavesStretchAcrossTheEdgeFree) {
  Body body;
  const std::vector<Site> sites{body.edge()};
  const Handle clamp = body.handle(sites, {.hold = Hold::clamp, .motion = {}});
  const auto u = body.motion.u.points(0);
  u[0] = {-0.01, 0, 0};
  u[2] = {0.01, 0, 0};
  EXPECT_LE(body.gap(clamp, 0), 1e-16);
  u[0] = {0, 0, -0.01};
  u[2] = {0, 0, 0.01};
  EXPECT_NEAR(body.gap(clamp, 0), 0.01, 1e-15);
  const Handle hinge = body.handle(sites, {.hold = Hold::place, .motion = {}});
  EXPECT_LE(body.gap(hinge, 0), 1e-16);
}

TEST(HandleTest, SymmetryAllowsMirrorImagesOnly) {
  Body body;
  const std::vector<Site> sites{body.edge()};
  const Handle handle = body.handle(sites, {.hold = Hold::symmetry, .mirror = {1, 0, 0}, .motion = {}});
  const auto u = body.motion.u.points(0);
  u[0] = {-0.01, 0.03, 0.02};
  u[1] = {0, -0.04, 0.05};
  u[2] = {0.01, 0.03, 0.02};
  EXPECT_LE(body.gap(handle, 0), 1e-16);
  for (const auto& [row, du] : {std::pair{0, Vec3(1e-3, 0, 0)}, {1, Vec3(1e-3, 0, 0)}, {2, Vec3(0, 0, 1e-3)}}) {
    u[row] += du;
    EXPECT_GT(body.gap(handle, 0), 1e-4);
    u[row] -= du;
  }
}

TEST(HandleTest, SlopeAtAFollowedEdgeIsHeldAlongThePresentNormal) {
  Body body;
  Site site;  // the plane of symmetry is y z, the edge lies along y
  site.slope = {{0, 1, 2, 3}, {-1, 0, 1, 0}};
  site.edge = {{0, 1, 2, 3}, {0, -1, 0, 1}};
  body.positions = {{0, 0, 0}, {0, 0, 0}, {0.1, 0.003, 0.002}, {0, 0.2, 0}};
  const Handle handle = body.handle(std::vector{site}, {.hold = Hold::symmetry, .mirror = {1, 0, 0}, .motion = {}});
  const auto u = body.motion.u.points(0);
  EXPECT_EQ(handle.conditions(), 1U);
  u[2] = {0.05, 0.04, 0};
  EXPECT_LE(body.gap(handle, 0), 1e-16);
  u[2] = {0, 0, 0.01};
  EXPECT_NEAR(body.gap(handle, 0), 0.01, 1e-16);
  // After a quarter of a turn about x the slope may move along z, and keeps its angle.
  u[2] = Vec3::Zero();
  body.positions = {{0, 0, 0}, {0, 0, 0}, {0.1, -0.002, 0.003}, {0, 0, 0.2}};
  EXPECT_LE(body.gap(handle, 0), 1e-16);
  u[2] = {0, 0, 0.01};
  EXPECT_LE(body.gap(handle, 0), 1e-16);
  u[2] = {0, 0.01, 0};
  EXPECT_NEAR(body.gap(handle, 0), 0.01, 1e-16);
}

TEST(HandleTest, ReactionIsForceAndTorqueOfWhatTheConditionsDo) {
  Body body;
  const std::vector<Site> sites{body.edge()};
  const Handle handle = body.handle(sites, {.hold = Hold::clamp, .motion = {}});
  const std::vector<Real> along{1, 2, 3, 5};  // x, y, z at the edge, and across on the slope
  const Vec3 about(0.3, -1, 2);
  const Reaction reaction = handle.reaction(along, body.motion, about);
  ConstraintRows rows;
  handle.append(0, rows);
  std::array<Vec3, 4> on_point;
  on_point.fill(Vec3::Zero());
  for (std::size_t c = 0; c < 4; ++c)
    for (std::size_t k = rows.begin[c]; k < rows.begin[c + 1]; ++k)
      on_point[rows.freedom[k] / 3][rows.freedom[k] % 3] += rows.weight[k] * along[c];
  Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
  for (int i = 0; i < 4; ++i) {
    force += on_point[i];
    torque += (body.positions[i] - about).cross(on_point[i]);
  }
  EXPECT_LE((reaction.force - force).norm(), 1e-14);
  EXPECT_LE((reaction.torque - torque).norm(), 1e-14);
}

}  // namespace
}  // namespace weft
