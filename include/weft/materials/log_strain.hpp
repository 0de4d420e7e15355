#pragma once
// The log strain of a principal stretch, continued smoothly to crushed and inverted stretches.

#include "weft/base/types.hpp"
#include "weft/math/scalar.hpp"

#include <cmath>
#include <utility>

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
inline Real log_strain_curvature(Real s) {
  return s >= least_stretch ? -1 / (s * s) : -1 / (least_stretch * least_stretch);
}

/// (e(a) - e(b)) / (a - b) without cancellation; de/ds where a = b.
inline Real log_strain_secant(Real a, Real b) {
  if (a == b) return log_strain_slope(a);
  if (a > b) std::swap(a, b);
  if (a >= least_stretch) return std::log1p((b - a) / a) / (b - a);
  if (b <= least_stretch) return log_strain_slope(0.5 * (a + b));  // exact for a quadratic
  return (std::log1p((b - least_stretch) / least_stretch) +
          log_strain_slope(0.5 * (a + least_stretch)) * (least_stretch - a)) /
         (b - a);
}

/// (de/ds(a) - de/ds(b)) / (a - b) without cancellation.
inline Real log_strain_slope_secant(Real a, Real b) {
  if (a > b) std::swap(a, b);
  constexpr Real least = least_stretch;
  if (a >= least) return -1 / (a * b);
  if (b <= least) return -1 / (least * least);
  return -((b - least) / (b * least) + (least - a) / (least * least)) / (b - a);
}

}  // namespace weft
