// Shipping rows of a table: one message of packed rows for each destination. Only rows that come or go are touched.

#include "weft/parallel/ship.hpp"

#include "parallel/sparse_exchange.hpp"
#include "weft/parallel/traffic.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weft {
namespace {

/// Copies the state columns of a row to (or from) its offset in a message, one column after the other.
void pack(std::span<const ColumnView> columns, std::size_t row, std::byte* message) {
  for (const ColumnView& column : columns) {
    std::memcpy(message, column.row(row), column.row_bytes);
    message += column.row_bytes;
  }
}

void unpack(std::span<const ColumnView> columns, std::size_t row, const std::byte* message) {
  for (const ColumnView& column : columns) {
    std::memcpy(column.row(row), message, column.row_bytes);
    message += column.row_bytes;
  }
}

/// Arrivals take the places of those that left (ascending), from the first on; what remains of them follows after the
/// last row, and holes that remain are filled by the last rows.
void take_places(Table& table, std::span<const std::uint32_t> holes, const Parcels& incoming, std::size_t row_bytes) {
  const std::size_t before = table.owned(), after = before - holes.size() + incoming.rows();
  std::vector<std::uint32_t> place(incoming.rows());
  for (std::size_t m = 0; m < place.size(); ++m)
    place[m] = m < holes.size() ? holes[m] : static_cast<std::uint32_t>(before + m - holes.size());
  const std::span<const std::uint32_t> empty = holes.subspan(std::min(holes.size(), place.size()));

  table.resize(before);  // ghosts go
  const std::vector<ColumnView> all = table.columns();
  // Holes [first, last) are empty still, rows from `end` on are gone.
  std::size_t first = 0, last = empty.size(), end = before;
  while (first < last) {
    --end;
    if (empty[last - 1] == end) {
      --last;
      continue;
    }
    for (const ColumnView& column : all) std::memcpy(column.row(empty[first]), column.row(end), column.row_bytes);
    ++first;
  }

  table.resize(after);
  const std::vector<ColumnView> state = table.columns(Keep::state);
  std::vector<ColumnView> others = table.columns(Keep::shown);
  for (const ColumnView& column : table.columns(Keep::work)) others.push_back(column);
#pragma omp parallel for schedule(static)
  for (std::size_t m = 0; m < place.size(); ++m) {
    unpack(state, place[m], incoming.bytes.data() + m * row_bytes);
    for (const ColumnView& column : others) std::memset(column.row(place[m]), 0, column.row_bytes);
  }
}

}  // namespace

Shipment ship(const Comm& comm, Table& table, std::span<const Leaver> leavers) {
  for (const Leaver& leaver : leavers)
    WEFT_ENSURE(leaver.row < table.owned() && 0 <= leaver.rank && leaver.rank < comm.size() &&
                leaver.rank != comm.rank());

  const std::vector<ColumnView> columns = table.columns(Keep::state);
  std::size_t row_bytes = 0;
  for (const ColumnView& column : columns) row_bytes += column.row_bytes;

  std::vector<int> rank(leavers.size());
  std::vector<std::uint32_t> holes(leavers.size());
  for (std::size_t k = 0; k < leavers.size(); ++k) {
    rank[k] = leavers[k].rank;
    holes[k] = leavers[k].row;
  }
  const std::vector<std::uint32_t> leaving = order_by_rank(rank, comm.rank());
  Parcels outgoing = parcels_for(rank, leaving);
  outgoing.bytes.resize(outgoing.rows() * row_bytes);
#pragma omp parallel for schedule(static)
  for (std::size_t m = 0; m < leaving.size(); ++m)
    pack(columns, leavers[leaving[m]].row, outgoing.bytes.data() + m * row_bytes);

  Parcels incoming = announce(comm, outgoing);
  transfer(comm, outgoing, incoming, row_bytes);
  traffic().shipped.add(static_cast<std::int64_t>(outgoing.rank.size()),
                        static_cast<std::int64_t>(outgoing.bytes.size()));
  std::sort(holes.begin(), holes.end());
  take_places(table, holes, incoming, row_bytes);
  return {static_cast<std::int64_t>(outgoing.rows()), static_cast<int>(outgoing.rank.size())};
}

Shipment ship(const Comm& comm, Table& table, std::span<const int> new_rank) {
  WEFT_ENSURE(new_rank.size() == table.owned());
  std::vector<Leaver> leavers;
  for (std::size_t r = 0; r < new_rank.size(); ++r)
    if (new_rank[r] != comm.rank()) leavers.push_back({static_cast<std::uint32_t>(r), new_rank[r]});
  return ship(comm, table, leavers);
}

void ship_sorted(const Comm& comm, Table& table, std::span<const int> new_rank) {
  ship(comm, table, new_rank);
  const auto id = std::as_const(table).get<Id>();
  if (std::is_sorted(id.begin(), id.end())) return;
  std::vector<std::uint32_t> order(table.rows());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return id[a] < id[b]; });
  table.reorder(order);
}

}  // namespace weft
