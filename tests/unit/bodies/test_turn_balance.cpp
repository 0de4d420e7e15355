// Turns of least energy: closed forms, and forces on vertices against differences of the energy that is left.

#include "bodies/rods.hpp"
#include "bodies/turn_balance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace weft {
namespace {

constexpr Real pi = std::numbers::pi;

/// Of a joint that only twists.
TurnedJoint twisting(Real stiffness, Real strain) { return {0, 0, stiffness, 0, 0, 0, 0, strain}; }

TEST(TurnBalanceTest, AStraightStrandBetweenClampsHasTheSameMomentEverywhere) {
  const std::vector<Real> stiffness{1, 3, 0.2, 5, 1};
  TurnBalance balance;
  balance.begin(4);
  balance.join({-1, 0, twisting(stiffness[0], 0)});
  for (std::int32_t s = 0; s < 3; ++s) balance.join({s, s + 1, twisting(stiffness[s + 1], 0)});
  balance.join({3, -1, twisting(stiffness[4], 0.7)});  // the far clamp is turned
  const std::span<const Real> turns = balance.find();
  Real compliance = 0, sum = 0;
  for (const Real k : stiffness) compliance += 1 / k;
  for (std::size_t s = 0; s < 4; ++s) EXPECT_NEAR(turns[s], sum += 0.7 / compliance / stiffness[s], 1e-14);
}

TEST(TurnBalanceTest, NothingTurnsAFreeStrandAsAWhole) {
  TurnBalance balance;
  balance.begin(100);
  for (std::int32_t s = 0; s < 99; ++s) balance.join({s, s + 1, twisting(1 + s % 3, s == 40 ? 0.3 : 0)});
  const std::span<const Real> turns = balance.find();
  EXPECT_NEAR(turns[0] - turns[99], 0.3, 1e-13);
  EXPECT_LT(std::max(std::abs(turns[0]), std::abs(turns[99])), 0.3 + 1e-13);
  balance.begin(1);
  EXPECT_EQ(balance.find()[0], 0);
}

/// A rod made along these points, with turned frames; a ring if wanted.
struct Rod {
  std::vector<Vec3> x;
  std::vector<Vec3> tangent, director;
  std::vector<Real> twist, turns;
  std::vector<std::array<std::int32_t, 2>> ends;
  Rods rods;

  Rod(std::vector<Vec3> points, bool is_ring, const RodSection& section, Real taper = 1)
      : x(std::move(points)), rods(section, {}, {}) {
    std::vector<RodSegment> segments;
    std::vector<RodJointAtRest> joints;
    const auto n = static_cast<std::int32_t>(x.size()) - (is_ring ? 0 : 1);
    for (std::int32_t s = 0; s < n; ++s) {
      ends.push_back({s, (s + 1) % static_cast<std::int32_t>(x.size())});
      const Vec3 e = x[ends[s][1]] - x[s];
      segments.push_back({ends[s], e.norm(), 1 + (taper - 1) * s / n});
      tangent.push_back(e.normalized());
      director.push_back(s == 0 ? tangent[0].cross(Vec3(Vec3::UnitZ())).normalized()
                                : transported(director[s - 1], tangent[s - 1], tangent[s]));
    }
    twist.assign(n, 0);
    turns.assign(n, 0);
    for (std::int32_t f = is_ring ? 0 : 1; f < n; ++f) {
      const std::int32_t e = (f + n - 1) % n;
      const JointShape<Real> shape({{tangent[e], director[e]}, {tangent[f], director[f]}, 0}, tangent[e], tangent[f], 0,
                                   0);
      twist[f] = shape.twist;
      joints.push_back({{e, f}, shape.k1, shape.k2, shape.twist});
    }
    rods = Rods(section, segments, joints);
  }

  RodState state() const { return {tangent, director, twist}; }
  TrialShape shape(const std::vector<Vec3>& at, const std::vector<Real>& turned) const { return {at, {}, turned}; }
  std::vector<Real> balanced(const std::vector<Vec3>& at, const Rods* damping = nullptr,
                             std::span<const TurnLink> clamps = {}) const {
    std::vector<Real> found = turns;
    rods.balance_turns(at, state(), damping, clamps, found);
    return found;
  }
  std::vector<Vec3> moved(Real by, unsigned seed) const {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<Real> uniform(-by, by);
    std::vector<Vec3> at = x;
    for (Vec3& place : at)
      for (Real& component : place) component += uniform(engine);
    return at;
  }
};

std::vector<Vec3> helix(int points) {
  std::vector<Vec3> x;
  for (int i = 0; i < points; ++i) x.emplace_back(0.3 * std::cos(0.4 * i), 0.3 * std::sin(0.4 * i), 0.03 * i);
  return x;
}
std::vector<Vec3> circle(int points, Real angle) {
  std::vector<Vec3> x;
  for (int i = 0; i < points; ++i) x.emplace_back(std::cos(angle * i), std::sin(angle * i), 0);
  return x;
}

/// -(dE/dx).dx with turns that follow, by differences, and by forces with turns as they are.
void expect_forces_of_what_is_left(const Rod& rod, const Rods* damping) {
  const std::vector<Vec3> at = rod.moved(0.03, 1), way = rod.moved(1, 2);
  const auto along = [&](Real by) {
    std::vector<Vec3> there = at;
    for (std::size_t r = 0; r < at.size(); ++r) there[r] += by * (way[r] - rod.x[r]);
    return there;
  };
  const auto energy = [&](Real by) {
    const std::vector<Vec3> there = along(by);
    const std::vector<Real> turns = rod.balanced(there, damping);
    return rod.rods.energy(rod.shape(there, turns), rod.state()) +
           (damping != nullptr ? damping->energy(rod.shape(there, turns), rod.state()) : 0);
  };
  const std::vector<Real> turns = rod.balanced(at, damping);
  std::vector<Vec3> f(at.size(), Vec3::Zero());
  std::vector<Real> turning(turns.size(), 0);
  rod.rods.add_force(rod.shape(at, turns), rod.state(), {f, {}, turning});
  if (damping != nullptr) damping->add_force(rod.shape(at, turns), rod.state(), {f, {}, turning});
  Real work = 0, largest = 0;
  for (std::size_t r = 0; r < f.size(); ++r) {
    work += f[r].dot(way[r] - rod.x[r]);
    largest = std::max(largest, f[r].norm());
  }
  for (const Real moment : turning) EXPECT_LT(std::abs(moment), 1e-12 * largest);
  const Real h = 1e-5, slope = (energy(h) - energy(-h)) / (2 * h);
  EXPECT_NEAR(-work, slope, 1e-7 * std::abs(slope));
  EXPECT_LT(energy(0), rod.rods.energy(rod.shape(at, rod.turns), rod.state()) +
                           (damping != nullptr ? damping->energy(rod.shape(at, rod.turns), rod.state()) : 0));
}

TEST(TurnBalanceTest, ForcesOnVerticesAreThoseOfTheEnergyThatIsLeft) {
  for (const Real wide : {0.02, 0.01}) {
    const RodSection section = RodSection::ellipse(wide, 0.01, 1e5, 1e5, 4e4, 1000);
    for (const Rod& rod : {Rod(helix(12), false, section), Rod(helix(12), false, section, 0.3),
                           Rod(circle(15, 2 * pi / 15), true, section)}) {
      expect_forces_of_what_is_left(rod, nullptr);
      Rods damping(RodSection::ellipse(wide, 0.01, 30, 30, 10, 1000), rod.rods);
      const std::vector<Vec3> before = rod.moved(0.01, 5);
      damping.resist_changes_of(rod.shape(before, rod.turns), rod.state(), 0.01);
      expect_forces_of_what_is_left(rod, &damping);
    }
  }
}

/// A naturally bent round rod whose vertices stay has the energy int GJ theta'^2 / 2 + B k^2 (1 - cos(theta)). So its
/// turns are those of a pendulum. From an end that is turned by alpha they fade like half of a kink,
/// theta = 4 atan(tan(alpha / 4) exp(-s / a)) with a = sqrt(GJ / B) / k.
TEST(TurnBalanceTest, ABentRodThatIsTurnedAtItsEndFollowsAPendulum) {
  const Real B = 1, GJ = 0.02, a = std::sqrt(GJ / B), alpha = 2.5;
  std::vector<Real> errors;
  for (const int n : {100, 200, 400}) {
    const Real angle = 3.0 / n, l = 2 * std::sin(angle / 2);
    RodSection section = RodSection::ellipse(0.01, 0.01, 1e5, 1e5, 4e4, 1000);
    section.bend1 = section.bend2 = B;
    section.twist = GJ;
    const Rod rod(circle(n + 1, angle), false, section);
    // Clamps are joints over half of a segment.
    const TurnedJoint last{0, 0, GJ / (l / 2), 0, 0, 0, 0, 0}, first{0, 0, GJ / (l / 2), 0, 0, 0, 0, -alpha};
    const std::vector<TurnLink> clamps{{n - 1, -1, last}, {-1, 0, first}};
    const std::vector<Real> turns = rod.balanced(rod.x, nullptr, clamps);
    Real error = 0;
    for (int s = 0; s < n; ++s) {
      const Real exact = 4 * std::atan(std::tan(alpha / 4) * std::exp(-(s + 0.5) * angle / a));
      error = std::max(error, std::abs(turns[s] / section.gyration - exact));
    }
    errors.push_back(error);
  }
  EXPECT_LT(errors.back(), 2e-3);
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.3);
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2, 0.15);
}

TEST(TurnBalanceTest, FramesThatAreTurnedAwayComeBackFromAnywhere) {
  const Rod made(helix(20), false, RodSection::ellipse(0.01, 0.01, 1e5, 1e5, 4e4, 1000));
  for (const Real away : {0.5, 1.5, 3.0, -3.1}) {
    Rod rod = made;
    for (Real& turn : rod.turns) turn = away * rod.rods.section().gyration;
    const std::vector<Real> turns = rod.balanced(rod.x);
    for (const Real turn : turns) EXPECT_NEAR(turn, 0, 1e-12);
  }
}

TEST(TurnBalanceTest, StrandsOfOneBodyAreFoundAloneToTheBit) {
  const RodSection section = RodSection::ellipse(0.02, 0.01, 1e5, 1e5, 4e4, 1000);
  const Rod rod(helix(12), false, section);
  const std::vector<Vec3> at = rod.moved(0.03, 1);
  const std::vector<Real> alone = rod.balanced(at);
  constexpr std::int32_t copies = 40;
  std::vector<Vec3> x;
  std::vector<RodSegment> segments;
  std::vector<RodJointAtRest> joints;
  std::vector<Vec3> tangent, director;
  std::vector<Real> twist;
  for (std::int32_t c = 0; c < copies; ++c) {
    const auto first = static_cast<std::int32_t>(x.size()), before = static_cast<std::int32_t>(segments.size());
    x.insert(x.end(), at.begin(), at.end());
    tangent.insert(tangent.end(), rod.tangent.begin(), rod.tangent.end());
    director.insert(director.end(), rod.director.begin(), rod.director.end());
    twist.insert(twist.end(), rod.twist.begin(), rod.twist.end());
    for (std::int32_t s = 0; s < 11; ++s) segments.push_back({{first + s, first + s + 1}, rod.rods.length(s)});
    for (std::int32_t f = 1; f < 11; ++f) {
      const JointShape<Real> shape({{rod.tangent[f - 1], rod.director[f - 1]}, {rod.tangent[f], rod.director[f]}, 0},
                                   rod.tangent[f - 1], rod.tangent[f], 0, 0);
      joints.push_back({{before + f - 1, before + f}, shape.k1, shape.k2, shape.twist});
    }
  }
  const Rods all(section, segments, joints);
  std::vector<Real> turns(segments.size(), 0);
  all.balance_turns(x, {tangent, director, twist}, nullptr, {}, turns);
  for (std::size_t s = 0; s < turns.size(); ++s) EXPECT_EQ(turns[s], alone[s % alone.size()]);
}

}  // namespace
}  // namespace weft
