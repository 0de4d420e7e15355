#pragma once
// Numbers dealt out in runs.

#include <cstdint>

namespace weft {

/// `count` numbers from 0, dealt out in runs that are as equal as can be.
struct Runs {
  std::int64_t count;
  int ranks;

  std::int64_t begin(int rank) const { return count * rank / ranks; }
  std::int64_t end(int rank) const { return begin(rank + 1); }
  /// The rank whose run holds a number.
  int rank_of(std::int64_t number) const { return static_cast<int>(((number + 1) * ranks - 1) / count); }
};

}  // namespace weft
