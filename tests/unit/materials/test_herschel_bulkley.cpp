// Goo: the scalar flow equation, Bingham's closed form, limits, relaxation.

#include "weft/materials/herschel_bulkley.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace weft {
namespace {

using Constants = HerschelBulkley::Constants;
const Real root23 = std::sqrt(2.0 / 3);

/// Volume-free left Cauchy-Green tensor.
Mat3 shape_of(const Mat3& F) { return F * F.transpose() / std::pow(F.determinant(), 2.0 / 3); }
Mat3 deviator_of(const Mat3& A) { return A - A.trace() / 3 * Mat3::Identity(); }

TEST(FlowFractionTest, SolvesItsEquationForEveryExponent) {
  for (const Real n : {0.02, 0.3, 0.9, 1.0, 1.1, 4.5, 20.0, 200.0})
    for (const Real ln_A : {-700.0, -40.0, -3.0, 0.0, 2.0, 30.0, 600.0, 3000.0}) {
      const Real x = flow_fraction(ln_A, n);
      ASSERT_GE(x, 0);
      ASSERT_LE(x, 1);
      // A x^n as an exponential, since A itself may overflow; its relative error is that of x times n.
      const Real flowed = x > 0 ? std::exp(ln_A + n * std::log(x)) : 1;
      EXPECT_NEAR(x + flowed, 1, 1e-14 * (10 + n + std::abs(ln_A))) << "n " << n << " ln A " << ln_A;
    }
}

TEST(FlowFractionTest, HasTheLimitsOfNoFlowAndOfPerfectPlasticity) {
  const Real infinite = std::numeric_limits<Real>::infinity();
  EXPECT_EQ(flow_fraction(infinite, 1), 0);
  EXPECT_EQ(flow_fraction(infinite, 4), 0);
  EXPECT_EQ(flow_fraction(-infinite, 1), 1);
  EXPECT_EQ(flow_fraction(-infinite, 4), 1);
  EXPECT_EQ(flow_fraction(-infinite, 0.4), 1);
  EXPECT_DOUBLE_EQ(flow_fraction(std::log(3.0), 1), 0.25);
}

TEST(HerschelBulkleyTest, BinghamFlowFollowsItsClosedForm) {
  const Real mu = 1e4, yield_stress = 300, eta = 40, dt = 2e-3;
  const auto k = Constants::from(mu, 1e5, yield_stress, eta, 1);
  test::MatrixSource source(1);
  for (int i = 0; i < 50; ++i) {
    const Mat3 F = source.near_identity(0.25), trial = shape_of(F);
    const Real s_trial = mu * deviator_of(trial).norm(), y = root23 * yield_stress;
    ASSERT_GT(s_trial, y);
    const Real mu_hat = mu * trial.trace() / 3;
    const Real s = s_trial - (s_trial - y) / (1 + eta / (2 * mu_hat * dt));
    Mat3 expected = s / s_trial * deviator_of(trial) + trial.trace() / 3 * Mat3::Identity();
    expected /= std::cbrt(expected.determinant());
    const Mat3 returned = HerschelBulkley::return_map(k, {}, F, dt).F;
    EXPECT_LT((shape_of(returned) - expected).norm(), 1e-12);
    EXPECT_NEAR(returned.determinant(), F.determinant(), 1e-13);
  }
}

TEST(HerschelBulkleyTest, BeneathTheYieldStressItIsElastic) {
  const auto k = Constants::from(290, 1.09e5, 31.9, 27.2, 0.22);
  Mat3 F = Mat3::Identity();
  F(0, 1) = 0.99 * 31.9 / std::sqrt(3.0) / 290;  // shear stress just beneath yield / sqrt(3)
  EXPECT_EQ(HerschelBulkley::return_map(k, {}, F, 1).F, F);
  F(0, 1) *= 3;
  EXPECT_GT((HerschelBulkley::return_map(k, {}, F, 1).F - F).norm(), 1e-4);
}

TEST(HerschelBulkleyTest, ThinGooIsPerfectlyPlasticAndThickGooElastic) {
  const Mat3 F = Mat3(Vec3(1.1, 1.0, 1 / 1.1).asDiagonal());
  const Real y = root23 * 50;
  for (const Real h : {0.3, 1.0, 2.5}) {
    const auto thin = Constants::from(1e3, 1e5, 50, 0, h), thick = Constants::from(1e3, 1e5, 50, 1e12, h);
    // Rescaling to unit determinant moves the stress to the inside by the square of the strain.
    const Mat3 flowed = HerschelBulkley::return_map(thin, {}, F, 1e-3).F;
    const Real stress = 1e3 * deviator_of(shape_of(flowed)).norm();
    EXPECT_LE(stress, y * (1 + 1e-12));
    EXPECT_GE(stress, y * 0.98);
    EXPECT_LT((HerschelBulkley::return_map(thick, {}, F, 1e-9).F - F).norm(), 1e-4);
  }
}

TEST(HerschelBulkleyTest, WithoutYieldStressSmallShearRelaxesExponentially) {
  // Maxwell: s' = -(2 mu / eta) s. Backward Euler in 4000 steps of 1/2000 relaxation time errs by about t dt / 2 =
  // 1/2000.
  const Real mu = 500, eta = 20, relaxation = eta / (2 * mu), dt = relaxation / 2000;
  const auto k = Constants::from(mu, 1e5, 0, eta, 1);
  Mat3 F = Mat3::Identity();
  F(0, 1) = 1e-3;
  const Real before = HerschelBulkley::kirchhoff(k, HerschelBulkley::Memory{}, F)(0, 1);
  HerschelBulkley::Memory q;
  for (int i = 0; i < 4000; ++i) {
    const auto returned = HerschelBulkley::return_map(k, q, F, dt);
    F = returned.F;
    q = returned.q;
  }
  EXPECT_NEAR(HerschelBulkley::kirchhoff(k, q, F)(0, 1) / before / std::exp(-2.0), 1, 1e-3);
  // All but exp(-2) of the shear became plastic: equivalent strain is shear / sqrt(3).
  EXPECT_NEAR(q.plastic_strain, 1e-3 * (1 - std::exp(-2.0)) / std::sqrt(3.0), 1e-6);
}

TEST(HerschelBulkleyTest, SteadyShearReachesTheFlowCurve) {
  // In steady simple shear at rate g, s' = 0: plastic rate balances, 2 mu_hat ((s - y)/eta)^{1/h} = mu_hat sqrt(2) g
  // for small elastic strain, so s = y + eta (g / sqrt(2))^h; shear stress is s / sqrt(2).
  const Real mu = 1e6, yield_stress = 50, eta = 8, g = 30, dt = 1e-6;
  for (const Real h : {0.4, 1.0, 1.6}) {
    const auto k = Constants::from(mu, 1e6, yield_stress, eta, h);
    Mat3 F = Mat3::Identity(), step = Mat3::Identity();
    step(0, 1) = g * dt;
    HerschelBulkley::Memory q;
    for (int i = 0; i < 2000; ++i) {
      const auto returned = HerschelBulkley::return_map(k, q, Mat3(step * F), dt);
      F = returned.F;
      q = returned.q;
    }
    const Real expected = (root23 * yield_stress + eta * std::pow(g / std::sqrt(2.0), h)) / std::sqrt(2.0);
    EXPECT_NEAR(HerschelBulkley::kirchhoff(k, q, F)(0, 1) / expected, 1, 2e-3) << h;
  }
}

}  // namespace
}  // namespace weft
