#pragma once
// Ship: rows of a table change their rank; all `state` columns travel.

#include "weft/fields/table.hpp"
#include "weft/parallel/comm.hpp"

#include <functional>
#include <span>

namespace weft {

/// What a shipment cost: rows and messages this rank sent.
struct Shipment {
  std::int64_t rows = 0;
  int messages = 0;
};

/// Sends owned row r to rank new_rank[r]; rows that stay keep their order and come first, arrivals follow by source
/// rank. Ghost rows are dropped. Work and shown columns are zero in rows that arrived. Collective.
Shipment ship(const Comm& comm, Table& table, std::span<const int> new_rank);

/// Sends every row to the rank home(Id of the row), rows of which no rank is the home (-1) to none; afterwards they
/// stand by ascending Id. Collective.
void ship_home(const Comm& comm, Table& table, const std::function<int(PointId)>& home);

}  // namespace weft
