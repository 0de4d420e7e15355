#pragma once
// Messages between few pairs of ranks that only the senders know of beforehand.

#include "weft/parallel/comm.hpp"

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace weft {

/// Equally long rows for (or from) other ranks: those of rank[g] are rows begin[g] to begin[g + 1].
struct Parcels {
  std::vector<int> rank;  ///< Increasing.
  std::vector<std::size_t> begin{0};
  std::vector<std::byte> bytes;

  std::size_t rows() const { return begin.back(); }
};

/// The indices into `rank` of all entries that name another rank than `self`, grouped by rank, each group in the order
/// given.
std::vector<std::uint32_t> order_by_rank(std::span<const int> rank, int self);

/// Empty parcels (no bytes yet) for entries in that order.
Parcels parcels_for(std::span<const int> rank, std::span<const std::uint32_t> order);

/// Tells each receiver how many rows to expect; returns what this rank has to expect (no bytes yet). No rank learns of
/// more than its partners. Collective.
Parcels announce(const Comm& comm, const Parcels& outgoing);

/// Moves the rows: fills incoming.bytes, whose ranks and counts are known. Collective among the partners.
void transfer(const Comm& comm, const Parcels& outgoing, Parcels& incoming, std::size_t row_bytes);

}  // namespace weft
