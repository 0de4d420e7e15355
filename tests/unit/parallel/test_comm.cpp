// The communicator's verbs against closed forms, and errors that become everyone's.

#include "weft/parallel/comm.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <csignal>
#include <limits>
#include <stdexcept>

namespace weft {
namespace {

const Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

TEST(ParallelSessionTest, LeavesTheSignalsOfTheProgramAlone) {
  // PETSc's own handler would sit on HUP, QUIT and URG, and that of UCX, which not every machine loads, on HUP.
  for (const int signal : {SIGHUP, SIGQUIT, SIGURG, SIGTERM, SIGINT, SIGUSR1, SIGUSR2}) {
    struct sigaction action{};
    ASSERT_EQ(sigaction(signal, nullptr, &action), 0);
    EXPECT_TRUE(action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) << "signal " << signal;
  }
}

TEST(ParallelSessionTest, GivesThreadsUnderTheMainThread) {
  int threads = MPI_THREAD_SINGLE;
  MPI_Query_thread(&threads);
  EXPECT_GE(threads, MPI_THREAD_FUNNELED);
}

TEST(CommTest, KnowsItsMembers) {
  const Comm comm = Comm::world();
  int rank = -1, size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(comm.rank(), rank);
  EXPECT_EQ(comm.size(), size);
  EXPECT_EQ(comm.is_root(), rank == 0);
}

TEST(CommTest, SumsOverAllRanks) {
  const Comm comm = Comm::world();
  const std::int64_t P = comm.size(), triangle = P * (P + 1) / 2;  // 1 + 2 + ... + P
  EXPECT_EQ(comm.sum(std::int64_t{comm.rank() + 1}), triangle);
  EXPECT_EQ(comm.sum(0.5 * (comm.rank() + 1)), 0.5 * static_cast<Real>(triangle));  // exact: halves of small integers

  std::array<Real, 3> values{1.0, static_cast<Real>(comm.rank()), -2.0};
  comm.sum(std::span<Real>(values));
  EXPECT_EQ(values[0], P);
  EXPECT_EQ(values[1], triangle - P);
  EXPECT_EQ(values[2], -2 * P);
}

TEST(CommTest, SumsOfUnsignedNumbersWrapAround) {
  const Comm comm = Comm::world();
  std::array<std::uint64_t, 2> values{comm.is_root() ? std::numeric_limits<std::uint64_t>::max() : 1, 1};
  comm.sum(std::span<std::uint64_t>(values));
  EXPECT_EQ(values[0], static_cast<std::uint64_t>(comm.size() - 1) - 1);  // 2^64 - 1 + (P - 1)
  EXPECT_EQ(values[1], static_cast<std::uint64_t>(comm.size()));
}

TEST(CommTest, SumOfNothingIsAllowed) {
  std::vector<Real> nothing;
  Comm::world().sum(std::span<Real>(nothing));
  Comm::world().max(std::span<Real>(nothing));
  EXPECT_TRUE(nothing.empty());
}

TEST(CommTest, FindsExtremes) {
  const Comm comm = Comm::world();
  const Real infinity = std::numeric_limits<Real>::infinity();
  EXPECT_EQ(comm.max(static_cast<Real>(-comm.rank()) - 3), -3.0);
  EXPECT_EQ(comm.min(static_cast<Real>(-comm.rank()) - 3), -2.0 - comm.size());
  EXPECT_EQ(comm.max(-infinity), -infinity);
  EXPECT_EQ(comm.min(infinity), infinity);
  EXPECT_EQ(comm.min(comm.is_root() ? 2.0 : infinity), 2.0);
}

TEST(CommTest, ANaNOnOneRankIsSeenByAll) {
  const Comm comm = Comm::world();
  for (int guilty = 0; guilty < comm.size(); ++guilty) {
    std::array<Real, 2> values{comm.rank() == guilty ? not_a_number : 1.0, 5.0};
    comm.max(std::span<Real>(values));
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_EQ(values[1], 5.0);
    EXPECT_TRUE(std::isnan(comm.min(comm.rank() == guilty ? not_a_number : -1.0)));
  }
}

TEST(CommTest, AnyIsTrueIfOneRankSaysSo) {
  const Comm comm = Comm::world();
  EXPECT_FALSE(comm.any(false));
  EXPECT_TRUE(comm.any(true));
  for (int r = 0; r < comm.size(); ++r) EXPECT_TRUE(comm.any(comm.rank() == r));
}

TEST(CommTest, OffsetIsTheSumOfLowerRanks) {
  const Comm comm = Comm::world();
  const std::int64_t r = comm.rank();
  EXPECT_EQ(comm.offset(r + 1), r * (r + 1) / 2);  // 1 + ... + r
}

TEST(CommTest, BroadcastGivesTheRootsBytesWhateverTheirLength) {
  const Comm comm = Comm::world();
  const std::string with_zeros("a\0b\xff", 4);
  const std::string longer(3'000'001, 'x');
  for (const std::string& text : {std::string(), with_zeros, longer})
    EXPECT_EQ(comm.broadcast(comm.is_root() ? text : "something else"), text);
}

TEST(CommTest, AgreeReturnsIfAllWorkWentWell) {
  bool done = false;
  EXPECT_NO_THROW(Comm::world().agree([&] { done = true; }));
  EXPECT_TRUE(done);
}

TEST(CommTest, AgreeThrowsTheErrorOfTheLowestFailingRankEverywhere) {
  const Comm comm = Comm::world();
  for (int first = 0; first < comm.size(); ++first) {
    try {
      comm.agree([&] {
        if (comm.rank() >= first)
          throw Error(comm.rank() == first ? ExitCode::geometry : ExitCode::deck,
                      "rank " + std::to_string(comm.rank()) + std::string(comm.rank(), '!'));
      });
      ADD_FAILURE() << "nothing was thrown on rank " << comm.rank();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::geometry);
      EXPECT_EQ(error.what(), "rank " + std::to_string(first) + std::string(first, '!'));
    }
  }
}

TEST(CommTest, AgreeTurnsForeignExceptionsIntoErrors) {
  const Comm comm = Comm::world();
  try {
    comm.agree([&] {
      if (comm.rank() == comm.size() - 1) throw std::length_error("too long");
    });
    ADD_FAILURE() << "nothing was thrown on rank " << comm.rank();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::failure);
    EXPECT_STREQ(error.what(), "too long");
  }
}

}  // namespace
}  // namespace weft
