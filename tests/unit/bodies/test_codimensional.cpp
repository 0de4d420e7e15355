// Elements of sheets and fibers: forces and their changes against differences, balance, mass, slip, step limits.

#include "weft/bodies/bending.hpp"
#include "weft/bodies/codimensional.hpp"

#include "support/codimensional.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <numbers>

namespace weft {
namespace {

using test::moved;
using test::product;

const SurfaceContact::Constants cloth_contact{2000, 500, 0.4};
const Parts whole{}, slipping{.in_loop = true};

/// A body of each kind, all of edge length 0.1 with points closer than that, density 2.
template <class E>
struct Made;
template <>
struct Made<SheetElements<CorotatedSheet>> {
  test::SheetMesh mesh{3, 4, 0.1};
  SheetElements<CorotatedSheet> elements{
      {CorotatedSheet::Constants::from(400, 0.3), cloth_contact},
      2,
      sheet_at_rest<CorotatedSheet>(mesh.triangles, mesh.points, Vec3::Zero(), 0.01, 0.08),
      mesh.points.size()};
  static constexpr Real volume = 0.3 * 0.4 * 0.01;
  static constexpr int points_of_element = 4;  // 0.1 sqrt(2) / 0.08 asks for two divisions
};
template <>
struct Made<SheetElements<WovenSheet>> {
  test::SheetMesh mesh{3, 4, 0.1};
  SheetElements<WovenSheet> elements{{WovenSheet::Constants::from(1000, 200, 0.3, 50), cloth_contact},
                                     2,
                                     sheet_at_rest<WovenSheet>(mesh.triangles, mesh.points, Vec3(1, 1, 0), 0.01, 1),
                                     mesh.points.size()};
  static constexpr Real volume = 0.3 * 0.4 * 0.01;
  static constexpr int points_of_element = 1;
};
template <>
struct Made<FiberElements> {
  test::FiberMesh mesh{3, 5, 0.1};
  FiberElements elements{Fiber::Constants::from(2000, 500, lame_from(500, 0.3), 0.6), 2,
                         fiber_at_rest(mesh.segments, mesh.points, 1e-4, 0.04), mesh.points.size()};
  static constexpr Real volume = 3 * 0.5 * 1e-4;
  static constexpr int points_of_element = 3;
};

template <class E>
class ElementsTest : public ::testing::Test {
 protected:
  Made<E> made;
  E& elements = made.elements;
  test::MatrixSource source{1};
  std::size_t rows = made.mesh.points.size();
  std::size_t points = elements.element_of_points().size();
  std::vector<Vec3> x = made.mesh.points;
  std::vector<typename E::Directors> N = std::vector<typename E::Directors>(points);

  /// Deformed in every way, directors too.
  void disturb(Real size) {
    elements.rest(x, N);
    const Mat3 R = source.rotation();
    for (Vec3& v : x) v = R * v;
    x = moved(x, test::random_vectors(rows, 0.1, source), size);
    for (auto& directors : N) directors = (R + size * source.matrix()) * directors;
  }
};
using Kinds = ::testing::Types<SheetElements<CorotatedSheet>, SheetElements<WovenSheet>, FiberElements>;
TYPED_TEST_SUITE(ElementsTest, Kinds);

TYPED_TEST(ElementsTest, PartsAddUpToTheWhole) {
  auto& elements = this->elements;
  this->disturb(0.1);
  const auto& x = this->x;
  const auto H = test::random_matrices(this->points, 0.1, this->source);
  const auto resisted = [&](const Parts& parts) {
    auto f = test::zero_vectors(x.size());
    std::vector<Mat3> A(this->points, Mat3::Ones());  // overwritten
    elements.respond(parts, x, this->N, H, f, A);
    for (const Mat3& M : A)
      for (int c = 0; c < 3; ++c) f.push_back(M.col(c));
    f.emplace_back(elements.energy(parts, x, this->N, H), 0, 0);
    MeshStiffness stiffness;
    elements.add_stiffness(parts, x, this->N, H, false, stiffness);
    std::vector<Vec3> change(x.size(), Vec3::Zero());
    std::vector<Mat3> dA(this->points, Mat3::Zero());
    stiffness.multiply(x, H, change, dA);
    f.insert(f.end(), change.begin(), change.end());
    return f;
  };
  const auto all = resisted(whole), elastic = resisted({.contact = false}), contact = resisted({.elastic = false});
  for (std::size_t k = 0; k < all.size(); ++k)
    EXPECT_LE((elastic[k] + contact[k] - all[k]).norm(), 1e-12 * (1 + all[k].norm()));
}

TYPED_TEST(ElementsTest, ForcesAreTheDerivativeOfEnergy) {
  this->disturb(0.3);
  auto& elements = this->elements;
  const auto H = test::random_matrices(this->points, 0.2, this->source);
  const auto dx = test::random_vectors(this->rows, 0.05, this->source);
  const auto dH = test::random_matrices(this->points, 0.3, this->source);
  auto f = test::zero_vectors(this->rows);
  auto A = test::zero_matrices(this->points);
  elements.respond(whole, this->x, this->N, H, f, A);
  const auto energy = [&](Real h) { return elements.energy(whole, moved(this->x, dx, h), this->N, moved(H, dH, h)); };
  const Real h = 1e-4;  // fourth order: 1e-14 of truncation, 1e-12 of round-off; less where f has its kink
  const Real expected = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h);
  EXPECT_NEAR(product(A, dH) - product(f, dx), expected,
              1e-8 * std::abs(expected) + 1e-9 * elements.energy(whole, this->x, this->N, H));
}

TYPED_TEST(ElementsTest, ChangesAreTheDerivativeOfForcesSymmetricAndProjectedPositive) {
  this->disturb(0.3);
  auto& elements = this->elements;
  const auto H = test::random_matrices(this->points, 0.2, this->source);
  const auto dx = test::random_vectors(this->rows, 0.05, this->source);
  const auto dH = test::random_matrices(this->points, 0.3, this->source);
  const auto ox = test::random_vectors(this->rows, 0.05, this->source);
  const auto oH = test::random_matrices(this->points, 0.3, this->source);
  const auto work = [&](Real h) {
    auto f = test::zero_vectors(this->rows);
    auto A = test::zero_matrices(this->points);
    elements.respond(whole, moved(this->x, dx, h), this->N, moved(H, dH, h), f, A);
    return product(A, oH) - product(f, ox);
  };
  const auto change = [&](const auto& x, const auto& G, bool projected, const auto& along_x, const auto& along_H) {
    auto df = test::zero_vectors(this->rows);
    auto dA = test::zero_matrices(this->points);
    MeshStiffness stiffness;
    elements.add_stiffness(whole, this->x, this->N, H, projected, stiffness);
    stiffness.multiply(x, G, df, dA);
    return product(dA, along_H) - product(df, along_x);
  };
  const Real h = 1e-4, expected = (8 * (work(h) - work(-h)) - (work(2 * h) - work(-2 * h))) / (12 * h);
  const Real size = std::abs(change(dx, dH, true, dx, dH)) + std::abs(change(ox, oH, true, ox, oH));
  EXPECT_NEAR(change(dx, dH, false, ox, oH), expected, 1e-6 * size);
  EXPECT_NEAR(change(dx, dH, false, ox, oH), change(ox, oH, false, dx, dH), 1e-12 * size);
  EXPECT_NEAR(change(dx, dH, true, ox, oH), change(ox, oH, true, dx, dH), 1e-12 * size);
  for (int i = 0; i < 20; ++i) {
    const auto rx = test::random_vectors(this->rows, 0.05, this->source);
    const auto rH = test::random_matrices(this->points, 0.3, this->source);
    EXPECT_GE(change(rx, rH, true, rx, rH), 0);
  }
}

TYPED_TEST(ElementsTest, SlipInTheLoopIsWhatTheNextStepStartsFromAndHasThisDerivative) {
  this->disturb(0.1);
  auto& elements = this->elements;
  for (auto& directors : this->N) directors *= 0.8;  // pressed
  const auto H = test::random_matrices(this->points, 0.1, this->source);
  const auto dx = test::random_vectors(this->rows, 0.05, this->source);
  const auto dH = test::random_matrices(this->points, 0.1, this->source);
  const auto ox = test::random_vectors(this->rows, 0.05, this->source);
  const auto oH = test::random_matrices(this->points, 0.1, this->source);
  const auto work = [&](Real h) {
    auto f = test::zero_vectors(this->rows);
    auto A = test::zero_matrices(this->points);
    elements.respond(slipping, moved(this->x, dx, h), this->N, moved(H, dH, h), f, A);
    return product(A, oH) - product(f, ox);
  };
  MeshStiffness stiffness;
  elements.add_stiffness(slipping, this->x, this->N, H, false, stiffness);
  auto df = test::zero_vectors(this->rows);
  auto dA = test::zero_matrices(this->points);
  stiffness.multiply(dx, dH, df, dA);
  const Real h = 1e-5, expected = (8 * (work(h) - work(-h)) - (work(2 * h) - work(-2 * h))) / (12 * h);
  EXPECT_NEAR(product(dA, oH) - product(df, ox), expected, 1e-6 * std::abs(expected));
  // Forces on vertices are those after the commit; A is as seen from the start, A (I + H)^T that from the end.
  auto f = test::zero_vectors(this->rows), later = f;
  auto A = test::zero_matrices(this->points), A_later = A;
  elements.respond(slipping, this->x, this->N, H, f, A);
  elements.commit(this->x, 1, H, this->N);
  elements.respond(whole, this->x, this->N, test::zero_matrices(this->points), later, A_later);
  Real largest = 0;
  for (const Mat3& each : A_later) largest = std::max(largest, each.norm());
  for (std::size_t q = 0; q < this->points; ++q)
    EXPECT_LE((A[q] * (Mat3::Identity() + H[q]).transpose() - A_later[q]).norm(), 1e-11 * largest);
  for (std::size_t i = 0; i < this->rows; ++i) EXPECT_LE((f[i] - later[i]).norm(), 1e-11 * (1 + f[i].norm()));
}

TYPED_TEST(ElementsTest, ForcesBalance) {
  // A rigid motion does no work: sum f = 0 and sum x x f = skew part of the sum of A.
  this->disturb(0.3);
  auto f = test::zero_vectors(this->rows);
  auto A = test::zero_matrices(this->points);
  const auto H = test::zero_matrices(this->points);
  this->elements.respond(whole, this->x, this->N, H, f, A);
  Vec3 sum = Vec3::Zero(), torque = Vec3::Zero();
  Real size = 0;
  for (std::size_t i = 0; i < this->rows; ++i) {
    sum += f[i];
    torque += this->x[i].cross(f[i]);
    size += f[i].norm();
  }
  for (const Mat3& M : A) torque -= Vec3(M(2, 1) - M(1, 2), M(0, 2) - M(2, 0), M(1, 0) - M(0, 1));
  EXPECT_LE(sum.norm(), 1e-13 * size);
  EXPECT_LE(torque.norm(), 1e-13 * size);
}

TYPED_TEST(ElementsTest, MassGoesInEqualPartsToVerticesAndPointsAndEnergyKeepsTheVolume) {
  std::vector<Real> of_vertices(this->rows, 0), of_points(this->points, 0);
  this->elements.add_mass(of_vertices, of_points);
  Real vertices = 0, points = 0, volume = 0;
  for (const Real m : of_vertices) vertices += m;
  for (const Real m : of_points) points += m;
  for (const auto& e : this->elements.elements()) volume += e.volume;
  const Real total = 2 * this->made.volume;
  EXPECT_NEAR(volume, this->made.volume, 1e-14 * volume);
  EXPECT_NEAR(vertices + points, total, 1e-13 * total);
  const Real corners = static_cast<Real>(this->elements.elements()[0].rows.size()), n = this->made.points_of_element;
  EXPECT_EQ(this->points, this->elements.elements().size() * static_cast<std::size_t>(n));
  EXPECT_NEAR(points, total * n / (n + corners), 1e-13 * total);
  for (std::size_t q = 0; q < this->points; ++q) EXPECT_NEAR(this->elements.weights_at(q).sum(), 1, 1e-14);
}

TYPED_TEST(ElementsTest, RestsWithoutForceAndTurnsAlongWithTheGrid) {
  auto& elements = this->elements;
  elements.rest(this->x, this->N);
  const Mat3 R = this->source.rotation();
  for (Vec3& v : this->x) v = R * v;
  const std::vector<Mat3> turn(this->points, R - Mat3::Identity());
  EXPECT_LE(elements.energy(whole, this->x, this->N, turn), 1e-15);
  const auto before = this->N;
  elements.commit(this->x, 1, turn, this->N);
  for (std::size_t q = 0; q < this->points; ++q) EXPECT_LE((this->N[q] - R * before[q]).norm(), 1e-13);
}

TYPED_TEST(ElementsTest, CommitSlipsAndAddsNoEnergy) {
  this->disturb(0.2);
  auto& elements = this->elements;
  const auto H = test::random_matrices(this->points, 0.3, this->source), none = test::zero_matrices(this->points);
  const Real before = elements.energy(whole, this->x, this->N, H);
  elements.commit(this->x, 1, H, this->N);
  const Real after = elements.energy(whole, this->x, this->N, none);
  EXPECT_LT(after, before);
  elements.commit(this->x, 1, none, this->N);
  EXPECT_NEAR(elements.energy(whole, this->x, this->N, none), after, 1e-12 * before);
}

TYPED_TEST(ElementsTest, ThreadsChangeNoBit) {
  this->disturb(0.2);
  const auto H = test::zero_matrices(this->points);
  const int threads = omp_get_max_threads();
  std::vector<Vec3> first;
  for (const int n : {1, 2, 3}) {
    omp_set_num_threads(n);
    auto f = test::zero_vectors(this->rows);
    auto A = test::zero_matrices(this->points);
    this->elements.respond(whole, this->x, this->N, H, f, A);
    if (first.empty()) first = f;
    EXPECT_EQ(f, first);
  }
  omp_set_num_threads(threads);
}

TYPED_TEST(ElementsTest, NoVertexOscillatesFasterThanTheBoundOfFrequencies) {
  // The largest eigenvalue of M^{-1} K by power iteration, directors held.
  auto& elements = this->elements;
  elements.rest(this->x, this->N);
  std::vector<Real> mass(this->rows, 0), of_points(this->points, 0);
  elements.add_mass(mass, of_points);
  const auto none = test::zero_matrices(this->points);
  auto v = test::random_vectors(this->rows, 1, this->source);
  MeshStiffness stiffness;
  elements.add_stiffness(whole, this->x, this->N, none, false, stiffness);
  Real largest = 0;
  for (int i = 0; i < 300; ++i) {
    auto df = test::zero_vectors(this->rows);
    auto dA = none;
    stiffness.multiply(v, none, df, dA);
    Real norm = 0;
    for (std::size_t row = 0; row < this->rows; ++row) {
      v[row] = -df[row] / mass[row];
      norm += v[row].squaredNorm();
    }
    largest = std::sqrt(norm);
    for (Vec3& each : v) each /= largest;
  }
  const Real exact = std::sqrt(largest), stated = elements.speeds(this->x, this->N).frequency;
  EXPECT_GE(stated, exact * (1 - 1e-6));
  EXPECT_LE(0.3 * stated, exact);  // a bound by norms of blocks, element by element
}

TEST(SheetElementsTest, AnElementPressedByTheGridPushesBackByHand) {
  // One triangle, its director shortened to 0.8 by the grid: A = V f'(0.8) n n^T, no force in the plane.
  const std::vector<Vec3> x = {{0, 0, 0}, {0.2, 0, 0}, {0, 0.2, 0}};
  const std::vector<test::Triangle> triangle = {{0, 1, 2}};
  SheetElements<CorotatedSheet> elements({CorotatedSheet::Constants::from(400, 0.3), cloth_contact}, 2,
                                         sheet_at_rest<CorotatedSheet>(triangle, x, Vec3::Zero(), 0.01, 1), 3);
  std::vector<std::decay_t<decltype(elements)>::Directors> N(elements.element_of_points().size());
  elements.rest(x, N);
  std::vector<Mat3> H = {Mat3::Zero()}, A = {Mat3::Zero()};
  H[0](2, 2) = -0.2;
  auto f = test::zero_vectors(3);
  elements.respond(whole, x, N, H, f, A);
  Mat3 expected = Mat3::Zero();
  expected(2, 2) = -0.02 * 0.01 * 2000 * 0.04;
  EXPECT_LE((A[0] - expected).norm(), 1e-16);
  EXPECT_LE(f[0].norm() + f[1].norm() + f[2].norm(), 1e-15);
}

TEST(SheetElementsTest, AStripCarriesItsYoungsModulus) {
  // Uniform stretch e along x and -nu e across: force E e times the section on each end.
  test::SheetMesh mesh(4, 2, 0.1);
  SheetElements<CorotatedSheet> elements(
      {CorotatedSheet::Constants::from(400, 0.3), cloth_contact}, 2,
      sheet_at_rest<CorotatedSheet>(mesh.triangles, mesh.points, Vec3::Zero(), 0.01, 1), mesh.points.size());
  const Real e = 1e-6;
  auto x = mesh.points;
  for (Vec3& v : x) v = Vec3((1 + e) * v[0], (1 - 0.3 * e) * v[1], 0);
  std::vector<std::decay_t<decltype(elements)>::Directors> N(elements.element_of_points().size());
  elements.rest(x, N);
  auto f = test::zero_vectors(x.size());
  auto A = test::zero_matrices(elements.element_of_points().size());
  elements.respond(whole, x, N, test::zero_matrices(elements.element_of_points().size()), f, A);
  Real pull = 0;
  for (int j = 0; j <= 2; ++j) pull += f[mesh.at(0, j)][0];
  EXPECT_NEAR(pull, 400 * e * 0.2 * 0.01, 1e-5 * pull);  // second order in e
  for (int i = 0; i <= 4; ++i) EXPECT_LE(std::abs(f[mesh.at(i, 0)][1]), 1e-5 * pull);
}

TEST(FiberElementsTest, AHangingFiberStretchesByItsWeight) {
  // Equilibrium of n segments that carry the weight below: the elongation in closed form, reached by Newton's method on
  // a linear law in one dimension, i.e. at once: u_i = sum of W_j l / (k S).
  const int n = 8;
  test::FiberMesh mesh(1, n, 0.1);
  const Real k = 2000, section = 1e-4, weight = 1e-3;
  FiberElements elements(Fiber::Constants::from(k, 500, lame_from(500, 0.3), 0.6), 2,
                         fiber_at_rest(mesh.segments, mesh.points, section, 1), mesh.points.size());
  auto x = mesh.points;
  Real drop = 0;
  for (int i = 1; i <= n; ++i) {
    drop += (n - i + 1) * weight * 0.1 / (k * section);
    x[i][0] += drop;
  }
  std::vector<std::decay_t<decltype(elements)>::Directors> N(elements.element_of_points().size());
  elements.rest(x, N);
  auto f = test::zero_vectors(x.size());
  auto A = test::zero_matrices(elements.element_of_points().size());
  elements.respond(whole, x, N, A, f, A);
  for (int i = 1; i <= n; ++i) EXPECT_NEAR(f[i][0], -weight, 1e-12);
  EXPECT_NEAR(f[0][0], n * weight, 1e-12);
}

TEST(ElementsAtRestTest, RefuseElementsWithoutExtent) {
  const std::vector<Vec3> x = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 0, 0}};
  const std::vector<test::Triangle> flat = {{0, 1, 2}};
  const std::vector<test::Segment> point = {{0, 3}};
  EXPECT_THROW(sheet_at_rest<CorotatedSheet>(flat, x, Vec3::Zero(), 0.01, 1), std::runtime_error);
  EXPECT_THROW(fiber_at_rest(point, x, 1, 1), std::runtime_error);
}

TEST(SheetAtRestTest, WarpsLieAlongXUnlessToldAndNeverAcross) {
  const std::vector<Vec3> x{{0, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  const std::vector<std::array<std::int32_t, 3>> triangle{{0, 1, 2}};
  const auto gradients = [&](const Vec3& warp) {
    return sheet_at_rest<WovenSheet>(triangle, x, warp, 0.01, 1)[0].gradients;
  };
  EXPECT_EQ(gradients(Vec3::Zero()), gradients(Vec3(2, 0, 1)));
  EXPECT_NE(gradients(Vec3::Zero()), gradients(Vec3::UnitY()));
  EXPECT_THROW(gradients(Vec3::UnitZ()), std::runtime_error);
}

TEST(FreeFiberTest, IsTheLawOfFibersWhoseSidesStandUprightAndTouchNothing) {
  const Fiber::Constants fiber_law = Fiber::Constants::from(200, 30, lame_from(50, 0.2), 0.3);
  test::MatrixSource source(4);
  for (int n = 0; n < 20; ++n) {
    const Vec3 d = (0.5 + n / 20.0) * source.vector().normalized(), side = d.unitOrthogonal();
    Mat3 A;
    A << d, side, d.normalized().cross(side);
    EXPECT_NEAR(FreeFiber::energy(fiber_law, d), Fiber::energy(fiber_law, A), 1e-13);
    EXPECT_LE((FreeFiber::stress(fiber_law, d) - Fiber::stress(fiber_law, A).col(0)).norm(), 1e-12);
  }
}

}  // namespace
}  // namespace weft
