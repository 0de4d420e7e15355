// Sources: how much they emit, that no point comes twice, and that it does not matter how often one looks.

#include "weft/bodies/source.hpp"

#include "weft/base/random.hpp"
#include "weft/geometry/primitives.hpp"

#include "support/counting_shape.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

namespace weft {
namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();
constexpr Real spacing = 0.125, opens = 0.3;

using Cell = std::array<int, 3>;
/// The lattice cell of a point that is at x at time t: the lattice moves with the material.
Cell cell_of(const Vec3& x, Real t, const Vec3& velocity) {
  const Vec3i cell = ((x - velocity * (t - opens)) / spacing).array().floor().cast<int>();
  return {cell[0], cell[1], cell[2]};
}

struct Case {
  std::shared_ptr<const Shape> shape;
  Vec3 velocity;
  Source source() const { return {shape, {velocity, opens, spacing, 5, 2}}; }
};

/// Convex shapes and one with a hole that the material crosses; along the axes, across them, and at rest.
std::vector<Case> cases() {
  const std::shared_ptr<const Shape> box = make_box({0, 0, 0}, {1, 1, 1}), sphere = make_sphere({-1, 2, 0.3}, 0.7),
                                     torus = make_torus({0, 0, 0}, {0, 0, 1}, 1, 0.3);
  std::vector<Case> list;
  for (const auto& shape : {box, sphere, torus})
    for (const Vec3& velocity : {Vec3(2, 0, 0), Vec3(0, -1, 0), Vec3(-0.7, 0.4, 1.1), Vec3(0, 0, 0)})
      list.push_back({shape, velocity});
  return list;
}

/// Looks at these times, and follows what was emitted to the last of them, by lattice cell.
std::map<Cell, Vec3> emitted(const Case& c, const std::vector<Real>& looks) {
  const Source source = c.source();
  std::map<Cell, Vec3> points;
  Real before = -infinity;
  for (const Real now : looks) {
    for (const Vec3& x : source.emit(before, now)) {
      const bool is_new = points.emplace(cell_of(x, now, c.velocity), x + c.velocity * (looks.back() - now)).second;
      EXPECT_TRUE(is_new) << "twice: " << x.transpose();
    }
    before = now;
  }
  return points;
}

std::vector<Real> regular_looks(Real until, int count) {
  std::vector<Real> looks;
  for (int k = 0; k <= count; ++k) looks.push_back(opens + (until - opens) * k / count);
  return looks;
}

TEST(SourceTest, FillsItsShapeWhenItOpens) {
  const Case box{make_box({0, 0, 0}, {1, 1, 1}), {2, 0, 0}};
  const std::vector<Vec3> points = box.source().emit(-infinity, opens);
  EXPECT_EQ(points.size(), 8u * 8 * 8);
  for (std::size_t a = 0; a < points.size(); ++a) {
    EXPECT_TRUE(box.shape->contains(points[a]));
    for (std::size_t b = 0; b < a; ++b) EXPECT_GE((points[a] - points[b]).norm(), 0.5 * spacing - 1e-12);
  }
  EXPECT_DOUBLE_EQ(box.source().volume(), spacing * spacing * spacing);
}

TEST(SourceTest, IsSilentBeforeItOpensAndWhenNothingMoves) {
  const Case box{make_box({0, 0, 0}, {1, 1, 1}), {2, 0, 0}};
  EXPECT_TRUE(box.source().emit(-infinity, 0.99 * opens).empty());
  EXPECT_TRUE(box.source().emit(1, 1).empty());
  const Case still{box.shape, Vec3::Zero()};
  EXPECT_EQ(still.source().emit(-infinity, 1).size(), 512u);
  EXPECT_TRUE(still.source().emit(opens, 100).empty());
}

TEST(SourceTest, EmitsAreaTimesSpeedTimesTimeWithinOneLayer) {
  const Real time = 3.3;
  const auto expect = [&](const Case& c, Real area_times_speed, Real shadow) {
    const auto points = emitted(c, regular_looks(opens + time, 200));
    const Real at_opening = static_cast<Real>(c.source().emit(-infinity, opens).size());
    const Real entered = (static_cast<Real>(points.size()) - at_opening) * c.source().volume();
    EXPECT_NEAR(entered, area_times_speed * time, shadow * spacing) << "velocity " << c.velocity.transpose();
  };
  const std::shared_ptr<const Shape> box = make_box({0, 0, 0}, {1, 1, 1}), sphere = make_sphere({-1, 2, 0.3}, 0.7);
  expect({box, {2, 0, 0}}, 2, 1);
  expect({box, {0, 0, -0.5}}, 0.5, 1);
  expect({box, {1, -2, 0.5}}, 3.5, 3);
  const Real circle = std::numbers::pi * 0.7 * 0.7;
  expect({sphere, {2, 0, 0}}, 2 * circle, circle);
  expect({sphere, {1, -2, 2}}, 3 * circle, circle);
}

TEST(SourceTest, NoPointComesTwiceAndItDoesNotMatterHowOftenOneLooks) {
  const Real until = opens + 1.7;
  for (const Case& c : cases()) {
    SCOPED_TRACE(::testing::Message() << "velocity " << c.velocity.transpose());
    const auto once = emitted(c, {until});
    EXPECT_GT(once.size(), 100u);
    Random random(1, 0, 0);
    std::vector<Real> irregular;
    for (Real t = opens; t < until; t += 0.2 * random.uniform() * random.uniform()) irregular.push_back(t);
    irregular.push_back(until);
    for (const auto& looks : {regular_looks(until, 1), regular_looks(until, 7), regular_looks(until, 60), irregular}) {
      const auto points = emitted(c, looks);
      EXPECT_EQ(points.size(), once.size());
      for (const auto& [cell, x] : points) {
        const auto same = once.find(cell);
        ASSERT_NE(same, once.end());
        EXPECT_LE((same->second - x).norm(), 1e-13);
      }
    }
  }
}

TEST(SourceTest, KeepsItsShapeFullAndEmitsNothingThatWasNeverInIt) {
  const Real until = opens + 1.1;
  for (const Case& c : cases()) {
    SCOPED_TRACE(::testing::Message() << "velocity " << c.velocity.transpose());
    // All points of the lattice far around, at the opening.
    const Case everywhere{make_box(Vec3::Constant(-5), Vec3::Constant(5)), c.velocity};
    const auto points = emitted(c, {until});
    std::size_t found = 0;
    for (const Vec3& X : everywhere.source().emit(-infinity, opens)) {
      const Real way = c.velocity.norm() * (until - opens);
      if (c.shape->surface(X).distance > way + spacing) continue;  // too far to come
      bool was_inside = false;
      Real nearest = infinity;
      for (int k = 0; k <= 200; ++k) {
        const Real distance = c.shape->surface(X + c.velocity * ((until - opens) * k / 200)).distance;
        was_inside = was_inside || distance <= 0;
        nearest = std::min(nearest, distance);
      }
      const bool came = points.contains(cell_of(X, opens, c.velocity));
      found += came;
      // Between two samples the material moves by 0.013; what grazes the shape may be missed by either.
      if (was_inside && nearest < -1e-3) {
        EXPECT_TRUE(came) << X.transpose() << " depth " << nearest;
      }
      if (nearest > 0.007) {
        EXPECT_FALSE(came) << X.transpose();
      }
    }
    EXPECT_EQ(found, points.size());
  }
}

TEST(SourceTest, AThinDiagonalRodCostsWhatItsVolumeCostsAndEmitsWhatItDidCellByCell) {
  const auto rod = [](bool knows_balls) {
    return std::make_shared<test::CountingShape>(make_capsule({0, 0, 0}, {8, 8, 8}, 0.2), knows_balls);
  };
  const auto quick = rod(true), slow = rod(false);
  for (const Vec3& velocity : {Vec3(0.3, 0, 0), Vec3(-0.7, 0.4, 1.1)}) {
    const Source::Settings settings{velocity, opens, spacing, 5, 2};
    const Source source(quick, settings), same(slow, settings);
    std::size_t points = 0;
    Real before = -infinity;
    for (const Real now : regular_looks(opens + 0.2, 4)) {
      const std::vector<Vec3> found = source.emit(before, now);
      EXPECT_EQ(found, same.emit(before, now));
      points += found.size();
      before = now;
    }
    EXPECT_GT(points, 400u);
  }
  EXPECT_LT(quick->asked, slow->asked / 5);
}

TEST(SourceTest, SourcesOfOtherNumbersAndSeedsEmitAtOtherPlaces) {
  const std::shared_ptr<const Shape> box = make_box({0, 0, 0}, {1, 1, 1});
  const auto points = [&](std::uint32_t seed, std::uint32_t stream) {
    return Source(box, {Vec3::UnitX(), 0, spacing, seed, stream}).emit(-1, 0);
  };
  const auto some = points(1, 1);
  EXPECT_EQ(points(1, 1), some);
  EXPECT_NE(points(1, 2), some);
  EXPECT_NE(points(2, 1), some);
}

}  // namespace
}  // namespace weft
