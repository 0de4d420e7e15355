#pragma once
// Goo, foam, dough: rubber that flows above a yield stress at a rate that is a power of the excess (Herschel-Bulkley).

#include "weft/materials/law.hpp"
#include "weft/materials/volume_family.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

/// The x in [0, 1] with x + A x^n = 1, given ln A (which may be infinite) and n > 0. Newton's iteration on the form
/// that is convex (in x or in x^n), started right of the root, descends to it without overshooting.
Real flow_fraction(Real ln_A, Real n);

/// psi = kappa/2 ((J^2 - 1)/2 - ln J) + mu/2 (tr bbar - 3), bbar = J^{-2/3} F F^T; tau = kappa/2 (J^2 - 1) I + mu dev
/// bbar. With s = |mu dev bbar| and y = sqrt(2/3) yield_stress, flow during dt relaxes the trial s_tr > y to the root
/// of
///   s - s_tr + 2 mu (tr bbar / 3) dt ((s - y) / consistency)^{1/flow_index} = 0;
/// volume is kept. [Yue 2015; METHODS E.7] Material crushed beneath least_volume does not flow.
struct HerschelBulkley : VolumeFamily<HerschelBulkley>, Inviscid {
  static constexpr std::string_view name = "herschel_bulkley";
  static constexpr bool yields = true;
  struct Memory {
    Real plastic_strain = 0;  ///< Equivalent uniaxial [1].
  };
  using Remembered = MemoryFields<Remember<PlasticStrain, &Memory::plastic_strain>>;

  struct Constants {
    Real shear_modulus, bulk_modulus;  ///< [Pa]
    Real radius;                       ///< y: sqrt(2/3) of the uniaxial yield stress [Pa].
    Real consistency;                  ///< eta [Pa s^h]; 0: perfectly plastic.
    Real flow_index;                   ///< h [1]; 1: Bingham, below: thins with rate.
    /// shear_modulus, bulk_modulus, flow_index > 0; yield_stress (uniaxial) and consistency >= 0.
    static Constants from(Real shear_modulus, Real bulk_modulus, Real yield_stress, Real consistency, Real flow_index) {
      return {shear_modulus, bulk_modulus, std::sqrt(2.0 / 3) * yield_stress, consistency, flow_index};
    }
  };

  static constexpr Real least_volume = 0.05;
  template <class T>
  static VolumeFunctions<T> volume_functions(const Constants& k, const T& J) {
    using std::cbrt, std::log;
    const T m = k.shear_modulus / (cbrt(J) * cbrt(J));
    const Real kappa = k.bulk_modulus;
    return {m,
            -2.0 / 3 * m / J,
            10.0 / 9 * m / (J * J),
            0.5 * kappa * (0.5 * (J * J - 1) - log(J)) - 1.5 * k.shear_modulus,
            0.5 * kappa * (J - 1 / J),
            0.5 * kappa * (1 + 1 / (J * J))};
  }

  template <class T>
  static Returned<Memory, T> return_map(const Constants& k, const Memory& q, const Matrix3<T>& F, Real dt) {
    using std::sqrt;
    if (!may_flow(k, value_of(T(F.determinant())), dt)) return {F, q};
    const Svd<T> svd = polar_svd(F);
    const Flow<T> flow = flow_of(k, svd.s, dt);
    if (!flow.yields) return {F, q};
    Real plastic = 0;  // squared norm of the plastic log strain, which is a deviator
    for (int i = 0; i < 3; ++i) plastic += std::pow(std::log(value_of(flow.h[i]) / value_of(svd.s[i])), 2);
    return {isotropic(svd, flow.h), Memory{q.plastic_strain + std::sqrt(2.0 / 3 * plastic)}};
  }

  static Mat3 return_differential(const Constants& k, const Memory&, const Mat3& F, const Mat3& dF, Real dt) {
    if (!may_flow(k, F.determinant(), dt)) return dF;
    const Svd<Real> svd = polar_svd(F);
    const Vec3& s = svd.s;
    const Flow<Real> flow = flow_of(k, s, dt);
    if (!flow.yields) return dF;
    const Vec3 deviator = flow.b - Vec3::Constant(flow.mean);
    const Vec3 x = flow.ratio * deviator + Vec3::Constant(flow.mean);
    PrincipalDerivative d;
    for (int j = 0; j < 3; ++j) {
      Vec3 db = flow.b * (-2.0 / 3 / s[j]);
      db[j] += 2 * flow.b[j] / s[j];
      const Real d_mean = db.mean(), d_stress = k.shear_modulus * k.shear_modulus * deviator.dot(db) / flow.stress;
      const Real d_fraction =
          -flow.sensitivity * (d_mean / flow.mean + (1 / k.flow_index - 1) * d_stress / (flow.stress - k.radius));
      const Real d_relaxed = flow.fraction * d_stress + d_fraction * (flow.stress - k.radius);
      const Real d_ratio = (d_relaxed - flow.ratio * d_stress) / flow.stress;
      const Vec3 dx = d_ratio * deviator + flow.ratio * (db - Vec3::Constant(d_mean)) + Vec3::Constant(d_mean);
      const Vec3 relative = dx.cwiseQuotient(x);
      d.stretch.col(j) =
          flow.h.cwiseProduct(0.5 * (relative - Vec3::Constant(relative.mean())) + Vec3::Constant(1 / (3 * s[j])));
    }
    const Real rescaled = flow.ratio / std::cbrt(x.prod());  // h_i^2 - h_j^2 over s_i^2 - s_j^2
    for (int pair = 0; pair < 3; ++pair) {
      const auto [i, j] = others(pair);
      d.shear[pair] = rescaled * (s[i] + s[j]) / (flow.h[i] + flow.h[j]);
      d.spin[pair] = (flow.h[i] + flow.h[j]) / (s[i] + s[j]);
    }
    return isotropic_differential(svd, d, dF);
  }

  /// |mu dev bbar| above the yield stress [Pa].
  static Real yield_excess(const Constants& k, const Memory&, const Mat3& F) {
    const Real J = F.determinant();
    return k.shear_modulus * squared_stretch_bounds(F).deviator / std::cbrt(J * J) - k.radius;
  }

  /// Equivalent plastic strain [1].
  static Real plastic_measure(const Constants&, const Memory& q, const Mat3&) { return q.plastic_strain; }

 private:
  static bool may_flow(const Constants&, Real J, Real dt) { return J > least_volume && dt > 0; }

  template <class T>
  struct Flow {
    bool yields;
    Vector3<T> b;      ///< eigenvalues of the trial bbar
    T mean;            ///< tr bbar / 3
    T stress;          ///< s_tr
    T fraction;        ///< (s - y) / (s_tr - y)
    T ratio;           ///< s / s_tr
    Real sensitivity;  ///< -d fraction / d ln A
    Vector3<T> h;      ///< stretches after flow
  };

  template <class T>
  static Flow<T> flow_of(const Constants& k, const Vector3<T>& s, Real dt) {
    using std::cbrt, std::log, std::sqrt;
    const T root = cbrt(T(s.prod()));
    const Vector3<T> b = s.cwiseProduct(s) / (root * root);
    const T mean = b.sum() / 3;
    const Vector3<T> middle = Vector3<T>::Constant(mean), deviator = b - middle;
    // Not zero, so that goo without yield stress has a ratio at rest too.
    const T stress = k.shear_modulus * deviator.norm() + 1e-300, excess = stress - k.radius;
    if (!(value_of(excess) > 0)) return {false, b, mean, stress, T(1), T(1), 0, s};
    // s = y + fraction * excess turns the flow rule into fraction + A fraction^n = 1, n = 1/h.
    const Real n = 1 / k.flow_index;
    const T ln_A = log(2 * k.shear_modulus * dt * mean / excess) + n * log(excess / k.consistency);
    const Real x = flow_fraction(value_of(ln_A), n);
    const Real sensitivity = x > 0 ? x * (1 - x) / (x + n * (1 - x)) : 0;
    const T fraction = x > 0 ? x - sensitivity * (ln_A - value_of(ln_A)) : T(0);
    const T ratio = (k.radius + fraction * excess) / stress;
    const Vector3<T> relaxed = ratio * deviator + middle;
    const T scale = root / sqrt(cbrt(T(relaxed.prod())));  // keeps the volume
    Vector3<T> h;
    for (int i = 0; i < 3; ++i) h[i] = scale * sqrt(relaxed[i]);
    return {true, b, mean, stress, fraction, ratio, sensitivity, h};
  }
};

}  // namespace weft
