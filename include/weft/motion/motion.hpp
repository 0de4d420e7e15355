#pragma once
// Motion: the unknowns of a solve, block by block, and Load, its dual.

#include "weft/parallel/forest.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// How a row of freedoms is made of points: `stride` reals for each, of which the first `used` are freedoms and the
/// rest padding. Zeros stand for one point that takes all of the row.
struct PointLayout {
  int stride = 0, used = 0;
};

/// Freedoms of one kind: rows of `width` reals, ordered [owned, ghost] as the forest has them. A grid layer, the
/// vertices of a mesh (width 3), the twists of a rod (width 1).
struct FreedomBlock {
  std::string name;      ///< For messages: the body's name.
  int width;             ///< Reals in a row.
  const Forest* forest;  ///< Not owned.
  PointLayout point{};
};

/// Which freedoms a solve has. Freedoms of a rank are counted block by block, row by row (owned, then ghost),
/// component by component; that local number is what `Tangent` and solvers use.
class Freedoms {
 public:
  explicit Freedoms(std::vector<FreedomBlock> blocks);

  std::size_t block_count() const { return blocks_.size(); }
  const FreedomBlock& block(std::size_t b) const { return blocks_[b]; }
  std::size_t rows(std::size_t b) const { return blocks_[b].forest->owned() + blocks_[b].forest->ghosts(); }
  /// Local number of the first freedom of a row.
  std::int32_t at(std::size_t b, std::size_t row) const {
    return first_[b] + static_cast<std::int32_t>(row) * blocks_[b].width;
  }
  /// All freedoms of this rank, ghosts included.
  std::size_t size() const { return static_cast<std::size_t>(first_.back()); }

  int stride(std::size_t b) const { return blocks_[b].point.stride > 0 ? blocks_[b].point.stride : blocks_[b].width; }
  int used(std::size_t b) const { return blocks_[b].point.stride > 0 ? blocks_[b].point.used : blocks_[b].width; }
  std::size_t points_per_row(std::size_t b) const { return static_cast<std::size_t>(blocks_[b].width / stride(b)); }
  /// Rows of the same blocks that have used x used numbers for each point, side by side.
  Freedoms diagonal() const;

 private:
  std::vector<FreedomBlock> blocks_;
  std::vector<std::int32_t> first_;  ///< Local number where each block starts; one more than there are blocks.
};

/// A real for each freedom, owned and ghost. Zero at first.
class FreedomValues {
 public:
  explicit FreedomValues(const Freedoms& freedoms) : freedoms_(&freedoms), values_(freedoms.size(), 0.0) {}

  const Freedoms& freedoms() const { return *freedoms_; }
  std::span<Real> all() { return values_; }
  std::span<const Real> all() const { return values_; }
  /// One row for each point, owned first; for a block of width 3.
  std::span<Vec3> points(std::size_t b);
  std::span<const Vec3> points(std::size_t b) const;
  /// Any block, row after row.
  std::span<Real> block(std::size_t b);
  std::span<const Real> block(std::size_t b) const;
  void set_zero();

  /// Ghost rows become copies of their owners. Collective.
  void update_ghosts();
  /// Ghost rows are added to their owners, then zero. Collective.
  void sum_to_owners();

 private:
  const Freedoms* freedoms_;  ///< Not owned; outlives this.
  std::vector<Real> values_;
};

/// Generalised forces: energy per unit of each freedom, N for points. A Term adds to owned and ghost rows alike; the
/// solve then calls sum_to_owners once.
using Load = FreedomValues;

/// What moves, as a Term sees it; ghosts are up to date. An explicit step has u = 0.
struct Motion {
  explicit Motion(const Freedoms& freedoms) : u(freedoms) {}

  FreedomValues u;      ///< Displacements since the start of the step, when bodies last committed [m].
  Real rate_per_u = 0;  ///< Velocities over displacements in this solve [1/s]: 1 / dt for backward Euler, else 0.
  Real time = 0;        ///< At which loads act and handles are [s]: the end of the step.
  Real load_span = 0;   ///< Loads are their mean between the time and so much later, or before if negative [s].
};

}  // namespace weft
