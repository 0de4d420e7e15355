// Shells: derivatives of the energy, invariances, mass, bending and stretching in closed form, division among ranks.

#include "weft/bodies/shell.hpp"

#include "weft/base/error.hpp"

#include "support/random_matrices.hpp"
#include "support/shell_models.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <cmath>
#include <numbers>

namespace weft {
namespace {

using namespace test;
constexpr Real pi = std::numbers::pi;

/// A piece of an ellipsoid-like bowl, curved both ways, with irregular points.
Vec3 bowl(Real s, Real t) { return {s, t, 0.4 * s * s + 0.3 * t * t - 0.2 * s * t}; }

ShellDescription bowl_shell(Real thickness = 0.05) {
  return elastic_shell(irregular_patch(12, 12, bowl), 100, 0.3, thickness);
}

ShellShare alone(const ShellDescription& description) { return ShellShare(Comm(MPI_COMM_SELF), description); }

std::vector<Vec3> disturbed(const ShellShare& shell, MatrixSource& source, Real size) {
  std::vector<Vec3> x = rest_of(shell);
  for (Vec3& p : x) p += size * source.vector();
  return x;
}

std::vector<Vec3> forces(const ShellShare& shell, std::span<const Vec3> x) {
  std::vector<Vec3> f(x.size(), Vec3::Zero());
  shell.add_force(x, f);
  return f;
}

Real largest(std::span<const Vec3> v) {
  Real most = 0;
  for (const Vec3& p : v) most = std::max(most, p.norm());
  return most;
}

TEST(Shell, ForceIsMinusTheDerivativeOfTheEnergyAndItsChangeTheDerivativeOfTheForce) {
  MatrixSource source(1);
  for (const ThicknessRule rule :
       {ThicknessRule{ThicknessRule::Kind::gauss, 3}, ThicknessRule{ThicknessRule::Kind::quarter, 2}}) {
    ShellDescription description = bowl_shell();
    description.across = rule;
    const ShellShare shell = alone(description);
    const std::vector<Vec3> x = disturbed(shell, source, 0.01);
    std::vector<Vec3> d(x.size());
    for (Vec3& v : d) v = source.vector();
    const auto moved = [&](Real h) {
      std::vector<Vec3> y = x;
      for (std::size_t r = 0; r < y.size(); ++r) y[r] += h * d[r];
      return y;
    };
    const Real h = 1e-5;
    const std::vector<Vec3> f = forces(shell, x), plus = forces(shell, moved(h)), minus = forces(shell, moved(-h));
    std::vector<Vec3> change(x.size(), Vec3::Zero());
    shell.add_force_change(shell.linearise(x), d, change);
    Real work = 0, error = 0;
    for (std::size_t r = 0; r < x.size(); ++r) {
      work += f[r].dot(d[r]);
      error = std::max(error, ((plus[r] - minus[r]) / (2 * h) - change[r]).norm());
    }
    const Real slope = (shell.energy(moved(h)) - shell.energy(moved(-h))) / (2 * h);
    EXPECT_NEAR(slope, -work, 1e-6 * std::abs(work));
    // Strains vary over a face's size, 0.08: differences err by (h/0.08)^2.
    EXPECT_LT(error, 1e-6 * largest(change));
  }
}

TEST(Shell, RigidMotionsNeedNoForceAndNoForceTurnsOrMovesTheWhole) {
  MatrixSource source(2);
  const ShellShare shell = alone(bowl_shell());
  const Mat3 Q = source.rotation();
  std::vector<Vec3> turned = rest_of(shell);
  for (Vec3& p : turned) p = Q * p + Vec3(3, -2, 1);
  const Real scale = 100 * 0.05 * 0.08;  // E t times the size of a face: a force at strain 1
  EXPECT_LT(largest(forces(shell, rest_of(shell))), 1e-14 * scale);
  EXPECT_LT(largest(forces(shell, turned)), 1e-12 * scale);
  EXPECT_LT(shell.energy(turned), 1e-24);

  const std::vector<Vec3> x = disturbed(shell, source, 0.02), f = forces(shell, x);
  Vec3 sum = Vec3::Zero(), torque = Vec3::Zero();
  for (std::size_t r = 0; r < x.size(); ++r) {
    sum += f[r];
    torque += x[r].cross(f[r]);
  }
  EXPECT_LT(sum.norm(), 1e-13 * largest(f) * x.size());
  EXPECT_LT(torque.norm(), 1e-13 * largest(f) * x.size());
}

TEST(Shell, FaceMatricesAddUpToTheForceChangeAndAreSymmetric) {
  MatrixSource source(3);
  const ShellShare shell = alone(bowl_shell());
  const std::vector<Vec3> x = disturbed(shell, source, 0.01);
  const auto at = shell.linearise(x);
  std::vector<Vec3> d(x.size()), change(x.size(), Vec3::Zero()), sum(x.size(), Vec3::Zero());
  for (Vec3& v : d) v = source.vector();
  shell.add_force_change(at, d, change);
  each_stiffness(shell, x, [&](std::span<const std::int32_t> rows, std::span<const Real> k) {
    const std::size_t n = 3 * rows.size();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        sum[rows[i / 3]][i % 3] -= k[i * n + j] * d[rows[j / 3]][j % 3];
        ASSERT_NEAR(k[i * n + j], k[j * n + i], 1e-9);
      }
  });
  for (std::size_t r = 0; r < x.size(); ++r) EXPECT_LT((sum[r] - change[r]).norm(), 1e-12 * largest(change));
}

TEST(Shell, MassIsThatOfItsVolumeAndLumpsTheConsistentOne) {
  // The volume of a shell about a sphere's middle surface is t A (1 + t^2 / (12 R^2)).
  const Real t = 0.3, longitude = 0.8, from = 0.2, to = 0.7;
  ShellDescription description = elastic_shell(patch(12, 12, sphere(1, {0, longitude}, {from, to})), 1, 0.3, t);
  description.density = 7;
  const ShellShare shell = alone(description);
  const auto mass = shell.mass();
  Real total = 0;
  for (const Real m : mass) {
    EXPECT_GT(m, 0);
    total += m;
  }
  const Real area = longitude * (std::sin(to) - std::sin(from));
  // A face spans 0.07 rad, and the surface is a sphere to (0.07)^4 / 36 at its corners.
  EXPECT_NEAR(total / (7 * t * area * (1 + t * t / 12)), 1, 2e-6);
  std::vector<Real> lumped(mass.size(), 0);
  each_consistent_mass(description, [&](std::span<const std::int32_t> rows, std::span<const Real> m) {
    const std::size_t n = 3 * rows.size();
    for (std::size_t i = 0; i < n; i += 3)
      for (std::size_t j = 0; j < n; j += 3) lumped[rows[i / 3]] += m[i * n + j];
  });
  for (std::size_t r = 0; r < mass.size(); ++r) EXPECT_NEAR(lumped[r], mass[r], 1e-13 * total);
}

/// Control points of the same mesh over another surface.
std::vector<Vec3> bent(const ShellShare& shell, const ControlMesh& shape) {
  std::vector<Vec3> x;
  for (const std::int32_t p : shell.piece().points) x.push_back(shape.points[p]);
  return x;
}

TEST(Shell, RollingAStripCostsItsBendingStiffness) {
  const Real E = 1e6, nu = 0.3, t = 0.01, width = 1, length = 2;
  for (const Real radius : {0.5, 1.0}) {
    const Real D = E * t * t * t / (12 * (1 - nu * nu));
    // The middle surface keeps its lengths; no strain across: 16 faces along an arc of 2 to 4 rad.
    const ShellShare shell = alone(elastic_shell(patch(16, 4, rectangle(length, width)), E, nu, t));
    const ControlMesh roll = patch(16, 4, cylinder(radius, width, 0, length / radius));
    const Real energy = shell.energy(bent(shell, roll)), expected = D / (2 * radius * radius) * width * length;
    EXPECT_NEAR(energy / expected, 1, 0.01) << radius;
  }
}

TEST(Shell, UniformStretchAndShearHaveTheEnergyOfTheLawOnAnyMesh) {
  const Real E = 10, nu = 0.3, t = 0.02;
  const auto law = LaminaHencky::Constants::from(E, nu);
  Mat3 F;
  F << 1.2, 0.3, 0, -0.1, 0.9, 0, 0.2, 0.4, 1;
  const ControlMesh meshes[] = {patch(5, 4, rectangle(2, 1)), irregular_patch(12, 12, rectangle(2, 1))};
  for (const ControlMesh& mesh : meshes) {
    const ShellShare shell = alone(elastic_shell(mesh, E, nu, t));
    std::vector<Vec3> x = rest_of(shell);
    for (Vec3& p : x) p = F * p;
    const Mat3 C = F.transpose() * F;
    const Real expected = 2 * t * LaminaHencky::energy(law, Vec3(C(0, 0), C(1, 1), C(0, 1)));
    // Next to irregular points areas are no polynomials, and 2 x 2 points miss them by 1e-4 of the whole.
    EXPECT_NEAR(shell.energy(x) / expected, 1, &mesh == meshes ? 1e-12 : 2e-4);
  }
}

TEST(Shell, TheMaterialDirectionIsThatOfTheTextureOrOfTheDeck) {
  // A fabric stiff along axis 1 only: stretching across costs nothing.
  ShellDescription description = elastic_shell(patch(4, 5, rectangle(1, 1)), 1, 0, 0.01);
  description.law = ChosenLamina<LaminaWoven>{{5, 0, 1e-3, 1e-3, {}, 0, 0, 0}};
  const auto stretched = [&](const ShellDescription& d, int axis) {
    const ShellShare shell = alone(d);
    std::vector<Vec3> x = rest_of(shell);
    for (Vec3& p : x) p[axis] *= 1.1;
    return shell.energy(x) / 0.01;
  };
  const Real along = 5 / 2.0 * 0.105 * 0.105;            // E = (1.1^2 - 1) / 2
  EXPECT_NEAR(stretched(description, 0), along, 1e-12);  // the texture of a patch runs along x
  EXPECT_LT(stretched(description, 1), 1e-3 * along);
  description.direction = Vec3(0, 2, 5);
  EXPECT_NEAR(stretched(description, 1), along, 1e-12);
  EXPECT_LT(stretched(description, 0), 1e-3 * along);
  description.direction.reset();
  for (auto& corners : description.mesh.texture)
    for (Vec2& t : corners) t = Vec2(3 * t[1], 0.5 * t[0]);  // turned over
  EXPECT_NEAR(stretched(description, 1), along, 1e-12);
}

TEST(Shell, ThicknessMayDifferFromFaceToFace) {
  ShellDescription description = elastic_shell(patch(4, 4, rectangle(1, 1)), 1, 0, 0.01);
  for (std::size_t f = 0; f < 8; ++f) description.thickness[f] = 0.03;
  const ShellShare shell = alone(description);
  std::vector<Vec3> x = rest_of(shell);
  for (Vec3& p : x) p[0] *= 1.1;
  EXPECT_NEAR(shell.energy(x), 0.02 * 0.5 * std::log(1.1) * std::log(1.1), 1e-14);
}

TEST(Shell, StiffestIsTheLargestEigenvalueOfTheLinearisedShell) {
  LinearProblem p(elastic_shell(irregular_patch(12, 12, bowl), 100, 0.3, 0.05));
  const Eigen::MatrixXd K = p.assembled(false);
  Eigen::VectorXd root(p.freedoms);
  const auto mass = p.shell.mass();
  for (std::size_t r = 0; r < mass.size(); ++r)
    for (int c = 0; c < 3; ++c) root[p.freedom(r, c)] = 1 / std::sqrt(mass[r]);
  const Real exact =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(root.asDiagonal() * K * root.asDiagonal(), Eigen::EigenvaluesOnly)
          .eigenvalues()
          .maxCoeff();
  const Real found = p.shell.stiffest(rest_of(p.shell));
  EXPECT_LE(found, exact * (1 + 1e-10));
  EXPECT_GT(found, 0.95 * exact);
}

TEST(Shell, YieldingLeavesADentAndElasticShellsForgetTheirs) {
  ShellDescription description = elastic_shell(patch(8, 4, rectangle(2, 1)), 1e6, 0.3, 0.02);
  const std::vector<Vec3> roll = bent(alone(description), patch(8, 4, cylinder(1, 1, 0, 2)));
  ShellShare elastic = alone(description);
  elastic.flow(roll);
  EXPECT_EQ(elastic.laminae().rows(), 0u);
  EXPECT_LT(elastic.energy(rest_of(elastic)), 1e-20);

  description.yield = LaminaYield::from(2e3, 0, YieldSurface::ellipse);
  description.across.laminae = 5;
  ShellShare shell = alone(description);
  const Real before = shell.energy(roll);
  shell.flow(roll);
  const Real after = shell.energy(roll);
  EXPECT_LT(after, 0.9 * before);
  EXPECT_GT(shell.energy(rest_of(shell)), 0);
  shell.flow(roll);
  EXPECT_NEAR(shell.energy(roll), after, 1e-10 * after);
}

TEST(Shell, FarFromTheOriginNoDigitsAreLostButThoseOfTheCoordinates) {
  ShellDescription description = bowl_shell();
  for (Vec3& p : description.mesh.points) p += Vec3(1000, 2000, -500);
  const ShellShare shell = alone(description), home = alone(bowl_shell());
  MatrixSource source(3), same(3);
  // Coordinates round at 1e-13, a strain of 1e-12 of the strains here.
  EXPECT_NEAR(shell.energy(disturbed(shell, source, 0.01)) / home.energy(disturbed(home, same, 0.01)), 1, 1e-9);
}

TEST(Shell, ShellsThickerThanTheirCurvatureAllowsAreRefused) {
  EXPECT_NO_THROW(alone(elastic_shell(tube(16, 4, cylinder(1, 1, 0, 2 * pi)), 1, 0.3, 1.5)));
  try {
    alone(elastic_shell(tube(16, 4, cylinder(1, 1, 0, 2 * pi)), 1, 0.3, 4));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::geometry);
  }
}

TEST(Shell, ThreadsChangeNoBit) {
  const ShellShare shell = alone(bowl_shell());
  MatrixSource source(4);
  const std::vector<Vec3> x = disturbed(shell, source, 0.02);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const Real energy = shell.energy(x);
  const std::vector<Vec3> f = forces(shell, x);
  omp_set_num_threads(3);
  EXPECT_EQ(shell.energy(x), energy);
  EXPECT_EQ(forces(shell, x), f);
  omp_set_num_threads(threads);
}

TEST(ShellRanks, TogetherHaveTheEnergyForceAndMassOfOne) {
  const Comm world = Comm::world();
  const ShellDescription description = bowl_shell();
  ShellShare shell(world, description);
  const ShellShare whole = alone(description);
  const auto disturb = [](PointId id, const Vec3& x) {
    return Vec3(x + 0.01 * Vec3(std::sin(7.0 * id), std::cos(3.0 * id), std::sin(5.0 * id)));
  };
  const auto placed = [&](const ShellShare& s) {
    std::vector<Vec3> x = rest_of(s);
    for (std::size_t r = 0; r < x.size(); ++r) x[r] = disturb(static_cast<PointId>(s.piece().points[r]), x[r]);
    return x;
  };
  const std::vector<Vec3> x = placed(shell), all = placed(whole);
  EXPECT_NEAR(world.sum(shell.energy(x)) / whole.energy(all), 1, 1e-13);
  EXPECT_EQ(world.sum(static_cast<std::int64_t>(shell.piece().owned)), static_cast<std::int64_t>(all.size()));

  Table work = Table::with<Velocity>();
  work.resize(x.size(), shell.piece().owned);
  shell.add_force(x, work.get<Velocity>());
  shell.forest().sum_to_owners(work.column("velocity"));
  const std::vector<Vec3> expected = forces(whole, all);
  std::vector<Vec3> by_id(all.size());
  std::vector<Real> mass_by_id(all.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    const auto id = static_cast<std::size_t>(whole.piece().points[r]);
    by_id[id] = expected[r];
    mass_by_id[id] = whole.mass()[r];
  }
  for (std::size_t r = 0; r < shell.piece().owned; ++r) {
    const auto id = static_cast<std::size_t>(shell.piece().points[r]);
    EXPECT_LT((work.get<Velocity>()[r] - by_id[id]).norm(), 1e-12 * largest(expected));
    EXPECT_NEAR(shell.mass()[r], mass_by_id[id], 1e-16);
  }
}

TEST(ShellRanks, StiffestDoesNotDependOnTheirNumber) {
  const ShellDescription description = bowl_shell();
  const ShellShare shell(Comm::world(), description), whole = alone(description);
  EXPECT_NEAR(shell.stiffest(rest_of(shell)) / whole.stiffest(rest_of(whole)), 1, 1e-9);
}

TEST(ShellRanks, EveryPointHasOneOwnerAndGhostsNameIt) {
  const ShellDescription description = bowl_shell();
  const ShellShare shell(Comm::world(), description);
  const MeshPiece& piece = shell.piece();
  const std::size_t count = description.mesh.points.size();
  EXPECT_LE(shell.faces().size(), static_cast<std::size_t>(description.mesh.material_faces / Comm::world().size() + 1));
  EXPECT_EQ(Comm::world().sum(static_cast<std::int64_t>(shell.faces().size())), description.mesh.material_faces);
  std::vector<std::int64_t> owners(count, 0), rank(count, 0), row(count, 0);
  for (std::size_t k = 0; k < piece.owned; ++k) {
    owners[piece.points[k]] = 1;
    rank[piece.points[k]] = Comm::world().rank();
    row[piece.points[k]] = static_cast<std::int64_t>(k);
  }
  for (auto* all : {&owners, &rank, &row}) Comm::world().sum(std::span(*all));
  EXPECT_EQ(owners, std::vector<std::int64_t>(count, 1));
  ASSERT_EQ(piece.points.size(), piece.owned + piece.originals.size());
  for (std::size_t g = 0; g < piece.originals.size(); ++g) {
    EXPECT_EQ(piece.originals[g].rank, rank[piece.points[piece.owned + g]]);
    EXPECT_EQ(piece.originals[g].row, row[piece.points[piece.owned + g]]);
  }
}

}  // namespace
}  // namespace weft
