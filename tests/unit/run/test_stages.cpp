// The doors of the step: what bodies may do in its stages, shown by dust that goes through each.

#include "run/edit.hpp"
#include "run/step.hpp"
#include "run/totals.hpp"
#include "weft/bodies/continuum.hpp"
#include "weft/deck/read.hpp"
#include "weft/scene/build.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>

namespace weft {
namespace {

constexpr const char* two_clouds =
    "weft: 1\n"
    "domain: {dx: 0.1, gravity: [0, 0, 0]}\n"
    "time: {end: 1, frame_interval: 1, max_dt: 0.01, max_retries: 3}\n"
    "materials: {soft: {law: neo_hookean, density: 1000, youngs_modulus: 1e4, poisson_ratio: 0.3}}\n"
    "bodies:\n"
    "  - {name: a, kind: continuum, material: soft, velocity: [1, 0, 0],"
    " shape: {box: {lower: [0, 0, 0], upper: [0.4, 0.3, 0.2]}}}\n"
    "  - {name: b, kind: continuum, material: soft, velocity: [1, 0, 0], spin: [0, 0, 1],"
    " shape: {box: {lower: [2, 0, 0], upper: [2.4, 0.3, 0.2]}}}\n";

/// Points that feel nothing and fly as the grid says. What a test sets opens a door.
class Dust final : public PointBody, public Predicts, public Repeats, public Corrects {
 public:
  explicit Dust(std::string name) : PointBody(std::move(name)) {
    points_ = Table::with<Id, Home, Position, Velocity, Affine, Mass, TentativeVelocity>();
  }

  Roles roles() override {
    Roles roles = its_roles;
    roles.points = this;
    return roles;
  }
  std::vector<PointSet*> sets() override {
    std::vector<PointSet*> all{this};
    if (passed_on != nullptr) all.push_back(passed_on);
    return all;
  }
  void rest(std::size_t first_row, Real volume) override {
    for (std::size_t p = first_row; p < points_.rows(); ++p) points_.get<Mass>()[p] = 1000 * volume;
  }
  void respond(ChunkRows, const ChunkForces& forces) const override {
    std::fill(forces.A.begin(), forces.A.end(), Mat3::Zero());
  }
  StepLimit commit(ChunkRows rows, Real dt, const ChunkMotion& motion) override {
    for (std::size_t k = 0; k < rows.size(); ++k) points_.get<Position>()[rows[k]] += dt * motion.v[k];
    return limit(rows);
  }
  StepLimit limit(ChunkRows rows) const override {
    StepLimit limit;
    for (const std::uint32_t row : rows) limit.speed = std::max(limit.speed, points_.get<Velocity>()[row].norm());
    return limit;
  }
  Real elastic_energy() const override { return 0; }

  DtLimit limit() const override { return own_limit; }
  Refusal predict(Real dt) override { return on_predict(dt); }
  Refusal judge(Real dt) const override { return on_judge(dt); }
  bool wants_another_pass(Real dt, int passes, std::span<const Vec3> received) override {
    return on_pass(dt, passes, received);
  }
  void correct(Real dt) override { on_correct(dt); }

  Roles its_roles;
  PointSet* passed_on = nullptr;
  DtLimit own_limit;
  std::function<Refusal(Real)> on_predict = [](Real) { return Refusal{}; };
  std::function<Refusal(Real)> on_judge = [](Real) { return Refusal{}; };
  std::function<bool(Real, int, std::span<const Vec3>)> on_pass;
  std::function<void(Real)> on_correct;
};

/// Points that have the mass of others.
class Copies final : public PointSet {
 public:
  Copies() { points_ = Table::with<Id, Home, Position, Velocity, Affine, Mass>(); }
  bool is_matter() const override { return false; }
  void respond(ChunkRows, const ChunkForces& forces) const override {
    std::fill(forces.A.begin(), forces.A.end(), Mat3::Zero());
  }
  StepLimit commit(ChunkRows rows, Real dt, const ChunkMotion& motion) override {
    for (std::size_t k = 0; k < rows.size(); ++k) points_.get<Position>()[rows[k]] += dt * motion.v[k];
    return {.speed = 1e9};
  }
  StepLimit limit(ChunkRows) const override { return {.speed = 1e9}; }
};

/// Two clouds of dust, far apart.
struct Clouds {
  Comm comm = Comm::world();
  Timers timers;
  Scene scene;
  RunState state;
  std::optional<Stepper> stepper;

  explicit Clouds(const std::function<void(Dust&, Dust&)>& open)
      : scene(build_scene(comm, parse_deck(two_clouds, "test.yaml", "."))) {
    auto a = std::make_unique<Dust>("a"), b = std::make_unique<Dust>("b");
    open(*a, *b);
    scene.bodies[0] = std::move(a);
    scene.bodies[1] = std::move(b);
    stepper.emplace(comm, scene, state, timers);
    state = start_scene(comm, scene);
    stepper->bring_home(true);
  }
  StepReport take() { return stepper->take(std::numeric_limits<Real>::infinity()); }
  Dust& dust(std::size_t b) { return static_cast<Dust&>(*scene.bodies[b]); }

  /// What belongs to each point of this rank.
  std::map<std::pair<std::size_t, PointId>, std::string> state_of_points() {
    std::map<std::pair<std::size_t, PointId>, std::string> all;
    for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
      Table& points = scene.bodies[b]->points();
      for (const ColumnView& column : points.columns(Keep::state))
        for (std::size_t p = 0; p < points.owned(); ++p)
          all[{b, points.get<Id>()[p]}].append(reinterpret_cast<const char*>(column.row(p)), column.row_bytes);
    }
    return all;
  }
};

void set_tentative(Dust& dust, const Vec3& v) {
  const auto tentative = dust.points().get<TentativeVelocity>();
  std::fill(tentative.begin(), tentative.end(), v);
}

TEST(StagesTest, ScatterTakesTentativeVelocitiesAndLeavesTheOthersUntilTheStepIsAccepted) {
  const Vec3 predicted(0.5, 2, -1);
  int judged = 0;
  Clouds clouds([&](Dust& a, Dust&) {
    a.its_roles.predicts = &a;
    a.on_predict = [&](Real) {
      set_tentative(a, predicted);
      return Refusal{};
    };
    a.on_judge = [&](Real) {
      ++judged;
      for (const Vec3& v : std::as_const(a).points().get<Velocity>()) EXPECT_EQ(v, Vec3(1, 0, 0));
      return Refusal{};
    };
  });
  clouds.take();
  EXPECT_EQ(judged, 1);
  for (const Vec3& v : clouds.dust(0).points().get<Velocity>()) EXPECT_LT((v - predicted).norm(), 1e-14);
  for (const Vec3& v : clouds.dust(1).points().get<Velocity>()) EXPECT_NEAR(v.x(), 1, 0.3) << "the other feels nothing";
}

TEST(StagesTest, AMotionThatOneRankCannotFindOrAcceptHasAllRanksTakeASmallerDt) {
  const Comm comm = Comm::world();
  for (const bool in_judge : {false, true}) {
    std::vector<Real> tried;
    Clouds clouds([&](Dust& a, Dust&) {
      a.its_roles.predicts = &a;
      const auto refuse = [&](Real dt) {
        const bool fails = dt > 0.003 && comm.rank() == comm.size() - 1;
        return fails ? Refusal{dt / 0.003, "the rod would buckle"} : Refusal{};
      };
      a.on_predict = [&a, &tried, in_judge, refuse](Real dt) {
        tried.push_back(dt);
        const auto v = std::as_const(a).points().get<Velocity>();
        std::copy(v.begin(), v.end(), a.points().get<TentativeVelocity>().begin());
        return in_judge ? Refusal{} : refuse(dt);
      };
      if (in_judge) a.on_judge = refuse;
    });
    const StepReport report = clouds.take();
    EXPECT_EQ(tried, (std::vector<Real>{0.01, 0.005, 0.0025}));
    EXPECT_EQ(report.retries, 2);
    EXPECT_EQ(report.refused, "the rod would buckle");
    EXPECT_EQ(report.size.dt, 0.0025);
    EXPECT_EQ(clouds.state.step, 1);
  }
}

TEST(StagesTest, AMotionThatIsNeverFoundLeavesBodiesAndStateAlone) {
  Clouds clouds([&](Dust& a, Dust&) {
    a.its_roles.predicts = &a;
    a.on_predict = [&](Real) {
      set_tentative(a, Vec3(7, 7, 7));
      return Refusal{2, "the rod would buckle"};
    };
  });
  const auto before = clouds.state_of_points();
  try {
    clouds.take();
    FAIL() << "the step was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::numerics);
    EXPECT_NE(std::string(error.what()).find("the rod would buckle"), std::string::npos) << error.what();
  }
  EXPECT_EQ(clouds.state.step, 0);
  EXPECT_TRUE(clouds.state_of_points() == before);
}

TEST(StagesTest, ABodyMayHaveStepsLimitedInItsOwnWords) {
  Clouds clouds([&](Dust& a, Dust&) {
    a.its_roles.predicts = &a;
    a.own_limit = {0.004, "twist of a"};
    a.on_predict = [&](Real) {
      set_tentative(a, Vec3(1, 0, 0));
      return Refusal{};
    };
  });
  const StepReport report = clouds.take();
  EXPECT_EQ(report.size.dt, 0.004);
  EXPECT_EQ(report.size.limited_by, "twist of a");
}

TEST(StagesTest, PassesGoOnWhileOneRankWantsThemAndTheLastOneCounts) {
  const Comm comm = Comm::world();
  int calls = 0;
  Clouds clouds([&](Dust& a, Dust&) {
    a.its_roles.predicts = &a;
    a.its_roles.repeats = &a;
    a.on_predict = [&](Real) {
      set_tentative(a, Vec3(0, 1, 0));
      return Refusal{};
    };
    a.on_pass = [&](Real, int passes, std::span<const Vec3> received) {
      EXPECT_EQ(passes, ++calls);
      EXPECT_EQ(received.size(), a.points().rows());
      for (const Vec3& v : received) EXPECT_LT((v - Vec3(0, passes, 0)).norm(), 1e-13);
      set_tentative(a, Vec3(0, passes + 1, 0));
      return passes < 3 && comm.rank() == 0;
    };
  });
  const Real dt = clouds.take().size.dt;
  EXPECT_EQ(calls, 3);
  EXPECT_GT(dt, 0);
  for (const Vec3& v : clouds.dust(0).points().get<Velocity>()) EXPECT_LT((v - Vec3(0, 3, 0)).norm(), 1e-13);
}

TEST(StagesTest, OneCorrectionSeesAllItsBodiesBeforeTheyMove) {
  int calls = 0;
  std::map<PointId, Vec3> before;
  const Vec3 corrected(0, 0.25, 0);
  Clouds clouds([&](Dust& a, Dust& b) {
    a.its_roles.corrects = b.its_roles.corrects = &a;  // one for both
    a.on_correct = [&](Real) {
      ++calls;
      for (Dust* dust : {&a, &b}) {
        const auto v = dust->points().get<Velocity>();
        for (const Vec3& received : v) EXPECT_GT(received.norm(), 0.5) << "they have gathered";
        std::fill(v.begin(), v.end(), corrected);
      }
      for (std::size_t p = 0; p < a.points().owned(); ++p)
        EXPECT_EQ(a.points().get<Position>()[p], before.at(a.points().get<Id>()[p]));
    };
  });
  const Table& points = clouds.dust(0).points();
  for (std::size_t p = 0; p < points.owned(); ++p) before[points.get<Id>()[p]] = points.get<Position>()[p];
  const Real dt = clouds.take().size.dt;
  EXPECT_EQ(calls, 1);
  for (std::size_t p = 0; p < points.owned(); ++p) {
    EXPECT_EQ(points.get<Velocity>()[p], corrected);
    const auto found = before.find(points.get<Id>()[p]);
    if (found != before.end()) {  // it has been on this rank before
      EXPECT_EQ(points.get<Position>()[p], Vec3(found->second + dt * corrected));
    }
  }
  EXPECT_NEAR(clouds.state.limits[0].speed, 0.25, 1e-15) << "limits are those of corrected points";
}

TEST(StagesTest, ACorrectionThatChangesNothingChangesNoBit) {
  const auto after_steps = [](bool corrects) {
    Clouds clouds([&](Dust&, Dust& b) {
      if (corrects) b.its_roles.corrects = &b;
      b.on_correct = [](Real) {};
    });
    for (int s = 0; s < 20; ++s) clouds.take();
    return clouds.state_of_points();
  };
  EXPECT_TRUE(after_steps(true) == after_steps(false));
}

TEST(StagesTest, PointsThatAreNotMatterAreVisitedButNotCounted) {
  Copies copies;
  Clouds clouds([&](Dust& a, Dust&) { a.passed_on = &copies; });
  const Totals before = totals_of(clouds.comm, clouds.scene);
  const std::int64_t points_before = clouds.scene.points();
  Table& extra = copies.points();
  const Table& real = std::as_const(clouds.dust(0)).points();
  extra.resize(real.owned());
  for (std::size_t p = 0; p < real.owned(); ++p) {
    extra.get<Id>()[p] = real.get<Id>()[p];
    extra.get<Position>()[p] = real.get<Position>()[p];
    extra.get<Velocity>()[p] = Vec3(1, 0, 0);
    extra.get<Mass>()[p] = 3;
  }
  clouds.state.drift[0] = std::numeric_limits<Real>::infinity();  // the copies were never binned
  EXPECT_EQ(totals_of(clouds.comm, clouds.scene).mass, before.mass);
  EXPECT_EQ(clouds.scene.points(), points_before);
  const Real dx = clouds.scene.dx, margin = drift_margin(clouds.scene.layers.front().transfer.kernel) + 1e-9;
  for (int s = 0; s < 40; ++s) {  // some cells far
    clouds.take();
    EXPECT_NEAR(clouds.state.limits[0].speed, 1, 1e-12) << "copies limit nothing";
    for (std::size_t p = 0; p < extra.owned(); ++p) {
      const Vec3i block = block_of_code(extra.get<Home>()[p]);
      const Vec3 at = extra.get<Position>()[p] / dx - (block_width * block).cast<Real>();
      EXPECT_GT(at.minCoeff(), bin_start - 2 * margin) << "beyond the tile of its bin";
      EXPECT_LT(at.maxCoeff(), bin_start + block_width + 2 * margin);
    }
  }
  EXPECT_EQ(totals_of(clouds.comm, clouds.scene).particles, before.particles);
}

}  // namespace
}  // namespace weft
