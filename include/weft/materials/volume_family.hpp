#pragma once
// Laws whose energy is  m(J)/2 tr(F^T F) + f(J): neo-Hookean solids, goo, liquids. Stress and differential are
// polynomials in F, so they need no decomposition and exist for inverted F too.

#include "weft/materials/isotropic.hpp"
#include "weft/math/scalar.hpp"

#include <algorithm>

namespace weft {

/// m and f with their first and second derivatives by J.
template <class T>
struct VolumeFunctions {
  T m, dm, ddm;  ///< [Pa]
  T f, df, ddf;  ///< [Pa]
};

/// `Derived` states
///   least_volume                  J below which m and f are continued by their quadratic Taylor polynomials
///   volume_functions(k, J)        VolumeFunctions<T> for J >= least_volume
template <class Derived>
struct VolumeFamily {
  template <class Constants, class T>
  static VolumeFunctions<T> functions(const Constants& k, const T& J) {
    const T base = select(J < Derived::least_volume, T(Derived::least_volume), J);
    const T x = J - base;
    VolumeFunctions<T> v = Derived::volume_functions(k, base);
    v.m += x * (v.dm + 0.5 * x * v.ddm);
    v.dm += x * v.ddm;
    v.f += x * (v.df + 0.5 * x * v.ddf);
    v.df += x * v.ddf;
    return v;
  }

  template <class Constants, class Memory, class T>
  static T energy(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const auto v = functions(k, determinant(F));
    return 0.5 * v.m * F.squaredNorm() + v.f;
  }

  /// P = m F + pi cof F,  pi = m'/2 I1 + f'.
  template <class Constants, class Memory, class T>
  static Matrix3<T> stress(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const Matrix3<T> C = cofactor(F);
    const auto v = functions(k, T(F.col(0).dot(C.col(0))));
    return v.m * F + (0.5 * v.dm * F.squaredNorm() + v.df) * C;
  }

  /// tau = m F F^T + pi J I.
  template <class Constants, class Memory, class T>
  static Matrix3<T> kirchhoff(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const Symmetric3<T> b = left_square(F);
    const T J = determinant(F);
    const auto v = functions(k, J);
    return (v.m * b + T((0.5 * v.dm * b.trace() + v.df) * J)).full();
  }

  template <class Constants, class Memory, class T>
  static auto stress_differential(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const Matrix3<T> C = cofactor(F);
    return [F, C, v = functions(k, T(F.col(0).dot(C.col(0)))),
            I1 = T(F.squaredNorm())](const Matrix3<T>& dF) -> Matrix3<T> {
      const T half_dI1 = F.cwiseProduct(dF).sum(), dJ = C.cwiseProduct(dF).sum();
      const T d_pi = (0.5 * v.ddm * I1 + v.ddf) * dJ + v.dm * half_dI1;
      return v.m * dF + T(v.dm * dJ) * F + d_pi * C + T(0.5 * v.dm * I1 + v.df) * cofactor_differential(F, dF);
    };
  }

  template <class Constants, class Memory, class T>
  static auto projected_differential(const Constants& k, const Memory&, const Matrix3<T>& F) {
    const Svd<T> svd = polar_svd(F);
    const Vector3<T>& s = svd.s;
    const Vector3<T> c(s[1] * s[2], s[2] * s[0], s[0] * s[1]);  // dJ/ds
    const auto v = functions(k, T(s.prod()));
    const T I1 = s.squaredNorm(), pi = 0.5 * v.dm * I1 + v.df;
    PrincipalDerivativeOf<T> d;
    d.stretch = v.dm * (s * c.transpose() + c * s.transpose()) + T(0.5 * v.ddm * I1 + v.ddf) * c * c.transpose();
    for (int i = 0; i < 3; ++i) d.stretch(i, i) += v.m;
    for (int pair = 0; pair < 3; ++pair) {
      const auto [i, j] = others(pair);
      d.stretch(i, j) += pi * s[pair];
      d.stretch(j, i) += pi * s[pair];
      d.shear[pair] = v.m - pi * s[pair];  // from g_i = m s_i + pi s_j s_k
      d.spin[pair] = v.m + pi * s[pair];
    }
    return isotropic_differential(svd, positive_part(d));
  }

  /// Upper bound of the largest eigenvalue of the acoustic tensor in the current configuration, over all directions n:
  ///   A(n) = m (n.bn) I + m' J (bn n^T + n bn^T) + (m''/2 I1 + f'') J^2 n n^T,  b = F F^T.
  /// In the plane of n and bn this is a 2x2 matrix with |bn - (n.bn) n| <= |dev b| / sqrt(2).
  template <class Constants, class Memory, class T>
  static T stiffness(const Constants& k, const Memory&, const Matrix3<T>& F) {
    using std::abs, std::max;
    const T J = determinant(F);
    const auto v = functions(k, J);
    const Bounds<T> b = squared_stretch_bounds(F);
    const T along = v.m + 2 * v.dm * J, volume = (0.5 * v.ddm * F.squaredNorm() + v.ddf) * J * J;
    const T longitudinal = max(T(along * b.lower), T(along * b.upper)) + volume, shear = v.m * b.upper;
    return max(longitudinal, shear) + abs(T(v.dm * J)) * b.deviator / std::sqrt(2.0);
  }
  /// m + 2 |m'| |cof F| |F| + (m''/2 I1 + f'')_+ |cof F|^2 + |pi| |F|: norms of the parts of the second derivative.
  template <class Constants, class Memory, class T>
  static T stiffness_at_rest(const Constants& k, const Memory&, const Matrix3<T>& F) {
    using std::abs, std::max, std::sqrt;
    const auto v = functions(k, determinant(F));
    const T pi = 0.5 * v.dm * F.squaredNorm() + v.df;
    const T of_F = squared_stretch_bounds(F).upper, of_cofactor = squared_stretch_bounds(cofactor(F)).upper;
    return v.m + 2 * abs(v.dm) * sqrt(T(of_F * of_cofactor)) +
           max(T(0), T(0.5 * v.ddm * F.squaredNorm() + v.ddf)) * of_cofactor + abs(pi) * sqrt(of_F);
  }
};

}  // namespace weft
