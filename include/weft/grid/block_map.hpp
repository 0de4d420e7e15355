#pragma once
// The sparse grid of one rank: active blocks of 4x4x4 nodes, who owns them, and where they lie.

#include "weft/grid/block_index.hpp"
#include "weft/parallel/forest.hpp"

#include <array>
#include <span>
#include <vector>

namespace weft {

inline constexpr int block_width = 4;  ///< Nodes along one edge of a block.
inline constexpr int nodes_per_block = block_width * block_width * block_width;

/// The block that holds a node, and the node's offset in it: (x * 4 + y) * 4 + z.
inline Vec3i block_of_node(const Vec3i& node) { return {node.x() >> 2, node.y() >> 2, node.z() >> 2}; }
inline int place_in_block(const Vec3i& node) {
  return ((node.x() & 3) * block_width + (node.y() & 3)) * block_width + (node.z() & 3);
}
inline Vec3i node_at_place(int place) { return {place >> 4, (place >> 2) & 3, place & 3}; }

/// A block and the corner it reaches into: octant o is the neighbour at offset (o >> 2, (o >> 1) & 1, o & 1).
inline Vec3i octant_offset(int octant) { return {octant >> 2, (octant >> 1) & 1, octant & 1}; }

/// Blocks are numbered owned first, then ghosts, each in the order of their keys. A ghost is a block that points of
/// this rank touch and another rank owns; its owner holds it too, even if no point of its own is there.
class BlockMap {
 public:
  BlockMap() = default;
  /// Activates the blocks that the points of this rank touch (sorted keys without repeats). Collective.
  BlockMap(const Comm& comm, const Cuts& cuts, std::span<const BlockKey> touched);

  int size() const { return static_cast<int>(keys_.size()); }
  int owned() const { return owned_; }
  std::span<const BlockKey> keys() const { return keys_; }
  const Vec3i& block(int b) const { return blocks_[b]; }
  /// The first node of block b.
  Vec3i first_node(int b) const { return blocks_[b] * block_width; }
  /// The number of an active block, or -1.
  int find(const Vec3i& block) const { return number_.find(block); }
  /// Numbers of the block at `block` and its seven neighbours towards +x, +y, +z, by octant; -1 where not active.
  std::array<int, 8> octants(const Vec3i& block) const;

  /// The exchange of rows that belong to blocks.
  const Forest& forest() const { return forest_; }

 private:
  std::vector<BlockKey> keys_;
  std::vector<Vec3i> blocks_;
  BlockIndex number_;
  int owned_ = 0;
  Forest forest_;
};

}  // namespace weft
