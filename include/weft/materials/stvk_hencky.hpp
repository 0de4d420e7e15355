#pragma once
// Saint Venant-Kirchhoff elasticity in Hencky (logarithmic) strain: stiff solids, and the elastic part of sand and
// metal.

#include "weft/materials/isotropic.hpp"
#include "weft/materials/lame.hpp"
#include "weft/materials/law.hpp"
#include "weft/materials/log_strain.hpp"
#include "weft/math/svd.hpp"
#include "weft/math/symmetric.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

template <class T>
Vector3<T> log_strains(const Vector3<T>& s) {
  return {log_strain(s[0]), log_strain(s[1]), log_strain(s[2])};
}

/// ln V = ln(F F^T) / 2 of the left stretch V, for moderate stretches of F that is not inverted; elsewhere singular
/// values serve.
template <class T>
NearlyAlways<T> moderate_log_strain(const Matrix3<T>& F) {
  const NearlyAlways<T> log_b = log_near_identity(left_square(F));
  return {T(0.5) * log_b.value, log_b.valid && determinant(F) > 0};
}

/// psi = mu sum e_i^2 + lambda/2 (sum e_i)^2, e_i = log_strain(s_i); tau = 2 mu e_i + lambda sum e_j.
/// [docs/theory/laws.md, 5.3] For laws whose constants hold `Lame lame`. Softens beyond stretches of about e.
struct HenckyElastic : Inviscid {
  template <class Constants, class Memory, class T>
  static T energy(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const NearlyAlways<T> e = moderate_log_strain(F);
    T sum = e.value.trace(), square = e.value.squared_norm();
    if (any(!e.valid)) {
      const Vector3<T> far_e = log_strains(polar_svd(F).s);
      sum = select(e.valid, sum, T(far_e.sum()));
      square = select(e.valid, square, T(far_e.squaredNorm()));
    }
    return energy(k.lame, sum, square);
  }
  template <class Constants, class Memory, class T>
  static T energy(const Constants& k, const Memory&, const Symmetric3<T>& log_strain) {
    return energy(k.lame, log_strain.trace(), log_strain.squared_norm());
  }

  template <class Constants, class Memory, class T>
  static Matrix3<T> stress(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const Svd<T> svd = polar_svd(F);
    return isotropic(svd, gradient(k.lame, svd.s));
  }

  template <class Constants, class Memory, class T>
  static Matrix3<T> kirchhoff(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const NearlyAlways<T> e = moderate_log_strain(F);
    Symmetric3<T> tau = kirchhoff(k.lame, e.value);
    if (any(!e.valid)) {
      const Svd<T> svd = polar_svd(F);
      tau = select(e.valid, tau, symmetric_from(svd.U, Vector3<T>(gradient(k.lame, svd.s).cwiseProduct(svd.s))));
    }
    return tau.full();
  }
  template <class Constants, class Memory, class T>
  static Matrix3<T> kirchhoff(const Constants& k, const Memory&, const Symmetric3<T>& log_strain) {
    return kirchhoff(k.lame, log_strain).full();
  }

  template <class Constants, class Memory, class T>
  static auto stress_differential(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const Svd<T> svd = polar_svd(F);
    return isotropic_differential(svd, derivative(k.lame, svd.s));
  }

  template <class Constants, class Memory, class T>
  static auto projected_differential(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const Svd<T> svd = polar_svd(F);
    return isotropic_differential(svd, positive_part(derivative(k.lame, svd.s)));
  }

  /// lambda + 2 mu (1 + e_max - e_min) + 2 (-tau_min)_+ + max |tau_i| [Pa], with bounds of e instead of its
  /// eigenvalues. With rho_ij = (s_j^2 tau_i - s_i^2 tau_j) / (s_i^2 - s_j^2) the acoustic tensor gives, for unit x and
  /// n,
  ///   x.A(n)x = lambda (x.n)^2 + 2 mu sum x_i^2 n_i^2 + sum_{i<j} rho_ij (x_i n_j + x_j n_i)^2 + sum tau_j n_j^2 (1 -
  ///   2 x_j^2)
  /// and rho_ij = mu y coth y - (tau_i + tau_j)/2 at y = e_i - e_j, where y coth y <= 1 + |y|.
  template <class Constants, class Memory, class T>
  static T stiffness(const Constants& k, const Memory&, const Matrix3<T>& F) {
    using std::log, std::max;
    const Bounds<T> b = squared_stretch_bounds(F);
    const T least(least_log_strain - 1.5);  // log_strain(0)
    const T sum = max(T(log(max(determinant(F), T(1e-6)))), T(3 * least));
    const T upper = max(T(0.5 * log(max(b.upper, T(1e-6)))), least);
    const T lower = max(max(T(0.5 * log(max(b.lower, T(1e-12)))), T(sum - 2 * upper)), least);
    return stiffness(k.lame, lower, upper, sum);
  }
  template <class Constants, class Memory, class T>
  static T stiffness(const Constants& k, const Memory&, const Symmetric3<T>& log_strain) {
    const Bounds<T> e = bounds(log_strain);
    return stiffness(k.lame, e.lower, e.upper, log_strain.trace());
  }
  /// The bound in the current configuration over the least squared stretch: N = F^T n of a unit N has |n| <= 1 / s_min.
  /// Below a stretch of 0.1 the law softens.
  template <class Constants, class Memory, class T>
  static T stiffness_at_rest(const Constants& k, const Memory& q, const Matrix3<T>& F) {
    using std::max;
    return stiffness(k, q, F) / max(squared_stretch_bounds(F).lower, T(0.01));
  }

 private:
  template <class T>
  static T energy(const Lame& lame, const T& sum, const T& square) {
    return lame.mu * square + 0.5 * lame.lambda * sum * sum;
  }
  template <class T>
  static Symmetric3<T> kirchhoff(const Lame& lame, const Symmetric3<T>& e) {
    return T(2 * lame.mu) * e + T(lame.lambda * e.trace());
  }
  /// With bounds of the principal e, and their sum.
  template <class T>
  static T stiffness(const Lame& lame, const T& lower, const T& upper, const T& sum) {
    using std::abs, std::max;
    const auto [mu, lambda] = lame;
    const T tau_min = 2 * mu * lower + lambda * sum, tau_max = 2 * mu * upper + lambda * sum;
    return lambda + 2 * mu * (1 + upper - lower) + 2 * max(T(0), T(-tau_min)) + max(T(abs(tau_min)), T(abs(tau_max)));
  }

  /// g_i = (2 mu e_i + lambda sum e) de_i/ds_i.
  template <class T>
  static Vector3<T> gradient(const Lame& lame, const Vector3<T>& s) {
    const Vector3<T> e = log_strains(s);
    const T pressure = lame.lambda * e.sum();
    Vector3<T> g;
    for (int i = 0; i < 3; ++i) g[i] = (2 * lame.mu * e[i] + pressure) * log_strain_slope(s[i]);
    return g;
  }

  template <class T>
  static PrincipalDerivativeOf<T> derivative(const Lame& lame, const Vector3<T>& s) {
    const auto [mu, lambda] = lame;
    const Vector3<T> e = log_strains(s);
    const Vector3<T> tau = T(2 * mu) * e + Vector3<T>::Constant(T(lambda * e.sum()));
    const Vector3<T> slope(log_strain_slope(s[0]), log_strain_slope(s[1]), log_strain_slope(s[2]));
    PrincipalDerivativeOf<T> d;
    d.stretch = T(lambda) * slope * slope.transpose();
    for (int i = 0; i < 3; ++i) d.stretch(i, i) += 2 * mu * slope[i] * slope[i] + tau[i] * log_strain_curvature(s[i]);
    for (int pair = 0; pair < 3; ++pair) {
      const auto [i, j] = others(pair);
      // g_i - g_j = (tau_i - tau_j) slope_i + tau_j (slope_i - slope_j), each difference without cancellation.
      d.shear[pair] = 2 * mu * log_strain_secant(s[i], s[j]) * slope[i] + tau[j] * log_strain_slope_secant(s[i], s[j]);
      d.spin[pair] = (tau[i] * slope[i] + tau[j] * slope[j]) / pair_sum(s, pair);
    }
    return d;
  }
};

struct StvkHencky : HenckyElastic, NeverYields, KeepsDeformation<StvkHencky> {
  static constexpr std::string_view name = "stvk_hencky";
  struct Constants {
    Lame lame;
    static Constants from(Lame lame) { return {lame}; }
  };
};

}  // namespace weft
