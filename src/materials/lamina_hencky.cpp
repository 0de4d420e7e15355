// Flow of isotropic laminae in plane stress.

#include "weft/materials/lamina_hencky.hpp"

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

}  // namespace

LaminaReturn return_strains(const LaminaHencky::Constants& k, const LaminaYield& y, const Vec2& trial,
                            Real plastic_strain) {
  const Vec2 t = hencky_stress(k, trial);
  if (!(yield_excess(y, plastic_strain, t) > 0)) return {trial, plastic_strain};
  // Along p = (t1 + t2)/sqrt 2 and q = (t1 - t2)/sqrt 2 the stiffness is diagonal.
  const Real root2 = std::sqrt(2.0), kp = 2 * k.mu + 2 * k.lambda, kq = 2 * k.mu;
  const Real p_trial = (t[0] + t[1]) / root2, q_trial = (t[0] - t[1]) / root2;
  const Real c = y.radius + std::sqrt(2.0 / 3) * y.hardening * plastic_strain;
  Real p, q, flow = 0;
  if (y.shape == YieldShape::diamond) {
    p = std::clamp(p_trial, -std::sqrt(3.0) * c, std::sqrt(3.0) * c);
    q = std::clamp(q_trial, -c, c);
    const Real dp = (p_trial - p) / kp, dq = (q_trial - q) / kq;
    flow = std::sqrt(2.0 / 3) * std::hypot(dp, dq);
  } else {
    // p = p_trial/(1 + kp x), q = q_trial/(1 + 3 kq x) with p^2 + 3 q^2 = 3 c(x)^2, c(x) = c/(1 - 2 H x): the yield
    // value after the plastic strain 2 x c(x) sqrt(3/2). The left side minus the right falls from a positive value.
    const auto excess = [&](Real x) {
      const Real a = p_trial / (1 + kp * x), b = q_trial / (1 + 3 * kq * x), r = c / (1 - 2 * y.hardening * x);
      return std::sqrt(a * a + 3 * b * b) - std::sqrt(3.0) * r;
    };
    Real low = 0, high = y.hardening > 0 ? 1 / (2 * y.hardening) : 1 / kq;
    if (y.hardening <= 0)
      while (excess(high) > 0) high *= 2;
    for (int iteration = 0; iteration < 200 && high - low > 1e-16 * high; ++iteration) {
      const Real middle = (low + high) / 2;
      (excess(middle) > 0 ? low : high) = middle;
    }
    const Real x = low;
    p = p_trial / (1 + kp * x);
    q = q_trial / (1 + 3 * kq * x);
    flow = 2 * x * c / (1 - 2 * y.hardening * x) * std::sqrt(3.0 / 2);
  }
  const Real sum = root2 * p / kp, difference = root2 * q / kq;  // of the strains
  return {Vec2((sum + difference) / 2, (sum - difference) / 2), plastic_strain + flow};
}

LaminaMemory flowed(const LaminaHencky::Constants& k, const LaminaYield& y, const LaminaMemory& q,
                    const Symmetric2<Real>& metric) {
  const Mat2 inverse_stretch = inverse_of(q.stretch);
  const Mat2 C = inverse_stretch * matrix_of(metric) * inverse_stretch;
  const Real m = (C(0, 0) + C(1, 1)) / 2, d = (C(0, 0) - C(1, 1)) / 2, r = std::hypot(d, C(0, 1));
  constexpr Real least = 1e-12;  // of a collapsed lamina
  const Vec2 trial(std::log(std::max(m + r, least)) / 2, std::log(std::max(m - r, least)) / 2);
  const LaminaReturn after = return_strains(k, y, trial, q.plastic_strain);
  if (after.plastic_strain == q.plastic_strain) return q;
  // The first principal axis is at half the angle of (d, C12).
  const Real angle = std::atan2(C(0, 1), d) / 2, cosine = std::cos(angle), sine = std::sin(angle);
  Mat2 V;
  V << cosine, -sine, sine, cosine;
  // What the elastic part loses goes to the plastic part: F_P <- V exp(trial - e) V^T F_P. Only its right stretch
  // matters to an isotropic law.
  const Mat2 growth = V * Vec2((trial - after.strain).array().exp()).asDiagonal() * V.transpose();
  const Mat2 F = growth * matrix_of(q.stretch);
  return {root_of(F.transpose() * F), after.plastic_strain};
}

}  // namespace weft
