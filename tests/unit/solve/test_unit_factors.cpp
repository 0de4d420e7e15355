// Factors of units against dense ones.

#include "solve/unit_factors.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <Eigen/Dense>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

namespace weft {
namespace {

using Matrix = Eigen::MatrixXd;

/// Chains whose links join three unknowns that follow one another, every other one closed, and a multiplier that holds
/// an unknown of each; numbers of unknowns are shuffled.
struct Chains {
  std::size_t unknowns = 0, multipliers = 0;
  Cliques cliques;
  Matrix dense;
  std::vector<std::pair<std::array<std::int32_t, 3>, Matrix>> links;
  std::mt19937 random{7};

  Chains(const std::vector<std::size_t>& lengths, bool symmetric) {
    const std::size_t free = std::accumulate(lengths.begin(), lengths.end(), std::size_t(0));
    multipliers = lengths.size();
    unknowns = free + multipliers;
    dense = Matrix::Zero(static_cast<Eigen::Index>(unknowns), static_cast<Eigen::Index>(unknowns));
    std::vector<std::int32_t> number(free);
    std::iota(number.begin(), number.end(), 0);
    std::shuffle(number.begin(), number.end(), random);
    std::size_t first = 0;
    for (std::size_t c = 0; c < lengths.size(); ++c) {
      const std::size_t n = lengths[c], links = c % 2 == 0 ? n - 2 : n;  // every other one is closed
      for (std::size_t k = 0; k < links; ++k)
        link({number[first + k], number[first + (k + 1) % n], number[first + (k + 2) % n]}, symmetric);
      const auto multiplier = static_cast<std::int32_t>(free + c);
      dense(number[first], multiplier) = dense(multiplier, number[first]) = -1;
      dense(multiplier, multiplier) = -1e-9;
      join({number[first], multiplier});
      join({multiplier});
      first += n;
    }
  }

  void join(std::initializer_list<std::int32_t> them) {
    cliques.unknown.insert(cliques.unknown.end(), them);
    cliques.close();
  }
  /// Definite, but for a skew part of its own.
  void link(const std::array<std::int32_t, 3>& them, bool symmetric) {
    join({them[0], them[1], them[2]});
    std::uniform_real_distribution<Real> any(-1, 1);
    const Matrix A = Matrix::NullaryExpr(3, 3, [&] { return any(random); });
    const Matrix K = A * A.transpose() + 0.1 * Matrix::Identity(3, 3) + (symmetric ? 0 : 1) * (A - A.transpose());
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        dense(them[i], them[j]) += K(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
    links.emplace_back(them, K);
  }
  /// Entry by entry, or links at once.
  void fill(UnitFactors& factors, bool by_squares) const {
    factors.set_zero();
    Matrix rest = dense;
    for (const auto& [them, K] : links) {
      std::array<std::uint32_t, 3> places{};
      for (std::size_t i = 0; i < 3; ++i) {
        places[i] = factors.place(them[i]);
        for (std::size_t j = 0; j < 3 && by_squares; ++j) rest(them[i], them[j]) = 0;
      }
      if (by_squares) factors.add_square(places, {K.data(), 9});
    }
    for (std::int32_t i = 0; i < rest.rows(); ++i)
      for (std::int32_t j = 0; j < rest.cols(); ++j)
        if (rest(i, j) != 0) factors.add(factors.place(i), factors.place(j), rest(i, j));
  }
};

void expect_solves(bool symmetric) {
  Chains chains({3, 9, 40, 17, 5}, symmetric);
  UnitFactors factors(chains.unknowns, chains.multipliers, chains.cliques, symmetric);
  EXPECT_EQ(factors.units(), 5U);
  const Eigen::VectorXd wanted = Eigen::VectorXd::Random(chains.dense.rows());
  const Eigen::VectorXd right = chains.dense * wanted;
  std::vector<Real> x(chains.unknowns), with_threads(chains.unknowns);
  const int threads = omp_get_max_threads();
  for (std::vector<Real>* solution : {&x, &with_threads}) {
    omp_set_num_threads(solution == &x ? 1 : 3);
    chains.fill(factors, symmetric);
    ASSERT_TRUE(factors.factor());
    factors.solve({right.data(), chains.unknowns}, *solution);
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(x, with_threads);
  const Eigen::VectorXd found = Eigen::Map<const Eigen::VectorXd>(x.data(), chains.dense.rows());
  EXPECT_LT((found - wanted).norm(), 1e-9 * wanted.norm());
}

TEST(UnitFactorsTest, SolveSymmetricMatricesWithMultipliers) { expect_solves(true); }
TEST(UnitFactorsTest, SolveOtherMatricesWithMultipliers) { expect_solves(false); }

TEST(UnitFactorsTest, AVanishingPivotIsReported) {
  Cliques cliques;
  cliques.unknown = {0, 1};
  cliques.close();
  UnitFactors factors(2, 0, cliques, true);
  factors.set_zero();
  for (std::int32_t i = 0; i < 2; ++i)
    for (std::int32_t j = 0; j < 2; ++j) factors.add(factors.place(i), factors.place(j), 1);
  EXPECT_FALSE(factors.factor());
}

TEST(UnitFactorsTest, ARankMayHaveNoUnknown) {
  UnitFactors factors(0, 0, Cliques(), true);
  EXPECT_TRUE(factors.factor());
  factors.solve({}, {});
  EXPECT_EQ(factors.units(), 0U);
}

}  // namespace
}  // namespace weft
