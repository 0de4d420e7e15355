// Contact of surfaces and fibers through directors: the battery for both, and what is particular to each.

#include "weft/materials/fiber.hpp"
#include "weft/materials/sheet.hpp"
#include "weft/materials/surface_contact.hpp"

#include "support/director_checks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace weft {
namespace test {

template <>
struct DirectorSamples<SurfaceContact> {
  static std::vector<SurfaceContact::Constants> constants() {
    return {{800, 0, 0}, {2000, 500, 0.4}, {100, 3e3, 1.2}, {1e5, 10, 0}};
  }
  static Real rest_modulus(const SurfaceContact::Constants& k) { return std::max(k.compression, k.shear); }
  static Real energy_by_qr(const SurfaceContact::Constants& k, const Mat3& R) {
    const Real gap = std::max(0.0, 1 - R(2, 2));
    return 0.5 * k.shear * (R(0, 2) * R(0, 2) + R(1, 2) * R(1, 2)) + k.compression / 3 * gap * gap * gap;
  }
};

template <>
struct DirectorSamples<Fiber> {
  static std::vector<Fiber::Constants> constants() {
    const Real degree = std::numbers::pi / 180;
    return {Fiber::Constants::from(2000, 500, lame_from(500, 0.3), 40 * degree),
            Fiber::Constants::from(800, 0, lame_from(400, 0.3), 0),
            Fiber::Constants::from(1e5, 10, lame_from(60, 0.45), 15 * degree),
            {2000, 300, lame_from(500, 0), 1.2, 0.1}};
  }
  static Real rest_modulus(const Fiber::Constants& k) {
    return std::max({k.stretch, k.shear, k.section.lambda + 2 * k.section.mu});
  }
  static Real energy_by_qr(const Fiber::Constants& k, const Mat3& R) {
    const Vector2<Real> s = signed_singular_values(R.bottomRightCorner<2, 2>());
    const Real e0 = log_strain(s[0]), e1 = log_strain(s[1]);
    return 0.5 * k.stretch * (R(0, 0) - 1) * (R(0, 0) - 1) + 0.5 * k.shear * (R(0, 1) * R(0, 1) + R(0, 2) * R(0, 2)) +
           k.section.mu * (e0 * e0 + e1 * e1) + 0.5 * k.section.lambda * (e0 + e1) * (e0 + e1);
  }
};

}  // namespace test

namespace {

template <class L>
class DirectorLawTest : public ::testing::Test {};
using DirectorLaws = ::testing::Types<SurfaceContact, Fiber>;
TYPED_TEST_SUITE(DirectorLawTest, DirectorLaws);

TYPED_TEST(DirectorLawTest, PacksAgreeWithSingleStates) { test::check_packs_agree_with_single_states<TypeParam>(); }

TYPED_TEST(DirectorLawTest, EnergyIsThatOfTheTriangularFactor) {
  test::check_energy_is_that_of_the_triangular_factor<TypeParam>();
}
TYPED_TEST(DirectorLawTest, StressIsTheDerivativeOfEnergyAlsoWhenInverted) {
  test::check_director_stress_is_the_derivative_of_energy<TypeParam>();
}
TYPED_TEST(DirectorLawTest, DifferentialIsTheDerivativeOfStressAlsoWhenInverted) {
  test::check_director_differential_is_the_derivative_of_stress<TypeParam>();
}
TYPED_TEST(DirectorLawTest, ProjectedDifferentialIsPositiveAndExactWithoutStress) {
  test::check_projected_director_differential_is_positive<TypeParam>();
}
TYPED_TEST(DirectorLawTest, RotationsBeforeTurnStressAndSlip) { test::check_directors_follow_the_frame<TypeParam>(); }
TYPED_TEST(DirectorLawTest, SlipLandsOnTheConeStaysThereAndAddsNoEnergy) {
  test::check_slip_lands_on_the_cone_and_stays<TypeParam>();
}
TYPED_TEST(DirectorLawTest, ReturnDifferentialIsTheDerivativeOfSlip) {
  test::check_return_differential_is_the_derivative_of_slip<TypeParam>();
}
TYPED_TEST(DirectorLawTest, DegenerateStatesGiveNumbers) { test::check_degenerate_directors_give_numbers<TypeParam>(); }

constexpr Real degree = std::numbers::pi / 180;

/// Cauchy traction on the plane with normal n, of P = d psi / dA with A the image of an orthonormal frame.
Vec3 traction(const Mat3& P, const Mat3& A, const Vec3& n) { return P * A.transpose() * n / A.determinant(); }

TEST(SurfaceContactTest, SlidesWhereTheTractionReachesCoulombsLaw) {
  const SurfaceContact::Constants k{2000, 500, 0.4};
  test::MatrixSource source(21);
  int slid = 0;
  for (const Mat3& A : test::director_states(source)) {
    const Mat3 returned = SurfaceContact::return_map(k, A);
    const auto [Q, R] = test::oriented_qr(returned);
    const Vec3 n = Q.col(2), pull = traction(SurfaceContact::stress(k, returned), returned, n);
    const Real pressure = -n.dot(pull), friction = (pull + pressure * n).norm();
    EXPECT_LE(friction, k.friction * pressure + 1e-10 * k.compression) << A;
    EXPECT_EQ(returned.leftCols<2>(), A.leftCols<2>());
    const auto before = test::oriented_qr(A);
    if (before.R(2, 2) >= 1 || before.R(2, 2) <= 0 || (returned - A).norm() < 1e-9) continue;
    ++slid;
    EXPECT_NEAR(friction, k.friction * pressure, 1e-10 * k.compression) << A;
    // Slip changes neither the pressure nor the direction of the shear.
    EXPECT_NEAR(R(2, 2), before.R(2, 2), 1e-12);
    EXPECT_NEAR(R(0, 2) * before.R(1, 2), R(1, 2) * before.R(0, 2), 1e-12);
  }
  EXPECT_GT(slid, 30);
}

TEST(SurfaceContactTest, LetsSurfacesPartFreelyAndPushesInvertedOnesBack) {
  const SurfaceContact::Constants k{2000, 500, 0.4};
  const auto with = [](Real t, Real s) {
    Mat3 A = Mat3::Identity();
    A.col(2) = Vec3(t, 0, s);
    return A;
  };
  EXPECT_EQ(SurfaceContact::return_map(k, with(0.3, 1.4)), with(0, 1));
  EXPECT_EQ(SurfaceContact::stress(k, with(0, 1)).norm(), 0);
  EXPECT_EQ(SurfaceContact::return_map(k, with(0.3, -0.2)), with(0, -0.2));
  EXPECT_NEAR(SurfaceContact::stress(k, with(0, -0.2))(2, 2), -2000 * 1.2 * 1.2, 1e-9);
  // By hand: limit 0.4 * 2000 / 500 * 0.2^2 = 0.064.
  EXPECT_LE((SurfaceContact::return_map(k, with(0.3, 0.8)) - with(0.064, 0.8)).norm(), 1e-15);
  EXPECT_EQ(SurfaceContact::return_map(k, with(0.06, 0.8)), with(0.06, 0.8));
  EXPECT_EQ(SurfaceContact::return_map({2000, 0, 0.4}, with(0.3, 0.8)), with(0, 0.8));
}

TEST(SurfaceContactTest, AsksOnlyForTheDirectionOfTheTangents) {
  const SurfaceContact::Constants k{2000, 500, 0.4};
  test::MatrixSource source(22);
  for (const Mat3& A : test::director_states(source)) {
    Mat3 other = A;
    other.col(0) = 3 * A.col(0) + 0.5 * A.col(1);
    other.col(1) = 0.2 * A.col(1);
    EXPECT_NEAR(SurfaceContact::energy(k, other), SurfaceContact::energy(k, A), 1e-12 * 2000);
    EXPECT_LE((SurfaceContact::return_map(k, other).col(2) - SurfaceContact::return_map(k, A).col(2)).norm(), 1e-12);
  }
}

TEST(SurfaceContactTest, WithAnIsotropicSheetIsTheSurfaceEnergyOfJiangEtAl) {
  // f(r33) + g(r13, r23) + h([r11 r12; 0 r22]) with h fixed corotated in two dimensions.
  const SurfaceContact::Constants contact{2000, 500, 0.4};
  const auto sheet = CorotatedSheet::Constants::from(400, 0.3);
  test::MatrixSource source(23);
  for (const Mat3& A : test::director_states(source)) {
    const Mat3 R = test::oriented_qr(A).R;
    const Vector2<Real> s = test::signed_singular_values(R.topLeftCorner<2, 2>());
    const Real area = s.prod() - 1;
    const Real h = sheet.lame.mu * (s - Vector2<Real>::Ones()).squaredNorm() + 0.5 * sheet.lame.lambda * area * area;
    const Real expected = h + test::DirectorSamples<SurfaceContact>::energy_by_qr(contact, R);
    const Mat32 F = A.leftCols<2>();
    EXPECT_NEAR(CorotatedSheet::energy(sheet, F) + SurfaceContact::energy(contact, A), expected, 1e-10 * 2000) << A;
  }
}

TEST(FiberTest, SlipsWhereTheTractionsReachBothConditions) {
  test::MatrixSource source(24);
  for (const auto& k : test::DirectorSamples<Fiber>::constants()) {
    int across = 0, along_it = 0, parted = 0;
    for (const Mat3& A : test::director_states(source)) {
      const Mat3 returned = Fiber::return_map(k, A);
      EXPECT_EQ(returned.col(0), A.col(0));
      const Mat3 Q = test::oriented_qr(returned).Q, tau = Fiber::stress(k, returned) * returned.transpose();
      const Mat3 sigma = Q.transpose() * tau * Q;
      const Real pressure = sigma(1, 1) + sigma(2, 2);
      const Real J2 = (sigma(1, 1) - sigma(2, 2)) * (sigma(1, 1) - sigma(2, 2)) + 4 * sigma(1, 2) * sigma(1, 2);
      const Real first = std::sqrt(J2) + 0.5 * k.across * pressure;
      const Real second = std::hypot(sigma(0, 1), sigma(0, 2)) + 0.5 * k.along * pressure;
      const Real round_off = 1e-11 * test::DirectorSamples<Fiber>::rest_modulus(k);
      EXPECT_LE(first, round_off) << A;
      EXPECT_LE(second, round_off) << A;
      parted += std::abs(pressure) < round_off;
      if (std::abs(pressure) < 1e-6 * k.section.mu) continue;
      across += std::abs(first) < round_off;
      along_it += std::abs(second) < round_off;
    }
    EXPECT_GT(parted, 20);
    EXPECT_GT(across, k.across > 0 ? 20 : -1);
    EXPECT_GT(along_it, k.shear > 0 && k.along > 0 ? 10 : -1);
  }
}

TEST(FiberTest, SectionIsTheSameWhicheverWayItIsTurned) {
  // Turning the rest directors about the fiber changes nothing.
  test::MatrixSource source(25);
  for (const auto& k : test::DirectorSamples<Fiber>::constants()) {
    for (const Mat3& A : test::director_states(source)) {
      const Real angle = source.uniform(0, 6);
      Mat3 turn = Mat3::Identity();
      turn.bottomRightCorner<2, 2>() << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
      const Real modulus = test::DirectorSamples<Fiber>::rest_modulus(k);
      const Mat3 P = Fiber::stress(k, A);
      EXPECT_NEAR(Fiber::energy(k, Mat3(A * turn)), Fiber::energy(k, A), 1e-11 * (Fiber::energy(k, A) + modulus));
      EXPECT_LE((Fiber::stress(k, Mat3(A * turn)) - P * turn).norm(), 1e-10 * (P.norm() + modulus));
      EXPECT_LE((Fiber::return_map(k, Mat3(A * turn)) - Fiber::return_map(k, A) * turn).norm(), 1e-10);
    }
  }
}

TEST(FiberTest, FrictionComesFromOneAngle) {
  const auto k = Fiber::Constants::from(1, 1, {1, 1}, 40 * degree);
  EXPECT_NEAR(k.along, std::tan(40 * degree), 1e-15);
  EXPECT_NEAR(k.across, 0.445, 1e-3);  // the table of Drucker-Prager slopes
}

TEST(FiberTest, PartsFreelyAndForgetsIt) {
  const auto k = Fiber::Constants::from(2000, 500, lame_from(500, 0.3), 40 * degree);
  Mat3 A = Mat3::Identity();
  A.col(0) *= 1.01;
  A.col(1) = Vec3(0.2, 1.3, 0.1);
  const Mat3 returned = Fiber::return_map(k, A);
  Mat3 rest = Mat3::Identity();
  rest.col(0) *= 1.01;
  EXPECT_NEAR(Fiber::energy(k, returned), 0.5 * 2000 * 0.01 * 0.01, 1e-12);
  EXPECT_LE((returned.rightCols<2>().transpose() * returned.rightCols<2>() - Matrix2<Real>::Identity()).norm(), 1e-14);
}

TEST(FiberTest, AnInvertedSectionIsPushedOpen) {
  const auto k = Fiber::Constants::from(2000, 500, lame_from(500, 0.3), 0);
  Mat3 A = Mat3::Identity();
  A(2, 2) = -0.1;
  const Mat3 P = Fiber::stress(k, A);
  EXPECT_LT(P(2, 2), 0);  // energy falls as the section opens
  EXPECT_GT(test::oriented_qr(Fiber::return_map(k, A)).R(2, 2), 0);
}

}  // namespace
}  // namespace weft
