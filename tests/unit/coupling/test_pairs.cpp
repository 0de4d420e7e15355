// Pairs of boxes: spheres that touch, and random segments against brute force, on any ranks.

#include "weft/coupling/pairs.hpp"

#include <gtest/gtest.h>

#include "weft/base/random.hpp"
#include "weft/parallel/directory.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace weft {
namespace {

using PairsById = std::set<std::pair<std::int64_t, std::int64_t>>;

/// Those of some boxes that a rank has: every so many-th one, so that neighbours are on different ranks; or a run.
struct Share {
  std::vector<Box> boxes;
  std::vector<std::int64_t> ids;

  Share(const Comm& comm, const std::vector<Box>& all, bool in_runs) {
    const Runs runs{static_cast<std::int64_t>(all.size()), comm.size()};
    for (std::size_t b = 0; b < all.size(); ++b) {
      const auto id = static_cast<std::int64_t>(b);
      if ((in_runs ? runs.rank_of(id) : static_cast<int>(id) % comm.size()) != comm.rank()) continue;
      boxes.push_back(all[b]);
      ids.push_back(id);
    }
  }
};

bool overlap(const Box& a, const Box& b) {
  return (a.lower.array() <= b.upper.array()).all() && (b.lower.array() <= a.upper.array()).all();
}

/// The pairs of a rank by brute force: all that one of its boxes is in, along x with those alone that it reaches.
PairsById by_brute_force(const Share& share, const std::vector<Box>& all) {
  const auto lower = [&](std::size_t b) { return all[b].lower.x(); };
  std::vector<std::size_t> along_x(all.size());
  std::iota(along_x.begin(), along_x.end(), std::size_t{0});
  std::ranges::sort(along_x, {}, lower);
  Real widest = 0;
  for (const Box& box : all) widest = std::max(widest, box.upper.x() - box.lower.x());
  PairsById pairs;
  for (std::size_t k = 0; k < share.boxes.size(); ++k) {
    const Box& box = share.boxes[k];
    for (auto b = std::ranges::lower_bound(along_x, box.lower.x() - widest, {}, lower);
         b != along_x.end() && lower(*b) <= box.upper.x(); ++b)
      if (const auto other = static_cast<std::int64_t>(*b); share.ids[k] != other && overlap(box, all[*b]))
        pairs.insert(std::minmax(share.ids[k], other));
  }
  return pairs;
}

void expect_same_as_brute_force(const std::vector<Box>& all) {
  const Comm comm = Comm::world();
  for (const bool in_runs : {true, false}) {
    const Share share(comm, all, in_runs);
    const BoxPairs found = find_pairs(comm, share.boxes, share.ids);
    PairsById pairs;
    std::pair<std::int64_t, std::int64_t> before{-1, -1};
    for (const auto& [a, b] : found.pairs) {
      const std::pair pair{found.ids[static_cast<std::size_t>(a)], found.ids[static_cast<std::size_t>(b)]};
      EXPECT_LT(before, pair);
      EXPECT_LT(pair.first, pair.second);
      before = pair;
      pairs.insert(pair);
    }
    EXPECT_EQ(pairs, by_brute_force(share, all));
    // Ghosts are copies of what has their id.
    std::vector<Real> id(found.ids.size(), -1);
    for (std::size_t r = 0; r < share.ids.size(); ++r) id[r] = static_cast<Real>(share.ids[r]);
    found.forest.update_ghosts(
        ColumnView{{}, {ScalarKind::real, 1, 1}, sizeof(Real), id.size(), reinterpret_cast<std::byte*>(id.data())});
    for (std::size_t r = 0; r < id.size(); ++r) EXPECT_EQ(id[r], static_cast<Real>(found.ids[r]));
  }
}

Box box_around(const Vec3& a, const Vec3& b, Real pad) {
  Box box;
  for (const Vec3& x : {a, b}) {
    box.include(x + Vec3::Constant(pad));
    box.include(x - Vec3::Constant(pad));
  }
  return box;
}

/// Segments of up to a length in a cube.
std::vector<Box> random_segments(std::size_t count, Real length, std::uint32_t seed) {
  std::vector<Box> boxes;
  for (std::size_t k = 0; k < count; ++k) {
    Random random(seed, 0, k);
    const Vec3 a = random.uniform3() - Vec3::Constant(0.4), b = a + length * (random.uniform3() - Vec3::Constant(0.5));
    boxes.push_back(box_around(a, b, 0.05 * length));
  }
  return boxes;
}

TEST(PairsTest, SpheresInARowMeetTheirNeighbours) {
  std::vector<Box> spheres;
  for (int k = 0; k < 20; ++k) spheres.push_back(box_around({1.9 * k, 0, 0}, {1.9 * k, 0, 0}, 1));
  const Comm comm = Comm::world();
  const Share share(comm, spheres, true);
  const BoxPairs found = find_pairs(comm, share.boxes, share.ids);
  std::int64_t counted = 0;  // each at the rank of its first
  for (const auto& [a, b] : found.pairs) {
    EXPECT_EQ(found.ids[static_cast<std::size_t>(b)], found.ids[static_cast<std::size_t>(a)] + 1);
    if (static_cast<std::size_t>(a) < share.ids.size()) ++counted;
  }
  EXPECT_EQ(comm.sum(counted), 19);
}

TEST(PairsTest, SegmentsThatCrossWherePadsMeetAreFound) {
  // By their end points these two share no cell of a unit grid (METHODS of Han 2020, 4.2.4).
  expect_same_as_brute_force(
      {box_around({0.7, 0.7, 0}, {1.3, 1.3, 0}, 0.01), box_around({1.3, 0.7, 0}, {0.7, 1.3, 0}, 0.01)});
}

TEST(PairsTest, PairsOfRandomSegmentsAreThoseOfBruteForce) {
  for (const std::uint32_t seed : {1u, 2u, 3u}) expect_same_as_brute_force(random_segments(1500, 0.1, seed));
}

TEST(PairsTest, EmptyRanksPointsAndFarPlacesAreNoTrouble) {
  expect_same_as_brute_force({});
  expect_same_as_brute_force({box_around({1, 1, 1}, {1, 1, 1}, 0), box_around({1, 1, 1}, {1, 1, 1}, 0)});
  std::vector<Box> far = random_segments(50, 0.1, 4);
  far.push_back(box_around({1e12, -1e12, 3}, {1e12, -1e12, 3}, 0.1));
  far.push_back(far.back());
  far.push_back(box_around({2e12, -1e12, 3}, {2e12, -1e12, 3}, 0.1));
  expect_same_as_brute_force(far);
}

TEST(PairsTest, AHundredThousandRandomSegmentsHaveThePairsOfBruteForce) {
  expect_same_as_brute_force(random_segments(100000, 0.03, 5));
}

}  // namespace
}  // namespace weft
