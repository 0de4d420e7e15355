#pragma once
// The two constants of isotropic elasticity.

#include "weft/base/types.hpp"

namespace weft {

/// Lame parameters [Pa].
struct Lame {
  Real mu, lambda;
  /// Bulk modulus [Pa].
  Real bulk() const { return lambda + mu * 2 / 3; }
};

/// From Young's modulus [Pa] > 0 and Poisson's ratio in (-1, 1/2).
inline Lame lame_from(Real youngs_modulus, Real poisson_ratio) {
  return {youngs_modulus / (2 * (1 + poisson_ratio)),
          youngs_modulus * poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio))};
}

/// For a thin sheet, whose faces are free of stress: lambda = E nu / (1 - nu^2), Poisson's ratio in (-1, 1).
inline Lame plane_stress_lame_from(Real youngs_modulus, Real poisson_ratio) {
  return {youngs_modulus / (2 * (1 + poisson_ratio)),
          youngs_modulus * poisson_ratio / (1 - poisson_ratio * poisson_ratio)};
}

}  // namespace weft
