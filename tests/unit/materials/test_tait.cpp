// Liquid: equation of state, sound speed, no tension, viscosity.

#include "weft/materials/tait.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace weft {
namespace {

const auto water = Tait::Constants::from(2e5, 7, 0.5);
Mat3 at_volume(Real J) { return std::cbrt(J) * Mat3::Identity(); }
Real pressure(const Mat3& F) { return -Tait::kirchhoff(water, NoMemory{}, F).trace() / (3 * F.determinant()); }

TEST(TaitTest, PressureFollowsTheEquationOfState) {
  for (const Real J : {0.999, 0.99, 0.9, 0.7}) {
    const Real expected = 2e5 / 7 * (std::pow(J, -7.0) - 1);
    EXPECT_NEAR(pressure(at_volume(J)), expected, 1e-11 * expected);
  }
}

TEST(TaitTest, ExpandedLiquidHasNoTensionAndNoEnergy) {
  for (const Real J : {1.0, 1.001, 1.5, 20.0}) {
    EXPECT_EQ(pressure(at_volume(J)), 0);
    EXPECT_EQ(Tait::energy(water, NoMemory{}, at_volume(J)), 0);
  }
}

TEST(TaitTest, SoundSpeedFollowsFromTheEquationOfState) {
  // c^2 = dp/d(rho), rho = rho0 / J; the central difference errs by (h^2/6) p''' / p' = 1e-8.
  const Real rho0 = 1000, h = 1e-5;
  for (const Real J : {0.99, 0.95, 0.8}) {
    const Real dp = pressure(at_volume(J - h)) - pressure(at_volume(J + h));
    const Real d_rho = rho0 / (J - h) - rho0 / (J + h);
    EXPECT_NEAR(Tait::stiffness(water, {}, at_volume(J)) / rho0 / (dp / d_rho), 1, 1e-7);
  }
  EXPECT_DOUBLE_EQ(Tait::stiffness(water, {}, at_volume(1)), 2e5);
  EXPECT_DOUBLE_EQ(Tait::stiffness(water, {}, at_volume(2)), 2e5);
}

TEST(TaitTest, LiquidKeepsItsVolumeAndForgetsItsShape) {
  test::MatrixSource source(1);
  for (int i = 0; i < 100; ++i) {
    const Mat3 F = source.near_identity(0.1), kept = Tait::return_map(water, {}, F, 1e-3).F;
    EXPECT_NEAR(kept.determinant(), F.determinant(), 1e-14);
    EXPECT_EQ(kept, kept(0, 0) * Mat3::Identity());
  }
}

TEST(TaitTest, LiquidThatWasSpreadAndComesBackIsAtRest) {
  Mat3 F = Mat3::Identity();
  for (const Real factor : {1.2, 1.25, 1 / 1.25, 1 / 1.2})
    F = Tait::return_map(water, {}, Mat3(at_volume(factor) * F), 1e-3).F;
  EXPECT_NEAR(F.determinant(), 1, 1e-14);
}

TEST(TaitTest, CrushingStopsAtTheLeastVolume) {
  for (const Real J : {0.5, 0.0, -1.0})
    EXPECT_NEAR(Tait::return_map(water, {}, at_volume(J), 1e-3).F.determinant(), Tait::least_volume, 1e-14);
}

TEST(TaitTest, ShearFlowIsResistedByViscosity) {
  Mat3 L = Mat3::Zero();
  L(0, 1) = 3;
  const Mat3 tau = Tait::viscous_stress(water, 0.9, L);
  EXPECT_DOUBLE_EQ(tau(0, 1), 0.5 * 3 * 0.9);  // eta times shear rate, Kirchhoff
  EXPECT_DOUBLE_EQ(tau(1, 0), tau(0, 1));
  EXPECT_EQ(tau.diagonal(), Vec3::Zero());
  // A rigid spin is not resisted.
  EXPECT_EQ(Tait::viscous_stress(water, 0.9, Mat3(L - L.transpose())), Mat3::Zero());
}

}  // namespace
}  // namespace weft
