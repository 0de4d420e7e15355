#pragma once
// Mechanics of one point of a Kirchhoff-Love shell: fundamental forms of the surface, metric of its laminae, and the
// first and second derivatives of an energy of these by tangents and second derivatives of the surface.

#include "weft/bodies/shell.hpp"
#include "weft/math/quadrature.hpp"
#include "weft/math/tangent.hpp"

#include <array>
#include <cmath>
#include <span>
#include <vector>

namespace weft {

/// Quadrature points of a face. On quads n x n Gauss points; on triangles one, three or six points, exact for
/// polynomials of degree n for n = 1, 2 and of degree 4 for n = 3 [Dunavant 1985], and from n = 4 on n x n Gauss points
/// of the square that is pulled to a triangle, exact to degree 2 n - 2.
struct FaceRule {
  std::vector<Vec2> at;
  std::vector<Real> weight;  ///< Sum to the area of the face in its coordinates.
  FaceRule(int sides, int n) {
    if (sides == 3 && n < 4) {
      if (n == 1) add(1.0 / 3, 0.5);
      if (n == 2) add_three(1.0 / 6, 1.0 / 6);
      if (n == 3) {
        add_three(0.44594849091596489, 0.22338158967801147 / 2);
        add_three(0.091576213509770743, 0.10995174365532187 / 2);
      }
      return;
    }
    const Quadrature rule = gauss(n);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const Real left = sides == 3 ? 1 - rule.at[j] : 1;
        at.emplace_back(left * rule.at[i], rule.at[j]);
        weight.push_back(left * rule.weight[i] * rule.weight[j]);
      }
  }

 private:
  void add(Real a, Real w) {
    at.emplace_back(a, a);
    weight.push_back(w);
  }
  /// Three points of barycentric coordinates a, a and 1 - 2 a.
  void add_three(Real a, Real w) {
    add(a, w);
    at.emplace_back(1 - 2 * a, a);
    at.emplace_back(a, 1 - 2 * a);
    weight.insert(weight.end(), 2, w);
  }
};

/// Tangents and second derivatives of a surface in columns: a1, a2, a11, a12, a22. [docs/theory/shells.md, 9.1]
template <class T>
using SurfaceJet = Eigen::Matrix<T, 3, 5>;

/// Of a row of weights; differences to the first control point keep digits far from the origin. One direction after the
/// other, so that sums stay in registers.
template <class W, class T>
SurfaceJet<T> jet_of(std::span<const BasisWeightsOf<W>> row, std::span<const Vector3<T>> corners) {
  SurfaceJet<T> q;
  for (int i = 0; i < 3; ++i) {
    T d1(0), d2(0), d11(0), d12(0), d22(0);
    for (std::size_t a = 1; a < row.size(); ++a) {
      const T r = corners[a][i] - corners[0][i];
      d1 += T(row[a].d1) * r;
      d2 += T(row[a].d2) * r;
      d11 += T(row[a].d11) * r;
      d12 += T(row[a].d12) * r;
      d22 += T(row[a].d22) * r;
    }
    q.row(i) << d1, d2, d11, d12, d22;
  }
  return q;
}
/// The tangents alone.
template <class W, class T>
Matrix32<T> tangents_of(std::span<const BasisWeightsOf<W>> row, std::span<const Vector3<T>> corners) {
  Matrix32<T> F = Matrix32<T>::Zero();
  for (std::size_t a = 1; a < row.size(); ++a) {
    const Vector3<T> r = corners[a] - corners[0];
    F.col(0) += T(row[a].d1) * r;
    F.col(1) += T(row[a].d2) * r;
  }
  return F;
}
template <class W, class T>
Vector3<T> position_of(std::span<const BasisWeightsOf<W>> row, std::span<const Vector3<T>> corners) {
  Vector3<T> sum = Vector3<T>::Zero();
  for (std::size_t a = 0; a < row.size(); ++a) sum += T(row[a].value) * corners[a];
  return sum;
}
/// Adds the forces on control points by the derivative of an energy by the jet, or by the tangents alone.
template <class W, class T>
void add_jet_force(std::span<const BasisWeightsOf<W>> row, const SurfaceJet<T>& G, std::span<Vector3<T>> force) {
  for (int i = 0; i < 3; ++i) {
    const Eigen::Matrix<T, 1, 5> g = G.row(i);
    for (std::size_t a = 0; a < row.size(); ++a)
      force[a][i] -= T(row[a].d1) * g[0] + T(row[a].d2) * g[1] + T(row[a].d11) * g[2] + T(row[a].d12) * g[3] +
                     T(row[a].d22) * g[4];
  }
}
template <class W, class T>
void add_tangent_force(std::span<const BasisWeightsOf<W>> row, const Matrix32<T>& P, std::span<Vector3<T>> force) {
  for (std::size_t a = 0; a < row.size(); ++a) force[a] -= T(row[a].d1) * P.col(0) + T(row[a].d2) * P.col(1);
}

/// The control points of a face, in its order.
inline std::vector<Vec3> corners_of(const LimitBasis& basis, std::int64_t e, std::span<const Vec3> x) {
  std::vector<Vec3> corners;
  for (const std::int32_t point : basis.points_of(e)) corners.push_back(x[static_cast<std::size_t>(point)]);
  return corners;
}
inline SurfaceJet<Real> jet_at(const LimitBasis& basis, std::int64_t e, int s, std::span<const Vec3> x) {
  return jet_of(basis.row(e, s), std::span<const Vec3>(corners_of(basis, e, x)));
}
inline Mat32 tangents_at(const LimitBasis& basis, std::int64_t e, int s, std::span<const Vec3> x) {
  return tangents_of(basis.row(e, s), std::span<const Vec3>(corners_of(basis, e, x)));
}
/// Where a sample of face e of a basis lies, or what points have there [unit of x].
inline Vec3 place_at(const LimitBasis& basis, std::int64_t e, int s, std::span<const Vec3> x) {
  return position_of(basis.row(e, s), std::span<const Vec3>(corners_of(basis, e, x)));
}

/// Components (11, 22, 12) of the first and of the second fundamental form.
template <class T>
using Forms = Eigen::Matrix<T, 6, 1>;

template <class T>
Vector3<T> unit_normal(const Vector3<T>& a1, const Vector3<T>& a2) {
  using std::sqrt;
  const Vector3<T> c(a1[1] * a2[2] - a1[2] * a2[1], a1[2] * a2[0] - a1[0] * a2[2], a1[0] * a2[1] - a1[1] * a2[0]);
  return c / sqrt(T(c.dot(c)));
}

/// A point of a surface: unit normal, both forms, and what their derivatives need.
template <class T>
struct SurfacePoint {
  Vector3<T> n;
  Forms<T> forms;             ///< a11, a22, a12, b11, b22, b12
  Matrix2<T> inverse_metric;  ///< a^{ab}
  Matrix3<T> dual;            ///< a^1 and a^2 in the first two columns; the third is unused.

  explicit SurfacePoint(const SurfaceJet<T>& q) {
    const Vector3<T> a1 = q.col(0), a2 = q.col(1);
    n = unit_normal(a1, a2);
    forms << a1.dot(a1), a2.dot(a2), a1.dot(a2), n.dot(q.col(2)), n.dot(q.col(4)), n.dot(q.col(3));
    const T D = forms[0] * forms[1] - forms[2] * forms[2];
    inverse_metric << forms[1] / D, -forms[2] / D, -forms[2] / D, forms[0] / D;
    dual.col(0) = inverse_metric(0, 0) * a1 + inverse_metric(0, 1) * a2;
    dual.col(1) = inverse_metric(1, 0) * a1 + inverse_metric(1, 1) * a2;
    dual.col(2).setZero();
  }
};

inline Real determinant(const Symmetric2<Real>& s) { return s[0] * s[1] - s[2] * s[2]; }

/// Area of the surface for each unit of the face's coordinates.
inline Real area_of(const SurfacePoint<Real>& at) { return std::sqrt(determinant(at.forms.head<3>())); }

template <class T>
Matrix2<T> form_matrix(const Symmetric2<T>& s) {
  Matrix2<T> M;
  M << s[0], s[2], s[2], s[1];
  return M;
}
template <class T>
Symmetric2<T> components(const Matrix2<T>& M) {
  return {M(0, 0), M(1, 1), (M(0, 1) + M(1, 0)) / 2};
}

/// Metric of the lamina at height xi along the normal, g = a - 2 xi b + xi^2 c with c = b a^{-1} b, as a function of
/// the forms. [docs/theory/shells.md, (9.2)]
template <class T>
struct LaminaMetric {
  Matrix2<T> inverse, X;  ///< a^{-1}, and a^{-1} b.
  Symmetric2<T> a, b, c;

  explicit LaminaMetric(const Forms<T>& forms) : a(forms.template head<3>()), b(forms.template tail<3>()) {
    const T D = a[0] * a[1] - a[2] * a[2];
    inverse << a[1] / D, -a[2] / D, -a[2] / D, a[0] / D;
    X = inverse * form_matrix(b);
    c = components<T>(form_matrix(b) * X);
  }

  Symmetric2<T> at(const T& xi) const { return a - T(2 * xi) * b + T(xi * xi) * c; }

  /// Derivative of c by the six components of the forms: dc = db X + X^T db - X^T da X.
  Eigen::Matrix<T, 3, 6> c_by_forms() const {
    Eigen::Matrix<T, 3, 6> C;
    for (int k = 0; k < 3; ++k) {
      const Matrix2<T> d = unit(k), dX = d * X;
      C.col(k) = components<T>(-X.transpose() * dX);
      C.col(3 + k) = components<T>(dX + dX.transpose());
    }
    return C;
  }

  /// sum_k p_k d2c_k: as a form in the change of the forms it is 2 P : (Y^T a^{-1} Y) with Y = db - da X.
  Eigen::Matrix<T, 6, 6> c_second(const Symmetric2<T>& p) const {
    Matrix2<T> P;
    P << p[0], p[2] / 2, p[2] / 2, p[1];
    std::array<Matrix2<T>, 6> Y;
    for (int k = 0; k < 3; ++k) {
      Y[k] = -unit(k) * X;
      Y[3 + k] = unit(k);
    }
    Eigen::Matrix<T, 6, 6> H;
    for (int i = 0; i < 6; ++i) {
      const Matrix2<T> left = inverse * Y[i] * P;
      for (int j = 0; j < 6; ++j) H(i, j) = 2 * (left.cwiseProduct(Y[j])).sum();
    }
    return H;
  }

 private:
  /// The symmetric matrix whose k-th component is 1.
  static Matrix2<T> unit(int k) {
    Symmetric2<T> s = Symmetric2<T>::Zero();
    s[k] = T(1);
    return form_matrix<T>(s);
  }
};

/// An energy of the forms [J], or its derivatives by them as far as they are asked for.
enum class Asked { energy, gradient, hessian };
template <class T>
struct FormsEnergy {
  T energy = T(0);
  Forms<T> gradient;
  Eigen::Matrix<T, 6, 6> hessian;
};

/// A law without memory: what each lamina opposes to its elastic metric.
template <LaminaLaw L>
struct ElasticLaminae {
  const typename L::Constants& k;
  template <class T>
  T energy(int, const Symmetric2<T>& c) const {
    return L::energy(k, c);
  }
  template <class T>
  Symmetric2<T> gradient(int, const Symmetric2<T>& c) const {
    return L::gradient(k, c);
  }
  template <class T>
  Matrix3<T> hessian(int, const Symmetric2<T>& c) const {
    return L::hessian(k, c);
  }
};

/// The same of laminae that may flow beyond their plastic strain so far. Those that do are few: lane by lane.
struct FlowingLaminae {
  const LaminaHencky::Constants& k;
  const LaminaYield& y;
  std::span<const Pack> strain;
  Pack energy(int l, const Symmetric2<Pack>& c) const {
    Pack energy = LaminaHencky::energy(k, c);
    each_flowing(l, c, [&](int lane, const Symmetric2<Real>& its) {
      energy.set(lane, FlowingHencky::energy(k, y, strain[l][lane], its));
    });
    return energy;
  }
  Symmetric2<Pack> gradient(int l, const Symmetric2<Pack>& c) const {
    Symmetric2<Pack> gradient = LaminaHencky::gradient(k, c);
    each_flowing(l, c, [&](int lane, const Symmetric2<Real>& its) {
      const Symmetric2<Real> of_lane = FlowingHencky::gradient(k, y, strain[l][lane], its);
      for (int i = 0; i < 3; ++i) gradient[i].set(lane, of_lane[i]);
    });
    return gradient;
  }
  Matrix3<Pack> hessian(int l, const Symmetric2<Pack>& c) const {
    Matrix3<Pack> hessian = LaminaHencky::hessian(k, c);
    each_flowing(l, c, [&](int lane, const Symmetric2<Real>& its) {
      const Mat3 of_lane = FlowingHencky::hessian(k, y, strain[l][lane], its);
      for (int i = 0; i < 9; ++i) hessian(i).set(lane, of_lane(i));
    });
    return hessian;
  }
  /// of(lane, its metric) of each lane that flows.
  template <class Of>
  void each_flowing(int l, const Symmetric2<Pack>& c, Of&& of) const {
    const Pack beyond = select(FlowingHencky::may_flow(k, y, strain[l], c), 1, 0);
    if (!any(beyond > 0)) return;
    for (int lane = 0; lane < Pack::size; ++lane)
      if (beyond[lane] > 0) of(lane, Symmetric2<Real>(c[0][lane], c[1][lane], c[2][lane]));
  }
};

/// What the laminae of a point of the surface oppose to its forms. `law` is one of the above, `elastic_map(l)` the map
/// of metrics at lamina l, with its plastic stretch taken off.
template <Asked asked, class T, class Laws, class ElasticMap>
FormsEnergy<T> energy_of_laminae(const Laws& law, std::span<const LaminaOf<T>> laminae, const ElasticMap& elastic_map,
                                 const Forms<T>& forms) {
  using Vector = Vector3<T>;
  FormsEnergy<T> sum;
  if constexpr (asked == Asked::hessian) sum.hessian.setZero();
  const LaminaMetric<T> metric(forms);
  Vector p0 = Vector::Zero(), p1 = p0, p2 = p0;  // sums of volume xi^n dpsi/dg
  const Eigen::Matrix<T, 3, 6> C = asked == Asked::energy ? Eigen::Matrix<T, 3, 6>() : metric.c_by_forms();
  for (int l = 0; l < static_cast<int>(laminae.size()); ++l) {
    const auto& [xi, volume, to_material] = laminae[l];
    const Matrix3<T> M = congruence<T>(elastic_map(l));
    const Vector strain = M * metric.at(xi);
    if constexpr (asked == Asked::energy) {
      sum.energy += volume * law.energy(l, strain);
      continue;
    }
    const Vector p = volume * Vector(M.transpose() * law.gradient(l, strain));
    p0 += p;
    p1 += xi * p;
    p2 += T(xi * xi) * p;
    if constexpr (asked == Asked::hessian) {
      const Matrix3<T> h = volume * Matrix3<T>(M.transpose() * Matrix3<T>(law.hessian(l, strain) * M));
      Eigen::Matrix<T, 3, 6> G = T(xi * xi) * C;
      for (int i = 0; i < 3; ++i) {
        G(i, i) += 1;
        G(i, 3 + i) -= 2 * xi;
      }
      const Eigen::Matrix<T, 3, 6> stiffened = h.lazyProduct(G);
      sum.hessian += G.transpose().lazyProduct(stiffened);
    }
  }
  if constexpr (asked != Asked::energy) {
    sum.gradient << p0, Vector(T(-2) * p1);
    sum.gradient += C.transpose().lazyProduct(p2);
  }
  if constexpr (asked == Asked::hessian) sum.hessian += metric.c_second(p2);
  return sum;
}

/// Derivative of an energy of the forms by the jet, from its derivative w by the forms. [docs/theory/shells.md, (9.8)]
template <class T>
SurfaceJet<T> jet_gradient(const SurfaceJet<T>& q, const SurfacePoint<T>& at, const Forms<T>& w) {
  const Vector3<T> curved = w[3] * q.col(2) + w[4] * q.col(4) + w[5] * q.col(3);  // sum w_b^{ab} a_ab
  SurfaceJet<T> G;
  G.col(0) = T(2 * w[0]) * q.col(0) + w[2] * q.col(1) - at.dual.col(0).dot(curved) * at.n;
  G.col(1) = T(2 * w[1]) * q.col(1) + w[2] * q.col(0) - at.dual.col(1).dot(curved) * at.n;
  G.col(2) = w[3] * at.n;
  G.col(3) = w[5] * at.n;
  G.col(4) = w[4] * at.n;
  return G;
}

/// Second derivative by the jet (columns of the jet one after another) of an energy of the forms.
/// [docs/theory/shells.md, (9.9)]
template <class T>
JetHessian<T> jet_hessian(const SurfaceJet<T>& q, const SurfacePoint<T>& at, const FormsEnergy<T>& w) {
  const Vector3<T>& n = at.n;
  const Vector3<T> a1 = q.col(0), a2 = q.col(1);
  // Rows of S: derivative of each form by the jet.
  Eigen::Matrix<T, 6, 15> S = Eigen::Matrix<T, 6, 15>::Zero();
  S.template block<1, 3>(0, 0) = T(2) * a1.transpose();
  S.template block<1, 3>(1, 3) = T(2) * a2.transpose();
  S.template block<1, 3>(2, 0) = a2.transpose();
  S.template block<1, 3>(2, 3) = a1.transpose();
  constexpr int second_of[3] = {2, 4, 3};  // the column of the jet that b11, b22, b12 look at
  for (int k = 0; k < 3; ++k) {
    const Vector3<T> second = q.col(second_of[k]);
    S.template block<1, 3>(3 + k, 3 * second_of[k]) = n.transpose();
    for (int g = 0; g < 2; ++g) S.template block<1, 3>(3 + k, 3 * g) = T(-at.dual.col(g).dot(second)) * n.transpose();
  }
  const Eigen::Matrix<T, 6, 15> weighed = w.hessian.lazyProduct(S);
  JetHessian<T> H = S.transpose().lazyProduct(weighed);
  // What the change of n and of the tangents adds at fixed derivatives v of the energy by the forms.
  const Forms<T>& v = w.gradient;
  const Vector3<T> curved = v[3] * q.col(2) + v[4] * q.col(4) + v[5] * q.col(3);
  const T Gamma[2] = {at.dual.col(0).dot(curved), at.dual.col(1).dot(curved)}, beta = n.dot(curved);
  const Matrix3<T> I = Matrix3<T>::Identity(), nn = n * n.transpose();
  for (int g = 0; g < 2; ++g)
    for (int h = 0; h < 2; ++h) {
      const T membrane = g != h ? v[2] : T(2 * v[g]);
      H.template block<3, 3>(3 * g, 3 * h) += membrane * I + Gamma[g] * at.dual.col(h) * n.transpose() +
                                              Gamma[h] * n * at.dual.col(g).transpose() -
                                              T(beta * at.inverse_metric(g, h)) * nn;
    }
  for (int k = 0; k < 3; ++k)
    for (int g = 0; g < 2; ++g) {
      const Matrix3<T> mixed = -v[3 + k] * n * at.dual.col(g).transpose();
      H.template block<3, 3>(3 * g, 3 * second_of[k]) += mixed;
      H.template block<3, 3>(3 * second_of[k], 3 * g) += mixed.transpose();
    }
  return H;
}

/// A second derivative H by the jet without its negative eigenvalues; v: the derivative of the energy by the forms.
/// H is zero beyond 11 directions: the tangents, second derivatives along the normal, and those that lie in the surface
/// in proportion to v, which H joins with turns of the normal.
template <class T>
JetHessian<T> positive_jet_hessian(const SurfaceJet<T>& q, const SurfacePoint<T>& at, const Forms<T>& v,
                                   const JetHessian<T>& H) {
  using std::sqrt;
  const Vector3<T>& n = at.n;
  const Vector3<T> moments(v[3], v[5], v[4]);  // as the columns of the jet come
  const T size = moments.squaredNorm();
  const Vector3<T> share =
      select(size > 0, Vector3<T>(moments / sqrt(select(size > 0, size, T(1)))), Vector3<T>(Vector3<T>::UnitX()));
  const Vector3<T> along = q.col(0) / sqrt(T(q.col(0).squaredNorm()));
  const std::array<Vector3<T>, 2> in_surface{along, n.cross(along)};

  Eigen::Matrix<T, 11, 11> small = Eigen::Matrix<T, 11, 11>::Zero();
  small.template topLeftCorner<6, 6>() = H.template topLeftCorner<6, 6>();
  for (int k = 0; k < 3; ++k) {
    const Eigen::Matrix<T, 6, 3> mixed = H.template block<6, 3>(0, 6 + 3 * k);
    small.template block<6, 1>(0, 6 + k) = mixed.lazyProduct(n);
    for (int m = 0; m < 2; ++m) small.template block<6, 1>(0, 9 + m) += share[k] * mixed.lazyProduct(in_surface[m]);
    for (int l = 0; l < 3; ++l)
      small(6 + k, 6 + l) = n.dot(H.template block<3, 3>(6 + 3 * k, 6 + 3 * l).lazyProduct(n));
  }
  small.template bottomLeftCorner<5, 6>() = small.template topRightCorner<6, 5>().transpose();
  small = positive_part(small);

  JetHessian<T> P;
  P.template topLeftCorner<6, 6>() = small.template topLeftCorner<6, 6>();
  for (int k = 0; k < 3; ++k) {
    // The columns of the second derivative k in the small space.
    Eigen::Matrix<T, 3, 5> of_k = Eigen::Matrix<T, 3, 5>::Zero();
    of_k.col(k) = n;
    for (int m = 0; m < 2; ++m) of_k.col(3 + m) = share[k] * in_surface[m];
    const Eigen::Matrix<T, 3, 11> rows = of_k.lazyProduct(small.template bottomRows<5>());
    P.template block<3, 6>(6 + 3 * k, 0) = rows.template leftCols<6>();
    P.template block<6, 3>(0, 6 + 3 * k) = rows.template leftCols<6>().transpose();
    for (int l = 0; l < 3; ++l) {
      const Vector3<T> by_normal = rows.col(6 + l);
      Matrix3<T> block = by_normal * n.transpose();
      for (int m = 0; m < 2; ++m) block += share[l] * rows.col(9 + m) * in_surface[m].transpose();
      P.template block<3, 3>(6 + 3 * k, 6 + 3 * l) = block;
    }
  }
  return P;
}

}  // namespace weft
