// The elastic laws against closed forms.

#include "weft/materials/fixed_corotated.hpp"
#include "weft/materials/log_strain.hpp"
#include "weft/materials/neo_hookean.hpp"
#include "weft/materials/stvk_hencky.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <cmath>

namespace weft {
namespace {

constexpr NoMemory rest;

TEST(LameTest, ConvertsFromYoungAndPoisson) {
  const Lame lame = lame_from(260, 0.3);
  EXPECT_DOUBLE_EQ(lame.mu, 100);
  EXPECT_DOUBLE_EQ(lame.lambda, 150);
  EXPECT_NEAR(lame.bulk(), 260 / (3 * (1 - 2 * 0.3)), 1e-12);
}

TEST(StvkHenckyTest, FollowsTheUniaxialClosedForm) {
  // tau = E ln(stretch), lateral stretch^(-nu), nominal stress tau / stretch; nu = 0.3.
  struct Row {
    Real stretch, lateral, tau, cauchy, nominal;
  };
  const Row rows[] = {{0.5, 1.23114441, -0.693147181, -0.914613188, -1.38629436},
                      {0.7, 1.11293702, -0.356674944, -0.411370728, -0.509535634},
                      {0.9, 1.032113, -0.105360516, -0.109895747, -0.11706724},
                      {0.95, 1.01550699, -0.0512932944, -0.0523565656, -0.0539929415},
                      {1.05, 0.985469552, 0.0487901642, 0.0478472035, 0.046466823},
                      {1.1, 0.971811859, 0.0953101798, 0.0917449598, 0.086645618},
                      {1.2, 0.946772481, 0.182321557, 0.169498368, 0.151934631},
                      {1.5, 0.885467493, 0.405465108, 0.344760089, 0.270310072},
                      {2, 0.812252396, 0.693147181, 0.525307332, 0.34657359}};
  const Real E = 7e4;
  const auto k = StvkHencky::Constants::from(lame_from(E, 0.3));
  for (const Row& row : rows) {
    const Real lateral = std::pow(row.stretch, -0.3);
    EXPECT_NEAR(lateral, row.lateral, 1e-8);
    const Mat3 F = Vec3(row.stretch, lateral, lateral).asDiagonal();
    const Mat3 tau = StvkHencky::kirchhoff(k, rest, F), P = StvkHencky::stress(k, rest, F);
    const Real digits = 1e-8;  // nine digits in the table
    EXPECT_NEAR(tau(0, 0) / E, row.tau, digits);
    EXPECT_NEAR(tau(0, 0) / F.determinant() / E, row.cauchy, digits);
    EXPECT_NEAR(P(0, 0) / E, row.nominal, digits);
    EXPECT_NEAR(tau(1, 1) / E, 0, digits);
    EXPECT_NEAR(tau(2, 2) / E, 0, digits);
  }
}

TEST(StvkHenckyTest, CrushedMaterialIsPushedOpenEverHarder) {
  const auto k = StvkHencky::Constants::from(lame_from(1e5, 0.3));
  Real last = 0;
  for (const Real s : {0.5, 0.1, 0.05, 0.04, 0.01, 0.0, -0.1, -0.5}) {
    const Mat3 F = Vec3(1, 1, s).asDiagonal();
    const Real push = -StvkHencky::stress(k, rest, F)(2, 2);
    EXPECT_GT(push, last) << s;
    last = push;
  }
}

TEST(FixedCorotatedTest, FollowsTheUniaxialClosedForm) {
  const Real E = 5e4, nu = 0.35;
  const Lame lame = lame_from(E, nu);
  const auto k = FixedCorotated::Constants::from(lame);
  for (const Real l1 : {0.6, 0.9, 1 + 1e-6, 1.3, 2.0}) {
    // Lateral stretch that frees the sides, by bisection: 2 mu (l2 - 1) l2 + lambda (J - 1) J = 0, J = l1 l2^2.
    const auto lateral_stress = [&](Real l2) {
      const Real J = l1 * l2 * l2;
      return 2 * lame.mu * (l2 - 1) * l2 + lame.lambda * (J - 1) * J;
    };
    Real lower = 0.6, upper = 1.6;
    for (int i = 0; i < 100; ++i) {
      const Real middle = 0.5 * (lower + upper);
      (lateral_stress(middle) > 0 ? upper : lower) = middle;
    }
    const Real J = l1 * lower * lower;
    const Mat3 tau = FixedCorotated::kirchhoff(k, rest, Mat3(Vec3(l1, lower, lower).asDiagonal()));
    const Real expected = 2 * lame.mu * (l1 - 1) * l1 + lame.lambda * (J - 1) * J;
    EXPECT_NEAR(tau(0, 0), expected, 1e-10 * E);
    EXPECT_NEAR(tau(1, 1), 0, 1e-10 * E);
    if (std::abs(l1 - 1) < 1e-5) {
      EXPECT_NEAR(tau(0, 0) / (l1 - 1) / E, 1, 1e-5);  // Young's modulus at small strain
    }
  }
}

/// Simple shear x += k y keeps volume; the frame of a vortex sees exactly this.
Mat3 simple_shear(Real k) {
  Mat3 F = Mat3::Identity();
  F(0, 1) = k;
  return F;
}

TEST(FixedCorotatedTest, FollowsTheSimpleShearClosedForm) {
  const Lame lame = lame_from(1000, 0.3);
  const auto k = FixedCorotated::Constants::from(lame);
  for (const Real shear : {-3.0, -0.2, 1e-4, 0.5, 2.0}) {
    const Real r = std::sqrt(4 + shear * shear), mu2 = 2 * lame.mu;
    const Mat3 tau = FixedCorotated::kirchhoff(k, rest, simple_shear(shear));
    EXPECT_NEAR(tau(1, 1), mu2 * (1 - 2 / r), 1e-10);
    EXPECT_NEAR(tau(0, 1), mu2 * shear * (1 - 1 / r), 1e-10);
    EXPECT_NEAR(tau(0, 0), mu2 * (1 + shear * shear - (2 + shear * shear) / r), 1e-10);
    EXPECT_NEAR(tau(2, 2), 0, 1e-10);
  }
}

TEST(FixedCorotatedTest, WhatIsStrainedAndHeldStaysSoForAnyNumberOfSteps) {
  const FixedCorotated::Constants k{lame_from(1e5, 0.3)};
  test::MatrixSource source(4);
  for (const Real size : {0.02, 0.2, 0.5}) {
    const Symmetric3<Real> begin = left_square(source.near_identity(size));
    Symmetric3<Real> V = begin;
    for (int step = 0; step < 100000; ++step) V = FixedCorotated::settle(k, rest, V.full(), 1e-3).elastic;
    EXPECT_LT(std::sqrt((V - begin).squared_norm()), 1e-13 * std::sqrt(begin.squared_norm()));
  }
}

TEST(FixedCorotatedTest, ATurnOfManyStepsLeavesTheStretchButForTheTurn) {
  const FixedCorotated::Constants k{lame_from(1e5, 0.3)};
  test::MatrixSource source(5);
  const Symmetric3<Real> begin = left_square(source.near_identity(0.2));
  const int steps = 1000;
  const Mat3 turn = Eigen::AngleAxisd(2.5 / steps, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  Symmetric3<Real> V = begin;
  for (int step = 0; step < steps; ++step) V = FixedCorotated::settle(k, rest, Mat3(turn * V.full()), 1e-3).elastic;
  const Mat3 turned = Eigen::AngleAxisd(2.5, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  EXPECT_LT((V.full() - turned * begin.full() * turned.transpose()).norm(), 1e-12 * begin.full().norm());
}

TEST(NeoHookeanTest, FollowsTheSimpleShearClosedForm) {
  const Lame lame = lame_from(1000, 0.3);
  const auto k = NeoHookean::Constants::from(lame);
  for (const Real shear : {-3.0, -0.2, 1e-4, 0.5, 2.0}) {
    const Mat3 tau = NeoHookean::kirchhoff(k, rest, simple_shear(shear));
    EXPECT_NEAR(tau(0, 1), lame.mu * shear, 1e-10);
    EXPECT_NEAR(tau(0, 0), lame.mu * shear * shear, 1e-10);
    EXPECT_NEAR(tau(1, 1), 0, 1e-10);
  }
}

TEST(NeoHookeanTest, FollowsTheClosedFormOfPureVolumeChange) {
  const Lame lame = lame_from(1000, 0.3);
  const auto k = NeoHookean::Constants::from(lame);
  for (const Real s : {0.5, 0.9, 1.2, 2.0}) {
    const Real expected = lame.mu * (s * s - 1) + lame.lambda * 3 * std::log(s);
    EXPECT_NEAR(NeoHookean::kirchhoff(k, rest, Mat3(s * Mat3::Identity()))(0, 0), expected, 1e-9);
  }
}

TEST(StiffnessTest, IsThePWaveModulusAtRestAndOfUniaxialStrainBeyond) {
  // Exact longitudinal modulus s^2 d^2 psi / ds^2 of uniaxial strain, where the bounds are meant to be close.
  const Lame lame = lame_from(1e5, 0.3);
  const Real mu = lame.mu, lambda = lame.lambda;
  const auto k = NeoHookean::Constants::from(lame);
  for (const Real s : {0.7, 1.0, 1.4}) {
    const Mat3 F = Vec3(s, 1, 1).asDiagonal();
    const Real exact = mu * s * s + mu + lambda * (1 - std::log(s));
    EXPECT_GE(NeoHookean::stiffness(k, rest, F), exact * (1 - 1e-12));
    EXPECT_LE(NeoHookean::stiffness(k, rest, F), exact * 2);
    const Real corotated = (2 * mu + lambda) * s * s;
    EXPECT_GE(FixedCorotated::stiffness({lame}, rest, F), corotated * (1 - 1e-12));
    EXPECT_LE(FixedCorotated::stiffness({lame}, rest, F), corotated * 2);
    const Real hencky = (2 * mu + lambda) * (1 - std::log(s));
    EXPECT_GE(StvkHencky::stiffness(StvkHencky::Constants{lame}, rest, F), hencky * (1 - 1e-12));
    EXPECT_LE(StvkHencky::stiffness(StvkHencky::Constants{lame}, rest, F), hencky * 3);
  }
}

TEST(LogStrainTest, IsTwiceContinuouslyDifferentiableAndHasExactSecants) {
  const Real s0 = least_stretch, h = 1e-9;
  EXPECT_NEAR(log_strain(s0 - h), log_strain(s0 + h), 3 * h / s0);
  EXPECT_NEAR(log_strain_slope(s0 - h), log_strain_slope(s0 + h), 3 * h / (s0 * s0));
  EXPECT_NEAR(log_strain_curvature(s0 - h), log_strain_curvature(s0 + h), 5 * h / (s0 * s0 * s0));
  for (const Real a : {-0.3, 0.0, 0.03, 0.05, 0.2, 1.5})
    for (const Real b : {-0.2, 0.01, 0.05, 0.06, 0.9, 3.0}) {
      if (a == b) continue;
      EXPECT_NEAR(log_strain_secant(a, b) * (a - b), log_strain(a) - log_strain(b),
                  1e-13 * std::abs(log_strain(a)) + 1e-13 * std::abs(log_strain(b)));
      EXPECT_NEAR(log_strain_slope_secant(a, b) * (a - b), log_strain_slope(a) - log_strain_slope(b), 1e-11);
    }
  for (const Real s : {-0.1, 0.02, 0.05, 0.7}) {
    EXPECT_EQ(log_strain_secant(s, s), log_strain_slope(s));
    EXPECT_NEAR(log_strain_secant(s, s + 1e-13) / log_strain_slope(s), 1, 1e-10);
    EXPECT_NEAR(log_strain_slope_secant(s, s) / log_strain_curvature(s), 1, 1e-14);
  }
}

}  // namespace
}  // namespace weft
