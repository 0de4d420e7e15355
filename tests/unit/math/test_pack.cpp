#include "weft/math/pack.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace weft::test {
namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();
const Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

Pack lanes(const std::function<Real(int)>& f) {
  Pack a;
  for (int lane = 0; lane < Pack::size; ++lane) a.set(lane, f(lane));
  return a;
}

/// Largest distance of f from the exact function, in units in the last place of the exact value.
template <class F, class Exact>
Real worst_ulp(F&& f, Exact&& exact, const std::function<Real()>& draw) {
  Real worst = 0;
  for (int i = 0; i < 100000 / Pack::size; ++i) {
    const Pack a = lanes([&](int) { return draw(); }), r = f(a);
    for (int lane = 0; lane < Pack::size; ++lane) {
      const long double truth = exact(static_cast<long double>(a[lane]));
      const Real ulp =
          std::nextafter(std::abs(static_cast<Real>(truth)), infinity) - std::abs(static_cast<Real>(truth));
      worst = std::max(worst, static_cast<Real>(std::abs(r[lane] - truth)) / ulp);
    }
  }
  return worst;
}

TEST(Pack, arithmetic_and_comparisons_act_on_each_lane) {
  const Pack a = lanes([](int i) { return i + 1.0; }), b = lanes([](int i) { return 3.0 - i; });
  const Pack sum = a + b, product = 2 * a * b, quotient = a / b - 1, smaller = min(a, b), larger = max(a, b);
  const Pack chosen = select(a < b, a, -b), not_chosen = select(!(a < b) || a > 100, a, b);
  for (int i = 0; i < Pack::size; ++i) {
    EXPECT_EQ(sum[i], 4);
    EXPECT_EQ(product[i], 2 * (i + 1.0) * (3.0 - i));
    EXPECT_EQ(quotient[i], (i + 1.0) / (3.0 - i) - 1);
    EXPECT_EQ(smaller[i], std::min(i + 1.0, 3.0 - i));
    EXPECT_EQ(larger[i], std::max(i + 1.0, 3.0 - i));
    EXPECT_EQ(chosen[i], i + 1.0 < 3.0 - i ? i + 1.0 : i - 3.0);
    EXPECT_EQ(not_chosen[i], i + 1.0 < 3.0 - i ? 3.0 - i : i + 1.0);
    EXPECT_EQ(abs(-b)[i], std::abs(3.0 - i));
    EXPECT_EQ(copysign(a, b)[i], std::copysign(i + 1.0, 3.0 - i));
    EXPECT_EQ(floor(0.75 * b)[i], std::floor(0.75 * (3.0 - i)));
    EXPECT_EQ(floor(b)[i], 3.0 - i);
  }
}

TEST(Pack, is_loaded_from_and_stored_to_any_place) {
  Real numbers[Pack::size + 3];
  for (int i = 0; i < Pack::size + 3; ++i) numbers[i] = i;
  Pack::load(numbers + 1).store(numbers + 2);
  for (int i = 0; i < Pack::size + 3; ++i) EXPECT_EQ(numbers[i], i < 2 || i >= Pack::size + 2 ? i : i - 1);
}

TEST(Pack, extremes_choose_their_first_number_when_asked_for_what_is_not_one) {
  EXPECT_EQ(min(Pack(1), Pack(not_a_number))[0], 1);
  EXPECT_EQ(max(Pack(1), Pack(not_a_number))[0], 1);
  EXPECT_TRUE(std::isnan(min(Pack(not_a_number), Pack(1))[0]));
  EXPECT_TRUE(std::isnan(max(Pack(not_a_number), Pack(1))[0]));
}

TEST(Pack, any_sees_a_single_lane) {
  EXPECT_FALSE(any(Pack(1) < 1));
  EXPECT_FALSE(any(Pack(1) < 2 && Pack(3) < 2));
  for (int only = 0; only < Pack::size; ++only) EXPECT_TRUE(any(lanes([=](int i) { return i == only; }) == 1));
}

TEST(Pack, functions_are_within_their_stated_errors) {
  MatrixSource source(1);
  const auto around_one = [&] { return 1 + std::pow(10, source.uniform(-12, -0.5)) * source.uniform(-1, 1); };
  const auto any_size = [&] { return std::exp(source.uniform(-700, 700)); };
  const auto exponent = [&] { return source.uniform(-700, 709); };
  const auto small = [&] { return std::pow(10, source.uniform(-12, 0.5)) * source.uniform(-1, 1); };
  const auto angle = [&] { return source.uniform(-1.57079, 1.57079); };
  const auto log_of = [](long double x) { return std::log(x); };
  const auto exp_of = [](long double x) { return std::exp(x); };
  const auto cbrt_of = [](long double x) { return std::cbrt(x); };
  EXPECT_LE(worst_ulp([](Pack a) { return log(a); }, log_of, around_one), 1);
  EXPECT_LE(worst_ulp([](Pack a) { return log(a); }, log_of, any_size), 1);
  EXPECT_LE(worst_ulp([](Pack a) { return exp(a); }, exp_of, exponent), 2);
  EXPECT_LE(worst_ulp([](Pack a) { return exp(a); }, exp_of, small), 2);
  EXPECT_LE(worst_ulp([](Pack a) { return cbrt(a); }, cbrt_of, any_size), 2);
  EXPECT_LE(worst_ulp([](Pack a) { return cbrt(-a); }, [](long double x) { return std::cbrt(-x); }, around_one), 2);
  EXPECT_LE(worst_ulp([](Pack a) { return rsqrt(a); }, [](long double x) { return 1 / std::sqrt(x); }, any_size), 2);
  EXPECT_LE(worst_ulp([](Pack a) { return sqrt(a); }, [](long double x) { return std::sqrt(x); }, any_size), 0.5001);
  EXPECT_LE(worst_ulp([](Pack a) { return fast_sqrt(a); }, [](long double x) { return std::sqrt(x); }, any_size), 3);
  EXPECT_LE(worst_ulp([](Pack a) { return sin(a); }, [](long double x) { return std::sin(x); }, angle), 3);
  for (int i = 0; i < 20000; ++i) {
    const long double turn = 3.14159265358979 * source.uniform(-1, 1), size = any_size();
    const auto y = static_cast<Real>(size * std::sin(turn)), x = static_cast<Real>(size * std::cos(turn));
    const long double exact = std::atan2(static_cast<long double>(y), static_cast<long double>(x));
    EXPECT_LE(std::abs(atan2(Pack(y), Pack(x))[0] - exact), 3 * 0x1p-53L * std::abs(exact)) << y << " " << x;
  }
  // b log a = 7 ln 0.6 = -3.6 rounds by 2 units of the result at most, and exp adds one.
  EXPECT_LE(worst_ulp([](Pack a) { return pow(a, -7); }, [](long double x) { return std::pow(x, -7); },
                      [&] { return source.uniform(0.6, 1); }),
            6);
  Real worst = 0;
  for (int i = 0; i < 10000; ++i) {
    const Real x = source.uniform(-1e4, 1e4);
    worst = std::max(worst, std::abs(sin(Pack(x))[0] - std::sin(x)));
  }
  EXPECT_LE(worst, 1e-15);
}

TEST(Pack, functions_know_their_limits) {
  EXPECT_EQ(exp(Pack(0))[0], 1);
  EXPECT_EQ(exp(Pack(-infinity))[0], 0);
  EXPECT_EQ(exp(Pack(infinity))[0], infinity);
  EXPECT_EQ(exp(Pack(-1e300))[0], 0);
  EXPECT_EQ(exp(Pack(1e300))[0], infinity);
  EXPECT_EQ(log(Pack(1))[0], 0);
  EXPECT_EQ(log(Pack(0))[0], -infinity);
  EXPECT_EQ(log(Pack(infinity))[0], infinity);
  EXPECT_TRUE(std::isnan(log(Pack(-1))[0]));
  EXPECT_EQ(cbrt(Pack(0))[0], 0);
  EXPECT_EQ(cbrt(Pack(-8))[0], -2);
  EXPECT_EQ(sin(Pack(0))[0], 0);
  for (const auto& [y, x] : std::vector<std::array<Real, 2>>{{0, 1}, {1, 0}, {0, -1}, {-1, 0}, {1, 1}, {-1, -1}})
    EXPECT_NEAR(atan2(Pack(y), Pack(x))[0], std::atan2(y, x), 1e-15);
  EXPECT_EQ(atan2(Pack(0), Pack(0))[0], 0);
  for (const Pack& a :
       {exp(Pack(not_a_number)), log(Pack(not_a_number)), cbrt(Pack(not_a_number)), sin(Pack(not_a_number)),
        atan2(Pack(not_a_number), Pack(1)), atan2(Pack(1), Pack(not_a_number)), sqrt(Pack(not_a_number)),
        rsqrt(Pack(not_a_number)), sqrt(Pack(-1)), fast_sqrt(Pack(not_a_number)), fast_sqrt(Pack(-1))})
    EXPECT_TRUE(std::isnan(a[0]));
}

TEST(Pack, a_lane_does_not_see_its_neighbours) {
  MatrixSource source(2);
  const std::vector<Real> junk = {not_a_number, infinity, -1, 0, 1e300, 1e-300, -infinity, 2};
  for (int i = 0; i < 1000; ++i) {
    const Real x = std::exp(source.uniform(-5, 5));
    for (const auto& f : {+[](const Pack& a) { return exp(a); }, +[](const Pack& a) { return log(a); },
                          +[](const Pack& a) { return cbrt(a); }, +[](const Pack& a) { return sin(a); },
                          +[](const Pack& a) { return rsqrt(a); }, +[](const Pack& a) { return fast_sqrt(a); },
                          +[](const Pack& a) { return pow(a, 1.5); }}) {
      const Real alone = f(Pack(x))[0];
      for (int own = 0; own < Pack::size; ++own)
        EXPECT_EQ(f(lanes([&](int lane) { return lane == own ? x : junk[(lane + i) % 8]; }))[own], alone);
    }
  }
}

TEST(Pack, serves_as_the_scalar_of_matrices) {
  MatrixSource source(3);
  std::vector<Mat3> A, B;
  Matrix3<Pack> packed_A, packed_B;
  for (int lane = 0; lane < Pack::size; ++lane) {
    A.push_back(source.matrix());
    B.push_back(source.matrix());
    for (int i = 0; i < 9; ++i) packed_A(i).set(lane, A[lane](i)), packed_B(i).set(lane, B[lane](i));
  }
  const Matrix3<Pack> product = packed_A * packed_B.transpose();
  const Pack J = determinant(packed_A), size = packed_A.norm();
  for (int lane = 0; lane < Pack::size; ++lane) {
    const Mat3 expected = A[lane] * B[lane].transpose();
    for (int i = 0; i < 9; ++i) EXPECT_NEAR(product(i)[lane], expected(i), 1e-15);
    EXPECT_NEAR(J[lane], determinant(A[lane]), 1e-15);
    EXPECT_NEAR(size[lane], A[lane].norm(), 1e-15);
  }
}

}  // namespace
}  // namespace weft::test
