#include "run/path_state.hpp"
#include "run/resume.hpp"
#include "run/state.hpp"
#include "weft/base/error.hpp"
#include "weft/deck/read.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace weft {
namespace {

TEST(PathStateTest, TextHoldsEveryBitAndStatesThatCannotBeAreRefused) {
  PathState right;
  right.step = 7, right.next_frame = 3, right.time = -0.1, right.last_time = -1.0 / 3, right.dt = 0.1;
  right.measure = {1.0 / 7, 0.25}, right.length = std::sqrt(2.0);
  right.negative_modes = 3, right.unstable_states = 7;
  const PathState back = path_state_from_text(to_text(right));
  EXPECT_EQ(to_text(back), to_text(right));
  EXPECT_EQ(back.time, right.time);
  EXPECT_EQ(back.measure.displacement, right.measure.displacement);
  EXPECT_EQ(back.negative_modes, 3);
  EXPECT_EQ(back.unstable_states, 7);
  EXPECT_FALSE(back.jumps);
  const auto refuses = [&](const auto& change) {
    PathState wrong = right;
    change(wrong);
    try {
      path_state_from_text(to_text(wrong));
      return false;
    } catch (const Error& error) {
      return error.code() == ExitCode::checkpoint;
    }
  };
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  EXPECT_TRUE(refuses([](PathState& s) { s.step = -1; }));
  EXPECT_TRUE(refuses([](PathState& s) { s.next_frame = std::int64_t{1} << 60; }));
  EXPECT_TRUE(refuses([](PathState& s) { s.time = infinity; }));
  EXPECT_TRUE(refuses([](PathState& s) { s.last_time = infinity; }));
  EXPECT_TRUE(refuses([](PathState& s) { s.dt = 0; }));
  EXPECT_TRUE(refuses([](PathState& s) { s.dt = infinity; }));
  EXPECT_TRUE(refuses([](PathState& s) { s.measure.displacement = 0; }));
  EXPECT_TRUE(refuses([](PathState& s) { s.measure.time = -1; }));
  EXPECT_TRUE(refuses([](PathState& s) { s.length = 0; }));
  EXPECT_TRUE(refuses([](PathState& s) { s.negative_modes = -1; }));
  EXPECT_TRUE(refuses([](PathState& s) { s.negative_modes = std::int64_t{1} << 60; }));
  EXPECT_TRUE(refuses([](PathState& s) { s.unstable_states = 8; }));
  EXPECT_TRUE(refuses([](PathState& s) { s.jumps = -1; }));
  EXPECT_FALSE(refuses([](PathState& s) { s.measure = {0, 0}, s.length = 0; }));
  EXPECT_THROW(path_state_from_text("{}"), Error);
}

TEST(RunStateTest, TextHoldsEveryBit) {
  RunState state;
  state.step = 123456789012;
  state.time = 0.1 + 0.2;
  state.last_dt = 1.0 / 19;
  state.next_frame = 7;
  state.recovery_dt = 1.0 / 3;
  state.limits = {{100.0 / 3, 0, 0.1, 1 / 7.0, 1 / 11.0, 1 / 13.0}, {std::numeric_limits<Real>::infinity(), 1e-300, 7}};
  state.wall_impulse = {{Vec3(1e-300, -0.0, 3.14159265358979), Vec3(1, 2, 3), 1.0 / 7},
                        {Vec3(4, 5, 6), Vec3(7, 8, 1.0 / 9), 1.0 / 3}};
  state.handle_impulse = {{Vec3(1, 2, 3), Vec3(4, 5, 6), 1.0 / 17}};
  state.joint_impulse = {{Vec3(7, 8, 9), Vec3(1, 0, 1), 1.0 / 19}};
  state.next_id = {~0ull, 5};
  state.removed_elements = {0, 3};
  state.emitted_until = {-std::numeric_limits<Real>::infinity(), 0.7};
  state.probe_points = {9007199254740993ull};  // not a double
  state.removed_points = 4;
  state.newton_steps = 5;
  state.krylov_steps = 6;

  const RunState back = state_from_text(to_text(state));
  EXPECT_EQ(back.step, state.step);
  EXPECT_EQ(back.time, state.time);
  EXPECT_EQ(back.last_dt, state.last_dt);
  EXPECT_EQ(back.next_frame, state.next_frame);
  EXPECT_EQ(back.recovery_dt, state.recovery_dt);
  ASSERT_EQ(back.limits.size(), 2u);
  for (int b = 0; b < 2; ++b) {
    EXPECT_EQ(back.limits[b].wave_speed, state.limits[b].wave_speed);
    EXPECT_EQ(back.limits[b].viscosity, state.limits[b].viscosity);
    EXPECT_EQ(back.limits[b].speed, state.limits[b].speed);
    EXPECT_EQ(back.limits[b].mesh_speed, state.limits[b].mesh_speed);
    EXPECT_EQ(back.limits[b].frequency, state.limits[b].frequency);
    EXPECT_EQ(back.limits[b].bending, state.limits[b].bending);
  }
  const auto expect_equal = [](const std::vector<Impulse>& found, const std::vector<Impulse>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].linear, expected[i].linear);
      EXPECT_EQ(found[i].angular, expected[i].angular);
      EXPECT_EQ(found[i].work, expected[i].work);
    }
  };
  expect_equal(back.wall_impulse, state.wall_impulse);
  expect_equal(back.handle_impulse, state.handle_impulse);
  expect_equal(back.joint_impulse, state.joint_impulse);
  EXPECT_EQ(back.work(), 1.0 / 7 + 1.0 / 3 + 1.0 / 17 + 1.0 / 19);
  EXPECT_EQ(back.next_id, state.next_id);
  EXPECT_EQ(back.removed_elements, state.removed_elements);
  EXPECT_EQ(back.emitted_until, state.emitted_until);
  EXPECT_EQ(back.probe_points, state.probe_points);
  EXPECT_EQ(back.removed_points, state.removed_points);
  EXPECT_EQ(back.newton_steps, state.newton_steps);
  EXPECT_EQ(back.krylov_steps, state.krylov_steps);
}

TEST(RunStateTest, InfiniteRecoverySurvives) {
  EXPECT_EQ(state_from_text(to_text(RunState{})).recovery_dt, std::numeric_limits<Real>::infinity());
}

TEST(RunStateTest, OtherTextIsACheckpointError) {
  for (const char* text : {"", "{}", "[1]", "{\"step\": \"one\"}"}) {
    try {
      state_from_text(text);
      FAIL() << text << " passed for a state";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::checkpoint);
    }
  }
}

TEST(RunStateTest, NumbersThatAreNoCountsAreRefused) {
  const std::string good = to_text(RunState{});
  for (const auto& [right, wrong] : {std::pair{"\"step\":0", "\"step\":1e300"},
                                     {"\"next_id\":[]", "\"next_id\":[-1]"},
                                     {"\"next_id\":[]", "\"next_id\":[0.5]"},
                                     {"\"probe_points\":[]", "\"probe_points\":[1e300]"}}) {
    std::string text = good;
    text.replace(text.find(right), std::string(right).size(), wrong);
    EXPECT_THROW(state_from_text(text), Error) << wrong;
  }
}

TEST(RunStateTest, ListsOfOtherLengthsThanTheSceneAsksForAreRefused) {
  const SceneCounts scene{2, 1, 1, 1, 1, 1};
  RunState right;
  right.limits.resize(2);
  right.drift.resize(2);
  right.next_id.resize(2);
  right.removed_elements.resize(2);
  right.wall_impulse.resize(1);
  right.handle_impulse.resize(1);
  right.joint_impulse.resize(1);
  right.emitted_until.resize(1);
  right.probe_points.resize(1);
  right.cuts.at = {3, 7};
  EXPECT_NO_THROW(require_fits(right, scene));
  right.limits.clear();  // before the first step
  EXPECT_NO_THROW(require_fits(right, scene));
  const auto refuses = [&](const auto& change) {
    RunState wrong = right;
    change(wrong);
    try {
      require_fits(wrong, scene);
      return false;
    } catch (const Error& error) {
      return error.code() == ExitCode::checkpoint;
    }
  };
  EXPECT_TRUE(refuses([](RunState& s) { s.limits.resize(1); }));
  EXPECT_TRUE(refuses([](RunState& s) { s.drift.clear(); }));
  EXPECT_TRUE(refuses([](RunState& s) { s.next_id.resize(3); }));
  EXPECT_TRUE(refuses([](RunState& s) { s.removed_elements.clear(); }));
  EXPECT_TRUE(refuses([](RunState& s) { s.wall_impulse.clear(); }));
  EXPECT_TRUE(refuses([](RunState& s) { s.handle_impulse.clear(); }));
  EXPECT_TRUE(refuses([](RunState& s) { s.joint_impulse.clear(); }));
  EXPECT_TRUE(refuses([](RunState& s) { s.emitted_until.clear(); }));
  EXPECT_TRUE(refuses([](RunState& s) { s.probe_points.clear(); }));
  EXPECT_TRUE(refuses([](RunState& s) { s.cuts.at = {7, 3}; }));
  EXPECT_TRUE(refuses([](RunState& s) { s.step = -1; }));
  EXPECT_TRUE(refuses([](RunState& s) { s.next_frame = std::int64_t{1} << 60; }));
  EXPECT_TRUE(refuses([](RunState& s) { s.time = -1; }));
}

TEST(ResumeTest, TimeEndMayChangeUnlessALoadIsInProportionToIt) {
  const auto deck = [](const std::string& end, const std::string& amplitude) {
    return parse_deck("weft: 1\ntitle: T\ndomain: {dx: 0.05}\ntime: {end: " + end +
                          ", frame_interval: 1}\n"
                          "materials: {it: {law: sheet, density: 500, youngs_modulus: 2e4, poisson_ratio: 0.3,"
                          " contact: {stiffness: 1e4, shear_stiffness: 2e3, friction: 0.3}}}\n"
                          "bodies: [{name: cloth, kind: membrane, material: it, thickness: 0.01,"
                          " mesh: {rectangle: {width: 1, height: 1}, across: 4, along: 4}}]\n"
                          "handles: [{name: load, body: cloth, force: {total: [0, 0, 1]" +
                          amplitude + "}}]\n",
                      "test.yaml", ".");
  };
  const auto resumes = [](const Deck& saved, const Deck& deck) {
    CheckpointHeader header;
    header.resolved_deck = resolved_yaml(saved);
    try {
      require_same_physics(header, deck, {}, "checkpoint");
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::checkpoint);
      EXPECT_NE(std::string(error.what()).find("time.end"), std::string::npos) << error.what();
      return false;
    }
  };
  const std::string steady = ", amplitude: [{time: 0, factor: 1}]";
  EXPECT_TRUE(resumes(deck("2", steady), deck("4", steady)));
  EXPECT_TRUE(resumes(deck("2", ""), deck("2", "")));
  EXPECT_FALSE(resumes(deck("2", ""), deck("4", "")));
}

}  // namespace
}  // namespace weft
