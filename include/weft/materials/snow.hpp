#pragma once
// Snow: fixed corotated elasticity that hardens as it is packed, and breaks beyond critical stretches.

#include "weft/materials/fixed_corotated.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace weft {

/// det of the plastic deformation [1]: below one where snow was packed, above where it was torn.
struct PlasticVolume : Field<Real> {
  static constexpr Label label{"plastic_volume", "1", Keep::state};
};

/// Fixed corotated with both Lame parameters times exp(xi (1 - J_P)); the elastic stretches stay within
/// [1 - theta_c, 1 + theta_s]. [Stomakhin 2013; docs/theory.md, 5.5]
struct Snow : Inviscid {
  static constexpr std::string_view name = "snow";
  static constexpr bool yields = true;
  struct Memory {
    Real plastic_volume = 1;  ///< J_P
  };
  using Remembered = MemoryFields<Remember<PlasticVolume, &Memory::plastic_volume>>;

  struct Constants {
    Lame lame;                         ///< Of fresh snow.
    Real least_stretch, most_stretch;  ///< Elastic stretches lie between.
    Real hardening;                    ///< xi [1].
    /// critical_compression theta_c in (0, 1) and critical_stretch theta_s > 0 [1].
    static Constants from(Lame lame, Real critical_compression, Real critical_stretch, Real hardening) {
      return {lame, 1 - critical_compression, 1 + critical_stretch, hardening};
    }
  };

  /// The hardened elastic law. The exponent is held within [-3, 3], a factor of 20 either way.
  static FixedCorotated::Constants elastic(const Constants& k, const Memory& q) {
    const Real factor = std::exp(std::clamp(k.hardening * (1 - q.plastic_volume), -3.0, 3.0));
    return {{factor * k.lame.mu, factor * k.lame.lambda}};
  }

  template <class T>
  static T energy(const Constants& k, const Memory& q, const Matrix3<T>& F) {
    return FixedCorotated::energy(elastic(k, q), {}, F);
  }
  template <class T>
  static Matrix3<T> stress(const Constants& k, const Memory& q, const Matrix3<T>& F) {
    return FixedCorotated::stress(elastic(k, q), {}, F);
  }
  static Mat3 kirchhoff(const Constants& k, const Memory& q, const Mat3& F) {
    return FixedCorotated::kirchhoff(elastic(k, q), {}, F);
  }
  static Mat3 stress_differential(const Constants& k, const Memory& q, const Mat3& F, const Mat3& dF) {
    return FixedCorotated::stress_differential(elastic(k, q), {}, F, dF);
  }
  static Mat3 projected_differential(const Constants& k, const Memory& q, const Mat3& F, const Mat3& dF) {
    return FixedCorotated::projected_differential(elastic(k, q), {}, F, dF);
  }
  static Real stiffness(const Constants& k, const Memory& q, const Mat3& F) {
    return FixedCorotated::stiffness(elastic(k, q), {}, F);
  }

  /// Clamps the stretches; what they lose goes to J_P, which is held within [1/20, 20].
  template <class T>
  static Returned<Memory, T> return_map(const Constants& k, const Memory& q, const Matrix3<T>& F, Real) {
    if constexpr (std::is_same_v<T, Real>) {
      if (is_within_limits(k, F)) return {F, q};
    }
    const Svd<T> svd = polar_svd(F);
    if (value_of(svd.s[0]) <= k.most_stretch && value_of(svd.s[2]) >= k.least_stretch) return {F, q};
    const Vector3<T> h = svd.s.unaryExpr([&k](const T& s) { return clamped(k, s); });
    const Real flowed = value_of(T(svd.s.prod())) / value_of(T(h.prod()));
    return {isotropic(svd, h), Memory{std::clamp(q.plastic_volume * flowed, 0.05, 20.0)}};
  }
  static Mat3 return_differential(const Constants& k, const Memory&, const Mat3& F, const Mat3& dF, Real) {
    const Svd<Real> svd = polar_svd(F);
    const Vec3& s = svd.s;
    const auto rate = [&k](Real x) { return x >= k.least_stretch && x <= k.most_stretch ? 1.0 : 0.0; };
    PrincipalDerivative d;
    d.stretch = s.unaryExpr(rate).asDiagonal();
    for (int pair = 0; pair < 3; ++pair) {
      const auto [i, j] = others(pair);
      const Real hi = clamped(k, s[i]), hj = clamped(k, s[j]);
      d.shear[pair] = s[i] == s[j] ? rate(s[i]) : (hi - hj) / (s[i] - s[j]);
      d.spin[pair] = (hi + hj) / pair_sum(s, pair);
    }
    return isotropic_differential(svd, d, dF);
  }

  /// J_P - 1 [1]: negative where packed, positive where torn.
  static Real plastic_measure(const Constants&, const Memory& q, const Mat3&) { return q.plastic_volume - 1; }

 private:
  /// True if all singular values lie within the limits, told without them: by the leading minors of F^T F - least^2 I
  /// and of most^2 I - F^T F.
  static bool is_within_limits(const Constants& k, const Mat3& F) {
    const Mat3 C = F.transpose() * F;
    const auto is_positive = [](const Mat3& A) {
      return A(0, 0) > 0 && A(0, 0) * A(1, 1) - A(1, 0) * A(1, 0) > 0 && A.determinant() > 0;
    };
    const Mat3 I = Mat3::Identity();
    return F.determinant() > 0 && is_positive(k.most_stretch * k.most_stretch * I - C) &&
           is_positive(C - k.least_stretch * k.least_stretch * I);
  }

  template <class T>
  static T clamped(const Constants& k, const T& s) {
    return value_of(s) < k.least_stretch ? T(k.least_stretch) : value_of(s) > k.most_stretch ? T(k.most_stretch) : s;
  }
};

}  // namespace weft
