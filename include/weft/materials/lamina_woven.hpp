#pragma once
// Woven fabric: the orthotropic energy of Clyde, Teran and Tamstorf 2017 with its data for silk, cotton and canvas.

#include "weft/materials/lamina.hpp"

#include <array>
#include <cmath>
#include <span>

namespace weft {

/// psi = a11/2 eta1(E11^2) + a12 eta2(E11 E22) + a22/2 eta3(E22^2) + G12 eta4(E12^2) of Green's strain E = (C - I)/2 in
/// warp and weft. [Clyde et al. 2017; docs/theory/shells.md, 9.4] Outside the strains that were measured, the energy
/// goes on as the quadratic Taylor polynomial about the nearest strain inside.
struct LaminaWoven {
  static constexpr std::string_view name = "woven";

  /// eta(x) = sum_i m_i/a_i ((x + 1)^a_i - 1), sum_i m_i = 1. Without terms eta(x) = x.
  struct Eta {
    int terms = 0;
    std::array<Real, 3> m{}, a{};
  };
  struct Constants {
    Real a11, a12, a22, G12;                     ///< [Pa]
    std::array<Eta, 4> eta;                      ///< Of E11^2, E11 E22, E22^2, E12^2.
    Real largest_E11, largest_E22, largest_E12;  ///< Of the measured strains; the least are 0, 0, -largest_E12.
  };

  template <class T>
  static T energy(const Constants& k, const Symmetric2<T>& c) {
    const Expansion<T> at(k, c);
    const T linear = at.gradient.dot(at.beyond);
    return at.energy + linear + at.beyond.dot(at.hessian * at.beyond) / 2;
  }
  /// E12 is half of C12, and so are the others: dpsi/dC = 1/2 dpsi/dE.
  template <class T>
  static Symmetric2<T> gradient(const Constants& k, const Symmetric2<T>& c) {
    const Expansion<T> at(k, c);
    return (at.gradient + at.hessian * at.beyond) / T(2);
  }
  template <class T>
  static Matrix3<T> hessian(const Constants& k, const Symmetric2<T>& c) {
    return Expansion<T>(k, c).hessian / T(4);
  }

  static Real stiffness(const Constants& k) { return std::max({k.a11, k.a22, k.G12 / 2}) + std::abs(k.a12); }
  /// d2psi/dF2 is at most |C| |dS/dE| + |S|, and |dS/dE| at rest.
  template <class T>
  static T stiffening(const Constants& k, const Symmetric2<T>& c) {
    using std::abs, std::max;
    const Expansion<T> at(k, c);
    const Vector3<T> S = at.gradient + at.hessian * at.beyond;
    const Matrix3<T>& h = at.hessian;
    const T slope = max(eigenvalues_of(Symmetric2<T>(h(0, 0), h(1, 1), h(0, 1)))[1], T(h(2, 2) / 4));
    const T stress = max(abs(S[0]), abs(S[1])) + abs(S[2]) / 2;
    const Real at_rest = eigenvalues_of(Symmetric2<Real>(k.a11, k.a22, k.a12))[1];
    return max(T((eigenvalues_of(c)[1] * slope + stress) / at_rest), T(1));
  }

 private:
  /// Value and two derivatives of eta.
  template <class T>
  struct Jet {
    T value, slope, curvature;
  };
  template <class T>
  static Jet<T> jet(const Eta& eta, const T& x) {
    if (eta.terms == 0) return {x, T(1), T(0)};
    using std::exp, std::log;
    const T square = (x + 1) * (x + 1), logarithm = log(T(x + 1));
    Jet<T> jet{T(0), T(0), T(0)};
    for (int i = 0; i < eta.terms; ++i) {
      const T power = exp(T((eta.a[i] - 2) * logarithm));  // (x + 1)^(a - 2)
      jet.value += eta.m[i] / eta.a[i] * (power * square - 1);
      jet.slope += eta.m[i] * power * (x + 1);
      jet.curvature += eta.m[i] * (eta.a[i] - 1) * power;
    }
    return jet;
  }

  /// Energy, first and second derivative by (E11, E22, E12) at the nearest measured strain, and how far E is from it.
  template <class T>
  struct Expansion {
    T energy;
    Vector3<T> gradient, beyond;
    Matrix3<T> hessian;

    Expansion(const Constants& k, const Symmetric2<T>& c) {
      const Vector3<T> E((c[0] - 1) / 2, (c[1] - 1) / 2, c[2] / 2);
      using std::max, std::min;
      const auto clamped = [](const T& x, Real least, Real most) { return min(max(x, T(least)), T(most)); };
      const T u = clamped(E[0], 0, k.largest_E11), v = clamped(E[1], 0, k.largest_E22);
      const T w = clamped(E[2], -k.largest_E12, k.largest_E12);
      beyond = E - Vector3<T>(u, v, w);
      const Jet<T> n1 = jet(k.eta[0], T(u * u)), n2 = jet(k.eta[1], T(u * v)), n3 = jet(k.eta[2], T(v * v)),
                   n4 = jet(k.eta[3], T(w * w));
      energy = k.a11 / 2 * n1.value + k.a12 * n2.value + k.a22 / 2 * n3.value + k.G12 * n4.value;
      gradient = Vector3<T>(k.a11 * n1.slope * u + k.a12 * n2.slope * v, k.a22 * n3.slope * v + k.a12 * n2.slope * u,
                            2 * k.G12 * n4.slope * w);
      hessian.setZero();
      hessian(0, 0) = k.a11 * (n1.slope + 2 * u * u * n1.curvature) + k.a12 * v * v * n2.curvature;
      hessian(1, 1) = k.a22 * (n3.slope + 2 * v * v * n3.curvature) + k.a12 * u * u * n2.curvature;
      hessian(0, 1) = hessian(1, 0) = k.a12 * (n2.slope + u * v * n2.curvature);
      hessian(2, 2) = 2 * k.G12 * (n4.slope + 2 * w * w * n4.curvature);
    }
  };
};
static_assert(LaminaLaw<LaminaWoven>);

/// A fabric as it was measured: its law, thickness [m] and mass per area [kg/m^2].
struct Fabric {
  std::string_view name;
  LaminaWoven::Constants constants;
  Real thickness, area_density;
};
/// Silk, cotton and canvas; and denim and wool, of which only the linear moduli and the limits are known.
std::span<const Fabric> fabrics();

}  // namespace weft
