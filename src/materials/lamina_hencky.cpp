// Flow of isotropic laminae in plane stress.

#include "weft/materials/lamina_hencky.hpp"

#include <utility>

namespace weft {

namespace {

Mat2 matrix_of(const Symmetric2<Real>& s) {
  Mat2 M;
  M << s[0], s[2], s[2], s[1];
  return M;
}

/// Square root of a symmetric positive definite matrix: (A + sqrt(det A) I) / sqrt(tr A + 2 sqrt(det A)).
Symmetric2<Real> root_of(const Mat2& A) {
  const Real s = std::sqrt(A(0, 0) * A(1, 1) - A(0, 1) * A(1, 0));
  const Real t = std::sqrt(A(0, 0) + A(1, 1) + 2 * s);
  return {(A(0, 0) + s) / t, (A(1, 1) + s) / t, A(0, 1) / t};
}

const Real root2 = std::sqrt(2.0), root3 = std::sqrt(3.0);

/// Principal values (sum, difference)/sqrt 2 of a pair, and back.
Vec2 turned(const Vec2& v) { return Vec2(v[0] + v[1], v[0] - v[1]) / root2; }

/// One step of flow along p = (t1 + t2)/sqrt 2 and q = (t1 - t2)/sqrt 2, where the stiffness is diagonal.
struct PlaneFlow {
  Vec2 stress;          ///< (p, q) after flow [Pa].
  Vec2 stiffness;       ///< Elastic, of p and q [Pa].
  Mat2 tangent;         ///< d(p, q) by the trial strains, turned as well [Pa].
  Real plastic_strain;  ///< After flow.
  Real work = 0;        ///< Of flow [J/m^3].
  Vec2 strain() const { return turned(stress.cwiseQuotient(stiffness)); }
  Real energy() const { return stress.cwiseAbs2().cwiseQuotient(stiffness).sum() / 2; }
};

/// p = p_trial/(1 + kp x), q = q_trial/(1 + 3 kq x) with p^2 + 3 q^2 = 3 c(x)^2, c(x) = c/(1 - 2 H x): the yield value
/// after the plastic strain 2 x c(x) sqrt(3/2). sqrt(p^2 + 3 q^2) - sqrt(3) c(x) falls from a positive value.
Real flow_parameter(const LaminaYield& y, const Vec2& trial, const Vec2& k, Real c) {
  struct {
    Real value, slope;
  } excess;
  const auto look_at = [&](Real x) {
    const Real u = 1 + k[0] * x, v = 1 + 3 * k[1] * x, h = 1 - 2 * y.hardening * x;
    const Real a = trial[0] / u, b = trial[1] / v, size = std::sqrt(a * a + 3 * b * b), r = c / h;
    excess = {size - root3 * r, -(a * a * k[0] / u + 9 * b * b * k[1] / v) / size - 2 * root3 * r * y.hardening / h};
  };
  Real low = 0, high = y.hardening > 0 ? 1 / (2 * y.hardening) : 1 / k[1];
  if (y.hardening <= 0)
    for (look_at(high); excess.value > 0; look_at(high)) high *= 2;
  // Newton's method, kept between bounds by bisection.
  Real x = 0;
  for (int iteration = 0; iteration < 100 && high - low > 1e-16 * high; ++iteration) {
    look_at(x);
    (excess.value > 0 ? low : high) = x;
    const Real next = x - excess.value / excess.slope;
    const Real last = std::exchange(x, next > low && next < high ? next : (low + high) / 2);
    if (std::abs(x - last) <= 1e-15 * x) break;
  }
  return x;
}

PlaneFlow plane_flow(const LaminaHencky::Constants& k, const LaminaYield& y, const Vec2& strain, Real plastic_strain) {
  PlaneFlow flow;
  flow.stiffness = {2 * k.mu + 2 * k.lambda, 2 * k.mu};
  flow.plastic_strain = plastic_strain;
  flow.tangent = flow.stiffness.asDiagonal();
  const Vec2 trial = flow.stiffness.cwiseProduct(turned(strain));
  flow.stress = trial;
  if (!(yield_excess(y, plastic_strain, turned(trial)) > 0)) return flow;
  const Real c = y.radius + std::sqrt(2.0 / 3) * y.hardening * plastic_strain;
  if (y.surface == YieldSurface::diamond) {
    const Vec2 most(root3 * c, c);
    flow.stress = trial.cwiseMin(most).cwiseMax(-most);
    const Vec2 grown = (trial - flow.stress).cwiseQuotient(flow.stiffness);
    for (int i = 0; i < 2; ++i)
      if (grown[i] != 0) flow.tangent(i, i) = 0;
    flow.plastic_strain += std::sqrt(2.0 / 3) * grown.norm();
    flow.work = flow.stress.dot(grown);
    return flow;
  }
  const Real x = flow_parameter(y, trial, flow.stiffness, c);
  const Vec2 times(1, 3);  // of the squares in the yield function
  const Vec2 shrink = (Vec2::Ones() + x * times.cwiseProduct(flow.stiffness)).cwiseInverse();
  flow.stress = trial.cwiseProduct(shrink);
  const Real yields = c / (1 - 2 * y.hardening * x), grown = 2 * x * yields * std::sqrt(3.0 / 2);
  flow.plastic_strain += grown;
  flow.work = (std::sqrt(3.0 / 2) * c + y.hardening * grown / 2) * grown;
  // Along the yield surface: sum_i times_i s_i ds_i = 3 c(x) c'(x) dx with ds_i = shrink_i (dtrial_i - times_i k_i s_i
  // dx).
  const Vec2 weighted = times.cwiseProduct(flow.stress);
  const Vec2 softened = shrink.cwiseProduct(flow.stiffness);
  const Real resistance =
      weighted.cwiseAbs2().dot(softened) + 6 * y.hardening * yields * yields / (1 - 2 * y.hardening * x);
  const Vec2 dx = weighted.cwiseProduct(softened) / resistance;
  flow.tangent = softened.asDiagonal();
  flow.tangent -= softened.cwiseProduct(weighted) * dx.transpose();
  return flow;
}

/// Principal values of the metric c and the axes of its first one.
struct Principal {
  Vec2 squares, strain;
  Real cosine, sine;

  explicit Principal(const Symmetric2<Real>& c) {
    const Real m = (c[0] + c[1]) / 2, d = (c[0] - c[1]) / 2, r = std::hypot(d, c[2]);
    constexpr Real least = 1e-12;  // of a collapsed lamina
    squares = {std::max(m + r, least), std::max(m - r, least)};
    strain = squares.array().log() / 2;
    const Real angle = std::atan2(c[2], d) / 2;  // half the angle of (d, C12)
    cosine = std::cos(angle);
    sine = std::sin(angle);
  }
  Mat2 axes() const {
    Mat2 V;
    V << cosine, -sine, sine, cosine;
    return V;
  }
};

}  // namespace

LaminaReturn return_strains(const LaminaHencky::Constants& k, const LaminaYield& y, const Vec2& trial,
                            Real plastic_strain) {
  const PlaneFlow flow = plane_flow(k, y, trial, plastic_strain);
  if (flow.plastic_strain == plastic_strain) return {trial, plastic_strain};
  return {flow.strain(), flow.plastic_strain};
}

PackMask FlowingHencky::may_flow(const LaminaHencky::Constants& k, const LaminaYield& y, const Pack& plastic_strain,
                                 const Symmetric2<Pack>& c) {
  constexpr Real near = 1 - 1e-9;
  const auto [sum, difference] = LaminaHencky::squared_strains(c);
  const Real by_sum = k.mu + k.lambda, by_difference = k.mu;
  const Pack p2 = 2 * by_sum * by_sum * sum, q2 = 2 * by_difference * by_difference * difference;  // as yield_excess
  const Pack radius = near * (y.radius + std::sqrt(2.0 / 3) * y.hardening * plastic_strain);
  const Pack stress2 = y.surface == YieldSurface::diamond ? max(p2 / 3, q2) : Pack(p2 / 3 + q2);
  // Of a lamina that is nearly collapsed the strains are not known so well.
  const Pack m = (c[0] + c[1]) / 2, D = c[0] * c[1] - c[2] * c[2];
  return stress2 > radius * radius || !(D > max(Pack(1e-6), 0.01 * m * m));
}

Real FlowingHencky::energy(const LaminaHencky::Constants& k, const LaminaYield& y, Real plastic_strain,
                           const Symmetric2<Real>& c) {
  const PlaneFlow flow = plane_flow(k, y, Principal(c).strain, plastic_strain);
  return flow.plastic_strain == plastic_strain ? LaminaHencky::energy(k, c) : flow.energy() + flow.work;
}

/// Of a function W of the principal strains e_i = 1/2 ln c_i with slopes t_i: V diag(t_i / (2 c_i)) V^T; the third
/// component of c stands twice in the tensor.
Symmetric2<Real> FlowingHencky::gradient(const LaminaHencky::Constants& k, const LaminaYield& y, Real plastic_strain,
                                         const Symmetric2<Real>& c) {
  const Principal at(c);
  const PlaneFlow flow = plane_flow(k, y, at.strain, plastic_strain);
  if (flow.plastic_strain == plastic_strain) return LaminaHencky::gradient(k, c);
  const Vec2 d = turned(flow.stress).cwiseQuotient(2 * at.squares);
  return congruence<Real>(at.axes()).transpose() * Vec3(d[0], d[1], 0);
}

/// In the principal frame d2W = sum_ij H_ij B_ii B_jj + 2 w B_12^2 for a change B of the metric, with
/// H_ij = dt_i/de_j / (4 c_i c_j) - delta_ij t_i / (2 c_i^2) and w = (d_1 - d_2)/(c_1 - c_2), d_i = t_i / (2 c_i).
Mat3 FlowingHencky::hessian(const LaminaHencky::Constants& k, const LaminaYield& y, Real plastic_strain,
                            const Symmetric2<Real>& c) {
  const Principal at(c);
  const PlaneFlow flow = plane_flow(k, y, at.strain, plastic_strain);
  if (flow.plastic_strain == plastic_strain) return LaminaHencky::hessian(k, c);
  Mat2 turn;
  turn << 1, 1, 1, -1;
  const Mat2 by_strain = turn * flow.tangent * turn / 2;
  const Vec2 d = turned(flow.stress).cwiseQuotient(2 * at.squares);
  Mat3 H = Mat3::Zero();
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) H(i, j) = by_strain(i, j) / (4 * at.squares[i] * at.squares[j]);
    H(i, i) -= d[i] / at.squares[i];
  }
  const Real apart = at.squares[0] - at.squares[1];
  // Where both are equal the quotient is the derivative of one slope by its own square less that by the other's.
  const Real w = apart > 1e-7 * at.squares[0] ? (d[0] - d[1]) / apart : (H(0, 0) + H(1, 1)) / 2 - H(0, 1);
  H(2, 2) = 2 * w;
  const Mat3 to_principal = congruence<Real>(at.axes());
  return to_principal.transpose() * H * to_principal;
}

LaminaMemory flowed(const LaminaHencky::Constants& k, const LaminaYield& y, const LaminaMemory& q,
                    const Symmetric2<Real>& metric) {
  const Mat2 inverse_stretch = inverse_of(q.stretch);
  const Symmetric2<Real> c = congruence<Real>(inverse_stretch) * metric;
  const Principal trial(c);
  const LaminaReturn after = return_strains(k, y, trial.strain, q.plastic_strain);
  if (after.plastic_strain == q.plastic_strain) return q;
  // What the elastic part loses goes to the plastic part: F_P <- V exp(trial - e) V^T F_P. Only its right stretch
  // matters to an isotropic law.
  const Mat2 V = trial.axes();
  const Mat2 growth = V * Vec2((trial.strain - after.strain).array().exp()).asDiagonal() * V.transpose();
  const Mat2 F = growth * matrix_of(q.stretch);
  return {root_of(F.transpose() * F), after.plastic_strain};
}

}  // namespace weft
