#pragma once
// Snow: fixed corotated elasticity that hardens as it is packed, and breaks beyond critical stretches.

#include "weft/materials/fixed_corotated.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

/// det of the plastic deformation [1]: below one where snow was packed, above where it was torn.
struct PlasticVolume : Field<Real> {
  static constexpr Label label{"plastic_volume", "1", Keep::state};
};

/// Fixed corotated with both Lame parameters times exp(xi (1 - J_P)); the elastic stretches stay within
/// [1 - theta_c, 1 + theta_s]. [Stomakhin 2013; docs/theory/laws.md, 5.5]
struct Snow : Inviscid, KeepsLeftStretch {
  static constexpr std::string_view name = "snow";
  static constexpr bool yields = true;
  static constexpr bool flow_changes_stress = true;
  template <class T>
  struct MemoryOf {
    T plastic_volume = T(1);  ///< J_P
  };
  template <class T>
  using RememberedOf = MemoryFields<Remember<PlasticVolume, &MemoryOf<T>::plastic_volume>>;
  using Memory = MemoryOf<Real>;
  using Remembered = RememberedOf<Real>;

  struct Constants {
    Lame lame;                         ///< Of fresh snow.
    Real least_stretch, most_stretch;  ///< Elastic stretches lie between.
    Real hardening;                    ///< xi [1].
    /// critical_compression theta_c in (0, 1) and critical_stretch theta_s > 0 [1].
    static Constants from(Lame lame, Real critical_compression, Real critical_stretch, Real hardening) {
      return {lame, 1 - critical_compression, 1 + critical_stretch, hardening};
    }
  };

  /// What hardening multiplies the elastic law by. The exponent is held within [-3, 3], a factor of 20 either way.
  template <class T>
  static T hardened(const Constants& k, const MemoryOf<T>& q) {
    using std::exp, std::max, std::min;
    return exp(min(max(T(k.hardening * (1 - q.plastic_volume)), T(-3)), T(3)));
  }

  template <class T>
  static T energy(const Constants& k, const MemoryOf<Plain<T>>& q, const Matrix3<T>& F) {
    return T(hardened(k, q)) * FixedCorotated::energy({k.lame}, {}, F);
  }
  template <class T>
  static T energy(const Constants& k, const MemoryOf<T>& q, const Symmetric3<T>& V) {
    return hardened(k, q) * FixedCorotated::energy({k.lame}, {}, V);
  }
  template <class T>
  static Matrix3<T> stress(const Constants& k, const Memory& q, const Matrix3<T>& F) {
    return T(hardened(k, q)) * FixedCorotated::stress({k.lame}, {}, F);
  }
  template <class T>
  static Matrix3<T> kirchhoff(const Constants& k, const MemoryOf<Plain<T>>& q, const Matrix3<T>& F) {
    return T(hardened(k, q)) * FixedCorotated::kirchhoff({k.lame}, {}, F);
  }
  template <class T>
  static Matrix3<T> kirchhoff(const Constants& k, const MemoryOf<T>& q, const Symmetric3<T>& V) {
    return hardened(k, q) * FixedCorotated::kirchhoff({k.lame}, {}, V);
  }
  static auto stress_differential(const Constants& k, const Memory& q, const Mat3& F) {
    return [factor = hardened(k, q), fresh = FixedCorotated::stress_differential({k.lame}, {}, F)](
               const Mat3& dF) -> Mat3 { return factor * fresh(dF); };
  }
  static auto projected_differential(const Constants& k, const Memory& q, const Mat3& F) {
    return [factor = hardened(k, q), fresh = FixedCorotated::projected_differential({k.lame}, {}, F)](
               const Mat3& dF) -> Mat3 { return factor * fresh(dF); };
  }
  template <class T>
  static T stiffness(const Constants& k, const MemoryOf<Plain<T>>& q, const Matrix3<T>& F) {
    return hardened(k, q) * FixedCorotated::stiffness({k.lame}, {}, F);
  }
  template <class T>
  static T stiffness(const Constants& k, const MemoryOf<T>& q, const Symmetric3<T>& V) {
    return hardened(k, q) * FixedCorotated::stiffness({k.lame}, {}, V);
  }

  template <class T>
  static T volume_ratio(const MemoryOf<T>& q, const Symmetric3<T>& V) {
    return q.plastic_volume * V.determinant();
  }

  /// Clamps the stretches; what they lose goes to J_P, which is held within a millionth and a million.
  template <class T>
  static Settled<Symmetric3<T>, MemoryOf<T>> settle(const Constants& k, const MemoryOf<T>& q, const Matrix3<T>& F,
                                                    Real) {
    const Stretches<T> at = stretches(F);
    const Vector3<T> h = clamped(k, at.s);
    return {symmetric_from(at.Q, h), memory_after(q, at.s, h)};
  }
  template <class T>
  static Returned<MemoryOf<Plain<T>>, T> return_map(const Constants& k, const MemoryOf<Plain<T>>& q,
                                                    const Matrix3<T>& F, Real) {
    const Stretches<T> at = stretches(F);
    const Vector3<T> h = clamped(k, at.s);
    const auto within = h[0] == at.s[0] && h[1] == at.s[1] && h[2] == at.s[2];
    Matrix3<T> flowed = symmetric_from(at.Q, Vector3<T>(h.cwiseQuotient(at.s))) * F;
    if (any(!at.moderate)) flowed = select(at.moderate, flowed, isotropic(polar_svd(F), h));
    return {select(within, F, flowed), memory_after(q, at.s, h)};
  }
  static auto return_differential(const Constants& k, const Memory&, const Mat3& F, Real) {
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
    return isotropic_differential(svd, d);
  }

  /// J_P - 1 [1]: negative where packed, positive where torn.
  static Real plastic_measure(const Constants&, const Memory& q) { return q.plastic_volume - 1; }

 private:
  /// F = V R with V = Q diag(s) Q^T.
  template <class T>
  struct Stretches {
    Matrix3<T> Q;
    Vector3<T> s;
    decltype(T() < T()) moderate;
  };
  /// By F F^T = Q diag(s^2) Q^T, which knows s to round-off (s1/s3)^2; by singular values where that is not moderate.
  template <class T>
  static Stretches<T> stretches(const Matrix3<T>& F) {
    using std::max, std::min;
    const PrincipalAxes<T> axes = principal_axes(left_square(F));
    const T largest = max(max(axes.values[0], axes.values[1]), axes.values[2]);
    const T smallest = min(min(axes.values[0], axes.values[1]), axes.values[2]);
    const auto moderate = determinant(F) > 0 && smallest > 0.01 * largest;
    Stretches<T> at{axes.Q, axes.values.unaryExpr([](const T& square) { return fast_sqrt(square); }), moderate};
    if (any(!moderate)) {
      const Svd<T> svd = polar_svd(F);
      at.Q = select(moderate, at.Q, svd.U);
      at.s = select(moderate, at.s, svd.s);
    }
    return at;
  }

  template <class T>
  static MemoryOf<Plain<T>> memory_after(const MemoryOf<Plain<T>>& q, const Vector3<T>& s, const Vector3<T>& h) {
    using std::max, std::min;
    using Number = Plain<T>;
    const Number flowed = value_of(T(s[0] * s[1] * s[2])) / value_of(T(h[0] * h[1] * h[2]));
    return {min(max(Number(q.plastic_volume * flowed), Number(1e-6)), Number(1e6))};
  }

  template <class T>
  static T clamped(const Constants& k, const T& s) {
    return select(s < k.least_stretch, T(k.least_stretch), select(s > k.most_stretch, T(k.most_stretch), s));
  }
  template <class T>
  static Vector3<T> clamped(const Constants& k, const Vector3<T>& s) {
    return {clamped(k, s[0]), clamped(k, s[1]), clamped(k, s[2])};
  }
};

}  // namespace weft
