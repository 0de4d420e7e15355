#pragma once
// Goo, foam, dough: rubber that flows above a yield stress at a rate that is a power of the excess (Herschel-Bulkley).

#include "weft/materials/law.hpp"
#include "weft/materials/volume_family.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

/// The x in [0, 1] with x + A x^n = 1, given ln A (which may be infinite) and n > 0. Newton's iteration on the form
/// that is convex (in x or in x^n), started right of the root, descends to it without overshooting.
template <class T>
T flow_fraction(const T& ln_A, Real n) {
  using std::exp, std::log, std::min, std::pow;
  // c y + exp(ln_B) y^p = 1 with p >= 1: y = x if n >= 1, else y = x^n.
  const bool in_x = n >= 1;
  const Real p = in_x ? n : 1 / n;
  const T c = in_x ? T(1) : T(exp(ln_A)), ln_B = in_x ? ln_A : T(0);
  T y = min(T(1 / c), T(exp(-ln_B / p)));  // either term alone stays below one
  auto descends = y > 0;
  for (int i = 0; i < 100 && any(descends); ++i) {
    const T power = exp(T(ln_B + p * log(y)));
    const T next = y - (c * y + power - 1) / (c + p * power / y);
    descends = descends && next < y;
    y = select(descends, next, y);
  }
  return in_x ? y : select(y > 0, T(pow(y, p)), T(0));
}

/// psi = kappa/2 ((J^2 - 1)/2 - ln J) + mu/2 (tr bbar - 3), bbar = J^{-2/3} F F^T; tau = kappa/2 (J^2 - 1) I + mu dev
/// bbar. With s = |mu dev bbar| and y = sqrt(2/3) yield_stress, flow during dt relaxes the trial s_tr > y to the root
/// of
///   s - s_tr + 2 mu (tr bbar / 3) dt ((s - y) / consistency)^{1/flow_index} = 0;
/// volume is kept. [Yue 2015; docs/theory/laws.md, 5.8] Being isotropic, goo needs of F only F F^T: what flowed comes
/// back as the lower Cholesky factor of it. Material crushed beneath least_volume does not flow.
struct HerschelBulkley : VolumeFamily<HerschelBulkley>, Inviscid, KeepsDeformation<HerschelBulkley> {
  static constexpr std::string_view name = "herschel_bulkley";
  static constexpr bool yields = true;
  static constexpr bool flow_changes_stress = true;
  template <class T>
  struct MemoryOf {
    T plastic_strain = T(0);  ///< Equivalent uniaxial: integral of sqrt(2/3) of the norm of the flow rate [1].
  };
  template <class T>
  using RememberedOf = MemoryFields<Remember<PlasticStrain, &MemoryOf<T>::plastic_strain>>;
  using Memory = MemoryOf<Real>;
  using Remembered = RememberedOf<Real>;

  struct Constants {
    Real shear_modulus, bulk_modulus;  ///< [Pa]
    Real radius;                       ///< y: sqrt(2/3) of the uniaxial yield stress [Pa].
    Real consistency;                  ///< eta [Pa s^h]; 0: perfectly plastic.
    Real flow_index;                   ///< h [1]; 1: Bingham, below: thins with rate.
    Real ln_consistency;               ///< -infinity: perfectly plastic.
    /// shear_modulus, bulk_modulus, flow_index > 0; yield_stress (uniaxial) and consistency >= 0.
    static Constants from(Real shear_modulus, Real bulk_modulus, Real yield_stress, Real consistency, Real flow_index) {
      return {shear_modulus, bulk_modulus, std::sqrt(2.0 / 3) * yield_stress,
              consistency,   flow_index,   std::log(consistency)};
    }
  };

  static constexpr Real least_volume = 0.05;
  template <class T>
  static VolumeFunctions<T> volume_functions(const Constants& k, const T& J) {
    using std::cbrt, std::log;
    const T root = cbrt(J), m = k.shear_modulus / (root * root), inverse = 1 / J;
    const Real kappa = k.bulk_modulus;
    return {m,
            -2.0 / 3 * m * inverse,
            10.0 / 9 * m * inverse * inverse,
            0.5 * kappa * (0.5 * (J * J - 1) - log(J)) - 1.5 * k.shear_modulus,
            0.5 * kappa * (J - inverse),
            0.5 * kappa * (1 + inverse * inverse)};
  }

  template <class T>
  static Returned<MemoryOf<Plain<T>>, T> return_map(const Constants& k, const MemoryOf<Plain<T>>& q,
                                                    const Matrix3<T>& F, Real dt) {
    const Flow<T> flow = flow_of(k, F, dt);
    if (!any(flow.flows)) return {F, q};
    const Plain<T> amount =
        value_of(flow.excess) * (1 - value_of(flow.fraction)) / (2 * k.shear_modulus * value_of(flow.mean));
    const Plain<T> strain = q.plastic_strain + std::sqrt(2.0 / 3) * amount;
    return {select(flow.flows, Matrix3<T>(flow.scale * flow.factor), F),
            {select(flow.flows, strain, q.plastic_strain)}};
  }

  static auto return_differential(const Constants& k, const Memory&, const Mat3& F, Real dt) {
    return [k, F, flow = flow_of(k, F, dt)](const Mat3& dF) -> Mat3 {
      if (!flow.flows) return dF;
      // By logarithmic derivatives, from the trial bbar to its relaxed X = ratio dev bbar + mean I.
      const Real d_ln_J = cofactor(F).cwiseProduct(dF).sum() / F.determinant();
      const Mat3 half = dF * F.transpose() / flow.two_thirds_power;
      const Mat3 db = half + half.transpose() - 2.0 / 3 * d_ln_J * flow.b.full();
      const Real d_mean = db.trace() / 3;
      const Mat3 deviator = (flow.b - flow.mean).full(), d_deviator = db - d_mean * Mat3::Identity();
      const Real d_stress = k.shear_modulus * k.shear_modulus * deviator.cwiseProduct(db).sum() / flow.stress;
      const Real d_fraction =
          -flow.sensitivity * (d_mean / flow.mean + (1 / k.flow_index - 1) * d_stress / flow.excess);
      const Real d_ratio = (flow.fraction * d_stress + d_fraction * flow.excess - flow.ratio * d_stress) / flow.stress;
      const Mat3 dX = d_ratio * deviator + flow.ratio * d_deviator + d_mean * Mat3::Identity();
      // Cholesky: X = L L^T gives dL = L low(L^{-1} dX L^{-T}), the diagonal of low halved.
      const Mat3 inverse = flow.factor.inverse(), M = inverse * dX * inverse.transpose();
      Mat3 low = M.triangularView<Eigen::StrictlyLower>();
      low.diagonal() = 0.5 * M.diagonal();
      return flow.scale * flow.factor * (low + (d_ln_J / 3 - M.trace() / 6) * Mat3::Identity());
    };
  }

  /// |mu dev bbar| above the yield stress [Pa].
  static Real yield_excess(const Constants& k, const Memory&, const Mat3& F) {
    const Real J = F.determinant();
    return k.shear_modulus * squared_stretch_bounds(F).deviator / std::cbrt(J * J) - k.radius;
  }

  /// Equivalent plastic strain [1].
  static Real plastic_measure(const Constants&, const Memory& q) { return q.plastic_strain; }

 private:
  template <class T>
  struct Flow {
    decltype(T() < T()) flows;
    Symmetric3<T> b;       ///< trial bbar
    T two_thirds_power;    ///< J^{2/3}
    T mean;                ///< tr bbar / 3
    T stress;              ///< s_tr
    T excess;              ///< s_tr - y
    T fraction;            ///< (s - y) / (s_tr - y)
    T ratio;               ///< s / s_tr
    Plain<T> sensitivity;  ///< -d fraction / d ln A
    Matrix3<T> factor;     ///< Cholesky factor of the relaxed bbar
    T scale;               ///< brings its determinant to J
  };

  template <class T>
  static Flow<T> flow_of(const Constants& k, const Matrix3<T>& F, Real dt) {
    using std::cbrt, std::log, std::sqrt;
    Flow<T> flow;
    const T J = determinant(F), root = cbrt(J);
    flow.two_thirds_power = root * root;
    flow.b = T(1 / flow.two_thirds_power) * left_square(F);
    flow.mean = flow.b.trace() / 3;
    const Symmetric3<T> deviator = flow.b - flow.mean;
    // Never zero, since without yield stress there is flow at rest too.
    flow.stress = k.shear_modulus * sqrt(deviator.squared_norm()) + 1e-300;
    flow.excess = flow.stress - k.radius;
    // What is not a number counts as flowing, which keeps it one.
    flow.flows = !(J <= least_volume || flow.excess <= 0) && T(dt) > 0;
    if (!any(flow.flows)) return flow;
    // s = y + fraction * excess turns the flow rule into fraction + A fraction^n = 1, n = 1/h.
    const Real n = 1 / k.flow_index;
    const T ln_A = log(T(2 * k.shear_modulus * dt * flow.mean)) + (n - 1) * log(flow.excess) - n * k.ln_consistency;
    const Plain<T> x = flow_fraction(value_of(ln_A), n);
    const auto slows = x > 0;
    const Plain<T> none(0);
    flow.sensitivity = select(slows, Plain<T>(x * (1 - x) / (x + n * (1 - x))), none);
    // The value x, with its derivative.
    flow.fraction = select(slows, T(x - flow.sensitivity * (ln_A - value_of(ln_A))), T(0));
    flow.ratio = (k.radius + flow.fraction * flow.excess) / flow.stress;
    const Symmetric3<T> X = flow.ratio * deviator + flow.mean;
    flow.factor.setZero();
    auto& L = flow.factor;
    L(0, 0) = sqrt(X.xx);
    L(1, 0) = X.xy / L(0, 0);
    L(2, 0) = X.xz / L(0, 0);
    L(1, 1) = sqrt(T(X.yy - L(1, 0) * L(1, 0)));
    L(2, 1) = (X.yz - L(2, 0) * L(1, 0)) / L(1, 1);
    L(2, 2) = sqrt(T(X.zz - L(2, 0) * L(2, 0) - L(2, 1) * L(2, 1)));
    flow.scale = root / cbrt(T(L(0, 0) * L(1, 1) * L(2, 2)));
    return flow;
  }
};

}  // namespace weft
