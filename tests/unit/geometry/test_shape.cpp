// Distances, normals, bounds, volumes and drawings of the shapes.

#include "weft/base/error.hpp"
#include "weft/base/random.hpp"
#include "weft/geometry/level_set.hpp"
#include "weft/geometry/mesh.hpp"
#include "weft/geometry/primitives.hpp"
#include "weft/geometry/smooth_union.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace weft {
namespace {

constexpr Real pi = std::numbers::pi;

/// A shape with what a test can say about it without asking it: a function that is zero on its surface and negative
/// inside, and a map from the unit cube that covers the surface.
struct Case {
  std::string name;
  std::shared_ptr<Shape> shape;
  std::function<Real(const Vec3&)> level;
  std::function<Vec3(const Vec3&)> surface_point;
};

Vec3 on_unit_sphere(const Vec3& u) {
  const Real z = 2 * u[0] - 1, r = std::sqrt(1 - z * z);
  return {r * std::cos(2 * pi * u[1]), r * std::sin(2 * pi * u[1]), z};
}

const Vec3 from(0.3, -0.2, 0.1), to(-0.5, 0.6, 0.9), middle = 0.5 * (from + to);
const Vec3 axis = (to - from).normalized(), e1 = axis.unitOrthogonal(), e2 = axis.cross(e1);
const Real length = (to - from).norm();

Vec3 around(Real angle) { return std::cos(angle) * e1 + std::sin(angle) * e2; }

std::vector<Case> bounded_cases() {
  const Vec3 center(0.2, -0.4, 0.1);
  std::vector<Case> cases;
  cases.push_back({"box", make_box({-0.5, -0.3, 0.1}, {0.7, 0.2, 0.4}),
                   [](const Vec3& x) {
                     return std::max({-0.5 - x[0], x[0] - 0.7, -0.3 - x[1], x[1] - 0.2, 0.1 - x[2], x[2] - 0.4});
                   },
                   [](const Vec3& u) {
                     const Vec3 lower(-0.5, -0.3, 0.1), size(1.2, 0.5, 0.3);
                     Vec3 p(6 * u[0] - std::floor(6 * u[0]), u[1], u[2]);
                     const int face = static_cast<int>(6 * u[0]);
                     std::swap(p[0], p[face / 2]);
                     p[face / 2] = face % 2;
                     return Vec3(lower + size.cwiseProduct(p));
                   }});
  cases.push_back({"sphere", make_sphere(center, 0.6), [=](const Vec3& x) { return (x - center).norm() - 0.6; },
                   [=](const Vec3& u) { return Vec3(center + 0.6 * on_unit_sphere(u)); }});
  cases.push_back({"cylinder", make_cylinder(from, to, 0.25),
                   [=](const Vec3& x) {
                     const Real h = axis.dot(x - middle);
                     return std::max(axis.cross(x - middle).norm() - 0.25, std::abs(h) - length / 2);
                   },
                   [=](const Vec3& u) {
                     if (u[2] < 0.5) return Vec3(middle + (u[0] - 0.5) * length * axis + 0.25 * around(2 * pi * u[1]));
                     const Real end = u[2] < 0.75 ? 0.5 : -0.5;
                     return Vec3(middle + end * length * axis + 0.25 * std::sqrt(u[0]) * around(2 * pi * u[1]));
                   }});
  cases.push_back({"capsule", make_capsule(from, to, 0.25),
                   [=](const Vec3& x) {
                     const Real s = std::clamp((x - from).dot(to - from) / (length * length), 0.0, 1.0);
                     return (x - from - s * (to - from)).norm() - 0.25;
                   },
                   [=](const Vec3& u) {
                     if (u[2] < 0.5) return Vec3(from + u[0] * length * axis + 0.25 * around(2 * pi * u[1]));
                     Vec3 d = on_unit_sphere(u);
                     return Vec3((d.dot(axis) < 0 ? from : to) + 0.25 * d);
                   }});
  for (const Vec3& radii : {Vec3(0.8, 0.5, 0.2), Vec3(0.5, 0.5, 0.1), Vec3(0.1, 0.6, 0.6), Vec3(0.4, 0.4, 0.4)})
    cases.push_back({"ellipsoid", make_ellipsoid(center, radii),
                     [=](const Vec3& x) { return (x - center).cwiseQuotient(radii).norm() - 1; },
                     [=](const Vec3& u) { return Vec3(center + radii.cwiseProduct(on_unit_sphere(u))); }});
  cases.push_back({"torus", make_torus(center, axis, 0.5, 0.2),
                   [=](const Vec3& x) {
                     const Real h = axis.dot(x - center), r = axis.cross(x - center).norm();
                     return std::hypot(r - 0.5, h) - 0.2;
                   },
                   [=](const Vec3& u) {
                     const Real a = 2 * pi * u[0];
                     return Vec3(center + (0.5 + 0.2 * std::cos(a)) * around(2 * pi * u[1]) + 0.2 * std::sin(a) * axis);
                   }});
  return cases;
}

/// Points in and around the shapes, some on planes of symmetry, where nearest points are not unique.
std::vector<Vec3> probes() {
  std::vector<Vec3> points = {
      {0.2, -0.4, 0.1},  {0.2, -0.35, 0.1}, {0.3, -0.4, 0.1}, {0.2, -0.4, 0.2}, {0.25, -0.45, 0.1}, middle, from, to,
      {0.1, -0.05, 0.25}};
  for (int k = 0; k < 400; ++k) points.push_back(Vec3::Constant(-1.5) + 3 * Random(1, 2, k).uniform3());
  return points;
}

TEST(ShapeTest, TheFootOfThePerpendicularLiesOnTheSurface) {
  for (const Case& c : bounded_cases())
    for (const Vec3& x : probes()) {
      const Surface s = c.shape->surface(x);
      EXPECT_NEAR(s.normal.norm(), 1, 1e-14) << c.name;
      // Round-off, for a level function whose slope is at most 10 (radii down to 0.1).
      EXPECT_NEAR(c.level(x - s.distance * s.normal), 0, 1e-13) << c.name << " at " << x.transpose();
    }
}

TEST(ShapeTest, TheSignTellsInsideFromOutside) {
  for (const Case& c : bounded_cases())
    for (const Vec3& x : probes()) {
      if (std::abs(c.level(x)) < 1e-14) continue;  // on the surface to round-off
      EXPECT_EQ(c.shape->surface(x).distance < 0, c.level(x) < 0) << c.name;
      EXPECT_EQ(c.shape->contains(x), c.level(x) <= 0) << c.name;
    }
}

TEST(ShapeTest, NoPointOfTheSurfaceIsNearerThanTheDistance) {
  constexpr int samples = 5000;  // leave gaps of about 0.1 on these surfaces
  for (const Case& c : bounded_cases()) {
    std::vector<Vec3> surface;
    for (int k = 0; k < samples; ++k) surface.push_back(c.surface_point(Random(3, 4, k).uniform3()));
    for (const Vec3& p : surface) ASSERT_NEAR(c.level(p), 0, 1e-14) << c.name;
    for (const Vec3& x : probes()) {
      Real nearest = 1e9;
      for (const Vec3& p : surface) nearest = std::min(nearest, (x - p).norm());
      const Real distance = std::abs(c.shape->surface(x).distance);
      EXPECT_GE(nearest, distance - 1e-14) << c.name;
      EXPECT_LE(nearest, distance + 0.1) << c.name;
    }
  }
}

TEST(ShapeTest, TheNormalIsTheGradientOfTheDistance) {
  constexpr Real h = 1e-5;
  int compared = 0;
  for (const Case& c : bounded_cases())
    for (const Vec3& x : probes()) {
      Vec3 gradient;
      for (int a = 0; a < 3; ++a)
        gradient[a] =
            (c.shape->surface(x + h * Vec3::Unit(a)).distance - c.shape->surface(x - h * Vec3::Unit(a)).distance) /
            (2 * h);
      if (std::abs(gradient.norm() - 1) > 1e-5) continue;  // a kink of the distance lies between the points
      // Second differences: h^2 times the third derivative of the distance, which stays below 1e3 away from kinks.
      EXPECT_LT((gradient - c.shape->surface(x).normal).norm(), 1e-4) << c.name << " at " << x.transpose();
      ++compared;
    }
  EXPECT_GT(compared, 3000);
}

TEST(ShapeTest, TheDistanceOfAnEllipsoidSurvivesExtremeProportions) {
  for (const Vec3& radii : {Vec3(1, 1e-3, 1e-6), Vec3(1e3, 1, 1), Vec3(1, 1, 1 + 1e-12)}) {
    const auto shape = make_ellipsoid(Vec3::Zero(), radii);
    for (int k = 0; k < 1000; ++k) {
      const Vec3 u = Random(5, 6, k).uniform3();
      const Vec3 q = radii.cwiseProduct(on_unit_sphere(u));
      const Vec3 n = q.cwiseQuotient(radii.cwiseAbs2()).normalized();
      const Real d = u[2] * radii.maxCoeff();
      // From outside a convex solid the nearest point is known: one starts there.
      EXPECT_NEAR(shape->surface(q + d * n).distance, d, 1e-12 * radii.maxCoeff()) << radii.transpose();
    }
  }
}

TEST(ShapeTest, KnownDistancesOfTheHalfSpace) {
  const auto plane = make_half_space({0, 0, 1}, {0, 0, 5});
  EXPECT_DOUBLE_EQ(plane->surface({3, 4, 3}).distance, 2);
  EXPECT_DOUBLE_EQ(plane->surface({3, 4, -1}).distance, -2);
  EXPECT_EQ(plane->surface({3, 4, -1}).normal, Vec3::UnitZ());
  EXPECT_FALSE(plane->bounds() || plane->volume());
}

TEST(ShapeTest, BoundsHoldTheSolidTightly) {
  for (const Case& c : bounded_cases()) {
    const Box box = *c.shape->bounds();
    const Box drawn = bounds_of(c.shape->tessellate({}));
    // The drawing is inscribed with at least 24 steps for half a turn: it misses at most 1 - cos(pi / 24) of a radius.
    const Real missing = (1 - std::cos(pi / 24)) * (box.upper - box.lower).maxCoeff();
    for (int a = 0; a < 3; ++a) {
      EXPECT_LE(box.lower[a], drawn.lower[a] + 1e-14) << c.name;
      EXPECT_GE(box.upper[a], drawn.upper[a] - 1e-14) << c.name;
      EXPECT_NEAR(box.lower[a], drawn.lower[a], missing) << c.name;
      EXPECT_NEAR(box.upper[a], drawn.upper[a], missing) << c.name;
    }
  }
}

TEST(ShapeTest, DrawingsAreClosedAndTheirCornersLieOnTheSurface) {
  for (const Case& c : bounded_cases()) {
    const SurfaceMesh mesh = c.shape->tessellate({});
    EXPECT_NO_THROW(require_closed(mesh, c.name));
    EXPECT_EQ(check(mesh).unused_points.count, 0);
    for (const Vec3& p : mesh.points) EXPECT_NEAR(c.level(p), 0, 1e-14) << c.name;
    // A circle drawn in n steps lacks 1 - sin(s) / s of its area, s = 2 pi / n: 0.3 % of the 48 around the axis and 1.1
    // % of the 24 around the tube of a torus; others lack less.
    EXPECT_LT(volume_of(mesh), *c.shape->volume() * (1 + 1e-12)) << c.name;
    EXPECT_NEAR(volume_of(mesh) / *c.shape->volume(), 1, 0.015) << c.name;
  }
}

TEST(ShapeTest, ACapsuleOfNoLengthIsASphere) {
  const auto capsule = make_capsule(from, from, 0.3), sphere = make_sphere(from, 0.3);
  for (const Vec3& x : probes()) EXPECT_DOUBLE_EQ(capsule->surface(x).distance, sphere->surface(x).distance);
  EXPECT_DOUBLE_EQ(*capsule->volume(), *sphere->volume());
  EXPECT_NO_THROW(require_closed(capsule->tessellate({}), "capsule"));
}

TEST(ShapeTest, APlaneIsDrawnAsAPatchThatCoversTheView) {
  const Vec3 n = Vec3(1, 2, 3).normalized(), point(0.1, 0.2, 0.3);
  const SurfaceMesh mesh = make_half_space(point, n)->tessellate({{-1, -1, -1}, {1, 2, 1}});
  ASSERT_EQ(mesh.face_count(), 1);
  for (const Vec3& p : mesh.points) EXPECT_NEAR(n.dot(p - point), 0, 1e-14);
  const Vec3 turned = (mesh.points[1] - mesh.points[0]).cross(mesh.points[2] - mesh.points[1]);
  EXPECT_NEAR(turned.normalized().dot(n), 1, 1e-14);
  EXPECT_NEAR(turned.norm(), Vec3(2, 3, 2).squaredNorm(), 1e-12);  // a square with the diagonal of the view as its edge
}

std::unique_ptr<Shape> union_of(std::vector<std::unique_ptr<Shape>> parts, Real blend) {
  return make_smooth_union(std::move(parts), blend);
}
template <class... Parts>
std::vector<std::unique_ptr<Shape>> list(Parts... parts) {
  std::vector<std::unique_ptr<Shape>> all;
  (all.push_back(std::move(parts)), ...);
  return all;
}

TEST(SmoothUnionTest, OnePartAloneIsItself) {
  const auto ball = make_sphere({0.1, 0, 0}, 0.5);
  const auto alone = union_of(list(make_sphere({0.1, 0, 0}, 0.5)), 0.2);
  for (const Vec3& x : probes()) {
    EXPECT_NEAR(alone->surface(x).distance, ball->surface(x).distance, 1e-14);
    EXPECT_LT((alone->surface(x).normal - ball->surface(x).normal).norm(), 1e-14);
  }
}

TEST(SmoothUnionTest, FilletsBetweenPlanesAtRightAnglesAreRound) {
  const Real r = 0.2;  // faces y = 0 and x = 0 of two slabs, an inner edge along z
  const auto shape = union_of(list(make_box({-2, -1, -2}, {2, 0, 2}), make_box({-1, -2, -2}, {0, 2, 2})), r);
  for (const Real angle : {0.1, 0.5, 0.8, 1.4}) {
    const Vec3 n(-std::cos(angle), -std::sin(angle), 0);
    for (const Real distance : {-0.02, 0.0, 0.05}) {
      const Vec3 x = Vec3(r, r, 0.3) + (r - distance) * n;
      EXPECT_NEAR(shape->surface(x).distance, distance, 1e-13) << angle;
      EXPECT_LT((shape->surface(x).normal + n).norm(), 1e-12) << angle;
    }
  }
  EXPECT_NEAR(shape->surface({0.5, 0.3, 0}).distance, 0.3, 1e-14);  // beyond the blend that of the nearer slab
}

TEST(SmoothUnionTest, PartsMayStandInAnyOrder) {
  const auto some = [](int first) {
    std::vector<std::unique_ptr<Shape>> parts = list(make_sphere({0, 0, 0}, 0.4), make_sphere({0.5, 0.1, 0}, 0.3),
                                                     make_capsule({0, 0, 0}, {0, 0.3, 0.6}, 0.15));
    std::ranges::rotate(parts, parts.begin() + first);
    return union_of(std::move(parts), 0.1);
  };
  for (const Vec3& x : probes()) EXPECT_NEAR(some(0)->surface(x).distance, some(2)->surface(x).distance, 1e-14);
}

TEST(SmoothUnionTest, DistancesAreRightToFirstOrderAtTheSurfaceAndBallsThatMissDo) {
  const auto shape = union_of(
      list(make_sphere({0, 0, 0}, 0.4), make_sphere({0.55, 0.1, 0}, 0.3), make_sphere({0.2, 0.5, 0.1}, 0.3)), 0.15);
  const SurfaceMesh drawn = shape->tessellate({});
  EXPECT_NO_THROW(require_closed(drawn, "union"));
  for (std::size_t p = 0; p < drawn.points.size(); p += 7) {
    const Vec3& on = drawn.points[p];
    EXPECT_NEAR(shape->surface(on).distance, 0, 1e-12);
    const Vec3 n = shape->surface(on).normal;
    constexpr Real h = 1e-4;
    EXPECT_NEAR(shape->surface(on + h * n).distance, h, 0.01 * h);
    EXPECT_NEAR(shape->surface(on - h * n).distance, -h, 0.01 * h);
    for (const Real away : {0.05, 0.3, 1.0}) EXPECT_FALSE(shape->misses_ball(on + away * n, 1.001 * away));
    EXPECT_TRUE(shape->misses_ball(on + 2 * n, 0.2));
  }
  const Box box = *shape->bounds();
  for (const Vec3& on : drawn.points) EXPECT_TRUE(box.contains(on));
}

TEST(SmoothUnionTest, BoxesGrowByNoMoreThanTheSurfaceAndThinPartsAreDrawn) {
  const Box alone = *union_of(list(make_sphere({0.1, 0, 0}, 0.5)), 0.2)->bounds();
  EXPECT_LT((alone.lower - Vec3(-0.4, -0.5, -0.5)).norm() + (alone.upper - Vec3(0.6, 0.5, 0.5)).norm(), 1e-14);
  // Equal distances d of two parts meet where d = blend (1 - 1 / sqrt 2).
  const auto twins = union_of(list(make_sphere({0, 0, 0}, 0.5), make_sphere({0, 0, 0}, 0.5)), 0.2);
  const Real radius = 0.5 + 0.2 * (1 - std::sqrt(0.5));
  EXPECT_NEAR(twins->surface({radius, 0, 0}).distance, 0, 1e-14);
  EXPECT_NEAR(twins->bounds()->upper.x(), radius, 1e-14);
  const auto pair = union_of(list(make_sphere({0, 0, -1}, 0.4), make_capsule({0, 0, 0}, {0, 0, 2}, 0.02)), 0.05);
  const SurfaceMesh drawn = pair->tessellate({});
  EXPECT_NO_THROW(require_closed(drawn, "union"));
  Real highest = 0;
  for (const Vec3& x : drawn.points) highest = std::max(highest, x.z());
  EXPECT_NEAR(highest, 2.02, 0.01);
}

TEST(SmoothUnionTest, RefusesWhatHasNoEnd) {
  EXPECT_THROW(union_of(list(make_sphere({0, 0, 0}, 1)), 10), Error);
  EXPECT_THROW(union_of({}, 0.1), Error);
  EXPECT_THROW(union_of(list(make_half_space({0, 0, 0}, {0, 0, 1})), 0.1), Error);
  EXPECT_THROW(union_of(list(make_sphere({0, 0, 0}, 1)), 0), Error);
}

TEST(ShapeTest, HollowTurnsASolidInsideOut) {
  const auto room = hollow(make_sphere({1, 0, 0}, 2));
  EXPECT_DOUBLE_EQ(room->surface({1.5, 0, 0}).distance, 1.5);
  EXPECT_EQ(room->surface({1.5, 0, 0}).normal, Vec3(-1, 0, 0));
  EXPECT_FALSE(room->contains({1, 0, 0}));
  EXPECT_TRUE(room->contains({4, 0, 0}));
  EXPECT_FALSE(room->bounds() || room->volume());
  EXPECT_LT(volume_of(room->tessellate({})), 0);
}

TEST(ShapeTest, PlacingScalesThenTurnsThenMoves) {
  // A box from (1, 0, 0) to (2, 1, 1), twice as large, a quarter turn about z, three up.
  const auto shape = placed(make_box({1, 0, 0}, {2, 1, 1}), {2, rotation_matrix({0, 0, pi / 2}), {0, 0, 3}});
  const auto expected = make_box({-2, 2, 3}, {0, 4, 5});
  for (int k = 0; k < 300; ++k) {
    const Vec3 x = Vec3(-5, -1, 0) + 8 * Random(7, 8, k).uniform3();
    EXPECT_NEAR(shape->surface(x).distance, expected->surface(x).distance, 1e-13);
    EXPECT_LT((shape->surface(x).normal - expected->surface(x).normal).norm(), 1e-12);
    EXPECT_EQ(shape->contains(x), expected->contains(x));
  }
  EXPECT_LT((shape->bounds()->lower - Vec3(-2, 2, 3)).norm() + (shape->bounds()->upper - Vec3(0, 4, 5)).norm(), 1e-14);
  EXPECT_NEAR(*shape->volume(), 8, 1e-14);
  EXPECT_NEAR(volume_of(shape->tessellate({})), 8, 1e-13);
}

TEST(ShapeTest, APlacedPlaneStillCoversTheView) {
  const auto plane = placed(make_half_space({0, 0, 0}, {0, 1, 0}), {0.5, rotation_matrix({0.3, 0, 0}), {0, 2, 0}});
  const SurfaceMesh mesh = plane->tessellate({{-1, -1, -1}, {1, 1, 1}});
  for (const Vec3& p : mesh.points) EXPECT_NEAR(plane->surface(p).distance, 0, 1e-14);
  EXPECT_GE(area_of(mesh), 12 * (1 - 1e-12));
}

TEST(ShapeTest, ShapesWithoutExtentAreRefused) {
  const Real nan = std::nan("");
  const Vec3 o = Vec3::Zero();
  EXPECT_THROW(make_half_space(o, o), Error);
  EXPECT_THROW(make_half_space({nan, 0, 0}, Vec3::UnitX()), Error);
  EXPECT_THROW(make_box({0, 0, 0}, {1, 0, 1}), Error);
  EXPECT_THROW(make_box({0, 0, nan}, {1, 1, 1}), Error);
  EXPECT_THROW(make_sphere(o, 0), Error);
  EXPECT_THROW(make_sphere(o, nan), Error);
  EXPECT_THROW(make_sphere(o, -1), Error);
  EXPECT_THROW(make_cylinder(o, o, 1), Error);
  EXPECT_THROW(make_cylinder(o, {1, 0, 0}, 0), Error);
  EXPECT_THROW(make_capsule(o, {nan, 0, 0}, 1), Error);
  EXPECT_THROW(make_ellipsoid(o, {1, 1, 0}), Error);
  EXPECT_THROW(make_ellipsoid(o, {1, 1, INFINITY}), Error);
  EXPECT_THROW(make_torus(o, Vec3::UnitX(), 1, 1), Error);
  EXPECT_THROW(make_torus(o, o, 1, 0.5), Error);
  EXPECT_THROW(placed(make_sphere(o, 1), {0, Mat3::Identity(), o}), Error);
  EXPECT_THROW(placed(make_sphere(o, 1), {1, 2 * Mat3::Identity(), o}), Error);
  EXPECT_THROW(placed(make_sphere(o, 1), {1, -Mat3::Identity(), o}), Error);
}

/// The faces that material outside of a shape meets, nearest first.
std::vector<Surface> faces_of(const Shape& shape, const Vec3& x, Real reach) {
  const Faces faces = shape.faces(x, Side::outside, reach);
  std::vector<Surface> sorted(faces.begin(), faces.end());
  std::ranges::sort(sorted, {}, &Surface::distance);
  return sorted;
}

/// Expects a face for each of these distances and normals, nearest first.
void expect_faces(const std::vector<Surface>& found, const std::vector<Surface>& expected, const char* what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_NEAR(found[k].distance, expected[k].distance, 1e-9) << what;
    EXPECT_LE((found[k].normal - expected[k].normal).norm(), 1e-6) << what;
  }
}

TEST(FacesTest, EachFaceThatMeetsAtAnInnerEdgeCountsWhereverTheSceneStands) {
  const Vec3 lower(-0.5, -0.4, -0.3), upper(0.5, 0.6, 0.7), x(-0.46, -0.37, 0.2);
  const Placement turned{2, rotation_matrix({0.3, -0.2, 0.5}), {5.1, -3, 2}};
  const std::vector<Surface> at_rest{{0.03, Vec3::UnitY()}, {0.04, Vec3::UnitX()}};
  std::vector<Surface> moved = at_rest;
  for (Surface& face : moved) face = {2 * face.distance, turned.rotation * face.normal};
  const auto box = [&] { return hollow(make_box(lower, upper)); };
  const auto mesh = [&] { return hollow(make_level_set(make_box(lower, upper)->tessellate({}), {0.05, 0.3})); };
  expect_faces(faces_of(*box(), x, 0.1), at_rest, "box");
  expect_faces(faces_of(*mesh(), x, 0.1), at_rest, "mesh");
  expect_faces(faces_of(*placed(box(), turned), turned(x), 0.2), moved, "turned box");
  expect_faces(faces_of(*placed(mesh(), turned), turned(x), 0.2), moved, "turned mesh");
  // In a corner all three; in the middle none; beyond the surface the distance is negative.
  EXPECT_EQ(faces_of(*box(), {-0.46, -0.37, -0.28}, 0.1).size(), 3u);
  EXPECT_EQ(faces_of(*mesh(), {-0.46, -0.37, -0.28}, 0.1).size(), 3u);
  EXPECT_TRUE(faces_of(*box(), {0, 0, 0.2}, 0.1).empty());
  EXPECT_TRUE(faces_of(*mesh(), {0, 0, 0.2}, 0.1).empty());
  expect_faces(faces_of(*box(), {-0.52, 0, 0.2}, 0.1), {{-0.02, Vec3::UnitX()}}, "beyond");
}

TEST(FacesTest, WhatIsFlatIsSeenAlikeFromEverywhere) {
  const Placement turned{1.5, rotation_matrix({0.1, 0.3, 0.2}), Vec3(0.2, -0.1, 0.3)};
  const auto box = [] { return make_box(Vec3(-0.5, -0.4, -0.3), Vec3(0.5, 0.4, 0.3)); };
  EXPECT_FALSE(box()->is_flat(Side::outside));
  EXPECT_FALSE(hollow(make_sphere(Vec3::Zero(), 1))->is_flat(Side::outside));
  constexpr Real far = 10;
  const Vec3 x(-0.2, 0.1, 0.05), other(0.3, -0.2, 0.2);
  const auto flat = [&] {
    std::vector<std::unique_ptr<Shape>> shapes;
    shapes.push_back(placed(hollow(box()), turned));
    shapes.push_back(placed(make_half_space(Vec3(0.1, 0, 0), Vec3(0.6, 0.8, 0)), turned));
    return shapes;
  }();
  for (const auto& shape : flat) {
    EXPECT_TRUE(shape->is_flat(Side::outside));
    std::vector<Surface> moved = faces_of(*shape, x, far);
    EXPECT_FALSE(moved.empty());
    for (auto& [distance, normal] : moved) distance += normal.dot(other - x);
    std::ranges::sort(moved, {}, &Surface::distance);
    expect_faces(faces_of(*shape, other, far), moved, "flat");
  }
}

TEST(FacesTest, TheRimOfAHollowCylinderHasItsFloorAndItsSide) {
  const auto cup = hollow(make_cylinder({0, 0, 0}, {0, 1, 0}, 0.4));
  expect_faces(faces_of(*cup, {0.35, 0.02, 0}, 0.1), {{0.02, Vec3::UnitY()}, {0.05, -Vec3::UnitX()}}, "rim");
  expect_faces(faces_of(*cup, {0.35, 0.5, 0}, 0.1), {{0.05, -Vec3::UnitX()}}, "side");
}

TEST(FacesTest, AnOuterEdgeIsOneFaceAndTurnsSmoothly) {
  const auto box = make_box({0, 0, 0}, {1, 1, 1});
  const auto mesh = make_level_set(box->tessellate({}), {0.05, 0.3});
  for (const Shape* shape : {box.get(), mesh.get()}) {
    expect_faces(faces_of(*shape, {1.03, 1.04, 0.5}, 0.1), {{0.05, Vec3(0.6, 0.8, 0)}}, "edge");
    expect_faces(faces_of(*shape, {0.99, 1.04, 0.5}, 0.1), {{0.04, Vec3::UnitY()}}, "face");
  }
}

TEST(ConvexTest, DistancesGrowAtLeastAsAlongTheTangentPlane) {
  Random random(5, 0, 0);
  int convex = 0;
  for (const Case& c : bounded_cases()) {
    if (!c.shape->is_convex()) continue;
    ++convex;
    for (int k = 0; k < 200; ++k) {
      const auto somewhere = [&]() -> Vec3 {
        return Vec3(random.uniform(), random.uniform(), random.uniform()) * 3 - Vec3::Ones();
      };
      const Vec3 x = somewhere(), y = somewhere();
      const Surface from_x = c.shape->surface(x);
      EXPECT_GE(c.shape->surface(y).distance, from_x.distance + from_x.normal.dot(y - x) - 1e-9) << c.name;
    }
  }
  EXPECT_GE(convex, 4);
}

}  // namespace
}  // namespace weft
