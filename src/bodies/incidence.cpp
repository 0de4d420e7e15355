// Corners sorted by row.

#include "weft/bodies/incidence.hpp"

#include "weft/base/check.hpp"

namespace weft {

Incidence::Incidence(std::span<const std::int32_t> rows_of_corners, std::size_t rows) : first_(rows + 1, 0) {
  for (const std::int32_t row : rows_of_corners) {
    WEFT_ENSURE(row < static_cast<std::int64_t>(rows));
    if (row >= 0) ++first_[row + 1];
  }
  for (std::size_t row = 0; row < rows; ++row) first_[row + 1] += first_[row];
  corners_.resize(static_cast<std::size_t>(first_.back()));
  std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t c = 0; c < rows_of_corners.size(); ++c)
    if (rows_of_corners[c] >= 0) corners_[next[rows_of_corners[c]]++] = static_cast<std::int32_t>(c);
}

}  // namespace weft
