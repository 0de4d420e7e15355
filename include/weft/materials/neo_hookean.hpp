#pragma once
// Compressible neo-Hookean rubber.

#include "weft/materials/lame.hpp"
#include "weft/materials/law.hpp"
#include "weft/materials/volume_family.hpp"

#include <cmath>

namespace weft {

/// psi = mu/2 (tr(F^T F) - 3) - mu ln J + lambda/2 (ln J)^2, tau = mu (b - I) + lambda ln J I.
struct NeoHookean : VolumeFamily<NeoHookean>, NeverYields, Inviscid, KeepsDeformation<NeoHookean> {
  static constexpr std::string_view name = "neo_hookean";
  struct Constants {
    Lame lame;
    static Constants from(Lame lame) { return {lame}; }
  };

  static constexpr Real least_volume = 0.05;
  template <class T>
  static VolumeFunctions<T> volume_functions(const Constants& k, const T& J) {
    using std::log;
    const auto [mu, lambda] = k.lame;
    const T L = log(J), inverse = 1 / J;
    return {T(mu),
            T(0),
            T(0),
            0.5 * lambda * L * L - mu * L - 1.5 * mu,
            (lambda * L - mu) * inverse,
            (lambda * (1 - L) + mu) * inverse * inverse};
  }
};

}  // namespace weft
