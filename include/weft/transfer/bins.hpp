#pragma once
// Points binned by the node their kernel starts from: the order in which the kernels visit them.

#include "weft/base/kinds.hpp"
#include "weft/grid/block_map.hpp"

#include <span>
#include <vector>

namespace weft {

/// The points of one block: order[begin, end).
struct Bin {
  BlockKey key;
  Vec3i block;
  std::uint8_t octants;  ///< Bit o: the kernels of these points reach into octant o.
  std::uint32_t begin, end;
  std::array<int, 8> numbers{};  ///< Block numbers by octant in the current BlockMap; -1 where not reached.
};

/// A visiting order of the points: by block (in curve order), by node within the block, by id. It depends on the points
/// alone, not on where their rows stand or on the number of threads, and neither do sums taken in this order.
class Bins {
 public:
  /// Sorts the points. Throws Error(numerics) when a point is out of the reach of block coordinates or not finite.
  void sort(KernelKind kernel, Real dx, std::span<const Vec3> x, std::span<const PointId> id);
  /// Looks up the block numbers of every bin. All touched blocks must be active.
  void number(const BlockMap& map);

  std::span<const Bin> bins() const { return bins_; }
  std::span<const std::uint32_t> order() const { return order_; }
  /// The first node of a point's kernel, counted from the first node of its block.
  Vec3i node_in_block(std::uint32_t point) const { return node_at_place(place_of_point_[point]); }
  /// Bins of one colour (parity of the block coordinates): their tiles do not overlap.
  std::span<const std::uint32_t> of_colour(int colour) const { return colours_[colour]; }
  /// Appends the keys of all blocks that the points touch (repeats possible).
  void append_touched(std::vector<BlockKey>& keys) const;
  /// True if the visiting order is the order of the rows.
  bool in_order() const;
  std::size_t bytes() const;

 private:
  std::vector<Bin> bins_;
  std::vector<std::uint32_t> order_;
  std::array<std::vector<std::uint32_t>, 8> colours_;
  std::vector<std::uint32_t> bin_of_point_;
  std::vector<std::uint8_t> place_of_point_;
};

}  // namespace weft
