#pragma once
// Pairs of boxes that overlap, on any ranks. What is in the boxes is for those who ask.

#include "weft/geometry/shape.hpp"
#include "weft/parallel/forest.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Boxes of this rank, those of others that overlap one of them, and which overlap which.
struct BoxPairs {
  std::vector<std::int64_t> ids;                   ///< Of each row [own, ghost].
  Forest forest;                                   ///< Over these rows.
  std::vector<std::array<std::int32_t, 2>> pairs;  ///< Rows, one of which is own at least; by ids, the lower one first.
};

/// Each rank finds all pairs that its own boxes are in, so both ranks of a pair have it. ids: each once among those of
/// all ranks. Pairs and their order depend on boxes and ids alone. Cells are as long along each axis as the
/// longest box, so boxes should be of like size. Collective.
BoxPairs find_pairs(const Comm& comm, std::span<const Box> boxes, std::span<const std::int64_t> ids);

}  // namespace weft
