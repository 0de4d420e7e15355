// Hair that grows on surfaces, and curves made in parts.

#include "weft/base/error.hpp"
#include "weft/geometry/fiber_patterns.hpp"
#include "weft/geometry/groom.hpp"
#include "weft/geometry/primitives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <cmath>
#include <functional>
#include <numbers>

namespace weft {
namespace {

constexpr Real pi = std::numbers::pi;

Groom straight() { return {600, 0.4, 0, 0, 0, {}, {}, 0, {}, {}, 7, 0.02}; }

GroomSurface on(const Shape& shape, const Shape* where = nullptr) {
  return {shape.tessellate(where != nullptr && where->bounds() ? *where->bounds() : Box()), &shape, where};
}

Vec3 root_direction(const Curves& curves, std::int64_t c) {
  return (curves.curve(c)[1] - curves.curve(c)[0]).normalized();
}

/// The curves of all parts, one after another.
Curves joined(int parts, const std::function<Curves(const CurvePart&)>& make) {
  Curves all;
  for (int k = 0; k < parts; ++k) all.append(make({k, parts}));
  return all;
}

void expect_equal(const Curves& a, const Curves& b) {
  EXPECT_EQ(a.points, b.points);
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_EQ(a.closed, b.closed);
}

TEST(GroomTest, StraightHairStandsOnTheSurfaceEvenly) {
  const auto ball = make_sphere({1, 2, 3}, 0.5);
  const Curves curves = groom(straight(), on(*ball));
  ASSERT_EQ(curves.count(), 600);
  std::array<int, 8> in_octant{};
  for (std::int64_t c = 0; c < curves.count(); ++c) {
    const Vec3 out = curves.curve(c).front() - Vec3(1, 2, 3);
    EXPECT_NEAR(out.norm(), 0.5, 1e-12);
    EXPECT_NEAR((curves.curve(c).back() - Vec3(1, 2, 3)).norm(), 0.9, 1e-12);
    EXPECT_NEAR(root_direction(curves, c).dot(out.normalized()), 1, 1e-9);
    EXPECT_EQ(curves.curve(c).size(), 21u);
    ++in_octant[static_cast<std::size_t>((out.x() > 0 ? 1 : 0) + (out.y() > 0 ? 2 : 0) + (out.z() > 0 ? 4 : 0))];
  }
  for (const int count : in_octant) {
    EXPECT_NEAR(count, 75, 15);
  }
}

TEST(GroomTest, SpreadsAreWithinTheirBoundsAndFillThem) {
  Groom of = straight();
  of.length_spread = 0.25;
  of.lie = pi / 4;
  of.lie_spread = 0.2;
  of.toward = Vec3(0, 0, -2);
  const auto cylinder = make_cylinder({0, 0, -1}, {0, 0, 1}, 0.3);
  const auto middle = make_box({-1, -1, -0.5}, {1, 1, 0.5});
  const Curves curves = groom(of, on(*cylinder, middle.get()));
  Real shortest = 1, longest = 0, least = pi, most = 0;
  for (std::int64_t c = 0; c < curves.count(); ++c) {
    const Vec3 root = curves.curve(c).front(), d = root_direction(curves, c);
    EXPECT_LE(std::abs(root.z()), 0.5);
    const Vec3 normal = Vec3(root.x(), root.y(), 0).normalized();
    EXPECT_LT(d.z(), 0);
    EXPECT_NEAR(d.cross(normal).z(), 0, 1e-9);
    const Real lie = std::acos(d.dot(normal)), length = (curves.curve(c).back() - root).norm();
    shortest = std::min(shortest, length), longest = std::max(longest, length);
    least = std::min(least, lie), most = std::max(most, lie);
  }
  EXPECT_NEAR(shortest, 0.3, 0.002);
  EXPECT_NEAR(longest, 0.5, 0.002);
  EXPECT_NEAR(least, pi / 4 - 0.2, 0.005);
  EXPECT_NEAR(most, pi / 4 + 0.2, 0.005);
  EXPECT_LE(shortest, longest);
}

/// tan(theta / 2) falls by exp(-s / droop).
TEST(GroomTest, HairDroopsByItsLengthAndStaysOutside) {
  Groom of = straight();
  of.strands = 50;
  of.lie = pi / 2;
  of.toward = Vec3(0, 0, -1);
  of.droop = 0.1;
  of.spacing = 0.005;
  const auto pole = make_box({-5, -5, -9}, {0, 5, 9});
  const auto side = make_box({-0.1, -1, -1}, {0.1, 1, 1});
  of.lie = 0;
  const Curves curves = groom(of, on(*pole, side.get()));
  for (std::int64_t c = 0; c < curves.count(); ++c) {
    const auto x = curves.curve(c);
    const Vec3 last = (x[x.size() - 1] - x[x.size() - 2]).normalized();
    EXPECT_NEAR(std::tan(std::acos(-last.z()) / 2), std::exp(-(0.4 - 0.0025) / 0.1), 2e-3);
  }
  of.clearance = 0.03;
  const auto ball = make_sphere({0, 0, 0}, 0.3);
  const Curves head = groom(of, on(*ball));
  for (std::int64_t c = 0; c < head.count(); ++c)
    for (const Vec3& x : head.curve(c).subspan(14)) {
      EXPECT_GT(x.norm(), 0.3298);
    }
}

TEST(GroomTest, WavesAndCurlsHaveTheirRadiusAboutTheMiddleLine) {
  Groom of = straight();
  of.strands = 20;
  of.spacing = 0.002;
  of.curl = Ripple{0.01, 0.05, 0};
  const auto ball = make_sphere({0, 0, 0}, 0.5);
  const Curves curls = groom(of, on(*ball));
  for (std::int64_t c = 0; c < curls.count(); ++c) {
    const auto x = curls.curve(c);
    const Vec3 root = x.front(), axis = root.normalized();
    EXPECT_GT(x.size(), 250u);  // 0.4 m times hypot(1, 2 pi / 5), but for the first turn
    for (const Vec3& place : x) {
      const Real along = (place - root).dot(axis), out = (place - root - along * axis).norm();
      EXPECT_LE(out, 0.01 + 1e-9);
      if (along > 0.051) {
        EXPECT_GT(out, 0.0098);
      }
    }
  }
  of.curl.reset();
  of.wave = Ripple{0.01, 0.05, 0.2};
  for (const Curves waves = groom(of, on(*ball)); const Vec3& x : waves.points) {
    EXPECT_LE(x.norm(), 0.9 + 1e-3);
  }
}

TEST(GroomTest, DependsOnTheSeedAloneAndNotOnParts) {
  Groom of = straight();
  of.curl = Ripple{0.01, 0.05, 0.3};
  of.length_spread = 0.3;
  const auto ball = make_sphere({0, 0, 0}, 0.5);
  const auto upper = make_half_space({0, 0, 0.1}, {0, 0, -1});
  const Curves all = groom(of, on(*ball, upper.get()));
  for (const int parts : {1, 2, 3, 7})
    expect_equal(all, joined(parts, [&](const CurvePart& part) { return groom(of, on(*ball, upper.get()), part); }));
  for (std::int64_t c = 0; c < all.count(); ++c) {
    EXPECT_GE(all.curve(c).front().z(), 0.1);
  }
  Groom other = of;
  other.seed = 8;
  EXPECT_NE(groom(other, on(*ball)).points.front(), groom(of, on(*ball)).points.front());
  EXPECT_GE(points_of(of), static_cast<Real>(all.points.size()));
}

TEST(GroomTest, FacesOfAFileAreGroundToo) {
  SurfaceMesh mesh;
  mesh.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  mesh.add_face({0, 1, 2});
  const Curves curves = groom(straight(), {mesh});
  Vec3 mean = Vec3::Zero();
  for (std::int64_t c = 0; c < curves.count(); ++c) {
    EXPECT_LT((root_direction(curves, c) - Vec3(0, 0, 1)).norm(), 1e-12);
    mean += curves.curve(c).front() / static_cast<Real>(curves.count());
  }
  EXPECT_NEAR(mean.x(), 1.0 / 3, 0.03);
  EXPECT_NEAR(mean.y(), 1.0 / 3, 0.03);
  const auto elsewhere = make_sphere({5, 5, 5}, 1);
  EXPECT_THROW(groom(straight(), {mesh, nullptr, elsewhere.get()}), Error);
  EXPECT_THROW(groom(straight(), {SurfaceMesh()}), Error);
}

TEST(CurvePartTest, PartsOfPatternsAreTheWhole) {
  const HairTube tube{0, 0.1, 0.3, 11, 0.1};
  const ShagCarpet carpet{0.3, 0.2, 0.1, 0.05, 0.3, 3, 0.05};
  const Weave yarns{3, 4, 0.1, 0.01, 0.05};
  const KnitSweater jumper{24, 10, 2, 2, 3, 4, 0.02, 0.006, 0.8, 0.3, 0.01};
  const Braid plait{5, 0.1, 0.05, 0.3, 0.5, 0.02};
  const Knit fabric{4, 5, 0.02, 0.006, "kp", 0.01};
  for (const int parts : {2, 5, 16}) {
    expect_equal(hair_tube(tube), joined(parts, [&](const CurvePart& part) { return hair_tube(tube, part); }));
    expect_equal(hair_ball({0.1, 0.3, 7, 0.1}),
                 joined(parts, [&](const CurvePart& part) { return hair_ball({0.1, 0.3, 7, 0.1}, part); }));
    expect_equal(shag_carpet(carpet), joined(parts, [&](const CurvePart& part) { return shag_carpet(carpet, part); }));
    expect_equal(weave(yarns), joined(parts, [&](const CurvePart& part) { return weave(yarns, part); }));
    expect_equal(knit(fabric), joined(parts, [&](const CurvePart& part) { return knit(fabric, part); }));
    expect_equal(braid(plait), joined(parts, [&](const CurvePart& part) { return braid(plait, part); }));
    expect_equal(knit_sweater(jumper),
                 joined(parts, [&](const CurvePart& part) { return knit_sweater(jumper, part); }));
  }
}

}  // namespace
}  // namespace weft
