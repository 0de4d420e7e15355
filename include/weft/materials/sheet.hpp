#pragma once
// Elasticity of a thin sheet in its own plane: isotropic, and woven with a warp and a weft.

#include "weft/materials/lame.hpp"
#include "weft/materials/plane_isotropic.hpp"
#include "weft/math/scalar.hpp"
#include "weft/math/svd.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <string_view>

namespace weft {

/// A law S of a sheet: static functions of F [1], the images of two perpendicular unit directions of the sheet at rest;
/// energies and stresses are per rest volume, everything is finite for every finite F.
///   energy(k, F), stress(k, F) = d(energy)/dF     templates on the scalar of F, stress also of packs
///   stress_differential(k, F)(dF)                 change of the stress, also of packs
///   projected_differential(k, F)(dF)              a positive semidefinite one, equal to it where that is semidefinite
///   stiffness(k, F)                               [Pa] no eigenvalue of the map dF -> dP is larger; also of packs
template <class S>
concept SheetLaw = requires(const typename S::Constants& k, const Mat32& F) {
  { S::name } -> std::convertible_to<std::string_view>;
  { S::energy(k, F) } -> std::same_as<Real>;
  { S::stress(k, F) } -> std::same_as<Mat32>;
  { S::stress_differential(k, F)(F) } -> std::same_as<Mat32>;
  { S::projected_differential(k, F)(F) } -> std::same_as<Mat32>;
  { S::stiffness(k, F) } -> std::same_as<Real>;
};

/// psi = mu |F - R|^2 + lambda/2 (A - 1)^2 with R the nearest isometry of the plane and A the area ratio.
/// [Stomakhin et al. 2012 in two dimensions; docs/theory/sheets.md, 10.3]
/// A template, so that a file compiles only the functions that it uses.
template <class = void>
struct CorotatedSheetOf {
  static constexpr std::string_view name = "fixed_corotated";
  struct Constants {
    Lame lame;
    /// Young's modulus [Pa] > 0 and Poisson's ratio in (-1, 1) of the sheet, whose faces are free of stress.
    static Constants from(Real youngs_modulus, Real poisson_ratio) {
      return {plane_stress_lame_from(youngs_modulus, poisson_ratio)};
    }
  };

  template <class T>
  static T energy(const Constants& k, const Matrix32<T>& F) {
    const Area<T> area(F);
    const T change = area.ratio - 1;
    // |F - R|^2 = |F|^2 - 2 (s0 + s1) + 2
    return T(k.lame.mu) * (F.squaredNorm() - 2 * area.sum(F) + 2) + T(0.5 * k.lame.lambda) * change * change;
  }

  /// P = 2 mu (F - R) + lambda (A - 1) cof F. With cof F = U diag(s1, s0) V^T, R = (F + cof F) / (s0 + s1).
  template <class T>
  static Matrix32<T> stress(const Constants& k, const Matrix32<T>& F) {
    const Area<T> area(F);
    const T sum = area.sum(F), inverse = 1 / select(value_of(sum) > 0, sum, T(1));
    const Matrix32<T> R = inverse * (F + area.cofactor);
    return T(2 * k.lame.mu) * (F - R) + T(k.lame.lambda * (area.ratio - 1)) * area.cofactor;
  }

  template <class T>
  static auto stress_differential(const Constants& k, const Matrix32<T>& F) {
    return Differential<T>(k.lame, F, false);
  }
  /// The negative eigenvalues of the map dF -> dP set to zero.
  template <class T>
  static auto projected_differential(const Constants& k, const Matrix32<T>& F) {
    return Differential<T>(k.lame, F, true);
  }
  template <class T>
  static T stiffness(const Constants& k, const Matrix32<T>& F) {
    using std::sqrt;
    const T a = F.col(0).squaredNorm(), b = F.col(1).squaredNorm(), c = F.col(0).dot(F.col(1));
    const T area = Vector3<T>(F.col(0)).cross(Vector3<T>(F.col(1))).norm();
    // s0 + s1 from the area, s0 - s1 from s0^2 - s1^2, which does not cancel.
    const T sum = sqrt(T(a + b + 2 * area)), exists = select(sum > 0, sum, T(1));
    const T apart = sqrt(T((a - b) * (a - b) + 4 * c * c)) / exists;
    return largest(derivative_at<T>(k.lame, 0.5 * (sum + apart), 0.5 * (sum - apart)));
  }

 private:
  /// Area ratio and its derivative.
  template <class T>
  struct Area {
    T ratio;
    Matrix32<T> cofactor;
    // Inlined everywhere: results must not depend on how often a translation unit uses it (multiply-adds contract).
    [[gnu::always_inline]] explicit Area(const Matrix32<T>& F) {
      const Vector3<T> a = F.col(0), b = F.col(1), cross = a.cross(b);
      ratio = cross.norm();
      const Mask<T> exists = value_of(ratio) > 0;
      Vector3<T> n = T(1 / select(exists, ratio, T(1))) * cross;
      // A sheet collapsed to a line has no normal; any direction across it serves.
      if (any(!exists)) n = select(exists, n, across(a, b));
      cofactor.col(0) = b.cross(n);
      cofactor.col(1) = n.cross(a);
    }
    /// s0 + s1.
    T sum(const Matrix32<T>& F) const {
      using std::sqrt;
      return sqrt(T(F.squaredNorm() + 2 * ratio));
    }
    static Vector3<T> across(const Vector3<T>& a, const Vector3<T>& b) {
      const Vector3<T> longer = select(value_of(T(a.squaredNorm())) > value_of(T(b.squaredNorm())), a, b);
      const T &x = longer[0], &y = longer[1], &z = longer[2], zero = T(0);
      const Vector3<T> side =
          select(value_of(T(x * x + y * y)) > value_of(T(z * z)), Vector3<T>(-y, x, zero), Vector3<T>(zero, -z, y));
      const T size = side.norm();
      const Mask<T> exists = value_of(size) > 0;
      return select(exists, Vector3<T>(side / select(exists, size, T(1))), Vector3<T>(zero, zero, T(1)));
    }
  };

  /// By the singular values of F.
  template <class T>
  static PlaneDerivativeOf<T> derivative_at(const Lame& lame, const T& s0, const T& s1) {
    using std::max;
    const auto [mu, lambda] = lame;
    const T pressure = lambda * (s0 * s1 - 1), least = T(1e-6);
    PlaneDerivativeOf<T> d;
    d.stretch << 2 * mu + lambda * s1 * s1, pressure + lambda * s0 * s1,  //
        pressure + lambda * s0 * s1, 2 * mu + lambda * s0 * s0;
    d.shear = 2 * mu - pressure;
    d.spin = 2 * mu + pressure - 4 * mu / max(T(s0 + s1), least);
    d.bend = {(2 * mu * (s0 - 1) + pressure * s1) / max(s0, least),
              (2 * mu * (s1 - 1) + pressure * s0) / max(s1, least)};
    return d;
  }

  /// The derivative of the stress. In a frame of the sheet's plane F is a plane matrix, and what leaves the plane is
  /// turned as V diag(bend) V^T says.
  template <class T>
  struct Differential {
    Matrix32<T> plane;
    Vector3<T> normal;
    PlaneParts<T> parts;
    PlaneDerivativeOf<T> derivative;
    Matrix2<T> bend;

    Differential(const Lame& lame, const Matrix32<T>& F, bool projected)
        : plane(plane_of(F)),
          normal(Vector3<T>(plane.col(0)).cross(Vector3<T>(plane.col(1)))),
          parts(plane.transpose() * F),
          derivative(derivative_at<T>(lame, parts.s[0], parts.s[1])) {
      if (projected) derivative = positive_part(derivative);
      bend = parts.turning.transpose() * parts.with(derivative.bend[0], derivative.bend[1]);
    }

    Matrix32<T> operator()(const Matrix32<T>& dF) const {
      const Matrix2<T> in_plane = plane.transpose() * dF;
      const Vector2<T> across = bend.transpose() * (dF.transpose() * normal);
      return plane * parts.change(derivative, in_plane) + normal * across.transpose();
    }

   private:
    /// Perpendicular unit vectors of the plane of F, the first along its first column.
    static Matrix32<T> plane_of(const Matrix32<T>& F) {
      const Vector3<T> a = F.col(0), b = F.col(1);
      const T length = a.norm();
      const Vector3<T> first =
          select(length > 0, Vector3<T>(a / select(length > 0, length, T(1))), Vector3<T>(Vector3<T>::UnitX()));
      const Vector3<T> rest = b - first.dot(b) * first;
      const T size = rest.norm();
      const Mask<T> exists = size > 1e-14 * b.norm();
      Matrix32<T> plane;
      plane << first,
          select(exists, Vector3<T>(rest / select(exists, size, T(1))), Area<T>::across(first, Vector3<T>::Zero()));
      return plane;
    }
  };
};
using CorotatedSheet = CorotatedSheetOf<>;

/// psi = 1/2 E : C : E of Green's strain E = (F^T F - I)/2 in the directions of warp (first column of F) and weft.
/// [docs/theory/sheets.md, 10.3] It weakens where a direction is pressed beneath 0.58 of its length, as Green's strain
/// does.
template <class = void>
struct WovenSheetOf {
  static constexpr std::string_view name = "woven";
  struct Constants {
    Real warp, weft, cross;  ///< C_1111, C_2222, C_1122 [Pa].
    Real shear;              ///< Shear modulus [Pa].
    /// Young's moduli [Pa] > 0 along warp and weft; poisson_ratio: what weft shrinks for each unit that warp is
    /// stretched, poisson_ratio^2 < warp / weft; shear modulus [Pa] >= 0.
    static Constants from(Real warp, Real weft, Real poisson_ratio, Real shear) {
      const Real scale = 1 / (1 - poisson_ratio * poisson_ratio * weft / warp);
      return {scale * warp, scale * weft, scale * poisson_ratio * weft, shear};
    }
  };

  template <class T>
  static T energy(const Constants& k, const Matrix32<T>& F) {
    const Matrix2<T> E = strain(F);
    return T(0.5 * k.warp) * E(0, 0) * E(0, 0) + T(0.5 * k.weft) * E(1, 1) * E(1, 1) + T(k.cross) * E(0, 0) * E(1, 1) +
           T(2 * k.shear) * E(0, 1) * E(0, 1);
  }
  /// P = F S, S = C : E.
  template <class T>
  static Matrix32<T> stress(const Constants& k, const Matrix32<T>& F) {
    return F * second_stress<T>(k, strain(F));
  }
  template <class T>
  static auto stress_differential(const Constants& k, const Matrix32<T>& F) {
    return differential<T>(k, F, second_stress<T>(k, strain(F)));
  }
  /// Tension stiffens against turning, compression does not soften.
  template <class T>
  static auto projected_differential(const Constants& k, const Matrix32<T>& F) {
    return differential<T>(k, F, positive_part(second_stress<T>(k, strain(F))));
  }
  template <class T>
  static T stiffness(const Constants& k, const Matrix32<T>& F) {
    const Real C = std::max({k.warp, k.weft, 2 * k.shear}) + std::abs(k.cross);
    return C * F.squaredNorm() + norm_of_positive_part(second_stress<T>(k, strain(F)));
  }

 private:
  template <class T>
  static Matrix2<T> strain(const Matrix32<T>& F) {
    return T(0.5) * (F.transpose() * F - Matrix2<T>::Identity());
  }
  /// dF S + F dS with the second stress that is to count.
  template <class T>
  static auto differential(const Constants& k, const Matrix32<T>& F, const Matrix2<T>& S) {
    return [k, F, S](const Matrix32<T>& dF) -> Matrix32<T> {
      const Matrix2<T> half = T(0.5) * (F.transpose() * dF);
      return dF * S + F * second_stress<T>(k, half + half.transpose());
    };
  }
  template <class T>
  static Matrix2<T> second_stress(const Constants& k, const Matrix2<T>& E) {
    Matrix2<T> S;
    S(0, 0) = T(k.warp) * E(0, 0) + T(k.cross) * E(1, 1);
    S(1, 1) = T(k.cross) * E(0, 0) + T(k.weft) * E(1, 1);
    S(0, 1) = S(1, 0) = T(2 * k.shear) * E(0, 1);
    return S;
  }
};
using WovenSheet = WovenSheetOf<>;

static_assert(SheetLaw<CorotatedSheet> && SheetLaw<WovenSheet>);

}  // namespace weft
