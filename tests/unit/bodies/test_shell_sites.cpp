// The places where handles and loads take hold of a shell.

#include "bodies/shell_sites.hpp"

#include "support/shell_models.hpp"
#include "support/triangle_meshes.hpp"

#include <algorithm>
#include <array>
#include <numbers>

namespace weft {
namespace {

constexpr Real width = 3, height = 2;
ControlMesh sheet() { return patch(6, 4, rectangle(width, height)); }

TEST(SitesOfTest, VerticesLieOnTheLimitSurfaceAlsoWhereItIsIrregular) {
  for (const ControlMesh& mesh : {sheet(), irregular_patch(12, 12, rectangle(width, height))}) {
    const Sites sites = sites_of(mesh, {0, mesh.material_faces});
    EXPECT_EQ(sites.vertices.size(), (mesh.material_faces == 24 ? 7u * 5u : 13u * 13u));
    for (const Site& site : sites.vertices) EXPECT_LE((site.place.of(mesh.points) - site.where).norm(), 1e-14);
  }
}

TEST(SitesOfTest, SidesRunAlongTheBoundaryWithTheirSlopesInside) {
  const ControlMesh mesh = sheet();
  const Sites sites = sites_of(mesh, {0, mesh.material_faces});
  ASSERT_EQ(sites.sides.size(), 4u);
  for (const auto& side : sites.sides) {
    EXPECT_TRUE(side.front().at_end);
    EXPECT_TRUE(side.back().at_end);
    EXPECT_EQ(std::count_if(side.begin(), side.end(), [](const Site& s) { return s.at_end; }), 2);
    for (const Site& site : side) {
      EXPECT_LE((site.normal - Vec3(0, 0, 1)).norm(), 1e-14);
      const Vec3 slope = site.slope.of(mesh.points), inside = Vec3(width / 2, height / 2, 0) - site.where;
      EXPECT_NEAR(slope.norm(), 0.5, 1e-14);  // the size of a face
      EXPECT_GT(slope.dot(inside), 0);
      if (!site.at_end) {
        EXPECT_LE((site.place.of(mesh.points) - site.where).norm(), 1e-14);
      }
    }
  }
}

TEST(SitesOfTest, BoundariesAreNumberedByTheirLowestPoint) {
  const ControlMesh band = tube(12, 3, cylinder(1, 2, 0, 2 * std::numbers::pi));
  const std::vector<int> number = boundary_numbers(band);
  for (std::size_t p = 0; p < band.points.size(); ++p) {
    const bool first = p < 12, last = p >= 36 && p < 48;
    EXPECT_EQ(number[p], first ? 0 : last ? 1 : -1);
  }
  std::array<int, 3> count{};
  for (const Site& site : sites_of(band, {0, band.material_faces}).vertices) ++count[site.boundary + 1];
  EXPECT_EQ(count, (std::array{24, 12, 12}));
}

TEST(NearestSiteTest, IsThePointItselfAndTheFootOfOnesBesideTheSurface) {
  const SurfaceMap roof = cylinder(1, 2, 0, 1.5);
  const ControlMesh triangles = with_outer_row(control_mesh(test::cut_squares(6, 4, roof), "roof"));
  for (const ControlMesh& mesh : {patch(6, 4, roof), irregular_patch(12, 12, roof), triangles}) {
    std::vector<std::int64_t> faces(static_cast<std::size_t>(mesh.material_faces));
    std::iota(faces.begin(), faces.end(), 0);
    const std::vector<Vec2> at{{0.3, 0.2}, {0.05, 0.61}, {0, 0}, {0.45, 0}, {0, 0.7}, {1.0 / 3, 1.0 / 3}};
    const LimitBasis basis = limit_basis(mesh, faces, at);
    for (std::int64_t e = 0; e < basis.faces(); e += 3)
      for (int s = 0; s < basis.samples; ++s) {
        Vec3 x = Vec3::Zero(), a1 = x, a2 = x;
        for (std::size_t a = 0; a < basis.points_of(e).size(); ++a) {
          const Vec3& point = mesh.points[static_cast<std::size_t>(basis.points_of(e)[a])];
          x += basis.row(e, s)[a].value * point;
          a1 += basis.row(e, s)[a].d1 * point;
          a2 += basis.row(e, s)[a].d2 * point;
        }
        for (const Real height : {0.0, 0.03, -0.02}) {  // the radius of curvature is 1
          const Site site = nearest_site(mesh, faces, x + height * a1.cross(a2).normalized());
          EXPECT_LE((site.where - x).norm(), 1e-11) << e << ", " << s;
          EXPECT_LE((site.place.of(mesh.points) - site.where).norm(), 1e-14);
        }
      }
  }
}

TEST(NearestSiteTest, BeyondTheBoundaryNothingIsNearer) {
  const ControlMesh mesh = irregular_patch(12, 12, cylinder(1, 2, 0, 1.5));
  std::vector<std::int64_t> faces(static_cast<std::size_t>(mesh.material_faces));
  std::iota(faces.begin(), faces.end(), 0);
  std::vector<Vec2> at;
  for (int j = 0; j <= 40; ++j)
    for (int i = 0; i <= 40; ++i) at.emplace_back(i / 40.0, j / 40.0);
  const LimitBasis basis = limit_basis(mesh, faces, at);
  for (const Vec3& x : {Vec3(0, 0, -1), Vec3(3, 2, 5), Vec3(-1, 0.2, 0.4), Vec3(0.8, -0.5, 1.2)}) {
    Real least = std::numeric_limits<Real>::infinity();
    for (std::int64_t e = 0; e < basis.faces(); ++e)
      for (int s = 0; s < basis.samples; ++s) {
        Vec3 place = Vec3::Zero();
        for (std::size_t a = 0; a < basis.points_of(e).size(); ++a)
          place += basis.row(e, s)[a].value * mesh.points[static_cast<std::size_t>(basis.points_of(e)[a])];
        least = std::min(least, (place - x).norm());
      }
    const Real found = (nearest_site(mesh, faces, x).where - x).norm();
    EXPECT_LE(found, least + 1e-14);
    EXPECT_GE(found, least - 1e-2);
  }
  EXPECT_EQ(nearest_site(mesh, {}, Vec3::Zero()).element, -1);
}

TEST(SamplesTest, AddUpToAreaMassAndPerimeter) {
  const Comm comm = Comm::world();
  ShellDescription description = test::elastic_shell(sheet(), 100, 0.3, 0.1);
  description.density = 70;
  const ShellShare shell(comm, description);
  Real area = 0, mass = 0, length = 0;
  const std::span<const Vec3> rest = shell.rest();
  std::vector<std::int32_t> row(sheet().points.size(), -1);
  for (std::size_t r = 0; r < rest.size(); ++r) row[shell.piece().points[r]] = static_cast<std::int32_t>(r);
  for (const Sample& sample : surface_samples(description, shell.faces(), row, rest)) {
    area += sample.measure;
    mass += sample.mass;
  }
  for (const Sample& sample : side_samples(sheet(), shell.faces(), row, rest)) {
    length += sample.measure;
    Vec3 along = Vec3::Zero(), inside = Vec3::Zero();
    for (std::size_t k = 0; k < sample.rows.size(); ++k) {
      along += sample.d1[k] * rest[sample.rows[k]];
      inside += sample.d2[k] * rest[sample.rows[k]];
    }
    EXPECT_NEAR(along.cross(inside).z(), 0.25, 1e-13);  // material on the left, seen from the side of the normal
    EXPECT_GT(inside.dot(Vec3(width / 2, height / 2, 0) - sample.where), 0);
  }
  EXPECT_NEAR(comm.sum(area), width * height, 1e-13);
  EXPECT_NEAR(comm.sum(mass), 7 * width * height, 1e-12);
  EXPECT_NEAR(comm.sum(length), 2 * (width + height), 1e-13);
}

}  // namespace
}  // namespace weft
