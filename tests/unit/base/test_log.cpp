// The log: who speaks, where to, and what lands in the file.

#include "weft/base/error.hpp"
#include "weft/base/log.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace weft {
namespace {

using testing::internal::CaptureStderr;
using testing::internal::CaptureStdout;
using testing::internal::GetCapturedStderr;
using testing::internal::GetCapturedStdout;

class LogTest : public testing::Test {
 protected:
  void TearDown() override {
    log_to_terminal(false);
    log_to_file("");
    std::filesystem::remove(path_);
  }
  std::string file() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  std::string path_ = testing::TempDir() + "weft_log_" + std::to_string(getpid()) + ".txt";
};

TEST_F(LogTest, IsSilentUntilToldToSpeak) {
  CaptureStdout();
  CaptureStderr();
  log_info("a");
  log_error("b");
  EXPECT_EQ(GetCapturedStdout(), "");
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST_F(LogTest, SpeaksToTheTerminalWithWarningsAndErrorsApart) {
  log_to_terminal(true);
  CaptureStdout();
  CaptureStderr();
  log_info("step 1");
  log_warning("slow");
  log_error("lost");
  EXPECT_EQ(GetCapturedStdout(), "step 1\n");
  EXPECT_EQ(GetCapturedStderr(), "warning: slow\nerror: lost\n");
}

TEST_F(LogTest, ALinkUnderTheNameOfTheFileIsNotFollowed) {
  const std::string victim = path_ + ".victim";
  std::ofstream(victim) << "mine";
  std::filesystem::create_symlink(victim, path_);
  try {
    log_to_file(path_);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::file_system);
    EXPECT_NE(std::string(error.what()).find("link"), std::string::npos) << error.what();
  }
  log_info("lost");
  EXPECT_EQ(std::filesystem::file_size(victim), 4u);
  std::filesystem::remove(victim);
}

TEST_F(LogTest, FileIsWrittenAtOnceAndAppendedTo) {
  log_to_file(path_);
  log_info("first");
  EXPECT_EQ(file(), "first\n");
  log_to_file("");
  log_info("not in the file");
  log_to_file(path_);
  log_warning("second");
  EXPECT_EQ(file(), "first\nwarning: second\n");
}

TEST_F(LogTest, WhatWasSaidBeforeThereWasAFileStandsAtItsBeginning) {
  CaptureStdout();
  log_to_terminal(true);
  log_info("early");
  log_to_file(path_);
  log_info("late");
  GetCapturedStdout();
  EXPECT_EQ(file(), "early\nlate\n");
}

TEST_F(LogTest, AFileThatCannotBeWrittenIsTroubleAndNothingMore) {
  EXPECT_THROW(log_to_file("/nowhere/log.txt"), Error);
  EXPECT_FALSE(log_file_trouble());
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit nothing{0, before.rlim_max};
  log_to_file(path_);
  setrlimit(RLIMIT_FSIZE, &nothing);
  log_info("lost");
  const auto trouble = log_file_trouble();
  const bool goes_on = log_file_trouble().has_value();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_TRUE(trouble);
  EXPECT_NE(trouble->find(path_ + ": cannot be written"), std::string::npos) << *trouble;
  EXPECT_TRUE(goes_on);
  log_to_file("");
  EXPECT_FALSE(log_file_trouble());
}

TEST_F(LogTest, APipeIsNoLogFileAndNobodyWaitsForItsReader) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  try {
    log_to_file(path_);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::file_system);
    EXPECT_NE(std::string(error.what()).find("it is no plain file"), std::string::npos) << error.what();
  }
}

TEST_F(LogTest, LiveLineIsOnlyForTerminals) {
  log_to_terminal(true);
  log_to_file(path_);
  CaptureStdout();  // a file, not a terminal
  EXPECT_FALSE(log_is_interactive());
  log_live_line("50 %");
  EXPECT_EQ(GetCapturedStdout(), "");
  EXPECT_EQ(file(), "");
}

}  // namespace
}  // namespace weft
