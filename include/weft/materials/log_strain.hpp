#pragma once
// The log strain of a principal stretch, continued smoothly to crushed and inverted stretches.

#include "weft/base/types.hpp"
#include "weft/math/scalar.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

/// Beneath this stretch the logarithm is continued by its quadratic Taylor polynomial, which still rises: crushed and
/// inverted material keeps a finite stress that opens it again.
inline constexpr Real least_stretch = 0.05;
inline const Real least_log_strain = std::log(least_stretch);

/// e(s) = ln s for s >= least_stretch, continued twice continuously differentiable and increasing below.
template <class T>
T log_strain(const T& s) {
  using std::log;
  const T x = (s - least_stretch) / least_stretch;
  return select(s >= least_stretch, T(log(s)), T(least_log_strain + x - 0.5 * x * x));
}
/// de/ds > 0.
template <class T>
T log_strain_slope(const T& s) {
  return select(s >= least_stretch, T(1 / s), T((2 * least_stretch - s) / (least_stretch * least_stretch)));
}
/// d^2e/ds^2.
template <class T>
T log_strain_curvature(const T& s) {
  return select(s >= least_stretch, T(-1 / (s * s)), T(-1 / (least_stretch * least_stretch)));
}

/// (ln a - ln b) / (a - b) of positive numbers without cancellation, to 20 units of round-off; 1/a where a = b.
template <class T>
T log_secant(const T& a, const T& b) {
  using std::log;
  const T sum = a + b, apart = a - b, z = apart / sum, square = z * z;
  // ln(a/b) = 2 artanh z; the series is cut at z^12 / 13.
  const auto near = square < 0.05 * 0.05;
  const T series = 1 + square * (1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square * (1.0 / 9 + square / 11))));
  return select(near, T(2 * series / sum), T(log(a / b) / select(near, T(1), apart)));
}

/// (e(a) - e(b)) / (a - b) without cancellation; de/ds where a = b.
template <class T>
T log_strain_secant(const T& a, const T& b) {
  using std::max, std::min;
  const T low = min(a, b), high = max(a, b), least = T(least_stretch), log_low = max(low, least),
          log_high = max(high, least);
  const T of_log = log_secant(log_high, log_low);
  // The slope of a quadratic polynomial half way is its secant.
  const T of_both = of_log * (log_high - log_low) + log_strain_slope(T(0.5 * (low + least))) * (least - low);
  const T mixed = of_both / select(low < high, T(high - low), T(1));
  return select(low >= least, of_log, select(high <= least, log_strain_slope(T(0.5 * (low + high))), mixed));
}

/// (de/ds(a) - de/ds(b)) / (a - b) without cancellation.
template <class T>
T log_strain_slope_secant(const T& a, const T& b) {
  using std::max, std::min;
  constexpr Real least = least_stretch;
  const T low = min(a, b), high = max(a, b);
  const T mixed =
      -((high - least) / (high * least) + (least - low) / (least * least)) / select(low < high, T(high - low), T(1));
  return select(low >= least, T(-1 / (low * high)), select(high <= least, T(-1 / (least * least)), mixed));
}

}  // namespace weft
