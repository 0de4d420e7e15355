#pragma once
// Filling shapes with points: pure functions of the grid cell, so that any division of the cells among ranks gives the
// same points with the same ids.

#include "weft/base/kinds.hpp"
#include "weft/geometry/shape.hpp"

#include <cstdint>
#include <vector>

namespace weft {

struct SamplePlan {
  /// poisson: blue noise, a periodic tile of points that keep a distance from one another. jittered: one random point
  /// in each of `per_cell` equal boxes of a cell. regular: the centres of those boxes.
  Sampling pattern;
  Real dx;             ///< Cell edge [m].
  int per_cell;        ///< Points in a full cell; for poisson on average, and exactly in each tile.
  std::uint32_t seed;  ///< Names the random numbers together with `body`.
  std::uint32_t body;
};

/// A box of grid cells; cell c spans [c, c + 1) * dx. Cells are counted with z running fastest.
struct CellRange {
  Vec3i lower = Vec3i::Zero();
  Vec3i size = Vec3i::Zero();
  std::int64_t count() const { return std::int64_t{size[0]} * size[1] * size[2]; }
  Vec3i cell(std::int64_t k) const;
};
/// The cells that meet the box. Throws Error(geometry) if they are more than can be counted.
CellRange cells_covering(const Box& box, Real dx);

/// Halves a box of `size` cells, the lowest of which is `first`, until its parts are small, and tells `look(first,
/// size)` of these. What `skips(first, size)` is left out as a whole.
template <class Skips, class Look>
void halve_cells(const Vec3i& first, const Vec3i& size, const Skips& skips, const Look& look) {
  constexpr int smallest_box = 2;
  if (size.minCoeff() == 0 || skips(first, size)) return;
  int axis = 0;
  const int longest = size.maxCoeff(&axis);
  if (longest <= smallest_box) return look(first, size);
  Vec3i part = size, second = first;
  part[axis] = longest / 2;
  halve_cells(first, part, skips, look);
  second[axis] += part[axis];
  part[axis] = longest - part[axis];
  halve_cells(second, part, skips, look);
}

/// Gives the points of each cell. Building one costs up to half a second (poisson); it is immutable then.
class CellSampler {
 public:
  /// Throws Error(geometry) if per_cell is not in [1, 1000], or (jittered, regular) cannot be split into boxes with
  /// edges in a ratio of at most 7.
  explicit CellSampler(const SamplePlan& plan);

  /// Appends the points [m] of a cell to `out`; always the same ones in the same order.
  void sample(const Vec3i& cell, std::vector<Vec3>& out) const;
  /// No cell has more points than this.
  int most_per_cell() const { return most_per_cell_; }
  /// Volume that each point stands for [m^3]: dx^3 / per_cell.
  Real point_volume() const { return plan_.dx * plan_.dx * plan_.dx / plan_.per_cell; }
  const SamplePlan& plan() const { return plan_; }

 private:
  SamplePlan plan_;
  int most_per_cell_ = 0;
  Vec3i split_ = Vec3i::Ones();             ///< Boxes of a cell along each axis (jittered, regular).
  int tile_edge_ = 0;                       ///< [cells] (poisson).
  std::vector<Vec3> tile_points_;           ///< In units of dx from their cell's corner, cell by cell.
  std::vector<std::int32_t> tile_offsets_;  ///< Tile cell k owns tile_points_[tile_offsets_[k], tile_offsets_[k + 1]).
};

/// Points and their ids.
struct SampledPoints {
  std::vector<Vec3> positions;  ///< [m].
  std::vector<PointId> ids;
};

/// The sampler's points of cells [begin, end) of the range that lie in the shape. Ids are unique within the range and
/// do not depend on begin and end: (number of the cell) * most_per_cell() + (number within the cell).
SampledPoints sample_shape(const CellSampler& sampler, const Shape& shape, const CellRange& range, std::int64_t begin,
                           std::int64_t end);
/// All ids from this sampler and range are smaller.
inline PointId id_end(const CellSampler& sampler, const CellRange& range) {
  return static_cast<PointId>(range.count()) * static_cast<PointId>(sampler.most_per_cell());
}

}  // namespace weft
