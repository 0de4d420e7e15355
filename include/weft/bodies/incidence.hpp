#pragma once
// Which corners of elements meet in each row: sums over elements that need no atomics and do not depend on threads.

#include "weft/base/types.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Corners of elements, listed element after element, sorted by the row of points that they are.
class Incidence {
 public:
  Incidence() = default;
  /// rows_of_corners[c]: row of corner c in [0, rows), or -1 for none.
  Incidence(std::span<const std::int32_t> rows_of_corners, std::size_t rows);

  /// Corners at a row, ascending.
  std::span<const std::int32_t> at(std::size_t row) const {
    return {corners_.data() + first_[row], static_cast<std::size_t>(first_[row + 1] - first_[row])};
  }
  std::size_t rows() const { return first_.size() - 1; }
  std::size_t bytes() const {
    return first_.capacity() * sizeof(std::int64_t) + corners_.capacity() * sizeof(std::int32_t);
  }

  /// sum[row] += the sum of part(corner) over its corners, in ascending order whatever the number of threads.
  template <class Value, class Part>
  void add(std::span<Value> sum, Part&& part) const {
#pragma omp parallel for schedule(static)
    for (std::size_t row = 0; row < rows(); ++row)
      for (const std::int32_t corner : at(row)) sum[row] += part(corner);
  }

 private:
  std::vector<std::int64_t> first_ = {0};
  std::vector<std::int32_t> corners_;
};

}  // namespace weft
