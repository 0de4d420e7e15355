#pragma once
// Frictional contact of thin surfaces: the elastic response of the director across the surface, and its Coulomb slip.

#include "weft/base/types.hpp"
#include "weft/math/scalar.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace weft {

/// What fills the space around a surface. A = [a1 a2 a3] holds two tangents of the surface, of any length and angle,
/// and the elastic director a3 across it, the image of the unit normal at rest. With the unit normal n of (a1, a2),
/// s = a3 . n and t = a3 - s n,
///   chi = gamma/2 |t|^2 + f(s),  f(s) = k/3 (1 - s)^3 for s < 1, else 0
/// per rest volume. [Jiang et al. 2017, 3.3.2; Guo et al. 2018; docs/theory/sheets.md, 10.2] Any energy of the surface
/// itself adds to it. Where the tangents are parallel there is no normal, and no contact either. A template, so that a
/// file compiles only the functions that it uses.
template <class = void>
struct SurfaceContactOf {
  struct Constants {
    Real compression;  ///< k [Pa].
    Real shear;        ///< gamma [Pa], 0: the director slides freely.
    Real friction;     ///< Coulomb's coefficient c_F [1].
  };

  template <class T>
  static T energy(const Constants& k, const Matrix3<T>& A) {
    const Frame<T> at(A);
    if (!at.exists) return T(0);
    const T gap = at.gap();
    return T(0.5 * k.shear) * at.t.squaredNorm() + T(k.compression / 3) * gap * gap * gap;
  }

  /// d chi / dA [Pa]. Also of packs, as are `return_map`, `stiffness` and `tangent_stiffness`.
  template <class T>
  static Matrix3<T> stress(const Constants& k, const Matrix3<T>& A) {
    const Frame<T> at(A);
    const T gap = at.gap(), slope = T(-k.compression) * gap * gap;  // f'
    const T c = T(k.shear) * at.s - slope;
    const Vector3<T> a3 = A.col(2);
    Matrix3<T> P;
    for (int b = 0; b < 2; ++b) P.col(b) = T(c * a3.dot(at.dual[b])) * at.n;
    P.col(2) = T(k.shear) * at.t + slope * at.n;
    return select(at.exists, P, Matrix3<T>(Matrix3<T>::Zero()));
  }

  /// Change of the stress as A changes by dA. Also of packs, as are the other differentials.
  template <class T>
  static auto stress_differential(const Constants& k, const Matrix3<T>& A) {
    return [k, at = Frame<T>(A), a3 = Vector3<T>(A.col(2))](const Matrix3<T>& dA) -> Matrix3<T> {
      const Change<T> d(at, dA, a3);
      const T gap = at.gap(), slope = T(-k.compression) * gap * gap, d_slope = T(2 * k.compression) * gap * d.s;
      const T c = k.shear * at.s - slope, dc = k.shear * d.s - d_slope;
      Matrix3<T> dP;
      for (int b = 0; b < 2; ++b) {
        // The change of a^b . a3, whose tangent part is that of the inverse of [a1 a2 n].
        const Vector3<T>& dual = at.dual[b];
        const T part = a3.dot(dual);
        T d_part = dual.dot(dA.col(2)) - at.s * dual.dot(d.n);
        for (int tangent = 0; tangent < 2; ++tangent) d_part -= dual.dot(dA.col(tangent)) * a3.dot(at.dual[tangent]);
        dP.col(b) = T(dc * part + c * d_part) * at.n + T(c * part) * d.n;
      }
      dP.col(2) = T(k.shear) * d.t + d_slope * at.n + slope * d.n;
      return select(at.exists, dP, Matrix3<T>(Matrix3<T>::Zero()));
    };
  }

  /// The same without the curvature of s and t: f'' grad s (x) grad s + gamma grad t (x) grad t, positive semidefinite
  /// and equal to the exact one where chi is free of stress.
  template <class T>
  static auto projected_differential(const Constants& k, const Matrix3<T>& A) {
    return [k, at = Frame<T>(A), a3 = Vector3<T>(A.col(2))](const Matrix3<T>& dA) -> Matrix3<T> {
      const Change<T> d(at, dA, a3);
      const T pressed = 2 * k.compression * at.gap() * d.s;  // f'' ds
      const T along_n = k.shear * at.n.dot(d.t);
      Matrix3<T> dP;
      for (int b = 0; b < 2; ++b)
        dP.col(b) = T((along_n - pressed) * a3.dot(at.dual[b]) + k.shear * at.s * d.t.dot(at.dual[b])) * at.n;
      dP.col(2) = T(pressed - along_n) * at.n + T(k.shear) * d.t;
      return select(at.exists, dP, Matrix3<T>(Matrix3<T>::Zero()));
    };
  }

  /// The director after slip; the tangents stay. An extended one (s > 1) is forgotten, an inverted one (s <= 0) keeps
  /// no shear, and otherwise gamma |t| <= c_F k (1 - s)^2: Coulomb's law for the traction on the surface, which A
  /// scales on both sides alike.
  template <class T>
  static Matrix3<T> return_map(const Constants& k, const Matrix3<T>& A) {
    const Frame<T> at(A);
    const T size = at.t.norm(), limit = k.shear > 0 ? T(friction_limit(k, at.s) / k.shear) : T(-1);
    const Mask<T> inverted = value_of(at.s) <= 0, slips = inverted || value_of(size) > value_of(limit);
    const T share = select(value_of(limit) > 0 && !inverted, T(limit / select(slips, size, T(1))), T(0));
    Vector3<T> a3 = select(slips, Vector3<T>(at.s * at.n + share * at.t), Vector3<T>(A.col(2)));
    a3 = select(at.compressed, a3, at.n);
    Matrix3<T> returned = A;
    returned.col(2) = select(at.exists, a3, Vector3<T>(A.col(2)));
    return returned;
  }
  /// Its change as A changes by dA.
  template <class T>
  static auto return_differential(const Constants& k, const Matrix3<T>& A) {
    return [k, at = Frame<T>(A), a3 = Vector3<T>(A.col(2))](const Matrix3<T>& dA) -> Matrix3<T> {
      const Change<T> d(at, dA, a3);
      const T size = at.t.norm(), inverse = 1 / select(size > 0, size, T(1));
      const T limit = k.shear > 0 ? T(friction_limit(k, at.s) / k.shear) : T(-1);
      const Mask<T> inverted = at.s <= 0, slips = inverted || size > limit, slides = slips && limit > 0 && !inverted;
      const T share = select(slides, T(limit * inverse), T(0));
      const T d_limit = -2 * limit / select(at.compressed, T(1 - at.s), T(1)) * d.s, d_size = inverse * at.t.dot(d.t);
      const T d_share = select(slides, T((d_limit - share * d_size) * inverse), T(0));
      const Vector3<T> slipped = d.s * at.n + at.s * d.n + d_share * at.t + share * d.t;
      const Vector3<T> change = select(at.compressed, select(slips, slipped, Vector3<T>(dA.col(2))), d.n);
      Matrix3<T> returned = dA;
      returned.col(2) = select(at.exists, change, Vector3<T>(dA.col(2)));
      return returned;
    };
  }

  /// How far the shear traction is outside Coulomb's cone [Pa]; <= 0 inside.
  static Real yield_excess(const Constants& k, const Mat3& A) {
    const Frame<Real> at(A);
    if (!at.exists) return 0;
    return k.shear * at.t.norm() - (at.compressed && at.s > 0 ? friction_limit(k, at.s) : 0);
  }

  /// [Pa]: no wave of the director is faster than sqrt(stiffness / rest density), be it at rest or pressed as it is.
  template <class T>
  static T stiffness(const Constants& k, const Matrix3<T>& A) {
    using std::max;
    const Frame<T> at(A);
    const T gap = max(select(at.exists, at.gap(), T(0)), T(1)), one = T(1);
    return max(T(2 * k.compression * gap), T(k.shear)) * max(T(A.col(2).squaredNorm()), one);
  }
  /// [Pa]: no eigenvalue of the part of `projected_differential` that turns changes of unit-length tangents into
  /// changes of their stress is larger.
  template <class T>
  static T tangent_stiffness(const Constants& k, const Matrix3<T>& A) {
    const Frame<T> at(A);
    const T dual = at.dual[0].squaredNorm() + at.dual[1].squaredNorm();
    const T pressed = 2 * k.compression * at.gap();
    const T stiffness = (k.shear * A.col(2).squaredNorm() + pressed * at.t.squaredNorm()) * dual;
    return select(at.exists, stiffness, T(k.shear));
  }

 private:
  /// The director taken apart by the normal.
  template <class T>
  struct Frame {
    Mask<T> exists, compressed;
    Vector3<T> n, t;
    std::array<Vector3<T>, 2> dual;  ///< a^b in the surface: a^b . a_c = delta_bc.
    T s;

    explicit Frame(const Matrix3<T>& A) {
      const Vector3<T> a1 = A.col(0), a2 = A.col(1), a3 = A.col(2), cross = a1.cross(a2);
      const T area = cross.norm();
      exists = value_of(area) > 1e-6 * value_of(T(a1.norm() * a2.norm()));
      const T inverse = 1 / select(exists, area, T(1));
      n = inverse * cross;
      dual = {inverse * a2.cross(n), inverse * n.cross(a1)};
      s = a3.dot(n);
      t = a3 - s * n;
      compressed = value_of(s) < 1;
    }
    T gap() const { return select(compressed, T(1 - s), T(0)); }
  };

  /// How the parts of a director change with A.
  template <class T>
  struct Change {
    Vector3<T> n, t;
    T s;
    Change(const Frame<T>& at, const Matrix3<T>& dA, const Vector3<T>& a3) {
      n = -at.n.dot(dA.col(0)) * at.dual[0] - at.n.dot(dA.col(1)) * at.dual[1];
      s = at.n.dot(dA.col(2)) + a3.dot(n);
      t = dA.col(2) - s * at.n - at.s * n;
    }
  };

  /// Largest shear stress gamma |t| at s in (0, 1).
  template <class T>
  static T friction_limit(const Constants& k, const T& s) {
    return (k.friction * k.compression) * (1 - s) * (1 - s);
  }
};
using SurfaceContact = SurfaceContactOf<>;

}  // namespace weft
