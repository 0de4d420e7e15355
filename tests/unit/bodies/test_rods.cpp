// Rods: forces and stiffness against differences, natural shapes, rigid motions, the bound of frequencies.

#include "bodies/rods.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

namespace weft {
namespace {

/// A rod along a helix, as it is made without moment, or straight by nature.
struct Rod {
  std::vector<Vec3> rest;
  std::vector<Vec3> tangent, director;
  std::vector<Real> twist;
  Rods rods;

  /// taper: size of the last section over that of the first.
  Rod(int n, bool straight, Real taper = 1) : rods(RodSection::ellipse(0.02, 0.01, 1e5, 1e5, 4e4, 1000), {}, {}) {
    std::vector<RodSegment> segments;
    std::vector<RodJointAtRest> joints;
    for (int i = 0; i <= n; ++i) rest.emplace_back(0.3 * std::cos(0.4 * i), 0.3 * std::sin(0.4 * i), 0.03 * i);
    for (std::int32_t s = 0; s < n; ++s) {
      const Vec3 e = rest[s + 1] - rest[s];
      segments.push_back({{s, s + 1}, e.norm(), 1 + (taper - 1) * s / (n - 1)});
      tangent.push_back(e.normalized());
      director.push_back(s == 0 ? tangent[0].cross(Vec3(Vec3::UnitZ())).normalized()
                                : transported(director[s - 1], tangent[s - 1], tangent[s]));
      twist.push_back(0);
      if (s == 0) continue;
      const JointShape<Real> shape({{tangent[s - 1], director[s - 1]}, {tangent[s], director[s]}, 0}, tangent[s - 1],
                                   tangent[s], 0, 0);
      joints.push_back({{s - 1, s}, straight ? 0 : shape.k1, straight ? 0 : shape.k2, 0});
    }
    rods = Rods(rods.section(), segments, joints);
  }
  RodState state() const { return {tangent, director, twist}; }
  std::size_t freedoms() const { return 3 * rest.size() + tangent.size(); }
};

/// Positions and turns moved by a vector of all freedoms.
struct Trial {
  std::vector<Vec3> x;
  std::vector<Real> turns;

  Trial(const Rod& rod, const Eigen::VectorXd& u) : x(rod.rest), turns(rod.tangent.size()) {
    for (std::size_t r = 0; r < x.size(); ++r) x[r] += u.segment<3>(3 * static_cast<Eigen::Index>(r));
    for (std::size_t s = 0; s < turns.size(); ++s) turns[s] = u[static_cast<Eigen::Index>(3 * x.size() + s)];
  }
  TrialShape shape() const { return {x, {}, turns}; }
};

Eigen::VectorXd force(const Rod& rod, const Trial& at) {
  std::vector<Vec3> f(at.x.size(), Vec3::Zero());
  std::vector<Real> turning(at.turns.size(), 0);
  rod.rods.add_force(at.shape(), rod.state(), {f, {}, turning});
  Eigen::VectorXd all(static_cast<Eigen::Index>(rod.freedoms()));
  for (std::size_t r = 0; r < f.size(); ++r) all.segment<3>(3 * static_cast<Eigen::Index>(r)) = f[r];
  for (std::size_t s = 0; s < turning.size(); ++s) all[static_cast<Eigen::Index>(3 * f.size() + s)] = turning[s];
  return all;
}

/// Column by column, by products.
Eigen::MatrixXd stiffness(const Rod& rod, const Trial& at, bool definite) {
  MeshStiffness parts;
  rod.rods.add_stiffness(at.shape(), rod.state(), definite, parts);
  const auto n = static_cast<Eigen::Index>(rod.freedoms());
  Eigen::MatrixXd K(n, n);
  for (Eigen::Index k = 0; k < n; ++k) {
    std::vector<Vec3> u(at.x.size(), Vec3::Zero()), f(u);
    std::vector<Real> turns(at.turns.size(), 0), turning(turns);
    if (k < 3 * static_cast<Eigen::Index>(u.size())) u[static_cast<std::size_t>(k / 3)][k % 3] = 1;
    else turns[static_cast<std::size_t>(k) - 3 * u.size()] = 1;
    parts.multiply(u, {}, f, {}, turns, turning);
    for (std::size_t r = 0; r < f.size(); ++r) K.col(k).segment<3>(3 * static_cast<Eigen::Index>(r)) = -f[r];
    for (std::size_t s = 0; s < turning.size(); ++s) K(static_cast<Eigen::Index>(3 * f.size() + s), k) = -turning[s];
  }
  return K;
}

Eigen::VectorXd random_motion(const Rod& rod, Real size, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<Real> uniform(-size, size);
  Eigen::VectorXd u(static_cast<Eigen::Index>(rod.freedoms()));
  for (Real& x : u) x = uniform(engine);
  return u;
}

void expect_derivatives(const Rod& rod) {
  const Eigen::VectorXd u = random_motion(rod, 0.03, 1), du = random_motion(rod, 1, 2);
  const Real h = 1e-6;
  const auto energy = [&](Real by) { return rod.rods.energy(Trial(rod, u + by * du).shape(), rod.state()); };
  const Real slope = (energy(h) - energy(-h)) / (2 * h);
  EXPECT_NEAR(-force(rod, Trial(rod, u)).dot(du), slope, 1e-7 * std::abs(slope));
  const Eigen::MatrixXd K = stiffness(rod, Trial(rod, u), false);
  EXPECT_LT((K - K.transpose()).norm(), 1e-14 * K.norm());
  const Eigen::VectorXd change = (force(rod, Trial(rod, u + h * du)) - force(rod, Trial(rod, u - h * du))) / (2 * h);
  EXPECT_LT((K * du + change).norm(), 1e-7 * change.norm());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> definite(stiffness(rod, Trial(rod, u), true));
  EXPECT_GT(definite.eigenvalues().minCoeff(), -1e-12 * definite.eigenvalues().maxCoeff());
}

TEST(RodsTest, ForcesAreMinusTheDerivativeOfTheEnergyAndStiffnessThatOfForces) {
  for (const Real taper : {1.0, 0.3}) expect_derivatives(Rod(6, false, taper));
}

TEST(RodsTest, NaturalShapesAndRigidMotionsHaveNoForce) {
  Rod rod(8, false);
  const auto n = static_cast<Eigen::Index>(rod.freedoms());
  const Real typical = rod.rods.section().stretch;
  EXPECT_LT(force(rod, Trial(rod, Eigen::VectorXd::Zero(n))).norm(), 1e-13 * typical);
  // In steps that frames follow; the rod turns as well about its middle.
  std::vector<Vec3> x = rod.rest;
  const Mat3 Q = Eigen::AngleAxis<Real>(0.5, Vec3(1, 2, -1).normalized()).toRotationMatrix();
  for (int step = 0; step < 5; ++step) {
    std::vector<Real> turns;
    for (std::size_t s = 0; s < rod.tangent.size(); ++s) {
      const Vec3 to = Q * rod.tangent[s];
      const Vec3 carried = transported(rod.director[s], rod.tangent[s], to);
      turns.push_back(rod.rods.section().gyration * angle_between(carried, Vec3(Q * rod.director[s]), to));
    }
    for (Vec3& p : x) p = Q * p + Vec3(0.1, 0, 0);
    const TrialShape at{x, {}, turns};
    std::vector<Vec3> f(x.size(), Vec3::Zero());
    std::vector<Real> turning(turns.size(), 0);
    rod.rods.add_force(at, rod.state(), {f, {}, turning});
    for (const Vec3& of_vertex : f) EXPECT_LT(of_vertex.norm(), 1e-12 * typical);
    for (const Real of_turn : turning) EXPECT_LT(std::abs(of_turn), 1e-12 * typical);
    rod.rods.move(at, rod.state(), rod.tangent, rod.director, rod.twist);
    for (const Real twist : rod.twist) EXPECT_LT(std::abs(twist), 1e-13);
  }
  EXPECT_LT(std::abs(rod.director[3].dot(rod.tangent[3])), 1e-15);
}

/// Strands of all lengths, a ring among them, and joints that fold: what numbers give joint by joint.
void expect_forces_of_numbers(Real (*size_of)(std::size_t)) {
  const RodSection section = RodSection::ellipse(0.02, 0.01, 1e5, 1e5, 4e4, 1000);
  std::vector<RodSegment> segments;
  std::vector<RodJointAtRest> joints;
  std::int32_t vertices = 0;
  for (const std::int32_t n : {1, 2, 5, 16, 17, 150, 40, 90}) {  // the last one is closed
    const bool is_closed = n == 90;
    const auto first = static_cast<std::int32_t>(segments.size());
    if (is_closed) joints.push_back({{first + n - 1, first}, 0.1, 0.2, -0.1});
    for (std::int32_t s = 0; s < n; ++s) {
      segments.push_back({{vertices + s, is_closed && s + 1 == n ? vertices : vertices + s + 1},
                          0.1 + 0.001 * s,
                          size_of(segments.size())});
      if (s > 0) joints.push_back({{first + s - 1, first + s}, 0.01 * s, -0.02, 0.003 * s});
    }
    vertices += is_closed ? n : n + 1;
  }
  std::mt19937 engine(4);
  std::uniform_real_distribution<Real> uniform(-1, 1);
  const auto vector = [&] { return Vec3(uniform(engine), uniform(engine), uniform(engine)); };
  std::vector<Vec3> x, tangent, director;
  std::vector<Real> twist, turns;
  for (std::int32_t v = 0; v < vertices; ++v) x.push_back(Vec3(0.1 * v, 0, 0) + 0.1 * vector());
  x[30] = x[28];  // a fold
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const Vec3 e = x[segments[s].rows[1]] - x[segments[s].rows[0]];
    tangent.push_back((e.normalized() + 0.3 * vector()).normalized());
    director.push_back(tangent[s].cross(vector()).normalized());
    twist.push_back(20 * uniform(engine));
    turns.push_back(0.01 * uniform(engine));
  }
  const Rods rods(section, segments, joints);
  std::vector<Vec3> f(x.size(), Vec3::Zero()), expected(f);
  std::vector<Real> turning(turns.size(), 0), expected_turning(turning);
  rods.add_force({x, {}, turns}, {tangent, director, twist}, {f, {}, turning});
  const auto edge = [&](std::int32_t s) { return Vec3(x[segments[s].rows[1]] - x[segments[s].rows[0]]); };
  const auto push = [&](std::int32_t s, const Vec3& by_edge, Real by_turn) {
    expected[segments[s].rows[0]] += by_edge;
    expected[segments[s].rows[1]] -= by_edge;
    expected_turning[s] -= by_turn / (section.gyration * segments[s].size);
  };
  Real energy = 0;
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(segments.size()); ++s) {
    const Real strain = edge(s).norm() / segments[s].length - 1;
    const Real stretch = section.stretch * segments[s].size * segments[s].size;
    energy += stretch / 2 * strain * strain * segments[s].length;
    push(s, stretch * strain * edge(s).normalized(), 0);
  }
  for (const auto& [of, natural1, natural2, natural_twist] : joints) {
    const auto [a, b] = of;
    const auto compliant = [&](std::int32_t s) { return segments[s].length / std::pow(segments[s].size, 4); };
    const Real lb = (compliant(a) + compliant(b)) / 2;
    const JointEnergy joint = joint_energy(
        {{tangent[a], director[a]}, {tangent[b], director[b]}, twist[b]},
        {section.bend1 / lb, section.bend2 / lb, section.twist / lb, natural1, natural2, natural_twist}, edge(a),
        edge(b), turns[a] / (section.gyration * segments[a].size), turns[b] / (section.gyration * segments[b].size));
    energy += joint.value;
    push(a, joint.gradient.head<3>(), joint.gradient[6]);
    push(b, joint.gradient.segment<3>(3), joint.gradient[7]);
  }
  EXPECT_NEAR(rods.energy({x, {}, turns}, {tangent, director, twist}), energy, 1e-12 * energy);
  Real most = 0, most_turning = 0;
  for (const Vec3& each : expected) most = std::max(most, each.norm());
  for (const Real each : expected_turning) most_turning = std::max(most_turning, std::abs(each));
  for (std::size_t v = 0; v < x.size(); ++v) EXPECT_LT((f[v] - expected[v]).norm(), 1e-12 * most) << v;
  for (std::size_t s = 0; s < turns.size(); ++s)
    EXPECT_LT(std::abs(turning[s] - expected_turning[s]), 1e-12 * most_turning) << s;
}

TEST(RodsTest, PacksOfJointsHaveTheForcesOfNumbers) {
  expect_forces_of_numbers([](std::size_t) { return 1.0; });
  expect_forces_of_numbers([](std::size_t s) { return 0.3 + 0.1 * static_cast<Real>(s % 11); });
}

/// Rods of viscosities oppose what changes since a shape, and rigid motions from there in no way.
TEST(RodsTest, DampingIsOfChangesOfShapeAlone) {
  const Rod rod(6, false);
  const Trial start(rod, random_motion(rod, 0.03, 1));
  Rods damping = rod.rods;
  const Real h = 0.01;
  damping.resist_changes_of(start.shape(), rod.state(), h);
  EXPECT_EQ(damping.energy(start.shape(), rod.state()), 0);
  Trial moved = start;
  const Mat3 Q = Eigen::AngleAxis<Real>(0.3, Vec3(1, 2, -1).normalized()).toRotationMatrix();
  for (Vec3& x : moved.x) x = Q * x;
  for (std::size_t s = 0; s < moved.turns.size(); ++s) {
    // The director of the start, carried by Q, is what the straight way from the first frame has, and a turn.
    const Vec3 before = (start.x[s + 1] - start.x[s]).normalized(), after = Q * before;
    const Vec3 then = transported(rod.director[s], rod.tangent[s], before);
    const Vec3 now = transported(rod.director[s], rod.tangent[s], after);
    moved.turns[s] += rod.rods.section().gyration * angle_between(now, Vec3(Q * then), after);
  }
  const Real size = rod.rods.energy(start.shape(), rod.state()) / h;
  EXPECT_LT(damping.energy(moved.shape(), rod.state()), 1e-25 * size);
  const Trial changed(rod, random_motion(rod, 0.03, 2));
  EXPECT_GT(damping.energy(changed.shape(), rod.state()), 0.1 * size);
}

/// A segment that is turned on and on keeps count of its turns.
TEST(RodsTest, TwistCountsFullTurns) {
  Rod rod(4, true);
  std::vector<Real> turns(rod.tangent.size(), 0);
  turns.back() = 0.7 * rod.rods.section().gyration;
  for (int step = 0; step < 20; ++step)
    rod.rods.move({rod.rest, {}, turns}, rod.state(), rod.tangent, rod.director, rod.twist);
  EXPECT_NEAR(rod.twist.back(), 14, 1e-13);
  EXPECT_NEAR(rod.twist[1], 0, 1e-15);
}

TEST(RodsTest, TheBoundOfFrequenciesHoldsAndIsNearInStraightRods) {
  const auto largest = [](const Eigen::MatrixXd& symmetric) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(symmetric, Eigen::EigenvaluesOnly);
    return eigen.eigenvalues().cwiseAbs().maxCoeff();
  };
  const auto over_mass = [](const Rod& rod, const Trial& at) -> Eigen::MatrixXd {
    const auto n = static_cast<Eigen::Index>(rod.freedoms());
    Eigen::VectorXd mass = Eigen::VectorXd::Zero(n);
    for (std::size_t s = 0; s < rod.tangent.size(); ++s) {
      for (const std::int32_t row : rod.rods.rows(s)) mass.segment<3>(3 * row).array() += rod.rods.mass(s) / 2;
      mass[static_cast<Eigen::Index>(3 * rod.rest.size() + s)] = rod.rods.mass(s);
    }
    const Eigen::VectorXd root = mass.cwiseSqrt().cwiseInverse();
    return root.asDiagonal() * stiffness(rod, at, false) * root.asDiagonal();
  };
  // Of viscosities that resist changes since a shape, in unit time.
  const auto damping_over_mass = [&](Rod rod, const RodSection& viscosities, const Trial& at) {
    rod.rods = Rods(viscosities, rod.rods);
    rod.rods.resist_changes_of(at.shape(), rod.state(), 1);
    return over_mass(rod, at);
  };
  for (const bool straight : {false, true})
    for (const unsigned seed : {1, 2, 3, 4, 5, 6}) {
      const Rod rod(8, straight, seed > 3 ? 0.2 : 1);
      const Trial at(rod, random_motion(rod, 0.03, seed));
      std::vector<Real> twist(rod.twist);
      for (std::size_t s = 1; s < twist.size(); ++s)  // as moved
        twist[s] += at.turns[s] / rod.rods.section(s).gyration - at.turns[s - 1] / rod.rods.section(s - 1).gyration;
      const Eigen::MatrixXd K = over_mass(rod, at);
      EXPECT_GT(rod.rods.frequency(at.x, twist, true), std::sqrt(largest(K)));
      for (const Real stretch : {1, 100}) {
        // A substep of h is stable if h^2 K / 4 + h C / 2 is below 1.
        const RodSection viscosities = RodSection::ellipse(0.02, 0.01, 3, 3 * stretch, 2, 1000);
        const Real h = 2 / rod.rods.frequency(at.x, twist, true, viscosities);
        EXPECT_LT(largest(h * h / 4 * K + h / 2 * damping_over_mass(rod, viscosities, at)), 1);
      }
    }
  Rod rod(0, true);
  std::vector<RodSegment> segments;
  std::vector<RodJointAtRest> joints;
  for (std::int32_t s = 0; s < 40; ++s) {
    segments.push_back({{s, s + 1}, 0.002});
    rod.tangent.emplace_back(Vec3::UnitX());
    rod.director.emplace_back(Vec3::UnitZ());
    rod.twist.push_back(0);
    if (s > 0) joints.push_back({{s - 1, s}, 0, 0, 0});
  }
  rod.rest.clear();
  for (int i = 0; i <= 40; ++i) rod.rest.emplace_back(0.002 * i, 0, 0);
  rod.rods = Rods(RodSection::ellipse(0.01, 0.01, 1e3, 1e6, 4e5, 1000), segments, joints);
  const Trial at_rest(rod, Eigen::VectorXd::Zero(static_cast<Eigen::Index>(rod.freedoms())));
  const Real bound = rod.rods.frequency(rod.rest, rod.twist, true), found = std::sqrt(largest(over_mass(rod, at_rest)));
  EXPECT_GT(bound, found);
  EXPECT_LT(bound, 1.45 * found);                                          // the vertices at the ends are half as heavy
  const auto much = RodSection::ellipse(0.01, 0.01, 1e6, 1e6, 4e5, 1000);  // nothing but its damping counts
  const Real damped = rod.rods.frequency(rod.rest, rod.twist, true, much);
  const Real rate = largest(damping_over_mass(rod, much, at_rest));
  EXPECT_GT(damped, rate);
  EXPECT_LT(damped, 2.1 * rate);
}

/// Ranks and tiles have the bounds of their strands alone, and the largest of them is that of all.
TEST(RodsTest, TheBoundOfSomeRodsIsTheLargestOfTheirs) {
  // Stiff ones that damp little, and thick segments that damp much: of the largest of both none would be as fast.
  const RodSection section = RodSection::ellipse(0.01, 0.01, 1e5, 1e6, 4e5, 1000);
  const auto viscosities = RodSection::ellipse(0.01, 0.01, 10, 1e-6, 4, 1000);
  const auto bound = [&](const std::vector<std::array<Real, 2>>& rods) {  // of lengths and sizes of segments
    std::vector<RodSegment> segments;
    std::vector<RodJointAtRest> joints;
    std::vector<Vec3> x;
    for (const auto& [length, size] : rods)
      for (std::int32_t k = 0; k < 5; ++k) {
        x.emplace_back(length * k, 0, 0);
        const auto here = static_cast<std::int32_t>(x.size()) - 1, s = static_cast<std::int32_t>(segments.size());
        if (k == 4) break;
        segments.push_back({{here, here + 1}, length, size});
        if (k > 0) joints.push_back({{s - 1, s}, 0, 0, 0});
      }
    return Rods(section, segments, joints).frequency(x, {}, true, viscosities);
  };
  const std::array<Real, 2> fine{0.002, 1}, thick{0.004, 5};
  EXPECT_EQ(bound({fine, thick}), std::max(bound({fine}), bound({thick})));
}

TEST(RodsTest, TheBoundWithoutInertiaOfTurnsHoldsWhereTheyFollowVertices) {
  for (const bool straight : {false, true})
    for (const unsigned seed : {1, 2, 3, 4, 5, 6}) {
      const Rod rod(8, straight, seed > 3 ? 0.2 : 1);
      Trial at(rod, random_motion(rod, 0.03, seed));
      rod.rods.balance_turns(at.x, rod.state(), nullptr, {}, at.turns);
      const auto n = static_cast<Eigen::Index>(rod.freedoms()), turns = static_cast<Eigen::Index>(at.turns.size());
      Eigen::MatrixXd K = stiffness(rod, at, false);
      if (straight) K.bottomRightCorner(turns, turns).diagonal().array() += 1e-9 * K(n - 1, n - 1);  // round rods spin
      const Eigen::MatrixXd followed =
          K.topLeftCorner(n - turns, n - turns) -
          K.topRightCorner(n - turns, turns) *
              K.bottomRightCorner(turns, turns).ldlt().solve(K.bottomLeftCorner(turns, n - turns));
      Eigen::VectorXd mass = Eigen::VectorXd::Zero(n - turns);
      for (std::size_t s = 0; s < rod.tangent.size(); ++s)
        for (const std::int32_t row : rod.rods.rows(s)) mass.segment<3>(3 * row).array() += rod.rods.mass(s) / 2;
      const Eigen::VectorXd root = mass.cwiseSqrt().cwiseInverse();
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(root.asDiagonal() * followed * root.asDiagonal());
      std::vector<Real> twist(rod.twist);
      for (std::size_t s = 1; s < twist.size(); ++s)
        twist[s] += at.turns[s] / rod.rods.section(s).gyration - at.turns[s - 1] / rod.rods.section(s - 1).gyration;
      const Real bound = rod.rods.frequency(at.x, twist, false);
      EXPECT_GT(bound, std::sqrt(eigen.eigenvalues().cwiseAbs().maxCoeff()));
      EXPECT_LE(bound, rod.rods.frequency(at.x, twist, true));
    }
}

/// Of one joint between two segments of a length of 1 and 2, with unit masses: its largest eigenvalue over the bound.
Real eigenvalue_over_bound(std::mt19937& engine) {
  const auto any = [&](Real low, Real high) { return std::uniform_real_distribution<Real>(low, high)(engine); };
  const Real angle = any(0, 150) * std::numbers::pi / 180, m = any(-2, 2), size = std::pow(10, any(-2, -0.5));
  const RodSection section = RodSection::ellipse(size, size * std::pow(10, any(-1.5, 0)), 0, 1e5, 4e4, 1);
  const Real natural = any(0, 1) < 0.3 ? 0 : any(0, 1.5), towards = any(-3, 3);
  const Vec3 te = Vec3::UnitX(), tf(std::cos(angle), 0.6 * std::sin(angle), 0.8 * std::sin(angle));
  const Vec3 m1 = turned<Real>(Vec3::UnitY(), te, any(-3, 3)), m1f = turned<Real>(transported(m1, te, tf), tf, m);
  const std::array<Real, 2> length{1, 2};
  Rods rods(section, {{{0, 1}, length[0]}, {{1, 2}, length[1]}},
            {{{0, 1}, natural * std::cos(towards), natural * std::sin(towards), 0}});
  const std::vector<Vec3> x{Vec3::Zero(), length[0] * te, length[0] * te + length[1] * tf}, tangent{te, tf},
      director{m1, m1f};
  const std::vector<Real> twist{0, m}, turns(2, 0);
  MeshStiffness parts;
  rods.add_stiffness({x, {}, turns}, {tangent, director, twist}, false, parts);
  Eigen::Matrix<Real, 11, 11> K;
  for (Eigen::Index k = 0; k < 11; ++k) {
    std::vector<Vec3> u(3, Vec3::Zero()), f(u);
    std::vector<Real> turning(2, 0), moments(turning);
    if (k < 9) u[static_cast<std::size_t>(k / 3)][k % 3] = 1;
    else turning[static_cast<std::size_t>(k - 9)] = 1;
    parts.multiply(u, {}, f, {}, turning, moments);
    for (std::size_t r = 0; r < 3; ++r) K.col(k).segment<3>(3 * static_cast<Eigen::Index>(r)) = -f[r];
    K(9, k) = -moments[0];
    K(10, k) = -moments[1];
  }
  // Masses of vertices are 1/2, 3/2 and 1, of turns 1 and 2.
  Eigen::Matrix<Real, 11, 1> root;
  root << Vec3::Constant(0.5), Vec3::Constant(1.5), Vec3::Constant(1), 1, 2;
  root = (section.mass_per_length * root).cwiseSqrt().cwiseInverse();
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix<Real, 11, 11>> eigen(root.asDiagonal() * K * root.asDiagonal());
  return eigen.eigenvalues().cwiseAbs().maxCoeff() / std::pow(rods.frequency(x, twist, true), 2);
}

TEST(RodsTest, TheBoundHoldsInAnyJointUpToSharpFoldsAndIsNotFarAbove) {
  std::mt19937 engine(1);
  Real largest = 0;
  for (int k = 0; k < 20000; ++k) largest = std::max(largest, eigenvalue_over_bound(engine));
  EXPECT_LT(largest, 1);
  EXPECT_GT(largest, 0.5);
}

}  // namespace
}  // namespace weft
