// Signatures of tangents against what can be counted by hand, and mechanisms, on every rank count.

#include "solve/lanczos.hpp"
#include "solve/symmetric_factor.hpp"
#include "weft/solve/equilibrium.hpp"

#include "support/spring_analysis.hpp"

#include "parallel/call.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace weft {
namespace {

using namespace test;

const std::string iterative = "-ksp_type gmres -pc_type none -ksp_rtol 1e-12 -ksp_max_it 1000";

/// A truss that balances a dead load with its apex down by w: beyond the limit not stably.
struct LoadedTruss : Analysis {
  DeadLoad load;
  explicit LoadedTruss(Real w, int holds = 1)
      : Analysis(truss()), load(Analysis::load({{1, {0, -truss_force(w), 0}}}, {{{0, 1}}})) {
    for (int k = 0; k < holds; ++k) hold_feet(held);
    for (std::size_t r = 0; r < dealt.point_of_row.size(); ++r)
      if (dealt.point_of_row[r] == 1) motion.u.points(0)[r].y() = -w;
  }
  Stability look(const std::string& petsc = "", const Foresight& foresight = {}, std::vector<const Term*> more = {}) {
    more.insert(more.begin(), {&springs, &load});
    Equilibrium equilibrium(comm, freedoms, std::move(more), {&held}, {.size = height, .petsc = petsc});
    EXPECT_TRUE(equilibrium.at_time(motion, 1).converged);
    return equilibrium.examine(motion, foresight);
  }
  /// Of a motion at the apex, everywhere.
  Vec3 at_apex(const FreedomValues& values) const {
    Vec3 sum = Vec3::Zero();
    for (std::size_t r = 0; r < dealt.forest.owned(); ++r)
      if (dealt.point_of_row[r] == 1) sum += values.points(0)[r];
    comm.sum(std::span(sum.data(), 3));
    return sum;
  }
};

TEST(StabilityTest, TrussIsStableUpToItsLimitAndBeyondItsOpposite) {
  const Real limit = height - std::sqrt(std::cbrt(1 + height * height / (half_span * half_span)) - 1) * half_span;
  for (const auto& [w, negative] : {std::pair{0.99 * limit, 0},
                                    {1.01 * limit, 1},
                                    {height, 1},
                                    {2 * height - 1.01 * limit, 1},
                                    {2 * height - 0.99 * limit, 0}}) {
    const Stability found = LoadedTruss(w).look();
    EXPECT_EQ(found.count, Stability::Count::exact);
    EXPECT_EQ(found.negative, negative) << w;
    EXPECT_EQ(found.mode.has_value(), negative > 0);
  }
}

TEST(StabilityTest, ModeOfTheTrussIsTheWayOfItsApex) {
  LoadedTruss truss(height);
  const Stability found = truss.look();
  ASSERT_TRUE(found.mode);
  EXPECT_LT(found.lowest, 0);
  EXPECT_LE((truss.at_apex(*found.mode) - Vec3(0, 1, 0)).norm(), 1e-6);
}

TEST(StabilityTest, ConditionsThatDependOnOneAnotherDoNotChangeTheSignature) {
  for (const Real w : {0.1, height})
    for (const int holds : {1, 2, 3})
      EXPECT_EQ(LoadedTruss(w, holds).look().negative, w == height ? 1 : 0) << w << ", held " << holds << " times";
}

TEST(StabilityTest, WithoutFactorsLanczosFindsWhatIsNotSoft) {
  for (const Real w : {0.1, height}) {
    LoadedTruss truss(w, 2);
    const Stability found = truss.look(iterative, {0.5, 2});
    EXPECT_EQ(found.count, Stability::Count::at_least);
    EXPECT_EQ(found.negative, w == height ? 1 : 0);
    EXPECT_FALSE(found.ahead || found.behind);
    if (found.mode) {
      EXPECT_LE((truss.at_apex(*found.mode) - Vec3(0, 1, 0)).norm(), 1e-2);
    }
  }
}

TEST(StabilityTest, PressedChainIsUnstableInAllWaysAcross) {
  // Between two points that cannot move across, each of the others can in two ways.
  const std::int32_t bars = 8;
  SpringNet net{{}, {}, 1000};
  for (std::int32_t i = 0; i <= bars; ++i) net.points.push_back({0, Real(i), 0});
  for (std::int32_t i = 0; i < bars; ++i) net.bars.push_back({i, i + 1});
  for (const Real strain : {-0.1, 0.1}) {
    Analysis a(net);
    for (int axis = 0; axis < 3; ++axis) a.held.hold(0, axis);
    for (const int axis : {0, 2}) a.held.hold(bars, axis);
    for (std::size_t r = 0; r < a.dealt.point_of_row.size(); ++r)
      a.motion.u.points(0)[r].y() = strain * a.dealt.point_of_row[r];
    const DeadLoad load = a.load({{bars, {0, strain * net.stiffness, 0}}});
    Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.size = 8});
    ASSERT_TRUE(equilibrium.at_time(a.motion, 1).converged);
    EXPECT_EQ(equilibrium.examine(a.motion, {}).negative, strain < 0 ? 2 * (bars - 1) : 0);
  }
}

/// Force -A du on the apex of a truss, du from where it is balanced.
class LinearForce : public Term {
 public:
  LinearForce(const DealtNet& net, const Mat3& A) : A_(A) {
    for (std::size_t r = 0; r < net.forest.owned(); ++r)
      if (net.point_of_row[r] == 1) row_ = static_cast<std::int32_t>(r);
  }
  bool has_energy() const override { return false; }
  Real energy(const Motion&) const override { return 0; }
  void add_force(const Motion& motion, Load& force) const override {
    static_cast<void>(motion), static_cast<void>(force);
  }
  std::unique_ptr<Linear> linearise(const Motion&) const override { return std::make_unique<Linear>(); }
  void add_force_change(const Linear&, const FreedomValues& du, Load& change) const override {
    if (row_ >= 0) change.points(0)[row_] -= A_ * du.points(0)[row_];
  }
  void add_tangent(const Linear&, Tangent& tangent) const override {
    if (row_ < 0) return;
    const std::array<std::int32_t, 3> freedoms{3 * row_, 3 * row_ + 1, 3 * row_ + 2};
    const Eigen::Matrix<Real, 3, 3, Eigen::RowMajor> k = A_;
    tangent.add(freedoms, std::span(k.data(), 9));
  }

 private:
  Mat3 A_;
  std::int32_t row_ = -1;
};

TEST(StabilityTest, OfAnUnsymmetricTangentTheSymmetricPartDecides) {
  for (const Real spin : {0.0, 100.0})
    for (const Real stiffness_down : {0.0, -1000.0}) {
      LoadedTruss truss(0.1);
      const Mat3 A = (Mat3() << 0, spin, 0, -spin, stiffness_down, 0, 0, 0, 0).finished();
      const LinearForce follower(truss.dealt, A);
      const Stability found = truss.look("", {}, {&follower});
      EXPECT_EQ(found.count, Stability::Count::exact);
      EXPECT_EQ(found.negative, stiffness_down < 0 ? 1 : 0);
    }
}

TEST(StabilityTest, TangentsForeseeSmallIncrementsFromBothEnds) {
  const Real w = 1e-6;
  for (const Real time : {0.0, 1.0}) {
    Analysis a(truss());
    hold_feet(a.held);
    const DeadLoad load = a.load({{1, {0, -truss_force(w), 0}}});
    Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.size = height});
    ASSERT_TRUE(equilibrium.at_time(a.motion, time).converged);
    const Stability found = equilibrium.examine(a.motion, {0, 1});
    ASSERT_TRUE(found.ahead && found.behind);
    const auto apex = [&](const FreedomValues& u) { return equilibrium.length_of({u, 0}, {1, 1}); };
    EXPECT_NEAR(apex(*found.ahead), time == 0 ? w : 0, 1e-4 * w);
    EXPECT_NEAR(apex(*found.behind), time == 1 ? w : 0, 1e-4 * w);
  }
}

TEST(StabilityTest, AlongTheArcTheSignatureIsThatUnderTheDeadLoad) {
  Analysis a(truss());
  hold_feet(a.held);
  const DeadLoad load = a.load({{1, {0, -10, 0}}}, Amplitude{{{-100, -100}, {100, 100}}});
  Equilibrium equilibrium(a.comm, a.freedoms, {&a.springs, &load}, {&a.held}, {.size = height, .follow_arc = true});
  ASSERT_TRUE(equilibrium.at_time(a.motion, 0.2).converged);
  Increment last{a.motion.u, 0.2};
  Real w = -a.u(1).y();
  const PathMeasure measure{w, last.time};
  int unstable = 0;
  for (int step = 0; w < 2.2 * height && step < 200; ++step) {
    const Motion start = a.motion;
    ASSERT_TRUE(equilibrium.along_arc(a.motion, last, measure, 1.4).converged);
    for (std::size_t k = 0; k < last.u.all().size(); ++k) last.u.all()[k] = a.motion.u.all()[k] - start.u.all()[k];
    last.time = a.motion.time - start.time;
    w = -a.u(1).y();
    const bool falls = truss_force(w + 1e-6) < truss_force(w - 1e-6);
    EXPECT_EQ(equilibrium.examine(a.motion, {}).negative, falls ? 1 : 0) << "w = " << w;
    unstable += falls ? 1 : 0;
  }
  EXPECT_GT(unstable, 3);
  EXPECT_GE(w, 2.2 * height);
}

// --- Mechanisms ------------------------------------------------------------------------------------------------------

std::vector<FreeComponent> free_components(Analysis& a, const std::vector<const Term*>& loads = {}) {
  std::vector<const Term*> terms{&a.springs};
  terms.insert(terms.end(), loads.begin(), loads.end());
  Equilibrium equilibrium(a.comm, a.freedoms, terms, {&a.held}, {.size = 1});
  std::vector<Vec3> positions;
  for (const std::int32_t point : a.dealt.point_of_row) positions.push_back(a.net.points[point]);
  return equilibrium.free_components(a.motion, {positions});
}

TEST(FreeComponentsTest, WhatNothingHoldsHasAllRigidMotions) {
  Analysis a(truss());
  const std::vector<FreeComponent> free = free_components(a);
  ASSERT_EQ(free.size(), 1u);
  EXPECT_FALSE(free[0].is_held);
  EXPECT_EQ(free[0].motions.size(), 6u);
  EXPECT_EQ(free[0].points, 3);
  EXPECT_EQ(free[0].components, 1);
  EXPECT_LE((free[0].center - Vec3(0, height / 3, 0)).norm(), 1e-14);
}

TEST(FreeComponentsTest, WhatIsHeldHasNone) {
  Analysis a(truss());
  hold_feet(a.held);
  EXPECT_TRUE(free_components(a).empty());
}

TEST(FreeComponentsTest, PieceThatIsNotWeldedIsFoundBesideOneThatIsHeld) {
  SpringNet net = truss();
  for (const Real y : {2.0, 3.0, 4.0}) net.points.push_back({5, y, 1});
  net.bars.push_back({3, 4});
  net.bars.push_back({4, 5});
  Analysis a(net);
  hold_feet(a.held);
  const std::vector<FreeComponent> free = free_components(a);
  ASSERT_EQ(free.size(), 1u);
  EXPECT_FALSE(free[0].is_held);
  EXPECT_EQ(free[0].components, 2);
  EXPECT_EQ(free[0].points, 3);
  EXPECT_EQ(free[0].motions.size(), 5u);  // a straight line does not turn about itself
  EXPECT_LE((free[0].center - Vec3(5, 3, 1)).norm(), 1e-14);
}

TEST(FreeComponentsTest, MotionsThatHoldsLeaveAreNamed) {
  Analysis a(truss());
  for (const std::int32_t foot : {0, 2})
    for (const int axis : {1, 2}) a.held.hold(foot, axis);
  const std::vector<FreeComponent> free = free_components(a);
  ASSERT_EQ(free.size(), 1u);
  EXPECT_TRUE(free[0].is_held);
  ASSERT_EQ(free[0].motions.size(), 2u);  // along the line of the feet, and about it
  for (const FreeComponent::Motion& motion : free[0].motions)
    for (const std::int32_t foot : {0, 2}) {
      const Vec3 moved = motion.shift + motion.turn.cross(a.net.points[foot] - free[0].center);
      EXPECT_LE(Vec3(0, moved.y(), moved.z()).norm(), 1e-9 * (motion.shift.norm() + motion.turn.norm()));
    }
}

TEST(FreeComponentsTest, PendulumIsFreeUnlessItIsPulledDown) {
  SpringNet net{{{0, 0, 0}, {0, -1, 0}}, {{0, 1}}, 1000};
  for (const Real pull : {0.0, 1.0}) {
    Analysis a(net);
    for (int axis = 0; axis < 3; ++axis) a.held.hold(0, axis);
    const DeadLoad load = a.load({{1, {0, -pull, 0}}}, Amplitude{{{0, 1}}});
    for (std::size_t r = 0; r < a.dealt.point_of_row.size(); ++r)
      if (a.dealt.point_of_row[r] == 1) a.motion.u.points(0)[r].y() = -pull / net.stiffness;
    const std::vector<FreeComponent> free = free_components(a, {&load});
    ASSERT_EQ(free.size(), pull == 0 ? 1u : 0u);
    if (pull == 0) {
      EXPECT_EQ(free[0].motions.size(), 2u);
    }
  }
}

// --- Eigenvalues -----------------------------------------------------------------------------------------------------

TEST(LanczosTest, LowestEigenvaluesOfADiagonalAreFound) {
  const Comm comm = Comm::world();
  const std::size_t count = 40 / static_cast<std::size_t>(comm.size()) + 3;
  const std::int64_t first = comm.offset(static_cast<std::int64_t>(count));
  const auto value = [&](std::size_t i) { return Real(first) + Real(i) - 1.5; };
  const WeightedOperator diagonal{[&](std::span<const Real> in, std::span<Real> out) {
                                    for (std::size_t i = 0; i < in.size(); ++i) out[i] = value(i) * in[i];
                                  },
                                  std::vector<Real>(count, 2.0)};
  const LanczosResult found = lowest_eigenvalues(comm, diagonal, std::vector<Real>(count, 1.0), {2, 1e-8, 100});
  ASSERT_EQ(found.vectors.size(), 2u);
  EXPECT_NEAR(found.values[0], -1.5, 1e-7);
  EXPECT_NEAR(found.values[1], -0.5, 1e-7);
  if (comm.is_root()) {
    EXPECT_NEAR(std::abs(found.vectors[0][0]), std::sqrt(0.5), 1e-6);
    EXPECT_NEAR(std::abs(found.vectors[1][1]), std::sqrt(0.5), 1e-6);
  }
}

TEST(LanczosTest, ExhaustedSpaceEndsEarly) {
  const Comm comm = Comm::world();
  const WeightedOperator twice{[](std::span<const Real> in, std::span<Real> out) {
                                 for (std::size_t i = 0; i < in.size(); ++i) out[i] = -2 * in[i];
                               },
                               std::vector<Real>(4, 1.0)};
  const LanczosResult found = lowest_eigenvalues(comm, twice, std::vector<Real>(4, 1.0), {3, 1e-8, 100});
  ASSERT_EQ(found.values.size(), 1u);
  EXPECT_NEAR(found.values[0], -2, 1e-14);
}

/// Diagonal blocks [d, 1 + s; 1 - s, 0] on each rank: one negative eigenvalue of the symmetric part for every block,
/// whatever d is; and a positive one.
Mat saddles(const Comm& comm, PetscInt blocks, Real skew) {
  Mat matrix = nullptr;
  check_petsc(MatCreateAIJ(comm.handle(), 2 * blocks, 2 * blocks, PETSC_DETERMINE, PETSC_DETERMINE, 2, nullptr, 2,
                           nullptr, &matrix));
  PetscInt begin = 0;
  check_petsc(MatGetOwnershipRange(matrix, &begin, nullptr));
  for (PetscInt b = 0; b < blocks; ++b) {
    const std::array<PetscInt, 2> at{begin + 2 * b, begin + 2 * b + 1};
    const std::array<PetscScalar, 4> values{b % 2 == 0 ? 3.0 : -3.0, 1 + skew, 1 - skew, 0};
    check_petsc(MatSetValues(matrix, 2, at.data(), 2, at.data(), values.data(), ADD_VALUES));
  }
  check_petsc(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  check_petsc(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  return matrix;
}

TEST(SymmetricFactorTest, InertiaOfSaddlePointsIsCountedAndSystemsAreSolvedByAllRanksAndByEach) {
  const Comm comm = Comm::world();
  for (const Factors whose : {Factors::of_all_ranks, Factors::of_each_rank})
    for (const Real skew : {0.0, 5.0}) {
      const SymmetricFactor factor(comm, saddles(comm, 4, skew), whose);
      ASSERT_TRUE(factor.is_factored());
      EXPECT_EQ(factor.negative(), 4 * comm.size());

      Vec x = nullptr, solution = nullptr, product = nullptr;
      PetscReal error = 0;
      check_petsc(MatCreateVecs(factor.matrix(), &x, &product));
      check_petsc(VecDuplicate(x, &solution));
      for (PetscInt k = 0; k < 8; ++k) {
        const PetscInt at = 8 * comm.rank() + k;
        check_petsc(VecSetValue(x, at, std::sin(1.0 + static_cast<Real>(at)), INSERT_VALUES));
      }
      check_petsc(VecAssemblyBegin(x));
      check_petsc(VecAssemblyEnd(x));
      check_petsc(MatMult(factor.matrix(), x, product));
      factor.solve(product, solution);
      check_petsc(VecAXPY(solution, -1, x));
      check_petsc(VecNorm(solution, NORM_INFINITY, &error));
      EXPECT_LT(error, 1e-14);
      for (Vec* vector : {&x, &solution, &product}) check_petsc(VecDestroy(vector));
    }
}

}  // namespace
}  // namespace weft
