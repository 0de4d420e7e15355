// Shipping rows of a table: one message of packed rows for each destination.

#include "weft/parallel/ship.hpp"

#include "parallel/sparse_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weft {
namespace {

/// Copies the state columns of a row to (or from) its place in a message, one column after the other.
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

}  // namespace

Shipment ship(const Comm& comm, Table& table, std::span<const int> new_rank) {
  WEFT_ENSURE(new_rank.size() == table.owned());
  for (const int rank : new_rank) WEFT_ENSURE(0 <= rank && rank < comm.size());

  std::vector<ColumnView> columns = table.columns(Keep::state);
  std::size_t row_bytes = 0;
  for (const ColumnView& column : columns) row_bytes += column.row_bytes;

  const std::vector<std::uint32_t> leaving = order_by_rank(new_rank, comm.rank());
  Parcels outgoing = parcels_for(new_rank, leaving);
  outgoing.bytes.resize(outgoing.rows() * row_bytes);
#pragma omp parallel for schedule(static)
  for (std::size_t m = 0; m < leaving.size(); ++m) pack(columns, leaving[m], outgoing.bytes.data() + m * row_bytes);

  Parcels incoming = announce(comm, outgoing);
  transfer(comm, outgoing, incoming, row_bytes);

  std::vector<std::uint32_t> staying;
  for (std::size_t r = 0; r < new_rank.size(); ++r)
    if (new_rank[r] == comm.rank()) staying.push_back(static_cast<std::uint32_t>(r));
  if (staying.size() < table.rows()) table.reorder(staying);
  table.resize(staying.size() + incoming.rows());
  columns = table.columns(Keep::state);
#pragma omp parallel for schedule(static)
  for (std::size_t m = 0; m < incoming.rows(); ++m)
    unpack(columns, staying.size() + m, incoming.bytes.data() + m * row_bytes);

  return {static_cast<std::int64_t>(outgoing.rows()), static_cast<int>(outgoing.rank.size())};
}

void ship_home(const Comm& comm, Table& table, const std::function<int(PointId)>& home) {
  std::vector<int> rank;
  std::vector<std::uint32_t> rows;
  for (std::size_t r = 0; r < table.owned(); ++r)
    if (const int to = home(std::as_const(table).get<Id>()[r]); to >= 0) {
      rows.push_back(static_cast<std::uint32_t>(r));
      rank.push_back(to);
    }
  table.reorder(rows);
  ship(comm, table, rank);
  const auto id = std::as_const(table).get<Id>();
  rows.resize(table.rows());
  std::iota(rows.begin(), rows.end(), 0);
  std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) { return id[a] < id[b]; });
  table.reorder(rows);
}

}  // namespace weft
