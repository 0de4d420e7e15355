// Sending plain values: one message for each pair of ranks.

#include "weft/parallel/send.hpp"

#include "parallel/sparse_exchange.hpp"
#include "weft/base/check.hpp"
#include "weft/parallel/traffic.hpp"

namespace weft {

std::vector<std::byte> send_bytes(const Comm& comm, const std::byte* values, std::size_t bytes,
                                  std::span<const int> to) {
  for (const int rank : to) WEFT_ENSURE(0 <= rank && rank < comm.size());
  const std::vector<std::uint32_t> leaving = order_by_rank(to, comm.rank());
  Parcels outgoing = parcels_for(to, leaving);
  outgoing.bytes.resize(outgoing.rows() * bytes);
  for (std::size_t m = 0; m < leaving.size(); ++m)
    std::memcpy(outgoing.bytes.data() + m * bytes, values + leaving[m] * bytes, bytes);
  Parcels incoming = announce(comm, outgoing);
  transfer(comm, outgoing, incoming, bytes);
  traffic().shipped.add(static_cast<std::int64_t>(outgoing.rank.size()),
                        static_cast<std::int64_t>(outgoing.bytes.size()));

  std::vector<std::byte> arrived;
  arrived.reserve(incoming.bytes.size() + (to.size() - leaving.size()) * bytes);
  std::size_t g = 0;
  const auto take_until = [&](int rank) {
    for (; g < incoming.rank.size() && incoming.rank[g] < rank; ++g)
      arrived.insert(arrived.end(), incoming.bytes.begin() + static_cast<std::ptrdiff_t>(incoming.begin[g] * bytes),
                     incoming.bytes.begin() + static_cast<std::ptrdiff_t>(incoming.begin[g + 1] * bytes));
  };
  take_until(comm.rank());
  for (std::size_t k = 0; k < to.size(); ++k)
    if (to[k] == comm.rank()) arrived.insert(arrived.end(), values + k * bytes, values + (k + 1) * bytes);
  take_until(comm.size());
  return arrived;
}

}  // namespace weft
