// Points in shapes: counts, volumes, distances between them, and independence of how the cells are divided.

#include "weft/base/error.hpp"
#include "weft/base/random.hpp"
#include "weft/geometry/level_set.hpp"
#include "weft/geometry/mesh.hpp"
#include "weft/geometry/primitives.hpp"
#include "weft/geometry/sampling.hpp"

#include "support/counting_shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace weft {
namespace {

constexpr Real dx = 0.1;

SamplePlan plan(Sampling pattern, int per_cell) { return {pattern, dx, per_cell, 7, 3}; }

SampledPoints all_of(const CellSampler& sampler, const Shape& shape) {
  const CellRange range = cells_covering(*shape.bounds(), sampler.plan().dx);
  return sample_shape(sampler, shape, range, 0, range.count());
}

const std::array every_pattern = {Sampling::poisson, Sampling::jittered, Sampling::regular};

TEST(CellRangeTest, CoversABoxAndCountsItsCells) {
  const CellRange range = cells_covering({{-0.25, 0.1, 0.95}, {0.05, 0.4, 1.05}}, dx);
  EXPECT_EQ(range.lower, Vec3i(-3, 1, 9));
  EXPECT_EQ(range.size[0], 4);
  EXPECT_EQ(range.size[2], 2);
  EXPECT_EQ(range.cell(0), range.lower);
  EXPECT_EQ(range.cell(1), Vec3i(-3, 1, 10));
  EXPECT_EQ(range.cell(range.count() - 1), Vec3i(range.lower + range.size - Vec3i::Ones()));
}

TEST(CellRangeTest, BoxesBeyondAllCountingAreRefused) {
  EXPECT_THROW(cells_covering({{0, 0, 0}, {1e9, 1, 1}}, dx), Error);
  EXPECT_THROW(cells_covering({{0, 0, 0}, {1e6, 1e6, 1e6}}, dx), Error);
  EXPECT_THROW(cells_covering({}, dx), Error);
}

TEST(SamplingTest, RegularPointsAreTheCentresOfSubcells) {
  std::vector<Vec3> points;
  CellSampler(plan(Sampling::regular, 8)).sample({1, 0, -1}, points);
  ASSERT_EQ(points.size(), 8u);
  EXPECT_LT((points[0] - Vec3(0.125, 0.025, -0.075)).norm(), 1e-16);
  EXPECT_LT((points[7] - Vec3(0.175, 0.075, -0.025)).norm(), 1e-16);
}

TEST(SamplingTest, EachSubcellHoldsOneJitteredPoint) {
  const CellSampler sampler(plan(Sampling::jittered, 27));
  for (int c = -2; c < 3; ++c) {
    std::vector<Vec3> points;
    sampler.sample({c, 2 * c, -c}, points);
    std::set<int> subcells;
    for (const Vec3& p : points) {
      const Vec3 within = p / dx - Vec3(c, 2 * c, -c);
      EXPECT_TRUE((within.array() > -1e-14).all() && (within.array() < 1 + 1e-14).all());
      const Vec3i sub = (3 * within).cast<int>();
      subcells.insert((sub[0] * 3 + sub[1]) * 3 + sub[2]);
    }
    EXPECT_EQ(subcells.size(), 27u);
  }
}

TEST(SamplingTest, CellsAreSplitAsEvenlyAsTheirNumberAllows) {
  for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 12, 20, 27, 30, 64, 100, 125, 1000}) {
    std::vector<Vec3> points;
    CellSampler(plan(Sampling::regular, n)).sample({0, 0, 0}, points);
    EXPECT_EQ(static_cast<int>(points.size()), n);
  }
  for (const int n : {0, -1, 11, 13, 22, 26, 1001}) EXPECT_THROW(CellSampler(plan(Sampling::regular, n)), Error) << n;
  EXPECT_NO_THROW(CellSampler(plan(Sampling::poisson, 11)));
  EXPECT_THROW(CellSampler(plan(Sampling::poisson, 0)), Error);
}

TEST(SamplingTest, ABoxOfWholeCellsHasItsExactVolume) {
  const auto box = make_box({-0.8, 0, 0.8}, {0.8, 0.8, 1.6});  // 16 x 8 x 8 cells: two tiles of the poisson pattern
  for (const Sampling pattern : every_pattern) {
    const CellSampler sampler(plan(pattern, 8));
    EXPECT_NEAR(static_cast<Real>(all_of(sampler, *box).ids.size()) * sampler.point_volume(), *box->volume(), 1e-12);
  }
}

TEST(SamplingTest, ASphereHasItsVolumeUpToItsSkin) {
  const auto sphere = make_sphere({0.03, 0.01, -0.02}, 1);
  for (const Sampling pattern : every_pattern) {
    const CellSampler sampler(plan(pattern, 8));
    // 33500 points; only those of the outermost layer, about 4 pi / (dx / 2)^2 = 5000, are in or out by chance.
    const Real volume = static_cast<Real>(all_of(sampler, *sphere).ids.size()) * sampler.point_volume();
    EXPECT_NEAR(volume / *sphere->volume(), 1, 4 * std::sqrt(5000.0 / 12) / 33500);
  }
}

TEST(SamplingTest, AllPointsLieInTheShapeAndNoneIsMissing) {
  const auto torus = make_torus({0, 0, 0}, {1, 2, 3}, 0.5, 0.2);
  for (const Sampling pattern : every_pattern) {
    const CellSampler sampler(plan(pattern, 8));
    const SampledPoints in_torus = all_of(sampler, *torus),
                        in_box = all_of(sampler, *make_box({-1, -1, -1}, {1, 1, 1}));
    for (const Vec3& x : in_torus.positions) EXPECT_TRUE(torus->contains(x));
    const auto expected = std::count_if(in_box.positions.begin(), in_box.positions.end(),
                                        [&](const Vec3& x) { return torus->contains(x); });
    EXPECT_EQ(static_cast<std::ptrdiff_t>(in_torus.positions.size()), expected);
  }
}

TEST(SamplingTest, AnyDivisionOfTheCellsGivesTheSamePoints) {
  const auto sphere = make_sphere({0.3, 0.1, -0.2}, 0.5);
  const CellRange range = cells_covering(*sphere->bounds(), dx);
  for (const Sampling pattern : every_pattern) {
    const SampledPoints whole = sample_shape(CellSampler(plan(pattern, 8)), *sphere, range, 0, range.count());
    // A sampler made anew, as on another process.
    const CellSampler sampler(plan(pattern, 8));
    for (const int ranks : {2, 3, 7, 5000}) {  // 5000: most have no cell
      SampledPoints joined;
      for (int r = 0; r < ranks; ++r) {
        const SampledPoints part =
            sample_shape(sampler, *sphere, range, range.count() * r / ranks, range.count() * (r + 1) / ranks);
        joined.ids.insert(joined.ids.end(), part.ids.begin(), part.ids.end());
        joined.positions.insert(joined.positions.end(), part.positions.begin(), part.positions.end());
      }
      EXPECT_EQ(joined.ids, whole.ids);
      EXPECT_EQ(joined.positions, whole.positions);
    }
  }
}

std::unique_ptr<Shape> diagonal_rod() { return make_capsule({0, 0, 0}, {5, 5, 5}, 0.07); }

TEST(SamplingTest, PointsAreThoseOfAllCellsOneAfterAnother) {
  std::vector<std::unique_ptr<Shape>> shapes;
  shapes.push_back(diagonal_rod());
  shapes.push_back(make_torus({0.3, 0.2, 0.1}, {1, 2, 3}, 1.2, 0.15));
  shapes.push_back(make_ellipsoid({0, 0, 0}, {2, 0.05, 0.4}));
  shapes.push_back(
      placed(make_box({-1, -0.1, -0.3}, {1, 0.1, 0.3}), {0.7, rotation_matrix({0.3, 0.8, 0.1}), {5, 6, 7}}));
  shapes.push_back(make_level_set(make_box({-1, -0.1, -0.3}, {1, 0.13, 0.31})->tessellate({}), {0.25 * dx, 4 * dx}));
  for (const auto& shape : shapes)
    for (const Sampling pattern : every_pattern) {
      const CellSampler sampler(plan(pattern, 8));
      const CellRange range = cells_covering(*shape->bounds(), dx);
      const std::int64_t begin = range.count() / 5, end = range.count() * 4 / 5;
      SampledPoints expected;
      for (std::int64_t cell = begin; cell < end; ++cell) {
        std::vector<Vec3> points;
        sampler.sample(range.cell(cell), points);
        for (std::size_t j = 0; j < points.size(); ++j)
          if (shape->contains(points[j])) {
            expected.positions.push_back(points[j]);
            expected.ids.push_back(static_cast<PointId>(cell) * static_cast<PointId>(sampler.most_per_cell()) + j);
          }
      }
      const SampledPoints found = sample_shape(sampler, *shape, range, begin, end);
      EXPECT_FALSE(found.ids.empty());
      EXPECT_EQ(found.ids, expected.ids);
      EXPECT_EQ(found.positions, expected.positions);
    }
}

TEST(SamplingTest, AThinDiagonalRodCostsWhatItsVolumeCosts) {
  const test::CountingShape rod(diagonal_rod());
  const std::size_t points = all_of(CellSampler(plan(Sampling::regular, 8)), rod).ids.size();
  EXPECT_GT(points, 500u);
  EXPECT_LT(rod.asked, static_cast<std::int64_t>(100 * points));  // of a million points in its box
}

TEST(SamplingTest, IdsAreUniqueAndBelowTheirEnd) {
  const auto box = make_box({-0.55, 0, 0}, {0.55, 0.35, 0.75});
  for (const Sampling pattern : every_pattern) {
    const CellSampler sampler(plan(pattern, 6));
    const SampledPoints samples = all_of(sampler, *box);
    EXPECT_EQ(std::set<PointId>(samples.ids.begin(), samples.ids.end()).size(), samples.ids.size());
    EXPECT_LT(*std::max_element(samples.ids.begin(), samples.ids.end()),
              id_end(sampler, cells_covering(*box->bounds(), dx)));
  }
}

TEST(SamplingTest, SeedAndBodyChooseOtherPoints) {
  const auto box = make_box({0, 0, 0}, {0.2, 0.2, 0.2});
  for (const Sampling pattern : {Sampling::poisson, Sampling::jittered}) {
    const SampledPoints base = all_of(CellSampler({pattern, dx, 8, 7, 3}), *box);
    EXPECT_EQ(base.positions, all_of(CellSampler({pattern, dx, 8, 7, 3}), *box).positions);
    EXPECT_NE(base.positions, all_of(CellSampler({pattern, dx, 8, 8, 3}), *box).positions);
    EXPECT_NE(base.positions, all_of(CellSampler({pattern, dx, 8, 7, 4}), *box).positions);
  }
}

TEST(SamplingTest, CellsFarFromTheOriginAreSampledToo) {
  const Vec3i far(-500000000, 400000000, 7);
  for (const Sampling pattern : every_pattern) {
    std::vector<Vec3> points;
    CellSampler(plan(pattern, 8)).sample(far, points);
    ASSERT_FALSE(points.empty());
    for (const Vec3& p : points)
      EXPECT_LT((p / dx - far.cast<Real>() - Vec3::Constant(0.5)).cwiseAbs().maxCoeff(), 0.5 + 1e-6);
  }
}

/// Smallest distance between any two of the points that lie in a box, in units of dx.
Real smallest_distance(std::vector<Vec3> points) {
  std::sort(points.begin(), points.end(), [](const Vec3& a, const Vec3& b) { return a[0] < b[0]; });
  Real smallest = 1e9;
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = i + 1; j < points.size() && points[j][0] - points[i][0] < smallest; ++j)
      smallest = std::min(smallest, (points[i] - points[j]).norm());
  return smallest / dx;
}

TEST(PoissonSamplingTest, PointsKeepTheirDistanceWithinAndAcrossTiles) {
  for (const int n : {1, 8, 50}) {
    const CellSampler sampler(plan(Sampling::poisson, n));
    // The densest packing of n points in a unit cell has the distance (sqrt(2) / n)^(1/3).
    const Real densest = std::cbrt(std::sqrt(2.0) / n);
    // Cells around the origin meet eight tiles; their edges are 16 (n = 1), 8 or 4 (n = 50) cells.
    const auto box = make_box(Vec3::Constant(-6 * dx), Vec3::Constant(6 * dx));
    const Real smallest = smallest_distance(all_of(sampler, *box).positions);
    EXPECT_GE(smallest, 0.7 * densest) << n;
    EXPECT_LE(smallest, densest) << n;
  }
}

TEST(PoissonSamplingTest, PointsAreThoseThatASearchThroughAllOthersAccepts) {
  constexpr int per_cell = 2, edge = 8;
  std::vector<Vec3> accepted;
  Real radius = std::cbrt(std::sqrt(2.0) / (edge * edge * edge * per_cell));
  std::uint64_t dart = std::uint64_t{1} << 63;
  for (int misses = 0; accepted.size() < edge * edge * edge * per_cell;) {
    const Vec3 x = Random(7, 3, dart++).uniform3();
    const bool is_far = std::ranges::none_of(accepted, [&](const Vec3& other) {
      const Vec3 apart = x - other;
      return (apart - apart.array().round().matrix()).squaredNorm() < radius * radius;
    });
    if (is_far) {
      accepted.push_back(x);
      misses = 0;
    } else if (++misses == 2000) {
      radius *= 0.98;
      misses = 0;
    }
  }
  const CellSampler sampler(plan(Sampling::poisson, per_cell));
  for (const Vec3& x : accepted) {
    const Vec3i cell = (edge * x).cast<int>();
    std::vector<Vec3> points;
    sampler.sample(cell, points);
    const Vec3 within = edge * x - cell.cast<Real>(), place = dx * (cell.cast<Real>() + within);
    EXPECT_EQ(std::ranges::count(points, place), 1);
  }
}

TEST(PoissonSamplingTest, NoRegionIsEmptyOrCrowded) {
  const CellSampler sampler(plan(Sampling::poisson, 8));
  int fewest = 1000, most = 0;
  for (int k = 0; k < 512; ++k) {
    std::vector<Vec3> points;
    sampler.sample({k % 8 + 3, k / 8 % 8, k / 64 - 5}, points);
    fewest = std::min(fewest, static_cast<int>(points.size()));
    most = std::max(most, static_cast<int>(points.size()));
  }
  // Independent points would scatter by sqrt(8) and leave cells with 0 or 18 of 512; blue noise keeps close to 8.
  EXPECT_GE(fewest, 4);
  EXPECT_LE(most, 12);
  EXPECT_EQ(most, sampler.most_per_cell());
}

TEST(PoissonSamplingTest, NoHoleIsWiderThanTheSpacing) {
  const CellSampler sampler(plan(Sampling::poisson, 8));
  const Real densest = dx * std::cbrt(std::sqrt(2.0) / 8);
  for (int k = 0; k < 20000; ++k) {
    const Vec3 x = Vec3::Constant(-0.5) + Random(31, 32, k).uniform3();
    Real nearest = 1e9;
    std::vector<Vec3> points;
    const Vec3i cell = (x / dx).array().floor().cast<int>();
    for (int n = 0; n < 27; ++n) sampler.sample(cell + Vec3i(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1), points);
    for (const Vec3& p : points) nearest = std::min(nearest, (p - x).norm());
    ASSERT_LT(nearest, densest) << x.transpose();
  }
}

}  // namespace
}  // namespace weft
