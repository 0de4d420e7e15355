#pragma once
// B-spline kernels of orders one to three in one dimension: which nodes a coordinate touches, with what weights and
// weight gradients. Three dimensions are products of these.

#include "weft/base/types.hpp"

namespace weft {

/// Largest integer not above x; |x| < 2^31. (std::floor is a library call where SSE4.1 is not assumed.)
inline int floor_to_int(Real x) {
  const int i = static_cast<int>(x);
  return i - (x < i ? 1 : 0);
}

// Every kernel K, with x in units of the grid spacing h [docs/theory/transfer.md, 1]:
//   K::nodes                  nodes touched along an axis: base .. base + reach
//   K::reach                  nodes - 1: what a block of nodes needs beyond its own for points binned by base node
//   K::inverse_inertia        D^{-1} in units of 1/h^2, D = sum_i w_i (x_i - x)^2; 0: D varies
//   K::base(x)                the first node touched, the largest integer not above x - offset
//   K::offset
//   K::has_odd_tails          whether weights change sign where t leaves [offset, offset + 1]
//   K::weights(t, w)          w[a] = weight of node base + a at t = x - base
//   K::gradients(t, dw)       dw[a] = dw_a/dx
// Weights and gradients take a Real or several of them side by side (Real4).

/// Hat functions. D = f (1 - f) h^2 varies with the fraction f and is singular at nodes.
struct LinearKernel {
  static constexpr int nodes = 2;
  static constexpr int reach = 1;
  static constexpr Real inverse_inertia = 0;
  static constexpr Real offset = 0;
  static constexpr bool has_odd_tails = true;
  static int base(Real x) { return floor_to_int(x); }
  /// t in [0, 1].
  template <class T>
  static void weights(const T& t, T (&w)[nodes]) {
    w[0] = 1 - t;
    w[1] = t;
  }
  template <class T>
  static void gradients(const T& t, T (&dw)[nodes]) {
    dw[0] = 0 * t - 1;
    dw[1] = 0 * t + 1;
  }
};

/// D = h^2 / 4.
struct QuadraticKernel {
  static constexpr int nodes = 3;
  static constexpr int reach = 2;
  static constexpr Real inverse_inertia = 4;
  static constexpr Real offset = 0.5;
  static constexpr bool has_odd_tails = false;
  static int base(Real x) { return floor_to_int(x - offset); }
  /// t in [1/2, 3/2].
  template <class T>
  static void weights(const T& t, T (&w)[nodes]) {
    const T a = 1.5 - t, b = t - 1, c = t - 0.5;
    w[0] = 0.5 * a * a;
    w[1] = 0.75 - b * b;
    w[2] = 0.5 * c * c;
  }
  template <class T>
  static void gradients(const T& t, T (&dw)[nodes]) {
    dw[0] = t - 1.5;
    dw[1] = 2 - 2 * t;
    dw[2] = t - 0.5;
  }
};

/// D = h^2 / 3.
struct CubicKernel {
  static constexpr int nodes = 4;
  static constexpr int reach = 3;
  static constexpr Real inverse_inertia = 3;
  static constexpr Real offset = 1;
  static constexpr bool has_odd_tails = true;
  static int base(Real x) { return floor_to_int(x) - 1; }
  /// t in [1, 2].
  template <class T>
  static void weights(const T& t, T (&w)[nodes]) {
    const T f = t - 1, g = 1 - f;
    w[0] = g * g * g / 6;
    w[1] = Real(2) / 3 + f * f * (0.5 * f - 1);
    w[2] = Real(2) / 3 + g * g * (0.5 * g - 1);
    w[3] = f * f * f / 6;
  }
  template <class T>
  static void gradients(const T& t, T (&dw)[nodes]) {
    const T f = t - 1, g = 1 - f;
    dw[0] = -0.5 * g * g;
    dw[1] = f * (1.5 * f - 2);
    dw[2] = g * (2 - 1.5 * g);
    dw[3] = 0.5 * f * f;
  }
};

}  // namespace weft
