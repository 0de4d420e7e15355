#include "weft/fields/rows_ahead.hpp"

#include <algorithm>

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

bool RowsAhead::find(std::size_t first, std::size_t rows, std::span<const std::byte*> lines) const {
  constexpr std::size_t line = 64;  // what memory brings at once [byte]
  std::size_t found = 0;
  for (const Column& column : columns_) {
    const std::byte* from = column.data + first * column.row_bytes;
    const std::size_t here = std::min((rows * column.row_bytes + line - 1) / line, lines.size() - found);
    for (std::size_t i = 0; i < here; ++i) lines[found + i] = from + line * i;
    found += here;
  }
  if (found > 0) std::fill(lines.begin() + found, lines.end(), lines.front());
  return found > 0;
}

}  // namespace weft
