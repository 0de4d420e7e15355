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
  template <class T>
  static auto stress_differential(const Constants& k, const Matrix3<T>& A) {
    const State<T> at(k, A);
    return [k, at, derivative = at.derivative(k)](const Matrix3<T>& dA) -> Matrix3<T> {
      const Change<T> d(at, dA);
      const Matrix32<T> dT = at.frame * at.parts.change(derivative, d.B) - at.t * (d.t.transpose() * at.T_M);
      const Matrix32<T> dM = dA.template rightCols<2>() - d.t * at.s.transpose() - at.t * d.s.transpose();
      const Vector3<T> bent = T(k.shear) * (dM * at.s) - dT * at.s + at.X * (d.s - T(d.r * at.inverse_r) * at.s);
      const Vector3<T> d1 = T(k.stretch) * (d.r * at.t + T(at.r - 1) * d.t) + at.inverse_r * bent;
      Matrix3<T> dP;
      dP << d1, T(k.shear) * (d.t * at.s.transpose() + at.t * d.s.transpose()) + dT;
      return select(at.exists, dP, Matrix3<T>(Matrix3<T>::Zero()));
    };
  }

  /// The same without the curvature of s and M, and without softening by compression along the fiber or of the section:
  /// positive semidefinite, and equal to the exact one where only tension along the fiber acts.
  template <class T>
  static auto projected_differential(const Constants& k, const Matrix3<T>& A) {
    using std::max;
    const State<T> at(k, A);
    return [k, at, derivative = positive_part(at.derivative(k)),
            pulled = max(T(at.r - 1), T(0))](const Matrix3<T>& dA) -> Matrix3<T> {
      const Change<T> d(at, dA);
      const Matrix32<T> dT = at.frame * at.parts.change(derivative, d.B);
      const Vector3<T> d1 =
          T(k.stretch) * (d.r * at.t + pulled * d.t) + at.inverse_r * (T(k.shear) * (at.M * d.s) - dT * at.s);
      Matrix3<T> dP;
      dP << d1, T(k.shear) * (at.t * d.s.transpose()) + dT;
      return select(at.exists, dP, Matrix3<T>(Matrix3<T>::Zero()));
    };
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

  /// Its change as A changes by dA.
  template <class T>
  static auto return_differential(const Constants& k, const Matrix3<T>& A) {
    return Slip<T>(k, A);
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
    T inverse_r;  ///< 1 for a fiber that is crushed to a point.
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
          inverse_r(1 / select(exists, r, T(1))),
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
  };

  /// How the parts of A change with it; B is M in a frame that turns with t and not about it.
  template <class T>
  struct Change {
    T r;
    Vector3<T> t;
    Vector2<T> s;
    Matrix2<T> B;
    Change(const State<T>& at, const Matrix3<T>& dA) {
      const Matrix32<T> dN = dA.template rightCols<2>();
      r = at.t.dot(dA.col(0));
      t = at.inverse_r * (dA.col(0) - r * at.t);
      s = dN.transpose() * at.t + (at.M + at.t * at.s.transpose()).transpose() * t;
      B = at.frame.transpose() * (dN - t * at.s.transpose());
    }
  };

  /// The change of what `return_map` leaves. M' = frame G(B) with an isotropic G of the section, whose stretches g are
  /// functions of those of B.
  template <class T>
  struct Slip {
    State<T> at;
    PlaneDerivativeOf<T> G;
    Vector2<T> slope;   ///< Of the logs of the stretches.
    Matrix32<T> M;      ///< M'.
    T share;            ///< What is left of s.
    Mask<T> slides;     ///< The limit of friction decides about it.
    T inverse_size;     ///< Of gamma |M' s|.
    Real along, shear;  ///< beta (mu + lambda) and gamma [Pa].

    Slip(const Constants& k, const Matrix3<T>& A)
        : at(k, A), along(k.along * (k.section.mu + k.section.lambda)), shear(k.shear) {
      using std::log, std::max;
      const auto [mu, lambda] = k.section;
      const T least = T(least_stretch), s0 = max(at.parts.s[0], least), s1 = max(at.parts.s[1], least);
      slope = {select(at.parts.s[0] < least, T(0), T(1 / s0)), select(at.parts.s[1] < least, T(0), T(1 / s1))};
      const T e0 = log(s0), e1 = log(s1), sum = e0 + e1;
      const Mask<T> free = sum >= 0;
      const Vector2<T> g = find_section(k.across * (mu + lambda) / (4 * mu), {s0, s1}, sum, T(e0 - e1), free);
      M = at.frame * at.parts.with(g[0], g[1]);
      const T size = shear * Vector3<T>(M * at.s).norm(), limit = -along * sum;
      inverse_size = 1 / select(size > 0, size, T(1));
      slides = !free && size > limit;
      share = select(free, T(0), select(slides, T(limit * inverse_size), T(1)));
      if (!(shear > 0)) share = T(0);
    }

    Matrix3<T> operator()(const Matrix3<T>& dA) const {
      const Change<T> d(at, dA);
      const Matrix32<T> dM = at.frame * at.parts.change(G, d.B) - at.t * (d.t.transpose() * M);
      Vector2<T> ds = share * d.s;
      if (shear > 0) {
        const Vector2<T> of_stretch = slope.cwiseProduct(at.parts.seen(d.B).diagonal);
        const T d_limit = -along * (of_stretch[0] + of_stretch[1]);
        const Vector3<T> d_slip = dM * at.s + M * d.s;
        const T d_size = shear * shear * inverse_size * Vector3<T>(M * at.s).dot(d_slip);
        ds += select(slides, T((d_limit - share * d_size) * inverse_size), T(0)) * at.s;
      }
      Matrix3<T> change;
      change << dA.col(0), dM + d.t * (share * at.s).transpose() + at.t * ds.transpose();
      return select(at.exists, change, dA);
    }

   private:
    /// Stretches g of the section and their derivative G, from those at least least_stretch, the sum and the difference
    /// of their logs; a: what they yield by.
    Vector2<T> find_section(Real a, const Vector2<T>& stretch, const T& sum, const T& apart, const Mask<T>& free) {
      using std::exp, std::max;
      const T zero = T(0), one = T(1), &s0 = at.parts.s[0], &s1 = at.parts.s[1];
      const Mask<T> yields = !free && apart + 2 * a * sum > 0, changes = free || yields || s1 < least_stretch;
      const Vector2<T> flown(exp((0.5 - a) * sum), exp((0.5 + a) * sum));
      Vector2<T> g;
      for (int i = 0; i < 2; ++i) {
        g[i] = select(free, one, select(yields, flown[i], stretch[i]));
        const T by_own = select(at.parts.s[i] < least_stretch, zero, one),
                rate = (i == 0 ? 0.5 - a : 0.5 + a) * flown[i];
        for (int j = 0; j < 2; ++j)
          G.stretch(i, j) = select(free, zero, select(yields, T(rate * slope[j]), i == j ? by_own : zero));
      }
      const T difference = s0 - s1;
      const Mask<T> stays = g[0] == g[1] || difference <= 0;
      const T shear = select(stays, zero, T((g[0] - g[1]) / select(difference > 0, difference, one)));
      G.shear = select(changes, shear, one);
      G.spin = select(changes, T((g[0] + g[1]) / max(T(s0 + s1), T(1e-6))), one);
      G.bend.setZero();
      return g;
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
  template <class T>
  static auto stress_differential(const Constants& k, const Vector3<T>& d) {
    return differential<T>(k, d, turning(d));
  }
  /// Without what compression does to turning.
  template <class T>
  static auto projected_differential(const Constants& k, const Vector3<T>& d) {
    using std::max;
    return differential<T>(k, d, max(turning(d), T(0)));
  }
  /// Bound of how fast the stress grows with the tangent [Pa].
  template <class T>
  static T stiffness(const Constants& k, const Vector3<T>& d) {
    using std::abs, std::max;
    return k.stretch * max(T(1), T(abs(1 - 1 / max(T(d.norm()), T(least_length)))));
  }

 private:
  static constexpr Real least_length = 1e-6;

  /// (r - 1) / r
  template <class T>
  static T turning(const Vector3<T>& d) {
    using std::max;
    return 1 - 1 / max(T(d.norm()), T(least_length));
  }
  /// dP = k (t t^T + turning (I - t t^T)) dd with t = d / r.
  template <class T>
  static auto differential(const Constants& k, const Vector3<T>& d, const T& turning) {
    const T r = d.norm();
    const Vector3<T> t = d / select(r > 0, r, T(1));
    return [stretch = k.stretch, t, turning](const Vector3<T>& dd) -> Vector3<T> {
      const Vector3<T> along = t * t.dot(dd);
      return T(stretch) * (along + turning * (dd - along));
    };
  }
};
using FreeFiber = FreeFiberOf<>;

}  // namespace weft
