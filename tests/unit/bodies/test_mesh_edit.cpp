// Elements leave meshes: vertices are split alike on all ranks, and nothing is lost.

#include "weft/bodies/mesh_edit.hpp"

#include "support/codimensional.hpp"
#include "weft/base/error.hpp"
#include "weft/bodies/grip.hpp"
#include "weft/bodies/membrane.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/parallel/ship.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace weft {
namespace {

using Placement = std::function<Vec3(const Vec3&)>;

std::unique_ptr<MeshSource> sheet_of(std::vector<Vec3> points, std::vector<test::Triangle> triangles) {
  const SheetKind<CorotatedSheet>::Constants law{CorotatedSheet::Constants::from(100, 0.3), {10, 1, 0.3}};
  return make_membrane(
      {"sheet", std::move(points), std::move(triangles), law, 2, 0.1, Vec3::Zero(), 0.3, PlateRigidity{0.4, 0.3}, 1.5},
      Carrier::grid);
}
std::unique_ptr<MeshSource> sheet_of(const test::SheetMesh& mesh) { return sheet_of(mesh.points, mesh.triangles); }

/// A body on its ranks, made from a mesh.
struct Dealt {
  std::unique_ptr<MeshSource> mesh;
  std::unique_ptr<MeshBody> body;

  Dealt(const Comm& comm, std::unique_ptr<MeshSource> source)
      : mesh(std::move(source)), body(mesh->body_of(first_share(comm, *mesh))) {}
  Dealt& fill(const Comm& comm) {
    body->fill(comm, mesh->rest_positions(), Vec3(1, -2, 0.5), Mat3::Identity() * 0.3);
    return *this;
  }
  /// Vertices go from where they were at rest to where they are placed.
  Dealt& move(const Placement& placed) {
    for (Vec3& x : body->points().get<Position>()) x = placed(x);
    body->finish(0);
    return *this;
  }
};

/// The vertices that each element names, on all ranks.
std::map<std::int64_t, std::vector<std::int32_t>> named_vertices(const Comm& comm, MeshBody& body) {
  Table& rows = *body.parts()[2].table;
  const std::vector<ColumnView> columns = rows.columns();
  const auto elements = static_cast<std::size_t>(body.counts().elements);
  std::vector<std::int64_t> all(elements * columns.size(), 0);  // 2 more than the vertex, 0: not there
  for (std::size_t r = 0; r < rows.rows(); ++r)
    for (std::size_t k = 1; k < columns.size(); ++k) {
      std::int32_t vertex;
      std::memcpy(&vertex, columns[k].row(r), sizeof vertex);
      all[rows.get<Id>()[r] * columns.size() + k] = vertex + 2;
    }
  comm.sum(std::span(all));
  std::map<std::int64_t, std::vector<std::int32_t>> named;
  for (std::size_t e = 0; e < elements; ++e)
    for (std::size_t k = 1; k < columns.size(); ++k)
      if (const auto its = all[e * columns.size() + k]; its > 0)
        named[static_cast<std::int64_t>(e)].push_back(static_cast<std::int32_t>(its) - 2);
  return named;
}

/// One column of all ranks by id; ids are below `count`.
template <class F>
std::vector<Real> by_id(const Comm& comm, const Table& table, std::int64_t count) {
  const auto width = static_cast<std::size_t>(shape_of<typename F::Value>().components());
  std::vector<Real> all(static_cast<std::size_t>(count) * width, 0);
  for (std::size_t r = 0; r < table.owned(); ++r) {
    const auto* value = reinterpret_cast<const Real*>(&table.get<F>()[r]);
    std::copy(value, value + width, &all[table.get<Id>()[r] * width]);
  }
  comm.sum(std::span(all));
  return all;
}

/// Mass and momentum of all points.
std::array<Real, 4> mass_and_momentum(const Comm& comm, MeshBody& body) {
  std::array<Real, 4> sums{};
  for (PointSet* set : body.sets()) {
    const Table& points = std::as_const(*set).points();
    for (std::size_t r = 0; r < points.owned(); ++r) {
      sums[0] += points.get<Mass>()[r];
      for (int a = 0; a < 3; ++a)
        sums[static_cast<std::size_t>(a) + 1] += points.get<Mass>()[r] * points.get<Velocity>()[r][a];
    }
  }
  comm.sum(std::span<Real>(sums));
  return sums;
}

void expect_kept(const std::array<Real, 4>& before, const std::array<Real, 4>& after) {
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(after[k], before[k], 1e-13 * std::abs(before[0])) << k;
}

std::int64_t count_of(const Comm& comm, const Table& table) {
  return comm.sum(static_cast<std::int64_t>(table.owned()));
}

TEST(MeshEditRanks, AStripTornAcrossIsTwoPieces) {
  const Comm comm = Comm::world();
  Dealt strip(comm, sheet_of(test::SheetMesh(6, 1, 0.5)));
  strip.fill(comm).move([](const Vec3& x) { return Vec3(x.x() > 1.6 ? x.x() + 2 : x.x(), x.y(), x.z()); });
  const auto before = mass_and_momentum(comm, *strip.body);
  EXPECT_EQ(comm.any(strip.body->wants_edit()), true);
  const Edited edited = strip.body->edit(comm);
  EXPECT_FALSE(strip.body->wants_edit());
  EXPECT_EQ(edited.removed_elements, 2);
  EXPECT_EQ(edited.new_vertices, 0);
  EXPECT_EQ(comm.sum(static_cast<std::int64_t>(edited.lost_vertices.size())), 0);
  expect_kept(before, mass_and_momentum(comm, *strip.body));
  std::set<std::int32_t> left, right;
  for (const auto& [e, vertices] : named_vertices(comm, *strip.body)) {
    EXPECT_NE(e / 2, 3);
    for (const std::int32_t v : vertices)
      if (v >= 0) (e / 2 < 3 ? left : right).insert(v);  // bending looks across no tear
  }
  EXPECT_EQ(left, (std::set<std::int32_t>{0, 1, 2, 3, 7, 8, 9, 10}));
  EXPECT_EQ(right, (std::set<std::int32_t>{4, 5, 6, 11, 12, 13}));
}

/// Two by two squares; the middles of two opposite sides fly off, so that two triangles meet in the middle alone.
constexpr std::int32_t middle = 4, second_middle = 9;
constexpr std::int64_t first_left = 1, second_left = 6;
const Placement fly_off = [](const Vec3& x) {
  const bool flies = x.x() == 0.5 && x.y() != 0.5;
  return Vec3(x.x(), x.y(), x.z() + (flies ? 3 : 0));
};

TEST(MeshEditRanks, AVertexThatJoinsTwoPiecesAloneBecomesTwo) {
  const Comm comm = Comm::world();
  Dealt sheet(comm, sheet_of(test::SheetMesh(2, 2, 0.5)));
  sheet.fill(comm).move(fly_off);
  MeshBody& body = *sheet.body;
  const auto before = mass_and_momentum(comm, body);
  const Real joint = by_id<Mass>(comm, body.points(), 9)[middle];
  const std::int64_t samples = count_of(comm, body.samples());
  const Edited edited = body.edit(comm);
  EXPECT_EQ(edited.removed_elements, 6);
  EXPECT_EQ(edited.new_vertices, 1);
  EXPECT_EQ(body.next_vertex(), 10);
  EXPECT_EQ(body.removed_elements(), 6);
  expect_kept(before, mass_and_momentum(comm, body));

  const std::map<std::int64_t, std::vector<std::int32_t>> expected{{first_left, {0, middle, 3, -1, -1, -1}},
                                                                   {second_left, {second_middle, 5, 8, -1, -1, -1}}};
  EXPECT_EQ(named_vertices(comm, body), expected);
  const auto mass = by_id<Mass>(comm, body.points(), 10), share = by_id<VertexShare>(comm, body.points(), 10);
  EXPECT_NEAR(mass[middle], joint / 2, 1e-15);
  EXPECT_NEAR(mass[second_middle], joint / 2, 1e-15);
  EXPECT_EQ(share[middle], 0.5);
  EXPECT_EQ(share[0], 1);
  const auto x = by_id<Position>(comm, body.points(), 10);
  for (std::size_t a = 0; a < 3; ++a) EXPECT_EQ(x[3 * second_middle + a], x[3 * middle + a]);
  // Four vertices have no element any more; they and the quadrature points of torn elements are dust.
  EXPECT_EQ(count_of(comm, body.points()), 6);
  EXPECT_EQ(comm.sum(static_cast<std::int64_t>(edited.lost_vertices.size())), 4);
  EXPECT_EQ(count_of(comm, body.samples()), samples / 4);
  EXPECT_EQ(count_of(comm, body.dust()), samples - samples / 4 + 4);
  // Dust goes where the cuts say.
  body.share(comm, [&](const Vec3& at) { return at.z() > 1 ? comm.size() - 1 : 0; });
  for (const Vec3& at : body.dust().get<Position>()) EXPECT_EQ(at.z() > 1 ? comm.size() - 1 : 0, comm.rank());
}

/// Crumples a sheet so that about a sixth of its elements leave.
Vec3 crumpled(const Vec3& x) {
  return x + 0.16 * Vec3(std::sin(31 * x.x() + 17 * x.y()), std::sin(23 * x.x() - 41 * x.y()), std::cos(37 * x.y()));
}

TEST(MeshEditRanks, GiveTheSameNumbersOnAllRanks) {
  const Comm comm = Comm::world(), self(MPI_COMM_SELF);
  const test::SheetMesh mesh(12, 10, 0.3);
  Dealt many(comm, sheet_of(mesh)), one(self, sheet_of(mesh));
  many.fill(comm).move(crumpled);
  many.body->share(comm, [&](const Vec3& x) { return (static_cast<int>(5 * x.x()) + 100) % comm.size(); });
  one.fill(self).move(crumpled);
  for (const Real grown : {1.0, 1.15}) {  // more leave later
    const auto more = [&](const Vec3& x) { return Vec3(grown * x.x(), x.y(), x.z()); };
    const auto before = mass_and_momentum(comm, *many.body);
    many.move(more);
    one.move(more);
    const Edited of_many = many.body->edit(comm), of_one = one.body->edit(self);
    EXPECT_GT(of_one.removed_elements, 10);
    EXPECT_GT(of_one.new_vertices, 2);
    EXPECT_EQ(of_many.removed_elements, of_one.removed_elements);
    EXPECT_EQ(of_many.new_vertices, of_one.new_vertices);
    EXPECT_EQ(named_vertices(comm, *many.body), named_vertices(self, *one.body));
    const std::int64_t count = one.body->next_vertex();
    EXPECT_EQ(by_id<VertexShare>(comm, many.body->points(), count),
              by_id<VertexShare>(self, one.body->points(), count));
    const auto mass = by_id<Mass>(comm, many.body->points(), count),
               alone = by_id<Mass>(self, one.body->points(), count);
    for (std::size_t v = 0; v < mass.size(); ++v)  // at rest it is summed over ranks
      EXPECT_NEAR(mass[v], alone[v], 1e-14 * alone[v]);
    EXPECT_EQ(by_id<Position>(comm, many.body->points(), count), by_id<Position>(self, one.body->points(), count));
    const std::int64_t dust = one.body->counts().elements * one.body->counts().samples + count;
    EXPECT_EQ(by_id<Position>(comm, many.body->dust(), dust), by_id<Position>(self, one.body->dust(), dust));
    expect_kept(before, mass_and_momentum(comm, *many.body));
  }
}

TEST(MeshEditRanks, WhatIsLeftRespondsAsAMeshThatWasMadeSo) {
  const Comm comm = Comm::world();
  Dealt torn(comm, sheet_of(test::SheetMesh(12, 10, 0.3)));
  const std::span<const Vec3> held = torn.mesh->rest_positions().held();
  const std::vector<Vec3> at_rest(held.begin(), held.end());
  torn.fill(comm).move(crumpled);
  torn.body->edit(comm);

  // The same connectivity from the start; vertices that are not used would be refused.
  const auto count = torn.body->next_vertex();
  const auto x = by_id<Position>(comm, torn.body->points(), count);
  std::map<std::int32_t, std::int32_t> number;
  std::vector<Vec3> rest, place;
  std::vector<test::Triangle> triangles;
  const test::SheetMesh whole(12, 10, 0.3);
  for (const auto& [e, vertices] : named_vertices(comm, *torn.body)) {
    test::Triangle& triangle = triangles.emplace_back();
    for (std::size_t a = 0; a < 3; ++a) {
      const auto v = static_cast<std::size_t>(vertices[a]);
      const auto [known, is_new] = number.try_emplace(vertices[a], static_cast<std::int32_t>(rest.size()));
      if (is_new) {
        rest.push_back(at_rest[static_cast<std::size_t>(whole.triangles[static_cast<std::size_t>(e)][a])]);
        place.emplace_back(x[3 * v], x[3 * v + 1], x[3 * v + 2]);
      }
      triangle[a] = known->second;
    }
  }
  Dealt made(comm, sheet_of(rest, triangles));
  made.fill(comm);
  for (std::size_t r = 0; r < made.body->points().rows(); ++r)
    made.body->points().get<Position>()[r] = place[made.body->points().get<Id>()[r]];
  const auto elastic = [&](const MeshBody& body) {
    const Parts parts{.contact = false};
    const std::vector<Mat3> none(body.samples().rows(), Mat3::Zero());
    return comm.sum(body.trial_energy(parts, {body.points().get<Position>(), none}));
  };
  const Real expected = elastic(*made.body);
  EXPECT_GT(expected, 0);
  EXPECT_NEAR(elastic(*torn.body), expected, 1e-11 * expected);
}

TEST(MeshEditRanks, GripsHoldAllCopiesOfTheirVertexAndLeaveWithTheirElement) {
  const Comm comm = Comm::world();
  Dealt sheet(comm, sheet_of(test::SheetMesh(2, 2, 0.5)));
  MeshBody& body = *sheet.body;
  const ElementRange share = first_share(comm, *sheet.mesh);
  std::vector<Grip> grips;
  const auto add = [&](std::int64_t element, const Stencil& sum) {
    if (share.has(element)) grips.push_back(grip_of(element, sum));
  };
  add(0, {{middle}, {1}});                        // its element leaves
  add(0, {{1}, {1}});                             // so does this vertex
  add(second_left, {{middle, 5, 8}, {1, 1, 1}});  // stays, with another vertex
  add(7, {{4, 8, 7}, {1, 1, 1}});                 // leaves
  const std::size_t list = body.watch(comm, std::move(grips));
  sheet.fill(comm).move(fly_off);
  const Edited edited = body.edit(comm);
  EXPECT_EQ(edited.lost_grips, (std::vector<std::int64_t>{2}));
  const auto seen = [&] {
    std::vector<std::int64_t> found(40, 0);
    for (const Grip& grip : body.grips(list)) {
      EXPECT_TRUE(std::ranges::binary_search(body.elements(), grip.element));
      const std::size_t of_kind = grip.vertices.size() > 1 ? 20 : 0;
      for (std::size_t k = 0; k < grip.vertices.size(); ++k) {
        EXPECT_EQ(body.points().get<Id>()[static_cast<std::size_t>(grip.rows[k])],
                  static_cast<PointId>(grip.vertices[k].number));
        found[of_kind + static_cast<std::size_t>(grip.vertices[k].number)] += 1 + grip.element;
      }
    }
    comm.sum(std::span(found));
    return found;
  };
  std::vector<std::int64_t> expected(40, 0);
  expected[middle] = 1 + first_left;
  expected[second_middle] = expected[20 + second_middle] = expected[20 + 5] = expected[20 + 8] = 1 + second_left;
  EXPECT_EQ(seen(), expected);
  body.share(comm, [&](const Vec3& x) { return static_cast<int>(10 * x.x()) % comm.size(); });
  EXPECT_EQ(seen(), expected);
}

/// Deals the rows of a table out anew, as if they were read from a file by ranks that know nothing of them.
void scatter_rows(const Comm& comm, Table& from, Table& to, int stride) {
  std::vector<int> rank;
  for (const PointId id : std::as_const(from).get<Id>().first(from.owned()))
    rank.push_back(static_cast<int>((id * static_cast<PointId>(stride)) % static_cast<PointId>(comm.size())));
  from.resize(from.owned());
  ship(comm, from, rank);
  to.resize(from.rows());
  const auto columns = from.columns(Keep::state), others = to.columns(Keep::state);
  for (std::size_t c = 0; c < columns.size(); ++c)
    std::memcpy(others[c].data, columns[c].data, columns[c].row_bytes * from.rows());
}

TEST(MeshEditRanks, TakeTheirPresentMeshFromRowsOnAnyRank) {
  const Comm comm = Comm::world();
  const test::SheetMesh mesh(12, 10, 0.3);
  Dealt torn(comm, sheet_of(mesh)), read(comm, sheet_of(mesh));
  const auto watch_all = [&](Dealt& dealt) {
    std::vector<Grip> grips;
    for (const Site& site : dealt.mesh->sites(first_share(comm, *dealt.mesh)).vertices)
      grips.push_back(grip_of(site.element, site.place));
    return dealt.body->watch(comm, std::move(grips));
  };
  const std::size_t list = watch_all(torn);
  EXPECT_EQ(watch_all(read), list);
  torn.fill(comm).move(crumpled);
  torn.body->edit(comm);
  const std::int64_t next = torn.body->next_vertex(), removed = torn.body->removed_elements();
  const auto state = [&](MeshBody& body) {
    std::vector<Real> all = by_id<Position>(comm, body.points(), next);
    for (const auto& more : {by_id<Mass>(comm, body.points(), next), by_id<VertexShare>(comm, body.points(), next)})
      all.insert(all.end(), more.begin(), more.end());
    std::vector<std::int64_t> held(static_cast<std::size_t>(next), 0);
    for (const Grip& grip : body.grips(list)) held[static_cast<std::size_t>(grip.vertices[0].number)] += 1;
    comm.sum(std::span(held));
    all.insert(all.end(), held.begin(), held.end());
    all.push_back(static_cast<Real>(count_of(comm, body.dust())));
    return all;
  };
  const auto expected = state(*torn.body);
  const auto named = named_vertices(comm, *torn.body);
  const Real energy = comm.sum(torn.body->elastic_energy());
  const auto from = torn.body->parts(), to = read.body->parts();
  ASSERT_EQ(to.size(), 4u);
  for (std::size_t p = 0; p < from.size(); ++p) {
    EXPECT_EQ(to[p].name, from[p].name);
    scatter_rows(comm, *from[p].table, *to[p].table, 7 + static_cast<int>(p));
  }
  read.body->restore(comm, next, removed);
  read.body->share(comm, [&](const Vec3& x) { return (static_cast<int>(4 * x.y()) + 100) % comm.size(); });
  EXPECT_EQ(state(*read.body), expected);
  EXPECT_EQ(named_vertices(comm, *read.body), named);
  EXPECT_NEAR(comm.sum(read.body->elastic_energy()), energy, 1e-12 * energy);
}

TEST(MeshEditRanks, RefuseRowsThatCannotBeTheirs) {
  const Comm comm = Comm::world();
  const auto refuses = [&](std::int64_t next, std::int64_t removed, const std::function<void(MeshBody&)>& spoil) {
    Dealt sheet(comm, sheet_of(test::SheetMesh(4, 3, 0.5)));
    sheet.fill(comm);
    spoil(*sheet.body);
    try {
      sheet.body->restore(comm, next, removed);
      sheet.body->share(comm, [](const Vec3&) { return 0; });
    } catch (const Error& error) {
      return error.code() == ExitCode::checkpoint;
    }
    return false;
  };
  const auto no_one = [](MeshBody&) {};
  const auto spoil_vertex = [&](std::int32_t value) {
    return [value](MeshBody& body) {
      Table& rows = *body.parts()[2].table;
      if (rows.rows() > 0) std::memcpy(rows.columns()[1].row(0), &value, sizeof value);
    };
  };
  EXPECT_FALSE(refuses(20, 0, no_one));
  EXPECT_TRUE(refuses(19, 0, no_one));
  EXPECT_TRUE(refuses(20, 1, no_one));
  EXPECT_TRUE(refuses(20, -1, no_one));
  EXPECT_TRUE(refuses(std::int64_t{1} << 40, 0, no_one));
  EXPECT_TRUE(refuses(20, 0, spoil_vertex(20)));
  EXPECT_TRUE(refuses(20, 0, spoil_vertex(-1)));
  EXPECT_TRUE(refuses(20, 0, [](MeshBody& body) { body.parts()[2].table->get<Id>()[0] = 24; }));
}

TEST(MeshEditRanks, AFiberTornInTheMiddleHasTwoEndsAndNoNewVertex) {
  const Comm comm = Comm::world();
  const auto fibers = [](std::vector<Vec3> points, std::vector<test::Segment> segments,
                         std::vector<std::vector<std::int32_t>> chains) {
    const Fiber::Constants law = Fiber::Constants::from(200, 30, lame_from(50, 0.2), 0.3);
    return make_fibers({"fibers", std::move(points), std::move(segments), law, 3, 0.05, 1, std::move(chains), 2, 1.5},
                       Carrier::grid);
  };
  const auto placed = [](const Vec3& x) { return Vec3(x.x() > 1.1 ? x.x() + 1 : x.x(), 0.2 * std::sin(3 * x.x()), 0); };
  const test::FiberMesh mesh(1, 6, 0.4);
  Dealt torn(comm, fibers(mesh.points, mesh.segments, {{0, 1, 2, 3, 4, 5, 6}}));
  torn.fill(comm).move(placed);
  const auto before = mass_and_momentum(comm, *torn.body);
  const Edited edited = torn.body->edit(comm);
  EXPECT_EQ(edited.removed_elements, 1);
  EXPECT_EQ(edited.new_vertices, 0);
  expect_kept(before, mass_and_momentum(comm, *torn.body));
  const auto named = named_vertices(comm, *torn.body);
  EXPECT_EQ(named.at(1), (std::vector<std::int32_t>{1, 2, -1}));  // it turns against nothing
  EXPECT_EQ(named.at(3), (std::vector<std::int32_t>{3, 4, 5}));

  Dealt two(comm, fibers(mesh.points, {{0, 1}, {1, 2}, {3, 4}, {4, 5}, {5, 6}}, {{0, 1, 2}, {3, 4, 5, 6}}));
  two.fill(comm).move(placed);
  const auto elastic = [&](const MeshBody& body) {
    const std::vector<Mat3> none(body.samples().rows(), Mat3::Zero());
    return comm.sum(body.trial_energy({.contact = false}, {body.points().get<Position>(), none}));
  };
  const Real expected = elastic(*two.body);
  EXPECT_NEAR(elastic(*torn.body), expected, 1e-12 * expected);
}

}  // namespace
}  // namespace weft
