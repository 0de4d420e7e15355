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
/// volume is kept. [Yue 2015; docs/theory.md, 5.8] Being isotropic, goo needs of F only F F^T: what flowed comes back
/// as the lower Cholesky factor of it. Material crushed beneath least_volume does not flow.
struct HerschelBulkley : VolumeFamily<HerschelBulkley>, Inviscid {
  static constexpr std::string_view name = "herschel_bulkley";
  static constexpr bool yields = true;
  struct Memory {
    Real plastic_strain = 0;  ///< Equivalent uniaxial: integral of sqrt(2/3) of the norm of the flow rate [1].
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
    const Flow<T> flow = flow_of(k, F, dt);
    if (!flow.flows) return {F, q};
    const Real amount =
        value_of(flow.excess) * (1 - value_of(flow.fraction)) / (2 * k.shear_modulus * value_of(flow.mean));
    return {flow.scale * flow.factor, Memory{q.plastic_strain + std::sqrt(2.0 / 3) * amount}};
  }

  static Mat3 return_differential(const Constants& k, const Memory&, const Mat3& F, const Mat3& dF, Real dt) {
    const Flow<Real> flow = flow_of(k, F, dt);
    if (!flow.flows) return dF;
    // By logarithmic derivatives, from the trial bbar to its relaxed X = ratio dev bbar + mean I.
    const Real d_ln_J = cofactor(F).cwiseProduct(dF).sum() / F.determinant();
    const Mat3 half = dF * F.transpose() / flow.two_thirds_power;
    const Mat3 db = half + half.transpose() - 2.0 / 3 * d_ln_J * flow.b;
    const Real d_mean = db.trace() / 3;
    const Mat3 deviator = flow.b - flow.mean * Mat3::Identity(), d_deviator = db - d_mean * Mat3::Identity();
    const Real d_stress = k.shear_modulus * k.shear_modulus * deviator.cwiseProduct(db).sum() / flow.stress;
    const Real d_fraction = -flow.sensitivity * (d_mean / flow.mean + (1 / k.flow_index - 1) * d_stress / flow.excess);
    const Real d_ratio = (flow.fraction * d_stress + d_fraction * flow.excess - flow.ratio * d_stress) / flow.stress;
    const Mat3 dX = d_ratio * deviator + flow.ratio * d_deviator + d_mean * Mat3::Identity();
    // Cholesky: X = L L^T gives dL = L low(L^{-1} dX L^{-T}), the diagonal of low halved.
    const Mat3 inverse = flow.factor.inverse(), M = inverse * dX * inverse.transpose();
    Mat3 low = M.triangularView<Eigen::StrictlyLower>();
    low.diagonal() = 0.5 * M.diagonal();
    return flow.scale * flow.factor * (low + (d_ln_J / 3 - M.trace() / 6) * Mat3::Identity());
  }

  /// |mu dev bbar| above the yield stress [Pa].
  static Real yield_excess(const Constants& k, const Memory&, const Mat3& F) {
    const Real J = F.determinant();
    return k.shear_modulus * squared_stretch_bounds(F).deviator / std::cbrt(J * J) - k.radius;
  }

  /// Equivalent plastic strain [1].
  static Real plastic_measure(const Constants&, const Memory& q, const Mat3&) { return q.plastic_strain; }

 private:
  template <class T>
  struct Flow {
    bool flows = false;
    Matrix3<T> b;        ///< trial bbar
    T two_thirds_power;  ///< J^{2/3}
    T mean;              ///< tr bbar / 3
    T stress;            ///< s_tr
    T excess;            ///< s_tr - y
    T fraction;          ///< (s - y) / (s_tr - y)
    T ratio;             ///< s / s_tr
    Real sensitivity;    ///< -d fraction / d ln A
    Matrix3<T> factor;   ///< Cholesky factor of the relaxed bbar
    T scale;             ///< brings its determinant to J
  };

  template <class T>
  static Flow<T> flow_of(const Constants& k, const Matrix3<T>& F, Real dt) {
    using std::cbrt, std::log, std::sqrt;
    Flow<T> flow;
    const T J = F.determinant();
    if (!(value_of(J) > least_volume && dt > 0)) return flow;
    const T root = cbrt(J);
    const Matrix3<T> I = Matrix3<T>::Identity();
    flow.two_thirds_power = root * root;
    flow.b = F * F.transpose() / flow.two_thirds_power;
    flow.mean = flow.b.trace() / 3;
    const Matrix3<T> deviator = flow.b - flow.mean * I;
    // Never zero, since without yield stress there is flow at rest too.
    flow.stress = k.shear_modulus * deviator.norm() + 1e-300;
    flow.excess = flow.stress - k.radius;
    flow.flows = value_of(flow.excess) > 0;
    if (!flow.flows) return flow;
    // s = y + fraction * excess turns the flow rule into fraction + A fraction^n = 1, n = 1/h.
    const Real n = 1 / k.flow_index;
    const T ln_A = log(2 * k.shear_modulus * dt * flow.mean) + (n - 1) * log(flow.excess) - n * std::log(k.consistency);
    const Real x = flow_fraction(value_of(ln_A), n);
    flow.sensitivity = x > 0 ? x * (1 - x) / (x + n * (1 - x)) : 0;
    flow.fraction = x > 0 ? x - flow.sensitivity * (ln_A - value_of(ln_A)) : T(0);  // value x, with its derivative
    flow.ratio = (k.radius + flow.fraction * flow.excess) / flow.stress;
    const Matrix3<T> X = flow.ratio * deviator + flow.mean * I;
    flow.factor.setZero();
    auto& L = flow.factor;
    L(0, 0) = sqrt(X(0, 0));
    L(1, 0) = X(1, 0) / L(0, 0);
    L(2, 0) = X(2, 0) / L(0, 0);
    L(1, 1) = sqrt(X(1, 1) - L(1, 0) * L(1, 0));
    L(2, 1) = (X(2, 1) - L(2, 0) * L(1, 0)) / L(1, 1);
    L(2, 2) = sqrt(X(2, 2) - L(2, 0) * L(2, 0) - L(2, 1) * L(2, 1));
    flow.scale = root / cbrt(T(L(0, 0) * L(1, 1) * L(2, 2)));
    return flow;
  }
};

}  // namespace weft
