#pragma once
// A sparse matrix of 3x3 blocks that is built by adding to its blocks.

#include "weft/base/types.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace weft {

/// Each row has its blocks sorted by column; a block is there once it was asked for.
class BlockRows {
 public:
  using Block = Eigen::Matrix<Real, 3, 3, Eigen::RowMajor>;

  /// This many rows without blocks; keeps the memory.
  void reset(std::size_t rows) {
    rows_.resize(rows);
    for (Row& row : rows_) {
      row.columns.clear();
      row.blocks.clear();
    }
  }
  /// All blocks stay, as zeros.
  void set_zero() {
    for (Row& row : rows_) std::fill(row.blocks.begin(), row.blocks.end(), Block::Zero());
  }

  std::size_t rows() const { return rows_.size(); }
  /// Of all rows.
  std::size_t count_of_blocks() const {
    return std::accumulate(rows_.begin(), rows_.end(), std::size_t{0},
                           [](std::size_t sum, const Row& row) { return sum + row.blocks.size(); });
  }
  Block& at(std::size_t row, std::int32_t column) {
    auto& [columns, blocks] = rows_[row];
    const auto found = std::lower_bound(columns.begin(), columns.end(), column);
    const auto k = found - columns.begin();
    if (found == columns.end() || *found != column) {
      columns.insert(found, column);
      blocks.insert(blocks.begin() + k, Block::Zero());
    }
    return blocks[static_cast<std::size_t>(k)];
  }
  std::span<const std::int32_t> columns(std::size_t row) const { return rows_[row].columns; }
  std::span<const Block> blocks(std::size_t row) const { return rows_[row].blocks; }

 private:
  struct Row {
    std::vector<std::int32_t> columns;
    std::vector<Block> blocks;
  };
  std::vector<Row> rows_;
};

}  // namespace weft
