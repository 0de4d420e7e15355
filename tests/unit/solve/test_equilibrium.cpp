// Equilibrium of nets of springs against closed forms, on every rank count.

#include "weft/solve/equilibrium.hpp"

#include "support/spring_analysis.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace weft {
namespace {

using namespace test;

TEST(EquilibriumTest, TrussUnderSmallLoadIsWhereItsClosedFormHasIt) {
  Analysis a(truss());
  hold_feet(a.held);
  const Real w = 0.08;
  const DeadLoad load = a.load({{1, {0, -truss_force(w), 0}}});
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.size = height});
  const EquilibriumReport report = equilibrium.at_time(a.motion, 1);
  ASSERT_TRUE(report.converged) << report.failure;
  EXPECT_LE(report.iterations, 6);
  EXPECT_NEAR(a.u(1).y(), -w, 1e-9);
  EXPECT_NEAR(a.u(1).x(), 0, 1e-12);
  EXPECT_EQ(a.motion.time, 1);
}

TEST(EquilibriumTest, ReactionsOfTheFeetCarryTheLoad) {
  Analysis a(truss());
  hold_feet(a.held);
  const DeadLoad load = a.load({{1, {0.1, -3, 0}}});
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.size = height});
  ASSERT_TRUE(equilibrium.at_time(a.motion, 1).converged);
  ConstraintRows rows;
  a.held.append(1, rows);
  const std::vector<Real> forces = equilibrium.constraint_forces(0);
  ASSERT_EQ(forces.size(), rows.count());
  Vec3 sum = Vec3::Zero();
  for (std::size_t c = 0; c < forces.size(); ++c) sum[rows.freedom[c] % 3] += forces[c];
  a.comm.sum(std::span(sum.data(), 3));
  EXPECT_LE((sum - Vec3(-0.1, 3, 0)).norm(), 1e-8 * 3);
}

TEST(EquilibriumTest, ChordsFindTheSameBalance) {
  Analysis a(truss());
  hold_feet(a.held);
  const DeadLoad load = a.load({{1, {0.1, -3, 0}}}, Amplitude{{{0, 0}, {1, 1}}});
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.size = height, .tolerance = 1e-10});
  ASSERT_TRUE(equilibrium.by_chords(a.motion, 0.5, true).converged);
  const Vec3 half = a.u(1);
  ASSERT_TRUE(equilibrium.by_chords(a.motion, 0.55, false, 0.01).converged);
  const Vec3 nearly = a.u(1);
  ASSERT_TRUE(equilibrium.by_chords(a.motion, 0.55, false).converged);
  const Vec3 by_chords = a.u(1);
  const std::vector<Real> forces = equilibrium.constraint_forces(0);
  ASSERT_TRUE(equilibrium.at_time(a.motion, 0.55).converged);
  EXPECT_LE((by_chords - a.u(1)).norm(), 1e-9 * height);
  EXPECT_LE((nearly - a.u(1)).norm(), 0.05 * (half - a.u(1)).norm());
  const std::vector<Real> by_newton = equilibrium.constraint_forces(0);
  for (std::size_t c = 0; c < forces.size(); ++c) EXPECT_NEAR(forces[c], by_newton[c], 1e-8);
}

TEST(EquilibriumTest, ChordsThatLeadNowhereLeaveTheGuess) {
  Analysis a(truss());
  hold_feet(a.held);
  const DeadLoad load = a.load({{1, {0, -100, 0}}});  // the limit is below 6 N
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.size = height});
  ASSERT_FALSE(equilibrium.by_chords(a.motion, 1, true).converged);
  EXPECT_EQ(a.u(1), Vec3(Vec3::Zero()));
}

TEST(EquilibriumTest, ConditionsMayChangeBetweenSolves) {
  Analysis a(truss());
  hold_feet(a.held);
  a.held.hold(1, 1, -0.1, 1);
  const Real w = 0.08;
  const DeadLoad load = a.load({{1, {0, -truss_force(w), 0}}}, {{{0, 1}}});
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.size = height, .tolerance = 1e-10});
  ASSERT_TRUE(equilibrium.at_time(a.motion, 1).converged);
  EXPECT_NEAR(a.u(1).y(), -0.1, 1e-10 * height);
  ASSERT_TRUE(equilibrium.at_time(a.motion, 2).converged);
  EXPECT_NEAR(a.u(1).y(), -w, 1e-9);
}

TEST(EquilibriumTest, ApexThatIsPushedDownMeetsTheForceOfTheClosedForm) {
  Analysis a(truss());
  hold_feet(a.held);
  a.held.hold(1, 1, -2.2 * height);
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs}, {&a.held}, {.size = height});
  ConstraintRows rows;
  a.held.append(1, rows);
  for (int step = 1; step <= 10; ++step) {
    const Real time = 0.1 * step;
    ASSERT_TRUE(equilibrium.at_time(a.motion, time).converged);
    const Real w = 2.2 * height * time;
    EXPECT_NEAR(a.u(1).y(), -w, 1e-10);
    Real force = 0;
    const std::vector<Real> forces = equilibrium.constraint_forces(0);
    for (std::size_t c = 0; c < forces.size(); ++c)
      if (rows.target[c] != 0) force += forces[c];
    EXPECT_NEAR(-a.comm.sum(force), truss_force(w), 1e-6) << "w = " << w;
  }
}

TEST(EquilibriumTest, LoadBeyondTheLimitIsRefusedOrFoundOnTheFarBranch) {
  Analysis a(truss());
  hold_feet(a.held);
  const Real beyond = 30;  // the limit is below 6 N
  const DeadLoad load = a.load({{1, {0, -beyond, 0}}});
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.size = height});
  const EquilibriumReport report = equilibrium.at_time(a.motion, 1);
  if (report.converged) {
    EXPECT_NEAR(truss_force(-a.u(1).y()), beyond, 1e-6);
  } else {
    EXPECT_FALSE(report.failure.empty());
  }
}

TEST(EquilibriumTest, ArcLengthFollowsTheTrussThroughItsSnap) {
  Analysis a(truss());
  hold_feet(a.held);
  const Real full = 10;
  const DeadLoad load = a.load({{1, {0, -full, 0}}}, Amplitude{{{-100, -100}, {100, 100}}});
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.size = height, .follow_arc = true});

  ASSERT_TRUE(equilibrium.at_time(a.motion, 0.2).converged);
  Increment last{a.motion.u, 0.2};
  Real w = -a.u(1).y(), lowest = 0, highest = 0;
  const PathMeasure measure{w, last.time};
  int steps = 0;
  for (; w < 2.4 * height && steps < 200; ++steps) {
    const Motion start = a.motion;
    const EquilibriumReport report = equilibrium.along_arc(a.motion, last, measure, 1.4);
    ASSERT_TRUE(report.converged) << report.failure << " at w = " << w;
    for (std::size_t k = 0; k < last.u.all().size(); ++k) last.u.all()[k] = a.motion.u.all()[k] - start.u.all()[k];
    last.time = a.motion.time - start.time;
    w = -a.u(1).y();
    EXPECT_NEAR(a.motion.time * full, truss_force(w), 1e-6) << "w = " << w;
    if (w > height) lowest = std::min(lowest, a.motion.time * full);
    if (w < height) highest = std::max(highest, a.motion.time * full);
  }
  EXPECT_LT(steps, 200);
  // It went up to the limit load and down to its opposite, not around them: steps are short against the way between.
  const Real way = height - std::sqrt(std::cbrt(1 + height * height / (half_span * half_span)) - 1) * half_span;
  EXPECT_GT(highest, 0.95 * truss_force(way));
  EXPECT_LT(lowest, -0.95 * truss_force(way));
}

TEST(EquilibriumTest, ArcLengthFollowsATrussThatIsDrawnBySoftBarWhichSnapsBack) {
  // The bar below the apex is a spring of 10 N/m, softer than the truss is steep where it falls, so that its end goes
  // up again while the apex comes down; the path turns sharply at both limits.
  const Real soft = 10;
  test::SpringNet net = truss();
  net.points.emplace_back(0, height - stiffness / soft, 0);
  net.bars.push_back({1, 3});
  Analysis a(std::move(net));
  hold_feet(a.held);
  for (const std::int32_t point : {1, 3})
    for (const int axis : {0, 2}) a.held.hold(point, axis);
  const DeadLoad load = a.load({{3, {0, -1, 0}}}, Amplitude{{{-100, -100}, {100, 100}}});
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.size = height, .follow_arc = true});

  ASSERT_TRUE(equilibrium.at_time(a.motion, 4).converged);
  Increment last{a.motion.u, 4};
  const PathMeasure measure{equilibrium.length_of(last, {1, 1e300}), last.time};
  Real w = -a.u(1).y(), length = 1, reached = 0, least = 0;
  int steps = 0;
  for (; w < 2.2 * height && steps < 100; ++steps) {
    const Motion start = a.motion;
    const EquilibriumReport report = equilibrium.along_arc(a.motion, last, measure, length);
    if (!report.converged) {
      a.motion = start;
      length /= 2;
      continue;
    }
    for (std::size_t k = 0; k < last.u.all().size(); ++k) last.u.all()[k] = a.motion.u.all()[k] - start.u.all()[k];
    last.time = a.motion.time - start.time;
    length = std::min(1.5 * length, 1.0);
    ASSERT_GT(-a.u(1).y(), w) << "the apex comes down all the time";
    w = -a.u(1).y();
    EXPECT_NEAR(a.motion.time, truss_force(w), 1e-6) << "w = " << w;
    EXPECT_NEAR(-a.u(3).y(), w + truss_force(w) / soft, 1e-6);
    reached = std::max(reached, -a.u(3).y());
    least = std::min(least, -a.u(3).y() - reached);
  }
  EXPECT_LT(steps, 100);
  EXPECT_LT(least, -0.3);
}

TEST(EquilibriumTest, ChainThatIsSlackAtFirstHangsInItsCatenary) {
  // Equal weights on equal stiff links: the horizontal tension H is the same in all links, and the vertical one grows
  // by one weight from link to link.
  const std::int32_t links = 24;
  test::SpringNet net{{}, {}, 1e4};
  for (std::int32_t i = 0; i <= links; ++i) net.points.push_back({0.1 * i, 0, 0});
  for (std::int32_t i = 0; i < links; ++i) net.bars.push_back({i, i + 1});
  Analysis a(net);
  for (int axis = 0; axis < 3; ++axis) {
    a.held.hold(0, axis);
    a.held.hold(links, axis, axis == 0 ? -0.8 : 0);
  }
  std::map<std::int32_t, Vec3> weights;
  for (std::int32_t i = 1; i < links; ++i) weights[i] = {0, -1, 0};
  const DeadLoad load = a.load(weights, Amplitude{{{0, 1}}});
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.size = 2.4, .max_iterations = 100});
  for (int step = 0; step <= 8; ++step) {
    const EquilibriumReport report = equilibrium.at_time(a.motion, step / 8.0);
    ASSERT_TRUE(report.converged) << report.failure << " in step " << step;
  }
  Vec3 before = Vec3::Zero();
  for (std::int32_t i = 0; i < links; ++i) {
    const Vec3 d = net.points[i + 1] + a.u(i + 1) - net.points[i] - a.u(i);
    const Vec3 tension = net.stiffness * (d.norm() / 0.1 - 1) * d.normalized();
    if (i > 0) {
      EXPECT_LE((tension - before - Vec3(0, 1, 0)).norm(), 1e-5) << i;
    }
    before = tension;
  }
}

TEST(EquilibriumTest, ConditionsThatDependOnOneAnotherDoNoHarm) {
  Analysis a(truss());
  hold_feet(a.held);
  hold_feet(a.held);
  const Real w = 0.08;
  const DeadLoad load = a.load({{1, {0, -truss_force(w), 0}}});
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.size = height});
  ASSERT_TRUE(equilibrium.at_time(a.motion, 1).converged);
  EXPECT_NEAR(a.u(1).y(), -w, 1e-9);
}

TEST(EquilibriumTest, WhatNothingHoldsIsReportedInWords) {
  Analysis a(truss());
  const DeadLoad load = a.load({{1, {0, -1, 0}}});
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.size = height});
  const EquilibriumReport report = equilibrium.at_time(a.motion, 1);
  EXPECT_FALSE(report.converged);
  EXPECT_FALSE(report.failure.empty());
}

TEST(EquilibriumTest, OptionsOfPetscAreTakenAndWrongOnesAreErrorsOfTheDeck) {
  Analysis a(truss());
  hold_feet(a.held);
  const DeadLoad load = a.load({{1, {0, -1, 0}}});
  const std::vector<const Term*> terms{&a.springs, &load};
  Equilibrium krylov(a.comm, a.freedoms, terms, {&a.held},
                     {.size = height, .petsc = "-ksp_type gmres -pc_type none -ksp_rtol 1e-12"});
  EXPECT_TRUE(krylov.at_time(a.motion, 1).converged);
  for (const char* wrong : {"-ksp_typo gmres", "-pc_type no_such_thing", "-ksp_max_it many"}) {
    const auto construct = [&] {
      Equilibrium(a.comm, a.freedoms, terms, {&a.held}, {.size = height, .petsc = wrong}).at_time(a.motion, 1);
    };
    EXPECT_THROW(construct(), Error) << wrong;
  }
}

/// A straight chain of bars from the origin along x, so stiff that its weight stretches it by 1e-5.
test::SpringNet chain(int bars) {
  test::SpringNet net{{}, {}, 1e5};
  for (int i = 0; i <= bars; ++i) net.points.emplace_back(static_cast<Real>(i) / bars, 0, 0);
  for (int i = 0; i < bars; ++i) net.bars.push_back({i, i + 1});
  return net;
}

TEST(EquilibriumTest, ChainThatIsHeldLevelByOneEndSwingsDown) {
  constexpr int bars = 12;
  Analysis a(chain(bars));
  for (int axis = 0; axis < 3; ++axis) a.held.hold(0, axis);
  std::map<std::int32_t, Vec3> weight;
  for (int i = 1; i <= bars; ++i) weight[i] = {0, 0, -1.0 / bars};
  const DeadLoad load = a.load(weight);
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.slack = true, .elastic_terms = 1});
  const EquilibriumReport report = equilibrium.at_time(a.motion, 1);
  ASSERT_TRUE(report.converged) << report.failure;
  // Bar i carries what hangs below it.
  Real z = 0;
  for (int i = 1; i <= bars; ++i) {
    z -= (1 + static_cast<Real>(bars + 1 - i) / bars / 1e5) / bars;
    EXPECT_LE((a.u(i) - Vec3(-static_cast<Real>(i) / bars, 0, z)).norm(), 1e-7);
  }
}

TEST(EquilibriumTest, SlackChainHangsBetweenItsEndsInAPolygonOfForces) {
  constexpr int bars = 10;
  Analysis a(chain(bars));
  for (int axis = 0; axis < 3; ++axis) {
    a.held.hold(0, axis);
    a.held.hold(bars, axis, axis == 0 ? -0.4 : 0);
  }
  std::map<std::int32_t, Vec3> weight;
  for (int i = 1; i < bars; ++i) weight[i] = {0, 0, -1.0 / bars};
  const DeadLoad load = a.load(weight);
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.slack = true, .elastic_terms = 1});
  ASSERT_TRUE(equilibrium.at_time(a.motion, 1).converged);
  // Bars are as steep as the weight below them over the horizontal pull H: sum of the bars' widths = 0.6.
  const auto width = [](Real H) {
    Real sum = 0;
    for (int i = 1; i <= bars; ++i) sum += H / std::hypot(H, (0.5 * (bars + 1) - i) / bars) / bars;
    return sum;
  };
  Real low = 0, high = 10;
  for (int k = 0; k < 60; ++k) (width((low + high) / 2) < 0.6 ? low : high) = (low + high) / 2;
  Real x = 0, z = 0;
  for (int i = 1; i <= bars; ++i) {
    const Real V = (0.5 * (bars + 1) - i) / bars, T = std::hypot(low, V);
    x += low / T / bars;
    z -= V / T / bars;
    EXPECT_LE((a.u(i) - Vec3(x - static_cast<Real>(i) / bars, 0, z)).norm(), 1e-4);  // bars stretch by 1e-5
  }
}

}  // namespace
}  // namespace weft
