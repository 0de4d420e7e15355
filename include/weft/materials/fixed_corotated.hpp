#pragma once
// Fixed corotated elasticity: jelly and other soft solids; also the elastic part of snow.

#include "weft/materials/isotropic.hpp"
#include "weft/materials/lame.hpp"
#include "weft/materials/law.hpp"
#include "weft/math/svd.hpp"

#include <algorithm>

namespace weft {

/// The elastic deformation without its rotation: V of F = V R, indefinite where F is inverted.
struct LeftStretch : Field<Symmetric3<Real>> {
  static constexpr Label label{"left_stretch", "1"};
};

/// The part of an isotropic law whose points keep the left stretch.
struct KeepsLeftStretch {
  using Kept = LeftStretch;
  template <class T>
  static Symmetric3<T> kept(const Matrix3<T>& F) {
    return chosen(F, left_stretch(left_square(F), determinant(F)));
  }
  template <class T>
  static Matrix3<T> deformation(const Symmetric3<T>& V) {
    return V.full();
  }
  template <class Memory, class T>
  static T volume_ratio(const Memory&, const Symmetric3<T>& V) {
    return V.determinant();
  }

 protected:
  /// Of a trial F = V R, whose R is the small rotation by r of a step: F - F^T = 2 [r]x but for products of r with
  /// strains, and tr V = tr F + |r|^2 but for products of |r|^2 with strains.
  template <class T>
  static Symmetric3<T> stretch_of_trial(const Matrix3<T>& F) {
    const Vector3<T> twice_r(F(2, 1) - F(1, 2), F(0, 2) - F(2, 0), F(1, 0) - F(0, 1));
    return chosen(F, left_stretch(left_square(F), determinant(F), T(F.trace() + 0.25 * twice_r.squaredNorm())));
  }

 private:
  template <class T>
  static Symmetric3<T> chosen(const Matrix3<T>& F, const NearlyAlways<T>& V) {
    if (!any(!V.valid)) return V.value;
    const Svd<T> svd = polar_svd(F);
    return select(V.valid, V.value, symmetric_from(svd.U, svd.s));
  }
};

/// psi = mu |F - R|^2 + lambda/2 (J - 1)^2 with R the polar rotation of F. [Stomakhin 2012; docs/theory/laws.md, 5.1]
struct FixedCorotated : NeverYields, Inviscid, KeepsLeftStretch {
  static constexpr std::string_view name = "fixed_corotated";
  struct Constants {
    Lame lame;
    static Constants from(Lame lame) { return {lame}; }
  };

  template <class T>
  static Settled<Symmetric3<T>, Memory> settle(const Constants&, const Memory& q, const Matrix3<T>& F, Real) {
    return {stretch_of_trial(F), q};
  }

  template <class T>
  static T energy(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const auto [mu, lambda] = k.lame;
    const T J = determinant(F), compression = J - 1;
    // |F - R| = |V - I| = |s - 1|
    const NearlyAlways<T> V = left_stretch(left_square(F), J);
    T strain2 = (V.value - T(1)).squared_norm();
    if (any(!V.valid))
      strain2 = select(V.valid, strain2, T((polar_svd(F).s - Vector3<T>::Constant(T(1))).squaredNorm()));
    return mu * strain2 + 0.5 * lambda * compression * compression;
  }
  /// Of the left stretch V in place of F = V R.
  template <class T>
  static T energy(const Constants& k, const Memory&, const Symmetric3<T>& V) {
    const T compression = V.determinant() - 1;
    return k.lame.mu * (V - T(1)).squared_norm() + 0.5 * k.lame.lambda * compression * compression;
  }

  /// P = 2 mu (F - R) + lambda (J - 1) cof F.
  template <class T>
  static Matrix3<T> stress(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const auto [mu, lambda] = k.lame;
    const Matrix3<T> C = cofactor(F);
    const T J = F.col(0).dot(C.col(0));
    return T(2 * mu) * (F - rotation(F, J)) + T(lambda * (J - 1)) * C;
  }

  /// tau = 2 mu (b - V) + lambda (J - 1) J I with b = F F^T and the left stretch V, F = V R.
  template <class T>
  static Matrix3<T> kirchhoff(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const auto [mu, lambda] = k.lame;
    const Symmetric3<T> b = left_square(F);
    const T J = determinant(F), pressure = lambda * (J - 1) * J;
    const NearlyAlways<T> V = left_stretch(b, J);
    Symmetric3<T> tau = T(2 * mu) * (b - V.value) + pressure;
    if (any(!V.valid)) {
      const Svd<T> svd = polar_svd(F);
      const Vector3<T> principal = T(2 * mu) * (svd.s.cwiseProduct(svd.s) - svd.s) + Vector3<T>::Constant(pressure);
      tau = select(V.valid, tau, symmetric_from(svd.U, principal));
    }
    return tau.full();
  }
  template <class T>
  static Matrix3<T> kirchhoff(const Constants& k, const Memory&, const Symmetric3<T>& V) {
    const T J = V.determinant();
    return (T(2 * k.lame.mu) * (commuting_product(V, V) - V) + T(k.lame.lambda * (J - 1) * J)).full();
  }

  static auto stress_differential(const Constants& k, const Memory&, const Mat3& F) {
    const Mat3 C = cofactor(F);
    return [lame = k.lame, F, C, J = F.col(0).dot(C.col(0)), polar_F = polar(F)](const Mat3& dF) -> Mat3 {
      return 2 * lame.mu * (dF - polar_differential(polar_F, dF)) +
             lame.lambda * (C.cwiseProduct(dF).sum() * C + (J - 1) * cofactor_differential(F, dF));
    };
  }

  /// Packs have no polar decomposition that is cheaper than their singular values.
  static auto stress_differential(const Constants& k, const Memory&, const Matrix3<Pack>& F) {
    const Svd<Pack> svd = polar_svd(F);
    return isotropic_differential(svd, derivative(k.lame, svd.s));
  }

  template <class T>
  static auto projected_differential(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const Svd<T> svd = polar_svd(F);
    return isotropic_differential(svd, positive_part(derivative(k.lame, svd.s)));
  }

  /// 2 mu s_max^2 + (lambda)_+ J^2 [Pa]: the acoustic tensor is lambda J^2 n n^T + 2 mu |F^T n|^2 I less the change of
  /// the rotation, which only softens.
  template <class T>
  static T stiffness(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const T J = determinant(F);
    return 2 * k.lame.mu * squared_stretch_bounds(F).upper + std::max(0.0, k.lame.lambda) * J * J;
  }
  template <class T>
  static T stiffness(const Constants& k, const Memory&, const Symmetric3<T>& V) {
    const T J = V.determinant(), most = largest_row_sum(V);
    return 2 * k.lame.mu * most * most + std::max(0.0, k.lame.lambda) * J * J;
  }
  /// 2 mu + |lambda| (|cof F|^2 + |J - 1| |F|): the second derivatives of |F - R|^2 / 2, J^2 / 2 and J.
  template <class T>
  static T stiffness_at_rest(const Constants& k, const Memory&, const Matrix3<T>& F) {
    using std::abs, std::sqrt;
    const T of_F = squared_stretch_bounds(F).upper, of_cofactor = squared_stretch_bounds(cofactor(F)).upper;
    return 2 * k.lame.mu + std::abs(k.lame.lambda) * (of_cofactor + abs(T(determinant(F) - 1)) * sqrt(of_F));
  }

 private:
  template <class T>
  static PrincipalDerivativeOf<T> derivative(const Lame& lame, const Vector3<T>& s) {
    const auto [mu, lambda] = lame;
    const Vector3<T> c(s[1] * s[2], s[2] * s[0], s[0] * s[1]);  // dJ/ds
    const T pressure = lambda * (s.prod() - 1);
    PrincipalDerivativeOf<T> d;
    d.stretch = T(lambda) * c * c.transpose();
    for (int i = 0; i < 3; ++i) d.stretch(i, i) += 2 * mu;
    for (int pair = 0; pair < 3; ++pair) {
      const auto [i, j] = others(pair);
      d.stretch(i, j) += pressure * s[pair];
      d.stretch(j, i) += pressure * s[pair];
      d.shear[pair] = 2 * mu - pressure * s[pair];
      d.spin[pair] = 2 * mu * (1 - 2 / pair_sum(s, pair)) + pressure * s[pair];
    }
    return d;
  }

  /// R of F = V R.
  template <class T>
  static Matrix3<T> rotation(const Matrix3<T>& F, const T&) {
    return polar(F).R;
  }
  /// R = V^{-1} F, but for flat and inverted F.
  static Matrix3<Pack> rotation(const Matrix3<Pack>& F, const Pack& J) {
    const NearlyAlways<Pack> V = left_stretch(left_square(F), J);
    const Pack mean = V.value.trace() / 3;
    const auto inverts = V.valid && J > 0.01 * mean * mean * mean;
    const Matrix3<Pack> R = Pack(1 / J) * Matrix3<Pack>(cofactor(V.value.full()) * F);
    if (!any(!inverts)) return R;
    const Svd<Pack> svd = polar_svd(F);
    return select(inverts, R, Matrix3<Pack>(svd.U * svd.V.transpose()));
  }
};

}  // namespace weft
