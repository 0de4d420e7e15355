// Announce and transfer: counts by PETSc's two-sided discovery, rows by one message for each pair of ranks.

#include "parallel/sparse_exchange.hpp"

#include "parallel/call.hpp"
#include "weft/parallel/traffic.hpp"

#include <algorithm>

namespace weft {
namespace {

/// One tag serves all: messages of a pair of ranks stay in order, and both sides go through the same transfers.
constexpr int tag = 4711;

}  // namespace

std::vector<std::uint32_t> order_by_rank(std::span<const int> rank, int self) {
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < rank.size(); ++i)
    if (rank[i] != self) order.push_back(static_cast<std::uint32_t>(i));
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return rank[a] < rank[b]; });
  return order;
}

Parcels parcels_for(std::span<const int> rank, std::span<const std::uint32_t> order) {
  Parcels parcels;
  for (const std::uint32_t i : order) {
    if (parcels.rank.empty() || parcels.rank.back() != rank[i]) {
      parcels.rank.push_back(rank[i]);
      parcels.begin.push_back(parcels.begin.back());
    }
    ++parcels.begin.back();
  }
  return parcels;
}

Parcels announce(const Comm& comm, const Parcels& outgoing) {
  std::vector<std::int64_t> rows(outgoing.rank.size());
  for (std::size_t g = 0; g < rows.size(); ++g)
    rows[g] = static_cast<std::int64_t>(outgoing.begin[g + 1] - outgoing.begin[g]);

  PetscMPIInt senders = 0;
  PetscMPIInt* sender = nullptr;
  std::int64_t* sent_rows = nullptr;
  check_petsc(PetscCommBuildTwoSided(comm.handle(), 1, MPI_INT64_T, int_count(rows.size()), outgoing.rank.data(),
                                     rows.data(), &senders, &sender, static_cast<void*>(&sent_rows)));
  traffic().asked.add(static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows.size() * sizeof(rows[0])));
  ++traffic().reductions;  // all ranks wait for one another
  std::vector<std::pair<int, std::int64_t>> arrivals(senders);
  for (int s = 0; s < senders; ++s) arrivals[s] = {sender[s], sent_rows[s]};
  check_petsc(PetscFree(sender));
  check_petsc(PetscFree(sent_rows));

  std::sort(arrivals.begin(), arrivals.end());  // they come in the order of arrival
  Parcels incoming;
  for (const auto& [from, count] : arrivals) {
    incoming.rank.push_back(from);
    incoming.begin.push_back(incoming.begin.back() + static_cast<std::size_t>(count));
  }
  return incoming;
}

void transfer(const Comm& comm, const Parcels& outgoing, Parcels& incoming, std::size_t row_bytes) {
  const FlatType row(row_bytes, MPI_BYTE);  // counts are rows, so that messages may exceed 2 GiB
  incoming.bytes.resize(incoming.rows() * row_bytes);
  std::vector<MPI_Request> requests(incoming.rank.size() + outgoing.rank.size());
  auto request = requests.begin();
  for (std::size_t g = 0; g < incoming.rank.size(); ++g)
    check_mpi(MPI_Irecv(incoming.bytes.data() + incoming.begin[g] * row_bytes,
                        int_count(incoming.begin[g + 1] - incoming.begin[g]), row, incoming.rank[g], tag, comm.handle(),
                        &*request++));
  for (std::size_t g = 0; g < outgoing.rank.size(); ++g)
    check_mpi(MPI_Isend(outgoing.bytes.data() + outgoing.begin[g] * row_bytes,
                        int_count(outgoing.begin[g + 1] - outgoing.begin[g]), row, outgoing.rank[g], tag, comm.handle(),
                        &*request++));
  check_mpi(MPI_Waitall(int_count(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
}

}  // namespace weft
