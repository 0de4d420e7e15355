#pragma once
// Hair, yarn and other fibers in frictional contact: elasticity along the fiber, along its sides and of its section,
// and Coulomb slip along and across it.

#include "weft/materials/lame.hpp"
#include "weft/materials/log_strain.hpp"
#include "weft/materials/plane_isotropic.hpp"
#include "weft/math/scalar.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

/// A = [d1 d2 d3] holds the tangent d1 (of length 1 at rest) and the elastic directors d2, d3 of the section, images
/// of unit vectors across the fiber at rest. With r = |d1|, t = d1 / r, N = [d2 d3], s = N^T t, M = N - t s^T,
///   psi = k/2 (r - 1)^2 + gamma/2 |s|^2 + mu (e1^2 + e2^2) + lambda/2 (e1 + e2)^2
/// per rest volume, e = log_strain of the singular values of M as a map of the plane across t, the second of which has
/// the sign of det A. These are r11, (r12, r13) and the block [r22 r23; 0 r33] of A = Q R. [Jiang et al. 2017, 3.3.1;
/// docs/theory/sheets.md, 10.4] A fiber crushed to a point has no direction: it then has energy along the fiber only.
/// A template, so that a file compiles only the functions that it uses.
template <class = void>
struct FiberOf {
  struct Constants {
    Real stretch;  ///< k [Pa].
    Real shear;    ///< gamma [Pa], 0: the sides slide freely.
    Lame section;  ///< Of contact across the fiber [Pa].
    Real across;   ///< alpha: friction across the fiber [1].
    Real along;    ///< beta: friction along the fiber [1].
    /// Both frictions from one friction angle [rad]: beta = tan(phi), alpha = sqrt(2/3) 2 sin(phi) / (3 - sin(phi)).
    static Constants from(Real stretch, Real shear, Lame section, Real friction_angle) {
      const Real sine = std::sin(friction_angle);
      return {stretch, shear, section, std::sqrt(2.0 / 3) * 2 * sine / (3 - sine), std::tan(friction_angle)};
    }
  };

  template <class T>
  static T energy(const Constants& k, const Matrix3<T>& A) {
    using std::sqrt;
    const T r = A.col(0).norm(), stretched = T(0.5 * k.stretch) * (r - 1) * (r - 1);
    if (value_of(r) < least_length) return stretched;
    const Vector3<T> t = A.col(0) / r;
    const Matrix32<T> N = A.template rightCols<2>();
    const Vector2<T> s = N.transpose() * t;
    const Matrix32<T> M = N - t * s.transpose();
    const Vector3<T> m0 = M.col(0), m1 = M.col(1);
    const T det = t.dot(m0.cross(m1)), square = M.squaredNorm();
    // (s0 + s1)^2 = |M|^2 + 2 det, (s0 - s1)^2 = |M|^2 - 2 det.
    const auto root = [](const T& x) { return value_of(x) > 0 ? T(sqrt(x)) : T(0); };
    const T s0 = 0.5 * (root(square + 2 * det) + root(square - 2 * det));
    const T s1 = value_of(s0) > 0 ? T(det / s0) : T(0);
    const T e0 = log_strain(s0), e1 = log_strain(s1), sum = e0 + e1;
    return stretched + T(0.5 * k.shear) * s.squaredNorm() + T(k.section.mu) * (e0 * e0 + e1 * e1) +
           T(0.5 * k.section.lambda) * sum * sum;
  }

  /// d psi / dA [Pa]: with T = d psi / dM, by columns
  ///   k (r - 1) t + (gamma M - T) s / r  and  gamma t s^T + T.
  /// Also of packs, as are `return_map`, `stiffness` and `tangent_stiffness`.
  template <class T>
  static Matrix3<T> stress(const Constants& k, const Matrix3<T>& A) {
    const State<T> at(k, A);
    const Vector3<T> pull = T(k.stretch * (at.r - 1) / select(at.r > 0, at.r, T(1))) * A.col(0);
    Matrix3<T> P, crushed = Matrix3<T>::Zero();
    P << pull + T(1 / at.r) * (at.X * at.s), at.t * (T(k.shear) * at.s).transpose() + at.T_M;
    crushed.col(0) = pull;
    return select(at.exists, P, crushed);
  }

  /// Change of the stress as A changes by dA.
  static Mat3 stress_differential(const Constants& k, const Mat3& A, const Mat3& dA) {
    const State<Real> at(k, A);
    if (!at.exists) return Mat3::Zero();
    const Change d(at, dA);
    const Mat32 dT = at.frame * at.section_change(at.derivative(k), d.B) - at.t * (d.t.transpose() * at.T_M);
    const Mat32 dM = dA.rightCols<2>() - d.t * at.s.transpose() - at.t * d.s.transpose();
    const Vec3 d1 = k.stretch * (d.r * at.t + (at.r - 1) * d.t) +
                    ((k.shear * dM - dT) * at.s + at.X * (d.s - d.r / at.r * at.s)) / at.r;
    Mat3 dP;
    dP << d1, k.shear * (d.t * at.s.transpose() + at.t * d.s.transpose()) + dT;
    return dP;
  }

  /// The same without the curvature of s and M, and without softening by compression along the fiber or of the section:
  /// positive semidefinite, and equal to the exact one where only tension along the fiber acts.
  static Mat3 projected_differential(const Constants& k, const Mat3& A, const Mat3& dA) {
    const State<Real> at(k, A);
    if (!at.exists) return Mat3::Zero();
    const Change d(at, dA);
    const Mat32 dT = at.frame * at.section_change(positive_part(at.derivative(k)), d.B);
    const Vec3 d1 =
        k.stretch * (d.r * at.t + std::max(0.0, at.r - 1) * d.t) + (k.shear * at.M * d.s - dT * at.s) / at.r;
    Mat3 dP;
    dP << d1, k.shear * at.t * d.s.transpose() + dT;
    return dP;
  }

  /// The directors after slip; the tangent stays. First the section: expanded (e1 + e2 >= 0) it is forgotten, shear
  /// with it; else it yields at constant area to
  ///   2 mu (e1 - e2) + alpha (mu + lambda) (e1 + e2) <= 0.
  /// Then the sides: s shrinks to gamma |M s| + beta (mu + lambda) (e1 + e2) <= 0. Crushed and inverted sections are
  /// read as ones of least_stretch.
  template <class T>
  static Matrix3<T> return_map(const Constants& k, const Matrix3<T>& A) {
    using std::exp, std::log, std::max;
    const State<T> at(k, A);
    const auto [mu, lambda] = k.section;
    const T s0 = max(at.parts.s[0], T(least_stretch)), s1 = max(at.parts.s[1], T(least_stretch));
    const T e0 = log(s0), e1 = log(s1), sum = e0 + e1;
    const T excess = 2 * mu * (e0 - e1) + k.across * (mu + lambda) * sum;
    const Mask<T> expanded = sum >= 0, yields = excess > 0, crushed = at.parts.s[1] < least_stretch;
    const T shift = select(yields, T(excess / (4 * mu)), T(0));
    const T g0 = select(expanded, T(1), T(exp(e0 - shift))), g1 = select(expanded, T(1), T(exp(e1 + shift)));
    const Matrix32<T> M = select(expanded || yields || crushed, Matrix32<T>(at.frame * at.parts.with(g0, g1)), at.M);
    const T size = k.shear * Vector3<T>(M * at.s).norm();
    const T limit = k.shear > 0 ? T(-k.along * (mu + lambda) * sum) : T(-1);
    const Mask<T> slips = size > limit;
    const T share = select(limit > 0, select(slips, T(limit / select(slips, size, T(1))), T(1)), T(0));
    Matrix3<T> returned;
    returned << A.col(0), M + at.t * (share * at.s).transpose();
    return select(at.exists && (expanded || yields || crushed || slips), returned, A);
  }

  /// Its change as A changes by dA. M' = frame G(B) with an isotropic G of the section, whose stretches g are functions
  /// of those of B.
  static Mat3 return_differential(const Constants& k, const Mat3& A, const Mat3& dA) {
    const State<Real> at(k, A);
    if (!at.exists) return dA;
    const Change d(at, dA);
    const auto [mu, lambda] = k.section;
    const Vector2<Real> stretch = at.parts.s.cwiseMax(least_stretch), e = stretch.array().log();
    const Vector2<Real> slope = (at.parts.s.array() < least_stretch).select(0, stretch.cwiseInverse());  // de/ds
    const Real sum = e.sum(), excess = 2 * mu * (e[0] - e[1]) + k.across * (mu + lambda) * sum;
    const bool free = sum >= 0, yields = !free && excess > 0, crushed = at.parts.s[1] < least_stretch;
    Vector2<Real> g = at.parts.s;
    PlaneDerivative G{Matrix2<Real>::Identity(), 1, 1};
    if (free || yields || crushed) {
      const Real a = k.across * (mu + lambda) / (4 * mu);
      if (free) g.setOnes();
      else if (yields) g = Vector2<Real>(std::exp((0.5 - a) * sum), std::exp((0.5 + a) * sum));
      else g = stretch;
      if (free) G.stretch.setZero();
      else if (yields) G.stretch = Vector2<Real>((0.5 - a) * g[0], (0.5 + a) * g[1]) * slope.transpose();
      else G.stretch = g.cwiseProduct(slope).asDiagonal();
      const Real apart = at.parts.s[0] - at.parts.s[1];
      G.shear = g[0] == g[1] || apart <= 0 ? 0 : (g[0] - g[1]) / apart;
      G.spin = (g[0] + g[1]) / std::max(at.parts.s.sum(), 1e-6);
    }
    const Mat32 M = at.frame * at.parts.with(g[0], g[1]);
    const Mat32 dM = at.frame * at.section_change(G, d.B) - at.t * (d.t.transpose() * M);
    Vector2<Real> s = Vector2<Real>::Zero(), ds = Vector2<Real>::Zero();
    if (!free && k.shear > 0) {
      const Real size = k.shear * (M * at.s).norm(), limit = -k.along * (mu + lambda) * sum;
      s = at.s;
      ds = d.s;
      if (size > limit) {
        const Vector2<Real> d_stretch = at.in_principal_frame(d.B).diagonal();
        const Real d_limit = -k.along * (mu + lambda) * slope.dot(d_stretch);
        const Real d_size = k.shear * k.shear / size * (M * at.s).dot(dM * at.s + M * d.s);
        s = limit / size * at.s;
        ds = limit / size * d.s + (d_limit - limit / size * d_size) / size * at.s;
      }
    }
    Mat3 change;
    change << dA.col(0), dM + d.t * s.transpose() + at.t * ds.transpose();
    return change;
  }

  /// How far the stress is outside the yield surface [Pa]: the larger of the two conditions of `return_map`.
  static Real yield_excess(const Constants& k, const Mat3& A) {
    const State<Real> at(k, A);
    if (!at.exists) return 0;
    const auto [mu, lambda] = k.section;
    const Real e0 = log_strain(at.parts.s[0]), e1 = log_strain(at.parts.s[1]), pressure = (mu + lambda) * (e0 + e1);
    return std::max(2 * mu * (e0 - e1) + k.across * pressure, k.shear * (at.M * at.s).norm() + k.along * pressure);
  }

  /// [Pa]: no wave across the fiber is faster than sqrt(stiffness / rest density), be it at rest or pressed as it is.
  template <class T>
  static T stiffness(const Constants& k, const Matrix3<T>& A) {
    using std::max;
    const State<T> at(k, A);
    const T rest = T(k.section.lambda + 2 * k.section.mu), sides = A.col(1).squaredNorm() + A.col(2).squaredNorm();
    return max(rest, T(largest(at.derivative(k)) * at.M.squaredNorm())) + k.shear * max(sides, T(1));
  }
  /// [Pa]: no eigenvalue of the part of `projected_differential` that turns changes of the tangent into changes of its
  /// stress is larger.
  template <class T>
  static T tangent_stiffness(const Constants& k, const Matrix3<T>& A) {
    using std::max;
    const State<T> at(k, A);
    const T section = max(largest(at.derivative(k)), T(0)) * at.s.squaredNorm();
    return select(at.exists, T(k.stretch + (k.shear * at.M.squaredNorm() + section) / (at.r * at.r)), T(k.stretch));
  }

 private:
  static constexpr Real least_length = 1e-6;

  /// Unit vectors across t, with det [t frame] = 1. [Duff et al. 2017]
  template <class T>
  static Matrix32<T> frame_across(const Vector3<T>& t) {
    using std::copysign;
    const T sign = copysign(T(1), t[2]), a = -1 / (sign + t[2]), b = t[0] * t[1] * a;
    Matrix32<T> frame;
    frame.col(0) << 1 + sign * t[0] * t[0] * a, sign * b, -sign * t[0];
    frame.col(1) << b, sign + t[1] * t[1] * a, -t[1];
    return frame;
  }

  template <class T>
  struct State {
    T r;
    Mask<T> exists;
    Vector3<T> t;
    Vector2<T> s;
    Matrix32<T> frame;      ///< Unit vectors across t, any two with det [t frame] = 1.
    Matrix2<T> B;           ///< M in that frame.
    PlaneParts<T> parts;    ///< Of B.
    Vector2<T> slope, tau;  ///< Slopes of the logs of its singular values, and stress by these [Pa].
    Matrix32<T> M, T_M, X;  ///< T_M = d psi / dM, X = gamma M - T_M.

    State(const Constants& k, const Matrix3<T>& A)
        : r(A.col(0).norm()),
          exists(r >= least_length),
          t(select(exists, Vector3<T>(A.col(0) / select(exists, r, T(1))), Vector3<T>(Vector3<T>::UnitX()))),
          s(A.template rightCols<2>().transpose() * t),
          frame(frame_across(t)),
          B(frame.transpose() * A.template rightCols<2>()),
          parts(B) {
      const auto [mu, lambda] = k.section;
      const T e0 = log_strain(parts.s[0]), e1 = log_strain(parts.s[1]), mean = lambda * (e0 + e1);
      slope = {log_strain_slope(parts.s[0]), log_strain_slope(parts.s[1])};
      tau = {2 * mu * e0 + mean, 2 * mu * e1 + mean};
      M = frame * B;
      T_M = frame * parts.with(tau[0] * slope[0], tau[1] * slope[1]);
      X = T(k.shear) * M - T_M;
    }
    /// The derivative of d psi / dM as a function of M.
    PlaneDerivativeOf<T> derivative(const Constants& k) const {
      using std::max;
      const auto [mu, lambda] = k.section;
      const T s0 = parts.s[0], s1 = parts.s[1];
      PlaneDerivativeOf<T> d;
      d.stretch = T(lambda) * slope * slope.transpose();
      d.stretch(0, 0) += 2 * mu * slope[0] * slope[0] + tau[0] * log_strain_curvature(s0);
      d.stretch(1, 1) += 2 * mu * slope[1] * slope[1] + tau[1] * log_strain_curvature(s1);
      d.shear = 2 * mu * log_strain_secant(s0, s1) * slope[0] + tau[1] * log_strain_slope_secant(s0, s1);
      d.spin = (tau[0] * slope[0] + tau[1] * slope[1]) / max(T(s0 + s1), T(1e-6));
      return d;
    }
    /// dB between the singular vectors of B.
    Matrix2<Real> in_principal_frame(const Matrix2<Real>& dB) const {
      const PlaneSvd svd = plane_svd(B);
      return svd.U.transpose() * dB * svd.V;
    }
    Matrix2<Real> section_change(const PlaneDerivative& d, const Matrix2<Real>& dB) const {
      const PlaneSvd svd = plane_svd(B);
      return svd.U * plane_change(d, svd.U.transpose() * dB * svd.V) * svd.V.transpose();
    }
  };

  /// How the parts of A change with it; B is M in a frame that turns with t and not about it.
  struct Change {
    Real r;
    Vec3 t;
    Vector2<Real> s;
    Matrix2<Real> B;
    Change(const State<Real>& at, const Mat3& dA) {
      const Mat32 dN = dA.rightCols<2>();
      r = at.t.dot(dA.col(0));
      t = (dA.col(0) - r * at.t) / at.r;
      s = dN.transpose() * at.t + (at.M + at.t * at.s.transpose()).transpose() * t;
      B = at.frame.transpose() * (dN - t * at.s.transpose());
    }
  };
};
using Fiber = FiberOf<>;

/// What is left of the law of a fiber that touches nothing: psi = k/2 (r - 1)^2 of its tangent d, r = |d|. A law of
/// segments, with the functions of a law of sheets.
template <class = void>
struct FreeFiberOf {
  using Constants = Fiber::Constants;
  static Real energy(const Constants& k, const Vec3& d) {
    const Real stretched = d.norm() - 1;
    return 0.5 * k.stretch * stretched * stretched;
  }
  template <class T>
  static Vector3<T> stress(const Constants& k, const Vector3<T>& d) {
    const T r = d.norm();
    return T(k.stretch * (1 - select(r > 0, T(1), T(0)) / select(r > 0, r, T(1)))) * d;
  }
  static Vec3 stress_differential(const Constants& k, const Vec3& d, const Vec3& dd) {
    return differential(k, d, dd, 1 - 1 / std::max(d.norm(), least_length));
  }
  /// Without what compression does to turning.
  static Vec3 projected_differential(const Constants& k, const Vec3& d, const Vec3& dd) {
    return differential(k, d, dd, std::max(0.0, 1 - 1 / std::max(d.norm(), least_length)));
  }
  /// Bound of how fast the stress grows with the tangent [Pa].
  template <class T>
  static T stiffness(const Constants& k, const Vector3<T>& d) {
    using std::abs, std::max;
    return k.stretch * max(T(1), T(abs(1 - 1 / max(T(d.norm()), T(least_length)))));
  }

 private:
  static constexpr Real least_length = 1e-6;

  /// dP = k (t t^T + turning (I - t t^T)) dd with t = d / r and turning = (r - 1) / r.
  static Vec3 differential(const Constants& k, const Vec3& d, const Vec3& dd, Real turning) {
    const Vec3 t = d.normalized(), along = t * t.dot(dd);
    return k.stretch * (along + turning * (dd - along));
  }
};
using FreeFiber = FreeFiberOf<>;

}  // namespace weft
