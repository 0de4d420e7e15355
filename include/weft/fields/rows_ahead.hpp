#pragma once
// Rows of a table, asked for before they are needed.

#include "weft/fields/table.hpp"

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

  RowsAhead() = default;  ///< Of no columns.
  /// Of the vectors and matrices that are the state of points, if they are more than `near_enough`; single numbers lie
  /// so close that machines serve them well. Holds until the table changes.
  explicit RowsAhead(Table& points);

  /// An address in each line of memory on which these rows lie, the last of a column perhaps left out, and so are those
  /// for which there is no room; what is left of the room repeats one. False if there are no columns.
  bool find(std::size_t first, std::size_t rows, std::span<const std::byte*> lines) const;

 private:
  struct Column {
    const std::byte* data;
    std::size_t row_bytes;
  };
  std::vector<Column> columns_;
};

}  // namespace weft
