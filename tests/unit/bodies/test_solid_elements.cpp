// Tetrahedra of solids: patch test, forces and stiffness against differences, rigid motions, mass, step limits.

#include "bodies/solid_kernel.hpp"
#include "weft/base/random.hpp"
#include "weft/geometry/tet_mesh.hpp"
#include "weft/materials/fixed_corotated.hpp"
#include "weft/materials/neo_hookean.hpp"
#include "weft/materials/stvk_hencky.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

constexpr Real density = 3;

Vec3 random_vec3(std::size_t k, std::uint64_t seed = 1) {
  return 2 * Random(seed, 0, static_cast<PointId>(k)).uniform3() - Vec3::Ones();
}

/// A block of 2 x 3 x 2 cubes of 0.1, its inner points and those on its faces moved, so that no two elements are alike.
TetMesh scrambled_block(int order, bool is_curved = true) {
  TetMesh mesh = block_of_tets({Vec3(0.3, -0.2, 0), Vec3(0.5, 0.1, 0.2)}, 0.1);
  for (std::size_t k = 0; k < mesh.points.size(); ++k) mesh.points[k] += 0.015 * random_vec3(k);
  require_sound(mesh, "block");
  if (order == 1) return mesh;
  mesh = with_middles(std::move(mesh));
  if (!is_curved) return mesh;
  for (std::size_t k = 0; k < mesh.points.size(); ++k) mesh.points[k] += 0.003 * random_vec3(k, 2);
  return mesh;
}

template <class L, int its_order>
struct Case {
  using Law = L;
  static constexpr int order = its_order, nodes = order == 1 ? 4 : 10;
};

template <class C>
class SolidTest : public ::testing::Test {
 public:
  using L = typename C::Law;
  static constexpr int nodes = C::nodes;
  using Elements = SolidElements<L, nodes>;

  static typename L::Constants law() { return L::Constants::from(lame_from(500, 0.3)); }
  static Elements elements_of(const TetMesh& mesh, int divisions = 0) {
    std::vector<TetAtRest<nodes>> elements;
    for (std::int64_t t = 0; t < mesh.count(); ++t) {
      TetAtRest<nodes>& element = elements.emplace_back();
      std::ranges::copy(mesh.tet(t), element.rows.begin());
      for (std::size_t a = 0; a < nodes; ++a) element.rest[a] = mesh.points[element.rows[a]];
      element.divisions = divisions;
    }
    return Elements(law(), density, std::move(elements), mesh.points.size());
  }

  std::vector<Vec3> forces(std::span<const Vec3> x) const {
    std::vector<Vec3> f(x.size(), Vec3::Zero());
    elements.add_force(x, f);
    return f;
  }
  std::vector<Vec3> image(const Mat3& A, const Vec3& b) const {
    std::vector<Vec3> x;
    for (const Vec3& X : mesh.points) x.push_back(A * X + b);
    return x;
  }
  std::vector<Vec3> moved(Real by) const {
    std::vector<Vec3> x = mesh.points;
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += by * random_vec3(k, 3);
    return x;
  }
  Eigen::MatrixXd matrix(std::span<const Vec3> x, bool projected) const {
    MeshStiffness stiffness;
    elements.add_stiffness(x, projected, stiffness);
    const Eigen::Index n = 3 * static_cast<Eigen::Index>(x.size());
    Eigen::MatrixXd K(n, n);
    for (Eigen::Index c = 0; c < n; ++c) {
      std::vector<Vec3> u(x.size(), Vec3::Zero()), df(x.size(), Vec3::Zero());
      u[static_cast<std::size_t>(c / 3)][c % 3] = 1;
      stiffness.multiply(u, {}, df, {});
      for (Eigen::Index r = 0; r < n; ++r) K(r, c) = -df[static_cast<std::size_t>(r / 3)][r % 3];
    }
    return K;
  }

  TetMesh mesh = scrambled_block(C::order);
  Elements elements = elements_of(mesh);
};

using Cases = ::testing::Types<Case<FixedCorotated, 1>, Case<FixedCorotated, 2>, Case<NeoHookean, 1>,
                               Case<NeoHookean, 2>, Case<StvkHencky, 1>, Case<StvkHencky, 2>>;
TYPED_TEST_SUITE(SolidTest, Cases);

Mat3 stretched() {
  Mat3 A;
  A << 1.1, 0.2, -0.1, 0.05, 0.9, 0.15, -0.2, 0.1, 1.2;
  return A;
}

TYPED_TEST(SolidTest, AffineMotionsHaveTheStressOfTheLawAndLeaveInnerVerticesInBalance) {
  using L = typename TypeParam::Law;
  const Mat3 A = stretched(), P = L::stress(this->law(), NoMemory{}, A);
  // Four Gauss points are exact for the forces of straight edges alone.
  this->mesh = scrambled_block(TypeParam::order, false);
  this->elements = this->elements_of(this->mesh);
  const std::vector<Vec3> x = this->image(A, Vec3(1, 2, 3));
  const std::vector<Vec3> f = this->forces(x);
  std::vector<bool> is_outer(x.size(), false);
  for (const OuterFace& face : outer_faces(this->mesh))
    for (int a = 0; a < (TypeParam::order == 1 ? 3 : 6); ++a)
      is_outer[static_cast<std::size_t>(this->mesh.tet(
          face.tet)[tet_faces[static_cast<std::size_t>(face.face)][static_cast<std::size_t>(a)]])] = true;
  ASSERT_GT(std::ranges::count(is_outer, false), 0);
  Real volume = 0;
  for (const auto& element : this->elements.elements()) volume += element.volume();
  Vec3 total = Vec3::Zero();
  Mat3 virial = Mat3::Zero();  // sum f X^T = -P V, whatever the mesh
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!is_outer[k]) {
      EXPECT_LT(f[k].norm(), 1e-12 * P.norm() * std::cbrt(volume * volume)) << k;
    }
    total += f[k];
    virial += f[k] * this->mesh.points[k].transpose();
  }
  EXPECT_LT(total.norm(), 1e-13 * P.norm());
  EXPECT_LT((virial + volume * P).norm(), 1e-12 * volume * P.norm());
  EXPECT_NEAR(this->elements.energy(x), volume * L::energy(this->law(), NoMemory{}, A), 1e-12 * P.norm());
  for (std::size_t e = 0; e < this->elements.elements().size(); ++e) {
    const auto [J, cauchy] = this->elements.state(e, x);
    EXPECT_NEAR(J, A.determinant(), 1e-12);
    EXPECT_LT((cauchy - P * A.transpose() / A.determinant()).norm(), 1e-11 * P.norm());
  }
}

TYPED_TEST(SolidTest, ForcesAreTheDerivativeOfTheEnergyAndStiffnessThatOfForces) {
  const std::vector<Vec3> x = this->moved(0.006);
  std::vector<Vec3> u;
  for (std::size_t k = 0; k < x.size(); ++k) u.push_back(random_vec3(k, 4));
  const auto at = [&](Real h) {
    std::vector<Vec3> y = x;
    for (std::size_t k = 0; k < y.size(); ++k) y[k] += h * u[k];
    return y;
  };
  const std::vector<Vec3> f = this->forces(x);
  Real power = 0;
  for (std::size_t k = 0; k < x.size(); ++k) power -= f[k].dot(u[k]);
  const Real h = 1e-5;
  EXPECT_NEAR((this->elements.energy(at(h)) - this->elements.energy(at(-h))) / (2 * h), power, 1e-6 * std::abs(power));

  MeshStiffness stiffness;
  this->elements.add_stiffness(x, false, stiffness);
  std::vector<Vec3> df(x.size(), Vec3::Zero());
  stiffness.multiply(u, {}, df, {});
  const std::vector<Vec3> after = this->forces(at(h)), before = this->forces(at(-h));
  Real most = 0, off = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    most = std::max(most, df[k].norm());
    off = std::max(off, ((after[k] - before[k]) / (2 * h) - df[k]).norm());
  }
  EXPECT_LT(off, 1e-6 * most);
}

TYPED_TEST(SolidTest, OnlyRigidMotionsAreFree) {
  const Eigen::MatrixXd K = this->matrix(this->mesh.points, false);
  EXPECT_LT((K - K.transpose()).norm(), 1e-12 * K.norm());
  const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(K).eigenvalues();
  const Real largest = values[values.size() - 1];
  EXPECT_LT(values.head(6).cwiseAbs().maxCoeff(), 1e-12 * largest);
  EXPECT_GT(values[6], 1e-6 * largest);
}

TYPED_TEST(SolidTest, TheProjectedStiffnessHasNoNegativeEigenvalues) {
  const Eigen::MatrixXd K = this->matrix(this->moved(0.05), true);
  const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(K).eigenvalues();
  EXPECT_GT(values[0], -1e-11 * values[values.size() - 1]);
}

TYPED_TEST(SolidTest, ForcesTurnWithTheBody) {
  const Mat3 R = Eigen::AngleAxisd(1.1, Vec3(1, -2, 0.5).normalized()).toRotationMatrix();
  const std::vector<Vec3> x = this->moved(0.02), f = this->forces(x);
  std::vector<Vec3> turned;
  for (const Vec3& p : x) turned.push_back(R * p + Vec3(0.1, 0.2, 0.3));
  const std::vector<Vec3> g = this->forces(turned);
  Vec3 torque = Vec3::Zero();
  Real most = 0;
  for (std::size_t k = 0; k < x.size(); ++k) most = std::max(most, f[k].norm());
  for (std::size_t k = 0; k < x.size(); ++k) {
    EXPECT_LT((g[k] - R * f[k]).norm(), 1e-11 * most);
    torque += x[k].cross(f[k]);
  }
  EXPECT_LT(torque.norm(), 1e-12 * most);
}

TYPED_TEST(SolidTest, TheBoundOfFrequenciesHolds) {
  for (const Real by : {0.0, 0.005}) {
    const std::vector<Vec3> x = this->moved(by);
    const Eigen::MatrixXd K = this->matrix(x, true);
    std::vector<Real> mass(x.size(), 0);
    this->elements.add_mass(mass, {});
    Eigen::VectorXd root(K.rows());
    for (Eigen::Index r = 0; r < K.rows(); ++r) root[r] = 1 / std::sqrt(mass[static_cast<std::size_t>(r / 3)]);
    const Eigen::MatrixXd scaled = root.asDiagonal() * K * root.asDiagonal();
    const Eigen::VectorXd squares = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(scaled).eigenvalues();
    const Real fastest = std::sqrt(squares[squares.size() - 1]), bound = this->elements.speeds(x).frequency;
    EXPECT_GE(bound, fastest);
    EXPECT_LT(bound, (TypeParam::order == 1 ? 2.5 : 6) * fastest);
  }
  const Lame lame = lame_from(500, 0.3);
  EXPECT_NEAR(this->elements.speeds(this->mesh.points).wave, std::sqrt((lame.lambda + 2 * lame.mu) / density), 1e-6);
}

TYPED_TEST(SolidTest, MassIsSharedAndPointsLieInside) {
  Real volume = 0;
  for (const auto& element : this->elements.elements()) volume += element.volume();
  for (const int divisions : {0, 1, 3}) {
    const auto elements = this->elements_of(this->mesh, divisions);
    const std::size_t points =
        elements.elements().size() * static_cast<std::size_t>(std::lround(std::pow(divisions, 3)));
    std::vector<Real> of_vertices(this->mesh.points.size(), 0), of_points(points);
    elements.add_mass(of_vertices, of_points);
    Real sum = 0;
    for (const auto& masses : {of_vertices, of_points})
      for (const Real m : masses) {
        EXPECT_GT(m, 0);
        sum += m;
      }
    EXPECT_NEAR(sum, density * volume, 1e-13);
    std::vector<Vec3> places(points);
    elements.place(this->mesh.points, places);
    std::vector<Vec3> f(this->mesh.points.size(), Vec3::Zero());
    const Vec3 force(1, 2, 3);
    Vec3 total = Vec3::Zero(), torque = Vec3::Zero();
    for (std::size_t q = 0; q < points; ++q) {
      elements.add_force(q, force, f);
      torque += places[q].cross(force);
    }
    for (std::size_t k = 0; k < f.size(); ++k) total += f[k], torque -= this->mesh.points[k].cross(f[k]);
    EXPECT_LT((total - static_cast<Real>(points) * force).norm(), 1e-10);
    EXPECT_LT(torque.norm(), 1e-10);
  }
}

TYPED_TEST(SolidTest, ThreadsChangeNoBit) {
  const std::vector<Vec3> x = this->moved(0.02);
  omp_set_num_threads(1);
  const std::vector<Vec3> one = this->forces(x);
  const Real energy = this->elements.energy(x), frequency = this->elements.speeds(x).frequency;
  omp_set_num_threads(3);
  EXPECT_EQ(this->forces(x), one);
  EXPECT_EQ(this->elements.energy(x), energy);
  this->elements.speeds(this->mesh.points);  // so that they are found anew
  EXPECT_EQ(this->elements.speeds(x).frequency, frequency);
  omp_set_num_threads(1);
}

TEST(SolidElementsTest, InvertedElementsPushBack) {
  const TetMesh mesh = scrambled_block(1);
  std::vector<TetAtRest<4>> at_rest;
  for (std::int64_t t = 0; t < mesh.count(); ++t) {
    TetAtRest<4>& element = at_rest.emplace_back();
    std::ranges::copy(mesh.tet(t), element.rows.begin());
    for (std::size_t a = 0; a < 4; ++a) element.rest[a] = mesh.points[element.rows[a]];
  }
  const SolidElements<FixedCorotated, 4> elements({lame_from(500, 0.3)}, density, at_rest, mesh.points.size());
  // Flattened to a plane, and turned inside out along z.
  for (const Real squeeze : {0.0, -0.3}) {
    std::vector<Vec3> x = mesh.points, f(x.size(), Vec3::Zero());
    for (Vec3& p : x) p[2] *= squeeze;
    elements.add_force(x, f);
    Real power = 0;  // towards the shape at rest
    for (std::size_t k = 0; k < x.size(); ++k) {
      EXPECT_TRUE(f[k].allFinite());
      power += f[k].dot(mesh.points[k] - x[k]);
    }
    EXPECT_GT(power, 0);
    EXPECT_TRUE(std::isfinite(elements.speeds(x).frequency));
  }
}

TEST(SolidElementsTest, ADividedTetrahedronHasItsCentreAndInertia) {
  for (const int n : {1, 2, 3, 5}) {
    const std::vector<Eigen::Vector4d> centres = centres_of_divided_tet(n);
    ASSERT_EQ(centres.size(), static_cast<std::size_t>(n * n * n));
    Eigen::Vector4d mean = Eigen::Vector4d::Zero();
    Real square = 0;
    for (const Eigen::Vector4d& at : centres) {
      EXPECT_NEAR(at.sum(), 1, 1e-14);
      EXPECT_GT(at.minCoeff(), 0);
      mean += at / static_cast<Real>(centres.size());
      square += at[0] * at[0] / static_cast<Real>(centres.size());
    }
    EXPECT_LT((mean - Eigen::Vector4d::Constant(0.25)).norm(), 1e-14);
    EXPECT_NEAR(square, 0.1, 0.05 / (n * n));  // the mean of b^2 is 1/10
  }
}

/// (14.2): both momenta stay, rigid motions lose nothing, kinetic energy falls; flattened elements too.
TYPED_TEST(SolidTest, ElementsLoseTheMotionWithinThemAndKeepMomenta) {
  std::vector<Real> m(this->mesh.points.size(), 0);
  this->elements.add_mass(m, {});
  std::vector<Vec3> flat = this->moved(0.02), line = flat;
  for (Vec3& each : flat) each.z() = 0;
  for (Vec3& each : line) each.tail<2>().setZero();
  for (const std::vector<Vec3>& x : {this->moved(0.02), flat, line}) {
    const auto loss_of = [&](std::span<const Vec3> v) {
      std::vector<Vec3> loss(x.size(), Vec3::Zero());
      this->elements.add_loss_within(x, v, loss);
      return loss;
    };
    std::vector<Vec3> rigid, v;
    for (std::size_t k = 0; k < x.size(); ++k) {
      rigid.push_back(Vec3(1, 2, 3) + Vec3(3, -1, 2).cross(x[k]));
      v.push_back(random_vec3(k, 5));
    }
    for (const Vec3& each : loss_of(rigid)) EXPECT_LT(each.norm(), 1e-12);
    const std::vector<Vec3> loss = loss_of(v);
    Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
    for (std::size_t k = 0; k < x.size(); ++k) linear += loss[k], angular += x[k].cross(loss[k]);
    EXPECT_LT(linear.norm(), 1e-14);
    EXPECT_LT(angular.norm(), 1e-14);
    for (const Real share : {0.1, 0.5, 1.0}) {
      Real before = 0, after = 0;
      for (std::size_t k = 0; k < x.size(); ++k) {
        before += m[k] * v[k].squaredNorm() / 2;
        after += m[k] * (v[k] + share / m[k] * loss[k]).squaredNorm() / 2;
      }
      EXPECT_LT(after, (1 - 0.05 * share) * before);
    }
  }
}

}  // namespace
}  // namespace weft
