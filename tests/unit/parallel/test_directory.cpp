// Sending values, and a directory that nobody has all of.

#include "weft/parallel/directory.hpp"
#include "weft/parallel/send.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace weft {
namespace {

TEST(SendTest, BringsEachValueToItsRankInTheOrderOfSources) {
  const Comm comm = Comm::world();
  struct Letter {
    std::int64_t from, number;
  };
  std::vector<Letter> letters;
  std::vector<int> to;
  for (int k = 0; k < 3 * comm.size(); ++k) {
    letters.push_back({comm.rank(), k});
    to.push_back((k * 5 + comm.rank()) % comm.size());
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> expected, arrived;
  for (int from = 0; from < comm.size(); ++from)
    for (int k = 0; k < 3 * comm.size(); ++k)
      if ((k * 5 + from) % comm.size() == comm.rank()) expected.emplace_back(from, k);
  for (const auto& [from, number] : send(comm, letters, to)) arrived.emplace_back(from, number);
  EXPECT_EQ(arrived, expected);
}

TEST(RunsTest, HoldEveryNumberOnce) {
  for (const std::int64_t count : {1, 5, 7, 100})
    for (const int ranks : {1, 2, 3, 7, 12}) {
      const Runs runs{count, ranks};
      EXPECT_EQ(runs.begin(0), 0);
      EXPECT_EQ(runs.end(ranks - 1), count);
      for (std::int64_t n = 0; n < count; ++n) {
        const int rank = runs.rank_of(n);
        EXPECT_LE(runs.begin(rank), n);
        EXPECT_GT(runs.end(rank), n);
      }
    }
}

TEST(DirectoryTest, KnowsTheLeastThatWasTold) {
  const Comm comm = Comm::world();
  const std::int64_t count = 50;
  // Rank r needs the numbers that r + 1 divides.
  const auto needs = [](int rank, std::int64_t n) { return n > 0 && n % (rank + 1) == 0; };
  std::vector<std::int64_t> needed, all(count);
  std::iota(all.begin(), all.end(), 0);
  for (const std::int64_t n : all)
    if (needs(comm.rank(), n)) needed.push_back(n);
  Directory directory(comm, count);
  EXPECT_EQ(directory.known(), 0);
  directory.tell(needed, 10 + comm.rank());
  EXPECT_EQ(directory.known(), count - 1);
  const std::vector<std::int32_t> told = directory.ask(all);
  EXPECT_EQ(told[0], Directory::unknown);
  for (std::int64_t n = 1; n < count; ++n) EXPECT_EQ(told[static_cast<std::size_t>(n)], 10);
  directory.tell(needed, 3 + comm.rank() % 2);
  EXPECT_EQ(directory.ask(std::vector<std::int64_t>{7, 7}), (std::vector<std::int32_t>{3, 3}));
}

}  // namespace
}  // namespace weft
