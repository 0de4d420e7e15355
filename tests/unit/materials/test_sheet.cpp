// Laws of sheets in their plane: derivatives, invariance, moduli.

#include "weft/materials/sheet.hpp"
#include "weft/math/dual.hpp"
#include "weft/math/pack.hpp"
#include "weft/math/pack_rows.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include <cmath>

namespace weft {
namespace {

template <class S>
std::vector<typename S::Constants> constants();
template <>
std::vector<CorotatedSheet::Constants> constants<CorotatedSheet>() {
  return {CorotatedSheet::Constants::from(400, 0.3), CorotatedSheet::Constants::from(2e4, 0),
          CorotatedSheet::Constants::from(50, -0.4)};
}
template <>
std::vector<WovenSheet::Constants> constants<WovenSheet>() {
  return {WovenSheet::Constants::from(1000, 200, 0.3, 50), WovenSheet::Constants::from(1, 3, 0, 0.1)};
}

/// Random sheets in space, with stretches from 0.2 to 3, and near rest.
std::vector<Mat32> sheets(test::MatrixSource& source) {
  std::vector<Mat32> list;
  for (int i = 0; i < 200; ++i) {
    const Real range = i % 2 ? 0.05 : 1.0;
    Mat3 stretch = Mat3::Identity();
    for (int a = 0; a < 2; ++a) stretch(a, a) = std::exp(source.uniform(-1.6 * range, 1.1 * range));
    Mat3 turn = Mat3::Identity();
    const Real angle = source.uniform(0, 6);
    turn.topLeftCorner<2, 2>() << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
    list.push_back((source.rotation() * stretch * turn).leftCols<2>());
  }
  return list;
}
Mat32 direction(test::MatrixSource& source) { return source.matrix().leftCols<2>(); }

template <class Map>
Eigen::Matrix<Real, 6, 6> matrix_of(Map&& map) {
  Eigen::Matrix<Real, 6, 6> M;
  for (int i = 0; i < 6; ++i) {
    Mat32 unit = Mat32::Zero();
    unit(i) = 1;
    const Mat32 image = map(unit);
    M.col(i) = image.reshaped();
  }
  return M;
}

template <class S>
class SheetTest : public ::testing::Test {
 protected:
  template <class Check>
  void for_all(std::uint32_t seed, Check&& check) {
    test::MatrixSource source(seed);
    for (const auto& k : constants<S>())
      for (const Mat32& F : sheets(source)) check(k, F, source);
  }
};
using Sheets = ::testing::Types<CorotatedSheet, WovenSheet>;
TYPED_TEST_SUITE(SheetTest, Sheets);

TYPED_TEST(SheetTest, StressAndDifferentialAreDerivatives) {
  using S = TypeParam;
  this->for_all(1, [](const auto& k, const Mat32& F, test::MatrixSource& source) {
    const Mat32 dF = direction(source), P = S::stress(k, F);
    const Real round_off = 1e-12 * S::stiffness(k, F) * dF.norm();
    EXPECT_NEAR(P.cwiseProduct(dF).sum(), S::energy(k, along(F, dF)).slope, round_off) << F;
    const Mat32 expected = slopes(S::stress(k, along(F, dF)));
    EXPECT_LE((S::stress_differential(k, F)(dF) - expected).norm(), 100 * round_off) << F;
  });
}

TYPED_TEST(SheetTest, ProjectedDifferentialIsPositiveAndBounded) {
  using S = TypeParam;
  this->for_all(2, [](const auto& k, const Mat32& F, test::MatrixSource&) {
    using Solver = Eigen::SelfAdjointEigenSolver<Eigen::Matrix<Real, 6, 6>>;
    const auto exact = matrix_of([&](const Mat32& dF) { return S::stress_differential(k, F)(dF); });
    const auto projected = matrix_of([&](const Mat32& dF) { return S::projected_differential(k, F)(dF); });
    const Solver eigen(0.5 * (exact + exact.transpose())), positive(0.5 * (projected + projected.transpose()));
    const Real size = S::stiffness(k, F);
    EXPECT_LE((exact - exact.transpose()).norm(), 1e-11 * size);
    EXPECT_LE((projected - projected.transpose()).norm(), 1e-11 * size);
    EXPECT_GE(positive.eigenvalues().minCoeff(), -1e-11 * size);
    EXPECT_LE(eigen.eigenvalues().maxCoeff(), size * (1 + 1e-10));
    EXPECT_LE(positive.eigenvalues().maxCoeff(), size * (1 + 1e-10));
    if (eigen.eigenvalues().minCoeff() >= 0) {
      EXPECT_LE((exact - projected).norm(), 1e-10 * size);
    }
  });
}

TYPED_TEST(SheetTest, TurnsWithTheFrameAndRestsWithoutStress) {
  using S = TypeParam;
  this->for_all(3, [](const auto& k, const Mat32& F, test::MatrixSource& source) {
    const Mat3 Q = source.rotation();
    const Real size = S::stiffness(k, F);
    EXPECT_NEAR(S::energy(k, Mat32(Q * F)), S::energy(k, F), 1e-12 * size);
    EXPECT_LE((S::stress(k, Mat32(Q * F)) - Q * S::stress(k, F)).norm(), 1e-12 * size);
    const Mat32 rest = Q.leftCols<2>();
    EXPECT_LE(S::stress(k, rest).norm(), 1e-14 * size);
    EXPECT_LE(S::energy(k, rest), 1e-14 * size);
  });
}

TYPED_TEST(SheetTest, PacksAgreeWithSingleSheets) {
  using S = TypeParam;
  test::MatrixSource source(5);
  for (const auto& k : constants<S>()) {
    std::vector<Mat32> list = sheets(source);
    list.push_back(Mat32::Ones());  // collapsed to a line
    for (std::size_t first = 0; first < list.size(); first += Pack::size) {
      const PackRows rows = PackRows::range(first, list.size());
      const Matrix32<Pack> F = load(std::span<const Mat32>(list), rows), stress = S::stress(k, F);
      const Pack stiffness = S::stiffness(k, F);
      for (int lane = 0; lane < rows.count; ++lane) {
        const Mat32& single = list[rows.row[lane]];
        const Mat32 P = S::stress(k, single);
        const Real size = S::stiffness(k, single);
        EXPECT_NEAR(stiffness[lane], size, 1e-12 * size);
        for (int i = 0; i < 6; ++i) EXPECT_NEAR(stress(i)[lane], P(i), 1e-12 * (size + P.norm()));
        const Mat32 dF = direction(source);
        const Matrix32<Pack> in_all = dF.template cast<Pack>();
        const auto agree = [&](const Matrix32<Pack>& of_packs, const Mat32& dP) {
          for (int i = 0; i < 6; ++i) EXPECT_NEAR(of_packs(i)[lane], dP(i), 1e-10 * size * dF.norm()) << single;
        };
        agree(S::stress_differential(k, F)(in_all), S::stress_differential(k, single)(dF));
        agree(S::projected_differential(k, F)(in_all), S::projected_differential(k, single)(dF));
      }
    }
  }
}

TYPED_TEST(SheetTest, CollapsedSheetsGiveNumbers) {
  using S = TypeParam;
  test::MatrixSource source(4);
  std::vector<Mat32> list = {Mat32::Zero(), Mat32::Ones(), 1e-200 * Mat32::Identity(), 1e3 * Mat32::Identity()};
  list.push_back(Mat32::Identity());
  list.back().col(1).setZero();
  list.push_back(Mat32::Identity());
  list.back().col(0).setZero();
  for (const auto& k : constants<S>()) {
    for (const Mat32& F : list) {
      EXPECT_TRUE(std::isfinite(S::energy(k, F))) << F;
      EXPECT_TRUE(S::stress(k, F).allFinite()) << F;
      EXPECT_TRUE(S::stress_differential(k, F)(direction(source)).allFinite()) << F;
      EXPECT_TRUE(S::projected_differential(k, F)(direction(source)).allFinite()) << F;
      EXPECT_TRUE(std::isfinite(S::stiffness(k, F))) << F;
    }
  }
}

TEST(CorotatedSheetTest, IsTheLawOfSingularValuesAndIsotropic) {
  const auto k = CorotatedSheet::Constants::from(400, 0.3);
  test::MatrixSource source(5);
  for (const Mat32& F : sheets(source)) {
    const Matrix2<Real> C = F.transpose() * F;
    const Real area = std::sqrt(C.determinant()), sum = std::sqrt(C.trace() + 2 * area);
    const Real s0 = 0.5 * (sum + std::sqrt(std::max(0.0, C.trace() - 2 * area))), s1 = area / s0;
    const Real expected =
        k.lame.mu * ((s0 - 1) * (s0 - 1) + (s1 - 1) * (s1 - 1)) + 0.5 * k.lame.lambda * (area - 1) * (area - 1);
    EXPECT_NEAR(CorotatedSheet::energy(k, F), expected, 1e-11 * 400 * F.squaredNorm());
    Matrix2<Real> turn;
    const Real angle = source.uniform(0, 6);
    turn << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
    EXPECT_NEAR(CorotatedSheet::energy(k, Mat32(F * turn)), CorotatedSheet::energy(k, F),
                1e-11 * 400 * F.squaredNorm());
  }
}

/// Small-strain Young's modulus and Poisson's ratio along the axis `a` of a sheet that is free across.
template <class S>
std::pair<Real, Real> tension(const typename S::Constants& k, int a) {
  const Mat32 rest = Mat32::Identity();
  const auto C = [&](int i, int j) {
    Mat32 unit = Mat32::Zero();
    unit(j, j) = 1;
    return S::stress_differential(k, rest)(unit)(i, i);
  };
  const int b = 1 - a;
  const Real nu = C(b, a) / C(b, b);
  return {C(a, a) - C(a, b) * nu, nu};
}

TEST(SheetModuliTest, AreWhatTheConstantsSay) {
  const auto [E, nu] = tension<CorotatedSheet>(CorotatedSheet::Constants::from(400, 0.3), 0);
  EXPECT_NEAR(E, 400, 1e-9);
  EXPECT_NEAR(nu, 0.3, 1e-12);
  const auto woven = WovenSheet::Constants::from(1000, 200, 0.3, 50);
  const auto [warp, nu_warp] = tension<WovenSheet>(woven, 0);
  const auto [weft, nu_weft] = tension<WovenSheet>(woven, 1);
  EXPECT_NEAR(warp, 1000, 1e-9);
  EXPECT_NEAR(weft, 200, 1e-9);
  EXPECT_NEAR(nu_warp, 0.3, 1e-12);
  EXPECT_NEAR(nu_weft, 0.3 * 200 / 1000, 1e-12);
  Mat32 shear = Mat32::Zero();
  shear(0, 1) = 1;
  EXPECT_NEAR(WovenSheet::stress_differential(woven, Mat32(Mat32::Identity()))(shear)(0, 1), 50, 1e-10);
}

TEST(WovenSheetTest, IsTheSameFromBothSidesOfWarpAndWeft) {
  const auto k = WovenSheet::Constants::from(1000, 200, 0.3, 50);
  test::MatrixSource source(6);
  for (const Mat32& F : sheets(source)) {
    Mat32 mirrored = F;
    mirrored.col(1) = -F.col(1);
    EXPECT_NEAR(WovenSheet::energy(k, mirrored), WovenSheet::energy(k, F), 1e-12 * WovenSheet::energy(k, F) + 1e-12);
  }
}

}  // namespace
}  // namespace weft
