#pragma once
// Dry or slightly cohesive sand: Hencky elasticity within the Drucker-Prager cone.

#include "weft/materials/log_flow.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft {

/// Log volume that separated sand owes [1]: it closes this much before it carries pressure again.
struct VolumeGain : Field<Real> {
  static constexpr Label label{"volume_gain", "1", Keep::state};
};

/// Cone |dev tau| + alpha (tr tau - 3 cohesion) <= 0 with non-associated, volume-preserving flow. [Klar 2016], with the
/// volume correction of [Tampubolon 2017]; METHODS E.3. Let e = log strain + volume_gain/3 - c0, where
/// (3 lambda + 2 mu) c0 = cohesion makes e = 0 the tip, whose mean Kirchhoff stress is the cohesion, and
/// slope = alpha (3 lambda + 2 mu) / (2 mu). Then
/// - tr e >= 0 is separated: it goes to the tip, and the volume gained is remembered;
/// - |dev e| + slope tr e <= 0 is elastic, which pure compression always is;
/// - otherwise dev e shrinks to the size -slope tr e, and volume is kept.
struct DruckerPrager : HenckyElastic {
  static constexpr std::string_view name = "drucker_prager";
  static constexpr bool yields = true;
  struct Memory {
    Real plastic_strain = 0;  ///< sqrt(2/3) q, q of Klar being the accumulated norm of plastic log strain [1].
    Real volume_gain = 0;     ///< v_c [1].
  };
  using Remembered =
      MemoryFields<Remember<PlasticStrain, &Memory::plastic_strain>, Remember<VolumeGain, &Memory::volume_gain>>;

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
    /// friction_angle in [0, pi/2) [rad]; cohesion >= 0 [Pa]: mean tension carried at zero shear.
    static Constants from(Lame lame, Real friction_angle, Real cohesion, Hardening hardening, bool volume_correction) {
      return {lame, friction_angle, hardening, cohesion / (3 * lame.bulk()), volume_correction};
    }
  };

  /// alpha = sqrt(2/3) 2 sin(phi) / (3 - sin(phi)): the cone through the compression corners of Mohr-Coulomb.
  static Real cone(const Constants& k, const Memory& q) {
    const auto& [gain, rate, residual] = k.hardening;
    const Real flow = std::sqrt(3.0 / 2) * q.plastic_strain;
    const Real phi = k.friction_angle + (gain * flow - residual) * std::exp(-rate * flow);
    const Real sine = std::sin(std::clamp(phi, 0.0, 0.5 * std::numbers::pi));
    return std::sqrt(2.0 / 3) * 2 * sine / (3 - sine);
  }

  template <class T>
  static Returned<Memory, T> return_map(const Constants& k, const Memory& q, const Matrix3<T>& F, Real) {
    const Svd<T> svd = polar_svd(F);
    const Vector3<T> trial = trial_log_strains(svd.s);
    const Flow<T> flow = flow_of(k, q, trial);
    if (flow.state == State::elastic) {
      const Memory closed{q.plastic_strain, 0};
      if (q.volume_gain == 0 && is_uncrushed(svd)) return {F, closed};
      return {from_log_strains(svd, flow.H), closed};
    }
    Memory after{q.plastic_strain + std::sqrt(2.0 / 3) * value_of(flow.amount), 0};
    if (flow.state == State::separated && k.volume_correction)
      after.volume_gain = q.volume_gain + value_of(T(trial.sum())) - 3 * k.tip;
    return {from_log_strains(svd, flow.H), after};
  }

  static Mat3 return_differential(const Constants& k, const Memory& q, const Mat3& F, const Mat3& dF, Real) {
    const Svd<Real> svd = polar_svd(F);
    const Flow<Real> flow = flow_of(k, q, trial_log_strains(svd.s));
    Mat3 dH = Mat3::Zero();
    if (flow.state == State::elastic) dH = Mat3::Identity();
    if (flow.state == State::shear)
      dH = Mat3::Constant(1.0 / 3) - flow.slope * flow.direction * Vec3::Ones().transpose() +
           flow.ratio * (deviator_projection() - flow.direction * flow.direction.transpose());
    return log_flow_differential(svd, flow.H, flow.ratio, dH, dF);
  }

  /// Value of the yield function [Pa]; <= 0 for admissible F.
  static Real yield_excess(const Constants& k, const Memory& q, const Mat3& F) {
    const auto [mu, lambda] = k.lame;
    const Vec3 e = log_strains(polar_svd(F).s) - Vec3::Constant(k.tip);
    const Real sum = e.sum();
    return 2 * mu * (e - Vec3::Constant(sum / 3)).norm() + cone(k, q) * (3 * lambda + 2 * mu) * sum;
  }

  /// Equivalent plastic strain [1].
  static Real plastic_measure(const Constants&, const Memory& q, const Mat3&) { return q.plastic_strain; }

 private:
  enum class State { elastic, shear, separated };
  template <class T>
  struct Flow {
    State state;
    Vector3<T> H;          ///< log strains after flow
    T ratio;               ///< H_i - H_j over e_i - e_j
    Vector3<T> direction;  ///< dev e / |dev e|
    Real slope;            ///< -d|dev H| / d tr e on the cone
    T amount;              ///< norm of the plastic log strain
  };

  template <class T>
  static Flow<T> flow_of(const Constants& k, const Memory& q, const Vector3<T>& trial) {
    const auto [mu, lambda] = k.lame;
    const Vector3<T> tip = Vector3<T>::Constant(T(k.tip));
    const Vector3<T> e = trial + Vector3<T>::Constant(T(q.volume_gain / 3)) - tip;
    const T sum = e.sum();
    const Real slope = cone(k, q) * (3 * lambda + 2 * mu) / (2 * mu);
    if (value_of(sum) >= 0) return {State::separated, tip, T(0), Vector3<T>::Zero(), slope, (trial - tip).norm()};
    const Vector3<T> mean = Vector3<T>::Constant(sum / 3), deviator = e - mean;
    const T size = deviator.norm(), excess = size + slope * sum;
    if (value_of(excess) <= 0) return {State::elastic, e + tip, T(1), Vector3<T>::Zero(), slope, T(0)};
    const T ratio = -slope * sum / size;
    return {State::shear, mean + ratio * deviator + tip, ratio, deviator / size, slope, excess};
  }
};

}  // namespace weft
