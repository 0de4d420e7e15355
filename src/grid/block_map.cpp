#include "weft/grid/block_map.hpp"

#include <algorithm>

namespace weft {

BlockMap::BlockMap(const Comm& comm, const Cuts& cuts, std::span<const BlockKey> touched) {
  std::vector<BlockKey> ghosts;
  std::vector<int> owner;
  for (const BlockKey key : touched) {
    const int rank = cuts.owner(key);
    if (rank == comm.rank()) {
      keys_.push_back(key);
    } else {
      ghosts.push_back(key);
      owner.push_back(rank);
    }
  }

  // Owners hear of the blocks that others touch, and only then can rows be numbered.
  ask_rows(comm, owner, ghosts, [this](BlockKey key) {
    keys_.push_back(key);
    return 0;
  });
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  owned_ = static_cast<int>(keys_.size());
  keys_.insert(keys_.end(), ghosts.begin(), ghosts.end());

  blocks_.reserve(keys_.size());
  for (const BlockKey key : keys_) {
    const int number = static_cast<int>(blocks_.size());
    blocks_.push_back(block_of(key));
    number_.find_or_add(blocks_.back(), number);
  }

  const std::vector<std::int32_t> rows =
      ask_rows(comm, owner, ghosts, [this](BlockKey key) { return find(block_of(key)); });
  std::vector<RemoteRow> originals;
  for (std::size_t g = 0; g < ghosts.size(); ++g) {
    WEFT_ENSURE(rows[g] >= 0);
    originals.push_back({owner[g], rows[g]});
  }
  forest_ = Forest(comm, static_cast<std::size_t>(owned_), originals);
}

std::array<int, 8> BlockMap::octants(const Vec3i& block) const {
  std::array<int, 8> numbers;
  for (int o = 0; o < 8; ++o) numbers[o] = find(block + octant_offset(o));
  return numbers;
}

}  // namespace weft
