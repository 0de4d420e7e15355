// Memory of large arrays: where it begins, and that all of it is there.

#include "weft/base/memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

namespace weft {
namespace {

std::uintptr_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

TEST(MemoryTest, BeginsWithALineOrALargePageAndIsAllThere) {
  constexpr std::size_t page = 2 << 20;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, std::size_t{1000}, page - 1, page, 3 * page + 5}) {
    const Lines lines(allocate_lines(bytes));
    EXPECT_EQ(address_of(lines.get()) % (bytes < page ? 64 : page), 0U) << bytes;
    std::memset(lines.get(), 7, bytes);
    EXPECT_EQ(lines[bytes - 1], std::byte{7});
  }
}

TEST(MemoryTest, WhatNoSystemHasIsRefused) {
  volatile std::size_t bytes = std::numeric_limits<std::size_t>::max() / 2;
  EXPECT_THROW(allocate_lines(bytes), std::bad_alloc);
}

TEST(MemoryTest, VectorsGrowInIt) {
  std::vector<double, LinesAllocator<double>> numbers;
  for (int n = 0; n < 300000; ++n) numbers.push_back(n);
  EXPECT_EQ(address_of(numbers.data()) % 64, 0U);
  for (int n = 0; n < 300000; ++n) ASSERT_EQ(numbers[n], n);
}

}  // namespace
}  // namespace weft
