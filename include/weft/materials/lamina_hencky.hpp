#pragma once
// Isotropic laminae: the quadratic energy of Hencky strain in plane stress, and its flow in von Mises' ellipse.

#include "weft/base/kinds.hpp"
#include "weft/materials/lame.hpp"
#include "weft/materials/lamina.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {

/// psi = mu |e|^2 + lambda/2 (tr e)^2, e = 1/2 ln C. [docs/theory/shells.md, 9.3]
///
/// With D = det C, m = tr C / 2, z = 1 - D/m^2 and the principal strains e1, e2: e1 + e2 = 1/2 ln D and
/// (e1 - e2)^2 = phi(z) = artanh(sqrt z)^2, which are smooth functions of the components also where e1 = e2. Hence
///   psi = (mu + lambda)/8 (ln D)^2 + mu/2 phi(z).
/// Below D = 1e-6 and beyond z = 0.99 (a ratio of stretches of 20) ln and phi are continued by their quadratic Taylor
/// polynomials.
struct LaminaHencky {
  static constexpr std::string_view name = "hencky";

  struct Constants {
    Real mu, lambda;  ///< [Pa]; lambda is that of plane stress.
    static Constants from(Real youngs_modulus, Real poisson_ratio) {
      const Lame lame = plane_stress_lame_from(youngs_modulus, poisson_ratio);
      return {lame.mu, lame.lambda};
    }
  };

  template <class T>
  static T energy(const Constants& k, const Symmetric2<T>& c) {
    const auto [sum, difference] = squared_strains(c);
    return (k.mu + k.lambda) / 2 * sum + k.mu / 2 * difference;
  }
  /// (e1 + e2)^2 and (e1 - e2)^2.
  template <class T>
  static std::pair<T, T> squared_strains(const Symmetric2<T>& c) {
    const Invariants<T> i(c);
    const T l = log_of(i.D).value;
    return {l * l / 4, phi_of(i.z).value};
  }

  template <class T>
  static Symmetric2<T> gradient(const Constants& k, const Symmetric2<T>& c) {
    const Invariants<T> i(c);
    const Jet<T> l = log_of(i.D), phi = phi_of(i.z);
    return (k.mu + k.lambda) / 4 * l.value * l.slope * i.dD + k.mu / 2 * phi.slope * i.dz();
  }

  template <class T>
  static Matrix3<T> hessian(const Constants& k, const Symmetric2<T>& c) {
    const Invariants<T> i(c);
    const Jet<T> l = log_of(i.D), phi = phi_of(i.z);
    const Vector3<T> dz = i.dz();
    Matrix3<T> ddD = Matrix3<T>::Zero();
    ddD(0, 1) = ddD(1, 0) = 1;
    ddD(2, 2) = -2;
    const T by_D = (k.mu + k.lambda) / 4, by_z = k.mu / 2;
    return T(by_D * (l.slope * l.slope + l.value * l.curvature)) * i.dD * i.dD.transpose() +
           T(by_D * l.value * l.slope) * ddD + T(by_z * phi.curvature) * dz * dz.transpose() +
           T(by_z * phi.slope) * i.ddz();
  }

  static Real stiffness(const Constants& k) { return 2 * k.mu + k.lambda; }
  /// psi = E/2 (ln s)^2 has the second derivative E (1 - ln s)/s^2 by the stretch s.
  template <class T>
  static T stiffening(const Constants&, const Symmetric2<T>& c) {
    using std::log, std::max;
    const T square = max(eigenvalues_of(c)[0], T(1e-3));
    return max(T((1 - log(square) / 2) / square), T(1));
  }

 private:
  template <class T>
  struct Jet {
    T value, slope, curvature;
  };

  template <class T>
  struct Invariants {
    T m, r2, D, z;  ///< r2 = ((C11 - C22)/2)^2 + C12^2 = m^2 - D, summed so that small differences keep their digits
    Vector3<T> dD, dr2;  ///< Derivatives by the components.
    explicit Invariants(const Symmetric2<T>& c)
        : m((c[0] + c[1]) / 2),
          r2((c[0] - c[1]) * (c[0] - c[1]) / 4 + c[2] * c[2]),
          D(c[0] * c[1] - c[2] * c[2]),
          z(r2 / (m * m)),
          dD(c[1], c[0], -2 * c[2]),
          dr2((c[0] - c[1]) / 2, (c[1] - c[0]) / 2, 2 * c[2]) {}
    Vector3<T> dz() const { return (dr2 - T(2 * z * m) * dm()) / T(m * m); }
    Matrix3<T> ddz() const {
      Matrix3<T> ddr2 = Matrix3<T>::Zero();
      ddr2(0, 0) = ddr2(1, 1) = 0.5;
      ddr2(0, 1) = ddr2(1, 0) = -0.5;
      ddr2(2, 2) = 2;
      const Matrix3<T> mixed = dr2 * dm().transpose();
      return (ddr2 - T(2 / m) * (mixed + mixed.transpose()) + T(6 * z) * dm() * dm().transpose()) / T(m * m);
    }
    static Vector3<T> dm() { return Vector3<T>(T(0.5), T(0.5), T(0)); }
  };

  template <class T>
  static Jet<T> log_of(const T& D) {
    using std::log, std::max;
    constexpr Real least = 1e-6;
    const T held = max(D, T(least)), x = (D - held) / least;
    return {log(held) + x - x * x / 2, (1 - x) / held, -1 / (held * held)};
  }

  /// phi(z) = artanh(sqrt z)^2. With t = artanh(sqrt z)/sqrt z = sum z^n/(2n + 1): phi = z t^2, phi' = t/(1 - z).
  template <class T>
  static Jet<T> phi_of(const T& z) {
    using std::log, std::min, std::sqrt;
    constexpr Real most = 0.99;
    const T held = min(z, T(most)), x = z - held;
    const Mask<T> is_small = value_of(held) < 0.03;
    T t(0), dt(0);
    for (int n = 11; n >= 0; --n) {  // the next term is below 1e-18
      dt = dt * held + t;
      t = t * held + 1.0 / (2 * n + 1);
    }
    if (any(!is_small)) {
      const T s = sqrt(held), exact = log((1 + s) / (1 - s)) / (2 * s);
      dt = select(is_small, dt, T((1 / (1 - held) - exact) / (2 * held)));
      t = select(is_small, t, exact);
    }
    const T slope = t / (1 - held), curvature = (dt + slope) / (1 - held);
    return {held * t * t + x * (slope + x * curvature / 2), slope + x * curvature, curvature};
  }
};
static_assert(LaminaLaw<LaminaHencky>);

/// Denting: |dev tau| = sqrt(2/3 (t1^2 + t2^2 - t1 t2)) <= sqrt(2/3) (yield_stress + hardening * plastic strain) of the
/// principal Kirchhoff stresses t. [docs/theory/shells.md, 9.5]
struct LaminaYield {
  Real radius;     ///< sqrt(2/3) of the yield stress in uniaxial tension [Pa].
  Real hardening;  ///< d(yield stress)/d(plastic strain) in uniaxial tension [Pa]; 0 for the diamond.
  YieldSurface surface;
  static LaminaYield from(Real yield_stress, Real hardening_modulus, YieldSurface surface) {
    return {std::sqrt(2.0 / 3) * yield_stress, hardening_modulus, surface};
  }
};

/// What a lamina remembers of its flow.
struct LaminaMemory {
  Symmetric2<Real> stretch = {1, 1, 0};  ///< Right stretch of the plastic deformation, in the material frame [1].
  Real plastic_strain = 0;               ///< Equivalent uniaxial [1].
};

/// Value of the yield function [Pa] for principal stresses t; <= 0 inside the surface.
inline Real yield_excess(const LaminaYield& y, Real plastic_strain, const Vec2& t) {
  const Real radius = y.radius + std::sqrt(2.0 / 3) * y.hardening * plastic_strain;
  const Real p = (t[0] + t[1]) / std::sqrt(2.0), q = (t[0] - t[1]) / std::sqrt(2.0);
  if (y.surface == YieldSurface::diamond) return std::max(std::abs(p) / std::sqrt(3.0), std::abs(q)) - radius;
  return std::sqrt((p * p + 3 * q * q) / 3) - radius;
}

/// Principal strains after flow, closest to the trial in elastic energy, and the plastic strain afterwards.
struct LaminaReturn {
  Vec2 strain;
  Real plastic_strain;
};
LaminaReturn return_strains(const LaminaHencky::Constants& k, const LaminaYield& y, const Vec2& trial,
                            Real plastic_strain);

/// What a lamina that may flow opposes to strain beyond its memory: the least sum of elastic energy and of the work of
/// flow, its derivative, which is the stress after flow, and its second derivative, the consistent tangent. Inside the
/// yield surface that of LaminaHencky. c: the metric of the lamina in the material frame, the plastic stretch up to now
/// taken off it. [docs/theory/shells.md, (9.10)]
struct FlowingHencky {
  /// False where the stress is inside the yield surface; true also a little before it is reached.
  static PackMask may_flow(const LaminaHencky::Constants& k, const LaminaYield& y, const Pack& plastic_strain,
                           const Symmetric2<Pack>& c);
  static Real energy(const LaminaHencky::Constants& k, const LaminaYield& y, Real plastic_strain,
                     const Symmetric2<Real>& c);
  static Symmetric2<Real> gradient(const LaminaHencky::Constants& k, const LaminaYield& y, Real plastic_strain,
                                   const Symmetric2<Real>& c);
  static Mat3 hessian(const LaminaHencky::Constants& k, const LaminaYield& y, Real plastic_strain,
                      const Symmetric2<Real>& c);
};

/// The memory after flow. `metric`: components of the metric of the deformed lamina in the material frame, before any
/// plastic deformation is taken off it. Unchanged if the stress is inside the yield surface.
LaminaMemory flowed(const LaminaHencky::Constants& k, const LaminaYield& y, const LaminaMemory& q,
                    const Symmetric2<Real>& metric);

/// Inverse of a symmetric 2x2 tensor from its components, as a matrix.
template <class T>
Matrix2<T> inverse_of(const Symmetric2<T>& s) {
  const T D = s[0] * s[1] - s[2] * s[2];
  Matrix2<T> inverse;
  inverse << s[1] / D, -s[2] / D, -s[2] / D, s[0] / D;
  return inverse;
}

}  // namespace weft
