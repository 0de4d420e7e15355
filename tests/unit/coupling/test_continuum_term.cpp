// Continua of every law as Terms of the grid: forces and their changes against differences, on all ranks.

#include "weft/bodies/continuum.hpp"
#include "weft/coupling/continuum_term.hpp"

#include "support/points_on_grid.hpp"
#include "support/random_matrices.hpp"
#include "support/some_constants.hpp"
#include "support/term_checks.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>

namespace weft::test {
namespace {

constexpr Real dx = 0.1, dt = 1e-2;

/// A cloud of strained points of one law over several blocks, each point on the rank that owns its block.
template <class L>
struct Carried : PointsOnGrid {
  TransferSettings transfer{.kernel = KernelKind::quadratic, .dx = dx, .rpic_damping = 0};
  std::unique_ptr<PointBody> body = make_continuum("lump", Chosen<L>{some_constants<L>()}, 700);

  explicit Carried(KernelKind kernel = KernelKind::quadratic, std::size_t count = 80) {
    transfer.kernel = kernel;
    MatrixSource source(5);
    std::vector<Vec3> x;
    std::vector<Mat3> F;
    for (std::size_t p = 0; p < count; ++p) {
      x.push_back(5 * dx * source.vector());
      F.push_back(source.near_identity(p % 2 == 0 ? 0.02 : 0.15));
      if (p % 3 == 0) F.back() *= 0.95;              // sand must be pressed to bear anything
      if (std::is_same_v<L, Tait>) F.back() *= 0.9;  // the pressure of liquids has a kink at rest
    }
    place(*body, dx, x, [&](std::size_t row, std::uint32_t p) {
      body->rest(row, (1 + 0.5 * std::sin(Real(p))) * 1e-4);
      body->points().template get<typename L::Kept>()[row] = L::kept(F[p]);
    });
  }

  ContinuumTerm term(bool in_loop) const {
    return {*body, dynamic_cast<const TrialBody&>(*body), bins, transfer, in_loop};
  }
  Motion moved(Real size) const {
    Motion motion(*freedoms);
    motion.rate_per_u = 1 / dt;
    motion.u = random_values(*freedoms, size, 4);
    return motion;
  }
};

template <class L>
struct OfLaw : testing::Test {};
template <class... L>
using Types = testing::Types<L...>;
TYPED_TEST_SUITE(OfLaw, AllLaws::In<Types>);

TYPED_TEST(OfLaw, ForcesAndTheirChangesAreDerivatives) {
  const Carried<TypeParam> carried;
  for (const bool in_loop : {false, true}) {
    SCOPED_TRACE(in_loop ? "flow in the loop" : "flow lags");
    const ContinuumTerm term = carried.term(in_loop);
    check_term(term, carried.moved(0.02 * dx), 0.002 * dx);
  }
}

TYPED_TEST(OfLaw, WhatTheTangentLeavesOutIsOfSecondOrder) {
  const Carried<TypeParam> carried;
  const ContinuumTerm term = carried.term(false);
  const Motion at = carried.moved(0.02 * dx);
  const FreedomValues du = random_values(*carried.freedoms, 0.05 * dx, 21);
  const auto linear = term.linearise(at);
  const auto remainder = [&](Real h) {
    Load rest = force_of(term, moved(at, du, h));
    const Load before = force_of(term, at);
    FreedomValues step(*carried.freedoms);
    for (std::size_t i = 0; i < step.all().size(); ++i) step.all()[i] = h * du.all()[i];
    Load change(*carried.freedoms);
    term.add_force_change(*linear, step, change);
    for (std::size_t i = 0; i < rest.all().size(); ++i) rest.all()[i] -= before.all()[i] + change.all()[i];
    Load summed = rest;
    summed.sum_to_owners();
    return std::sqrt(work(rest, summed));
  };
  const Real coarse = remainder(0.1), fine = remainder(0.01);
  EXPECT_GT(coarse, 0);
  EXPECT_NEAR(std::log10(coarse / fine), 2, 0.1);
}

TYPED_TEST(OfLaw, DefiniteTangentsAreSymmetricAndNeverNegative) {
  const Carried<TypeParam> carried;
  for (const bool in_loop : {false, true}) {
    const ContinuumTerm term = carried.term(in_loop);
    const auto linear = term.linearise_definite(carried.moved(0.05 * dx));
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
      const FreedomValues a = random_values(*carried.freedoms, dx, seed), b = random_values(*carried.freedoms, dx, 9);
      Load change_a(*carried.freedoms), change_b(*carried.freedoms);
      term.add_force_change(*linear, a, change_a);
      term.add_force_change(*linear, b, change_b);
      const Real size = std::abs(work(change_a, a));
      EXPECT_LE(work(change_a, a), 0);
      EXPECT_NEAR(work(change_a, b), work(change_b, a), 1e-11 * size);
    }
  }
}

TYPED_TEST(OfLaw, NodeBlocksAreThoseOfTheTangent) {
  for (const KernelKind kernel : {KernelKind::linear, KernelKind::quadratic, KernelKind::cubic}) {
    const Carried<TypeParam> carried(kernel, 20);
    const ContinuumTerm term = carried.term(true);
    const auto linear = term.linearise(carried.moved(0.02 * dx));
    const std::size_t nodes = static_cast<std::size_t>(carried.map.size()) * nodes_per_block;
    std::vector<Real> blocks(9 * nodes, 0.0);
    term.add_diagonal_blocks(*linear, 0, blocks);
    struct Diagonal : Tangent {
      std::vector<Real> blocks;
      void add(std::span<const std::int32_t> at, std::span<const std::int32_t> to, std::span<const Real> k) override {
        for (std::size_t i = 0; i < at.size(); ++i)
          for (std::size_t j = 0; j < to.size(); ++j)
            if (at[i] / NodeField::width == to[j] / NodeField::width)
              blocks[9 * static_cast<std::size_t>(at[i] / NodeField::width) +
                     static_cast<std::size_t>(3 * (at[i] % NodeField::width) + to[j] % NodeField::width)] +=
                  k[i * to.size() + j];
      }
    } expected;
    expected.blocks.assign(9 * nodes, 0.0);
    term.add_tangent(*linear, expected);
    Real largest = 0;
    for (const Real b : expected.blocks) largest = std::max(largest, std::abs(b));
    for (std::size_t i = 0; i < blocks.size(); ++i) ASSERT_NEAR(blocks[i], expected.blocks[i], 1e-13 * largest);
  }
}

TEST(ContinuumTermTest, MovesAsOneBodyCostsNothingAndTurningIsFree) {
  // Forces of a solid do not depend on how it is moved and turned: energy is that at rest.
  Carried<NeoHookean> carried;
  const ContinuumTerm term = carried.term(false);
  Motion still = carried.moved(0), turned = carried.moved(0);
  Mat3 R;
  R = Eigen::AngleAxis<Real>(0.3, Vec3(1, 2, -1).normalized());
  for (int b = 0; b < carried.map.size(); ++b)
    for (int place = 0; place < nodes_per_block; ++place) {
      const Vec3 x = (carried.map.first_node(b) + node_at_place(place)).cast<Real>() * dx;
      Eigen::Map<Vec3>(turned.u.block(0).data() + (b * nodes_per_block + place) * NodeField::width) =
          (R - Mat3::Identity()) * x + Vec3(0.1, 0.2, 0.3);
    }
  const Real before = Comm::world().sum(term.energy(still)), after = Comm::world().sum(term.energy(turned));
  EXPECT_GT(before, 0);
  EXPECT_NEAR(after, before, 1e-12 * before);
}

TEST(ContinuumTermTest, ThreadsChangeNoBit) {
  Carried<StvkHencky> carried(KernelKind::quadratic, 500);
  const ContinuumTerm term = carried.term(false);
  const Motion at = carried.moved(0.02 * dx);
  std::vector<std::vector<Real>> results;
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    const auto linear = term.linearise(at);
    Load all = force_of(term, at);
    term.add_force_change(*linear, at.u, all);
    std::vector<Real> values(all.all().begin(), all.all().end());
    values.push_back(term.energy(at));
    results.push_back(std::move(values));
  }
  omp_set_num_threads(before);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

}  // namespace
}  // namespace weft::test
