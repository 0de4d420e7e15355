// Bodies with freedoms of their own as Terms: derivatives of their energy, rigid motions, and parts of any division.

#include "weft/coupling/mesh_term.hpp"
#include "weft/coupling/own_carrier.hpp"

#include "support/codimensional.hpp"
#include "support/shell_models.hpp"
#include "support/term_checks.hpp"
#include "weft/bodies/membrane.hpp"
#include "weft/bodies/shell_body.hpp"

#include <Eigen/Geometry>

#include <limits>
#include <numeric>

namespace weft {
namespace {

constexpr Real infinite = std::numeric_limits<Real>::infinity();

/// A body at rest on the ranks, with its Term.
struct Carried {
  std::unique_ptr<MeshBody> body;
  Freedoms freedoms;
  MeshTerm term;

  Carried(const Comm& comm, const MeshSource& mesh)
      : body(at_rest(comm, mesh)),
        freedoms({{body->name(), 3, &body->forest()}}),
        term(*body, std::make_unique<OwnCarrier>(freedoms, 0), body->parts_of_energy(), Vec3::Zero()) {}

  static std::unique_ptr<MeshBody> at_rest(const Comm& comm, const MeshSource& mesh) {
    std::unique_ptr<MeshBody> body = mesh.body_of(first_share(comm, mesh));
    body->fill(comm, mesh.rest_positions(), Vec3::Zero(), Mat3::Zero());
    body->share_evenly(comm);
    return body;
  }
};

/// Sheets of triangles with a diagonal warp, and fibers side by side; all resist bending.
std::vector<std::unique_ptr<MeshSource>> sheets_and_fibers() {
  const test::SheetMesh sheet(4, 3, 0.5);
  const SurfaceContact::Constants contact{10, 1, 0.3};
  MembraneDescription m{"sheet",     sheet.points, sheet.triangles,          {}, 2, 0.1,
                        {1, 0.3, 0}, infinite,     PlateRigidity{0.05, 0.3}, {}};
  std::vector<std::unique_ptr<MeshSource>> all;
  m.law = SheetKind<CorotatedSheet>::Constants{CorotatedSheet::Constants::from(100, 0.3), contact};
  all.push_back(make_membrane(m, Carrier::own));
  m.law = SheetKind<WovenSheet>::Constants{WovenSheet::Constants::from(100, 60, 0.2, 15), contact};
  all.push_back(make_membrane(m, Carrier::own));

  const test::FiberMesh strands(2, 5, 0.4);
  std::vector<std::vector<std::int32_t>> chains(2, std::vector<std::int32_t>(6));
  std::iota(chains[0].begin(), chains[0].end(), 0);
  std::iota(chains[1].begin(), chains[1].end(), 6);
  const Fiber::Constants law = Fiber::Constants::from(200, 30, lame_from(50, 0.2), 0.3);
  all.push_back(
      make_fibers({"fibers", strands.points, strands.segments, law, 3, 0.05, infinite, chains, 0.2, {}}, Carrier::own));
  return all;
}

std::vector<std::unique_ptr<MeshSource>> shells(const Comm& comm) {
  std::vector<std::unique_ptr<MeshSource>> all;
  for (const ControlMesh& mesh : {patch(6, 4, rectangle(3, 2)), irregular_patch(12, 12, cylinder(1, 2, 0, 1.5))})
    all.push_back(make_shell(comm, test::elastic_shell(mesh, 100, 0.3, 0.1), std::nullopt, infinite));
  return all;
}

TEST(OwnCarrierTest, ShellsPassTheChecksThatEveryTermPasses) {
  const Comm comm = Comm::world();
  for (const auto& mesh : shells(comm)) {
    const Carried shell(comm, *mesh);
    Motion motion(shell.freedoms);
    test::check_term(shell.term, motion, 0.02, 1e-7);
    motion.u = test::random_values(shell.freedoms, 0.02, 3);
    test::check_term(shell.term, motion, 0.02, 1e-7);
  }
}

TEST(OwnCarrierTest, SheetsAndFibersPassTheChecksThatEveryTermPasses) {
  const Comm comm = Comm::world();
  for (const auto& mesh : sheets_and_fibers()) {
    const Carried carried(comm, *mesh);
    Motion motion(carried.freedoms);
    motion.u = test::random_values(carried.freedoms, 0.08, 3);
    test::check_term(carried.term, motion, 0.08, 1e-7);
  }
}

TEST(OwnCarrierTest, SheetsAndFibersDescendAlongTheirDefiniteMatrices) {
  const Comm comm = Comm::world();
  for (const auto& mesh : sheets_and_fibers()) {
    const Carried carried(comm, *mesh);
    Motion motion(carried.freedoms);
    motion.u = test::random_values(carried.freedoms, 0.2, 5);  // pressed in places
    bool differs = false;
    for (std::uint32_t seed = 20; seed < 40; ++seed) {
      const FreedomValues du = test::random_values(carried.freedoms, 1, seed);
      Load exact(carried.freedoms), definite(carried.freedoms);
      carried.term.add_force_change(*carried.term.linearise(motion), du, exact);
      carried.term.add_force_change(*carried.term.linearise_definite(motion), du, definite);
      EXPECT_LE(test::work(definite, du), 0);
      differs = differs || std::abs(test::work(exact, du) - test::work(definite, du)) > 1e-6;
    }
    EXPECT_TRUE(differs);
  }
}

TEST(OwnCarrierTest, SheetsAndFibersFeelNoRigidMotion) {
  const Comm comm = Comm::world();
  const Mat3 R = Eigen::AngleAxis<Real>(2.1, Vec3(1, 2, -0.5).normalized()).toRotationMatrix();
  for (const auto& mesh : sheets_and_fibers()) {
    const Carried carried(comm, *mesh);
    Motion motion(carried.freedoms);
    const auto x = std::as_const(*carried.body).points().get<Position>();
    for (std::size_t r = 0; r < x.size(); ++r) motion.u.points(0)[r] = R * x[r] + Vec3(3, -1, 2) - x[r];
    EXPECT_NEAR(comm.sum(carried.term.energy(motion)), 0, 1e-12);
    const Load force = test::force_of(carried.term, motion);
    for (const Real f : force.all()) EXPECT_NEAR(f, 0, 1e-12);
  }
}

}  // namespace
}  // namespace weft
