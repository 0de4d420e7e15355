// Passes of contact that build on one another: of linear answers they find the end.

#include "run/stages/pass_mixing.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <cmath>
#include <random>

namespace weft {
namespace {

constexpr int nodes = 6;
constexpr Real dt = 0.01;

/// Two layers of one block each: bodies that answer to the forces Phi of their nodes by v = v_0 + C dt Phi, with C no
/// larger than one over the masses, and contact that asks for v = 0.
struct TwoBodies {
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
    Eigen::VectorXd phi(3 * nodes);
    for (int k = 0; k < nodes; ++k) phi.segment<3>(3 * k) = Eigen::Map<const Vec3>(memory.block(0) + 4 * k + 1);
    const Eigen::VectorXd v = v0 + dt * C * phi;
    for (int k = 0; k < nodes; ++k) Eigen::Map<Vec3>(change.block(0) + 4 * k) = -v.segment<3>(3 * k);
  }
  PassMixing::Nodes view() { return {1, &inertia, &change, &memory}; }
  Real left() const {
    Real sum = 0;
    for (int k = 0; k < nodes; ++k) sum += Eigen::Map<const Vec3>(change.block(0) + 4 * k).squaredNorm();
    return std::sqrt(sum);
  }
};

/// What is left of v after some passes, over what there was.
Real left_after(int passes, bool mixed) {
  TwoBodies a(1), b(2);
  PassMixing mixing;
  mixing.begin();
  const auto both = [&] { return std::hypot(a.left(), b.left()); };
  Real first = 0;
  for (int pass = 0; pass < passes; ++pass) {
    a.answer();
    b.answer();
    if (pass == 0) first = both();
    if (!mixed) mixing.begin();
    mixing.mix(Comm::world(), dt, std::vector{a.view(), b.view()});
  }
  a.answer();
  b.answer();
  return both() / first;
}

TEST(PassMixing, EndsSoonerThanPlainPasses) {
  constexpr int passes = 12;
  const Real plain = left_after(passes, false), mixed = left_after(passes, true), root_of_condition = 10;
  EXPECT_LT(mixed, 0.1 * plain);
  // As conjugate gradients [Saad 2003, (6.128)]
  EXPECT_LT(mixed, 2 * std::pow((root_of_condition - 1) / (root_of_condition + 1), passes));
}

TEST(PassMixing, ThePassAfterTheFirstIsAPlainOne) { EXPECT_NEAR(left_after(1, true), left_after(1, false), 1e-14); }

/// Where contact opens a residual jumps; the next pass starts from the one before.
TEST(PassMixing, GoesBackWhereTheResidualGrows) {
  TwoBodies a(3);
  PassMixing mixing;
  mixing.begin();
  a.answer();
  const Vec3 z = Eigen::Map<const Vec3>(a.change.block(0)), before = Eigen::Map<const Vec3>(a.memory.block(0) + 1);
  mixing.mix(Comm::world(), dt, std::vector{a.view()});
  for (int k = 0; k < nodes; ++k) Eigen::Map<Vec3>(a.change.block(0) + 4 * k) *= 100;
  mixing.mix(Comm::world(), dt, std::vector{a.view()});
  const Vec3 after = Eigen::Map<const Vec3>(a.memory.block(0) + 1);
  EXPECT_LT((after - before - 2 / dt * z).norm(), 1e-12 * after.norm());
}

}  // namespace
}  // namespace weft
