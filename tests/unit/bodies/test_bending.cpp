// Bending: forces against differences, rolls and cantilevers in closed form.

#include "weft/bodies/bending.hpp"

#include "support/codimensional.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace weft {
namespace {

/// A stencil for each triangle.
std::vector<FoldedTriangle> folds_at_rest(std::span<const test::Triangle> triangles, std::span<const Vec3> rest,
                                          const PlateRigidity& plate) {
  const TriangleEdges edges(triangles);
  std::vector<FoldedTriangle> folds;
  for (const test::Triangle& t : triangles) {
    std::array<std::int32_t, 6> rows{t[0], t[1], t[2], -1, -1, -1};
    for (std::size_t k = 0; k < 3; ++k)
      if (const std::int32_t corner = edges.opposite(t[(k + 2) % 3], t[(k + 1) % 3]); corner >= 0)
        rows[3 + k] = triangles[static_cast<std::size_t>(corner / 3)][corner % 3];
    folds.push_back(fold_at_rest(rows, rest, plate));
  }
  return folds;
}

/// A patch for each triangle.
std::vector<FoldedPatch::AtRest> patches_at_rest(std::span<const test::Triangle> triangles, std::span<const Vec3> rest,
                                                 const PlateRigidity& plate) {
  const TriangleEdges edges(triangles);
  std::vector<FoldedPatch::AtRest> patches;
  for (const test::Triangle& t : triangles) {
    std::array<std::int32_t, 12> rows;
    rows.fill(-1);
    std::ranges::copy(t, rows.begin());
    const auto beyond = [&](int from, int to) {
      const std::int32_t corner = rows[from] < 0 || rows[to] < 0 ? -1 : edges.opposite(rows[to], rows[from]);
      return corner < 0 ? -1 : triangles[static_cast<std::size_t>(corner / 3)][corner % 3];
    };
    for (int k = 0; k < 3; ++k) rows[3 + k] = beyond((k + 1) % 3, (k + 2) % 3);
    for (int k = 0; k < 3; ++k) {
      rows[6 + 2 * k] = beyond((k + 1) % 3, 3 + k);
      rows[7 + 2 * k] = beyond(3 + k, (k + 2) % 3);
    }
    patches.push_back(patch_at_rest(rows, rest, plate));
  }
  return patches;
}
PatchBending bending_of(const std::vector<FoldedPatch::AtRest>& patches, std::size_t points) {
  std::vector<FoldedPatch> left;
  for (const FoldedPatch::AtRest& patch : patches) left.push_back(left_of(patch));
  return {left, points};
}

/// A square of n x n squares, each cut in two; points inside and along the rim are moved by up to so much of an edge.
struct UnlikeTriangles {
  enum class Cuts { alike, alternate, random };
  std::vector<Vec3> points;
  std::vector<test::Triangle> triangles;
  std::vector<bool> rim;

  UnlikeTriangles(int n, Cuts cuts, Real moved, std::uint32_t seed) {
    test::MatrixSource source(seed);
    const auto side = static_cast<std::size_t>(n);
    const auto by = test::random_vectors((side + 1) * (side + 1), moved / n, source);
    for (int j = 0; j <= n; ++j)
      for (int i = 0; i <= n; ++i) {
        const Vec3& d = by[points.size()];
        points.push_back({(i + (i % n == 0 ? 0 : n * d[0])) / n, (j + (j % n == 0 ? 0 : n * d[1])) / n, 0});
        rim.push_back(i % n == 0 || j % n == 0);
      }
    const auto coins = test::random_vectors(side * side, 1, source);
    auto coin = coins.begin();
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const std::int32_t a = j * (n + 1) + i, b = a + 1, c = b + n + 1, d = a + n + 1;
        const bool heads = (*coin++)[0] > 0;
        const bool other = cuts == Cuts::alternate ? (i + j) % 2 == 1 : cuts == Cuts::random && heads;
        if (other) triangles.insert(triangles.end(), {{a, b, d}, {b, c, d}});
        else triangles.insert(triangles.end(), {{a, b, c}, {a, c, d}});
      }
  }
};

/// Adds the change of the force as x changes by dx.
template <class Bending>
void add_change(const Bending& bending, std::span<const Vec3> x, std::span<const Vec3> dx, bool projected,
                std::span<Vec3> df) {
  MeshStiffness stiffness;
  bending.add_stiffness(x, projected, stiffness);
  stiffness.multiply(dx, {}, df, {});
}

using test::moved;
using test::product;

std::vector<std::vector<std::int32_t>> one_fiber(int n) {
  std::vector<std::vector<std::int32_t>> list(1);
  for (int i = 0; i <= n; ++i) list[0].push_back(i);
  return list;
}

template <class Bending>
void check_derivatives(Bending& bending, const std::vector<Vec3>& x, test::MatrixSource& source) {
  const auto dx = test::random_vectors(x.size(), 0.1, source), ox = test::random_vectors(x.size(), 0.1, source);
  const auto force = [&](Real h) {
    auto f = test::zero_vectors(x.size());
    bending.respond(moved(x, dx, h), f);
    return f;
  };
  const auto change = [&](const std::vector<Vec3>& by, bool projected) {
    auto df = test::zero_vectors(x.size());
    add_change(bending, x, by, projected, df);
    return df;
  };
  const Real h = 1e-3;  // fourth order: (h/L)^4 = 1e-10 with L of a third of an edge
  const auto difference = [&](const std::function<Real(Real)>& g) {
    return (8 * (g(h) - g(-h)) - (g(2 * h) - g(-2 * h))) / (12 * h);
  };
  const Real size = std::abs(product(change(dx, true), dx));
  EXPECT_NEAR(-product(force(0), dx), difference([&](Real s) { return bending.energy(moved(x, dx, s)); }),
              1e-7 * (size + std::abs(product(force(0), dx))));
  EXPECT_NEAR(product(change(dx, false), ox), difference([&](Real s) { return product(force(s), ox); }), 1e-6 * size);
  EXPECT_NEAR(product(change(dx, false), ox), product(change(ox, false), dx), 1e-12 * size);
  EXPECT_NEAR(product(change(dx, true), ox), product(change(ox, true), dx), 1e-12 * size);
  EXPECT_LE(product(change(dx, true), dx), 0);
  // Rigid motions do no work.
  Vec3 sum = Vec3::Zero(), torque = Vec3::Zero();
  const auto f = force(0);
  Real forces = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += f[i];
    torque += x[i].cross(f[i]);
    forces += f[i].norm();
  }
  EXPECT_LE(sum.norm(), 1e-13 * forces);
  EXPECT_LE(torque.norm(), 1e-12 * forces);
}

TEST(SheetBendingTest, ForcesAndChangesAreDerivatives) {
  test::SheetMesh mesh(3, 3, 1.0);
  test::MatrixSource source(1);
  const auto rest = moved(mesh.points, test::random_vectors(mesh.points.size(), 1, source), 0.2);
  SheetBending bending(folds_at_rest(mesh.triangles, rest, {3, 0.3}), rest.size());
  EXPECT_LE(bending.energy(rest), 1e-25);  // bent at rest
  check_derivatives(bending, moved(rest, test::random_vectors(rest.size(), 1, source), 0.3), source);
}

TEST(PatchBendingTest, ForcesAndChangesAreDerivatives) {
  const UnlikeTriangles mesh(3, UnlikeTriangles::Cuts::random, 0.2, 11);
  test::MatrixSource source(6);
  const auto rest = moved(mesh.points, test::random_vectors(mesh.points.size(), 1, source), 0.06);
  PatchBending bending = bending_of(patches_at_rest(mesh.triangles, rest, {3, 0.3}), rest.size());
  EXPECT_LE(bending.energy(rest), 1e-25);  // bent at rest
  std::vector<Vec3> large;                 // edges of about 1, as differences want them
  for (const Vec3& x : rest) large.push_back(3 * x);
  PatchBending larger = bending_of(patches_at_rest(mesh.triangles, large, {3, 0.3}), rest.size());
  check_derivatives(larger, moved(large, test::random_vectors(rest.size(), 1, source), 0.2), source);
}

TEST(PatchBendingTest, IsThatOfTrianglesWhereNeighborsAreMirrorImages) {
  const UnlikeTriangles mesh(5, UnlikeTriangles::Cuts::alike, 0, 1);
  test::MatrixSource source(7);
  const auto x = moved(mesh.points, test::random_vectors(mesh.points.size(), 0.1, source), 1);
  const PlateRigidity plate{3, 0.3};
  EXPECT_TRUE(folds_are_even(mesh.triangles, TriangleEdges(mesh.triangles), mesh.points));
  const Real of_patches = bending_of(patches_at_rest(mesh.triangles, mesh.points, plate), x.size()).energy(x);
  const Real of_triangles = SheetBending(folds_at_rest(mesh.triangles, mesh.points, plate), x.size()).energy(x);
  EXPECT_NEAR(of_patches, of_triangles, 1e-12 * of_triangles);
}

TEST(FiberBendingTest, ForcesAndChangesAreDerivatives) {
  test::MatrixSource source(2);
  const test::FiberMesh mesh(1, 6, 1.0);
  FiberBending bending(bends_at_rest(one_fiber(6), mesh.points, 2), mesh.points.size());
  for (const Real size : {0.2, 0.6})
    check_derivatives(bending, moved(mesh.points, test::random_vectors(mesh.points.size(), 1, source), size), source);
}

TEST(FiberBendingTest, ProjectedChangeIsExactWhereStraight) {
  test::MatrixSource source(3);
  const test::FiberMesh mesh(1, 6, 1.0);
  FiberBending bending(bends_at_rest(one_fiber(6), mesh.points, 2), mesh.points.size());
  const auto dx = test::random_vectors(mesh.points.size(), 1, source);
  auto exact = test::zero_vectors(7), projected = test::zero_vectors(7);
  add_change(bending, mesh.points, dx, false, exact);
  add_change(bending, mesh.points, dx, true, projected);
  for (int i = 0; i < 7; ++i) EXPECT_LE((exact[i] - projected[i]).norm(), 1e-13);
}

TEST(FiberBendingTest, FoldedBackItStaysFinite) {
  const std::vector<Vec3> x = {{0, 0, 0}, {1, 0, 0}, {0, 0, 0}};
  FiberBending bending(bends_at_rest(one_fiber(2), std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, 2), 3);
  auto f = test::zero_vectors(3);
  bending.respond(x, f);
  EXPECT_TRUE(std::isfinite(bending.energy(x)) && f[0].allFinite() && f[1].allFinite() && f[2].allFinite());
  // The bound of its frequency is that of a turn by 160 degrees: |kb|^2 is 4 (1 - c) / (1 + c) there.
  const Real fastest = bending.fastest(x, std::vector<Real>(3, 1));
  EXPECT_TRUE(fastest > 0 && fastest < 1e4 * 2);
}

/// Rolls a sheet of n x n squares about an axis in its plane and gives bending energy over 1/2 D kappa^2 area.
Real rolled_energy(int n, Real angle, Real poisson_ratio) {
  const Real width = 1, kappa = 1.5, D = 0.7;
  test::SheetMesh mesh(n, n, width / n);
  SheetBending bending(folds_at_rest(mesh.triangles, mesh.points, {D, poisson_ratio}), mesh.points.size());
  auto x = mesh.points;
  const Vec3 along(std::cos(angle), std::sin(angle), 0), axis(-along[1], along[0], 0);
  for (Vec3& v : x) {
    const Real s = v.dot(along);
    v = v.dot(axis) * axis + std::sin(kappa * s) / kappa * along + (1 - std::cos(kappa * s)) / kappa * Vec3::UnitZ();
  }
  return bending.energy(x) / (0.5 * D * kappa * kappa * width * width);
}

TEST(SheetBendingTest, ARolledSheetHasTheEnergyOfAPlateWhicheverWayItIsRolled) {
  // The outermost triangles lack a neighbour and carry no moment across their free edges: first order in 1/n.
  for (const Real angle : {0.0, 0.4, 0.785398, 1.2, 1.570796, 2.356194, 2.8}) {
    const Real coarse = 1 - rolled_energy(16, angle, 0), fine = 1 - rolled_energy(32, angle, 0);
    EXPECT_LE(std::abs(fine), 0.12) << angle;
    EXPECT_NEAR(fine, 0.5 * coarse, 0.02) << angle;
    EXPECT_NEAR(2 * fine - coarse, 0, 0.01) << angle;  // what is left when the edges are extrapolated away
  }
}

/// Deflection at the end under a small force, over that of Euler and Bernoulli; rows up to `held` are clamped.
template <class Bending>
Real cantilever(Bending& bending, const std::vector<Vec3>& x, const std::vector<bool>& held,
                const std::vector<std::int32_t>& loaded, Real expected) {
  // Bending acts across: one freedom for each free vertex, its displacement along z.
  std::vector<int> freedom(x.size(), -1);
  int count = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!held[i]) freedom[i] = count++;
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(count, count);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (freedom[i] < 0) continue;
    auto dx = test::zero_vectors(x.size()), df = test::zero_vectors(x.size());
    dx[i][2] = 1;
    add_change(bending, x, dx, false, df);
    for (std::size_t j = 0; j < x.size(); ++j)
      if (freedom[j] >= 0) K(freedom[j], freedom[i]) = -df[j][2];
  }
  Eigen::VectorXd load = Eigen::VectorXd::Zero(count);
  for (const std::int32_t i : loaded) load[freedom[i]] = 1.0 / static_cast<Real>(loaded.size());
  const Eigen::VectorXd u = K.ldlt().solve(load);
  Real mean = 0;
  for (const std::int32_t i : loaded) mean += u[freedom[i]] / static_cast<Real>(loaded.size());
  return mean / expected;
}

TEST(FiberBendingTest, ACantileverBendsByTheClosedForm) {
  // u = F L^3 / (3 B), clamped in the middle of the second vertex's cell: the first segment is held.
  const Real B = 2;
  std::vector<Real> errors;
  for (const int n : {10, 20, 40}) {
    const test::FiberMesh mesh(1, n, 1.0 / n);
    FiberBending bending(bends_at_rest(one_fiber(n), mesh.points, B), mesh.points.size());
    std::vector<bool> held(mesh.points.size(), false);
    held[0] = held[1] = true;
    // Angles act at vertices 1, 2, ..: vertex 1 stands for the half cell on either side, which reaches to 1/2 h from
    // the first vertex.
    const Real L = 1 - 0.5 / n;
    errors.push_back(cantilever(bending, mesh.points, held, {n}, L * L * L / (3 * B)) - 1);
  }
  EXPECT_LE(std::abs(errors[2]), 3e-4);
  EXPECT_NEAR(errors[1] / errors[2], 4, 0.5);  // second order
}

TEST(SheetBendingTest, AStripBendsByTheClosedForm) {
  // A strip without lateral contraction: u = F L^3 / (3 D b), clamped along the middle of its first columns.
  const Real D = 2, b = 0.25;
  std::vector<Real> errors;
  for (const int n : {8, 16, 32}) {
    const test::SheetMesh mesh(n, n / 4, 1.0 / n);
    SheetBending bending(folds_at_rest(mesh.triangles, mesh.points, {D, 0}), mesh.points.size());
    std::vector<bool> held(mesh.points.size(), false);
    std::vector<std::int32_t> end;
    for (int j = 0; j <= n / 4; ++j) {
      held[mesh.at(0, j)] = held[mesh.at(1, j)] = true;
      end.push_back(mesh.at(n, j));
    }
    const Real L = 1 - 0.5 / n;
    errors.push_back(cantilever(bending, mesh.points, held, end, L * L * L / (3 * D * b)) - 1);
  }
  EXPECT_LE(std::abs(errors[2]), 0.05);
  EXPECT_LE(std::abs(errors[2]), 0.7 * std::abs(errors[1]));
}

/// Deflection in the middle of a supported plate under an even load q, over 0.00406235 q / D [Timoshenko].
Real deflection_of_plate(const UnlikeTriangles& mesh, Real poisson_ratio) {
  const std::size_t count = mesh.points.size();
  PatchBending bending = bending_of(patches_at_rest(mesh.triangles, mesh.points, {1, poisson_ratio}), count);
  MeshStiffness stiffness;
  bending.add_stiffness(mesh.points, true, stiffness);
  std::vector<int> freedom(count, -1);
  int freedoms = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (!mesh.rim[i]) freedom[i] = freedoms++;
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(freedoms, freedoms);
  for (std::size_t p = 0; p < stiffness.size(); ++p) {
    const MeshStiffness::Part part = stiffness.part(p);
    for (std::size_t a = 0; a < part.rows.size(); ++a)
      for (std::size_t b = 0; b < part.rows.size(); ++b)
        if (freedom[part.rows[a]] >= 0 && freedom[part.rows[b]] >= 0)
          K(freedom[part.rows[a]], freedom[part.rows[b]]) +=
              part.K(static_cast<int>(3 * a + 2), static_cast<int>(3 * b + 2));
  }
  Eigen::VectorXd load = Eigen::VectorXd::Zero(freedoms);
  for (const test::Triangle& t : mesh.triangles) {
    const Real area = (mesh.points[t[1]] - mesh.points[t[0]]).cross(mesh.points[t[2]] - mesh.points[t[0]]).norm() / 2;
    for (const std::int32_t i : t)
      if (freedom[i] >= 0) load[freedom[i]] += area / 3;
  }
  // The mean over the middle, which moved points do not change to first order.
  const Eigen::VectorXd u = K.ldlt().solve(load);
  Real nearest = 1, middle = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (const Real d = (mesh.points[i] - Vec3(0.5, 0.5, 0)).norm(); freedom[i] >= 0 && d < nearest)
      nearest = d, middle = u[freedom[i]];
  return middle / 0.00406235;
}

TEST(PatchBendingTest, SupportedPlatesOfUnlikeTrianglesDeflectByTheClosedForm) {
  using Cuts = UnlikeTriangles::Cuts;
  for (const auto& [cuts, by] : {std::pair(Cuts::alike, 0.0),
                                 {Cuts::alternate, 0.0},
                                 {Cuts::random, 0.0},
                                 {Cuts::random, 0.3},
                                 {Cuts::alternate, 0.2}}) {
    const UnlikeTriangles mesh(16, cuts, by, 5);
    EXPECT_EQ(folds_are_even(mesh.triangles, TriangleEdges(mesh.triangles), mesh.points), cuts == Cuts::alike);
    for (const Real poisson_ratio : {0.0, 0.3})
      EXPECT_NEAR(deflection_of_plate(mesh, poisson_ratio), 1, 0.015) << static_cast<int>(cuts) << ' ' << by;
  }
}

TEST(PatchBendingTest, APatchThatLosesTrianglesBendsAsIfItHadNeverHadThem) {
  const UnlikeTriangles mesh(4, UnlikeTriangles::Cuts::random, 0.25, 3);
  const PlateRigidity plate{2, 0.3};
  const auto all = patches_at_rest(mesh.triangles, mesh.points, plate);
  int checked = 0;
  for (std::size_t lost = 0; lost < mesh.triangles.size(); ++lost) {
    auto triangles = mesh.triangles;
    triangles.erase(triangles.begin() + static_cast<std::ptrdiff_t>(lost));
    const auto never = patches_at_rest(triangles, mesh.points, plate);
    for (std::size_t e = 0; e < triangles.size(); ++e) {
      const FoldedPatch expected = left_of(never[e]);
      FoldedPatch::AtRest torn = all[e < lost ? e : e + 1];
      if (expected.rows == torn.rows) continue;
      // Rows of triangles that hang together by the lost one alone leave with it.
      for (std::size_t c = 3; c < 12; ++c)
        if (c >= 6 ? expected.rows[c] < 0 && expected.rows[3 + (c - 6) / 2] >= 0 : expected.rows[c] < 0)
          torn.rows[c] = -1;
      const FoldedPatch got = left_of(torn);
      ++checked;
      EXPECT_EQ(got.rows, expected.rows);
      EXPECT_LE((got.stiffness - expected.stiffness).norm(), 1e-12 * expected.stiffness.norm());
      EXPECT_LE((got.own - expected.own).norm() + (got.beyond - expected.beyond).norm(), 1e-12);
    }
  }
  EXPECT_GT(checked, 100);
}

TEST(SheetBendingTest, ATriangleThatLosesANeighborBendsAsIfItHadNeverHadIt) {
  const std::vector<Vec3> x = {{0, 0, 0}, {1, 0.1, 0}, {0.4, 0.8, 0}, {1.2, 1, 0}, {-0.5, 0.6, 0}, {0.6, -0.9, 0}};
  const std::vector<std::array<std::int32_t, 3>> whole = {{0, 1, 2}, {1, 3, 2}, {0, 2, 4}, {1, 0, 5}};
  for (const int lost : {1, 2, 3}) {
    auto left = whole;
    left.erase(left.begin() + lost);
    FoldedTriangle expected = folds_at_rest(left, x, {1, 0.3})[0];
    FoldedTriangle got = folds_at_rest(whole, x, {1, 0.3})[0];
    int k = 0;  // the edge to the triangle that is lost
    while (std::count(whole[lost].begin(), whole[lost].end(), got.rows[3 + k]) == 0) ++k;
    got.rows[3 + k] = -1;
    got = left_of(got);
    EXPECT_EQ(got.rows, expected.rows);
    EXPECT_LE((got.stiffness - expected.stiffness).norm(), 1e-14 * expected.stiffness.norm());
  }
  // Without neighbours it resists nothing.
  FoldedTriangle alone = folds_at_rest(whole, x, {1, 0.3})[0];
  for (const int k : {0, 1, 2}) alone.rows[3 + k] = -1;
  EXPECT_EQ(left_of(alone).stiffness, Mat3(Mat3::Zero()));
}

TEST(SheetBendingTest, RefusesTrianglesTurnedAgainstEachOther) {
  const std::vector<test::Triangle> turned = {{0, 1, 2}, {1, 2, 3}};
  EXPECT_THROW(TriangleEdges{turned}, std::runtime_error);
}

/// The bound of the frequencies about x over the largest that the projected stiffness has, all masses being free.
template <class Bending>
Real stated_over_exact(const Bending& bending, std::span<const Vec3> x) {
  std::vector<Real> mass(x.size()), share(x.size(), 0);
  for (std::size_t i = 0; i < x.size(); ++i) mass[i] = 1 + 0.3 * std::sin(7.0 * static_cast<Real>(i));
  MeshStiffness stiffness;
  bending.add_stiffness(x, true, stiffness);
  const auto count = static_cast<Eigen::Index>(3 * x.size());
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(count, count);
  for (std::size_t p = 0; p < stiffness.size(); ++p) {
    const MeshStiffness::Part part = stiffness.part(p);
    for (std::size_t a = 0; a < part.rows.size(); ++a)
      for (std::size_t b = 0; b < part.rows.size(); ++b)
        K.block<3, 3>(3 * part.rows[a], 3 * part.rows[b]) +=
            part.K.block<3, 3>(static_cast<int>(3 * a), static_cast<int>(3 * b)) /
            std::sqrt(mass[part.rows[a]] * mass[part.rows[b]]);
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> modes(K, Eigen::EigenvaluesOnly);
  bending.add_weights(share);
  for (std::size_t i = 0; i < x.size(); ++i) share[i] = mass[i] / share[i];
  return std::sqrt(bending.fastest(x, share) / modes.eigenvalues().maxCoeff());
}

TEST(BendingTest, NoModeIsFasterThanStatedAndStepsAreNotMuchShorterThanNeeded) {
  test::MatrixSource source(4);
  const auto check = [&](const auto& bending, const std::vector<Vec3>& rest) {
    for (const Real size : {0.0, 0.15, 0.3}) {
      const auto x = moved(rest, test::random_vectors(rest.size(), size, source), 1);
      const Real ratio = stated_over_exact(bending, x);
      EXPECT_GE(ratio, 1 - 1e-9) << size;
      EXPECT_LE(ratio, 1.5 + 2 * size) << size;
    }
  };
  const test::SheetMesh mesh(6, 7, 1.0);  // free edges, and packs with idle lanes
  check(SheetBending(folds_at_rest(mesh.triangles, mesh.points, {3, 0.3}), mesh.points.size()), mesh.points);
  for (const auto cuts : {UnlikeTriangles::Cuts::alternate, UnlikeTriangles::Cuts::random}) {
    UnlikeTriangles unlike(7, cuts, 0.2, 9);
    for (Vec3& x : unlike.points) x *= 7;
    check(bending_of(patches_at_rest(unlike.triangles, unlike.points, {3, 0.3}), unlike.points.size()), unlike.points);
  }
  const test::FiberMesh fiber(1, 20, 1.0);
  check(FiberBending(bends_at_rest(one_fiber(20), fiber.points, 2), fiber.points.size()), fiber.points);
}

TEST(BendingTest, AFiberIsAsFastAsStated) {
  // A long chain: omega^2 = B/l^3 (2 sin(pi/2))^4 / m = 16 B / (l^3 m).
  constexpr Real mass = 0.01, length = 0.05;
  const test::FiberMesh mesh(1, 20, length);
  const FiberBending bending(bends_at_rest(one_fiber(20), mesh.points, 2), mesh.points.size());
  std::vector<Real> share(21, 0);
  bending.add_weights(share);
  for (Real& each : share) each = mass / each;
  EXPECT_NEAR(bending.fastest(mesh.points, share), 16 * 2 / (length * length * length * mass), 0.1 * 16 * 2 / 1.25e-6);
}

}  // namespace
}  // namespace weft
