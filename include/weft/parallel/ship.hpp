#pragma once
// Ship: rows of a table change their rank; all `state` columns travel.

#include "weft/fields/table.hpp"
#include "weft/parallel/comm.hpp"

#include <span>

namespace weft {

/// What a shipment cost: rows and messages this rank sent.
struct Shipment {
  std::int64_t rows = 0;
  int messages = 0;
};

/// An owned row that goes to another rank.
struct Leaver {
  std::uint32_t row;
  int rank;
};

/// Sends these rows, each named once, to their ranks. Arrivals, by source rank, take the places of rows that left, then
/// follow after the last row; if fewer come than leave, the last rows that stay fill the remaining places. All others
/// stay where they are, so that the work is that of the rows that move. Ghost rows are dropped. Work and shown columns
/// are zero in rows that arrived. Collective.
Shipment ship(const Comm& comm, Table& table, std::span<const Leaver> leavers);
/// The same, row r going to rank new_rank[r].
Shipment ship(const Comm& comm, Table& table, std::span<const int> new_rank);

/// The same; afterwards rows stand by ascending Id.
void ship_sorted(const Comm& comm, Table& table, std::span<const int> new_rank);

}  // namespace weft
