// Shipping rows: nothing is lost, nothing is made up, and the places are the documented ones.

#include "weft/parallel/ship.hpp"

#include "weft/base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace weft {
namespace {

struct Kind : Field<std::int32_t> {
  static constexpr Label label{"kind", "1"};
};
struct Pressure : Field<Real> {
  static constexpr Label label{"pressure", "Pa", Keep::shown};
};
struct Scratch : Field<Vec3> {
  static constexpr Label label{"scratch", "1", Keep::work};
};

constexpr PointId rank_factor = 1'000'000;

Table empty_table() { return Table::with<Id, Scratch, Position, Kind, ElasticF, Pressure>(); }

/// Everything in a row is a function of its id, so that a torn row is seen wherever it arrives.
void fill_row(Table& table, std::size_t row, PointId id) {
  Random random(9, 0, id);
  table.get<Id>()[row] = id;
  table.get<Position>()[row] = random.uniform3();
  table.get<Kind>()[row] = -static_cast<std::int32_t>(id % 1000);
  for (int c = 0; c < 3; ++c) table.get<ElasticF>()[row].col(c) = random.uniform3();
  table.get<Pressure>()[row] = 1.0 + random.uniform();
  table.get<Scratch>()[row] = Vec3::Ones() + random.uniform3();
}

Table table_of(const Comm& comm, std::size_t rows) {
  Table table = empty_table();
  table.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) fill_row(table, r, rank_factor * static_cast<PointId>(comm.rank()) + r);
  return table;
}

std::size_t rows_of_rank(int rank) { return rank % 3 == 1 ? 0 : 50 + 7 * static_cast<std::size_t>(rank); }

/// Where row `row` of `rank` goes: a pure function, so that every rank knows every journey.
int destination(std::uint32_t seed, int rank, std::size_t row, int ranks) {
  Random random(seed, static_cast<std::uint32_t>(rank), row);
  return random.uniform() < 0.4 ? rank : static_cast<int>(random.uniform() * ranks);
}

/// Rows that arrived have nothing in columns that are not of the state.
void expect_whole_rows(Table& table, const std::set<PointId>& arrived) {
  Table expected = empty_table();
  expected.resize(1);
  for (std::size_t r = 0; r < table.rows(); ++r) {
    const PointId id = table.get<Id>()[r];
    fill_row(expected, 0, id);
    EXPECT_EQ(table.get<Position>()[r], expected.get<Position>()[0]);
    EXPECT_EQ(table.get<Kind>()[r], expected.get<Kind>()[0]);
    EXPECT_EQ(table.get<ElasticF>()[r], expected.get<ElasticF>()[0]);
    EXPECT_EQ(table.get<Pressure>()[r], arrived.contains(id) ? 0.0 : expected.get<Pressure>()[0]);
    EXPECT_EQ(table.get<Scratch>()[r], arrived.contains(id) ? Vec3(0, 0, 0) : expected.get<Scratch>()[0]);
  }
}

TEST(ShipTest, ArrivalsTakeThePlacesOfThoseThatLeft) {
  const Comm comm = Comm::world();
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    Table table = table_of(comm, rows_of_rank(comm.rank()));
    std::vector<int> new_rank;
    std::set<int> partners;
    std::vector<PointId> before;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      new_rank.push_back(destination(seed, comm.rank(), row, comm.size()));
      if (new_rank.back() != comm.rank()) partners.insert(new_rank.back());
      before.push_back(table.get<Id>()[row]);
    }
    std::vector<PointId> arrivals;  // by source rank, each source in its own order
    for (int source = 0; source < comm.size(); ++source)
      for (std::size_t row = 0; source != comm.rank() && row < rows_of_rank(source); ++row)
        if (destination(seed, source, row, comm.size()) == comm.rank())
          arrivals.push_back(rank_factor * static_cast<PointId>(source) + row);
    std::size_t leaving = 0;
    for (const int rank : new_rank) leaving += rank == comm.rank() ? 0 : 1;

    const Shipment shipment = ship(comm, table, new_rank);
    EXPECT_EQ(shipment.rows, static_cast<std::int64_t>(leaving));
    EXPECT_EQ(shipment.messages, static_cast<int>(partners.size()));
    EXPECT_EQ(table.owned(), table.rows());
    ASSERT_EQ(table.rows(), before.size() - leaving + arrivals.size());
    const auto ids = table.get<Id>();
    std::set<PointId> expected(arrivals.begin(), arrivals.end());
    std::size_t arrived = 0;
    for (std::size_t row = 0; row < before.size(); ++row) {
      if (new_rank[row] == comm.rank()) {
        expected.insert(before[row]);
        if (row < table.rows()) {
          EXPECT_EQ(ids[row], before[row]) << "seed " << seed;
        }
      } else if (arrived < arrivals.size()) {
        EXPECT_EQ(ids[row], arrivals[arrived++]) << "seed " << seed;
      }
    }
    for (std::size_t row = before.size(); row < table.rows(); ++row)
      EXPECT_EQ(ids[row], arrivals[arrived++]) << "seed " << seed;
    EXPECT_EQ(std::set<PointId>(ids.begin(), ids.end()), expected) << "seed " << seed;
    expect_whole_rows(table, std::set<PointId>(arrivals.begin(), arrivals.end()));
  }
}

TEST(ShipTest, ManyShufflesLoseAndInventNothing) {
  const Comm comm = Comm::world();
  const std::size_t rows_before = rows_of_rank(comm.rank());
  Table table = table_of(comm, rows_before);
  // Count, sum and sum of squares of ids (modulo 2^64) tell a multiset of ids from one with a lost or doubled row.
  const auto fingerprint = [&] {
    std::array<std::uint64_t, 3> sums{};
    for (const PointId id : table.get<Id>()) {
      sums[0] += 1;
      sums[1] += id;
      sums[2] += id * id;
    }
    comm.sum(std::span<std::uint64_t>(sums));
    return sums;
  };
  const auto before = fingerprint();
  for (std::uint32_t seed = 100; seed < 120; ++seed) {
    std::vector<int> new_rank;
    for (std::size_t row = 0; row < table.rows(); ++row)
      new_rank.push_back(destination(seed, comm.rank(), row, comm.size()));
    ship(comm, table, new_rank);
    EXPECT_EQ(fingerprint(), before);
  }
  std::vector<int> home;
  for (const PointId id : table.get<Id>()) home.push_back(static_cast<int>(id / rank_factor));
  ship(comm, table, home);
  const auto ids = table.get<Id>();
  const std::set<PointId> back(ids.begin(), ids.end());
  EXPECT_EQ(table.rows(), rows_before);
  EXPECT_EQ(back.size(), rows_before);
  for (const PointId id : back) EXPECT_EQ(static_cast<int>(id / rank_factor), comm.rank());
}

TEST(ShipTest, AllRowsMayGoToOneRank) {
  const Comm comm = Comm::world();
  const int target = comm.size() - 1;
  Table table = table_of(comm, 5);
  const Shipment shipment = ship(comm, table, std::vector<int>(5, target));
  EXPECT_EQ(table.rows(), comm.rank() == target ? 5U * static_cast<std::size_t>(comm.size()) : 0U);
  EXPECT_EQ(shipment.messages, comm.rank() == target ? 0 : 1);
  EXPECT_EQ(shipment.rows, comm.rank() == target ? 0 : 5);
}

TEST(ShipTest, WhoStaysIsUntouched) {
  const Comm comm = Comm::world();
  Table table = table_of(comm, 20);
  const Shipment shipment = ship(comm, table, std::vector<int>(20, comm.rank()));
  EXPECT_EQ(shipment.rows, 0);
  EXPECT_EQ(shipment.messages, 0);
  ASSERT_EQ(table.rows(), 20U);
  for (std::size_t r = 0; r < 20; ++r)
    EXPECT_EQ(table.get<Id>()[r], rank_factor * static_cast<PointId>(comm.rank()) + r);
  expect_whole_rows(table, {});
}

TEST(ShipTest, GhostRowsDoNotTravelAndAreDropped) {
  const Comm comm = Comm::world();
  Table table = table_of(comm, 4);
  table.resize(6, 4);
  ship(comm, table, std::vector<int>(4, comm.rank()));
  EXPECT_EQ(table.rows(), 4U);
  EXPECT_EQ(table.owned(), 4U);
}

TEST(ShipTest, NoRowsAnywhereIsFine) {
  Table table = empty_table();
  const Shipment shipment = ship(Comm::world(), table, std::vector<int>{});
  EXPECT_EQ(shipment.rows, 0);
  EXPECT_EQ(table.rows(), 0U);
}

}  // namespace
}  // namespace weft
