// Sheets and fibers without grid: derivatives of their energy, rigid motions, and what their laws have in common with
// those on the grid.

#include "weft/bodies/static_body.hpp"

#include "support/codimensional.hpp"
#include "support/term_checks.hpp"

#include <Eigen/Geometry>

#include <numeric>

namespace weft {
namespace {

constexpr Real infinite = std::numeric_limits<Real>::infinity();
const Fiber::Constants fiber_law = Fiber::Constants::from(200, 30, lame_from(50, 0.2), 0.3);

/// A sheet of triangles with a diagonal warp, and fibers side by side; all resist bending.
std::vector<std::unique_ptr<StaticBody>> bodies(const Comm& comm) {
  const test::SheetMesh sheet(4, 3, 0.5);
  const SurfaceContact::Constants contact{10, 1, 0.3};
  MembraneDescription m{"sheet",     sheet.points, sheet.triangles,          {}, 2, 0.1,
                        {1, 0.3, 0}, infinite,     PlateRigidity{0.05, 0.3}, {}};
  std::vector<std::unique_ptr<StaticBody>> all;
  m.law = SheetKind<CorotatedSheet>::Constants{CorotatedSheet::Constants::from(100, 0.3), contact};
  all.push_back(make_static_membrane(comm, m));
  m.law = SheetKind<WovenSheet>::Constants{WovenSheet::Constants::from(100, 60, 0.2, 15), contact};
  all.push_back(make_static_membrane(comm, m));

  const test::FiberMesh strands(2, 5, 0.4);
  std::vector<std::vector<std::int32_t>> chains(2, std::vector<std::int32_t>(6));
  std::iota(chains[0].begin(), chains[0].end(), 0);
  std::iota(chains[1].begin(), chains[1].end(), 6);
  all.push_back(make_static_fibers(
      comm, {"fibers", strands.points, strands.segments, fiber_law, 3, 0.05, infinite, chains, 0.2, {}}));
  return all;
}

TEST(StaticBodyRanks, PassTheChecksThatEveryTermPasses) {
  const Comm comm = Comm::world();
  for (const auto& body : bodies(comm)) {
    const Freedoms freedoms({{body->name(), 3, &body->forest()}});
    const auto term = body->term(0);
    Motion motion(freedoms);
    motion.u = test::random_values(freedoms, 0.08, 3);
    test::check_term(*term, motion, 0.08, 1e-7);
  }
}

TEST(StaticBodyRanks, DescendAlongTheirDefiniteMatrices) {
  const Comm comm = Comm::world();
  for (const auto& body : bodies(comm)) {
    const Freedoms freedoms({{body->name(), 3, &body->forest()}});
    const auto term = body->term(0);
    Motion motion(freedoms);
    motion.u = test::random_values(freedoms, 0.2, 5);  // pressed in places
    bool differs = false;
    for (std::uint32_t seed = 20; seed < 40; ++seed) {
      const FreedomValues du = test::random_values(freedoms, 1, seed);
      Load exact(freedoms), definite(freedoms);
      term->add_force_change(*term->linearise(motion), du, exact);
      term->add_force_change(*term->linearise_definite(motion), du, definite);
      EXPECT_LE(test::work(definite, du), 0);
      differs = differs || std::abs(test::work(exact, du) - test::work(definite, du)) > 1e-6;
    }
    EXPECT_TRUE(differs);
  }
}

TEST(StaticBodyRanks, FeelNoRigidMotion) {
  const Comm comm = Comm::world();
  Mat3 R = Eigen::AngleAxis<Real>(2.1, Vec3(1, 2, -0.5).normalized()).toRotationMatrix();
  for (const auto& body : bodies(comm)) {
    const Freedoms freedoms({{body->name(), 3, &body->forest()}});
    const auto term = body->term(0);
    Motion motion(freedoms);
    const auto x = std::as_const(*body).points().get<Position>();
    for (std::size_t r = 0; r < x.size(); ++r) motion.u.points(0)[r] = R * x[r] + Vec3(3, -1, 2) - x[r];
    EXPECT_NEAR(comm.sum(term->energy(motion)), 0, 1e-12);
    const Load force = test::force_of(*term, motion);
    for (const Real f : force.all()) EXPECT_NEAR(f, 0, 1e-12);
  }
}

TEST(StaticBodyRanks, HaveTheirWeightAndBoundaryOnSomeRankOnce) {
  const Comm comm = Comm::world();
  const auto all = bodies(comm);
  const auto sum = [&](const std::vector<Sample>& samples, Real Sample::* of) {
    Real here = 0;
    for (const Sample& sample : samples) here += sample.*of;
    return comm.sum(here);
  };
  EXPECT_NEAR(sum(all[0]->surface(), &Sample::mass), 2 * 0.1 * 2 * 1.5, 1e-12);
  EXPECT_NEAR(sum(all[0]->surface(), &Sample::measure), 2 * 1.5, 1e-12);
  EXPECT_NEAR(sum(all[0]->sides(), &Sample::measure), 2 * (2 + 1.5), 1e-12);
  EXPECT_NEAR(sum(all[2]->surface(), &Sample::mass), 3 * 0.05 * 2 * 2, 1e-12);
  EXPECT_EQ(sum(all[2]->surface(), &Sample::measure), 0);
}

TEST(FreeFiberTest, IsTheLawOfFibersWhoseSidesStandUprightAndTouchNothing) {
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
