// Freedoms by hand on every rank count, and the Term interface on a net of springs.

#include "weft/motion/motion.hpp"

#include "support/springs.hpp"
#include "support/term_checks.hpp"
#include "weft/motion/dead_load.hpp"
#include "weft/motion/inertia.hpp"

namespace weft {
namespace {

/// A chain of n points along x.
test::SpringNet chain(std::int32_t n) {
  test::SpringNet net{{}, {}, 3.0};
  for (std::int32_t i = 0; i < n; ++i) net.points.push_back({0.5 * i, 0, 0});
  for (std::int32_t i = 0; i + 1 < n; ++i) net.bars.push_back({i, i + 1});
  return net;
}

TEST(FreedomsTest, AreCountedBlockByBlockRowByRow) {
  const Comm comm = Comm::world();
  const test::DealtNet net(comm, chain(10));
  const std::size_t rows = net.point_of_row.size();
  const Freedoms freedoms({{"points", 3, &net.forest}, {"twists", 1, &net.forest}});
  EXPECT_EQ(freedoms.size(), 4 * rows);
  EXPECT_EQ(freedoms.rows(1), rows);
  EXPECT_EQ(freedoms.at(0, 0), 0);
  EXPECT_EQ(freedoms.at(0, 1), 3);
  EXPECT_EQ(freedoms.at(1, 0), static_cast<std::int32_t>(3 * rows));
  EXPECT_EQ(freedoms.at(1, 1), static_cast<std::int32_t>(3 * rows + 1));

  FreedomValues values(freedoms);
  for (std::size_t i = 0; i < values.all().size(); ++i) values.all()[i] = static_cast<Real>(i);
  for (std::size_t r = 0; r < rows; ++r) {
    EXPECT_EQ(values.points(0)[r], Vec3(3.0 * r, 3.0 * r + 1, 3.0 * r + 2));
    EXPECT_EQ(values.block(1)[r], static_cast<Real>(3 * rows + r));
  }
}

TEST(FreedomValuesTest, GhostsAreCopiedAndSummedInEveryBlock) {
  const Comm comm = Comm::world();
  const std::int32_t n = 10;
  const test::DealtNet net(comm, chain(n));
  const Freedoms freedoms({{"points", 3, &net.forest}, {"twists", 1, &net.forest}});
  FreedomValues values(freedoms);
  for (std::size_t r = 0; r < net.forest.owned(); ++r) {
    values.points(0)[r] = Vec3(1, 2, 3) * net.point_of_row[r];
    values.block(1)[r] = -net.point_of_row[r];
  }
  values.update_ghosts();
  for (std::size_t r = 0; r < freedoms.rows(0); ++r) {
    EXPECT_EQ(values.points(0)[r], Vec3(Vec3(1, 2, 3) * net.point_of_row[r]));
    EXPECT_EQ(values.block(1)[r], -net.point_of_row[r]);
  }

  // Every bar adds one to both of its ends: ends of the chain get 1, the others 2, wherever their bars are.
  Load load(freedoms);
  for (const test::Bar& bar : net.bars)
    for (const std::int32_t row : bar) {
      load.points(0)[row] += Vec3::Ones();
      load.block(1)[row] += 1;
    }
  load.sum_to_owners();
  for (std::size_t r = 0; r < freedoms.rows(0); ++r) {
    const std::int32_t i = net.point_of_row[r];
    const Real expected = r >= net.forest.owned() ? 0 : i == 0 || i == n - 1 ? 1 : 2;
    EXPECT_EQ(load.points(0)[r], Vec3(Vec3::Constant(expected)));
    EXPECT_EQ(load.block(1)[r], expected);
  }
}

TEST(TermTest, SpringsPassTheChecksThatEveryTermPasses) {
  const test::SpringNet net = chain(12);
  const test::DealtNet dealt(Comm::world(), net);
  const Freedoms freedoms({{"net", 3, &dealt.forest}});
  const test::SpringTerm springs(net, dealt);
  Motion motion(freedoms);
  test::check_term(springs, motion, 0.1);
  motion.u = test::random_values(freedoms, 0.1, 3);
  test::check_term(springs, motion, 0.1);
}

TEST(InertiaTest, PassesTheChecksOfTermsAndIsLeastWithoutForces) {
  const Comm comm = Comm::world();
  const test::DealtNet net(comm, chain(10));
  const Freedoms freedoms({{"points", 3, &net.forest}});
  std::vector<Real> masses;
  for (std::size_t r = 0; r < net.forest.owned(); ++r) masses.push_back(1.0 + net.point_of_row[r]);
  Inertia inertia(freedoms, 0, masses);
  const FreedomValues free = test::random_values(freedoms, 0.3, 5);
  inertia.begin(0.1, free.block(0));
  Motion motion(freedoms);
  motion.u = test::random_values(freedoms, 0.5, 6);
  test::check_term(inertia, motion, 1);
  motion.u = free;
  EXPECT_EQ(inertia.energy(motion), 0);
  motion.u.points(0)[0] += Vec3(0.2, 0, 0);
  EXPECT_NEAR(inertia.energy(motion), masses[0] * 0.2 * 0.2 / (2 * 0.1 * 0.1), 1e-12);
}

TEST(AmplitudeTest, MeansTimesTheirSpansAddUpWhateverTheSpans) {
  const Amplitude steps{{{0.1, 1}, {0.2, 3}, {0.2, -1}, {0.3, 0}, {0.5, 2}}};
  const auto impulse = [&](Real from, Real to) { return (to - from) * steps.mean(from, to); };
  EXPECT_NEAR(impulse(0, 1), 0.1 + 0.2 - 0.05 + 0.2 + 1, 1e-15);
  EXPECT_NEAR(impulse(0.15, 0.2), 0.125, 1e-15);
  EXPECT_NEAR(impulse(0.2, 0.25), -0.0375, 1e-15);
  EXPECT_NEAR(impulse(0.6, 0.9), 0.6, 1e-15);
  for (const int parts : {1, 2, 3, 7, 10, 100}) {
    Real sum = 0;
    for (int k = 0; k < parts; ++k) sum += impulse(Real(k) / parts, Real(k + 1) / parts);
    EXPECT_NEAR(sum, 1.45, 1e-14);
  }
  EXPECT_EQ(steps.mean(0.3, 0.1), steps.mean(0.1, 0.3));
  EXPECT_EQ(steps.mean(0.4, 0.4), steps.at(0.4));
}

}  // namespace
}  // namespace weft
