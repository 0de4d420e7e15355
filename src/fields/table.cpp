#include "weft/fields/table.hpp"

#include <algorithm>

namespace weft {

void Table::add(Label label, RowShape shape, std::size_t row_bytes) {
  WEFT_ENSURE(find(label.name) < 0);
  columns_.push_back({label, shape, row_bytes, std::vector<std::byte>(rows_ * row_bytes)});
}

int Table::find(std::string_view name) const {
  const auto it = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.label.name == name; });
  return it == columns_.end() ? -1 : static_cast<int>(it - columns_.begin());
}

void Table::resize(std::size_t rows, std::size_t owned) {
  WEFT_ENSURE(owned <= rows);
  for (Column& column : columns_) column.bytes.resize(rows * column.row_bytes);
  rows_ = rows;
  owned_ = owned;
}

void Table::reorder(std::span<const std::uint32_t> order) {
  const auto count = static_cast<std::ptrdiff_t>(order.size());
  for (Column& column : columns_) {
    spare_.resize(order.size() * column.row_bytes);
    const std::byte* from = column.bytes.data();
    const std::size_t width = column.row_bytes;
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t r = 0; r < count; ++r) {
      WEFT_ASSUME(order[r] < rows_);
      std::memcpy(spare_.data() + r * width, from + order[r] * width, width);
    }
    std::swap(column.bytes, spare_);
  }
  rows_ = owned_ = order.size();
}

ColumnView Table::view(Column& column) {
  return {column.label, column.shape, column.row_bytes, rows_, column.bytes.data()};
}

std::vector<ColumnView> Table::columns() {
  std::vector<ColumnView> views;
  for (Column& column : columns_) views.push_back(view(column));
  return views;
}

std::vector<ColumnView> Table::columns(Keep keep) {
  std::vector<ColumnView> views;
  for (Column& column : columns_)
    if (column.label.keep == keep) views.push_back(view(column));
  return views;
}

ColumnView Table::column(std::string_view name) {
  const int i = find(name);
  return i < 0 ? ColumnView{} : view(columns_[i]);
}

std::size_t Table::bytes() const {
  std::size_t sum = spare_.capacity();
  for (const Column& column : columns_) sum += column.bytes.capacity();
  return sum;
}

}  // namespace weft
