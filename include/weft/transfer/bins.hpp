#pragma once
// Points binned by the block their kernel starts in: the order in which the kernels visit them.

#include "weft/base/kinds.hpp"
#include "weft/fields/chunk.hpp"
#include "weft/grid/block_map.hpp"
#include "weft/parallel/ship.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace weft {

// A bin's points add to and read from a tile of 8 x 8 x 8 nodes: the block of the bin and its seven neighbours towards
// +x, +y, +z. They stand in the middle of it when they are binned, and may then drift for some steps before a kernel
// reaches beyond the tile. Along one axis, in units of the grid spacing:
//
//     nodes            0   1   2   3 | 4   5   6   7
//     points, binned         [---------------)            from 1.5 to 5.5, whatever the kernel
//     points, later    . . . [---------------) . . .      margin: linear 1.5, quadratic 1, cubic 0.5

/// Where the points of a bin begin, from the first node of their block on [dx].
inline constexpr Real bin_start = 1.5, bin_middle = bin_start + Real(block_width) / 2;

/// How far points may drift from where they were binned [dx].
constexpr Real drift_margin(KernelKind kernel) {
  const int nodes = static_cast<int>(kernel) + 2;
  return Real(5 - nodes) / 2;
}

/// Writes the block of every point to `home`. Throws Error(numerics) when a point is out of the reach of block
/// coordinates or not finite.
void find_homes(Real dx, std::span<const Vec3> x, std::span<BlockCode> home);

/// The points of one block: order[begin, end). Their kernels reach the block and its seven neighbours towards +x, +y,
/// +z at most.
struct Bin {
  BlockKey key;
  Vec3i block;
  std::uint32_t begin, end;
  std::array<int, 8> numbers{};  ///< Block numbers by octant in the current BlockMap.
};

/// Bins [begin, end), next to one another in curve order: those of a cube of blocks, which one thread visits in turn.
struct BinRange {
  std::uint32_t begin, end;
};

/// A visiting order of the points: by home block (in curve order), by id within the block. It depends on the points
/// alone, not on where their rows stand or on the number of threads, and neither do sums taken in this order.
///
/// Sorting looks for runs of rows that lie in the same block, and so takes few instructions a point while rows stand
/// nearly in visiting order.
class Bins {
 public:
  /// Sorts the points: `find`, then `arrange`.
  void sort(Real dx, std::span<const Vec3> x, std::span<const PointId> id);
  /// The bins of points with these home blocks. `bins` and `disorder` then hold, and `leavers` may be asked; there is
  /// no order yet.
  void find(std::span<const BlockCode> home);
  /// The same for points that are at home where they stand (find_homes).
  void find(Real dx, std::span<const Vec3> x);
  /// The order of the points that were found.
  void arrange(std::span<const PointId> id);
  /// The points that were found in blocks of other ranks than this one.
  std::vector<Leaver> leavers(const Cuts& cuts, int rank) const;
  /// The rows were brought into visiting order.
  void rows_were_reordered();
  /// Looks up the block numbers of every bin. All touched blocks must be active.
  void number(const BlockMap& map);
  /// The bins that reach one of the blocks that are wanted, by number, with their points alone.
  Bins near(const std::vector<bool>& wanted) const;
  /// True while the numbers fit the bins: sorting keeps them if the same blocks hold points as before.
  bool is_numbered() const { return is_numbered_; }

  std::span<const Bin> bins() const { return bins_; }
  std::span<const std::uint32_t> order() const { return order_; }
  /// The rows that are visited after a chunk of the order, as many as the next chunk may have.
  ChunkRows after(ChunkRows chunk) const {
    const std::size_t end = static_cast<std::size_t>(chunk.data() - order_.data()) + chunk.size();
    return order().subspan(end, std::min(most_rows_in_chunk, order_.size() - end));
  }
  /// The cubes of one colour (parity of their coordinates): tiles of different ones do not overlap.
  std::span<const BinRange> of_colour(int colour) const { return colours_[colour]; }
  /// The bins of a cube.
  std::span<const Bin> of_cube(BinRange cube) const { return bins().subspan(cube.begin, cube.end - cube.begin); }
  /// Breaks in the sequence of rows within bins, per point: 0 in visiting order, near 1 for rows in any order.
  Real disorder() const;
  std::size_t bytes() const;

 private:
  /// Rows [row, row + count) lie in one block.
  struct Run {
    int block;  ///< In the thread's own numbering.
    std::uint32_t row, count;
  };
  /// What one thread found among its rows.
  struct Found {
    std::vector<Vec3i> blocks;  ///< In the order of first sight.
    std::vector<std::uint32_t> counts;
    BlockIndex number;
    std::vector<Run> runs;
  };

  void find_runs(std::span<const BlockCode> home);
  void make_bins();
  void make_cubes();

  std::vector<Bin> bins_;
  std::vector<std::uint32_t> order_;
  std::array<std::vector<BinRange>, 8> colours_;
  std::vector<Found> found_;      ///< By thread; kept for its memory.
  std::vector<BlockCode> homes_;  ///< Of points that do not carry them.
  std::size_t runs_ = 0;
  bool is_numbered_ = false;
};

/// The block of a point that is at home where it stands.
BlockKey home_block(Real dx, const Vec3& x);

/// The blocks that points in these bins may touch: sorted keys, each once.
std::vector<BlockKey> touched_blocks(std::span<const Bins> bodies);

}  // namespace weft
