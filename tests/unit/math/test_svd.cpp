// Decompositions of 3x3 and 2x2 matrices: conventions, accuracy on degenerate input, derivatives.

#include "weft/math/svd.hpp"

#include "support/differences.hpp"
#include "support/random_matrices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace weft {
namespace {

using test::MatrixSource, test::derivative;

// A dozen rotations, each with a few units of round-off.
constexpr Real round_off = 1e-14;

/// Singular values of every kind: apart, near each other, repeated, near zero, zero, inverted.
std::vector<Vec3> singular_values() {
  std::vector<Vec3> list = {{3, 2, 1},           {3, 2, -1},        {1, 1, 1},           {1, 1, -1},
                            {2, 1, 1},           {2, 1, -1},        {2, 2, 1},           {2, 2, -1},
                            {1, 1, 0},           {1, 0.5, 0},       {1, 0, 0},           {0, 0, 0},
                            {1, 1e-8, 1e-8},     {1, 1e-8, -1e-8},  {1, 1, 1e-9},        {1, 1, -1e-9},
                            {1, 1e-3, 1e-12},    {1, 1e-15, 1e-15}, {1, 1e-15, -1e-16},  {1, 1e-160, 0},
                            {1, 1e-200, 1e-300}, {1e3, 1, -1e-3},   {1, 1 - 1e-15, 0.5}, {5, 5, -5}};
  for (const Real gap : {1e-3, 1e-6, 1e-9, 1e-12, 1e-15}) {
    list.push_back({1 + gap, 1, 1 - gap});
    list.push_back({1 + gap, 1, -1});
    list.push_back({2, gap, -gap * 0.5});
  }
  return list;
}

std::vector<Mat3> matrices() {
  MatrixSource source(7);
  std::vector<Mat3> list;
  for (const Vec3& s : singular_values())
    for (int i = 0; i < 20; ++i) list.push_back(source.with_singular_values(s));
  for (int i = 0; i < 500; ++i) list.push_back(source.matrix());
  for (int i = 0; i < 100; ++i) list.push_back(source.near_identity(std::pow(10.0, -i / 6.0)));
  for (const Vec3& s : singular_values()) list.push_back(s.asDiagonal());
  const Mat3 swap{{0, 1, 0}, {1, 0, 0}, {0, 0, 1}};
  list.push_back(swap);
  list.push_back(-Mat3::Identity());
  list.push_back(Mat3::Ones());
  return list;
}

void expect_rotation(const Mat3& R) {
  EXPECT_LT((R.transpose() * R - Mat3::Identity()).norm(), round_off);
  EXPECT_NEAR(R.determinant(), 1, round_off);
}

TEST(SvdTest, RebuildsEveryMatrixFromRotationsAndOrderedValues) {
  for (const Mat3& F : matrices()) {
    const Svd<Real> svd = polar_svd(F);
    SCOPED_TRACE(::testing::PrintToString(F));
    expect_rotation(svd.U);
    expect_rotation(svd.V);
    EXPECT_LE((svd.U * svd.s.asDiagonal() * svd.V.transpose() - F).norm(), round_off * F.norm());
    EXPECT_GE(svd.s[0], svd.s[1]);
    EXPECT_GE(svd.s[1], std::abs(svd.s[2]));
  }
}

TEST(SvdTest, LastValueHasTheSignOfTheDeterminant) {
  MatrixSource source(8);
  for (int i = 0; i < 1000; ++i) {
    const Mat3 F = source.matrix();
    EXPECT_EQ(polar_svd(F).s[2] < 0, F.determinant() < 0) << F;
  }
}

TEST(SvdTest, FindsTheValuesThatAMatrixWasMadeOf) {
  MatrixSource source(9);
  for (const Vec3& s : singular_values()) {
    const Vec3 found = polar_svd(source.with_singular_values(s)).s;
    EXPECT_LE((found - s).norm(), round_off * s[0]) << s.transpose() << " against " << found.transpose();
  }
}

TEST(SvdTest, KeepsRelativeAccuracyOfGradedColumns) {
  MatrixSource source(10);
  const Vec3 grades(1, 1e-10, 1e-20);
  for (int i = 0; i < 50; ++i) {
    const Vec3 found = polar_svd(source.rotation() * grades.asDiagonal()).s;
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(found[k] / grades[k], 1, round_off);
  }
}

TEST(SvdTest, ScalesFromTheSmallestToTheLargestNumbers) {
  MatrixSource source(11);
  for (const Real scale : {1e-300, 1e-200, 1e-100, 1e-49, 1e49, 1e100, 1e200, 1e300}) {
    const Mat3 F = source.with_singular_values({3, 2, -1});
    const Svd<Real> svd = polar_svd(scale * F);
    expect_rotation(svd.U);
    EXPECT_LT((svd.s / scale - Vec3(3, 2, -1)).norm(), round_off) << scale;
    EXPECT_LT((svd.U * (svd.s / scale).asDiagonal() * svd.V.transpose() - F).norm(), 3 * round_off) << scale;
  }
  const Real denormal = std::numeric_limits<Real>::denorm_min();
  expect_rotation(polar_svd(denormal * Mat3::Identity()).U);
}

TEST(SvdTest, LetsNotANumberThrough) {
  Mat3 F = Mat3::Identity();
  F(1, 2) = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_FALSE(polar_svd(F).s.allFinite());
}

/// Lanes `first`, `first + step`, ... of the list, going round.
Matrix3<Pack> packed(const std::vector<Mat3>& list, std::size_t first, std::size_t step) {
  Matrix3<Pack> M;
  for (std::size_t lane = 0; lane < Pack::size; ++lane)
    for (int i = 0; i < 9; ++i) M(i).set(static_cast<int>(lane), list[(first + lane * step) % list.size()](i));
  return M;
}
template <int rows, int columns>
Eigen::Matrix<Real, rows, columns> lane_of(const Eigen::Matrix<Pack, rows, columns>& M, int lane) {
  return M.unaryExpr([lane](const Pack& a) { return a[lane]; });
}

TEST(SvdTest, PacksAreAsAccurateAsSingleMatrices) {
  const std::vector<Mat3> list = matrices();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Svd<Pack> all = polar_svd(packed(list, i, 7));
    for (int lane = 0; lane < Pack::size; ++lane) {
      const Svd<Real> svd = {lane_of(all.U, lane), lane_of(all.s, lane), lane_of(all.V, lane)};
      const Mat3& F = list[(i + 7 * lane) % list.size()];
      expect_rotation(svd.U);
      expect_rotation(svd.V);
      EXPECT_LE((svd.U * svd.s.asDiagonal() * svd.V.transpose() - F).norm(), round_off * F.norm()) << F;
      EXPECT_GE(svd.s[0], svd.s[1]);
      EXPECT_GE(svd.s[1], std::abs(svd.s[2]));
    }
  }
}

TEST(SvdTest, NeighboursInAPackChangeNoBit) {
  std::vector<Mat3> list = matrices();
  list.push_back(Mat3::Constant(std::numeric_limits<Real>::quiet_NaN()));
  list.push_back(Mat3::Constant(std::numeric_limits<Real>::infinity()));
  list.push_back(1e-200 * list[3]);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Svd<Pack> alone = polar_svd(packed(list, i, 0));
    for (const std::size_t step : {1, 7, 300}) {
      const Svd<Pack> among = polar_svd(packed(list, i, step));
      const auto same = [](const auto& a, const auto& b) {
        for (int c = 0; c < a.size(); ++c)
          if (std::bit_cast<std::uint64_t>(a(c)[0]) != std::bit_cast<std::uint64_t>(b(c)[0])) return false;
        return true;
      };
      if (!list[i].allFinite()) {
        EXPECT_FALSE(lane_of(among.U, 0).allFinite() && lane_of(among.s, 0).allFinite());
        continue;
      }
      EXPECT_TRUE(same(alone.U, among.U) && same(alone.s, among.s) && same(alone.V, among.V)) << list[i];
    }
  }
}

TEST(SvdTest, DifferentialIsTheDerivativeOfValuesAndOfProducts) {
  // Signs of vectors are free, so only what does not depend on them is compared: U diag(a) U^T and V diag(a) V^T.
  MatrixSource source(12);
  const Vec3 a(1, 2, 4);
  for (const Vec3& s : {Vec3(2, 1.3, 0.6), Vec3(2, 1.3, -0.6), Vec3(1.2, 0.8, 0.2)}) {
    const Mat3 F = source.with_singular_values(s), dF = source.matrix();
    const Svd<Real> at = polar_svd(F), d = svd_differential(at, dF);
    const auto left = [&](Real t) {
      return Mat3(polar_svd(F + t * dF).U * a.asDiagonal() * polar_svd(F + t * dF).U.transpose());
    };
    const auto right = [&](Real t) {
      return Mat3(polar_svd(F + t * dF).V * a.asDiagonal() * polar_svd(F + t * dF).V.transpose());
    };
    const auto value = [&](Real t) { return Mat3(polar_svd(F + t * dF).s.asDiagonal()); };
    const Mat3 dU = d.U * a.asDiagonal() * at.U.transpose(), dV = d.V * a.asDiagonal() * at.V.transpose();
    EXPECT_LT((derivative(left, 2e-3) - dU - dU.transpose()).norm(), 1e-10 * dU.norm());
    EXPECT_LT((derivative(right, 2e-3) - dV - dV.transpose()).norm(), 1e-10 * dV.norm());
    EXPECT_LT((derivative(value, 2e-3).diagonal() - d.s).norm(), 1e-10);
  }
}

TEST(PolarTest, SplitsEveryMatrixIntoRotationAndSymmetricPart) {
  for (const Mat3& F : matrices()) {
    const Polar<Real> p = polar(F);
    SCOPED_TRACE(::testing::PrintToString(F));
    expect_rotation(p.R);
    EXPECT_LE((p.R * p.S - F).norm(), round_off * F.norm());
    EXPECT_EQ(p.S, p.S.transpose());
  }
}

TEST(PolarTest, IsTheRotationOfTheSvdWhereThatIsUnique) {
  MatrixSource source(13);
  for (int i = 0; i < 2000; ++i) {
    const Mat3 F = source.matrix();
    const Svd<Real> svd = polar_svd(F);
    const Real gap = svd.s[1] + svd.s[2];  // the rotation's condition is s0 over this
    EXPECT_LE((polar(F).R - svd.U * svd.V.transpose()).norm(), 2 * round_off * svd.s[0] / gap);
  }
}

TEST(PolarTest, DifferentialIsTheDerivativeOfTheRotation) {
  MatrixSource source(14);
  for (const Vec3& s :
       {Vec3(2, 1.3, 0.6), Vec3(1, 1, 1), Vec3(1.5, 1.5, 0.7), Vec3(1.3, 1, 0.01), Vec3(2, 1.3, -0.6)}) {
    const Mat3 F = source.with_singular_values(s), dF = source.matrix();
    const auto R = [&](Real t) { return polar(F + t * dF).R; };
    const Mat3 dR = polar_differential(polar(F), dF);
    EXPECT_LT((derivative(R, 2e-3) - dR).norm(), 1e-10 * dR.norm()) << s.transpose();
  }
}

TEST(PolarTest, DifferentialStaysFiniteWhereTheRotationJumps) {
  MatrixSource source(15);
  for (const Vec3& s : {Vec3(1, 1, -1), Vec3(1, 0.5, -0.5), Vec3(1, 0, 0), Vec3(0, 0, 0)})
    EXPECT_TRUE(polar_differential(polar(source.with_singular_values(s)), source.matrix()).allFinite())
        << s.transpose();
}

TEST(SymmetricEigenTest, RebuildsSymmetricMatricesOfEveryKind) {
  MatrixSource source(16);
  std::vector<Mat3> list = {Mat3::Zero(), Mat3::Identity(), Mat3::Ones(), Mat3{{0, 1, 0}, {1, 0, 0}, {0, 0, 0}}};
  for (const Vec3& s : singular_values())
    for (int i = 0; i < 10; ++i) {
      const Mat3 Q = source.rotation();
      list.push_back(Q * s.asDiagonal() * Q.transpose());
      list.push_back(1e200 * list.back());
      list.push_back(1e-180 * Mat3(Q * s.asDiagonal() * Q.transpose()));
    }
  for (const Mat3& A : list) {
    const SymmetricEigen eigen = symmetric_eigen(A);
    SCOPED_TRACE(::testing::PrintToString(A));
    expect_rotation(eigen.Q);
    const Real size = A.cwiseAbs().maxCoeff();
    EXPECT_LE((eigen.Q * eigen.values.asDiagonal() * eigen.Q.transpose() - A).cwiseAbs().maxCoeff(), round_off * size);
    EXPECT_GE(eigen.values[0], eigen.values[1]);
    EXPECT_GE(eigen.values[1], eigen.values[2]);
  }
}

TEST(PrincipalAxesTest, RebuildPacksOfMatricesAndKeepLanesApart) {
  std::vector<Mat3> list;
  for (const Mat3& F : matrices()) list.push_back(F * F.transpose());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto alone = principal_axes(Symmetric3<Pack>::of(packed(list, i, 0)));
    const auto axes = principal_axes(Symmetric3<Pack>::of(packed(list, i, 7)));
    for (int lane = 0; lane < Pack::size; ++lane) {
      const Mat3 Q = lane_of(axes.Q, lane);
      const Mat3& A = list[(i + 7 * static_cast<std::size_t>(lane)) % list.size()];
      expect_rotation(Q);
      EXPECT_LE((Q * lane_of(axes.values, lane).asDiagonal() * Q.transpose() - A).norm(), round_off * A.norm()) << A;
    }
    EXPECT_EQ(lane_of(axes.Q, 0), lane_of(alone.Q, 0));
    EXPECT_EQ(lane_of(axes.values, 0), lane_of(alone.values, 0));
  }
}

TEST(ExponentialTest, ActsOnEigenvaluesOfEverySize) {
  MatrixSource source(18);
  std::vector<Mat3> list, expected;
  for (const Real size : {0.0, 1e-9, 0.01, 0.09, 0.3, 0.8, 0.95, 2.0, 5.0})
    for (int i = 0; i < 10; ++i) {
      const Mat3 Q = source.rotation();
      const Vec3 e = i == 0 ? Vec3::Constant(-size) : Vec3(size * source.vector());
      list.push_back(Q * e.asDiagonal() * Q.transpose());
      expected.push_back(Q * e.array().exp().matrix().asDiagonal() * Q.transpose());
    }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto of_packs = exponential(Symmetric3<Pack>::of(packed(list, i, 7))).full();
    for (int lane = 0; lane < Pack::size; ++lane) {
      const std::size_t j = (i + 7 * static_cast<std::size_t>(lane)) % list.size();
      EXPECT_LE((lane_of(of_packs, lane) - expected[j]).norm(), 5 * round_off * expected[j].norm()) << list[j];
    }
    const Mat3 of_one = exponential(Symmetric3<Real>::of(list[i])).full();
    EXPECT_LE((of_one - expected[i]).norm(), 5 * round_off * expected[i].norm()) << list[i];
  }
}

TEST(SymmetricEigenTest, FindsTheRootsOfAMatrixSolvedByHand) {
  // [2 1 0; 1 2 0; 0 0 5]: eigenvalues 5, 3, 1.
  const Vec3 values = symmetric_eigen(Mat3{{2, 1, 0}, {1, 2, 0}, {0, 0, 5}}).values;
  EXPECT_LT((values - Vec3(5, 3, 1)).norm(), round_off);
}

TEST(CofactorTest, IsTheDeterminantTimesTheInverseTransposed) {
  MatrixSource source(17);
  const Mat3 F = source.near_identity(0.5), dF = source.matrix();
  EXPECT_LT((cofactor(F) - F.determinant() * F.inverse().transpose()).norm(), 10 * round_off);
  // The cofactor is quadratic in F, so the central difference is exact but for round-off.
  const Mat3 difference = 0.5 * (cofactor<Real>(F + dF) - cofactor<Real>(F - dF));
  EXPECT_LT((difference - cofactor_differential(F, dF)).norm(), 10 * round_off);
}

}  // namespace
}  // namespace weft
