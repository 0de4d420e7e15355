#pragma once
// Angles between neighbouring elements, their gradients, and the forces of bending; templates on the scalar.

#include "weft/bodies/bending.hpp"
#include "weft/math/dual.hpp"
#include "weft/math/scalar.hpp"

#include <array>
#include <cmath>

namespace weft {

template <class T, std::size_t N>
using Corners = std::array<Vector3<T>, N>;

/// The angle by which triangles (x0, x1, x2) and (x1, x0, x3) are folded about their edge, and its gradient: positive
/// where the far corners go down, seen from the side that the normals point to.
template <class T>
struct Fold {
  T angle;
  Corners<T, 4> gradient;

  Fold(const Vector3<T>& x0, const Vector3<T>& x1, const Vector3<T>& x2, const Vector3<T>& x3) {
    using std::atan2;
    const Vector3<T> e = x1 - x0, left = x2 - x0, right = x3 - x0;
    const Vector3<T> n = e.cross(left), m = right.cross(e);
    const T length = e.norm(), square = length * length;
    angle = atan2(T(e.dot(n.cross(m)) / length), T(n.dot(m)));
    gradient[2] = -(length / n.squaredNorm()) * n;
    gradient[3] = -(length / m.squaredNorm()) * m;
    // The feet of the far corners on the edge share their forces between its ends.
    const T p = e.dot(left) / square, q = e.dot(right) / square;
    gradient[1] = -p * gradient[2] - q * gradient[3];
    gradient[0] = -(1 - p) * gradient[2] - (1 - q) * gradient[3];
  }
};

/// The measures of a bending element, here three angles, and how they change: column k of slopes[c] is the gradient of
/// measure k by corner c.
template <class T>
struct Folds {
  Vector3<T> angle;
  std::array<Matrix3<T>, 6> slopes;

  explicit Folds(const Corners<T, 6>& x) {
    for (Matrix3<T>& of_corner : slopes) of_corner.setZero();
    for (int k = 0; k < 3; ++k) {
      const int a = (k + 1) % 3, b = (k + 2) % 3;
      const Fold<T> fold(x[a], x[b], x[k], x[3 + k]);
      angle[k] = fold.angle;
      slopes[a].col(k) = fold.gradient[0];
      slopes[b].col(k) = fold.gradient[1];
      slopes[k].col(k) = fold.gradient[2];
      slopes[3 + k].col(k) = fold.gradient[3];
    }
  }
};

template <class S>
Matrix3<S> stiffness_of(const FoldLaw<S>& law) {
  return law.stiffness;
}
template <class T>
std::array<Matrix3<T>, 6> slopes_of(const Corners<T, 6>& x) {
  return Folds<T>(x).slopes;
}
inline Real energy_of(const FoldLaw<Real>& law, const Corners<Real, 6>& x) {
  const Vec3 angle = Folds<Real>(x).angle - law.rest;
  return 0.5 * angle.dot(law.stiffness * angle);
}
template <class S, class T>
Corners<T, 6> forces_of(const FoldLaw<S>& law, const Corners<T, 6>& x) {
  const Folds<T> at(x);
  const Vector3<T> moment = law.stiffness.template cast<T>() * (at.angle - law.rest.template cast<T>());
  Corners<T, 6> f;
  for (int c = 0; c < 6; ++c) f[c] = -at.slopes[c] * moment;
  return f;
}

constexpr Real most_turned = -0.94;  ///< Cosine of the turn beyond which bending goes on linearly: 160 degrees.

/// |kb|^2 / 2 = 2 (1 - c) / (1 + c) and its derivative by the cosine c of the turn.
template <class T>
struct Turn {
  T value, slope;
  explicit Turn(const T& c) {
    const T held = select(value_of(c) > most_turned, c, T(most_turned));
    slope = -4 / ((1 + held) * (1 + held));
    value = 2 * (1 - held) / (1 + held) + slope * (c - held);
  }
};

template <class S>
Matrix3<S> stiffness_of(const BendLaw<S>& law) {
  return law.stiffness * Matrix3<S>::Identity();
}
inline Real energy_of(const BendLaw<Real>& law, const Corners<Real, 3>& x) {
  return law.stiffness * Turn<Real>((x[1] - x[0]).normalized().dot((x[2] - x[1]).normalized())).value;
}
template <class S, class T>
Corners<T, 3> forces_of(const BendLaw<S>& law, const Corners<T, 3>& x) {
  const Vector3<T> e = x[1] - x[0], f = x[2] - x[1];
  const T le = e.norm(), lf = f.norm();
  const Vector3<T> te = e / le, tf = f / lf;
  const T c = te.dot(tf), pull = T(law.stiffness) * Turn<T>(c).slope;
  const Vector3<T> by_e = (pull / le) * (tf - c * te), by_f = (pull / lf) * (te - c * tf);
  return {by_e, Vector3<T>(by_f - by_e), Vector3<T>(-by_f)};
}
/// a x, as a matrix.
template <class T>
Matrix3<T> cross_with(const Vector3<T>& a) {
  Matrix3<T> M;
  M << T(0), -a[2], a[1], a[2], T(0), -a[0], -a[1], a[0], T(0);
  return M;
}
/// Of the curvature binormal kb = 2 e x f / chi, chi = |e| |f| + e . f, which is held where the energy goes on
/// linearly.
template <class T>
std::array<Matrix3<T>, 3> slopes_of(const Corners<T, 3>& x) {
  const Vector3<T> e = x[1] - x[0], f = x[2] - x[1];
  const T le = e.norm(), lf = f.norm(), product = le * lf, sum = product + e.dot(f);
  const T least = (1 + most_turned) * product, inverse = 1 / select(value_of(sum) > least, sum, least);
  const Vector3<T> kb = T(2 * inverse) * e.cross(f);
  const Vector3<T> chi_e = (lf / le) * e + f, chi_f = (le / lf) * f + e;               // d chi / de, d chi / df
  const Matrix3<T> by_e = inverse * (T(2) * cross_with(f) - chi_e * kb.transpose());   // (d kb / de)^T
  const Matrix3<T> by_f = -inverse * (T(2) * cross_with(e) + chi_f * kb.transpose());  // (d kb / df)^T
  return {Matrix3<T>(-by_e), Matrix3<T>(by_e - by_f), by_f};
}

/// Sums, over the corners b, of the norms of the blocks G_a K G_b^T of a projected stiffness with the slopes G. The
/// square of a norm is tr(K S_a K S_b) with S = G^T G: no block is made.
template <class T, std::size_t N>
std::array<T, N> springs_of(const Matrix3<T>& K, const std::array<Matrix3<T>, N>& G) {
  using std::max;
  constexpr Real least = 1e-300;  // a root of zero
  std::array<Matrix3<T>, N> KS;
  for (std::size_t a = 0; a < N; ++a) KS[a] = K * (G[a].transpose() * G[a]);
  std::array<T, N> sums;
  sums.fill(T(0));
  for (std::size_t a = 0; a < N; ++a)
    for (std::size_t b = a; b < N; ++b) {
      const T norm = fast_sqrt(max(T(KS[a].cwiseProduct(KS[b].transpose()).sum()), T(least)));
      sums[a] += norm;
      if (a != b) sums[b] += norm;
    }
  return sums;
}

}  // namespace weft
