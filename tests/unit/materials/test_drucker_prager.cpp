// Sand: the cone against soil mechanics, volume correction, cohesion, hardening.

#include "weft/materials/drucker_prager.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace weft {
namespace {

constexpr Real degree = std::numbers::pi / 180;
using Memory = DruckerPrager::Memory;

DruckerPrager::Constants sand(Real friction_angle, Real cohesion = 0, bool volume_correction = true) {
  return DruckerPrager::Constants::from(lame_from(3.537e5, 0.3), friction_angle, cohesion, {}, volume_correction);
}
Mat3 from_strains(const Vec3& e) { return Vec3(e.array().exp()).asDiagonal(); }
Vec3 strains_of(const Mat3& F) { return polar_svd(F).s.array().log(); }

TEST(DruckerPragerTest, ConeFitsTheCompressionCornersOfMohrCoulomb) {
  // sigma1/sigma3 = (1 + sin phi)/(1 - sin phi) in triaxial compression.
  const Real table[][2] = {{20, 2.03961}, {25, 2.46391}, {30, 3},      {33, 3.39212},
                           {35, 3.69017}, {40, 4.59891}, {45, 5.82843}};
  for (const auto& [phi, ratio] : table) {
    const auto k = sand(phi * degree);
    const auto [F, q] = DruckerPrager::return_map(k, Memory{}, from_strains({-0.08, 0.02, 0.02}), 1e-3);
    const Mat3 tau = DruckerPrager::kirchhoff(k, q, F);
    EXPECT_NEAR(tau(0, 0) / tau(1, 1), ratio, 1e-5 * ratio);  // six digits in the table
    EXPECT_NEAR(tau(0, 0) / tau(1, 1), (1 + std::sin(phi * degree)) / (1 - std::sin(phi * degree)), 1e-9);
    EXPECT_NEAR(tau(1, 1), tau(2, 2), 1e-9 * std::abs(tau(1, 1)));
  }
}

TEST(DruckerPragerTest, ShearBoxFailsAtTheFrictionOfTheCone) {
  // Pressure p with shear s on one plane: |dev tau| = sqrt(2) s, tr tau = -3 p, so s/p = 3 alpha / sqrt(2).
  const auto k = sand(30 * degree);
  const Real p = 1e3, s = 5e3, bulk3 = 3 * k.lame.bulk();
  const Real pressed = -3 * p / bulk3 / 3, sheared = s / (2 * k.lame.mu);
  Mat3 e = pressed * Mat3::Identity();
  e(0, 1) = e(1, 0) = sheared;
  const SymmetricEigen eigen = symmetric_eigen(e);
  const Mat3 F_trial = eigen.Q * Vec3(eigen.values.array().exp()).asDiagonal() * eigen.Q.transpose();
  const auto [F, q] = DruckerPrager::return_map(k, Memory{}, F_trial, 1e-3);
  const Mat3 tau = DruckerPrager::kirchhoff(k, q, F);
  EXPECT_NEAR(tau.trace() / -3, p, 1e-9 * p);
  EXPECT_NEAR(tau(0, 1) / p, 3 * 0.326599 / std::sqrt(2.0), 1e-5);
  EXPECT_NEAR(tau(0, 1) / p, 0.693, 5e-4);
}

TEST(DruckerPragerTest, ConeOfAFrictionOfSlidingLetsAShearBoxSlideAtIt) {
  for (const Real friction : {0.0, 0.2, 0.6, 1.0, 1.7})
    EXPECT_NEAR(3 * DruckerPrager::cone(DruckerPrager::angle_of_sliding(friction)) / std::numbers::sqrt2, friction,
                1e-14);
}

TEST(DruckerPragerTest, PureCompressionIsElastic) {
  const auto k = sand(30 * degree);
  for (const Real s : {0.999999, 0.9, 0.5, 0.2}) {
    const Mat3 F = s * Mat3::Identity();
    const auto returned = DruckerPrager::return_map(k, Memory{}, F, 1e-3);
    EXPECT_EQ(returned.F, F);
    EXPECT_EQ(returned.q.plastic_strain, 0);
    EXPECT_NEAR(DruckerPrager::kirchhoff(k, Memory{}, F)(0, 0), 3 * k.lame.bulk() * std::log(s), 1e-9 * k.lame.bulk());
  }
}

TEST(DruckerPragerTest, ExpandedSandIsFreeOfStress) {
  const auto k = sand(30 * degree);
  test::MatrixSource source(1);
  for (int i = 0; i < 100; ++i) {
    const Vec3 s = Vec3::Ones() + 0.2 * source.vector();
    if (s.prod() < 1.001) continue;
    const auto [F, q] = DruckerPrager::return_map(k, Memory{}, source.with_singular_values(s), 1e-3);
    EXPECT_LT(DruckerPrager::kirchhoff(k, q, F).norm(), 1e-9);
    EXPECT_NEAR(q.volume_gain, std::log(s.prod()), 1e-13);
  }
}

/// Elastic log volume after expanding by 0.6 in twenty steps and compressing back, with the total log volume at zero.
Real volume_after_a_leap(bool volume_correction) {
  const auto k = sand(30 * degree, 0, volume_correction);
  Mat3 F = Mat3::Identity();
  Memory q;
  for (int step = 0; step < 40; ++step) {
    const auto returned = DruckerPrager::return_map(k, q, Mat3(std::exp(step < 20 ? 0.01 : -0.01) * F), 1e-3);
    F = returned.F;
    q = returned.q;
  }
  return std::log(F.determinant());
}

TEST(DruckerPragerTest, SandThatLeaptComesBackWithoutPressure) {
  EXPECT_NEAR(volume_after_a_leap(true), 0, 1e-12);
  EXPECT_NEAR(volume_after_a_leap(false), -0.6, 1e-12);  // what the correction is for
}

TEST(DruckerPragerTest, ShearFlowKeepsVolumeAndAxes) {
  const auto k = sand(35 * degree);
  test::MatrixSource source(2);
  for (int i = 0; i < 200; ++i) {
    Vec3 e = 0.1 * source.vector();
    e.array() += -0.05 - e.mean();
    const Mat3 Q = source.rotation();
    const Mat3 F = Q * from_strains(e) * Q.transpose();
    const auto returned = DruckerPrager::return_map(k, Memory{}, F, 1e-3);
    EXPECT_NEAR(returned.F.determinant(), F.determinant(), 1e-13);
    EXPECT_LT((returned.F * F - F * returned.F).norm(), 1e-13);  // symmetric F: same axes
    EXPECT_EQ(returned.q.volume_gain, 0);
  }
}

TEST(DruckerPragerTest, CohesionIsTheTensionCarriedAtZeroShear) {
  const Real cohesion = 800;
  const auto k = sand(30 * degree, cohesion);
  const auto [F, q] = DruckerPrager::return_map(k, Memory{}, from_strains({0.05, 0.02, 0.03}), 1e-3);
  const Mat3 tau = DruckerPrager::kirchhoff(k, q, F);
  EXPECT_LT((tau - cohesion * Mat3::Identity()).norm(), 1e-9 * cohesion);
  // Less tension is elastic.
  const Mat3 pulled = from_strains(Vec3::Constant(0.9 * cohesion / (3 * k.lame.bulk())));
  EXPECT_EQ(DruckerPrager::return_map(k, Memory{}, pulled, 1e-3).F, pulled);
  // Shear at zero pressure is limited by |dev tau| = alpha 3 cohesion.
  const auto sheared = DruckerPrager::return_map(k, Memory{}, from_strains({0.1, -0.1, 0}), 1e-3);
  const Mat3 shear = DruckerPrager::kirchhoff(k, sheared.q, sheared.F);
  EXPECT_NEAR(shear.norm(), DruckerPrager::cone(k, {}) * 3 * cohesion, 1e-8 * cohesion);
}

TEST(DruckerPragerTest, ConeSlopesAreThoseOfTheFrictionAngle) {
  const Real table[][2] = {{25, 0.268}, {30, 0.327}, {35, 0.386}, {40, 0.445}};
  for (const auto& [phi, alpha] : table) EXPECT_NEAR(DruckerPrager::cone(sand(phi * degree), {}), alpha, 6e-4);
}

TEST(DruckerPragerTest, HardensFromTheResidualToTheFinalAngle) {
  // h0 = 35, h1 = 9, h2 = 0.2, h3 = 10 degrees: 25 degrees at first, 35 after long flow, steeper between.
  const auto k =
      DruckerPrager::Constants::from(lame_from(3.537e5, 0.3), 35 * degree, 0, {9 * degree, 0.2, 10 * degree}, true);
  const auto cone_at = [&](Real q) { return DruckerPrager::cone(k, {std::sqrt(2.0 / 3) * q, 0}); };
  const auto cone_of = [&](Real phi) { return DruckerPrager::cone(sand(phi * degree), {}); };
  EXPECT_NEAR(cone_at(0), cone_of(25), 1e-14);
  EXPECT_NEAR(cone_at(5), cone_of(35 + (45 - 10) * std::exp(-1.0)), 1e-14);
  EXPECT_NEAR(cone_at(1000), cone_of(35), 1e-14);
  // Flow adds the norm of the plastic log strain.
  const Vec3 e(-0.08, 0.02, 0.02);
  const auto [F, q] = DruckerPrager::return_map(k, Memory{}, from_strains(e), 1e-3);
  Vec3 after = strains_of(F), before = e;
  std::sort(after.data(), after.data() + 3);
  std::sort(before.data(), before.data() + 3);
  EXPECT_NEAR(q.plastic_strain, std::sqrt(2.0 / 3) * (before - after).norm(), 1e-14);
}

TEST(DruckerPragerTest, InvertedTrialComesBackUninverted) {
  const auto k = sand(30 * degree);
  test::MatrixSource source(3);
  for (const Vec3& s : {Vec3(1, 1, -1), Vec3(1, 0.5, -0.1), Vec3(0, 0, 0), Vec3(1.1, 1.1, -0.01)})
    EXPECT_GT(DruckerPrager::return_map(k, Memory{}, source.with_singular_values(s), 1e-3).F.determinant(), 0);
}

}  // namespace
}  // namespace weft
