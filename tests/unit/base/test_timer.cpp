// Timers: each second is charged to one phase only.

#include "weft/base/timer.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace weft {
namespace {

void wait_milliseconds(int count) { std::this_thread::sleep_for(std::chrono::milliseconds(count)); }

TEST(TimersTest, InnerPhaseIsNotChargedToTheOuterOne) {
  Timers timers;
  const double begin = wall_seconds();
  {
    const auto outer = timers.measure("outer");
    wait_milliseconds(5);
    {
      const auto inner = timers.measure("inner");
      wait_milliseconds(20);
    }
    wait_milliseconds(5);
  }
  const double elapsed = wall_seconds() - begin;
  ASSERT_EQ(timers.phases().size(), 2U);
  const double outer = timers.phases()[0].seconds, inner = timers.phases()[1].seconds;
  EXPECT_GE(outer, 0.010);  // a sleep lasts at least as long as asked for
  EXPECT_GE(inner, 0.020);
  EXPECT_LE(outer + inner, elapsed);  // and nothing is counted twice, however slow the machine
}

TEST(TimersTest, TimeOutsideOfAllPhasesIsChargedToNone) {
  Timers timers;
  double inside = 0;
  for (int call = 0; call < 2; ++call) {
    const double begin = wall_seconds();
    {
      const auto phase = timers.measure("phase");
    }
    inside += wall_seconds() - begin;
    wait_milliseconds(20);
  }
  EXPECT_EQ(timers.phases()[0].calls, 2);
  EXPECT_LE(timers.phases()[0].seconds, inside);
}

TEST(TimersTest, PhasesKeepTheOrderOfFirstUseAndCountCalls) {
  Timers timers;
  for (int n = 0; n < 3; ++n) {
    const auto scatter = timers.measure("scatter");
    const auto exchange = timers.measure("exchange");
  }
  {
    const auto gather = timers.measure("gather");
  }
  ASSERT_EQ(timers.phases().size(), 3U);
  EXPECT_EQ(timers.phases()[0].name, "scatter");
  EXPECT_EQ(timers.phases()[1].name, "exchange");
  EXPECT_EQ(timers.phases()[2].name, "gather");
  EXPECT_EQ(timers.phases()[0].calls, 3);
  EXPECT_EQ(timers.phases()[1].calls, 3);
  EXPECT_EQ(timers.phases()[2].calls, 1);
}

TEST(TimersTest, APhaseInsideItselfIsChargedOnce) {
  Timers timers;
  const double begin = wall_seconds();
  {
    const auto outer = timers.measure("phase");
    const auto inner = timers.measure("phase");
    wait_milliseconds(5);
  }
  const double elapsed = wall_seconds() - begin;
  ASSERT_EQ(timers.phases().size(), 1U);
  EXPECT_GE(timers.phases()[0].seconds, 0.005);
  EXPECT_LE(timers.phases()[0].seconds, elapsed);
}

/// Estimates from few samples may exceed the phase within which they were made.
TEST(TimersTest, NoPhaseGivesMoreThanItHas) {
  Timers timers;
  {
    const auto phase = timers.measure("scatter");
    wait_milliseconds(5);
    timers.move(1e-3, "scatter", "law");
    timers.move(10, "scatter", "law");
  }
  ASSERT_EQ(timers.phases().size(), 2U);
  EXPECT_GT(timers.phases()[0].seconds, 0);
  EXPECT_GE(timers.phases()[1].seconds, 0.004);
  EXPECT_LT(timers.phases()[1].seconds, 9);
}

TEST(TimersTest, AnExceptionEndsItsPhase) {
  Timers timers;
  {
    const auto outer = timers.measure("outer");
    bool is_caught = false;
    try {
      const auto inner = timers.measure("inner");
      throw 1;
    } catch (int) {
      is_caught = true;
    }
    EXPECT_TRUE(is_caught);
    wait_milliseconds(5);
  }
  EXPECT_GE(timers.phases()[0].seconds, 0.005);
}

}  // namespace
}  // namespace weft
