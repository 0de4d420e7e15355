// A matrix that is filled by calls which repeat, on every rank count.

#include "solve/listed_matrix.hpp"

#include "parallel/call.hpp"
#include "weft/base/random.hpp"

#include <gtest/gtest.h>
#include <Eigen/Core>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {
namespace {

constexpr PetscInt own = 7;          ///< Unknowns of each rank.
constexpr std::uint32_t calls = 40;  ///< Of each rank in a round.

/// What a rank adds in a call: its own unknowns and those of all others, some of them twice, in any order.
struct Call {
  std::vector<PetscInt> rows, columns;
  std::vector<PetscScalar> k;

  Call(int rank, std::uint32_t number, std::uint32_t round, PetscInt unknowns) {
    Random where(static_cast<std::uint32_t>(rank), 0, number), what(static_cast<std::uint32_t>(rank), round, number);
    const auto any = [&](PetscInt below) { return static_cast<PetscInt>(where.uniform() * below); };
    const auto points = [&](std::vector<PetscInt>& numbers, PetscInt count) {
      for (PetscInt n = 0; n < count; ++n) {
        const PetscInt first = any(unknowns - 2);
        for (PetscInt c = 0; c <= any(3); ++c) numbers.push_back(first + c);
      }
    };
    points(rows, 1 + any(4));
    if (number % 3 == 0) points(columns, 1 + any(3));
    else columns = rows;
    for (std::size_t i = 0; i < rows.size() * columns.size(); ++i) k.push_back(what.uniform() - 0.5);
  }
};

struct Rounds {
  const Comm comm = Comm::world();
  const PetscInt unknowns = own * comm.size();
  ListedMatrix matrix{comm, own* comm.rank(), own};

  void add_all(std::uint32_t round) {
    for (std::uint32_t n = 0; n < calls; ++n) {
      const Call call(comm.rank(), n, round, unknowns);
      matrix.add(call.rows, call.columns, call.k);
    }
  }
  void fill(std::uint32_t round) {
    matrix.begin();
    add_all(round);
    matrix.finish();
  }
  /// What all ranks add.
  Eigen::MatrixXd sum(std::uint32_t round) const {
    Eigen::MatrixXd all = Eigen::MatrixXd::Zero(unknowns, unknowns);
    for (int rank = 0; rank < comm.size(); ++rank)
      for (std::uint32_t n = 0; n < calls; ++n) {
        const Call call(rank, n, round, unknowns);
        for (std::size_t i = 0; i < call.rows.size(); ++i)
          for (std::size_t j = 0; j < call.columns.size(); ++j)
            all(call.rows[i], call.columns[j]) += call.k[i * call.columns.size() + j];
      }
    return all;
  }
  /// The rows of this rank.
  Eigen::MatrixXd rows() const {
    Eigen::MatrixXd found(own, unknowns);
    for (PetscInt i = 0; i < own; ++i)
      for (PetscInt j = 0; j < unknowns; ++j) {
        const PetscInt row = own * comm.rank() + i;
        check_petsc(MatGetValues(matrix.matrix(), 1, &row, 1, &j, &found(i, j)));
      }
    return found;
  }
};

TEST(ListedMatrixTest, HasTheSumsOfEachRound) {
  Rounds rounds;
  rounds.add_all(0);
  rounds.matrix.lay_out();
  for (const std::uint32_t round : {0u, 1u, 2u}) {
    rounds.fill(round);
    const Eigen::MatrixXd expected = rounds.sum(round).middleRows(own * rounds.comm.rank(), own);
    EXPECT_GT(expected.norm(), 1);
    EXPECT_LT((rounds.rows() - expected).norm(), 1e-14 * expected.norm());
  }
}

TEST(ListedMatrixTest, RepeatsItsBitsWheneverMessagesArrive) {
  Eigen::MatrixXd first;
  for (std::uint32_t repetition = 0; repetition < 20; ++repetition) {
    Rounds rounds;
    rounds.add_all(0);
    rounds.matrix.lay_out();
    rounds.fill(repetition);
    rounds.fill(5);
    const Eigen::MatrixXd found = rounds.rows();
    if (repetition == 0) first = found;
    EXPECT_TRUE((first.array() == found.array()).all());
    // Ranks come late in turn.
    if (rounds.comm.rank() == static_cast<int>(repetition) % rounds.comm.size())
      for (volatile int wait = 0; wait < 1000000;) wait = wait + 1;
  }
}

TEST(ListedMatrixTest, KeepsItsPatternWhereValuesVanishAndMayBeTakenAway) {
  Rounds rounds;
  rounds.add_all(0);
  rounds.matrix.lay_out();
  rounds.fill(0);
  PetscObjectState state = 0, later = 0;
  check_petsc(MatGetNonzeroState(rounds.matrix.matrix(), &state));
  rounds.matrix.begin();
  for (std::uint32_t n = 0; n < calls; ++n) {
    Call call(rounds.comm.rank(), n, 0, rounds.unknowns);
    std::ranges::fill(call.k, 0);
    rounds.matrix.add(call.rows, call.columns, call.k);
  }
  rounds.matrix.finish();
  check_petsc(MatGetNonzeroState(rounds.matrix.matrix(), &later));
  EXPECT_EQ(state, later);
  EXPECT_EQ(rounds.rows().norm(), 0);
  Mat taken = rounds.matrix.release();
  EXPECT_EQ(rounds.matrix.matrix(), nullptr);
  check_petsc(MatDestroy(&taken));
}

}  // namespace
}  // namespace weft
