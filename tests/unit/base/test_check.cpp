// The three grades of checks.

#include "weft/base/check.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(CheckTest, RequireThrowsCodeAndText) {
  EXPECT_NO_THROW(require(true, ExitCode::deck, "unused"));
  try {
    require(false, ExitCode::geometry, "Mesh cup.obj is open. Close it.");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::geometry);
    EXPECT_STREQ(error.what(), "Mesh cup.obj is open. Close it.");
  }
}

TEST(CheckTest, ExitCodesAreThoseOfTheManual) {
  EXPECT_EQ(static_cast<int>(ExitCode::done), 0);
  EXPECT_EQ(static_cast<int>(ExitCode::failure), 1);
  EXPECT_EQ(static_cast<int>(ExitCode::deck), 2);
  EXPECT_EQ(static_cast<int>(ExitCode::geometry), 3);
  EXPECT_EQ(static_cast<int>(ExitCode::numerics), 4);
  EXPECT_EQ(static_cast<int>(ExitCode::file_system), 5);
  EXPECT_EQ(static_cast<int>(ExitCode::checkpoint), 6);
}

TEST(CheckTest, EnsureEvaluatesItsConditionOnce) {
  int evaluations = 0;
  WEFT_ENSURE(++evaluations == 1);
  EXPECT_EQ(evaluations, 1);
}

TEST(CheckTest, ABrokenInvariantNamesItselfAndItsPlaceAndAborts) {
  const int rows = 3;
  EXPECT_DEATH(WEFT_ENSURE(rows == 4), "rows == 4 does not hold .*test_check.cpp:[0-9]+");
}

TEST(CheckTest, AssumeCostsNothingInReleaseBuilds) {
  int evaluations = 0;
  [[maybe_unused]] const auto counted = [&] { return ++evaluations > 0; };
  WEFT_ASSUME(counted());
#ifdef NDEBUG
  EXPECT_EQ(evaluations, 0);
#else
  EXPECT_EQ(evaluations, 1);
#endif
}

}  // namespace
}  // namespace weft
