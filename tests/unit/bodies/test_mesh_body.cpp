// Bodies with a mesh among ranks: dealing out with and without quadrature points, whole units, weight and grips.

#include "weft/bodies/mesh_body.hpp"

#include "support/codimensional.hpp"
#include "support/shell_models.hpp"
#include "weft/base/error.hpp"
#include "weft/bodies/membrane.hpp"
#include "weft/bodies/shell_body.hpp"
#include "weft/parallel/send.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

namespace weft {
namespace {

/// Links of a straight chain between successive vertices, each with a number of points: units of three must not be cut.
class Chain final : public MeshBody {
 public:
  static constexpr std::int64_t links = 24, unit = 3;

  Chain(const Comm& comm, Carrier carrier)
      : MeshBody("chain", carrier, {links + 1, links, carrier == Carrier::grid ? 2 : 0}) {
    const Runs runs{links, comm.size()};
    for (std::int64_t e = runs.begin(comm.rank()); e < runs.end(comm.rank()); ++e) links_.push_back(e);
  }
  static std::vector<Vec3> rest_positions() {
    std::vector<Vec3> x;
    for (std::int64_t v = 0; v <= links; ++v) x.emplace_back(static_cast<Real>(v), 0, 0);
    return x;
  }

  Real trial_energy(const Parts&, const TrialShape&) const override { return 0; }
  void trial_response(const Parts&, const TrialShape&, const TrialForces&) const override {}
  void add_stiffness(const Parts&, const TrialShape&, bool, MeshStiffness&) const override {}
  void weigh_elements(const Vec3&, std::span<Vec3>) const override {}
  std::vector<std::int64_t> elements() const override { return links_; }

 protected:
  std::vector<std::int32_t> needed_vertices() const override {
    std::set<std::int32_t> needed;
    for (const std::int64_t e : links_) needed.insert({static_cast<std::int32_t>(e), static_cast<std::int32_t>(e) + 1});
    return {needed.begin(), needed.end()};
  }
  std::vector<std::int64_t> first_vertices() const override { return links_; }
  std::int64_t unit_of(std::int64_t e) const override { return e / unit * unit; }
  void send_elements(const Comm& comm, std::span<const int> to) override {
    links_ = send(comm, links_, to);
    std::sort(links_.begin(), links_.end());
  }
  std::size_t bytes_of_elements() const override { return bytes_of(links_); }
  std::vector<std::int64_t> rows_of_elements(const Table&) const override {
    return std::vector<std::int64_t>(links_.size(), 2);
  }
  void add_mass(std::span<Real> of_vertices, std::span<Real>) const override {
    std::fill(of_vertices.begin(), of_vertices.end(), 1.0);
  }
  Real half_thickness(std::size_t) const override { return 0.01; }
  std::optional<Real> half_thickness_at_vertices() const override { return 0.01; }
  void rest_elements() override {}
  void take_piece() override {}
  void commit_elements(Real, std::span<const Mat3>) override {}
  StepLimit limit_of_elements() override { return {}; }
  void sample(std::span<const Vec3>, std::span<Vec3> places) const override {
    for (std::size_t row = 0; row < places.size(); ++row) {
      const std::int64_t link = samples().get<Id>()[row] / 2;
      places[row] = {static_cast<Real>(link) + 0.5, 0, 0};
    }
  }
  void add_force_at_sample(std::size_t, const Vec3&, std::span<Vec3>) const override {}

 private:
  std::vector<std::int64_t> links_;
};

class MeshesRanks : public testing::TestWithParam<Carrier> {};

TEST_P(MeshesRanks, KeepUnitsWholeWhereverTheyGo) {
  const Comm comm = Comm::world();
  Chain chain(comm, GetParam());
  chain.fill(comm, Chain::rest_positions(), Vec3::Zero(), Mat3::Zero());
  EXPECT_EQ(chain.parts().size(), GetParam() == Carrier::grid ? 2u : 1u);
  for (const int width : {5, 2, 7}) {
    // Every place has its rank, whichever rank asks.
    const auto rank_of = [&](const Vec3& x) { return static_cast<int>(x.x()) / width % comm.size(); };
    chain.share(comm, rank_of);
    const std::vector<std::int64_t> here = chain.elements();
    for (const std::int64_t e : here) {
      const std::int64_t first = e / 3 * 3;  // of its unit
      EXPECT_EQ(rank_of(Vec3(static_cast<Real>(first), 0, 0)), comm.rank());
    }
    EXPECT_EQ(here.size() % 3, 0u);
    EXPECT_EQ(comm.sum(static_cast<std::int64_t>(here.size())), Chain::links);
    EXPECT_EQ(comm.sum(static_cast<std::int64_t>(chain.points().owned())), Chain::links + 1);
    EXPECT_EQ(chain.samples().rows(), GetParam() == Carrier::grid ? 2 * here.size() : 0u);
    const auto id = std::as_const(chain).points().get<Id>();
    const auto x = std::as_const(chain).points().get<Position>();
    for (std::size_t r = 0; r < x.size(); ++r) EXPECT_EQ(x[r].x(), static_cast<Real>(id[r]));  // ghosts too
  }
}

INSTANTIATE_TEST_SUITE_P(Carriers, MeshesRanks, testing::Values(Carrier::grid, Carrier::own),
                         [](const auto& info) { return info.param == Carrier::grid ? "grid" : "own"; });

std::unique_ptr<MeshSource> sheet(Carrier carrier) {
  const test::SheetMesh mesh(4, 3, 0.5);
  const SheetKind<CorotatedSheet>::Constants law{CorotatedSheet::Constants::from(100, 0.3), {10, 1, 0.3}};
  return make_membrane({"sheet", mesh.points, mesh.triangles, law, 2, 0.1, Vec3::Zero(), 0.3, {}, {}}, carrier);
}

TEST(MeshSourceRanks, HaveTheirWeightAndBoundaryOnSomeRankOnce) {
  const Comm comm = Comm::world();
  const auto sum = [&](const std::vector<Sample>& samples, Real Sample::* of) {
    Real here = 0;
    for (const Sample& sample : samples) here += sample.*of;
    return comm.sum(here);
  };
  const auto cloth = sheet(Carrier::own);
  const ElementRange share = first_share(comm, *cloth);
  EXPECT_NEAR(sum(cloth->surface_samples(share), &Sample::mass), 2 * 0.1 * 2 * 1.5, 1e-12);
  EXPECT_NEAR(sum(cloth->surface_samples(share), &Sample::measure), 2 * 1.5, 1e-12);
  EXPECT_NEAR(sum(cloth->side_samples(share), &Sample::measure), 2 * (2 + 1.5), 1e-12);

  const test::FiberMesh strands(2, 5, 0.4);
  const Fiber::Constants law = Fiber::Constants::from(200, 30, lame_from(50, 0.2), 0.3);
  const auto fibers =
      make_fibers({"fibers", strands.points, strands.segments, law, 3, 0.05, 1, {}, {}, {}}, Carrier::own);
  const ElementRange of_fibers = first_share(comm, *fibers);
  EXPECT_NEAR(sum(fibers->surface_samples(of_fibers), &Sample::mass), 3 * 0.05 * 2 * 2, 1e-12);
  EXPECT_EQ(sum(fibers->surface_samples(of_fibers), &Sample::measure), 0);
}

TEST(MeshBodyRanks, WithFreedomsOfTheirOwnHaveAllTheirMassAndWeightAtVertices) {
  const Comm comm = Comm::world();
  const auto mesh = sheet(Carrier::own);
  const auto body = mesh->body_of(first_share(comm, *mesh));
  body->fill(comm, mesh->rest_positions(), Vec3::Zero(), Mat3::Zero());
  body->share_evenly(comm);
  Real mass = 0;
  for (const Real m : std::as_const(*body).points().get<Mass>()) mass += m;
  EXPECT_NEAR(comm.sum(mass), 2 * 0.1 * 2 * 1.5, 1e-14);
  std::vector<Vec3> f(body->points().rows(), Vec3::Zero());
  body->weigh_elements({0, 0, -10}, f);
  Real weight = 0;
  for (const Vec3& at : f) weight += at.z();
  EXPECT_NEAR(comm.sum(weight), -10 * 2 * 0.1 * 2 * 1.5, 1e-13);
  EXPECT_EQ(body->samples().rows(), 0u);
  EXPECT_EQ(body->sets().size(), 1u);
}

TEST(MeshBodyRanks, TakeTheirStateFromRowsOnAnyRank) {
  const Comm comm = Comm::world();
  ShellDescription description = test::elastic_shell(irregular_patch(12, 12, rectangle(1, 1)), 100, 0.3, 0.05);
  description.yield = LaminaYield::from(1, 0, YieldSurface::ellipse);
  const auto mesh = make_shell(comm, description, std::nullopt, 1);
  const auto body = mesh->body_of(first_share(comm, *mesh));
  // Every rank has some rows of all, as read from a checkpoint; those of an element may stand on several.
  const auto mark = [](PointId id) { return Vec3(static_cast<Real>(id), 0.5, -static_cast<Real>(id)); };
  const auto counted = [&](Table& table, std::int64_t all) {
    std::vector<PointId> ids;
    for (std::int64_t id = 0; id < all; ++id)
      if (static_cast<int>(7 * id % 11) % comm.size() == comm.rank()) ids.push_back(static_cast<PointId>(id));
    table.resize(ids.size());
    std::copy(ids.begin(), ids.end(), table.get<Id>().begin());
  };
  const std::vector<BodyPart> parts = body->parts();
  ASSERT_EQ(parts.size(), 2u);
  const std::int64_t laminae = 2 * 4 * mesh->counts().elements;
  counted(*parts[0].table, mesh->counts().vertices);
  counted(*parts[1].table, laminae);
  for (std::size_t r = 0; r < parts[0].table->rows(); ++r) {
    const PointId id = parts[0].table->get<Id>()[r];
    parts[0].table->get<Velocity>()[r] = mark(id);
    parts[0].table->get<Position>()[r] = parts[0].table->get<RestPosition>()[r] = description.mesh.points[id];
  }
  for (std::size_t r = 0; r < parts[1].table->rows(); ++r)
    parts[1].table->get<PlasticStretch>()[r] = mark(parts[1].table->get<Id>()[r]);
  body->share_evenly(comm);

  EXPECT_EQ(comm.sum(static_cast<std::int64_t>(body->points().owned())), mesh->counts().vertices);
  for (std::size_t r = 0; r < body->points().rows(); ++r)  // ghosts too
    EXPECT_EQ(body->points().get<Velocity>()[r], mark(body->points().get<Id>()[r]));
  const Table& kept = *body->parts()[1].table;
  EXPECT_EQ(comm.sum(static_cast<std::int64_t>(kept.rows())), laminae);
  EXPECT_EQ(kept.rows(), 8 * body->elements().size());
  for (std::size_t r = 0; r < kept.rows(); ++r) {
    EXPECT_EQ(static_cast<std::int64_t>(kept.get<Id>()[r]) / 8, body->elements()[r / 8]);
    EXPECT_EQ(kept.get<PlasticStretch>()[r], mark(kept.get<Id>()[r]));
  }
}

TEST(MeshBodyRanks, GripsStayWithTheirElements) {
  const Comm comm = Comm::world();
  Chain chain(comm, Carrier::own);
  const Runs runs{Chain::links, comm.size()};
  std::vector<Grip> grips;
  for (std::int64_t e = runs.begin(comm.rank()); e < runs.end(comm.rank()); ++e)
    grips.push_back(grip_of(e, Stencil{{static_cast<std::int32_t>(e), static_cast<std::int32_t>(e) + 1}, {0.5, 0.5}}));
  const std::size_t list = chain.watch(comm, std::move(grips));
  chain.fill(comm, Chain::rest_positions(), Vec3::Zero(), Mat3::Zero());
  chain.share_evenly(comm);
  EXPECT_EQ(chain.vertices_in(comm, list), Chain::links + 1);
  const std::vector<std::int64_t> here = chain.elements();
  ASSERT_EQ(chain.grips(list).size(), here.size());
  for (std::size_t k = 0; k < here.size(); ++k) {
    const Grip& grip = chain.grips(list)[k];
    EXPECT_EQ(grip.element, here[k]);
    EXPECT_EQ(grip.sum(std::as_const(chain).points().get<Position>()).x(), static_cast<Real>(here[k]) + 0.5);
  }
}

TEST(MeshBodyRanks, RefuseRowsOfAnotherMesh) {
  const Comm comm = Comm::world();
  for (const Carrier carrier : {Carrier::grid, Carrier::own}) {
    Chain chain(comm, carrier);
    chain.fill(comm, Chain::rest_positions(), Vec3::Zero(), Mat3::Zero());
    for (const BodyPart& part : chain.parts())
      if (comm.is_root() && part.table->owned() > 2) part.table->resize(part.table->owned() - 2);
    EXPECT_THROW(chain.share(comm, [](const Vec3&) { return 0; }), Error);
  }
}

}  // namespace
}  // namespace weft
