#pragma once
// Derivatives by high-order differences, for functions that automatic derivatives cannot follow.

#include "weft/base/types.hpp"

namespace weft::test {

/// Derivative at 0 of f: Real -> Mat3 by the eight-point central difference. Its error is about (h/L)^8/600 f' + 1e-16
/// f/h for a function that is smooth over the length L.
template <class F>
Mat3 derivative(F&& f, Real h) {
  const auto pair = [&](int n) { return Mat3(f(n * h) - f(-n * h)); };
  return (4.0 / 5 * pair(1) - 1.0 / 5 * pair(2) + 4.0 / 105 * pair(3) - 1.0 / 280 * pair(4)) / h;
}

}  // namespace weft::test
