#pragma once
// Frictional contact of thin surfaces: the elastic response of the director across the surface, and its Coulomb slip.

#include "weft/base/types.hpp"
#include "weft/math/dual.hpp"
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

  /// Change of the stress as A changes by dA.
  static Mat3 stress_differential(const Constants& k, const Mat3& A, const Mat3& dA) {
    return slopes(stress(k, along(A, dA)));
  }

  /// The same without the curvature of s and t: f'' grad s (x) grad s + gamma grad t (x) grad t, positive semidefinite
  /// and equal to the exact one where chi is free of stress.
  static Mat3 projected_differential(const Constants& k, const Mat3& A, const Mat3& dA) {
    const Frame<Real> at(A);
    Mat3 dP = Mat3::Zero();
    if (!at.exists) return dP;
    Vec3 dn = Vec3::Zero();
    for (int b = 0; b < 2; ++b) dn -= at.n.dot(dA.col(b)) * at.dual[b];
    const Real ds = at.n.dot(dA.col(2)) + A.col(2).dot(dn);
    const Vec3 dt = dA.col(2) - ds * at.n - at.s * dn;
    const Real pressed = 2 * k.compression * at.gap() * ds;  // f'' ds
    const Real along_n = k.shear * at.n.dot(dt);
    for (int b = 0; b < 2; ++b)
      dP.col(b) = ((along_n - pressed) * A.col(2).dot(at.dual[b]) + k.shear * at.s * dt.dot(at.dual[b])) * at.n;
    dP.col(2) = (pressed - along_n) * at.n + k.shear * dt;
    return dP;
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
  static Mat3 return_differential(const Constants& k, const Mat3& A, const Mat3& dA) {
    return slopes(return_map(k, along(A, dA)));
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

  /// Largest shear stress gamma |t| at s in (0, 1).
  template <class T>
  static T friction_limit(const Constants& k, const T& s) {
    return (k.friction * k.compression) * (1 - s) * (1 - s);
  }
};
using SurfaceContact = SurfaceContactOf<>;

}  // namespace weft
