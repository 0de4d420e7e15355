#pragma once
// The space-filling curve: a block's key is its offset on a Hilbert curve; cuts of the key range give every block an
// owner.

#include "weft/base/types.hpp"
#include "weft/parallel/comm.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

using BlockKey = std::uint64_t;

/// Largest block coordinate in magnitude; beyond it a point counts as lost.
inline constexpr std::int32_t max_block_coordinate = (1 << 19) - 1;

/// The offset of a block on the curve, and back. Coordinates within +-max_block_coordinate.
BlockKey key_of(const Vec3i& block);
Vec3i block_of(BlockKey key);

/// The P-1 cuts of the curve: rank r owns the keys in [cuts[r-1], cuts[r]). The same on every rank.
struct Cuts {
  std::vector<BlockKey> at;
  int owner(BlockKey key) const;
  bool operator==(const Cuts&) const = default;
};

/// Counted work of one block on this rank.
struct BlockWork {
  BlockKey key;
  std::int64_t work;
};

/// Cuts that share the counted work as evenly as whole blocks allow. A block may be listed by several ranks and in
/// any order. Deterministic: depends on the work alone, not on who holds it. Collective.
Cuts balanced_cuts(const Comm& comm, std::span<const BlockWork> work);

/// Largest work of a rank over the mean. Collective.
Real imbalance(const Comm& comm, std::int64_t own_work);

}  // namespace weft
