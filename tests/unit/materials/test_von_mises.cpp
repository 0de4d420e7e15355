// Metal: yield curves in uniaxial tension and plane stress.

#include "weft/materials/von_mises.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace weft {
namespace {

constexpr Real E = 200e9, nu = 0.3, yield_stress = 250e6;
using Memory = VonMises::Memory;

VonMises::Constants metal(Real hardening) {
  return VonMises::Constants::from(lame_from(E, nu), yield_stress, hardening);
}
Mat3 from_strains(const Vec3& e) { return Vec3(e.array().exp()).asDiagonal(); }

struct State {
  Vec3 tau;      ///< [Pa]
  Real plastic;  ///< equivalent plastic strain
  Vec3 strain;   ///< trial log strains
};

/// The log strain x for which tau_22 of strains(x) vanishes after flow: bisection, since it grows with x.
State free_of_stress(const VonMises::Constants& k, const std::function<Vec3(Real)>& strains) {
  const auto at = [&](Real x) {
    const auto [F, q] = VonMises::return_map(k, Memory{}, from_strains(strains(x)), 1e-3);
    return State{VonMises::kirchhoff(k, q, F).diagonal(), q.plastic_strain, strains(x)};
  };
  Real lower = -0.5, upper = 0.5;
  for (int i = 0; i < 200; ++i) {
    const Real middle = 0.5 * (lower + upper);
    (at(middle).tau[2] > 0 ? upper : lower) = middle;
  }
  return at(lower);
}

TEST(VonMisesTest, UniaxialTensionYieldsAtTheYieldStressAndHardensByItsModulus) {
  // tau = yield + E H / (E + H) (e - yield / E): tau = yield + H e_p with e = tau / E + e_p.
  for (const Real H : {0.0, 2e9, 50e9}) {
    const auto k = metal(H);
    for (const Real e : {0.0005, 0.00124, 0.0013, 0.002, 0.01, 0.2, -0.002, -0.1}) {
      const State s = free_of_stress(k, [e](Real x) { return Vec3(e, x, x); });
      const Real size = std::abs(e), onset = yield_stress / E;
      const Real expected = size < onset ? E * size : yield_stress + E * H / (E + H) * (size - onset);
      EXPECT_NEAR(s.tau[0], std::copysign(expected, e), 1e-6 * yield_stress) << e << " with hardening " << H;
      EXPECT_NEAR(s.plastic, size < onset ? 0 : size - expected / E, 1e-9);
    }
  }
}

TEST(VonMisesTest, PerfectlyPlasticBarThinsAtConstantVolume) {
  const Real e = 0.05, onset = yield_stress / E;
  const State s = free_of_stress(metal(0), [e](Real x) { return Vec3(e, x, x); });
  EXPECT_NEAR(s.strain[1], -nu * onset - 0.5 * (e - onset), 1e-9);
}

TEST(VonMisesTest, FollowsThePlaneStressTable) {
  // One step from zero with tau_33 = 0; Simo-Taylor projected mapping solved to 1e-14.
  struct Row {
    Real e11, e22, H, s11, s22, plastic;
  };
  const Row rows[] = {{0.002, 0, 0, 285.827366, 107.884583, 0.000789927995},
                      {0.002, 0, 2e9, 287.574131, 108.302322, 0.00078088863},
                      {0.002, 0.002, 0, 250, 250, 0.00225},
                      {0.002, 0.002, 2e9, 254.43787, 254.43787, 0.00221893491},
                      {0.002, -0.0006, 0, 260.133442, 21.6787876, 0.000733923427},
                      {0.002, -0.0006, 2e9, 261.545669, 21.5750671, 0.000726643084},
                      {0.002, -0.002, 0, 144.337567, -144.337567, 0.00122606774},
                      {0.002, -0.002, 2e9, 145.741144, -145.741144, 0.00121553312},
                      {-0.005, -0.001, 0, -286.646693, -172.908054, 0.00477805791},
                      {-0.005, -0.001, 2e9, -297.515986, -179.064409, 0.00471632536}};
  for (const Row& row : rows) {
    const State s = free_of_stress(metal(row.H), [&](Real x) { return Vec3(row.e11, row.e22, x); });
    EXPECT_NEAR(s.tau[0] / 1e6, row.s11, 1e-5);
    EXPECT_NEAR(s.tau[1] / 1e6, row.s22, 1e-5);
    EXPECT_NEAR(s.plastic, row.plastic, 1e-11);
  }
}

TEST(VonMisesTest, ShearSaturatesAtTheYieldStressOverRootThree) {
  const auto k = metal(0);
  Mat3 F = Mat3::Identity();
  Memory q;
  Mat3 step = Mat3::Identity();
  step(0, 1) = 1e-3;
  for (int i = 0; i < 200; ++i) {
    const auto returned = VonMises::return_map(k, q, Mat3(step * F), 1e-3);
    F = returned.F;
    q = returned.q;
  }
  EXPECT_NEAR(VonMises::kirchhoff(k, q, F)(0, 1), 144.3376e6, 1e-3 * 144.3376e6);
  EXPECT_NEAR(q.plastic_strain, (0.2 - 144.3376e6 / k.lame.mu) / std::sqrt(3.0), 2e-5);
}

TEST(VonMisesTest, FlowKeepsVolumeAndPressureIsUnlimited) {
  const auto k = metal(1e9);
  test::MatrixSource source(1);
  for (int i = 0; i < 100; ++i) {
    const Mat3 F = source.near_identity(0.3);
    EXPECT_NEAR(VonMises::return_map(k, Memory{}, F, 1e-3).F.determinant(), F.determinant(), 1e-13 * F.norm());
  }
  const Mat3 pressed = 0.8 * Mat3::Identity();
  EXPECT_EQ(VonMises::return_map(k, Memory{}, pressed, 1e-3).F, pressed);
}

}  // namespace
}  // namespace weft
