#include "weft/math/pack_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace weft::test {
namespace {

constexpr std::size_t table_rows = 40;

template <class Value>
class PackRowsTest : public testing::Test {
 public:
  static constexpr int width = sizeof(Value) / sizeof(Real);

  static const Real* numbers(const Value& value) { return reinterpret_cast<const Real*>(&value); }
  /// A column in which all numbers differ.
  static std::vector<Value> column(Real first) {
    std::vector<Value> values(table_rows);
    Real next = first;
    for (Value& value : values)
      for (int c = 0; c < width; ++c) reinterpret_cast<Real*>(&value)[c] = next++;
    return values;
  }
};
using Values = testing::Types<Real, Vec3, Mat3, Symmetric3<Real>>;
TYPED_TEST_SUITE(PackRowsTest, Values);

/// Rows one after another, with a gap, backwards, with the first of them out of place, and all of them one.
std::vector<std::vector<std::uint32_t>> rows_of_all_kinds() {
  std::vector<std::uint32_t> following(20);
  std::iota(following.begin(), following.end(), 7u);
  std::vector<std::vector<std::uint32_t>> all(5, following);
  for (std::size_t k = 3; k < following.size(); ++k) ++all[1][k];
  std::reverse(all[2].begin(), all[2].end());
  std::swap(all[3].front(), all[3].back());
  std::fill(all[4].begin(), all[4].end(), 11u);
  return all;
}

TYPED_TEST(PackRowsTest, LanesHoldTheirRowsAndIdleOnesRepeatTheLast) {
  const std::vector<TypeParam> column = this->column(1);
  for (const auto& rows : rows_of_all_kinds())
    for (std::size_t first = 0; first < rows.size(); ++first) {
      const auto packs = load(std::span(column), PackRows::of(rows, first));
      const auto* pack = reinterpret_cast<const Pack*>(&packs);
      for (std::size_t lane = 0; lane < Pack::size; ++lane) {
        const std::uint32_t row = rows[std::min(first + lane, rows.size() - 1)];
        for (int c = 0; c < this->width; ++c)
          EXPECT_EQ(pack[c][static_cast<int>(lane)], this->numbers(column[row])[c]) << row << ' ' << c;
      }
    }
}

TYPED_TEST(PackRowsTest, StoringWritesTheRowsOfLanesThatAreNotIdleAndNoOthers) {
  const std::vector<TypeParam> from = this->column(1), before = this->column(1e6);
  for (const auto& rows : rows_of_all_kinds())
    for (std::size_t first = 0; first < rows.size(); ++first) {
      std::vector<TypeParam> to = before, expected = before;
      const PackRows some = PackRows::of(rows, first);
      store(load(std::span(from), some), some, std::span(to));
      for (std::size_t k = first; k < std::min(first + Pack::size, rows.size()); ++k) expected[rows[k]] = from[rows[k]];
      EXPECT_EQ(to, expected) << first;
    }
}

TEST(PackRowsRangeTest, StopsAtItsEnd) {
  const PackRows rows = PackRows::range(5, 6);
  EXPECT_EQ(rows.count, 1);
  EXPECT_FALSE(rows.follow);
  for (const std::uint32_t row : rows.row) EXPECT_EQ(row, 5u);
  EXPECT_TRUE(PackRows::range(5, 5 + Pack::size).follow);
}

}  // namespace
}  // namespace weft::test
