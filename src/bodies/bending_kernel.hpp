#pragma once
// Angles between neighbouring elements, their gradients, and the forces of bending; templates on the scalar.

#include "weft/bodies/bending.hpp"
#include "weft/math/scalar.hpp"

#include <array>
#include <cmath>
#include <type_traits>

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

/// a x, as a matrix.
template <class T>
Matrix3<T> cross_with(const Vector3<T>& a) {
  Matrix3<T> M;
  M << T(0), -a[2], a[1], a[2], T(0), -a[0], -a[1], a[0], T(0);
  return M;
}

/// The second derivative of a fold's angle: block [a][b] is that by corners a and b.
template <class T>
std::array<std::array<Matrix3<T>, 4>, 4> curvature_of_fold(const Vector3<T>& x0, const Vector3<T>& x1,
                                                           const Vector3<T>& x2, const Vector3<T>& x3) {
  // The gradients by x1, x2 and x3 change with e, left and right; that by x0 is what is left of their sum.
  const Vector3<T> e = x1 - x0, left = x2 - x0, right = x3 - x0, n = e.cross(left), m = right.cross(e);
  const T square = e.squaredNorm(), length = fast_sqrt(square);
  const Vector3<T> unit = T(1 / length) * e;
  const auto side = [&](const Vector3<T>& normal, const Vector3<T>& arm, Real sign) {
    struct {
      Vector3<T> gradient, p_by_edge, p_by_arm;
      T p;
      Matrix3<T> by_edge, by_arm;
    } of;
    const T inverse = 1 / normal.squaredNorm();
    const Vector3<T> a = inverse * normal;
    const Matrix3<T> turned = T(length * inverse) * (Matrix3<T>::Identity() - T(2) * normal * a.transpose());
    of.gradient = -length * a;
    of.by_edge = -a * unit.transpose() + T(sign) * turned * cross_with(arm);
    of.by_arm = -T(sign) * turned * cross_with(e);
    of.p = e.dot(arm) / square;
    of.p_by_edge = T(1 / square) * (arm - T(2 * of.p) * e);
    of.p_by_arm = T(1 / square) * e;
    return of;
  };
  const auto of_left = side(n, left, 1), of_right = side(m, right, -1);
  const auto along = [](const auto& of) -> Matrix3<T> {  // of the gradient by x1, with the edge
    return -of.gradient * of.p_by_edge.transpose() - of.p * of.by_edge;
  };
  const auto across = [](const auto& of) -> Matrix3<T> {  // and with the arm
    return -of.gradient * of.p_by_arm.transpose() - of.p * of.by_arm;
  };
  std::array<std::array<Matrix3<T>, 4>, 4> H;
  H[1] = {Matrix3<T>::Zero(), along(of_left) + along(of_right), across(of_left), across(of_right)};
  H[2] = {Matrix3<T>::Zero(), of_left.by_edge, of_left.by_arm, Matrix3<T>::Zero()};
  H[3] = {Matrix3<T>::Zero(), of_right.by_edge, Matrix3<T>::Zero(), of_right.by_arm};
  for (int a = 1; a < 4; ++a) H[a][0] = -H[a][1] - H[a][2] - H[a][3];
  for (int b = 0; b < 4; ++b) H[0][b] = -H[1][b] - H[2][b] - H[3][b];
  return H;
}

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

/// Corners of the folds of a patch: ends of the edge, left and right of it.
constexpr std::array<std::array<std::size_t, 4>, 9> folds_of_patch{{{1, 2, 0, 3},
                                                                    {2, 0, 1, 4},
                                                                    {0, 1, 2, 5},
                                                                    {1, 3, 2, 6},
                                                                    {3, 2, 1, 7},
                                                                    {2, 4, 0, 8},
                                                                    {4, 0, 2, 9},
                                                                    {0, 5, 1, 10},
                                                                    {5, 1, 0, 11}}};
/// What each share of a triangle has of fold j.
template <class T>
Vector3<T> shares_in(const ShareLaw<T>& law, int j) {
  if (j < 3) return law.own.col(j);
  Vector3<T> shares = Vector3<T>::Zero();
  shares[(j - 3) / 2] = law.beyond((j - 3) / 2, (j - 3) % 2);
  return shares;
}
/// The three shares of a triangle in folds, as Folds.
template <class T>
struct Shares {
  Vector3<T> angle = Vector3<T>::Zero();
  std::array<Matrix3<T>, 12> slopes;

  Shares(const ShareLaw<T>& law, const Corners<T, 12>& x) {
    for (Matrix3<T>& of_corner : slopes) of_corner.setZero();
    for (int j = 0; j < 9; ++j) {
      const auto& corners = folds_of_patch[j];
      const Fold<T> fold(x[corners[0]], x[corners[1]], x[corners[2]], x[corners[3]]);
      const Vector3<T> shares = shares_in(law, j);
      angle += fold.angle * shares;
      for (int k = 0; k < 3; ++k) {
        if (j >= 3 && k != (j - 3) / 2) continue;
        for (int c = 0; c < 4; ++c) slopes[corners[c]].col(k) += shares[k] * fold.gradient[c];
      }
    }
  }
};

template <class T>
Folds<T> measures_of(const FoldLaw<T>&, const Corners<T, 6>& x) {
  return Folds<T>(x);
}
template <class T>
Shares<T> measures_of(const ShareLaw<T>& law, const Corners<T, 12>& x) {
  return Shares<T>(law, x);
}
/// Laws of the folds about a triangle.
template <class Law>
concept FoldingLaw = requires(const Law& law) { law.rest; };

template <FoldingLaw Law>
auto stiffness_of(const Law& law) {
  return law.stiffness;
}
template <FoldingLaw Law, class Corners>
auto slopes_of(const Law& law, const Corners& x) {
  return measures_of(law, x).slopes;
}
template <FoldingLaw Law, class Corners>
auto energy_of(const Law& law, const Corners& x) {
  const auto angle = (measures_of(law, x).angle - law.rest).eval();
  using T = std::remove_cvref_t<decltype(angle[0])>;
  return T(0.5 * angle.dot(law.stiffness * angle));
}
template <FoldingLaw Law, class Corners>
Corners forces_of(const Law& law, const Corners& x) {
  const auto at = measures_of(law, x);
  const auto moment = (law.stiffness * (at.angle - law.rest)).eval();
  Corners f;
  for (std::size_t c = 0; c < f.size(); ++c) f[c] = -at.slopes[c] * moment;
  return f;
}

/// A matrix of three rows and columns for each of N corners, column by column. (Eigen allows 128 KiB at most.)
template <class T, std::size_t N>
struct CornerMatrix {
  static constexpr std::size_t side = 3 * N;
  std::array<T, side * side> numbers;

  void add(std::size_t a, std::size_t b, const Matrix3<T>& block) {
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t i = 0; i < 3; ++i)
        numbers[side * (3 * b + j) + 3 * a + i] += block(static_cast<int>(i), static_cast<int>(j));
  }
  const T& operator()(std::size_t number) const { return numbers[number]; }
  const T& operator()(std::size_t i, std::size_t j) const { return numbers[side * j + i]; }
};

/// The second derivative of the energy by the corners, or what the slopes alone leave of it.
template <class S, std::size_t N>
CornerMatrix<S, N> projected_stiffness(const Matrix3<S>& K, const std::array<Matrix3<S>, N>& G) {
  CornerMatrix<S, N> sum;
  sum.numbers.fill(S(0));
  for (std::size_t a = 0; a < N; ++a) {
    const Matrix3<S> weighed = G[a] * K;
    for (std::size_t b = 0; b < N; ++b) sum.add(a, b, weighed.lazyProduct(G[b].transpose()));
  }
  return sum;
}
template <class T>
T moment_in(const FoldLaw<T>&, const Vector3<T>& moments, int j) {
  return moments[j];
}
template <class T>
T moment_in(const ShareLaw<T>& law, const Vector3<T>& moments, int j) {
  return shares_in(law, j).dot(moments);
}
template <class T, template <class> class Law, std::size_t N>
  requires FoldingLaw<Law<T>>
auto exact_stiffness(const Law<T>& law, const Corners<T, N>& x) {
  constexpr int folds = N == 6 ? 3 : 9;
  const auto at = measures_of(law, x);
  const Vector3<T> moments = law.stiffness * (at.angle - law.rest);
  auto sum = projected_stiffness<T, N>(law.stiffness, at.slopes);
  for (int j = 0; j < folds; ++j) {
    const auto& corners = folds_of_patch[j];
    const auto H = curvature_of_fold(x[corners[0]], x[corners[1]], x[corners[2]], x[corners[3]]);
    const T moment = moment_in(law, moments, j);
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b) sum.add(corners[a], corners[b], moment * H[a][b]);
  }
  return sum;
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
/// Its second derivative.
template <class T>
T curvature_of_turn(const T& c) {
  return select(c > most_turned, T(8 / ((1 + c) * (1 + c) * (1 + c))), T(0));
}

template <class S>
Matrix3<S> stiffness_of(const BendLaw<S>& law) {
  return law.stiffness * Matrix3<S>::Identity();
}
template <class T>
T energy_of(const BendLaw<T>& law, const Corners<T, 3>& x) {
  const Vector3<T> e = x[1] - x[0], f = x[2] - x[1];
  return law.stiffness * Turn<T>(e.dot(f) / (e.norm() * f.norm())).value;
}
template <class T>
Corners<T, 3> forces_of(const BendLaw<T>& law, const Corners<T, 3>& x) {
  const Vector3<T> e = x[1] - x[0], f = x[2] - x[1];
  const T le = e.norm(), lf = f.norm();
  const Vector3<T> te = e / le, tf = f / lf;
  const T c = te.dot(tf), pull = law.stiffness * Turn<T>(c).slope;
  const Vector3<T> by_e = (pull / le) * (tf - c * te), by_f = (pull / lf) * (te - c * tf);
  return {by_e, Vector3<T>(by_f - by_e), Vector3<T>(-by_f)};
}
template <class T>
CornerMatrix<T, 3> exact_stiffness(const BendLaw<T>& law, const Corners<T, 3>& x) {
  const Vector3<T> e = x[1] - x[0], f = x[2] - x[1];
  const T le = 1 / e.norm(), lf = 1 / f.norm();
  const Vector3<T> te = le * e, tf = lf * f;
  const T c = te.dot(tf), pull = law.stiffness * Turn<T>(c).slope, growth = law.stiffness * curvature_of_turn(c);
  // Of the cosine c: derivatives by e and f, and theirs.
  const Vector3<T> u = le * (tf - c * te), w = lf * (te - c * tf);
  const Matrix3<T> I = Matrix3<T>::Identity();
  const auto second = [&](const Vector3<T>& t, const Vector3<T>& slope, const T& l) -> Matrix3<T> {
    const Matrix3<T> half = t * slope.transpose();
    return -l * (half + half.transpose()) - T(c * l * l) * (I - t * t.transpose());
  };
  const Matrix3<T> ee = growth * u * u.transpose() + pull * second(te, u, le);
  const Matrix3<T> ff = growth * w * w.transpose() + pull * second(tf, w, lf);
  const Matrix3<T> ef =
      growth * u * w.transpose() + T(pull * le) * (lf * (I - tf * tf.transpose()) - te * w.transpose());
  CornerMatrix<T, 3> sum;
  sum.numbers.fill(T(0));
  const std::array<std::array<Matrix3<T>, 3>, 3> blocks{{{ee, ef - ee, -ef},
                                                         {ef.transpose() - ee, ee + ff - ef - ef.transpose(), ef - ff},
                                                         {-ef.transpose(), ef.transpose() - ff, ff}}};
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) sum.add(a, b, blocks[a][b]);
  return sum;
}
/// Of the curvature binormal kb = 2 e x f / chi, chi = |e| |f| + e . f, which is held where the energy goes on
/// linearly.
template <class T>
std::array<Matrix3<T>, 3> slopes_of(const BendLaw<T>&, const Corners<T, 3>& x) {
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
