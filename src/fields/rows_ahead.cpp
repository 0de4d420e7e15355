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

void RowsAhead::find(std::size_t first, std::size_t rows, Lines& lines) const {
  constexpr std::size_t line = 64;  // what memory brings at once [byte]
  lines.clear();
  for (const Column& column : columns_) {
    const std::byte* from = column.data + first * column.row_bytes;
    const std::size_t before = lines.size(), here = (rows * column.row_bytes + line - 1) / line;
    lines.resize(before + here);
    for (std::size_t i = 0; i < here; ++i) lines[before + i] = from + line * i;
  }
}

}  // namespace weft
