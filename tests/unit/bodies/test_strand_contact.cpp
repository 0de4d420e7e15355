// Strands that meet the grid: contact points are their vertices, and a continuum in Drucker-Prager's cone.

#include "weft/bodies/continuum.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/bodies/strand.hpp"
#include "weft/geometry/fiber_patterns.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numbers>
#include <utility>

namespace weft {
namespace {

constexpr Real radius = 0.01, density = 1000, packing = 0.25;

/// Two strands and a ring.
StrandDescription strands() {
  Curves curves;
  for (int c = 0; c < 2; ++c) {
    std::vector<Vec3> points;
    for (int k = 0; k < 5 + c; ++k) points.emplace_back(0.1 * k, 0.2 * c, 0.01 * k * k);
    curves.add(points);
  }
  std::vector<Vec3> ring;
  for (int k = 0; k < 8; ++k) {
    const Real angle = std::numbers::pi * k / 4;
    ring.emplace_back(std::cos(angle), std::sin(angle), 1);
  }
  curves.add(ring, true);
  const RodSection section = RodSection::ellipse(radius, radius, 1e6, 1e6, 4e5, density);
  const auto law = DruckerPrager::Constants::from(lame_from(1e5, 0.3), 0.5, 0, {}, true);
  return {"strands", curves, section, density, {}, radius, false, 0, true, StrandContinuum{law, packing}};
}

std::unique_ptr<MeshBody> body_of(const Comm& comm, const StrandDescription& of) {
  const auto mesh = make_strands(of);
  auto body = mesh->body_of(first_share(comm, *mesh));
  body->fill(comm, mesh->rest_positions(), {1, 2, 3}, Mat3::Zero());
  body->share_evenly(comm);
  return body;
}

TEST(StrandRanks, HaveAboutAsManySegmentsEach) {
  const Comm comm = Comm::world();
  constexpr int count = 256, segments = 10;
  StrandDescription of = strands();
  of.curves = hair_ball({0.3, 0.6, count, 0.06}, {comm.rank(), comm.size()});  // whose roots are in the middle of it
  of.part = CurveNumbers::of(of.curves);
  of.part->first_curve = comm.offset(of.part->curves);
  of.part->first_point = comm.offset(of.part->points);
  of.part->first_segment = comm.offset(of.part->segments);
  of.part->curves = count;
  of.part->points = count * (segments + 1);
  of.part->segments = count * segments;
  const auto body = body_of(comm, of);
  const auto here = static_cast<Real>(body->strand_segments().size());
  EXPECT_EQ(comm.sum(here), count * segments);
  EXPECT_LE(comm.max(here), Real(count * segments) / comm.size() + 2 * segments);
}

TEST(StrandContactTest, ContactPointsAreVerticesWithAllOfTheirMass) {
  const auto body = body_of(Comm::world(), strands());
  const Table &vertices = std::as_const(*body).points(), &points = std::as_const(*body).contact_points()->points();
  ASSERT_EQ(vertices.rows(), 5u + 6u + 8u);
  ASSERT_EQ(points.rows(), vertices.rows());
  for (std::size_t r = 0; r < points.rows(); ++r) {
    const auto [rows, weights] = body->contact_stencil(static_cast<std::uint32_t>(r));
    EXPECT_EQ(rows[0], static_cast<std::int32_t>(r));
    EXPECT_EQ(weights, (std::array<Real, 4>{1, 0, 0, 0}));
    EXPECT_EQ(points.get<Mass>()[r], vertices.get<Mass>()[r]);
    EXPECT_EQ(points.get<Position>()[r], vertices.get<Position>()[r]);
    EXPECT_EQ(points.get<Velocity>()[r], vertices.get<Velocity>()[r]);
  }
}

/// Uniform compression of V0 = m / (packing density) at each vertex: A = V0 tau = V0 3 K ln(s) I.
TEST(StrandContactTest, PressedStrandsHaveTheStressOfTheirContinuum) {
  const auto body = body_of(Comm::world(), strands());
  PointSet& set = *body->contact_points();
  const std::uint32_t row = 2;
  const Real dt = 0.01, rate = -1;
  const std::vector<Vec3> v{Vec3::Zero()};
  const std::vector<Mat3> C{rate * Mat3::Identity()};
  set.commit({&row, 1}, dt, {v, C});
  std::vector<Mat3> A{Mat3::Zero()};
  set.respond({&row, 1}, {A});
  const Real volume = set.points().get<Mass>()[row] / (packing * density), bulk = lame_from(1e5, 0.3).bulk();
  const Mat3 expected = volume * 3 * bulk * std::log(1 + rate * dt) * Mat3::Identity();
  EXPECT_LT((A[0] - expected).norm(), 1e-12 * expected.norm());
  EXPECT_GT(body->elastic_energy(), 0);
  EXPECT_TRUE(body->roles().trial != nullptr);
}

TEST(StrandContactTest, WithoutContinuumTheyHaveNoStress) {
  StrandDescription of = strands();
  of.continuum.reset();
  const auto body = body_of(Comm::world(), of);
  const std::uint32_t row = 0;
  std::vector<Mat3> A{Mat3::Identity()};
  body->contact_points()->respond({&row, 1}, {A});
  EXPECT_TRUE(A[0].isZero(0));
  EXPECT_FALSE(body->contact_points()->is_matter());
  EXPECT_TRUE(body->roles().trial == nullptr);
  of.meets_grid = false;
  EXPECT_EQ(body_of(Comm::world(), of)->contact_points(), nullptr);
}

}  // namespace
}  // namespace weft
