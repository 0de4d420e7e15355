#pragma once
// Rows of a table, asked for before they are needed.

#include "weft/fields/table.hpp"

#include <initializer_list>
#include <span>
#include <vector>

namespace weft {

/// Where rows of points lie, so that memory can bring them while others are worked on. Machines look ahead along each
/// column by themselves, but not far and not beyond a page: a loop that turns from one phase of a chunk to the next
/// finds its first lines missing each time.
class RowsAhead {
 public:
  /// What the second cache of a core holds [byte]: to look ahead in it costs more than it gains.
  static constexpr std::size_t near_enough = 2 << 20;

  struct Column {
    const std::byte* data;
    std::size_t row_bytes;
  };

  RowsAhead() = default;  ///< Of no columns.
  /// Of the vectors and matrices that are the state of points, if they are more than `near_enough`; single numbers lie
  /// so close that machines serve them well. Holds until the table changes.
  explicit RowsAhead(Table& points);
  /// Of these vectors.
  explicit RowsAhead(std::initializer_list<std::span<const Vec3>> vectors);

  std::span<const Column> columns() const { return columns_; }

 private:
  void add(const std::byte* data, std::size_t row_bytes, std::size_t rows);
  void forget_near();

  std::vector<Column> columns_;
  std::size_t bytes_ = 0;
};

/// The lines of memory on which some rows lie, column by column; the last line of a column perhaps left out.
class LinesAhead {
 public:
  LinesAhead() = default;  ///< No lines.
  LinesAhead(std::span<const RowsAhead::Column> columns, std::size_t first, std::size_t rows)
      : columns_(columns), first_(first), rows_(rows) {
    begin_column();
  }

  /// An address in the next line; null after the last.
  [[gnu::always_inline]] const std::byte* next() {
    const std::byte* const line = at_;
    if (line == nullptr) return line;
    at_ += line_bytes;
    if (at_ >= end_) begin_column();
    return line;
  }
  /// Has memory bring the next line, if there is one. Changes no number.
  [[gnu::always_inline]] void fetch() {
    if (const std::byte* const line = next()) __builtin_prefetch(line);
  }

 private:
  void begin_column() {
    at_ = nullptr;
    if (columns_.empty()) return;
    const auto [data, row_bytes] = columns_.front();
    columns_ = columns_.subspan(1);
    at_ = data + first_ * row_bytes;
    end_ = at_ + rows_ * row_bytes;
  }

  std::span<const RowsAhead::Column> columns_;  ///< Those after the one that is walked.
  std::size_t first_ = 0, rows_ = 0;
  const std::byte *at_ = nullptr, *end_ = nullptr;
};

}  // namespace weft
