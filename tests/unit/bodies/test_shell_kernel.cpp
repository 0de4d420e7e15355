// The point of a shell: metric of its laminae against tangents that are computed directly, and exact derivatives.

#include "bodies/shell_kernel.hpp"

#include "weft/materials/lamina_hencky.hpp"
#include "weft/materials/lamina_woven.hpp"
#include "weft/math/dual.hpp"
#include "weft/math/quadrature.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

namespace weft {
namespace {

using test::MatrixSource;
using Jet = SurfaceJet<Real>;
using Lamina = LaminaOf<Real>;
using Vector15 = Eigen::Matrix<Real, 15, 1>;

Jet random_jet(MatrixSource& source) {
  Jet q;
  q.leftCols<3>() = 0.25 * source.matrix();
  q.rightCols<2>() = 0.25 * source.matrix().leftCols<2>();
  q(0, 0) += 1;
  q(1, 1) += 0.9;
  return q;
}

SurfaceJet<Dual> along_jet(const Jet& q, const Jet& d) {
  SurfaceJet<Dual> moved;
  for (int i = 0; i < 15; ++i) moved(i) = Dual(q(i), d(i));
  return moved;
}

Jet random_direction(MatrixSource& source) {
  Jet d;
  for (int i = 0; i < 15; ++i) d(i) = source.uniform(-1, 1);
  return d;
}

std::vector<Lamina> laminae(MatrixSource& source) {
  std::vector<Lamina> list;
  for (const Real xi : {-0.06, 0.02, 0.09})
    list.push_back({xi, source.uniform(0.5, 1.5), Mat2::Identity() + 0.2 * source.matrix().topLeftCorner<2, 2>()});
  return list;
}

template <LaminaLaw L, Asked asked>
FormsEnergy<Real> energy_at(const typename L::Constants& k, std::span<const Lamina> laminae, const Jet& q) {
  return energy_of_laminae<asked, Real>(
      ElasticLaminae<L>{k}, laminae, [&](int l) { return laminae[static_cast<std::size_t>(l)].to_material; },
      SurfacePoint<Real>(q).forms);
}

TEST(ShellKernel, LaminaMetricIsThatOfTangentsMovedAlongTheNormal) {
  MatrixSource source(1);
  for (int sample = 0; sample < 50; ++sample) {
    const Jet q = random_jet(source);
    const SurfacePoint<Real> at(q);
    // n,1 and n,2 as derivatives of the normal along the surface: tangents change by a11, a12 and by a12, a22.
    Jet along1 = Jet::Zero(), along2 = Jet::Zero();
    along1.col(0) = q.col(2);
    along1.col(1) = along2.col(0) = q.col(3);
    along2.col(1) = q.col(4);
    const auto slope = [](const Vector3<Dual>& n) { return Vec3(n[0].slope, n[1].slope, n[2].slope); };
    const Vec3 n1 = slope(SurfacePoint<Dual>(along_jet(q, along1)).n),
               n2 = slope(SurfacePoint<Dual>(along_jet(q, along2)).n);
    for (const Real xi : {-0.2, 0.0, 0.13}) {
      const Vec3 g1 = q.col(0) + xi * n1, g2 = q.col(1) + xi * n2;
      const Vec3 g = LaminaMetric<Real>(at.forms).at(xi);
      EXPECT_LT((g - Vec3(g1.dot(g1), g2.dot(g2), g1.dot(g2))).norm(), 1e-14);
    }
  }
}

TEST(ShellKernel, GradientByTheJetIsTheDerivativeOfTheEnergy) {
  MatrixSource source(2);
  const auto k = LaminaHencky::Constants::from(2, 0.3);
  for (int sample = 0; sample < 30; ++sample) {
    const auto stack = laminae(source);
    const Jet q = random_jet(source), d = random_direction(source);
    const SurfacePoint<Dual> moved(along_jet(q, d));
    const LaminaMetric<Dual> metric(moved.forms);
    Real slope = 0;
    for (const Lamina& lamina : stack) {
      const Vector3<Dual> g = metric.at(lamina.height);
      const Vector3<Dual> c = congruence<Real>(lamina.to_material).cast<Dual>() * g;
      slope += lamina.volume * LaminaHencky::energy(k, c).slope;
    }
    const auto sum = energy_at<LaminaHencky, Asked::gradient>(k, stack, q);
    const Jet G = jet_gradient(q, SurfacePoint<Real>(q), sum.gradient);
    EXPECT_NEAR(G.cwiseProduct(d).sum(), slope, 1e-13 * (1 + G.norm()));
  }
}

/// Richardson's central difference of the gradient along d.
template <LaminaLaw L>
Vector15 difference(const typename L::Constants& k, std::span<const Lamina> stack, const Jet& q, const Jet& d) {
  const auto gradient = [&](Real h) {
    const Jet moved = q + h * d;
    const Jet G =
        jet_gradient(moved, SurfacePoint<Real>(moved), energy_at<L, Asked::gradient>(k, stack, moved).gradient);
    return Vector15(Eigen::Map<const Vector15>(G.data()));
  };
  const Real h = 1e-3;
  const auto central = [&](Real s) { return Vector15((gradient(s) - gradient(-s)) / (2 * s)); };
  return (64 * central(h / 4) - 20 * central(h / 2) + central(h)) / 45;
}

TEST(ShellKernel, HessianByTheJetIsTheDerivativeOfTheGradientAndSymmetric) {
  MatrixSource source(3);
  const auto check = [&]<LaminaLaw L>(L, const typename L::Constants& k) {
    for (int sample = 0; sample < 20; ++sample) {
      const auto stack = laminae(source);
      const Jet q = random_jet(source), d = random_direction(source);
      const JetHessian<Real> H = jet_hessian(q, SurfacePoint<Real>(q), energy_at<L, Asked::hessian>(k, stack, q));
      EXPECT_LT((H - H.transpose()).norm(), 1e-14 * H.norm());
      // The difference errs by h^6 and by 1e-16 / h.
      EXPECT_LT((H * Eigen::Map<const Vector15>(d.data()) - difference<L>(k, stack, q, d)).norm(), 2e-11 * H.norm());
    }
  };
  check(LaminaHencky{}, LaminaHencky::Constants::from(2, 0.3));
  LaminaWoven::Constants quadratic{2, 0.5, 3, 0.7, {}, 0, 0, 0};
  check(LaminaWoven{}, quadratic);
}

TEST(ShellKernel, PositiveHessianHasTheEigenvaluesThatArePositive) {
  MatrixSource source(7);
  const auto k = LaminaHencky::Constants::from(2, 0.3);
  int negative = 0;
  for (int sample = 0; sample < 40; ++sample) {
    const auto stack = laminae(source);
    const Jet q = random_jet(source);
    const auto of_forms = energy_at<LaminaHencky, Asked::hessian>(k, stack, q);
    const JetHessian<Real> H = jet_hessian(q, SurfacePoint<Real>(q), of_forms);
    const Eigen::SelfAdjointEigenSolver<JetHessian<Real>> eigen(H);
    negative += eigen.eigenvalues().minCoeff() < -1e-6 * H.norm();
    const JetHessian<Real> expected =
        eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() * eigen.eigenvectors().transpose();
    const SurfaceJet<Pack> in_all = q.cast<Pack>();
    const JetHessian<Pack> positive = positive_jet_hessian(
        in_all, SurfacePoint<Pack>(in_all), Forms<Pack>(of_forms.gradient.cast<Pack>()), H.cast<Pack>().eval());
    for (int i = 0; i < 225; ++i) EXPECT_NEAR(positive(i)[sample % Pack::size], expected(i), 1e-13 * H.norm());
  }
  EXPECT_GT(negative, 20);
}

TEST(ShellKernel, RotationsOfTheJetTurnItsGradientAndCostNothing) {
  MatrixSource source(4);
  const auto k = LaminaHencky::Constants::from(2, 0.3);
  const auto stack = laminae(source);
  const Jet q = random_jet(source);
  const Mat3 Q = source.rotation();
  const auto energy = [&](const Jet& jet) { return energy_at<LaminaHencky, Asked::energy>(k, stack, jet).energy; };
  EXPECT_NEAR(energy(q), energy(Q * q), 1e-14);
  const auto at = energy_at<LaminaHencky, Asked::gradient>(k, stack, q),
             turned = energy_at<LaminaHencky, Asked::gradient>(k, stack, Q * q);
  const Jet G = jet_gradient<Real>(q, SurfacePoint<Real>(q), at.gradient);
  EXPECT_LT((jet_gradient<Real>(Q * q, SurfacePoint<Real>(Q * q), turned.gradient) - Q * G).norm(), 1e-13);
  const Mat3 moment = G * q.transpose();
  EXPECT_LT((moment - moment.transpose()).norm(), 1e-14);
}

TEST(ShellKernel, BendingAPlateCostsItsBendingStiffness) {
  const Real E = 3, nu = 0.3, t = 0.01, curvature = 0.2;
  const auto k = LaminaHencky::Constants::from(E, nu);
  const Quadrature rule = gauss(2);
  std::vector<Lamina> stack, quarter;
  for (int i = 0; i < 2; ++i) {
    stack.push_back({(rule.at[i] - 0.5) * t, rule.weight[i] * t, Mat2::Identity()});
    quarter.push_back({(i - 0.5) * t / 2, t / 2, Mat2::Identity()});
  }
  Jet q = Jet::Zero();
  q(0, 0) = q(1, 1) = 1;
  q(2, 2) = curvature;
  const Real D = E * t * t * t / (12 * (1 - nu * nu));
  const auto share = [&](const std::vector<Lamina>& of) {
    const auto bent = energy_at<LaminaHencky, Asked::energy>(k, of, q);
    return bent.energy / (0.5 * D * curvature * curvature);
  };
  // Hencky's energy departs from D kappa^2 / 2 by about (kappa t)^2 = 4e-6.
  EXPECT_NEAR(share(stack), 1, 1e-5);
  // The rule at +-t/4 of Guo et al. 2018 has three quarters of the bending stiffness.
  EXPECT_NEAR(share(quarter), 0.75, 1e-5);
}

}  // namespace
}  // namespace weft
