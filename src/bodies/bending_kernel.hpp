#pragma once
// Angles between neighbouring elements, their gradients, and the forces of bending; templates on the scalar.

#include "weft/bodies/bending.hpp"
#include "weft/math/dual.hpp"

#include <algorithm>
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

template <class T>
struct Folds {
  Vector3<T> angle = Vector3<T>::Zero();
  std::array<Corners<T, 6>, 3> gradient;

  Folds(const FoldedTriangle& s, const Corners<T, 6>& x) {
    for (int k = 0; k < 3; ++k) {
      gradient[k].fill(Vector3<T>::Zero());
      if (s.rows[3 + k] < 0) continue;
      const int a = (k + 1) % 3, b = (k + 2) % 3;
      const Fold<T> fold(x[a], x[b], x[k], x[3 + k]);
      angle[k] = fold.angle - s.rest[k];
      gradient[k][a] = fold.gradient[0];
      gradient[k][b] = fold.gradient[1];
      gradient[k][k] = fold.gradient[2];
      gradient[k][3 + k] = fold.gradient[3];
    }
  }
};

inline Real energy_of(const FoldedTriangle& s, const Corners<Real, 6>& x) {
  const Folds<Real> at(s, x);
  return 0.5 * at.angle.dot(s.stiffness * at.angle);
}
template <class T>
Corners<T, 6> forces_of(const FoldedTriangle& s, const Corners<T, 6>& x) {
  const Folds<T> at(s, x);
  const Vector3<T> moment = s.stiffness.template cast<T>() * at.angle;
  Corners<T, 6> f;
  for (int c = 0; c < 6; ++c) {
    f[c].setZero();
    for (int k = 0; k < 3; ++k) f[c] -= moment[k] * at.gradient[k][c];
  }
  return f;
}
inline Corners<Real, 6> projected_change_of(const FoldedTriangle& s, const Corners<Real, 6>& x,
                                            const Corners<Real, 6>& dx) {
  const Folds<Real> at(s, x);
  Vec3 turn = Vec3::Zero();
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 6; ++c) turn[k] += at.gradient[k][c].dot(dx[c]);
  const Vec3 moment = s.stiffness * turn;
  Corners<Real, 6> f;
  for (int c = 0; c < 6; ++c)
    f[c] = -moment[0] * at.gradient[0][c] - moment[1] * at.gradient[1][c] - moment[2] * at.gradient[2][c];
  return f;
}

/// |kb|^2 / 2 = 2 (1 - c) / (1 + c) and its derivative by the cosine c of the turn.
template <class T>
struct Turn {
  T value, slope;
  explicit Turn(const T& c) {
    constexpr Real least = -0.94;  // 160 degrees
    const T held = value_of(c) > least ? c : T(least);
    slope = -4 / ((1 + held) * (1 + held));
    value = 2 * (1 - held) / (1 + held) + slope * (c - held);
  }
};

inline Real energy_of(const BentVertex& s, const Corners<Real, 3>& x) {
  return s.stiffness * Turn<Real>((x[1] - x[0]).normalized().dot((x[2] - x[1]).normalized())).value;
}
template <class T>
Corners<T, 3> forces_of(const BentVertex& s, const Corners<T, 3>& x) {
  const Vector3<T> e = x[1] - x[0], f = x[2] - x[1];
  const T le = e.norm(), lf = f.norm();
  const Vector3<T> te = e / le, tf = f / lf;
  const T c = te.dot(tf), pull = T(s.stiffness) * Turn<T>(c).slope;
  const Vector3<T> by_e = (pull / le) * (tf - c * te), by_f = (pull / lf) * (te - c * tf);
  return {by_e, Vector3<T>(by_f - by_e), Vector3<T>(-by_f)};
}
/// The curvature binormal.
template <class T>
Vector3<T> binormal(const Corners<T, 3>& x) {
  const Vector3<T> e = x[1] - x[0], f = x[2] - x[1];
  const T sum = e.norm() * f.norm() + e.dot(f);
  return value_of(sum) > 0 ? Vector3<T>(T(2) * e.cross(f) / sum) : Vector3<T>::Zero();
}
inline Corners<Real, 3> projected_change_of(const BentVertex& s, const Corners<Real, 3>& x,
                                            const Corners<Real, 3>& dx) {
  std::array<Mat3, 3> J;
  Vec3 change = Vec3::Zero();
  for (int a = 0; a < 3; ++a)
    for (int i = 0; i < 3; ++i) {
      Corners<Dual, 3> moved;
      for (int b = 0; b < 3; ++b) moved[b] = x[b].cast<Dual>();
      moved[a][i].slope = 1;
      const Vector3<Dual> kb = binormal(moved);
      J[a].col(i) = slopes(kb);
      change += J[a].col(i) * dx[a][i];
    }
  return {Vec3(-s.stiffness * J[0].transpose() * change), Vec3(-s.stiffness * J[1].transpose() * change),
          Vec3(-s.stiffness * J[2].transpose() * change)};
}

}  // namespace weft
