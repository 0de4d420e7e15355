#pragma once
// Gauss-Legendre quadrature on the unit interval.

#include "weft/base/types.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace weft {

/// Places in [0, 1], ascending, and weights that sum to 1.
struct Quadrature {
  std::vector<Real> at, weight;
};

/// The rule of n >= 1 points that is exact for polynomials up to degree 2n - 1.
inline Quadrature gauss(int n) {
  Quadrature rule;
  for (int k = n; k >= 1; --k) {
    // Newton from Chebyshev's estimate of the root of the Legendre polynomial P_n; slope is P_n'.
    Real x = std::cos(std::numbers::pi * (k - 0.25) / (n + 0.5)), slope = 1;
    for (int iteration = 0; iteration < 100; ++iteration) {
      Real p = 1, previous = 0;
      for (int j = 1; j <= n; ++j) {
        const Real next = ((2 * j - 1) * x * p - (j - 1) * previous) / j;
        previous = p;
        p = next;
      }
      slope = n * (x * p - previous) / (x * x - 1);
      const Real change = p / slope;
      x -= change;
      if (std::abs(change) < 1e-16) break;
    }
    rule.at.push_back(0.5 * (1 + x));
    rule.weight.push_back(1 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

}  // namespace weft
