// Joints of discrete elastic rods: derivatives against automatic ones, rigid motions, folds.

#include "weft/bodies/rod_joint.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <array>
#include <cmath>
#include <numbers>
#include <random>

namespace weft {

inline Dual sin(const Dual& a) { return {std::sin(a.value), std::cos(a.value) * a.slope}; }
inline Dual cos(const Dual& a) { return {std::cos(a.value), -std::sin(a.value) * a.slope}; }

namespace {

struct Case {
  RodJoint joint;
  JointStiffness stiffness;
  Vec3 e, f;
  Real turn_e, turn_f;
};

class Cases {
 public:
  /// fold: the turn from e to f [rad]; apart: how far the edges are from where turns were zero [1].
  Case next(Real fold, Real apart) {
    Case c;
    c.e = random(1);
    const Vec3 across = c.e.cross(random(1)).normalized();
    c.f = 0.7 * (Eigen::AngleAxis<Real>(fold, across) * c.e);
    c.joint.e = frame(c.e + apart * random(c.e.norm()));
    c.joint.f = frame(c.f + apart * random(c.f.norm()));
    c.joint.twist = angle_between(transported(c.joint.e.director, c.joint.e.tangent, c.joint.f.tangent),
                                  c.joint.f.director, c.joint.f.tangent) +
                    4 * std::numbers::pi;
    c.turn_e = uniform();
    c.turn_f = uniform();
    c.stiffness = {1.3, 0.4, 0.8, 0.2, -0.3, c.joint.twist + 0.4};
    return c;
  }
  Vec3 random(Real size) { return size * Vec3(uniform(), uniform(), uniform()); }
  Real uniform() { return std::uniform_real_distribution<Real>(-1, 1)(engine_); }

 private:
  RodFrame frame(const Vec3& along) { return {along.normalized(), along.cross(random(1)).normalized()}; }
  std::mt19937 engine_{4};
};

Dual energy_along(const Case& c, const Vec8& d) {
  const Vector3<Dual> e = along<3, 1>(c.e, Vec3(d.head<3>())), f = along<3, 1>(c.f, Vec3(d.segment<3>(3)));
  const JointShape<Dual> s(c.joint, e, f, Dual(c.turn_e, d[6]), Dual(c.turn_f, d[7]));
  const Dual r = s.limited(), share = s.natural_share(), a = r * s.k1 - share * Dual(c.stiffness.natural1),
             b = r * s.k2 - share * Dual(c.stiffness.natural2), m = r * (s.twist - Dual(c.stiffness.natural_twist));
  return 0.5 * (c.stiffness.bend1 * a * a + c.stiffness.bend2 * b * b + c.stiffness.twist * m * m);
}

Vec8 gradient(const Case& c, const Vec8& moved, Real h) {
  return joint_energy(c.joint, c.stiffness, c.e + h * moved.head<3>(), c.f + h * moved.segment<3>(3),
                      c.turn_e + h * moved[6], c.turn_f + h * moved[7])
      .gradient;
}

constexpr std::array folds{0.02, 0.7, 1.9, 2.7, 3.0};

TEST(RodJointTest, GradientsAreThoseOfAutomaticDerivatives) {
  Cases cases;
  for (const Real fold : folds)
    for (const Real apart : {0.0, 0.3, 0.8}) {
      const Case c = cases.next(fold, apart);
      const JointEnergy energy = joint_energy(c.joint, c.stiffness, c.e, c.f, c.turn_e, c.turn_f);
      for (int k = 0; k < 8; ++k) {
        const Dual exact = energy_along(c, Vec8::Unit(k));
        EXPECT_NEAR(energy.value, exact.value, 1e-12 * energy.value);
        EXPECT_NEAR(energy.gradient[k], exact.slope, 1e-11 * energy.gradient.norm())
            << "fold " << fold << ", apart " << apart << ", " << k;
      }
    }
}

TEST(RodJointTest, HessiansAreTheDerivativesOfGradients) {
  Cases cases;
  for (const Real fold : folds)
    for (const Real apart : {0.0, 0.3, 0.8}) {
      const Case c = cases.next(fold, apart);
      const Mat8 hessian = joint_hessian(c.joint, c.stiffness, c.e, c.f, c.turn_e, c.turn_f, false);
      EXPECT_LT((hessian - hessian.transpose()).norm(), 1e-13 * hessian.norm());
      const Real h = fold > 2.5 ? 1e-6 : 1e-5;
      for (int k = 0; k < 8; ++k) {
        const Vec8 difference = (gradient(c, Vec8::Unit(k), h) - gradient(c, Vec8::Unit(k), -h)) / (2 * h);
        EXPECT_LT((hessian.col(k) - difference).norm(), 3e-8 * hessian.norm())
            << "fold " << fold << ", apart " << apart << ", " << k;
      }
    }
}

TEST(RodJointTest, DefiniteHessiansHaveNoNegativeEigenvalue) {
  Cases cases;
  for (const Real fold : folds) {
    const Case c = cases.next(fold, 0.3);
    const Mat8 hessian = joint_hessian(c.joint, c.stiffness, c.e, c.f, c.turn_e, c.turn_f, true);
    const Eigen::SelfAdjointEigenSolver<Mat8> eigen(hessian);
    EXPECT_GT(eigen.eigenvalues().minCoeff(), -1e-13 * hessian.norm());
  }
}

/// Rigid motions turn segments by what their frames, carried straight, lack.
TEST(RodJointTest, RigidMotionsChangeNoEnergy) {
  Cases cases;
  for (const Real angle : {0.1, 1.0, 2.0}) {
    Case c = cases.next(0.7, 0);
    const Real before = joint_energy(c.joint, c.stiffness, c.e, c.f, c.turn_e, c.turn_f).value;
    const Mat3 Q = Eigen::AngleAxis<Real>(angle, cases.random(1).normalized()).toRotationMatrix();
    const auto lack = [&](const RodFrame& frame) {
      const Vec3 to = Q * frame.tangent;
      return angle_between(transported(frame.director, frame.tangent, to), Vec3(Q * frame.director), to);
    };
    c.turn_e += lack(c.joint.e);
    c.turn_f += lack(c.joint.f);
    const JointEnergy after = joint_energy(c.joint, c.stiffness, Q * c.e, Q * c.f, c.turn_e, c.turn_f);
    EXPECT_NEAR(after.value, before, 1e-12 * before);
  }
}

TEST(RodJointTest, ANaturalShapeHasNoForce) {
  Cases cases;
  Case c = cases.next(0.7, 0);
  const JointShape<Real> s(c.joint, c.e, c.f, 0, 0);
  c.stiffness.natural1 = s.k1;
  c.stiffness.natural2 = s.k2;
  c.stiffness.natural_twist = s.twist;
  EXPECT_LT(joint_energy(c.joint, c.stiffness, c.e, c.f, 0, 0).gradient.norm(), 1e-15);
  EXPECT_EQ(s.twist, c.joint.twist);
}

/// Of parallel edges te.tf may be above one by round-off.
TEST(RodJointTest, StraightJointsAreFinite) {
  Cases cases;
  bool was_above = false;
  for (int k = 0; k < 200; ++k) {
    const Vec3 e = cases.random(1), f = 0.3 * e;
    const Vec3 director = e.cross(cases.random(1)).normalized();
    const RodFrame frame{e.normalized(), director};
    was_above = was_above || e.normalized().dot(f.normalized()) > 1;
    const JointStiffness stiffness{1, 1, 1, 0.1, 0, 0};
    EXPECT_NEAR(joint_energy({frame, frame, 0}, stiffness, e, f, 0, 0).value, 0.005, 1e-15);
    EXPECT_TRUE(joint_hessian({frame, frame, 0}, stiffness, e, f, 0, 0, false).allFinite());
  }
  EXPECT_TRUE(was_above);
}

/// M = (B / l) 2 tan(phi / 2) / cos^2(phi / 2), as a regular polygon has it.
TEST(RodJointTest, AJointOfACircleHasItsMoment) {
  const Vec3 e = Vec3::UnitX();
  const RodJoint joint{{e, Vec3::UnitZ()}, {e, Vec3::UnitZ()}, 0};
  const JointStiffness stiffness{3, 5, 1, 0, 0, 0};  // bends across the director: the second of the two
  for (const Real phi : {0.01, 0.3, 1.2}) {
    const Vec3 f(std::cos(phi), std::sin(phi), 0);
    const Real moment = joint_energy(joint, stiffness, e, f, 0, 0).gradient.segment<3>(3).dot(Vec3::UnitZ().cross(f));
    EXPECT_NEAR(moment, 5 * 2 * std::tan(phi / 2) / std::pow(std::cos(phi / 2), 2), 1e-13 * moment);
  }
}

TEST(RodJointTest, TwistDoesNotFreeRoundSectionsOfBending) {
  for (const Real degrees : {20, 100, 140, 170})
    for (const Real twist : {0.0, 0.7, -2.5, std::numbers::pi, 9.0}) {
      const Real angle = degrees * std::numbers::pi / 180;
      const Vec3 e = Vec3::UnitX(), f(std::cos(angle), std::sin(angle), 0);
      RodJoint joint{{e, Vec3::UnitY()}, {f, transported<Real>(Vec3::UnitY(), e, f)}, 0};
      const JointStiffness bending{1.3, 1.3, 0, 0, 0, 0};
      const Real straight = joint_energy(joint, bending, e, f, 0, 0).value;
      const JointEnergy turned = joint_energy(joint, bending, e, f, 0.2, 0.2 + twist);
      EXPECT_NEAR(turned.value, straight, 1e-13 * straight) << degrees << " " << twist;
      EXPECT_LT(turned.gradient.tail<2>().norm(), 1e-13 * straight);
    }
}

TEST(RodJointTest, FoldsHaveAFiniteEnergyThatGrowsWithTheTurn) {
  const Vec3 e = Vec3::UnitX();
  const RodJoint joint{{e, Vec3::UnitZ()}, {e, Vec3::UnitZ()}, 0};
  const JointStiffness stiffness{1, 1, 1, 0, 0, 0};
  const auto energy = [&](Real turn) {
    // carried by way of a right angle: a frame has no way to the opposite tangent
    const Vec3 f(std::cos(turn), std::sin(turn), 0);
    const RodJoint turned{{e, Vec3::UnitZ()}, {f, Vec3::UnitZ()}, 0};
    return joint_energy(turned, stiffness, e, f, 0, 0).value;
  };
  Real last = 0;
  for (int degrees = 10; degrees < 180; degrees += 10) {
    const Real turn = degrees * std::numbers::pi / 180, now = energy(turn);
    if (degrees < 150) {
      EXPECT_NEAR(now, 2 * std::pow(std::tan(turn / 2), 2), 1e-12 * now);
    }
    EXPECT_GT(now, last);
    last = now;
  }
  const Real most = 2 * largest_exact_curvature * largest_exact_curvature;
  EXPECT_LT(last, most);
  EXPECT_NEAR(energy(std::numbers::pi - 1e-9), most, 1e-5 * most);
  EXPECT_NEAR(energy(std::numbers::pi), most, 1e-5 * most);
  EXPECT_NEAR(joint_energy(joint, stiffness, e, Vec3(0, 2, 0), 0, 0).value, 2, 1e-14);
}

TEST(RodJointTest, ForcesOfTwistAreBoundedInFolds) {
  const Vec3 e = Vec3::UnitX();
  const auto force = [&](Real turn) {
    const Vec3 f(std::cos(turn), std::sin(turn), 0);
    const RodJoint turned{{e, Vec3::UnitZ()}, {f, Vec3::UnitZ()}, 0};
    const JointStiffness stiffness{0, 0, 1, 0, 0, 0.5};
    return joint_energy(turned, stiffness, e, f, 0, 0).gradient.head<6>().norm();
  };
  const Real there = force(150 * std::numbers::pi / 180);  // where the limit begins
  EXPECT_GT(there, 1);
  for (const Real from_fold : {0.2, 1e-2, 1e-4, 1e-6, 1e-9}) EXPECT_LT(force(std::numbers::pi - from_fold), 2 * there);
}

TEST(RodSectionTest, ARibbonIsStiffInItsWideDirection) {
  const RodSection s = RodSection::ellipse(2e-3, 1e-3, 1e6, 2e6, 8e5, 1000);
  EXPECT_NEAR(s.bend1 / s.bend2, 4, 1e-12);
  const RodSection round = RodSection::ellipse(1e-3, 1e-3, 1e6, 2e6, 8e5, 1000);
  EXPECT_NEAR(round.twist, 8e5 * std::numbers::pi * 1e-12 / 2, 1e-18);
  EXPECT_NEAR(round.bend1, 2e6 * std::numbers::pi * 1e-12 / 4, 1e-18);
  // bending in the plane of tangent and first director is k1
  const JointShape<Real> bent({{Vec3::UnitX(), Vec3::UnitY()}, {Vec3::UnitX(), Vec3::UnitY()}, 0}, Vec3(1, 0, 0),
                              Vec3(1, 0.2, 0), 0, 0);
  EXPECT_GT(std::abs(bent.k1), 0.1);
  EXPECT_EQ(bent.k2, 0);
}

}  // namespace
}  // namespace weft
