// Passes of contact that go on in their direction: of linear answers they find the end.

#include "run/stages/accelerated_passes.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <array>
#include <cmath>
#include <random>

namespace weft {
namespace {

constexpr int nodes = 6;
constexpr Real dt = 0.01;

/// Two layers of one block each: bodies that answer to the forces Phi of their nodes by v = v_0 + C dt Phi, with C no
/// larger than one over the masses, and contact that asks for v = 0.
struct TwoBodies {
  std::array<int, 1> all_blocks{0};
  NodeField inertia{"inertia", ""}, change{"change", ""}, memory{"memory", ""};
  Eigen::MatrixXd C;
  Eigen::VectorXd v0;

  explicit TwoBodies(unsigned seed) {
    for (NodeField* field : {&inertia, &change, &memory}) field->reset(1);
    std::mt19937 random(seed);
    std::uniform_real_distribution<Real> of(-1, 1);
    Eigen::MatrixXd A(3 * nodes, 3 * nodes);
    v0.resize(3 * nodes);
    for (Real& a : A.reshaped()) a = of(random);
    for (Real& v : v0) v = of(random);
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(A);
    const Eigen::MatrixXd Q = qr.householderQ();
    Eigen::VectorXd compliance(3 * nodes);  // from stiff to as soft as the masses
    for (Eigen::Index k = 0; k < compliance.size(); ++k) compliance[k] = std::pow(0.01, of(random) / 2 + 0.5) / 2;
    C = Q * compliance.asDiagonal() * Q.transpose();
    for (int k = 0; k < nodes; ++k) inertia.block(0)[4 * k] = 2;
  }
  void answer() {
    const Eigen::VectorXd v = v0 + dt * C * phi();
    for (int k = 0; k < nodes; ++k) Eigen::Map<Vec3>(change.block(0) + 4 * k) = -v.segment<3>(3 * k);
  }
  AcceleratedPasses::Nodes view() { return {all_blocks, &inertia, &change, &memory}; }
  Real left() const {
    Real sum = 0;
    for (int k = 0; k < nodes; ++k) sum += Eigen::Map<const Vec3>(change.block(0) + 4 * k).squaredNorm();
    return std::sqrt(sum);
  }
  /// (Phi C Phi dt / 2 + v_0 Phi) above its least value.
  Real excess() const {
    const Eigen::VectorXd away = phi() + C.ldlt().solve(v0) / dt;
    return dt / 2 * away.dot(C * away);
  }
  Eigen::VectorXd phi() const {
    Eigen::VectorXd values(3 * nodes);
    for (int k = 0; k < nodes; ++k) values.segment<3>(3 * k) = Eigen::Map<const Vec3>(memory.block(0) + 4 * k + 1);
    return values;
  }
};

/// What is left of v after some passes, over what there was.
Real left_after(int passes, bool accelerated) {
  TwoBodies a(1), b(2);
  AcceleratedPasses all;
  all.begin(1);
  const auto both = [&] { return std::hypot(a.left(), b.left()); };
  Real first = 0;
  for (int pass = 0; pass < passes; ++pass) {
    a.answer();
    b.answer();
    if (pass == 0) first = both();
    if (!accelerated) all.begin(1);
    all.go_on(Comm::world(), dt, std::vector{a.view(), b.view()});
  }
  a.answer();
  b.answer();
  return both() / first;
}

TEST(AcceleratedPasses, EndSoonerThanPlainPasses) { EXPECT_LT(left_after(40, true), 0.1 * left_after(40, false)); }

TEST(AcceleratedPasses, TheFirstIsAPlainOne) { EXPECT_EQ(left_after(1, true), left_after(1, false)); }

/// Passes come down as 2 L |x_0 - x|^2 / (k + 1)^2, L being 1/m here [Beck & Teboulle 2009, theorem 4.4].
TEST(AcceleratedPasses, ComeDownAsTheirTheoremSays) {
  constexpr Real mass = 2;
  TwoBodies a(3);
  AcceleratedPasses passes;
  passes.begin(1);
  const Real start = dt * (a.C.ldlt().solve(a.v0) / dt).squaredNorm() / mass;
  Real last = a.excess();
  for (int k = 1; k <= 60; ++k) {
    a.answer();
    passes.go_on(Comm::world(), dt, std::vector{a.view()});
    last = a.excess();  // of what is extrapolated from x_k, within the bound as well
    EXPECT_LE(last, 2 * start / ((k + 1) * (k + 1))) << k;
  }
  EXPECT_LT(last, 1e-4 * start);
}

/// With a bound b no motion of which a pass takes a share below ((1 - b) / (1 + b))^2 goes beyond its end, whenever
/// passes stop; without one the slowest do.
TEST(AcceleratedPasses, ABoundKeepsSlowMotionsFromGoingTooFar) {
  constexpr Real mass = 2, bound = 0.7, share = 0.03;
  for (const Real most : {bound, Real(1)}) {
    TwoBodies a(5);
    a.C.setIdentity();
    a.C *= share / mass;
    AcceleratedPasses passes;
    passes.begin(most);
    Real beyond = 0;
    for (int pass = 0; pass < 60; ++pass) {
      a.answer();
      passes.go_on(Comm::world(), dt, std::vector{a.view()});
      a.answer();
      for (int k = 0; k < nodes; ++k)  // z turns where Phi passes its end
        beyond = std::max(beyond, Vec3::Map(a.change.block(0) + 4 * k).dot(a.v0.segment<3>(3 * k)));
    }
    if (most < 1) EXPECT_LE(beyond, 0);
    else EXPECT_GT(beyond, 1e-3 * a.v0.squaredNorm() / nodes);
  }
}

/// Where z points back, the next pass is a plain one.
TEST(AcceleratedPasses, StartAgainWhereTheyHaveGoneTooFar) {
  TwoBodies a(4);
  AcceleratedPasses passes;
  passes.begin(1);
  for (int k = 0; k < 3; ++k) {
    a.answer();
    passes.go_on(Comm::world(), dt, std::vector{a.view()});
  }
  a.answer();
  const Eigen::VectorXd before = a.phi();
  for (int k = 0; k < nodes; ++k) Eigen::Map<Vec3>(a.change.block(0) + 4 * k) *= -0.2;
  const Vec3 z = Eigen::Map<const Vec3>(a.change.block(0));
  passes.go_on(Comm::world(), dt, std::vector{a.view()});
  EXPECT_LT((a.phi().head<3>() - before.head<3>() - 2 / dt * z).norm(), 1e-12 * a.phi().norm());
}

}  // namespace
}  // namespace weft
