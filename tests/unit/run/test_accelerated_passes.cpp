// Passes of contact that go on from what several before found: of linear answers they find the end.

#include "run/stages/accelerated_passes.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <array>
#include <cmath>
#include <random>
#include <vector>

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
  const auto both = [&] { return std::hypot(a.left(), b.left()); };
  Real first = 0;
  for (int pass = 0; pass < passes; ++pass) {
    a.answer();
    b.answer();
    if (pass == 0) first = both();
    if (!accelerated) all.begin();
    all.go_on(Comm::world(), dt, std::vector{a.view(), b.view()}, false);
  }
  a.answer();
  b.answer();
  return both() / first;
}

TEST(AcceleratedPasses, EndSoonerThanPlainPasses) { EXPECT_LT(left_after(40, true), 0.1 * left_after(40, false)); }

TEST(AcceleratedPasses, TheFirstIsAPlainOne) { EXPECT_EQ(left_after(1, true), left_after(1, false)); }

struct OnePass {
  Eigen::VectorXd z, x;  ///< What it found.
  Eigen::VectorXd next;  ///< The Phi that it gave.
};

/// z is made so many times as large.
OnePass pass(TwoBodies& body, AcceleratedPasses& passes, Real by = 1, bool is_last = false) {
  constexpr Real mass = 2;
  body.answer();
  OnePass found{Eigen::VectorXd(3 * nodes), {}, {}};
  for (int k = 0; k < nodes; ++k) {
    Vec3::Map(body.change.block(0) + 4 * k) *= by;
    found.z.segment<3>(3 * k) = Vec3::Map(body.change.block(0) + 4 * k);
  }
  found.x = body.phi() + mass / dt * found.z;
  passes.go_on(Comm::world(), dt, std::vector{body.view()}, is_last);
  found.next = body.phi();
  return found;
}

/// Of least squares, with one step to take them from; sums over ranks differ by round-off, which rounding hides.
TEST(AcceleratedPasses, TakeSharesOfSixBits) {
  TwoBodies a(4);
  AcceleratedPasses passes;
  const OnePass first = pass(a, passes), second = pass(a, passes);
  EXPECT_LT((first.next - first.x).norm(), 1e-14 * first.x.norm());
  const Eigen::VectorXd step = second.z - first.z, moved = second.x - first.x;
  const Real share = step.dot(second.z) / step.squaredNorm(),
             taken = moved.dot(second.x - second.next) / moved.squaredNorm();
  EXPECT_NEAR(taken, std::round(64 * share) / 64, 1e-12);
  EXPECT_GT(std::abs(taken - share), 1e-4);
  EXPECT_LT((second.next - (second.x - taken * moved)).norm(), 1e-12 * second.x.norm());
}

TEST(AcceleratedPasses, TheLastIsAPlainOne) {
  TwoBodies a(4);
  AcceleratedPasses passes;
  for (int k = 0; k < 4; ++k) pass(a, passes);
  const OnePass last = pass(a, passes, 1, true);
  EXPECT_LT((last.next - last.x).norm(), 1e-14 * last.x.norm());
}

/// Where z grew, the next pass is a plain one, and passes before it do not count any more.
TEST(AcceleratedPasses, BeginAnewWhereContactHasChanged) {
  TwoBodies a(4);
  AcceleratedPasses passes;
  pass(a, passes);
  pass(a, passes);
  const OnePass before = pass(a, passes);
  EXPECT_GT((before.next - before.x).norm(), 1e-3 * before.x.norm());
  const OnePass grown = pass(a, passes, 20);
  EXPECT_GT(grown.z.norm(), before.z.norm());
  EXPECT_LT((grown.next - grown.x).norm(), 1e-14 * grown.x.norm());
  const OnePass after = pass(a, passes);
  const Eigen::VectorXd step = after.z - grown.z;
  const Real share = std::round(64 * step.dot(after.z) / step.squaredNorm()) / 64;
  EXPECT_LT((after.next - (after.x - share * (after.x - grown.x))).norm(), 1e-12 * after.x.norm());
}

}  // namespace
}  // namespace weft
