#include "weft/fields/rows_ahead.hpp"

namespace weft {

RowsAhead::RowsAhead(Table& points) {
  for (const ColumnView& column : points.columns(Keep::state))
    if (column.shape.components() > 1) add(column.data, column.row_bytes, column.rows);
  forget_near();
}

RowsAhead::RowsAhead(std::initializer_list<std::span<const Vec3>> vectors) {
  for (const std::span<const Vec3> rows : vectors)
    add(reinterpret_cast<const std::byte*>(rows.data()), sizeof(Vec3), rows.size());
  forget_near();
}

void RowsAhead::add(const std::byte* data, std::size_t row_bytes, std::size_t rows) {
  columns_.push_back({data, row_bytes});
  bytes_ += rows * row_bytes;
}

void RowsAhead::forget_near() {
  if (bytes_ <= near_enough) columns_.clear();
}

}  // namespace weft
