#pragma once
// Angles between neighbouring elements, their gradients, and the forces of bending; templates on the scalar.

#include "weft/bodies/bending.hpp"
#include "weft/math/scalar.hpp"

#include <array>
#include <cmath>

namespace weft {

template <class T, std::size_t N>
using Corners = std::array<Vector3<T>, N>;

/// Triangles (x0, x1, x2) and (x1, x0, x3), folded about their edge by an angle that is positive where the far corners
/// go down, seen from the side that the normals point to.
template <class T>
struct Fold {
  Vector3<T> e, left, right, n, m;
  T length;

  Fold(const Vector3<T>& x0, const Vector3<T>& x1, const Vector3<T>& x2, const Vector3<T>& x3)
      : e(x1 - x0), left(x2 - x0), right(x3 - x0), n(e.cross(left)), m(right.cross(e)), length(e.norm()) {}

  T angle() const {
    using std::atan2;
    return atan2(T(e.dot(n.cross(m)) / length), T(n.dot(m)));
  }
  Corners<T, 4> gradient() const {
    const Vector3<T> by_left = -(length / n.squaredNorm()) * n, by_right = -(length / m.squaredNorm()) * m;
    // The feet of the far corners on the edge share their forces between its ends.
    const T square = length * length, p = e.dot(left) / square, q = e.dot(right) / square;
    return {-(1 - p) * by_left - (1 - q) * by_right, -p * by_left - q * by_right, by_left, by_right};
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

/// Corners of the folds of a patch: ends of the edge, left and right of it. The first three are those of a triangle.
constexpr std::array<std::array<std::size_t, 4>, 9> folds_of_patch{{{1, 2, 0, 3},
                                                                    {2, 0, 1, 4},
                                                                    {0, 1, 2, 5},
                                                                    {1, 3, 2, 6},
                                                                    {3, 2, 1, 7},
                                                                    {2, 4, 0, 8},
                                                                    {4, 0, 2, 9},
                                                                    {0, 5, 1, 10},
                                                                    {5, 1, 0, 11}}};
template <class T, std::size_t N>
Fold<T> fold_of(const Corners<T, N>& x, int j) {
  const auto& [a, b, left, right] = folds_of_patch[static_cast<std::size_t>(j)];
  return Fold<T>(x[a], x[b], x[left], x[right]);
}

/// What measure k of a triangle, its fold or its share in folds, has of fold j, if it has any.
template <class T>
constexpr bool has_share(const FoldLaw<T>&, int k, int j) {
  return k == j;
}
template <class T>
constexpr bool has_share(const ShareLaw<T>&, int k, int j) {
  return j < 3 || k == (j - 3) / 2;
}
template <class T>
T share_in(const FoldLaw<T>&, int, int) {
  return T(1);
}
template <class T>
const T& share_in(const ShareLaw<T>& law, int k, int j) {
  return j < 3 ? law.own(k, j) : law.beyond(k, (j - 3) % 2);
}
/// Laws of the folds about a triangle.
template <class Law>
concept FoldingLaw = requires(const Law& law) { share_in(law, 0, 0); };

/// The measures less those at rest.
template <FoldingLaw Law, class T, std::size_t N>
Vector3<T> measures_of(const Law& law, const std::array<T, N>& angles) {
  Vector3<T> measures = -law.rest;
  for (int j = 0; j < static_cast<int>(N); ++j)
    for (int k = 0; k < 3; ++k)
      if (has_share(law, k, j)) measures[k] += share_in(law, k, j) * angles[static_cast<std::size_t>(j)];
  return measures;
}
template <FoldingLaw Law, class T, std::size_t N>
T energy_of(const Law& law, const std::array<T, N>& angles) {
  const Vector3<T> measures = measures_of(law, angles);
  return 0.5 * measures.dot(law.stiffness * measures);
}
/// What the triangle opposes to each fold.
template <FoldingLaw Law, class T, std::size_t N>
std::array<T, N> moments_of(const Law& law, const std::array<T, N>& angles) {
  const Vector3<T> opposed = law.stiffness * measures_of(law, angles);
  std::array<T, N> moments;
  moments.fill(T(0));
  for (int j = 0; j < static_cast<int>(N); ++j)
    for (int k = 0; k < 3; ++k)
      if (has_share(law, k, j)) moments[static_cast<std::size_t>(j)] += share_in(law, k, j) * opposed[k];
  return moments;
}

template <FoldingLaw Law>
auto stiffness_of(const Law& law) {
  return law.stiffness;
}
/// Column k of slopes[c] is the gradient of measure k of a bending element by corner c.
template <FoldingLaw Law, class T, std::size_t N>
[[gnu::flatten]] std::array<Matrix3<T>, N> slopes_of(const Law& law, const Corners<T, N>& x) {
  constexpr int folds = N == 6 ? 3 : 9;
  std::array<Matrix3<T>, N> slopes;
  for (Matrix3<T>& of_corner : slopes) of_corner.setZero();
  for (int j = 0; j < folds; ++j) {
    const Corners<T, 4> gradient = fold_of(x, j).gradient();
    for (int k = 0; k < 3; ++k)
      for (std::size_t c = 0; c < 4 && has_share(law, k, j); ++c)
        slopes[folds_of_patch[static_cast<std::size_t>(j)][c]].col(k) += share_in(law, k, j) * gradient[c];
  }
  return slopes;
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
template <FoldingLaw Law, class T, std::size_t N>
CornerMatrix<T, N> exact_stiffness(const Law& law, const Corners<T, N>& x) {
  std::array<T, N == 6 ? 3 : 9> angles;
  for (std::size_t j = 0; j < angles.size(); ++j) angles[j] = fold_of(x, static_cast<int>(j)).angle();
  const auto moments = moments_of(law, angles);
  CornerMatrix<T, N> sum = projected_stiffness(law.stiffness, slopes_of(law, x));
  for (std::size_t j = 0; j < angles.size(); ++j) {
    const auto& corners = folds_of_patch[j];
    const auto H = curvature_of_fold(x[corners[0]], x[corners[1]], x[corners[2]], x[corners[3]]);
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = 0; b < 4; ++b) sum.add(corners[a], corners[b], moments[j] * H[a][b]);
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

/// A bound of the largest eigenvalue of sum_c G_c K G_c^T / m_c, the stiffness of slopes G between masses m: 1.07 times
/// it at most. It is that of the 3 x 3 matrix A = K sum_c G_c^T G_c / m_c, whose eigenvalues are not negative:
/// max <= tr(A^16)^(1/16).
template <class T, std::size_t N>
[[gnu::flatten]] T largest_eigenvalue(const Matrix3<T>& K, const std::array<Matrix3<T>, N>& G,
                                      const std::array<T, N>& inverse_mass) {
  using std::max;
  Matrix3<T> sum = Matrix3<T>::Zero();
  for (std::size_t c = 0; c < N; ++c) sum += inverse_mass[c] * (G[c].transpose() * G[c]);
  Matrix3<T> A = K * sum;
  const T trace = A.trace();
  A *= T(1 / max(trace, T(1e-300)));
  for (int squared = 0; squared < 3; ++squared) A = (A * A).eval();
  T root = max(T(A.cwiseProduct(A.transpose()).sum()), T(1e-300));
  for (int times = 0; times < 4; ++times) root = fast_sqrt(root);
  return trace * root;
}

}  // namespace weft
