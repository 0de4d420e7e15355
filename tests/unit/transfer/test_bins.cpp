// Bins: every point once, in the block that it is at home in, in an order that depends on the points alone.

#include "unit/transfer/clouds.hpp"

#include <limits>
#include <set>

namespace weft::test {
namespace {

constexpr std::array kernels{KernelKind::linear, KernelKind::quadratic, KernelKind::cubic};

int nodes_of(KernelKind kernel) { return static_cast<int>(kernel) + 2; }
/// The first node of a kernel. Those of an even number of nodes are centred between nodes, the quadratic one on the
/// nearest node.
Vec3i base_of(KernelKind kernel, const Vec3& x, Real dx) {
  const Vec3 scaled = x * (1 / dx);
  if (kernel == KernelKind::quadratic) return (scaled.array() - 0.5).floor().cast<int>();
  return scaled.array().floor().cast<int>() - (nodes_of(kernel) / 2 - 1);
}
/// Points stand between 1.5 and 5.5 behind the first node of their block when they are binned.
Vec3i home_of(const Vec3& x, Real dx) { return block_of_node((x.array() / dx - 1.5).floor().cast<int>()); }

TEST(BinsTest, EveryPointIsVisitedOnceInItsBlockInTheOrderOfCurveAndId) {
  for (const Real dx : {0.25, 0.1}) {
    const Cloud cloud = random_cloud(3000, dx, 1);
    Bins bins;
    bins.sort(dx, cloud.x, cloud.id);
    std::vector<int> visits(cloud.size(), 0);
    std::uint32_t next = 0;
    BlockKey last_key = 0;
    for (const Bin& bin : bins.bins()) {
      EXPECT_EQ(bin.begin, next);
      EXPECT_LT(bin.begin, bin.end);
      next = bin.end;
      EXPECT_EQ(bin.key, key_of(bin.block));
      EXPECT_TRUE(bin.begin == 0 || last_key < bin.key);
      last_key = bin.key;
      for (std::uint32_t k = bin.begin; k < bin.end; ++k) {
        const std::uint32_t p = bins.order()[k];
        ++visits[p];
        EXPECT_EQ(bin.block, home_of(cloud.x[p], dx)) << cloud.x[p].transpose();
        EXPECT_TRUE(k == bin.begin || cloud.id[bins.order()[k - 1]] < cloud.id[p]);
      }
    }
    EXPECT_EQ(next, cloud.size());
    EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), static_cast<std::ptrdiff_t>(cloud.size()));
  }
}

TEST(BinsTest, KernelsReachNoFurtherThanTheTileWhilePointsDriftByTheMargin) {
  const Real dx = 0.25;
  Cloud cloud = random_cloud(2000, dx, 2);
  Bins bins;
  bins.sort(dx, cloud.x, cloud.id);
  const std::set<BlockKey> touched = [&] {
    const std::vector<BlockKey> keys = touched_blocks({&bins, 1});
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
    EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end()) << "a block is listed twice";
    return std::set(keys.begin(), keys.end());
  }();
  std::set<BlockKey> near;
  int outermost = 0;
  for (const KernelKind kernel : kernels)
    for (int corner = 0; corner < 8; ++corner) {
      const Vec3 away =
          (1 - 1e-9) * drift_margin(kernel) * dx * (2 * octant_offset(corner).cast<Real>() - Vec3::Ones());
      for (const Bin& bin : bins.bins())
        for (std::uint32_t k = bin.begin; k < bin.end; ++k) {
          const Vec3i first = base_of(kernel, cloud.x[bins.order()[k]] + away, dx) - block_width * bin.block;
          const Vec3i last = first + Vec3i::Constant(nodes_of(kernel) - 1);
          EXPECT_GE(first.minCoeff(), 0);
          EXPECT_LT(last.maxCoeff(), 2 * block_width);
          outermost += first.minCoeff() == 0 || last.maxCoeff() == 2 * block_width - 1 ? 1 : 0;
          for (int o = 0; o < 8; ++o) near.insert(key_of(bin.block + octant_offset(o)));
        }
    }
  EXPECT_EQ(touched, near);
  EXPECT_GT(outermost, 1000) << "the margin could be larger";
}

TEST(BinsTest, PointsOfSeveralBodiesTouchTheBlocksOfEach) {
  const Real dx = 0.25;
  std::array<Bins, 2> bins;
  std::set<BlockKey> each;
  for (std::size_t body = 0; body < 2; ++body) {
    const Cloud cloud = random_cloud(3, dx, 2 + 18 * static_cast<std::uint32_t>(body));
    bins[body].sort(dx, cloud.x, cloud.id);
    for (const BlockKey key : touched_blocks({&bins[body], 1})) each.insert(key);
  }
  EXPECT_EQ(touched_blocks(bins), std::vector(each.begin(), each.end()));
}

TEST(BinsTest, PointsThatDriftedStayInTheBinsOfTheirHomes) {
  Cloud cloud = random_cloud(3000, 0.1, 31);
  std::vector<BlockCode> home(cloud.size());
  find_homes(0.1, cloud.x, home);
  Bins bins, again;
  bins.sort(0.1, cloud.x, cloud.id);
  for (std::size_t p = 0; p < cloud.size(); ++p) {
    EXPECT_EQ(block_of_code(home[p]), home_of(cloud.x[p], 0.1));
    EXPECT_EQ(home_block(0.1, cloud.x[p]), key_of(home_of(cloud.x[p], 0.1)));
  }
  again.find(home);
  again.arrange(cloud.id);
  EXPECT_EQ(std::vector(again.order().begin(), again.order().end()),
            std::vector(bins.order().begin(), bins.order().end()));
}

TEST(BinsTest, BinsKnowTheNumbersOfTheBlocksTheyReachUntilOtherBlocksHoldPoints) {
  Ground ground = shared_ground({KernelKind::quadratic, 0.1, 0}, random_cloud(500, 0.1, 3));
  const auto expect_numbers = [&] {
    EXPECT_TRUE(ground.bins.is_numbered());
    for (const Bin& bin : ground.bins.bins())
      for (int o = 0; o < 8; ++o) EXPECT_EQ(bin.numbers[o], ground.map.find(bin.block + octant_offset(o)));
  };
  expect_numbers();
  ground.bins.sort(0.1, ground.own.x, ground.own.id);
  expect_numbers();
  if (ground.own.size() == 0) return;
  ground.own.x[0] += Vec3(100, 0, 0);
  ground.bins.sort(0.1, ground.own.x, ground.own.id);
  EXPECT_FALSE(ground.bins.is_numbered());
}

TEST(BinsTest, TilesOfOneColourOverlapOnlyWithinACube) {
  const Cloud cloud = random_cloud(8000, 0.25, 4);
  const auto expect_apart = [&cloud](Real dx, bool in_cubes) {
    Bins bins;
    bins.sort(dx, cloud.x, cloud.id);
    std::size_t coloured = 0, cubes = 0;
    std::set<BlockKey> seen;
    for (int colour = 0; colour < 8; ++colour) {
      std::set<BlockKey> taken;
      std::size_t points_before = cloud.x.size();
      for (const BinRange cube : bins.of_colour(colour)) {
        ++cubes;
        std::set<BlockKey> touched;
        std::size_t points = 0;
        for (const Bin& bin : bins.of_cube(cube)) {
          ++coloured;
          points += bin.end - bin.begin;
          EXPECT_TRUE(seen.insert(bin.key).second);
          for (int o = 0; o < 8; ++o) touched.insert(key_of(bin.block + octant_offset(o)));
        }
        for (const BlockKey key : touched) EXPECT_TRUE(taken.insert(key).second);
        EXPECT_LE(points, points_before) << "large cubes come first";
        points_before = points;
      }
    }
    EXPECT_EQ(coloured, bins.bins().size());
    if (in_cubes) EXPECT_LT(2 * cubes, bins.bins().size());
    else EXPECT_EQ(cubes, bins.bins().size());
  };
  expect_apart(0.25, false);
  expect_apart(0.08, true);
}

TEST(BinsTest, OrderDependsOnNeitherRowsNorThreads) {
  const Cloud cloud = random_cloud(5000, 0.1, 5);
  std::vector<PointId> first;
  const auto ids_in_order = [&](const Cloud& points) {
    Bins bins;
    bins.sort(0.1, points.x, points.id);
    std::vector<PointId> ids;
    for (const std::uint32_t p : bins.order()) ids.push_back(points.id[p]);
    return ids;
  };
  with_threads([&](int threads) {
    if (threads == 1) first = ids_in_order(cloud);
    EXPECT_EQ(ids_in_order(cloud), first);
    EXPECT_EQ(ids_in_order(cloud.picked(shuffled(cloud.size(), 6))), first);
  });
}

TEST(BinsTest, DisorderDoesNotDependOnThreads) {
  Cloud cloud = random_cloud(5000, 0.1, 21);
  Bins bins;
  bins.sort(0.1, cloud.x, cloud.id);
  cloud = cloud.picked(bins.order());
  MatrixSource source(22);
  for (Vec3& x : cloud.x) x += 0.02 * source.vector();
  Real disorder = -1;
  with_threads([&](int threads) {
    bins.sort(0.1, cloud.x, cloud.id);
    if (threads == 1) disorder = bins.disorder();
    EXPECT_EQ(bins.disorder(), disorder);
  });
  EXPECT_GT(disorder, 0.01);
}

TEST(BinsTest, SortingAgainForgetsTheFormerPoints) {
  Bins bins;
  const Cloud many = random_cloud(2000, 0.1, 7), few = random_cloud(20, 0.1, 8);
  bins.sort(0.1, many.x, many.id);
  bins.sort(0.1, few.x, few.id);
  Bins fresh;
  fresh.sort(0.1, few.x, few.id);
  EXPECT_EQ(std::vector(bins.order().begin(), bins.order().end()),
            std::vector(fresh.order().begin(), fresh.order().end()));
  EXPECT_EQ(bins.bins().size(), fresh.bins().size());
  for (int colour = 0; colour < 8; ++colour) EXPECT_EQ(bins.of_colour(colour).size(), fresh.of_colour(colour).size());
}

TEST(BinsTest, DisorderOfRowsIsSeenAndEndsWhenTheyAreBroughtIntoVisitingOrder) {
  const Cloud cloud = random_cloud(3000, 0.1, 9);
  Bins bins;
  bins.sort(0.1, cloud.x, cloud.id);
  EXPECT_GT(bins.disorder(), 0.5);
  const Cloud ordered = cloud.picked(bins.order());
  bins.rows_were_reordered();
  EXPECT_EQ(bins.disorder(), 0);
  std::vector<std::uint32_t> rows(3000);
  std::iota(rows.begin(), rows.end(), 0u);
  EXPECT_EQ(std::vector(bins.order().begin(), bins.order().end()), rows);
  bins.sort(0.1, ordered.x, ordered.id);
  EXPECT_EQ(bins.disorder(), 0);
  EXPECT_EQ(std::vector(bins.order().begin(), bins.order().end()), rows);
}

TEST(BinsTest, PointsThatWanderFromBlockToBlockKeepTheOrder) {
  Cloud cloud = random_cloud(4000, 0.1, 19);
  Bins bins;
  bins.sort(0.1, cloud.x, cloud.id);
  cloud = cloud.picked(bins.order());
  MatrixSource source(20);
  for (int step = 0; step < 20; ++step) {
    for (Vec3& x : cloud.x) x += 0.03 * source.vector();
    bins.sort(0.1, cloud.x, cloud.id);
    std::pair<BlockKey, PointId> last{};
    std::vector<int> visits(cloud.size(), 0);
    for (const Bin& bin : bins.bins())
      for (std::uint32_t k = bin.begin; k < bin.end; ++k) {
        const std::uint32_t p = bins.order()[k];
        const std::pair here(key_of(home_of(cloud.x[p], 0.1)), cloud.id[p]);
        EXPECT_TRUE((bin.begin == 0 && k == 0) || last < here);
        last = here;
        ++visits[p];
      }
    EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), 4000);
  }
  EXPECT_GT(bins.disorder(), 0.05);
}

TEST(BinsTest, AfterAChunkComeTheRowsThatAreVisitedNext) {
  const Cloud cloud = random_cloud(150, 0.25, 5);
  Bins bins;
  bins.sort(0.25, cloud.x, cloud.id);
  const ChunkRows order = bins.order();
  constexpr int most = most_rows_in_chunk;
  for (const auto& [first, size] : {std::pair{0, most}, {0, 10}, {40, most}, {110, 20}, {110, 40}}) {
    const ChunkRows next = bins.after(order.subspan(first, size));
    EXPECT_EQ(next.data(), order.data() + first + size);
    EXPECT_EQ(next.size(), static_cast<std::size_t>(std::min(most, 150 - first - size)));
  }
}

TEST(BinsTest, NoPointsGiveNoBins) {
  Bins bins;
  bins.sort(0.1, {}, {});
  EXPECT_TRUE(bins.bins().empty());
  EXPECT_EQ(bins.disorder(), 0);
  EXPECT_TRUE(touched_blocks({&bins, 1}).empty());
}

TEST(BinsTest, RefusesPointsThatAreNowhereOrTooFarAway) {
  constexpr Real nan = std::numeric_limits<Real>::quiet_NaN(), infinity = std::numeric_limits<Real>::infinity();
  const Real dx = 0.5, reach = Real(max_block_coordinate) * block_width * dx;
  const std::vector<PointId> ids = {1, 2, 3};
  Bins bins;
  for (int axis = 0; axis < 3; ++axis)
    for (const Real bad : {nan, infinity, -infinity, 1.01 * reach, -1.01 * reach, 1e300}) {
      std::vector<Vec3> x(3, Vec3(0.3, 0.2, 0.1));
      x[1][axis] = bad;
      try {
        bins.sort(dx, x, ids);
        ADD_FAILURE() << "accepted " << x[1].transpose();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::numerics);
      }
    }
}

TEST(BinsTest, PointsThatAreAcceptedLieInBlocksThatTheCurveHolds) {
  const Real dx = 0.5, reach = Real(max_block_coordinate) * block_width * dx;
  for (const Real side : {-1.0, 1.0})
    for (const Real inward : {1e-9, 0.1, 0.3, 0.5, 0.9, 1.1, 2.0, 4.0, 4.5}) {
      const std::vector<Vec3> x = {Vec3::Constant(side * (reach - inward * dx))};
      const std::vector<PointId> ids = {1};
      Bins bins;
      try {
        bins.sort(dx, x, ids);
      } catch (const Error&) {
        EXPECT_LE(inward, block_width) << "only the last block may be refused";
        continue;
      }
      for (const Bin& bin : bins.bins())
        for (int o = 0; o < 8; ++o) {
          const Vec3i block = bin.block + octant_offset(o);
          EXPECT_LE(block.cwiseAbs().maxCoeff(), max_block_coordinate) << x[0].transpose();
          EXPECT_EQ(block_of(key_of(block)), block);
        }
    }
}

}  // namespace
}  // namespace weft::test
