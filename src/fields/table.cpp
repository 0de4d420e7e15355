#include "weft/fields/table.hpp"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include <algorithm>
#include <limits>

namespace weft {

void Buffer::resize(std::size_t bytes) {
  if (bytes > capacity_) {
    // The first size is often the last; what grows again will grow on.
    const std::size_t capacity = capacity_ == 0 ? bytes : std::max(bytes, capacity_ + capacity_ / 2);
    Lines grown(allocate_lines(capacity));
    if (size_ > 0) std::memcpy(grown.get(), bytes_.get(), size_);
    bytes_ = std::move(grown);
    capacity_ = capacity;
  }
  size_ = bytes;
}

void Buffer::renew(std::size_t bytes) {
  size_ = 0;
  resize(bytes);
}

void Table::add(Label label, RowShape shape, std::size_t row_bytes) {
  WEFT_ENSURE(find(label.name) < 0);
  columns_.push_back({label, shape, row_bytes, {}});
  names_.push_back(label.name);
  columns_.back().bytes.resize(rows_ * row_bytes);
  zero_from(columns_.back(), 0);
}

int Table::find(std::string_view name) const {
  const auto it = std::find(names_.begin(), names_.end(), name);
  return it == names_.end() ? -1 : static_cast<int>(it - names_.begin());
}

void Table::resize(std::size_t rows, std::size_t owned) {
  WEFT_ENSURE(owned <= rows);
  WEFT_ENSURE(rows <= std::numeric_limits<std::uint32_t>::max());  // which orders of rows are made of
  const std::size_t kept = std::min(rows_, rows);
  rows_ = rows;
  owned_ = owned;
  for (Column& column : columns_) {
    column.bytes.resize(rows * column.row_bytes);
    zero_from(column, kept);
  }
}

void Table::zero_from(Column& column, std::size_t first) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 16;  // what a thread clears at once, however narrow rows are
  const std::size_t start = first * column.row_bytes, end = rows_ * column.row_bytes;
  if (start == end) return;
  if (end - start <= piece_bytes) {  // threads would take longer to come together
    std::memset(column.bytes.data() + start, 0, end - start);
    return;
  }
#pragma omp parallel for schedule(static)
  for (std::size_t begin = start; begin < end; begin += piece_bytes)
    std::memset(column.bytes.data() + begin, 0, std::min(piece_bytes, end - begin));
}

namespace {

/// Rows of a table beyond this leave the caches before somebody reads them again [byte].
constexpr std::size_t most_in_caches = std::size_t{64} << 20;

/// Copies past the caches: a line that is written in full need not be read before. All begins with a line.
void write_past_caches(const std::byte* from, std::byte* to, std::size_t bytes) {
#ifdef __SSE2__
  for (std::size_t b = 0; b < bytes; b += sizeof(__m128i))
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + b), _mm_load_si128(reinterpret_cast<const __m128i*>(from + b)));
#else
  std::memcpy(to, from, bytes);
#endif
}
/// What this thread wrote past the caches is seen by others from here on.
void end_of_writes() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

/// to[r] = from[order[r]], rows of W bytes.
template <std::size_t W>
void pick_rows(std::span<const std::uint32_t> order, const std::byte* from, std::byte* to, bool past_caches) {
  constexpr std::ptrdiff_t at_once = 64;  // whole cache lines, whatever the width
  const auto count = static_cast<std::ptrdiff_t>(order.size());
#pragma omp parallel
  {
    alignas(64) std::byte here[at_once * W];
#pragma omp for schedule(static)
    for (std::ptrdiff_t begin = 0; begin < count; begin += at_once) {
      const std::ptrdiff_t rows = std::min(at_once, count - begin), next = std::min(at_once, count - begin - rows);
      const bool past = past_caches && rows == at_once;
      std::byte* const collected = past ? here : to + begin * W;
      if (past)
        for (const std::uint32_t r : order.subspan(begin + rows, next)) {
          __builtin_prefetch(from + r * W);
          __builtin_prefetch(from + r * W + W - 1);
        }
      for (std::ptrdiff_t k = 0; k < rows; ++k) std::memcpy(collected + k * W, from + order[begin + k] * W, W);
      if (past) write_past_caches(here, to + begin * W, sizeof(here));
    }
    end_of_writes();
  }
}

void pick_rows(std::span<const std::uint32_t> order, std::size_t row_bytes, const std::byte* from, std::byte* to,
               bool past_caches) {
  switch (row_bytes) {  // known widths copy several times faster
    case sizeof(std::int32_t):
      return pick_rows<sizeof(std::int32_t)>(order, from, to, past_caches);
    case sizeof(Real):
      return pick_rows<sizeof(Real)>(order, from, to, past_caches);
    case sizeof(Vec3):
      return pick_rows<sizeof(Vec3)>(order, from, to, past_caches);
    case sizeof(Symmetric3<Real>):
      return pick_rows<sizeof(Symmetric3<Real>)>(order, from, to, past_caches);
    default:
      WEFT_ENSURE(row_bytes == sizeof(Mat3));
      return pick_rows<sizeof(Mat3)>(order, from, to, past_caches);
  }
}

}  // namespace

void Table::reorder(std::span<const std::uint32_t> order, std::initializer_list<std::string_view> overwritten) {
  WEFT_ASSUME(std::all_of(order.begin(), order.end(), [this](std::uint32_t r) { return r < rows_; }));
  std::vector<Column*> by_width;
  std::size_t row_bytes = 0;
  for (Column& column : columns_) {
    if (std::find(overwritten.begin(), overwritten.end(), column.label.name) != overwritten.end()) {
      column.bytes.renew(order.size() * column.row_bytes);
    } else {
      by_width.push_back(&column);
      row_bytes += column.row_bytes;
    }
  }
  const bool past_caches = order.size() * row_bytes > most_in_caches;
  // Each column moves to the memory that the one before left. From the widest on, all then stand in memory that is wide
  // enough for the one before, and next time go back from the narrowest on.
  std::stable_sort(by_width.begin(), by_width.end(),
                   [](const Column* a, const Column* b) { return a->row_bytes > b->row_bytes; });
  if (spare_is_narrow_) std::reverse(by_width.begin(), by_width.end());
  for (Column* column : by_width) {
    spare_.renew(order.size() * column->row_bytes);
    pick_rows(order, column->row_bytes, column->bytes.data(), spare_.data(), past_caches);
    std::swap(column->bytes, spare_);
  }
  spare_is_narrow_ = !spare_is_narrow_;
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
