// Conjugate gradients, on the system of a line of springs.

#include "weft/solve/conjugate_gradients.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace weft {
namespace {

/// Masses between n + 1 springs of stiffness 1, the last ones at walls.
void multiply(const RealVector& p, RealVector& S_p) {
  S_p = 2 * p;
  S_p.head(p.size() - 1) -= p.tail(p.size() - 1);
  S_p.tail(p.size() - 1) -= p.head(p.size() - 1);
}

struct Found {
  RealVector x, r;
  std::vector<Real> lengths;
};

Found find(const RealVector& b, Real goal, int most, auto&& product, Real preconditioner) {
  Found found{{}, b, {}};
  conjugate_gradients(
      found.x, found.r, goal, most, product, [&](const RealVector& r, RealVector& z) { z = preconditioner * r; },
      [](const RealVector& p, const RealVector& S_p) { return p.dot(S_p); },
      [](const RealVector& r, const RealVector& z) { return std::pair(r.dot(z), r.squaredNorm()); },
      [&](const RealVector&, Real length) { found.lengths.push_back(length); });
  return found;
}

const RealVector load{{1, -2, 0.5, 3, 7}};

TEST(ConjugateGradientsTest, TakesNoMoreStepsThanThereAreUnknowns) {
  for (const Real preconditioner : {1.0, 0.5}) {
    const Found found = find(load, 1e-12, 100, multiply, preconditioner);
    RealVector S_x(load.size());
    multiply(found.x, S_x);
    EXPECT_LE((S_x - load).norm(), 1e-12);
    EXPECT_EQ(found.lengths.size(), 5);
    EXPECT_EQ(found.lengths.back(), found.r.norm());
  }
}

TEST(ConjugateGradientsTest, EachStepLowersTheEnergyAndTheyEndWhenTheyAreMeantTo) {
  Real before = 0;
  for (int most = 0; most <= 4; ++most) {
    const Found found = find(load, 0, most, multiply, 1);
    EXPECT_EQ(found.lengths.size(), static_cast<std::size_t>(most));
    RealVector S_x(load.size());
    multiply(found.x, S_x);
    const Real energy = found.x.dot(S_x) / 2 - found.x.dot(load);
    if (most > 0) {
      EXPECT_LT(energy, before);
    }
    before = energy;
  }
  EXPECT_EQ(find(load, 1.01 * load.norm(), 100, multiply, 1).lengths.size(), 0);
}

TEST(ConjugateGradientsTest, EndWhereNothingGivesWay) {
  const auto nothing = [](const RealVector& p, RealVector& S_p) { S_p = 0 * p; };
  const Found found = find(load, 0, 100, nothing, 1);
  EXPECT_EQ(found.x, RealVector::Zero(load.size()));
  EXPECT_EQ(found.r, load);
}

}  // namespace
}  // namespace weft
