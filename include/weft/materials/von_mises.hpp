#pragma once
// Metal: Hencky elasticity within the von Mises cylinder, with linear isotropic hardening.

#include "weft/materials/log_flow.hpp"

#include <cmath>

namespace weft {

/// |dev tau| <= sqrt(2/3) (yield_stress + hardening_modulus * plastic_strain), associated flow.
/// [docs/theory/laws.md, 5.6]
struct VonMises : FlowsInLogStrain<VonMises> {
  static constexpr std::string_view name = "von_mises";
  template <class T>
  struct MemoryOf {
    T plastic_strain = T(0);  ///< Equivalent uniaxial [1].
  };
  template <class T>
  using RememberedOf = MemoryFields<Remember<PlasticStrain, &MemoryOf<T>::plastic_strain>>;
  using Memory = MemoryOf<Real>;
  using Remembered = RememberedOf<Real>;

  struct Constants {
    Lame lame;
    Real radius;     ///< sqrt(2/3) of the uniaxial yield stress [Pa].
    Real hardening;  ///< 2/3 of the uniaxial modulus d(yield stress)/d(plastic strain): per norm of log strain [Pa].
    /// yield_stress > 0 and hardening_modulus >= 0 as seen in uniaxial tension [Pa].
    static Constants from(Lame lame, Real yield_stress, Real hardening_modulus) {
      return {lame, std::sqrt(2.0 / 3) * yield_stress, 2.0 / 3 * hardening_modulus};
    }
  };

  /// With d = |dev e| of the trial and a the norm of the flow: mu (d - a)^2 + bulk/2 (tr e)^2 + r a + K a^2/2, whose
  /// least value over a >= 0 the return map finds.
  template <class T>
  static T flow_potential(const Constants& k, const MemoryOf<Plain<T>>& q, const Matrix3<T>& F, Real) {
    using std::sqrt;
    const NearlyAlways<T> e = moderate_log_strain(F);
    T trace = e.value.trace(), size = sqrt((e.value - T(trace / 3)).squared_norm());
    if (any(!e.valid)) {
      const Vector3<T> far_e = log_strains(polar_svd(F).s);
      const T far_trace = far_e.sum();
      trace = select(e.valid, trace, far_trace);
      size = select(e.valid, size, T(sqrt((far_e - Vector3<T>::Constant(far_trace / 3)).squaredNorm())));
    }
    const T flow = flow_of(k, q, trace, size).amount, left = size - flow;
    return k.lame.mu * left * left + 0.5 * k.lame.bulk() * trace * trace +
           flow * (radius(k, q) + 0.5 * k.hardening * flow);
  }

  static auto return_differential(const Constants& k, const Memory& q, const Mat3& F, Real) {
    const Svd<Real> svd = polar_svd(F);
    const Vec3 e = trial_log_strains(svd.s), deviator = e - Vec3::Constant(e.mean());
    const Flow<Real> flow = flow_of(k, q, e.sum(), deviator.norm());
    Mat3 dH = Mat3::Identity();
    if (!flow.unchanged) {
      const Vec3 n = deviator.normalized();
      dH = Mat3::Constant(1.0 / 3) + flow.ratio * (deviator_projection() - n * n.transpose()) +
           k.hardening / (2 * k.lame.mu + k.hardening) * n * n.transpose();
    }
    return log_flow_differential(svd, flow, dH);
  }

  /// Value of the yield function [Pa]; <= 0 for admissible F.
  static Real yield_excess(const Constants& k, const Memory& q, const Mat3& F) {
    const Vec3 e = log_strains(polar_svd(F).s);
    return 2 * k.lame.mu * (e - Vec3::Constant(e.mean())).norm() - radius(k, q);
  }

  /// Equivalent plastic strain [1].
  static Real plastic_measure(const Constants&, const Memory& q) { return q.plastic_strain; }

 private:
  friend FlowsInLogStrain;

  template <class T>
  static T radius(const Constants& k, const MemoryOf<T>& q) {
    return k.radius + k.hardening * std::sqrt(3.0 / 2) * q.plastic_strain;
  }

  template <class T>
  struct Flow : LogFlow<T> {
    T amount;  ///< norm of the plastic log strain
  };

  /// From trace and size of the deviator of the trial log strain.
  template <class T>
  static Flow<T> flow_of(const Constants& k, const MemoryOf<Plain<T>>& q, const T& trace, const T& deviator) {
    const T excess = 2 * k.lame.mu * deviator - radius(k, q);
    const auto elastic = excess <= 0;
    const T amount = select(elastic, T(0), T(excess / (2 * k.lame.mu + k.hardening)));
    return {{elastic, trace / 3, select(elastic, T(1), T(1 - amount / deviator))}, amount};
  }
  template <class T, class Number = Plain<T>>
  static MemoryOf<Number> memory_after(const Constants&, const MemoryOf<Number>& q, const T&, const Flow<T>& flow) {
    return {q.plastic_strain + std::sqrt(2.0 / 3) * value_of(flow.amount)};
  }
};

}  // namespace weft
