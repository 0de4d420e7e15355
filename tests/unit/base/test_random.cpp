// Philox against the published known answers, and draws against the statistics of a uniform distribution.

#include "weft/base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace weft {
namespace {

using Words = std::array<std::uint32_t, 4>;

TEST(PhiloxTest, MatchesThePublishedKnownAnswers) {
  // kat_vectors of Random123, philox4x32 with 10 rounds: zeros, ones, and digits of pi.
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomTest, FirstDrawsAreTheFirstTwoPairsOfWords) {
  // Counter 0 and key 0 again: 53 bits of (6627e8d5, e169c58d), then of (bc57ac4c, 9b00dbd8).
  Random random(0, 0, 0);
  EXPECT_EQ(random.uniform(), static_cast<Real>(0x6627e8d5e169c58dU >> 11) * 0x1p-53);
  EXPECT_EQ(random.uniform(), static_cast<Real>(0xbc57ac4c9b00dbd8U >> 11) * 0x1p-53);
}

TEST(RandomTest, DrawsDependOnNameAndPlaceAlone) {
  Random a(7, 3, 123456789012345), b(7, 3, 123456789012345);
  const Real first = a.uniform();
  Random(7, 3, 0).uniform3();  // drawing elsewhere changes nothing
  EXPECT_EQ(b.uniform(), first);
  for (int n = 0; n < 100; ++n) EXPECT_EQ(a.uniform(), b.uniform());
}

TEST(RandomTest, ThreeNumbersAreThreeSingleOnes) {
  Random a(1, 2, 3), b(1, 2, 3);
  for (int n = 0; n < 10; ++n) {
    const Vec3 three = a.uniform3();
    for (int d = 0; d < 3; ++d) EXPECT_EQ(three[d], b.uniform());
  }
}

TEST(RandomTest, NumbersOfManyStreamsAreThoseOfEach) {
  constexpr std::uint64_t first = 0xFFFFFFFA;  // the lower word of the counter overflows on the way
  std::vector<Vec3> many(53);
  first_uniform3(7, 3, first, many);
  for (std::size_t n = 0; n < many.size(); ++n) EXPECT_EQ(many[n], Random(7, 3, first + n).uniform3());
}

TEST(RandomTest, EveryPartOfTheNameMatters) {
  std::set<Real> firsts;
  for (std::uint32_t seed = 0; seed < 3; ++seed)
    for (std::uint32_t stream = 0; stream < 3; ++stream)
      for (const std::uint64_t counter : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32})
        firsts.insert(Random(seed, stream, counter).uniform());
  EXPECT_EQ(firsts.size(), 27U);  // two equal among 27 numbers of 53 bits: chance 4e-14
}

// Bounds below are five standard deviations of the statistic for independent uniform numbers; the draws are fixed, so
// a test that passes once passes always.

void expect_uniform(const std::vector<Real>& draws) {
  const Real n = static_cast<Real>(draws.size());
  constexpr int bins = 64;
  std::array<int, bins> counts{};
  Real sum = 0, squares = 0, products = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    ASSERT_GE(draws[i], 0.0);
    ASSERT_LT(draws[i], 1.0);
    ++counts[static_cast<int>(draws[i] * bins)];
    const Real centred = draws[i] - 0.5;
    sum += centred;
    squares += centred * centred;
    if (i > 0) products += centred * (draws[i - 1] - 0.5);
  }
  EXPECT_LT(std::abs(sum / n), 5 * std::sqrt(1.0 / 12 / n));                  // mean
  EXPECT_LT(std::abs(squares / n - 1.0 / 12), 5 * std::sqrt(1.0 / 180 / n));  // variance
  EXPECT_LT(std::abs(products / n), 5 / 12.0 / std::sqrt(n));                 // correlation of neighbours
  Real chi_squared = 0;
  for (const int count : counts) chi_squared += (count - n / bins) * (count - n / bins) / (n / bins);
  EXPECT_LT(std::abs(chi_squared - (bins - 1)), 5 * std::sqrt(2.0 * (bins - 1)));
}

TEST(RandomTest, OneStreamIsUniform) {
  std::vector<Real> draws;
  Random random(11, 0, 0);
  for (int n = 0; n < 200'000; ++n) draws.push_back(random.uniform());
  expect_uniform(draws);
}

TEST(RandomTest, FirstDrawsOfManyPointsAreUniform) {
  std::vector<Real> draws;
  for (std::uint64_t id = 0; id < 200'000; ++id) draws.push_back(Random(11, 4, id).uniform());
  expect_uniform(draws);
}

}  // namespace
}  // namespace weft
