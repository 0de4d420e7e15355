#pragma once
// Weakly compressible liquid: Tait's equation of state, no tension, Newtonian viscosity.

#include "weft/materials/law.hpp"
#include "weft/materials/volume_family.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

/// p = K/g (J^{-g} - 1) for J < 1 and 0 above, tau = -p J I + 2 eta J sym(L); K the bulk modulus at rest.
/// [docs/theory/laws.md, 5.7] Only the volume ratio is elastic. It is not held from above: liquid that was spread and
/// comes back is not compressed.
struct Tait : VolumeFamily<Tait>, RemembersNothing, KeepsDeformation<Tait> {
  static constexpr std::string_view name = "tait";
  static constexpr bool yields = true;
  static constexpr bool flow_changes_stress = false;
  static constexpr bool viscous = true;

  struct Constants {
    Real bulk_modulus;     ///< At rest density [Pa].
    Real exponent;         ///< g > 1 [1].
    Real shear_viscosity;  ///< [Pa s].
    static Constants from(Real bulk_modulus, Real exponent, Real shear_viscosity) {
      return {bulk_modulus, exponent, shear_viscosity};
    }
  };

  /// Nothing presses a liquid this far at the Mach numbers that the equation is for; the return map stops here.
  static constexpr Real least_volume = 0.6;
  template <class T>
  static VolumeFunctions<T> volume_functions(const Constants& k, const T& J) {
    using std::pow;
    const Real g = k.exponent, scale = k.bulk_modulus / g;
    const auto slack = J >= 1;
    const T x = select(slack, T(1), J), power = pow(x, -g);
    return {T(0),
            T(0),
            T(0),
            scale * ((x * power - 1) / (g - 1) + x - 1),
            scale * (1 - power),
            select(slack, T(0), T(k.bulk_modulus * power / x))};
  }

  template <class T>
  static Matrix3<T> kirchhoff(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const T J = determinant(F);
    return T(functions(k, J).df * J) * Matrix3<T>::Identity();
  }

  /// F keeps its volume ratio, at least least_volume, and forgets its shape.
  template <class T>
  static Returned<Memory, T> return_map(const Constants&, const Memory& q, const Matrix3<T>& F, Real) {
    using std::cbrt;
    const T J = determinant(F);
    return {cbrt(select(J < least_volume, T(least_volume), J)) * Matrix3<T>::Identity(), q};
  }
  static auto return_differential(const Constants&, const Memory&, const Mat3& F, Real) {
    const Real J = F.determinant(), root = std::cbrt(J);
    const Real slope = J < least_volume ? 0 : 1 / (3 * root * root);
    return [slope, C = cofactor(F)](const Mat3& dF) -> Mat3 {
      return slope * C.cwiseProduct(dF).sum() * Mat3::Identity();
    };
  }

  template <class T>
  static Matrix3<T> viscous_stress(const Constants& k, const T& J, const Matrix3<T>& L) {
    return T(k.shear_viscosity * J) * (L + L.transpose());
  }
  static Real viscosity(const Constants& k) { return k.shear_viscosity; }

  /// K J^{1-g} under pressure. Expanded liquid carries no waves, but is counted as at rest: it may close within a step.
  template <class T>
  static T stiffness(const Constants& k, const Memory&, const Matrix3<T>& F) {
    using std::max;
    const T J = determinant(F);
    return max(T(k.bulk_modulus), T(functions(k, J).ddf * J * J));
  }
  /// Nothing plastic to show.
  static Real plastic_measure(const Constants&, const Memory&) { return 0; }
};

}  // namespace weft
