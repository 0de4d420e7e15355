// Conditions on points and what it takes to meet them, on every rank count.

#include "weft/solve/conditions.hpp"

#include "weft/base/random.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <cmath>

namespace weft {
namespace {

/// A line of points, three to a rank, each of which gives way differently; ranks know all points by their numbers.
struct Line {
  const Comm comm = Comm::world();
  const std::int64_t points = 3 * comm.size();
  Conditions conditions{comm};
  SchurComplement schur{conditions};
  std::vector<Vec3> v = std::vector<Vec3>(3, Vec3::Zero());

  /// A matrix of eigenvalues between 0.5 and 1.5, or one that holds a direction.
  Mat3 mobility(std::size_t n) const {
    Random r(5, 0, static_cast<std::uint64_t>(comm.rank()) * 3 + n);
    const Vec3 e = (2 * r.uniform3() - Vec3::Ones()).normalized();
    return 0.5 * Mat3::Identity() + r.uniform() * e * e.transpose();
  }
  /// One condition on points with these numbers, of this rank.
  static void add(ConstraintRows& rows, std::initializer_list<std::pair<std::int64_t, Vec3>> parts, Real target) {
    for (const auto& [number, w] : parts)
      for (int c = 0; c < 3; ++c) rows.add(static_cast<std::int32_t>(3 * number + c), w[c]);
    rows.close(target);
  }
  void take(const ConstraintRows& rows) {
    conditions.take(rows, {.first = 3 * comm.rank(), .owned = 3, .of_freedom = [](auto f) { return f / 3; }});
    schur.factor([&](std::size_t n) { return mobility(n); });
  }
  std::vector<Real> sums() const {
    return conditions.sums([&](std::size_t n) { return v[n]; });
  }
  /// Brings W v to the targets; what is missing afterwards, at most.
  Real meet(const ConstraintRows& rows) {
    const std::vector<Real> goal = conditions.from_all_ranks(rows.target);
    std::vector<Real> change = sums();
    for (std::size_t c = 0; c < change.size(); ++c) change[c] = goal[c] - change[c];
    conditions.spread(schur.solve(change), [&](std::size_t n, const Vec3& i) { v[n] += mobility(n) * i; });
    change = sums();
    Real miss = 0;
    for (std::size_t c = 0; c < change.size(); ++c) miss = std::max(miss, std::abs(goal[c] - change[c]));
    return miss;
  }
};

TEST(ConditionsTest, EveryRankKnowsTheSumsOfAll) {
  Line line;
  const std::int64_t own = 3 * line.comm.rank(), next = (own + 4) % line.points;
  ConstraintRows rows;
  Line::add(rows, {{own, Vec3(1, 2, 3)}, {next, Vec3(0, 0, 2)}}, 7);
  line.take(rows);
  for (std::size_t n = 0; n < 3; ++n) line.v[n] = Vec3(1, 10, 100) * (3.0 * line.comm.rank() + static_cast<Real>(n));
  const std::vector<Real> sums = line.sums();
  ASSERT_EQ(sums.size(), static_cast<std::size_t>(line.comm.size()));
  for (int r = 0; r < line.comm.size(); ++r)
    EXPECT_EQ(sums[static_cast<std::size_t>(r)], 321.0 * 3 * r + 200.0 * static_cast<Real>((3 * r + 4) % line.points));
  EXPECT_EQ(line.conditions.own(sums)[0], sums[static_cast<std::size_t>(line.comm.rank())]);
}

TEST(ConditionsTest, PointsMayHaveNumbersThatLieFarApart) {
  const Comm comm = Comm::world();
  Conditions conditions(comm);
  ConstraintRows rows;
  const std::int64_t first = 1000 * comm.rank(), owned = 500;
  for (const std::int64_t n : {first + 450, first, first + 450})
    Line::add(rows, {{n, Vec3(1, 0, 0)}, {first + 3, Vec3(0, 1, 0)}}, 0);
  conditions.take(rows, {.first = first, .owned = owned, .of_freedom = [](auto f) { return f / 3; }});
  const std::vector<Real> sums = conditions.sums([](std::size_t n) { return Vec3(static_cast<Real>(n), 1000, 0); });
  const auto own = conditions.own(sums);
  EXPECT_EQ(own[0], 1450);
  EXPECT_EQ(own[1], 1000);
  EXPECT_EQ(own[2], 1450);
  std::vector<std::size_t> visited;
  conditions.for_each_owned([&](std::size_t n) { visited.push_back(n); });
  EXPECT_EQ(visited, (std::vector<std::size_t>{0, 3, 450}));
}

TEST(SchurComplementTest, MeetsConditionsThatSharePointsAcrossRanks) {
  Line line;
  ConstraintRows rows;
  for (std::int64_t p = 3 * line.comm.rank(); p < 3 * line.comm.rank() + 3; ++p) {
    Line::add(rows, {{p, Vec3(0.7, 0, 0.1)}, {(p + 1) % line.points, Vec3(0.2, 0.1, 0)}}, 0.1 * static_cast<Real>(p));
    Line::add(rows, {{p, Vec3(0, 1, 0)}}, 1);
  }
  line.take(rows);
  EXPECT_LE(line.meet(rows), 1e-12 * static_cast<Real>(line.points));
}

TEST(SchurComplementTest, ConditionsThatAreSaidTwiceOrNearlyTwiceAreMetAllTheSame) {
  for (const Real apart : {0.0, 1e-7, 1e-5, 1e-3}) {
    Line line;
    ConstraintRows rows;
    const std::int64_t p = 3 * line.comm.rank();
    for (const Vec3& axis : {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)}) {
      // Two pins, a little apart, led by one smooth motion.
      const auto goal = [&](Real s) { return (1 - s) * axis.dot(Vec3(1, 2, 3)) + s * axis.dot(Vec3(-1, 0.5, 2)); };
      for (const Real s : {0.5, 0.5 + apart}) Line::add(rows, {{p, (1 - s) * axis}, {p + 1, s * axis}}, goal(s));
    }
    line.take(rows);
    // A second time for what round-off left, of multipliers as large as one over the distance.
    EXPECT_LE(line.meet(rows), 1e-8) << "apart: " << apart;
    EXPECT_LE(line.meet(rows), 1e-10) << "apart: " << apart;
    for (const Vec3& v : line.v) EXPECT_LE(v.norm(), 10);
  }
}

TEST(SchurComplementTest, SharesTheImpulseOfEqualConditions) {
  Line line;
  ConstraintRows rows;
  for (int i = 0; i < 4; ++i) Line::add(rows, {{3 * line.comm.rank(), Vec3(0, 1, 0)}}, 1);
  line.take(rows);
  const std::vector<Real> lambda = line.schur.solve(std::vector<Real>(line.conditions.count(), 1.0));
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(line.conditions.own(lambda)[static_cast<std::size_t>(i)], 0.25 / line.mobility(0)(1, 1), 1e-6);
}

TEST(SchurComplementTest, ConditionsWithCompliancesGiveWayByThem) {
  for (const bool is_symmetric : {true, false}) {
    Line line;
    ConstraintRows rows;
    for (std::int64_t p = 3 * line.comm.rank(); p < 3 * line.comm.rank() + 3; ++p) {
      for (const Vec3& axis : {Vec3(1, 0, 0), Vec3(0, 0.6, 0.8)})  // a bundle
        Line::add(rows, {{p, 0.7 * axis}, {(p + 1) % line.points, 0.3 * axis}}, 0);
      Line::add(rows, {{p, Vec3(1, 0, 0)}}, 0);
      Line::add(rows, {{p, Vec3(1, 0, 0)}}, 0);  // said twice
    }
    line.take(rows);
    Mat3 skew;
    skew << 0, 0.3, -0.2, -0.3, 0, 0.4, 0.2, -0.4, 0;
    const auto mobility = [&](std::size_t n) {
      return is_symmetric ? line.mobility(n) : Mat3(line.mobility(n) + skew);
    };
    std::vector<Real> compliance(line.conditions.count()), change(line.conditions.count());
    for (std::size_t c = 0; c < change.size(); ++c) {
      compliance[c] = 1e-3 * static_cast<Real>(1 + c % 3);
      change[c] = std::cos(static_cast<Real>(c));
    }
    line.schur.factor(mobility, compliance, is_symmetric);
    const std::vector<Real> lambda = line.schur.solve(change);
    line.conditions.spread(lambda, [&](std::size_t n, const Vec3& i) { line.v[n] = mobility(n) * i; });
    const std::vector<Real> sums = line.sums();
    for (std::size_t c = 0; c < change.size(); ++c)
      EXPECT_NEAR(sums[c] + compliance[c] * lambda[c], change[c], 1e-11)
          << c << (is_symmetric ? "" : " without symmetry");
  }
}

TEST(SchurComplementTest, AConditionThatNoPointHearsOfGivesNothing) {
  const Comm comm = Comm::world();
  Conditions conditions(comm);
  ConstraintRows rows;
  const std::int64_t p = comm.rank();
  Line::add(rows, {{p, Vec3(1, 0, 0)}}, 1);
  Line::add(rows, {{p, Vec3(0, 1, 0)}}, 1);
  conditions.take(rows, {.first = p, .owned = 1, .of_freedom = [](auto f) { return f / 3; }});
  SchurComplement schur(conditions);
  const std::vector<Real> compliance = conditions.from_all_ranks(std::vector<Real>{0, 0.5});
  for (const bool is_symmetric : {true, false}) {
    schur.factor([](std::size_t) { return Mat3(Vec3(0, 1.5, 1).asDiagonal()); }, compliance, is_symmetric);
    const std::vector<Real> lambda = schur.solve(conditions.from_all_ranks(rows.target));
    EXPECT_EQ(conditions.own(lambda)[0], 0);
    EXPECT_NEAR(conditions.own(lambda)[1], 0.5, 1e-15);
  }
}

TEST(SchurComplementTest, ComesAsNearAsItCanWherePointsCannotGiveWay) {
  const Comm comm = Comm::world();
  Conditions conditions(comm);
  ConstraintRows rows;
  const std::int64_t p = comm.rank();
  Line::add(rows, {{p, Vec3(1, 0, 0)}}, 1);
  Line::add(rows, {{p, Vec3(0, 1, 0)}}, 1);
  Line::add(rows, {{p, Vec3(0, 1, 0)}}, 3);  // against the one before
  conditions.take(rows, {.first = p, .owned = 1, .of_freedom = [](auto f) { return f / 3; }});
  SchurComplement schur(conditions);
  schur.factor([](std::size_t) { return Mat3(Vec3(0, 1, 1).asDiagonal()); });  // held along x
  const std::vector<Real> lambda = schur.solve(conditions.from_all_ranks(rows.target));
  const auto own = conditions.own(lambda);
  EXPECT_EQ(own[0], 0);
  EXPECT_NEAR(own[1] + own[2], 2, 1e-4);
}

TEST(SchurComplementTest, NoConditionsAskForNothing) {
  Line line;
  line.take({});
  EXPECT_FALSE(line.conditions.any());
  EXPECT_TRUE(line.schur.solve({}).empty());
}

}  // namespace
}  // namespace weft
