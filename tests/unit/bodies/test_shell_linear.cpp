// Small displacements of shells against the limits of Kirchhoff and Love's theory: patch test, plates, the roof of
// Scordelis and Lo, pinched cylinder and hemisphere; frequencies of strips and plates.

#include "support/shell_models.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace weft {
namespace {

using namespace test;
constexpr Real pi = std::numbers::pi;

ControlMesh patch_of(int n, bool irregular, const SurfaceMap& map) {
  return irregular ? irregular_patch(n, n, map) : patch(n, n, map);
}

/// Deflection of the middle of a unit square plate over q / D or P / D.
Real plate(int n, bool irregular, bool clamped, bool point_load) {
  const Real E = 1e6, nu = 0.3, t = 0.01, D = E * t * t * t / (12 * (1 - nu * nu));
  LinearProblem p(elastic_shell(patch_of(n, irregular, rectangle(1, 1)), E, nu, t));
  for (const auto& side : edge_lines(p.mesh)) {
    hold_edge(p.conditions, side, {0, 1, 2});
    if (clamped) hold_slope(p.conditions, side, {2});
  }
  if (point_load) p.add_point_load({0.5, 0.5, 0}, {0, 0, 1});
  else p.add_area_load({0, 0, 1});
  p.solve();
  return p.displacement({0.5, 0.5, 0})[2] * D;
}

/// Vertical displacement of the middle of the free edge.
Real scordelis_lo(int n, bool irregular) {
  const Real R = 25, angle = 40 * pi / 180;
  LinearProblem p(elastic_shell(patch_of(n, irregular, cylinder(R, 25, 0, angle)), 4.32e8, 0, 0.25));
  hold_edge(p.conditions, side_where(p.mesh, [](const Vec3& x) { return std::abs(x[1]) < 1e-3; }), {0, 2});
  mirror_edge(p.conditions, side_where(p.mesh, [](const Vec3& x) { return std::abs(x[1] - 25) < 1e-3; }), 1);
  mirror_edge(p.conditions, side_where(p.mesh, [](const Vec3& x) { return std::abs(x[0]) < 1e-3; }), 0);
  p.add_area_load({0, 0, -90});
  p.solve();
  return p.displacement({R * std::sin(angle), 25, R * std::cos(angle)})[2];
}

/// Displacement under the load.
Real pinched_cylinder(int n, bool irregular) {
  const Real R = 300;
  // Faces shrink to half their mean size at the load, which a uniform mesh resolves only with more than 16 x 16.
  const SurfaceMap map = cylinder(R, 300, 0, pi / 2);
  const auto graded = [=](Real s, Real t) { return map(s * (1 + s) / 2, 1 - (1 - t) * (2 - t) / 2); };
  LinearProblem p(elastic_shell(patch_of(n, irregular, graded), 3e6, 0.3, 3));
  hold_edge(p.conditions, side_where(p.mesh, [](const Vec3& x) { return std::abs(x[1]) < 0.1; }), {0, 2});
  mirror_edge(p.conditions, side_where(p.mesh, [](const Vec3& x) { return std::abs(x[1] - 300) < 0.1; }), 1);
  mirror_edge(p.conditions, side_where(p.mesh, [](const Vec3& x) { return std::abs(x[0]) < 0.1; }), 0);
  mirror_edge(p.conditions, side_where(p.mesh, [](const Vec3& x) { return std::abs(x[2]) < 0.1; }), 2);
  p.add_point_load({0, 300, R}, {0, 0, -0.25});
  p.solve();
  return -p.displacement({0, 300, R})[2];
}

/// Displacement under the load of a hemisphere with a hole of 18 degrees.
Real pinched_hemisphere(int n, bool irregular) {
  LinearProblem p(
      elastic_shell(patch_of(n, irregular, sphere(10, {0, pi / 2}, {0, 72 * pi / 180})), 6.825e7, 0.3, 0.04));
  mirror_edge(p.conditions, side_where(p.mesh, [](const Vec3& x) { return std::abs(x[1]) < 1e-2; }), 1);
  mirror_edge(p.conditions, side_where(p.mesh, [](const Vec3& x) { return std::abs(x[0]) < 1e-2; }), 0);
  p.add_point_load({10, 0, 0}, {1, 0, 0});
  p.add_point_load({0, 10, 0}, {0, -1, 0});
  Conditions::Row height;
  for (const auto& [point, weight] : p.point_at({10, 0, 0})) height[3 * point + 2] = weight;
  p.conditions.add(height);
  p.solve();
  return p.displacement({10, 0, 0})[0];
}

/// Largest error of a displacement that should be linear in place, over its largest value, when all points that shape
/// the boundary follow it.
Real patch_test(int in_plane) {
  ShellDescription description = elastic_shell(irregular_patch(12, 12, rectangle(2, 1)), 10, 0.3, 0.02);
  description.in_plane = in_plane;
  LinearProblem p(description);
  Mat3 G;
  G << 0.3, 0.2, 0, -0.1, 0.4, 0, 0.5, 0.3, 0;
  Eigen::VectorXd exact(p.freedoms);
  for (std::size_t k = 0; k < p.mesh.points.size(); ++k) exact.segment<3>(3 * k) = G * p.mesh.points[k];
  for (const auto& side : edge_lines(p.mesh))
    for (const auto& [outer, boundary, inner] : side)
      for (const int point : {outer, boundary, inner})
        for (int c = 0; c < 3; ++c) p.conditions.add({{3 * point + c, 1}});
  p.load = -p.assembled(false) * exact;
  p.solve();
  return p.u.lpNorm<Eigen::Infinity>() / exact.lpNorm<Eigen::Infinity>();
}

/// Relative errors at two sizes stay below bounds and fall with at least this order.
struct Bound {
  int coarse, fine;
  Real error_coarse, error_fine, order;
};
template <class F>
void expect_convergence(const char* what, Real exact, const Bound& bound, F&& result) {
  const Real coarse = std::abs(result(bound.coarse) / exact - 1), fine = std::abs(result(bound.fine) / exact - 1);
  const Real order = std::log(coarse / fine) / std::log(static_cast<Real>(bound.fine) / bound.coarse);
  std::printf("%-40s %2d: %.2e  %2d: %.2e  order %.1f\n", what, bound.coarse, coarse, bound.fine, fine, order);
  EXPECT_LT(coarse, bound.error_coarse) << what;
  EXPECT_LT(fine, bound.error_fine) << what;
  EXPECT_GT(order, bound.order) << what;
}

TEST(ShellLinear, LinearFieldsPassThePatchTestToTheQuadratureNextToIrregularPoints) {
  // Shape functions there are no polynomials, so that the Gauss rule decides.
  EXPECT_LT(patch_test(2), 1e-3);
  EXPECT_LT(patch_test(4), 1e-4);
}

TEST(ShellLinear, PlatesUnderUniformLoadConvergeToFourthOrder) {
  expect_convergence("supported plate", 0.004062352661, {8, 16, 1e-4, 1e-5, 3.8},
                     [](int n) { return plate(n, false, false, false); });
  // The reference has ten digits; the error of the finer mesh is below them.
  EXPECT_NEAR(plate(16, false, true, false) / 0.001265319087, 1, 1e-6);
}

TEST(ShellLinear, PlatesUnderPointLoadsConvergeToSecondOrder) {
  expect_convergence("supported plate, point", 0.01160083977, {8, 16, 5e-3, 1e-3, 1.9},
                     [](int n) { return plate(n, false, false, true); });
  expect_convergence("clamped plate, point", 0.0056120, {8, 16, 1e-2, 2e-3, 1.9},
                     [](int n) { return plate(n, false, true, true); });
}

TEST(ShellLinear, PlatesWithIrregularPointsAreWithinHalfAPercentAt16) {
  expect_convergence("irregular supported plate", 0.004062352661, {16, 32, 2e-3, 5e-4, 1},
                     [](int n) { return plate(n, true, false, false); });
  expect_convergence("irregular supported plate, point", 0.01160083977, {16, 32, 4e-3, 1e-3, 1},
                     [](int n) { return plate(n, true, false, true); });
  expect_convergence("irregular clamped plate", 0.001265319087, {16, 32, 3e-3, 1e-3, 1},
                     [](int n) { return plate(n, true, true, false); });
  expect_convergence("irregular clamped plate, point", 0.0056120, {16, 32, 5e-3, 2e-3, 1},
                     [](int n) { return plate(n, true, true, true); });
}

TEST(ShellLinear, RoofOfScordelisAndLo) {
  // Theories of Kirchhoff and Love differ by (t/R)^2 = 1e-4 here.
  for (const int n : {8, 16}) EXPECT_NEAR(scordelis_lo(n, false) / -0.3005924566, 1, n == 8 ? 5e-4 : 1e-4) << n;
  EXPECT_NEAR(scordelis_lo(16, true) / -0.3005924566, 1, 1e-3);
}

TEST(ShellLinear, PinchedCylinder) {
  expect_convergence("pinched cylinder", 1.8282e-5, {16, 24, 0.01, 0.005, 1},
                     [](int n) { return pinched_cylinder(n, false); });
  expect_convergence("irregular pinched cylinder", 1.8282e-5, {16, 24, 0.01, 0.005, 1},
                     [](int n) { return pinched_cylinder(n, true); });
}

TEST(ShellLinear, PinchedHemisphereWithAHole) {
  EXPECT_NEAR(pinched_hemisphere(16, false) / 0.093522, 1, 5e-4);
  EXPECT_NEAR(pinched_hemisphere(24, false) / 0.093522, 1, 1e-4);
  EXPECT_NEAR(pinched_hemisphere(16, true) / 0.093522, 1, 1e-2);
  EXPECT_NEAR(pinched_hemisphere(24, true) / 0.093522, 1, 2e-3);
}

/// Deflection of the middle of a rhombus with sides of 1 and sharp corners of 30 degrees over q / D, all sides
/// supported; `squeeze`: by how much faces are smaller at the corners than n x n equal ones.
Real rhombus(int n, Real squeeze) {
  const Real E = 1e6, nu = 0.3, t = 0.01, D = E * t * t * t / (12 * (1 - nu * nu));
  const auto graded = [=](Real s) { return s - (1 - 1 / squeeze) * std::sin(2 * pi * s) / (2 * pi); };
  const SurfaceMap map = [=](Real s, Real t) {
    return Vec3(graded(s) + graded(t) * std::cos(pi / 6), graded(t) * std::sin(pi / 6), 0);
  };
  LinearProblem p(elastic_shell(patch(n, n, map), E, nu, t));
  for (const auto& side : edge_lines(p.mesh)) hold_edge(p.conditions, side, {0, 1, 2});
  p.add_area_load({0, 0, 1});
  p.solve();
  return p.displacement(map(0.5, 0.5))[2] * D;
}

TEST(ShellLinear, ARhombicPlateMissesMorleysValueByTheFacesAtItsBluntCorners) {
  // Next to a supported corner of 150 degrees the deflection goes as r^(180/150): its energy, and with it the
  // deflection, is missed by the faces there to the power of 2 * 0.2.
  const auto missed = [](int n, Real squeeze) { return 1 - rhombus(n, squeeze) / 4.08e-4; };
  const Real coarse = missed(8, 1), fine = missed(16, 1), graded = missed(16, 4);
  std::printf("rhombic plate  8: %.2e  16: %.2e order %.2f  graded: %.2e order %.2f\n", coarse, fine,
              std::log2(coarse / fine), graded, std::log2(fine / graded) / 2);
  EXPECT_NEAR(std::log2(coarse / fine), 0.4, 0.1);
  EXPECT_NEAR(std::log2(fine / graded) / 2, 0.4, 0.1);
}

/// A disc of radius 1: n x n faces in its middle and n / 2 rings of 4 n faces around them. Its points lie on the disc,
/// those inside in the middle of their neighbours: the map from faces to the disc is as smooth as can be.
ControlMesh disc(int n) {
  SurfaceMesh mesh;
  std::vector<std::array<int, 2>> rim;  // of the square
  for (int k = 0; k < n; ++k) rim.push_back({k, 0});
  for (int k = 0; k < n; ++k) rim.push_back({n, k});
  for (int k = 0; k < n; ++k) rim.push_back({n - k, n});
  for (int k = 0; k < n; ++k) rim.push_back({0, n - k});
  const int around = 4 * n, rings = n / 2, inside = (n + 1) * (n + 1);
  const auto at = [&](int i, int j) { return j * (n + 1) + i; };
  const auto out = [&](int k, int ring) {
    k %= around;
    return ring == 0 ? at(rim[k][0], rim[k][1]) : inside + (ring - 1) * around + k;
  };
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) mesh.add_face({at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
  for (int r = 0; r < rings; ++r)
    for (int k = 0; k < around; ++k) mesh.add_face({out(k, r), out(k, r + 1), out(k + 1, r + 1), out(k + 1, r)});
  mesh.points.assign(inside + rings * around, Vec3::Zero());
  for (int k = 0; k < around; ++k) {
    const Real angle = 2 * pi * k / around - 3 * pi / 4;
    mesh.points[out(k, rings)] = Vec3(std::cos(angle), std::sin(angle), 0);
  }
  std::vector<Vec3> sum;
  for (int round = 0; round < 50 * n; ++round) {
    sum.assign(mesh.points.size(), Vec3::Zero());
    std::vector<int> count(mesh.points.size(), 0);
    for (std::int64_t f = 0; f < mesh.face_count(); ++f)
      for (int c = 0; c < 4; ++c) {
        sum[mesh.face(f)[c]] += mesh.points[mesh.face(f)[(c + 1) % 4]];
        ++count[mesh.face(f)[c]];
      }
    for (int p = 0; p < out(0, rings); ++p) mesh.points[p] = sum[p] / count[p];
  }
  return control_mesh(mesh, "disc", MeshPoints::surface);
}

/// Deflection of the middle of a round plate of radius 1 over q / D or P / D.
Real round_plate(int n, bool clamped, bool point_load) {
  const Real E = 1e6, nu = 0.3, t = 0.01, D = E * t * t * t / (12 * (1 - nu * nu));
  LinearProblem p(elastic_shell(disc(n), E, nu, t));
  for (const auto& side : edge_lines(p.mesh)) {
    hold_edge(p.conditions, side, {0, 1, 2});
    if (clamped) hold_slope(p.conditions, side, {2});
  }
  if (point_load) p.add_point_load({0, 0, 0}, {0, 0, 1});
  else p.add_area_load({0, 0, 1});
  p.solve();
  return p.displacement({0, 0, 0})[2] * D;
}

TEST(ShellLinear, RoundPlatesWhoseSurfacePassesThroughTheirPointsMeetClosedForms) {
  const Real nu = 0.3;
  expect_convergence("clamped round plate", 1.0 / 64, {4, 8, 1e-2, 1e-3, 3},
                     [](int n) { return round_plate(n, true, false); });
  expect_convergence("supported round plate", (5 + nu) / (64 * (1 + nu)), {4, 8, 2e-3, 2e-4, 2.8},
                     [](int n) { return round_plate(n, false, false); });
  expect_convergence("clamped round plate, point", 1 / (16 * pi), {4, 8, 2e-2, 1e-2, 1.5},
                     [](int n) { return round_plate(n, true, true); });
  expect_convergence("supported round plate, point", (3 + nu) / (16 * pi * (1 + nu)), {4, 8, 2e-2, 1e-2, 1.5},
                     [](int n) { return round_plate(n, false, true); });
}

/// Circular frequencies [1/s], ascending, with the consistent mass.
std::vector<Real> frequencies(const LinearProblem& p) {
  const Eigen::SparseMatrix<Real> T = p.conditions.free_motions(p.freedoms);
  const Eigen::MatrixXd K = Eigen::MatrixXd(T.transpose() * p.assembled(false) * T);
  const Eigen::MatrixXd M = Eigen::MatrixXd(T.transpose() * p.assembled(true) * T);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> modes(K, M, Eigen::EigenvaluesOnly | Eigen::Ax_lBx);
  std::vector<Real> omega;
  for (const Real squared : modes.eigenvalues()) omega.push_back(std::sqrt(std::max(squared, 0.0)));
  return omega;
}

TEST(ShellLinear, ClampedStripVibratesLikeACantilever) {
  const Real E = 1e4, t = 0.01, length = 2, width = 0.1;
  LinearProblem p(elastic_shell(patch(16, 1, rectangle(length, width)), E, 0, t));
  const auto root = side_where(p.mesh, [](const Vec3& x) { return std::abs(x[0]) < 1e-9; });
  hold_edge(p.conditions, root, {0, 1, 2});
  hold_slope(p.conditions, root, {2});
  // Bending out of the plane alone: no motion in the plane.
  for (std::size_t k = 0; k < p.mesh.points.size(); ++k)
    for (int c = 0; c < 2; ++c) p.conditions.add({{static_cast<int>(3 * k) + c, 1}});
  const std::vector<Real> omega = frequencies(p);
  const Real unit = std::sqrt(E * t * t / 12) / (length * length);  // sqrt(EI / (rho A)) / L^2
  // The first three bending modes; torsion lies above them: its lowest frequency is about (pi/2L) sqrt(G/rho) 2t/b = 11
  // units' worth.
  std::vector<Real> found;
  for (const Real w : omega)
    if (found.size() < 6) found.push_back(w / unit);
  for (const Real exact : {3.516015, 22.034492, 61.697214}) {
    Real nearest = 1e300;
    for (const Real f : found) nearest = std::min(nearest, std::abs(f / exact - 1));
    EXPECT_LT(nearest, 1e-3) << exact;
  }
  EXPECT_NEAR(found[0], 3.516015, 1e-3 * 3.5);
}

TEST(ShellLinear, AFreeRoundPlateHasItsFrequencies) {
  const Real E = 1e4, nu = 0.3, t = 0.01, unit = std::sqrt(E * t * t / (12 * (1 - nu * nu)));  // sqrt(D / (rho t))
  LinearProblem p(elastic_shell(disc(6), E, nu, t));
  for (std::size_t k = 0; k < p.mesh.points.size(); ++k)
    for (int c = 0; c < 2; ++c) p.conditions.add({{static_cast<int>(3 * k) + c, 1}});
  const std::vector<Real> omega = frequencies(p);
  for (int k = 0; k < 3; ++k) EXPECT_LT(omega[k] / unit, 1e-3);
  // Two, no, three and one nodal diameters, the second and the last with a nodal circle; all but the second twice.
  const Real exact[] = {5.3583, 5.3583, 9.0031, 12.4390, 12.4390, 20.4746, 20.4746};
  for (int k = 0; k < 7; ++k) EXPECT_NEAR(omega[3 + k] / unit / exact[k], 1, 5e-4) << k;
}

TEST(ShellLinear, FreeAndSupportedPlatesHaveTheirFrequencies) {
  const Real E = 1e4, nu = 0.3, t = 0.01, unit = std::sqrt(E * t * t / (12 * (1 - nu * nu)));  // sqrt(D / (rho t))
  LinearProblem free(elastic_shell(patch(10, 10, rectangle(1, 1)), E, nu, t));
  for (std::size_t k = 0; k < free.mesh.points.size(); ++k)
    for (int c = 0; c < 2; ++c) free.conditions.add({{static_cast<int>(3 * k) + c, 1}});
  const std::vector<Real> omega = frequencies(free);
  // Three rigid motions; then the values of Rayleigh and Ritz for nu = 0.3 [Leissa 1973, refined].
  for (int k = 0; k < 3; ++k) EXPECT_LT(omega[k] / unit, 1e-3);
  const Real exact[] = {13.468, 19.596, 24.270, 34.801, 34.801};
  for (int k = 0; k < 5; ++k) EXPECT_NEAR(omega[3 + k] / unit / exact[k], 1, 1e-3) << k;

  LinearProblem supported(elastic_shell(patch(10, 10, rectangle(1, 1)), E, nu, t));
  for (std::size_t k = 0; k < supported.mesh.points.size(); ++k)
    for (int c = 0; c < 2; ++c) supported.conditions.add({{static_cast<int>(3 * k) + c, 1}});
  for (const auto& side : edge_lines(supported.mesh)) hold_edge(supported.conditions, side, {2});
  const std::vector<Real> w = frequencies(supported);
  for (const auto& [k, waves] : {std::pair{0, 2}, {1, 5}, {2, 5}, {3, 8}})
    EXPECT_NEAR(w[k] / unit / (waves * pi * pi), 1, 1e-3);
}

}  // namespace
}  // namespace weft
