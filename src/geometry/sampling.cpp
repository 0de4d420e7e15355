// Points in grid cells: regular, stratified, or from a periodic blue-noise tile.

#include "weft/geometry/sampling.hpp"

#include "weft/base/check.hpp"
#include "weft/base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace weft {

namespace {

constexpr int most_per_cell_allowed = 1000;
constexpr int longest_box_ratio = 7;

/// Three factors of n, as equal as possible: the smallest sum.
Vec3i nearly_equal_factors(int n) {
  Vec3i best(n, 1, 1);
  for (int a = 1; a <= n; ++a)
    for (int b = 1; n % a == 0 && b <= n / a; ++b)
      if ((n / a) % b == 0 && Vec3i(a, b, n / a / b).sum() < best.sum()) best = {a, b, n / a / b};
  return best;
}

/// A number for each cell: unique within 2^21 cells along each axis, and far apart cells may well share one.
std::uint64_t cell_number(const Vec3i& cell) {
  std::uint64_t number = 0;
  for (int a = 0; a < 3; ++a) number = number << 21 | (static_cast<std::uint32_t>(cell[a]) & 0x1FFFFF);
  return number;
}

int wrapped(int i, int n) { return (i % n + n) % n; }

/// Points in a periodic cube of unit edge, in n^3 buckets with edges of at least the largest radius that is asked for.
class PeriodicPoints {
 public:
  explicit PeriodicPoints(int n) : n_(n), buckets_(cube(n)), last_near_(cube(parts * n), none) {
    for (int i = -1; i <= n; ++i) wrapped_.push_back(wrapped(i, n));
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        for (int k = -1; k <= 1; ++k) steps_.emplace_back(i, j, k);
    // Most darts that miss are too near a point of their own bucket, or of one behind a face.
    std::ranges::stable_sort(steps_, {}, &Vec3i::squaredNorm);
  }

  const std::vector<Vec3>& all() const { return points_; }

  void add(const Vec3& x) {
    buckets_[number(bucket_of(x))].push_back(static_cast<int>(points_.size()));
    points_.push_back(x);
  }

  /// Asks first the point that was too near the last time, in the same part of a bucket.
  bool has_none_nearer(const Vec3& x, Real radius) {
    const auto is_near = [&](int point) {
      const Eigen::Array3d apart = x - points_[static_cast<std::size_t>(point)];
      const Eigen::Array3d shortest = apart - (apart >= 0.5).cast<Real>() + (apart <= -0.5).cast<Real>();
      return shortest.matrix().squaredNorm() < radius * radius;
    };
    const Vec3i part = cell_of(x, parts * n_);
    int& last = last_near_[(static_cast<std::size_t>(part[0]) * parts * n_ + part[1]) * parts * n_ + part[2]];
    if (last != none && is_near(last)) return false;
    const Vec3i bucket = bucket_of(x);
    for (const Vec3i& step : steps_)
      for (const int point : buckets_[number(bucket + step)])
        if (is_near(point)) {
          last = point;
          return false;
        }
    return true;
  }

 private:
  static constexpr int none = -1;
  static constexpr int parts = 2;  ///< Of a bucket, along each axis.

  static std::size_t cube(int n) { return static_cast<std::size_t>(n) * n * n; }
  static Vec3i cell_of(const Vec3& x, int n) { return (n * x).cast<int>().cwiseMin(n - 1); }
  Vec3i bucket_of(const Vec3& x) const { return cell_of(x, n_); }
  std::size_t number(const Vec3i& bucket) const {
    return (static_cast<std::size_t>(wrapped_[bucket[0] + 1]) * n_ + wrapped_[bucket[1] + 1]) * n_ +
           wrapped_[bucket[2] + 1];
  }

  int n_;
  std::vector<int> wrapped_;  ///< Of -1 to n.
  std::vector<Vec3i> steps_;  ///< To the 27 buckets around one, nearest first.
  std::vector<Vec3> points_;
  std::vector<std::vector<int>> buckets_;  ///< The numbers of their points.
  std::vector<int> last_near_;             ///< The number of a point for each part of a bucket.
};

/// Throws darts into a periodic cube of unit edge until exactly `count` points lie in it, no two nearer than a radius
/// that starts at the densest packing and shrinks whenever darts keep missing. [McCool and Fiume 1992]
std::vector<Vec3> blue_noise(int count, std::uint32_t seed, std::uint32_t body) {
  constexpr int misses_allowed = 2000;
  constexpr Real shrink = 0.98;
  Real radius = std::cbrt(std::sqrt(2.0) / count);  // spheres of this diameter fill space as densely as can be
  PeriodicPoints thrown(std::max(1, static_cast<int>(1 / radius)));
  std::array<Vec3, 64> darts;
  int misses = 0;
  // No cell uses these counters: theirs end below 2^63.
  for (std::uint64_t dart = std::uint64_t{1} << 63;; dart += darts.size()) {
    first_uniform3(seed, body, dart, darts);
    for (const Vec3& x : darts)
      if (thrown.has_none_nearer(x, radius)) {
        thrown.add(x);
        misses = 0;
        if (static_cast<int>(thrown.all().size()) == count) return thrown.all();
      } else if (++misses == misses_allowed) {
        radius *= shrink;
        misses = 0;
      }
  }
}

}  // namespace

Vec3i CellRange::cell(std::int64_t k) const {
  const std::int64_t z = k % size[2], y = k / size[2] % size[1], x = k / size[2] / size[1];
  return lower + Vec3i(static_cast<int>(x), static_cast<int>(y), static_cast<int>(z));
}

CellRange cells_covering(const Box& box, Real dx) {
  CellRange range;
  Real cells = 1;
  for (int a = 0; a < 3; ++a) {
    const Real lower = std::floor(box.lower[a] / dx), upper = std::ceil(box.upper[a] / dx);
    cells *= upper - lower;
    // Half of the range of int32, so that indices of neighbours fit too; ids need room for the points of a cell.
    require(std::abs(lower) < 1e9 && std::abs(upper) < 1e9 && cells < 1e15, ExitCode::geometry,
            fmt::format("A shape that reaches from {} to {} m along axis {} is too large for cells of {} m: check its "
                        "units, or enlarge dx.",
                        box.lower[a], box.upper[a], a, dx));
    range.lower[a] = static_cast<int>(lower);
    range.size[a] = static_cast<int>(upper - lower);
  }
  return range;
}

CellSampler::CellSampler(const SamplePlan& plan) : plan_(plan) {
  const int n = plan.per_cell;
  require(plan.dx > 0 && std::isfinite(plan.dx), ExitCode::geometry, "Sampling needs a positive dx.");
  require(n >= 1 && n <= most_per_cell_allowed, ExitCode::geometry,
          fmt::format("The number of particles per cell must be from 1 to {}, not {}.", most_per_cell_allowed, n));
  if (plan.pattern != Sampling::poisson) {
    split_ = nearly_equal_factors(n);
    require(split_.maxCoeff() <= longest_box_ratio * split_.minCoeff(), ExitCode::geometry,
            fmt::format("{} particles per cell cannot be arranged evenly: take 1, 8, 27 or 64, a number with small "
                        "factors, or poisson sampling.",
                        n));
    most_per_cell_ = n;
    return;
  }

  // A tile of some thousand points shows no period to the eye and is made quickly.
  tile_edge_ = n <= 1 ? 16 : n <= 32 ? 8 : n <= 256 ? 4 : 2;
  const int cells = tile_edge_ * tile_edge_ * tile_edge_;
  std::vector<std::vector<Vec3>> by_cell(static_cast<std::size_t>(cells));
  for (const Vec3& point : blue_noise(cells * n, plan.seed, plan.body)) {
    const Vec3 x = tile_edge_ * point;
    const Vec3i cell = x.cast<int>().cwiseMin(tile_edge_ - 1);
    by_cell[(static_cast<std::size_t>(cell[0]) * tile_edge_ + cell[1]) * tile_edge_ + cell[2]].push_back(
        x - cell.cast<Real>());
  }
  tile_offsets_ = {0};
  for (const auto& points : by_cell) {
    tile_points_.insert(tile_points_.end(), points.begin(), points.end());
    tile_offsets_.push_back(static_cast<std::int32_t>(tile_points_.size()));
    most_per_cell_ = std::max(most_per_cell_, static_cast<int>(points.size()));
  }
}

void CellSampler::sample(const Vec3i& cell, std::vector<Vec3>& out) const {
  const Vec3 corner = cell.cast<Real>();
  if (plan_.pattern == Sampling::poisson) {
    const int n = tile_edge_, k = (wrapped(cell[0], n) * n + wrapped(cell[1], n)) * n + wrapped(cell[2], n);
    for (std::int32_t p = tile_offsets_[k]; p < tile_offsets_[k + 1]; ++p)
      out.push_back(plan_.dx * (corner + tile_points_[p]));
    return;
  }
  Random random(plan_.seed, plan_.body, cell_number(cell));
  for (int i = 0; i < split_[0]; ++i)
    for (int j = 0; j < split_[1]; ++j)
      for (int k = 0; k < split_[2]; ++k) {
        const Vec3 within = plan_.pattern == Sampling::jittered ? random.uniform3() : Vec3::Constant(0.5);
        out.push_back(plan_.dx * (corner + (Vec3(i, j, k) + within).cwiseQuotient(split_.cast<Real>())));
      }
}

namespace {

/// Walks through the cells of a range that may hold points of a shape: boxes that the shape misses, or whose cells have
/// numbers outside of [begin, end), are left out.
class CellWalk {
 public:
  CellWalk(const CellSampler& sampler, const Shape& shape, const CellRange& range, std::int64_t begin, std::int64_t end)
      : sampler_(sampler), shape_(shape), range_(range), begin_(begin), end_(end) {}

  void visit() {
    halve_cells(
        Vec3i::Zero(), range_.size, [&](const Vec3i& first, const Vec3i& size) { return skips(first, size); },
        [&](const Vec3i& first, const Vec3i& size) { look(first, size); });
  }

  /// In the order of ids, which is that of the cells' numbers.
  SampledPoints take() {
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.id < b.id; });
    SampledPoints samples;
    for (const auto& [id, position] : found_) {
      samples.positions.push_back(position);
      samples.ids.push_back(id);
    }
    return samples;
  }

 private:
  struct Found {
    PointId id;
    Vec3 position;
  };
  /// Points that lie on the face of a cell by rounding are in the ball around it.
  static constexpr Real slack = 1e-6;

  bool skips(const Vec3i& first, const Vec3i& size) const {
    if (number(first) >= end_ || number(first + size - Vec3i::Ones()) < begin_) return true;
    const Real dx = sampler_.plan().dx;
    const Vec3 half = 0.5 * dx * size.cast<Real>();
    return shape_.misses_ball(dx * (range_.lower + first).cast<Real>() + half, (1 + slack) * half.norm());
  }
  std::int64_t number(const Vec3i& cell) const {
    return (std::int64_t{cell[0]} * range_.size[1] + cell[1]) * range_.size[2] + cell[2];
  }

  void look(const Vec3i& first, const Vec3i& size) {
    for (int i = 0; i < size[0]; ++i)
      for (int j = 0; j < size[1]; ++j)
        for (int k = 0; k < size[2]; ++k)
          if (const std::int64_t cell = number(first + Vec3i(i, j, k)); begin_ <= cell && cell < end_) look(cell);
  }
  void look(std::int64_t cell) {
    in_cell_.clear();
    sampler_.sample(range_.cell(cell), in_cell_);
    for (std::size_t j = 0; j < in_cell_.size(); ++j)
      if (shape_.contains(in_cell_[j]))
        found_.push_back(
            {static_cast<PointId>(cell) * static_cast<PointId>(sampler_.most_per_cell()) + j, in_cell_[j]});
  }

  const CellSampler& sampler_;
  const Shape& shape_;
  const CellRange& range_;
  std::int64_t begin_, end_;
  std::vector<Vec3> in_cell_;
  std::vector<Found> found_;
};

}  // namespace

SampledPoints sample_shape(const CellSampler& sampler, const Shape& shape, const CellRange& range, std::int64_t begin,
                           std::int64_t end) {
  CellWalk walk(sampler, shape, range, begin, end);
  walk.visit();
  return walk.take();
}

}  // namespace weft
