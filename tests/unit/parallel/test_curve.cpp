// The Hilbert curve by its defining properties, and cuts against a serial walk along all work.

#include "weft/parallel/curve.hpp"

#include "weft/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace weft {
namespace {

constexpr BlockKey curve_length = BlockKey{1} << 63;

Vec3i random_block(Random& random, std::int32_t reach) {
  const Vec3 unit = random.uniform3();
  return ((2 * unit.array() - 1) * (reach + 0.999)).cast<std::int32_t>();
}

// --- The curve ------------------------------------------------------------------------------------------------------

TEST(CurveTest, BlockOfUndoesKeyOf) {
  Random random(1, 0, 0);
  for (const std::int32_t reach : {1, 10, 1000, max_block_coordinate})
    for (int n = 0; n < 2000; ++n) {
      const Vec3i block = random_block(random, reach);
      const BlockKey key = key_of(block);
      EXPECT_LT(key, curve_length);
      EXPECT_EQ(block_of(key), block);
    }
  for (const std::int32_t x : {-max_block_coordinate, 0, max_block_coordinate})
    for (const std::int32_t y : {-max_block_coordinate, 0, max_block_coordinate})
      for (const std::int32_t z : {-max_block_coordinate, 0, max_block_coordinate}) {
        const Vec3i corner(x, y, z);
        EXPECT_EQ(block_of(key_of(corner)), corner);
      }
}

TEST(CurveTest, StartsInOneCornerAndEndsInANeighbouringOne) {
  constexpr std::int32_t length = (1 << 21) - 1;
  const Vec3i first = block_of(0), last = block_of(curve_length - 1);
  for (int axis = 0; axis < 3; ++axis) {
    EXPECT_EQ(first[axis], first[0]);
    EXPECT_LE(first[axis], -max_block_coordinate);
    EXPECT_GE(first[axis] + length, max_block_coordinate);
  }
  EXPECT_EQ((last - first).cwiseAbs().sum(), length);  // differs along one axis, by its full length
}

TEST(CurveTest, ConsecutiveKeysAreFaceNeighbours) {
  const auto expect_step = [](BlockKey key) {
    EXPECT_EQ((block_of(key + 1) - block_of(key)).cwiseAbs().sum(), 1) << "after key " << key;
  };
  Random random(2, 0, 0);
  for (int n = 0; n < 5000; ++n)
    expect_step(static_cast<BlockKey>(random.uniform() * 0x1p53) << 10 | static_cast<BlockKey>(n % 1024));
  for (int level = 0; level < 63; ++level) expect_step((BlockKey{1} << level) - 1);  // where whole octants meet
  for (BlockKey key = 0; key < 4096; ++key) expect_step(key);
}

TEST(CurveTest, EveryAlignedCubeIsOneStretchOfTheCurve) {
  const Vec3i first = block_of(0);
  for (const Vec3i& cube : {Vec3i(0, 0, 0), Vec3i(-1, 2, 125), Vec3i(-100, -1, 1)}) {
    // Cubes are aligned to where the curve begins.
    Vec3i corner;
    for (int axis = 0; axis < 3; ++axis) corner[axis] = (first[axis] & 7) + 8 * cube[axis];
    std::vector<BlockKey> keys;
    for (int i = 0; i < 512; ++i) keys.push_back(key_of(corner + Vec3i(i % 8, i / 8 % 8, i / 64)));
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(keys.front() % 512, 0U);
    for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(keys[i], keys.front() + i);
  }
}

TEST(CurveTest, BlocksAroundTheOriginFollowOneAnother) {
  for (int i = 0; i < 512; ++i)
    EXPECT_EQ(key_of(Vec3i(i % 8, i / 8 % 8, i / 64) - Vec3i::Constant(4)) / 512, key_of(Vec3i::Zero()) / 512);
}

// --- Cuts -----------------------------------------------------------------------------------------------------------

bool same_everywhere(const Comm& comm, const Cuts& cuts) {
  std::string text;
  for (const BlockKey cut : cuts.at) text += std::to_string(cut) + " ";
  return !comm.any(comm.broadcast(text) != text);
}

std::vector<std::int64_t> work_of_ranks(const Comm& comm, const Cuts& cuts, std::span<const BlockWork> all) {
  std::vector<std::int64_t> sums(comm.size(), 0);
  for (const BlockWork& block : all) sums[cuts.owner(block.key)] += block.work;
  return sums;
}

/// The entries of a list (known to all) that `holder` gives to this rank.
template <class Holder>
std::vector<BlockWork> mine(const Comm& comm, std::span<const BlockWork> all, Holder holder) {
  std::vector<BlockWork> own;
  for (std::size_t n = 0; n < all.size(); ++n)
    if (holder(n) % comm.size() == comm.rank()) own.push_back(all[n]);
  return own;
}

/// Blocks of a ball with works from 1 to 10^4, most of them small.
std::vector<BlockWork> uneven_work(int blocks, std::uint32_t seed) {
  std::map<BlockKey, std::int64_t> work;
  Random random(seed, 0, 0);
  while (static_cast<int>(work.size()) < blocks)
    work[key_of(random_block(random, 20))] = static_cast<std::int64_t>(std::pow(10.0, 4 * random.uniform()));
  std::vector<BlockWork> all;
  for (const auto& [key, amount] : work) all.push_back({key, amount});
  return all;
}

TEST(CutsTest, OwnerIsTheRankWhoseRangeHoldsTheKey) {
  const Cuts cuts{{10, 20, 20, 30}};
  EXPECT_EQ(cuts.owner(0), 0);
  EXPECT_EQ(cuts.owner(9), 0);
  EXPECT_EQ(cuts.owner(10), 1);
  EXPECT_EQ(cuts.owner(19), 1);
  EXPECT_EQ(cuts.owner(20), 3);  // rank 2 owns nothing
  EXPECT_EQ(cuts.owner(29), 3);
  EXPECT_EQ(cuts.owner(30), 4);
  EXPECT_EQ(Cuts{}.owner(7), 0);
}

TEST(CutsTest, EqualBlocksAreDealtEvenly) {
  const Comm comm = Comm::world();
  std::vector<BlockWork> all;
  for (int n = 0; n < 12 * comm.size(); ++n) all.push_back({static_cast<BlockKey>(1000 * n + 7), 5});
  const Cuts cuts = balanced_cuts(comm, mine(comm, all, [](std::size_t n) { return static_cast<int>(n); }));
  ASSERT_EQ(cuts.at.size(), static_cast<std::size_t>(comm.size() - 1));
  for (const std::int64_t work : work_of_ranks(comm, cuts, all)) EXPECT_EQ(work, 60);
}

TEST(CutsTest, UnevenWorkIsSharedWithinOneBlockOfTheMean) {
  const Comm comm = Comm::world();
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    const std::vector<BlockWork> all = uneven_work(500, seed);
    std::int64_t total = 0, heaviest = 0;
    for (const BlockWork& block : all) {
      total += block.work;
      heaviest = std::max(heaviest, block.work);
    }
    const Cuts cuts = balanced_cuts(comm, mine(comm, all, [](std::size_t n) { return static_cast<int>(n / 7); }));
    EXPECT_TRUE(std::is_sorted(cuts.at.begin(), cuts.at.end()));
    // Each of a rank's two cuts is off its share by half a block at most, and shares are rounded down to integers.
    const Real mean = static_cast<Real>(total) / comm.size();
    for (const std::int64_t work : work_of_ranks(comm, cuts, all))
      EXPECT_LE(std::abs(static_cast<Real>(work) - mean), static_cast<Real>(heaviest) + 1.0);
  }
}

TEST(CutsTest, AgreeWithASerialWalkAlongTheCurve) {
  const Comm comm = Comm::world();
  const std::int64_t P = comm.size();
  for (std::uint32_t seed = 10; seed < 20; ++seed) {
    const std::vector<BlockWork> all = uneven_work(3 * static_cast<int>(P) + static_cast<int>(seed), seed);
    std::int64_t total = 0;
    for (const BlockWork& block : all) total += block.work;
    const Cuts cuts = balanced_cuts(comm, mine(comm, all, [](std::size_t n) { return static_cast<int>(n); }));

    // A block belongs to the first rank whose share ends nearer to the block's end than to its begin, or behind it.
    std::int64_t before = 0;
    for (const BlockWork& block : all) {
      const std::int64_t after = before + block.work;
      int owner = 0;
      for (std::int64_t r = 1; r < P; ++r) {
        const std::int64_t share = std::max<std::int64_t>(r * total / P, 1);
        if (share <= before || (share < after && share - before < after - share)) owner = static_cast<int>(r);
      }
      EXPECT_EQ(cuts.owner(block.key), owner) << "seed " << seed << ", key " << block.key;
      before = after;
    }
  }
}

TEST(CutsTest, DependOnTheWorkAloneNotOnWhoHoldsIt) {
  const Comm comm = Comm::world();
  const std::vector<BlockWork> all = uneven_work(400, 77);
  const Cuts dealt = balanced_cuts(comm, mine(comm, all, [](std::size_t n) { return static_cast<int>(n); }));
  EXPECT_TRUE(same_everywhere(comm, dealt));

  const Cuts on_the_last_rank = balanced_cuts(comm, mine(comm, all, [&](std::size_t) { return comm.size() - 1; }));
  EXPECT_EQ(on_the_last_rank, dealt);

  // Each block's work in pieces on all ranks, in reverse order, with entries of no work.
  std::vector<BlockWork> pieces;
  for (auto block = all.rbegin(); block != all.rend(); ++block) {
    const std::int64_t piece = block->work / comm.size();
    pieces.push_back({block->key, piece});
    pieces.push_back({block->key, comm.is_root() ? block->work - piece * comm.size() : 0});
  }
  EXPECT_EQ(balanced_cuts(comm, pieces), dealt);
}

TEST(CutsTest, WithoutWorkRankZeroOwnsEverything) {
  const Comm comm = Comm::world();
  for (const Cuts& cuts : {balanced_cuts(comm, {}), balanced_cuts(comm, std::vector<BlockWork>{{5, 0}})}) {
    ASSERT_EQ(cuts.at.size(), static_cast<std::size_t>(comm.size() - 1));
    EXPECT_EQ(cuts.owner(0), 0);
    EXPECT_EQ(cuts.owner(curve_length - 1), 0);
  }
}

TEST(CutsTest, FewerBlocksThanRanksLeaveSomeRanksEmpty) {
  const Comm comm = Comm::world();
  for (int blocks = 1; blocks < comm.size(); ++blocks) {
    std::vector<BlockWork> all;
    for (int n = 0; n < blocks; ++n) all.push_back({key_of({n, 0, 0}), 1000});
    const Cuts cuts = balanced_cuts(comm, mine(comm, all, [](std::size_t n) { return static_cast<int>(n); }));
    for (const std::int64_t work : work_of_ranks(comm, cuts, all)) EXPECT_LE(work, 1000);  // never two on one rank
    EXPECT_TRUE(same_everywhere(comm, cuts));
  }
}

TEST(CutsTest, LessWorkThanRanksStillHasOwners) {
  const Comm comm = Comm::world();
  const std::vector<BlockWork> all{{3, 1}, {4, 0}, {9, 1}};
  const Cuts cuts = balanced_cuts(comm, mine(comm, all, [](std::size_t n) { return static_cast<int>(n); }));
  EXPECT_TRUE(same_everywhere(comm, cuts));
  for (const std::int64_t work : work_of_ranks(comm, cuts, all)) EXPECT_LE(work, comm.size() == 1 ? 2 : 1);
}

TEST(CutsTest, HugeWorkDoesNotOverflow) {
  const Comm comm = Comm::world();
  const std::int64_t huge = (std::int64_t{3} << 59) / comm.size();  // all: 3/4 of the largest number; twice: too much
  std::vector<BlockWork> all;
  for (int n = 0; n < 4 * comm.size(); ++n) all.push_back({static_cast<BlockKey>(n) << 55, huge});
  const Cuts cuts = balanced_cuts(comm, mine(comm, all, [](std::size_t n) { return static_cast<int>(n); }));
  for (const std::int64_t work : work_of_ranks(comm, cuts, all)) EXPECT_EQ(work, 4 * huge);
}

TEST(CutsTest, ImbalanceIsTheLargestShareOverTheMean) {
  const Comm comm = Comm::world();
  EXPECT_EQ(imbalance(comm, 10), 1.0);
  EXPECT_EQ(imbalance(comm, 0), 1.0);
  EXPECT_EQ(imbalance(comm, comm.is_root() ? 42 : 0), static_cast<Real>(comm.size()));
}

}  // namespace
}  // namespace weft
