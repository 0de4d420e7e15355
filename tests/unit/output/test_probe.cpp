// Probes measure what they say, whoever holds the rows.

#include "weft/output/probe.hpp"

#include "unit/output/scratch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace weft {
namespace {

using ::testing::HasSubstr;

constexpr Real infinity = std::numeric_limits<Real>::infinity();

/// numpy's default, from the whole sorted list.
Real sorted_quantile(std::vector<Real> values, Real q) {
  std::sort(values.begin(), values.end());
  const Real place = q * static_cast<Real>(values.size() - 1);
  const auto k = static_cast<std::size_t>(place);
  if (k + 1 == values.size()) return values[k];
  return values[k] + (place - static_cast<Real>(k)) * (values[k + 1] - values[k]);
}

/// This rank's part of a list that all ranks know: uneven, some with nothing.
std::vector<Real> own_part(const Comm& comm, const std::vector<Real>& all) {
  std::vector<Real> own;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (static_cast<int>(i * i % 11) % comm.size() == comm.rank()) own.push_back(all[i]);
  return own;
}

TEST(ProbeTest, QuantilesOfAFewNumbersAreThoseOfNumpy) {
  const Comm comm = Comm::world();
  const std::vector<Real> own = own_part(comm, {7, -1, 3, 3});
  // numpy.quantile([7, -1, 3, 3], ...)
  EXPECT_EQ(quantile(comm, own, 0), -1);
  EXPECT_EQ(quantile(comm, own, 0.25), 2);
  EXPECT_EQ(quantile(comm, own, 0.5), 3);
  EXPECT_EQ(quantile(comm, own, 0.75), 4);
  EXPECT_EQ(quantile(comm, own, 1), 7);
}

TEST(ProbeTest, QuantilesAgreeWithSortingForManyKindsOfNumbers) {
  const Comm comm = Comm::world();
  std::mt19937_64 random(5);  // the same on every rank
  std::uniform_real_distribution<Real> uniform(0, 1);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<Real> all(1 + random() % 300);
    for (Real& value : all) {
      value = uniform(random) - 0.5;
      if (trial % 4 == 1) value = std::pow(10, 600 * value);  // over all magnitudes
      if (trial % 4 == 2) value = std::round(4 * value);      // many equal ones, zeros of both signs
      if (trial % 4 == 3) value = 1e5 + value * 1e-9;         // almost equal
    }
    const std::vector<Real> own = own_part(comm, all);
    for (const Real q : {0.0, 0.02, 1.0 / 3, 0.5, 0.98, 1.0}) {
      const Real expected = sorted_quantile(all, q);
      // Exact but for the interpolation, which rounds once or twice in another order here.
      EXPECT_NEAR(quantile(comm, own, q), expected, 4e-16 * std::abs(expected) + 1e-320) << trial << " " << q;
    }
  }
}

TEST(ProbeTest, QuantilesOfNothingOrOfNaNAreNaN) {
  const Comm comm = Comm::world();
  EXPECT_TRUE(std::isnan(quantile(comm, {}, 0.5)));
  std::vector<Real> own{1, 2};
  if (comm.rank() == comm.size() - 1) own.push_back(std::numeric_limits<Real>::quiet_NaN());
  EXPECT_TRUE(std::isnan(quantile(comm, own, 0.5)));
  own = {-infinity, infinity};
  EXPECT_EQ(quantile(comm, own, 0), -infinity);
  EXPECT_EQ(quantile(comm, own, 1), infinity);
}

TEST(ProbeTest, TheCentreOfMassWeighsAndTheExtentDoesNot) {
  const Comm comm = Comm::world();
  Table table = test::empty_body();
  // Rank r has one point of mass 1 at x = r; the last one also a point of mass 3 at x = -2.
  const bool last = comm.rank() == comm.size() - 1;
  table.resize(last ? 2 : 1);
  table.get<Mass>()[0] = 1;
  table.get<Position>()[0] = Vec3(comm.rank(), 2, 0);
  if (last) table.get<Mass>()[1] = 3, table.get<Position>()[1] = Vec3(-2, 4, 0);
  table.resize(table.rows() + 1, table.rows());  // a ghost counts for nothing
  table.get<Mass>()[table.owned()] = 1e6;
  table.get<Position>()[table.owned()] = Vec3::Constant(1e6);
  const Real n = comm.size();
  EXPECT_NEAR((centre_of_mass(comm, table) - Vec3(n * (n - 1) / 2 - 6, 2 * n + 12, 0) / (n + 3)).norm(), 0, 1e-15 * n);
  EXPECT_EQ(extent(comm, table).lower, Vec3(-2, 2, 0));
  EXPECT_EQ(extent(comm, table).upper, Vec3(n - 1, 4, 0));
  table.resize(0);
  EXPECT_TRUE(centre_of_mass(comm, table).array().isNaN().all());
  EXPECT_TRUE(extent(comm, table).lower.array().isNaN().all());
  EXPECT_TRUE(extent(comm, table).upper.array().isNaN().all());
}

TEST(ProbeTest, ScalarsAreNamedWithTheirComponents) {
  const Comm comm = Comm::world();
  Table table = test::body_with(comm, 2);
  const PointId id = table.get<Id>()[1];
  EXPECT_EQ(ScalarField(table, "pressure")(1), test::number_of(id, 4, 0));
  EXPECT_EQ(ScalarField(table, "position_z")(1), test::number_of(id, 0, 2));
  EXPECT_EQ(ScalarField(table, "velocity_gradient_xy")(1), table.get<Affine>()[1](0, 1));
  EXPECT_EQ(ScalarField(table, "strain_zz")(1), table.get<test::Strain>()[1].zz);
  EXPECT_EQ(ScalarField(table, "strain_xy")(1), table.get<test::Strain>()[1].xy);
  EXPECT_EQ(ScalarField(table, "region")(1), static_cast<Real>(id) - 500);
  EXPECT_EQ(ScalarField(table, "id")(1), static_cast<Real>(id));
  EXPECT_EQ(ScalarField(table, "velocity_y").unit(), "m/s");
  EXPECT_THAT(ScalarField(table, "mass").values(), ::testing::ElementsAreArray(table.get<Mass>()));
  for (const char* wrong : {"velocity", "velocity_w", "presure", ""}) {
    try {
      const ScalarField field(table, wrong);
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::deck);
      EXPECT_THAT(error.what(), HasSubstr("position_x, position_y"));
    }
  }
}

TEST(ProbeTest, TheNearestPointIsFoundAndItsValueFollowed) {
  const Comm comm = Comm::world();
  Table table = test::empty_body();
  // Points on a line at x = 0, 1, 2, ... in pairs at the same place; ids need all 64 bits.
  const PointId large = std::uint64_t{1} << 60;
  table.resize(2);
  for (std::size_t r = 0; r < 2; ++r) {
    table.get<Position>()[r] = Vec3(comm.rank(), 0, 0);
    table.get<Id>()[r] = large + static_cast<PointId>(2 * comm.rank()) + 1 - r;
    table.get<Velocity>()[r] = Vec3(0, comm.rank() + 0.25 * static_cast<Real>(r), 0);
  }
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto row = nearest_row(comm, table, Vec3(rank + 0.3, 1, 0));
    ASSERT_TRUE(row);
    EXPECT_EQ(row->id, large + static_cast<PointId>(2 * rank));  // the smaller of the pair
    EXPECT_NEAR(row->distance, std::hypot(0.3, 1), 1e-14);
    EXPECT_EQ(value_at(comm, table, row->id, ScalarField(table, "velocity_y")), rank + 0.25);
  }
  EXPECT_FALSE(value_at(comm, table, 5, ScalarField(table, "velocity_y")));
  table.resize(0);
  EXPECT_FALSE(nearest_row(comm, table, Vec3::Zero()));
}

}  // namespace
}  // namespace weft
