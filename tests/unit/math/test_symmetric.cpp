// Logarithm, exponential and square root of symmetric matrices, within the ranges that their polynomials serve.

#include "weft/math/symmetric.hpp"

#include "weft/math/dual.hpp"
#include "weft/math/pack.hpp"
#include "weft/math/svd.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace weft {
namespace {

using test::MatrixSource;
using Sym = Symmetric3<Real>;

Mat3 with_eigenvalues(const Mat3& Q, const Vec3& values) { return Q * values.asDiagonal() * Q.transpose(); }

TEST(SymmetricTest, LogarithmAndExponentialActOnEigenvalues) {
  MatrixSource source(1);
  for (const Real size : {0.0, 1e-12, 1e-6, 1e-3, 0.03, 0.1, 0.2, 0.3, 0.35, 0.5, 0.8, 1.0, 1.7})
    for (int i = 0; i < 100; ++i) {
      const Mat3 Q = source.rotation();
      const Vec3 e = i == 0   ? Vec3(size, size, size)
                     : i == 1 ? Vec3(size, size, -size)
                     : i == 2 ? Vec3(0, 0, size)
                     : i == 3 ? Vec3(0, -size, 0)
                              : Vec3(size * source.vector());
      const Mat3 A = with_eigenvalues(Q, e), exp_A = with_eigenvalues(Q, e.array().exp());
      // Round-off of matrices of size exp(1.7) at most, and its image under the logarithm, whose slope is as large.
      const Real round_off = 5e-15 * std::exp(2 * size);
      const auto log_exp_A = log_near_identity(Sym::of(exp_A));
      const Real range = Vec3((0.5 * e).array().tanh()).squaredNorm();
      EXPECT_EQ(log_exp_A.valid, range < 0.5) << e;
      if (log_exp_A.valid) {
        EXPECT_LT((log_exp_A.value.full() - A).norm(), round_off) << size;
      }
      if (e.norm() <= 0.9) {
        EXPECT_LT((exp_near_zero(Sym::of(A)).full() - exp_A).norm(), round_off) << size;
      }
    }
}

TEST(SymmetricTest, SmallStrainsKeepTheirDigits) {
  // The logarithm of I + E with E exact in binary is E - E^2/2 up to E^3/3 < 1e-22.
  const Real s = std::ldexp(1.0, -24);
  const Mat3 E = s * Mat3{{2, 1, 0}, {1, -1, 3}, {0, 3, 1}};
  const Mat3 log_A = log_near_identity(Sym::of(Mat3::Identity() + E)).value.full();
  EXPECT_LT((log_A - (E - 0.5 * E * E)).norm(), 1e-20);
}

TEST(SymmetricTest, LeftStretchIsThatOfTheSingularValues) {
  MatrixSource source(2);
  int inverted = 0, invalid = 0;
  for (int i = 0; i < 3000; ++i) {
    Vec3 s;
    for (int a = 0; a < 3; ++a) s[a] = std::exp(source.uniform(-1, 1) * (i % 3 == 0 ? 0.05 : i % 3 == 1 ? 0.7 : 2.5));
    if (i % 5 == 0) s[2] = -0.9 * std::min(s[0], s[1]) * source.uniform(0, 1);
    const Mat3 F = std::pow(10.0, i % 7 - 3) * source.with_singular_values(s);
    const Svd<Real> svd = polar_svd(F);
    const auto V = left_stretch(left_square(F), determinant(F));
    const Real sum = svd.s.sum(), pairs = (svd.s[0] + svd.s[1]) * (svd.s[1] + svd.s[2]) * (svd.s[2] + svd.s[0]);
    const Real excess = pairs / (0.05 * sum * sum * sum);
    if (std::abs(excess - 1) > 1e-9) {
      EXPECT_EQ(V.valid, excess > 1) << svd.s.transpose();
    }
    invalid += !V.valid;
    if (!V.valid) continue;
    inverted += svd.s[2] < 0;
    const Mat3 expected = svd.U * svd.s.asDiagonal() * svd.U.transpose();
    EXPECT_LT((V.value.full() - expected).norm(), 2e-14 * std::pow(svd.s[0], 4) / pairs) << svd.s.transpose();
  }
  EXPECT_GT(inverted, 100);
  EXPECT_GT(invalid, 10);
}

TEST(SymmetricTest, LeftStretchIsFoundFromNearbyAndNeverAnotherRoot) {
  MatrixSource source(3);
  int found = 0, missed = 0;
  for (int i = 0; i < 3000; ++i) {
    Vec3 s;
    for (int a = 0; a < 3; ++a) s[a] = std::exp(0.7 * source.uniform(-1, 1));
    if (i % 3 == 0) s[2] = -0.9 * std::min(s[0], s[1]) * source.uniform(0, 1);
    const Mat3 F = source.with_singular_values(s);
    const Symmetric3<Real> b = left_square(F);
    const Real J = determinant(F), trace = polar_svd(F).s.sum();
    const auto expected = left_stretch(b, J);
    if (!expected.valid) continue;
    const auto found_from = [&](Real near) {
      const auto V = left_stretch(b, J, near);
      if (V.valid) {
        EXPECT_LT((V.value.full() - expected.value.full()).norm(), 1e-11) << s.transpose() << " from " << near;
      }
      return V.valid;
    };
    // From where the iteration ends after its first round it has reached what it can.
    const Vec3 found_s = polar_svd(F).s;
    const Real pairs = (found_s[0] + found_s[1]) * (found_s[1] + found_s[2]) * (found_s[2] + found_s[0]);
    for (const Real off : {-3.9e-6, 3.9e-6}) {
      const auto V = left_stretch(b, J, trace * (1 + off));
      EXPECT_LT((V.value.full() - expected.value.full()).norm(), 4e-14 * std::pow(found_s[0], 4) / pairs)
          << s.transpose();
    }
    EXPECT_TRUE(found_from(0.95 * trace));
    EXPECT_TRUE(found_from(1.05 * trace));
    (found_from(source.uniform(-1, 2) * trace) ? found : missed) += 1;
  }
  EXPECT_GT(found, 100);
  EXPECT_GT(missed, 100);
}

TEST(SymmetricTest, WhatIsNotANumberIsNotValid) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const Mat3 F = Mat3::Constant(nan);
  EXPECT_FALSE(log_near_identity(Sym::of(F)).valid);
  EXPECT_FALSE(left_stretch(left_square(F), nan).valid);
  EXPECT_FALSE(left_stretch(left_square(F), nan, nan).valid);
  EXPECT_FALSE(left_stretch(Sym{}, 0.0).valid);
}

/// Largest difference between f of a pack and f of its lanes.
template <class F>
Real lane_difference(F&& f, Real size, std::uint32_t seed) {
  MatrixSource source(seed);
  Real worst = 0;
  for (int i = 0; i < 100; ++i) {
    std::array<Mat3, Pack::size> each;
    Matrix3<Pack> packed;
    for (int lane = 0; lane < Pack::size; ++lane) {
      each[lane] = source.near_identity(size);
      for (int c = 0; c < 9; ++c) packed(c).set(lane, each[lane](c));
    }
    const Matrix3<Pack> result = f(packed);
    for (int lane = 0; lane < Pack::size; ++lane) {
      const Mat3 expected = f(each[lane]);
      for (int c = 0; c < 9; ++c) worst = std::max(worst, std::abs(result(c)[lane] - expected(c)));
    }
  }
  return worst;
}

TEST(SymmetricTest, PacksAgreeWithSingleNumbers) {
  const auto log_b = [](const auto& F) { return log_near_identity(left_square(F)).value.full(); };
  const auto exp_b = [](const auto& F) { return exp_near_zero(left_square(F) - 1).full(); };
  const auto stretch = [](const auto& F) { return left_stretch(left_square(F), determinant(F)).value.full(); };
  EXPECT_LE(lane_difference(log_b, 0.1, 3), 1e-14);
  EXPECT_LE(lane_difference(exp_b, 0.1, 4), 1e-14);
  EXPECT_LE(lane_difference(stretch, 0.3, 5), 1e-13);
}

TEST(SymmetricTest, DerivativesOfPolynomialsAreThoseOfTheFunctions) {
  MatrixSource source(6);
  for (int i = 0; i < 50; ++i) {
    const Mat3 F = source.near_identity(0.2), dF = source.matrix();
    const Matrix3<Dual> moving = along(F, dF);
    // V^2 = b gives dV V + V dV = db.
    const auto V = left_stretch(left_square(moving), determinant(moving)).value.full();
    const Mat3 db = slopes(left_square(moving).full()), v = values(V), dv = slopes(V);
    EXPECT_LT((dv * v + v * dv - db).norm(), 1e-12);
    // exp(log b) = b.
    const auto b = exp_near_zero(log_near_identity(left_square(moving)).value).full();
    EXPECT_LT((slopes(b) - db).norm(), 1e-12);
  }
}

}  // namespace
}  // namespace weft
