// The budget refuses what cannot fit, with its number; files that would keep the program waiting are refused unread.

#include "weft/base/budget.hpp"
#include "weft/base/read_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>
#include <cmath>
#include <fstream>
#include <limits>

#include "weft/base/error.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

template <class Work>
std::string error_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(BudgetTest, WhatFitsPassesAndWhatDoesNotIsNamedWithItsCountAndMemory) {
  const Budget budget(2e9);
  EXPECT_EQ(error_of([&] { budget.require_room({"a carpet", 1e6, "points", 100}, "Cut it."); }), "");
  const std::string text = error_of([&] { budget.require_room({"a carpet", 1e9, "points", 100}, "Cut it."); });
  for (const char* words : {"a carpet", "1e+09 points", "100 GB", "2 GB", "Cut it."})
    EXPECT_THAT(text, HasSubstr(words));
  EXPECT_NE(
      error_of([&] { budget.require_room({"a carpet", std::numeric_limits<Real>::infinity(), "points", 1}, ""); }), "");
  EXPECT_NE(error_of([&] { budget.require_room({"a carpet", std::nan(""), "points", 1}, ""); }), "");
}

TEST(BudgetTest, WhatIsSpentIsGone) {
  Budget budget(2e9);
  EXPECT_EQ(error_of([&] { budget.spend({"a carpet", 1e7, "points", 150}, ""); }), "");
  EXPECT_THAT(error_of([&] { budget.spend({"another", 1e7, "points", 150}, ""); }), HasSubstr("0.5 GB left"));
  EXPECT_EQ(error_of([&] { budget.spend({"a mat", 1e6, "points", 150}, ""); }), "");
}

TEST(BudgetTest, SharersAndWhatIsHeldLeaveLess) {
  EXPECT_LT(memory_left(1), memory_of_machine());
  EXPECT_LT(memory_left(4), 0.26 * memory_of_machine());
}

TEST(BudgetTest, IndicesHave32Bits) {
  EXPECT_EQ(error_of([] { require_countable("a mesh", 2e9, "points"); }), "");
  EXPECT_THAT(error_of([] { require_countable("a mesh", 2.2e9, "points"); }), HasSubstr("cannot be numbered"));
}

TEST(BudgetTest, TheMachineHasMemory) { EXPECT_GT(memory_of_machine(), 1e7); }

TEST(ReadTextTest, OnlyPlainFilesOfABearableSizeAreRead) {
  const fs::path folder = fs::temp_directory_path() / ("weft_test_base_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const fs::path plain = folder / "plain", pipe = folder / "pipe", empty = folder / "empty";
  std::ofstream(plain) << "two\nlines";
  std::ofstream(empty).flush();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(read_text(plain), "two\nlines");
  EXPECT_EQ(read_text(empty), "");
  EXPECT_EQ(read_text(plain, ExitCode::deck, 9), "two\nlines");
  EXPECT_THAT(error_of([&] { read_text(plain, ExitCode::deck, 8); }), HasSubstr("the file has 9 bytes"));
  EXPECT_THAT(error_of([&] { read_text(pipe); }), HasSubstr("cannot be read"));  // and does not wait
  EXPECT_THAT(error_of([&] { read_text(folder); }), HasSubstr("cannot be read"));
  EXPECT_THAT(error_of([&] { read_text("/dev/zero"); }), HasSubstr("cannot be read"));
  EXPECT_THAT(error_of([&] { read_text(folder / "none"); }), HasSubstr("no such file"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace weft
