#include "weft/fields/table.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace weft {

void Buffer::resize(std::size_t bytes) {
  if (bytes > capacity_) {
    // The first size is often the last; what grows again will grow on.
    const std::size_t capacity = capacity_ == 0 ? bytes : std::max(bytes, capacity_ + capacity_ / 2);
    auto grown = std::make_unique_for_overwrite<std::byte[]>(capacity);
    if (size_ > 0) std::memcpy(grown.get(), bytes_.get(), size_);
    bytes_ = std::move(grown);
    capacity_ = capacity;
  }
  size_ = bytes;
}

void Table::add(Label label, RowShape shape, std::size_t row_bytes) {
  WEFT_ENSURE(find(label.name) < 0);
  columns_.push_back({label, shape, row_bytes, {}});
  columns_.back().bytes.resize(rows_ * row_bytes);
  zero_from(columns_.back(), 0);
}

int Table::find(std::string_view name) const {
  // A key's own name is found by its place alone; chunks look up columns often.
  for (std::size_t c = 0; c < columns_.size(); ++c)
    if (columns_[c].label.name.data() == name.data() && columns_[c].label.name.size() == name.size())
      return static_cast<int>(c);
  const auto it = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.label.name == name; });
  return it == columns_.end() ? -1 : static_cast<int>(it - columns_.begin());
}

void Table::resize(std::size_t rows, std::size_t owned) {
  WEFT_ENSURE(owned <= rows);
  const std::size_t kept = std::min(rows_, rows);
  rows_ = rows;
  owned_ = owned;
  for (Column& column : columns_) {
    column.bytes.resize(rows * column.row_bytes);
    zero_from(column, kept);
  }
}

void Table::zero_from(Column& column, std::size_t first) {
  const auto width = static_cast<std::ptrdiff_t>(column.row_bytes), end = static_cast<std::ptrdiff_t>(rows_);
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t r = static_cast<std::ptrdiff_t>(first); r < end; ++r)
    std::memset(column.bytes.data() + r * width, 0, static_cast<std::size_t>(width));
}

namespace {

/// to[r] = from[order[r]], rows of W bytes.
template <std::size_t W>
void pick_rows(std::span<const std::uint32_t> order, const std::byte* from, std::byte* to) {
  const auto count = static_cast<std::ptrdiff_t>(order.size());
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t r = 0; r < count; ++r) std::memcpy(to + r * W, from + order[r] * W, W);
}

void pick_rows(std::span<const std::uint32_t> order, std::size_t row_bytes, const std::byte* from, std::byte* to) {
  switch (row_bytes) {  // known widths copy several times faster
    case sizeof(std::int32_t):
      return pick_rows<sizeof(std::int32_t)>(order, from, to);
    case sizeof(Real):
      return pick_rows<sizeof(Real)>(order, from, to);
    case sizeof(Vec3):
      return pick_rows<sizeof(Vec3)>(order, from, to);
    default:
      WEFT_ENSURE(row_bytes == sizeof(Mat3));
      return pick_rows<sizeof(Mat3)>(order, from, to);
  }
}

void copy_in_parallel(const std::byte* from, std::byte* to, std::size_t bytes) {
  constexpr std::size_t piece = 1 << 16;
#pragma omp parallel for schedule(static)
  for (std::size_t begin = 0; begin < bytes; begin += piece)
    std::memcpy(to + begin, from + begin, std::min(piece, bytes - begin));
}

}  // namespace

void Table::reorder(std::span<const std::uint32_t> order) {
  WEFT_ASSUME(std::all_of(order.begin(), order.end(), [this](std::uint32_t r) { return r < rows_; }));
  std::set<std::size_t, std::greater<>> widths;
  for (const Column& column : columns_) widths.insert(column.row_bytes);
  // Columns of one width move up: the first to the spare one, the next to where the first was, and so on. The spare one
  // then is the last's, but for narrow columns, which shall not come to own its memory.
  for (const std::size_t width : widths) {
    const bool is_widest = width == *widths.begin();
    Column* first = nullptr;  // of narrow ones
    Buffer* free = &spare_;
    for (Column& column : columns_) {
      if (column.row_bytes != width) continue;
      free->resize(order.size() * width);
      pick_rows(order, width, column.bytes.data(), free->data());
      if (is_widest || first != nullptr) {
        std::swap(column.bytes, *free);
      } else {
        first = &column;
        free = &column.bytes;
      }
    }
    if (is_widest) continue;
    first->bytes.resize(order.size() * width);
    copy_in_parallel(spare_.data(), first->bytes.data(), order.size() * width);
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
