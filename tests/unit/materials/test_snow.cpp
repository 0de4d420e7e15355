// Snow: clamped stretches, packing, hardening.

#include "weft/materials/snow.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace weft {
namespace {

const auto powder = Snow::Constants::from(lame_from(1.4e5, 0.2), 2.5e-2, 7.5e-3, 10);

TEST(SnowTest, StretchesAreClampedAndTheRestGoesToPlasticVolume) {
  const auto [F, q] = Snow::return_map(powder, {}, Mat3(Vec3(1.1, 1.0, 0.9).asDiagonal()), 1e-3);
  EXPECT_LT((F - Mat3(Vec3(1.0075, 1.0, 0.975).asDiagonal())).norm(), 1e-15);
  EXPECT_NEAR(q.plastic_volume, 1.1 * 0.9 / (1.0075 * 0.975), 1e-15);
}

TEST(SnowTest, ElasticTimesPlasticVolumeIsTheTotalVolume) {
  test::MatrixSource source(1);
  Mat3 total = Mat3::Identity(), F = Mat3::Identity();
  Snow::Memory q;
  for (int step = 0; step < 100; ++step) {
    const Mat3 increment = source.near_identity(0.02);
    total = increment * total;
    const auto returned = Snow::return_map(powder, q, Mat3(increment * F), 1e-3);
    F = returned.F;
    q = returned.q;
  }
  EXPECT_NEAR(F.determinant() * q.plastic_volume / total.determinant(), 1, 1e-12);
}

TEST(SnowTest, PackedSnowIsStiffer) {
  const Mat3 F = 0.99 * Mat3::Identity();
  const Real fresh = Snow::kirchhoff(powder, {1.0}, F)(0, 0);
  EXPECT_NEAR(Snow::kirchhoff(powder, {0.9}, F)(0, 0) / fresh, std::exp(1.0), 1e-12);
  EXPECT_NEAR(Snow::kirchhoff(powder, {1.1}, F)(0, 0) / fresh, std::exp(-1.0), 1e-12);
  EXPECT_NEAR(Snow::stiffness(powder, {0.9}, F) / Snow::stiffness(powder, {1.0}, F), std::exp(1.0), 1e-12);
  // The exponent stops at three.
  EXPECT_NEAR(Snow::kirchhoff(powder, {0.1}, F)(0, 0) / fresh, std::exp(3.0), 1e-11);
  EXPECT_NEAR(Snow::kirchhoff(powder, {9.0}, F)(0, 0) / fresh, std::exp(-3.0), 1e-11);
}

TEST(SnowTest, InvertedTrialComesBackUninverted) {
  // Also where the size of every stretch lies within the limits.
  for (const Vec3& s : {Vec3(1.005, 1, -0.99), Vec3(1, 0.5, -0.1), Vec3(0, 0, 0)})
    EXPECT_GT(Snow::return_map(powder, {}, Mat3(s.asDiagonal()), 1e-3).F.determinant(), 0.9);
}

TEST(SnowTest, MeasureTellsPackedFromTorn) {
  const Mat3 I = Mat3::Identity();
  const auto packed = Snow::return_map(powder, {}, Mat3(0.9 * I), 1e-3),
             torn = Snow::return_map(powder, {}, Mat3(1.1 * I), 1e-3);
  EXPECT_LT(Snow::plastic_measure(powder, packed.q), -0.1);
  EXPECT_GT(Snow::plastic_measure(powder, torn.q), 0.1);
}

}  // namespace
}  // namespace weft
