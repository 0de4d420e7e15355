// Forest against explicit index arithmetic on random graphs that every rank can reconstruct.

#include "weft/parallel/forest.hpp"

#include "weft/base/random.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>

namespace weft {
namespace {

/// Owned rows and originals of every rank: a pure function of the seed, so that each rank knows all of it.
struct Graph {
  std::vector<std::size_t> owned;
  std::vector<std::vector<RemoteRow>> originals;
};

/// Some ranks own nothing, some have no ghosts; rows may be copied often, by any rank, the owner included.
Graph random_graph(int ranks, std::uint32_t seed) {
  Graph graph;
  std::vector<RemoteRow> rows;
  for (int r = 0; r < ranks; ++r) {
    Random random(seed, 1, static_cast<std::uint64_t>(r));
    graph.owned.push_back(random.uniform() < 0.25 ? 0 : static_cast<std::size_t>(1 + 40 * random.uniform()));
    for (std::size_t row = 0; row < graph.owned.back(); ++row) rows.push_back({r, static_cast<std::int32_t>(row)});
  }
  graph.originals.resize(ranks);
  for (int r = 0; r < ranks && !rows.empty(); ++r) {
    Random random(seed, 2, static_cast<std::uint64_t>(r));
    const int ghosts = random.uniform() < 0.25 ? 0 : static_cast<int>(60 * random.uniform());
    for (int g = 0; g < ghosts; ++g)
      graph.originals[r].push_back(rows[static_cast<std::size_t>(random.uniform() * static_cast<Real>(rows.size()))]);
  }
  return graph;
}

/// A column of rows of `width` reals, as the grid keeps them.
struct Rows {
  std::size_t count, width;
  std::vector<Real> values;

  Rows(std::size_t rows, std::size_t reals) : count(rows), width(reals), values(rows * reals, 0.0) {}
  Real& at(std::size_t row, std::size_t c) { return values[row * width + c]; }
  ColumnView view() {
    return {{"rows", "1", Keep::work},
            {ScalarKind::real, static_cast<int>(width), 1},
            width * sizeof(Real),
            count,
            reinterpret_cast<std::byte*>(values.data())};
  }
};

/// A whole number that names one component of one row (owned and ghost) of one rank: sums of them are exact.
Real named(int rank, std::size_t row, std::size_t component) {
  return static_cast<Real>(1'000'000 * (rank + 1) + 1000 * static_cast<int>(row) + static_cast<int>(component));
}

std::uint64_t bits_of(const std::vector<Real>& values) {
  std::uint64_t hash = 14695981039346656037U;
  for (const Real value : values) hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211U;
  return hash;
}

constexpr std::size_t widths[] = {1, 3, 4, 256};

TEST(ForestTest, GhostsAreCopiesOfTheirOriginals) {
  const Comm comm = Comm::world();
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const Graph graph = random_graph(comm.size(), seed);
    const std::size_t owned = graph.owned[comm.rank()];
    const std::vector<RemoteRow>& originals = graph.originals[comm.rank()];
    const Forest forest(comm, owned, originals);
    EXPECT_EQ(forest.owned(), owned);
    EXPECT_EQ(forest.ghosts(), originals.size());
    for (int repeat = 0; repeat < 2; ++repeat)  // a graph serves again, for another width and another array
      for (const std::size_t width : widths) {
        Rows rows(owned + originals.size(), width);
        for (std::size_t row = 0; row < owned; ++row)
          for (std::size_t c = 0; c < width; ++c) rows.at(row, c) = named(comm.rank(), row, c);
        forest.update_ghosts(rows.view());
        std::size_t wrong = 0;
        for (std::size_t row = 0; row < owned; ++row)
          for (std::size_t c = 0; c < width; ++c) wrong += rows.at(row, c) != named(comm.rank(), row, c);
        for (std::size_t g = 0; g < originals.size(); ++g)
          for (std::size_t c = 0; c < width; ++c)
            wrong += rows.at(owned + g, c) != named(originals[g].rank, originals[g].row, c);
        EXPECT_EQ(wrong, 0U) << "seed " << seed << ", width " << width;
      }
  }
}

TEST(ForestTest, OwnersReceiveTheSumOfTheirGhostsWhichAreThenZero) {
  const Comm comm = Comm::world();
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const Graph graph = random_graph(comm.size(), seed);
    const std::size_t owned = graph.owned[comm.rank()], ghosts = graph.originals[comm.rank()].size();
    const Forest forest(comm, owned, graph.originals[comm.rank()]);
    for (int repeat = 0; repeat < 2; ++repeat)
      for (const std::size_t width : widths) {
        Rows rows(owned + ghosts, width), expected(owned + ghosts, width);
        for (std::size_t row = 0; row < owned + ghosts; ++row)
          for (std::size_t c = 0; c < width; ++c) rows.at(row, c) = named(comm.rank(), row, c);
        for (std::size_t row = 0; row < owned; ++row)
          for (std::size_t c = 0; c < width; ++c) expected.at(row, c) = named(comm.rank(), row, c);
        for (int r = 0; r < comm.size(); ++r)
          for (std::size_t g = 0; g < graph.originals[r].size(); ++g)
            if (const RemoteRow& original = graph.originals[r][g]; original.rank == comm.rank())
              for (std::size_t c = 0; c < width; ++c) expected.at(original.row, c) += named(r, graph.owned[r] + g, c);
        forest.sum_to_owners(rows.view());
        EXPECT_EQ(rows.values, expected.values) << "seed " << seed << ", width " << width;
      }
  }
}

TEST(ForestTest, SumsHaveTheSameBitsEveryTime) {
  // Many ghosts of few rows, with values whose sum depends on the order; ranks arrive at different moments.
  const Comm comm = Comm::world();
  const std::size_t owned = 3, ghosts = 90;
  std::vector<RemoteRow> originals;
  for (std::size_t g = 0; g < ghosts; ++g)
    originals.push_back({static_cast<int>(g) % comm.size(), static_cast<std::int32_t>(g / 7 % owned)});
  Rows start(owned + ghosts, 4);
  Random random(5, 0, static_cast<std::uint64_t>(comm.rank()));
  for (Real& value : start.values) value = (random.uniform() - 0.5) * std::pow(10.0, 16 * random.uniform());

  // The values would notice an order: summing the ghosts of this rank backwards gives other bits.
  Real forward = 0, backward = 0;
  for (std::size_t i = 0; i < start.values.size(); ++i) {
    forward += start.values[i];
    backward += start.values[start.values.size() - 1 - i];
  }
  EXPECT_NE(forward, backward);

  std::uint64_t first = 0;
  Forest forest(comm, owned, originals);
  for (int repeat = 0; repeat < 25; ++repeat) {
    if (repeat % 5 == 4) forest = Forest(comm, owned, originals);
    Rows rows = start;
    std::this_thread::sleep_for(std::chrono::microseconds((repeat * 37 + comm.rank() * 101) % 500));
    forest.sum_to_owners(rows.view());
    if (repeat == 0) first = bits_of(rows.values);
    EXPECT_EQ(bits_of(rows.values), first) << "repeat " << repeat;
  }
}

TEST(ForestTest, ColumnsThatTravelTogetherArriveAsIfAlone) {
  const Comm comm = Comm::world();
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    const Graph graph = random_graph(comm.size(), seed);
    const std::size_t owned = graph.owned[comm.rank()], ghosts = graph.originals[comm.rank()].size();
    const Forest forest(comm, owned, graph.originals[comm.rank()]);
    for (const bool sums : {true, false}) {
      std::vector<Rows> together, alone;
      for (const std::size_t width : {4u, 1u, 9u}) {
        Rows rows(owned + ghosts, width);
        for (std::size_t row = 0; row < owned + ghosts; ++row)
          for (std::size_t c = 0; c < width; ++c)
            rows.at(row, c) = named(comm.rank(), row, c) + static_cast<Real>(width);
        together.push_back(rows);
        alone.push_back(rows);
      }
      std::vector<ColumnView> columns;
      for (Rows& rows : together) columns.push_back(rows.view());
      if (sums) forest.sum_to_owners(columns);
      else forest.update_ghosts(columns);
      for (std::size_t k = 0; k < alone.size(); ++k) {
        if (sums) forest.sum_to_owners(alone[k].view());
        else forest.update_ghosts(alone[k].view());
        EXPECT_EQ(together[k].values, alone[k].values) << "seed " << seed << ", column " << k;
      }
    }
  }
}

TEST(ForestTest, UpdateIsTheTransposeOfSum) {
  // <update x, y> = <x, sum y> over all rows of all ranks; whole numbers, so exact.
  const Comm comm = Comm::world();
  const Graph graph = random_graph(comm.size(), 33);
  const std::size_t owned = graph.owned[comm.rank()], ghosts = graph.originals[comm.rank()].size();
  const Forest forest(comm, owned, graph.originals[comm.rank()]);
  Rows x(owned + ghosts, 3), y(owned + ghosts, 3);
  Random random(6, 0, static_cast<std::uint64_t>(comm.rank()));
  for (std::size_t i = 0; i < owned * 3; ++i) x.values[i] = std::floor(100 * random.uniform());
  for (Real& value : y.values) value = std::floor(100 * random.uniform());
  const auto dot = [&](const Rows& a, const Rows& b) {
    Real sum = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) sum += a.values[i] * b.values[i];
    return comm.sum(sum);
  };
  Rows updated = x, summed = y;
  forest.update_ghosts(updated.view());
  forest.sum_to_owners(summed.view());
  EXPECT_EQ(dot(updated, y), dot(x, summed));
}

TEST(ForestTest, CopiesIdsBitByBit) {
  // Each rank sees the only row of the next one; the patterns are signalling NaNs when read as reals.
  const Comm comm = Comm::world();
  const auto pattern = [](int rank) { return 0x7ff0000000000001U + static_cast<std::uint64_t>(rank); };
  const int next = (comm.rank() + 1) % comm.size();
  const RemoteRow original{next, 0};
  const Forest forest(comm, 1, std::span(&original, 1));
  Table table = Table::with<Id, Position>();
  table.resize(2, 1);
  table.get<Id>()[0] = pattern(comm.rank());
  table.get<Position>()[0] = Vec3(comm.rank(), 2, 3);
  for (const ColumnView& column : table.columns()) forest.update_ghosts(column);
  EXPECT_EQ(table.get<Id>()[1], pattern(next));
  EXPECT_EQ(table.get<Position>()[1], Vec3(next, 2, 3));
  EXPECT_EQ(table.owned(), 1U);
}

TEST(ForestTest, WorksWithoutAnyGhosts) {
  const Comm comm = Comm::world();
  const std::size_t owned = comm.rank() % 2 == 0 ? 2 : 0;
  const Forest forest(comm, owned, {});
  Rows rows(owned, 4);
  for (Real& value : rows.values) value = 7;
  forest.update_ghosts(rows.view());
  forest.sum_to_owners(rows.view());
  for (const Real value : rows.values) EXPECT_EQ(value, 7.0);
}

TEST(ForestTest, OneRankMayOwnEverything) {
  const Comm comm = Comm::world();
  const int owner = comm.size() - 1;
  const std::vector<RemoteRow> originals{{owner, 1}, {owner, 0}};
  const std::size_t owned = comm.rank() == owner ? 2 : 0;
  Forest forest;
  EXPECT_EQ(forest.owned(), 0U);
  EXPECT_EQ(forest.ghosts(), 0U);
  forest = Forest(comm, owned, originals);
  Rows rows(owned + 2, 1);
  rows.at(owned, 0) = 1;
  rows.at(owned + 1, 0) = 10;
  forest.sum_to_owners(rows.view());
  if (comm.rank() == owner) {
    EXPECT_EQ(rows.at(1, 0), comm.size());
    EXPECT_EQ(rows.at(0, 0), 10 * comm.size());
  }
  forest.update_ghosts(rows.view());
  EXPECT_EQ(rows.at(owned, 0), comm.size());
  EXPECT_EQ(rows.at(owned + 1, 0), 10 * comm.size());
}

// --- Asking for rows ------------------------------------------------------------------------------------------------

TEST(AskRowsTest, OwnersAnswerForTheirKeysAndMinusOneForOthers) {
  // Rank r holds key 100 r + k in row 3 k + r for k = 0..r; asked are all ranks, this one included, in mixed order.
  const Comm comm = Comm::world();
  std::map<std::uint64_t, std::int32_t> held;
  for (int k = 0; k <= comm.rank(); ++k) held[static_cast<std::uint64_t>(100 * comm.rank() + k)] = 3 * k + comm.rank();

  std::vector<int> owner;
  std::vector<std::uint64_t> key;
  std::vector<std::int32_t> expected;
  Random random(8, 0, static_cast<std::uint64_t>(comm.rank()));
  for (int n = 0; n < 300; ++n) {
    const int r = static_cast<int>(random.uniform() * comm.size());
    const int k = static_cast<int>(random.uniform() * (r + 3));  // the last two are unknown to their owner
    owner.push_back(r);
    key.push_back(static_cast<std::uint64_t>(100 * r + k));
    expected.push_back(k <= r ? 3 * k + r : -1);
  }
  const std::vector<std::int32_t> rows = ask_rows(comm, owner, key, [&](std::uint64_t asked) {
    const auto at = held.find(asked);
    return at == held.end() ? -1 : at->second;
  });
  EXPECT_EQ(rows, expected);
}

TEST(AskRowsTest, OnlyTheAskedOneHasToAnswer) {
  const Comm comm = Comm::world();
  const int teacher = comm.size() / 2;
  const bool asks = comm.rank() != teacher;
  const std::vector<int> owner(asks ? 2 : 0, teacher);
  const std::vector<std::uint64_t> key = asks ? std::vector<std::uint64_t>{40, 50} : std::vector<std::uint64_t>{};
  int answered = 0;
  const auto rows = ask_rows(comm, owner, key, [&](std::uint64_t asked) {
    ++answered;
    return static_cast<std::int32_t>(asked / 10);
  });
  EXPECT_EQ(rows, asks ? (std::vector<std::int32_t>{4, 5}) : std::vector<std::int32_t>{});
  EXPECT_EQ(answered, asks ? 0 : 2 * (comm.size() - 1));
}

TEST(AskRowsTest, NobodyNeedsToAsk) {
  const auto rows = ask_rows(Comm::world(), {}, {}, [](std::uint64_t) { return 0; });
  EXPECT_TRUE(rows.empty());
}

TEST(AskRowsTest, AnswersMakeAForest) {
  // The way the block map does it: ghosts known by (owner, key) become originals, then copies.
  const Comm comm = Comm::world();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  const std::vector<int> owner{previous, comm.rank()};
  const std::vector<std::uint64_t> key{2, 0};  // each rank holds keys 0, 1, 2 in rows 2, 1, 0
  const auto rows = ask_rows(comm, owner, key, [](std::uint64_t k) { return 2 - static_cast<std::int32_t>(k); });
  const std::vector<RemoteRow> originals{{owner[0], rows[0]}, {owner[1], rows[1]}};
  const Forest forest(comm, 3, originals);
  Rows values(5, 1);
  for (int row = 0; row < 3; ++row) values.at(row, 0) = 10 * comm.rank() + (2 - row);  // rank and key
  forest.update_ghosts(values.view());
  EXPECT_EQ(values.at(3, 0), 10 * previous + 2);
  EXPECT_EQ(values.at(4, 0), 10 * comm.rank());
}

}  // namespace
}  // namespace weft
