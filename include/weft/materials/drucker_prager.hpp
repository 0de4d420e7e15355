#pragma once
// Dry or slightly cohesive sand: Hencky elasticity within the Drucker-Prager cone.

#include "weft/materials/log_flow.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft {

/// Log volume that sand gained while it was separated [1]. With volume correction it owes this: it closes as much
/// before it carries pressure again.
struct VolumeGain : Field<Real> {
  static constexpr Label label{"volume_gain", "1", Keep::state};
};

/// Cone |dev tau| + alpha (tr tau - 3 cohesion) <= 0 with non-associated, volume-preserving flow. [Klar 2016], with the
/// volume correction of [Tampubolon 2017]; docs/theory/laws.md, 5.4. Let e = log strain + owed/3 - c0, where
/// (3 lambda + 2 mu) c0 = cohesion makes e = 0 the tip, whose mean Kirchhoff stress is the cohesion, and
/// slope = alpha (3 lambda + 2 mu) / (2 mu). Then
/// - tr e >= 0 is separated: it goes to the tip, and the volume gained is remembered;
/// - |dev e| + slope tr e < 0 is elastic, which with friction pure compression always is;
/// - otherwise dev e shrinks to the size -slope tr e, and volume is kept.
struct DruckerPrager : FlowsInLogStrain<DruckerPrager> {
  static constexpr std::string_view name = "drucker_prager";
  template <class T>
  struct MemoryOf {
    T plastic_strain = T(0);  ///< sqrt(2/3) q, q of Klar being the accumulated norm of plastic log strain [1].
    T volume_gain = T(0);     ///< v_c [1].
  };
  template <class T>
  using RememberedOf = MemoryFields<Remember<PlasticStrain, &MemoryOf<T>::plastic_strain>,
                                    Remember<VolumeGain, &MemoryOf<T>::volume_gain>>;
  using Memory = MemoryOf<Real>;
  using Remembered = RememberedOf<Real>;

  /// Friction angle h0 + (h1 q - h3) exp(-h2 q) [rad] after plastic flow q.
  struct Hardening {
    Real gain = 0;      ///< h1 [rad]
    Real rate = 0;      ///< h2 [1]
    Real residual = 0;  ///< h3 [rad]
  };

  struct Constants {
    Lame lame;
    Real friction_angle;  ///< h0 [rad]
    Hardening hardening;
    Real tip;  ///< c0 [1]
    bool volume_correction;
    bool hardens;
    Real rest_cone;  ///< alpha of sand that does not harden
    /// friction_angle in [0, pi/2) [rad]; cohesion >= 0 [Pa]: mean tension carried at zero shear.
    static Constants from(Lame lame, Real friction_angle, Real cohesion, Hardening hardening, bool volume_correction) {
      const bool hardens = hardening.gain != 0 || hardening.residual != 0;
      return {lame,    friction_angle,      hardening, cohesion / (3 * lame.bulk()), volume_correction,
              hardens, cone(friction_angle)};
    }
  };

  /// alpha = sqrt(2/3) 2 sin(phi) / (3 - sin(phi)): the cone through the compression corners of Mohr-Coulomb.
  template <class T>
  static T cone(const T& friction_angle) {
    using std::min, std::max, std::sin;
    const T sine = sin(min(max(friction_angle, T(0)), T(0.5 * std::numbers::pi)));
    return std::sqrt(2.0 / 3) * 2 * sine / (3 - sine);
  }
  /// The friction angle [rad] whose cone lets a layer in simple shear slide at tau = friction sigma, with friction at
  /// most sqrt(3): alpha = sqrt(2)/3 friction, sin(phi) = 3 alpha / (2 sqrt(2/3) + alpha).
  static Real angle_of_sliding(Real friction) {
    const Real alpha = std::numbers::sqrt2 / 3 * friction;
    return std::asin(std::min(1.0, 3 * alpha / (2 * std::sqrt(2.0 / 3) + alpha)));
  }
  template <class T = Real>
  static T cone(const Constants& k, const MemoryOf<T>& q) {
    using std::exp;
    if (!k.hardens) return T(k.rest_cone);
    const auto& [gain, rate, residual] = k.hardening;
    const T flow = std::sqrt(3.0 / 2) * q.plastic_strain;
    return cone(T(k.friction_angle + (gain * flow - residual) * exp(T(-rate * flow))));
  }

  template <class T>
  static T volume_ratio(const MemoryOf<T>& q, const Symmetric3<T>& log_strain) {
    using std::exp;
    return exp(log_strain.trace() + q.volume_gain);
  }

  static auto return_differential(const Constants& k, const Memory& q, const Mat3& F, Real) {
    const Svd<Real> svd = polar_svd(F);
    const Vec3 e = trial_log_strains(svd.s), deviator = e - Vec3::Constant(e.mean());
    const Flow<Real> flow = flow_of(k, q, e.sum(), deviator.norm());
    Mat3 dH = Mat3::Zero();
    if (flow.elastic) dH = Mat3::Identity();
    if (!flow.elastic && !flow.separated) {
      const Vec3 n = deviator.normalized();
      dH = Mat3::Constant(1.0 / 3) - slope(k, q) * n * Vec3::Ones().transpose() +
           flow.ratio * (deviator_projection() - n * n.transpose());
    }
    return log_flow_differential(svd, flow, dH);
  }

  /// Value of the yield function [Pa]; <= 0 for admissible F.
  static Real yield_excess(const Constants& k, const Memory& q, const Mat3& F) {
    const auto [mu, lambda] = k.lame;
    const Vec3 e = log_strains(polar_svd(F).s) - Vec3::Constant(k.tip);
    const Real sum = e.sum();
    return 2 * mu * (e - Vec3::Constant(sum / 3)).norm() + cone(k, q) * (3 * lambda + 2 * mu) * sum;
  }

  /// Equivalent plastic strain [1].
  static Real plastic_measure(const Constants&, const Memory& q) { return q.plastic_strain; }

 private:
  friend FlowsInLogStrain;

  template <class T>
  struct Flow : LogFlow<T> {
    decltype(T() < T()) separated, elastic;  ///< neither: shear flow
    T amount;                                ///< norm of the plastic log strain
  };

  /// Of the cone in log strain: |dev e| <= -slope tr e.
  template <class T>
  static T slope(const Constants& k, const MemoryOf<T>& q) {
    return cone(k, q) * (3 * k.lame.bulk() / (2 * k.lame.mu));
  }

  /// From trace and size of the deviator of the trial log strain.
  template <class T>
  static Flow<T> flow_of(const Constants& k, const MemoryOf<Plain<T>>& q, const T& trace, const T& deviator) {
    using std::max, std::sqrt;
    const T opened = trace - 3 * k.tip;
    const T e = opened + owed(k, q);  // its trace, from the tip
    const T limit = -slope(k, q) * e;
    Flow<T> flow;
    flow.separated = e >= 0;
    flow.elastic = !flow.separated && deviator < limit;
    flow.unchanged = flow.elastic && owed(k, q) == 0;
    flow.mean = select(flow.separated, T(k.tip), T(e / 3 + k.tip));
    flow.ratio = select(flow.separated, T(0), select(flow.elastic, T(1), T(limit / max(deviator, T(1e-300)))));
    flow.amount = select(flow.separated, T(sqrt(deviator * deviator + opened * opened / 3)),
                         select(flow.elastic, T(0), T(deviator - limit)));
    return flow;
  }
  template <class T, class Number = Plain<T>>
  static MemoryOf<Number> memory_after(const Constants& k, const MemoryOf<Number>& q, const T& trace,
                                       const Flow<T>& flow) {
    return {q.plastic_strain + std::sqrt(2.0 / 3) * value_of(flow.amount),
            select(flow.separated, Number(q.volume_gain + value_of(trace) - 3 * k.tip),
                   Number(q.volume_gain - owed(k, q)))};
  }
  template <class T>
  static T owed(const Constants& k, const MemoryOf<T>& q) {
    return k.volume_correction ? q.volume_gain : T(0);
  }
};

}  // namespace weft
