#include "unit/output/scratch.hpp"
#include "weft/base/error.hpp"
#include "weft/run/status.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace weft {
namespace {

class StatusTest : public testing::Test {
 protected:
  /// Only the root has a folder of its own; others would write over one another.
  void SetUp() override {
    if (!comm_.is_root()) GTEST_SKIP();
  }

  Outlook told(const RunStatus& status) {
    write_status(folder_.path(), status, R"({"ranks": 1})");
    return look_at_run(folder_.path());
  }

  const Comm comm_ = Comm::world();
  const test::ScratchFolder folder_{comm_};
};

TEST_F(StatusTest, WhatARunSaysOfItselfIsReadBack) {
  RunStatus status;
  status.state = "running";
  status.title = "A \"quoted\" title";
  status.step = 17;
  status.time = 0.1 + 0.2;
  status.end = 1;
  status.wall_seconds = 1 / 3.0;
  status.steps_per_second = 1 / 7.0;
  status.particle_steps_per_second = 1e6 / 3;
  const Outlook outlook = told(status);
  EXPECT_EQ(outlook.status.state, "running");
  EXPECT_EQ(outlook.status.title, status.title);
  EXPECT_EQ(outlook.status.step, 17);
  EXPECT_EQ(outlook.status.time, status.time);
  EXPECT_EQ(outlook.status.end, 1);
  EXPECT_EQ(outlook.status.wall_seconds, status.wall_seconds);
  EXPECT_EQ(outlook.status.steps_per_second, status.steps_per_second);
  EXPECT_EQ(outlook.status.particle_steps_per_second, status.particle_steps_per_second);
  EXPECT_FALSE(outlook.status.remaining_seconds);
  EXPECT_FALSE(outlook.status.reason);
  EXPECT_EQ(outlook.value("step"), "17");
  EXPECT_EQ(outlook.value("remaining_seconds"), "");
  EXPECT_EQ(status_code(outlook.status), StatusCode::running);
  EXPECT_THROW(outlook.value("speed"), Error);
}

TEST_F(StatusTest, AFailedRunSaysWhyAndOthersDoNot) {
  RunStatus status;
  status.state = "failed";
  status.reason = "the disk is full";
  status.exit_code = 5;
  status.remaining_seconds = 12;
  const Outlook outlook = told(status);
  EXPECT_EQ(outlook.status.reason, status.reason);
  EXPECT_EQ(outlook.status.exit_code, 5);
  EXPECT_EQ(outlook.status.remaining_seconds, 12);
  EXPECT_NE(outlook.text().find("the disk is full (exit code 5)"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(outlook.json()).at("exit_code"), 5);
  EXPECT_EQ(status_code(outlook.status), StatusCode::failed);

  RunStatus finished;
  finished.state = "finished";
  EXPECT_EQ(told(finished).text().find("reason"), std::string::npos);
}

}  // namespace
}  // namespace weft
