#include "weft/fields/rows_ahead.hpp"

namespace weft {

RowsAhead::RowsAhead(Table& points) {
  std::size_t bytes = 0;
  for (const ColumnView& column : points.columns(Keep::state)) {
    if (column.shape.components() == 1) continue;
    columns_.push_back({column.data, column.row_bytes});
    bytes += column.rows * column.row_bytes;
  }
  if (bytes <= near_enough) columns_.clear();
}

}  // namespace weft
