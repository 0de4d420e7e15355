#pragma once
// A number for each of a set of blocks, found by the block's coordinates.

#include "weft/parallel/curve.hpp"

#include <algorithm>
#include <vector>

namespace weft {

/// A block's coordinates in 21 bits each, and back.
using BlockCode = std::uint64_t;
inline BlockCode code_of(std::int32_t x, std::int32_t y, std::int32_t z) {
  constexpr BlockCode bits = (BlockCode{1} << 21) - 1;
  return (static_cast<BlockCode>(x) & bits) << 42 | (static_cast<BlockCode>(y) & bits) << 21 |
         (static_cast<BlockCode>(z) & bits);
}
inline Vec3i block_of_code(BlockCode code) {
  const auto part = [code](int shift) {  // the sign is the highest of the 21 bits
    return static_cast<std::int32_t>(static_cast<std::int64_t>(code << (43 - shift)) >> 43);
  };
  return {part(42), part(21), part(0)};
}

/// A hash table with open addressing: a look-up is one or two reads.
class BlockIndex {
 public:
  /// The number of a block, or -1.
  int find(const Vec3i& block) const {
    if (slots_.empty()) return -1;
    const Slot& slot = slots_[place_of(packed(block))];
    return slot.number;
  }
  /// The number of a block that is known, else `number`, which it then has.
  int find_or_add(const Vec3i& block, int number) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    const std::uint64_t code = packed(block);
    Slot& slot = slots_[place_of(code)];
    if (slot.number < 0) {
      slot = {code, number};
      ++count_;
    }
    return slot.number;
  }
  /// Forgets all blocks and keeps the memory.
  void clear() {
    std::fill(slots_.begin(), slots_.end(), Slot{});
    count_ = 0;
  }
  std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    std::uint64_t code = 0;
    int number = -1;
  };

  static BlockCode packed(const Vec3i& block) { return code_of(block.x(), block.y(), block.z()); }
  /// Where this code stands, or the free slot where it would. [Knuth, TAOCP 3, 6.4: multiplicative hashing]
  std::size_t place_of(std::uint64_t code) const {
    std::size_t at = (code * 0x9e3779b97f4a7c15u) >> shift_;
    while (slots_[at].number >= 0 && slots_[at].code != code) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    shift_ = 64;
    for (std::size_t size = slots_.size(); size > 1; size /= 2) --shift_;
    for (const Slot& slot : old)
      if (slot.number >= 0) slots_[place_of(slot.code)] = slot;
  }

  std::vector<Slot> slots_;  ///< A power of two, at most half full.
  std::size_t count_ = 0;
  int shift_ = 64;
};

}  // namespace weft
