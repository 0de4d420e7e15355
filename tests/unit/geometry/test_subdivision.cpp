// Limit bases against B-splines, differences and the exact limit of refinement; meshes to draw; patches and tubes.

#include "weft/geometry/subdivision.hpp"

#include "support/triangle_meshes.hpp"
#include "weft/geometry/mesh_reader.hpp"
#include "weft/geometry/patches.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <Eigen/SVD>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>
#include <utility>

namespace weft {
namespace {

constexpr Real pi = std::numbers::pi;

std::vector<std::int64_t> all_faces(const ControlMesh& mesh) {
  std::vector<std::int64_t> faces(mesh.material_faces);
  for (std::size_t f = 0; f < faces.size(); ++f) faces[f] = static_cast<std::int64_t>(f);
  return faces;
}

/// Position and first and second derivatives of the limit surface.
struct Jet {
  Vec3 x = Vec3::Zero(), d1 = Vec3::Zero(), d2 = Vec3::Zero(), d11 = Vec3::Zero(), d12 = Vec3::Zero(),
       d22 = Vec3::Zero();
};
Jet jet(const ControlMesh& mesh, const LimitBasis& basis, std::int64_t e, int s) {
  Jet jet;
  for (std::int64_t a = 0; a < basis.points_in(e); ++a) {
    const Vec3& p = mesh.points[basis.points_of(e)[a]];
    const BasisWeights& w = basis.row(e, s)[a];
    jet.x += w.value * p;
    jet.d1 += w.d1 * p;
    jet.d2 += w.d2 * p;
    jet.d11 += w.d11 * p;
    jet.d12 += w.d12 * p;
    jet.d22 += w.d22 * p;
  }
  return jet;
}

/// `m` blocks of 2 x 2 parallelograms around a point, which span an angle; or of triangles, which are half of them.
SurfaceMesh sector(int sides, int m, Real angle) {
  SurfaceMesh mesh;
  const auto spoke = [&](int k) { return Vec3(std::cos(k * angle / m), std::sin(k * angle / m), 0); };
  std::map<std::array<int, 3>, std::int32_t> known;
  const auto point = [&](int k, int i, int j) {
    if (j == 0 && k > 0) k -= 1, j = std::exchange(i, 0);
    const auto [place, is_new] = known.try_emplace(i == 0 && j == 0 ? std::array{0, 0, 0} : std::array{k, i, j},
                                                   static_cast<std::int32_t>(mesh.points.size()));
    if (is_new) mesh.points.push_back(i * spoke(k) + j * spoke(k + 1));
    return place->second;
  };
  for (int k = 0; k < m; ++k)
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) {
        const auto at = [&](int a, int b) { return point(k, i + a, j + b); };
        if (sides == 4) {
          mesh.add_face({at(0, 0), at(1, 0), at(1, 1), at(0, 1)});
          continue;
        }
        if (i + j < 2) mesh.add_face({at(0, 0), at(1, 0), at(0, 1)});
        if (i + j < 1) mesh.add_face({at(1, 0), at(1, 1), at(0, 1)});
      }
  return mesh;
}

TEST(LimitBasis, QuadraturePointsFeelEveryFreePoint) {
  // Else control points would have no stiffness. Of constants alone they feel nothing.
  const Real g = std::sqrt(1.0 / 3), low = (1 - g) / 2, high = (1 + g) / 2;
  const std::vector<Vec2> of_quads = {Vec2(low, low), Vec2(high, low), Vec2(low, high), Vec2(high, high)},
                          of_triangles = {Vec2(1, 1) / 6, Vec2(4, 1) / 6, Vec2(1, 4) / 6};
  for (const auto& [sides, m] :
       {std::pair(4, 1), {4, 2}, {4, 3}, {4, 4}, {4, 5}, {4, 8}, {3, 1}, {3, 2}, {3, 3}, {3, 4}, {3, 7}, {3, 12}})
    for (const Real angle : {0.3 * pi, 0.5 * pi, 0.7 * pi, pi, 1.5 * pi}) {
      if (angle > m * 0.9 * pi) continue;  // faces turn inwards
      const ControlMesh mesh = control_mesh(sector(sides, m, angle), "sector");
      const LimitBasis basis = limit_basis(mesh, all_faces(mesh), sides == 4 ? of_quads : of_triangles);
      Eigen::MatrixXd felt = Eigen::MatrixXd::Zero(5 * basis.faces() * basis.samples, mesh.free_points());
      Eigen::Index row = 0;
      for (std::int64_t e = 0; e < basis.faces(); ++e)
        for (int s = 0; s < basis.samples; ++s, row += 5)
          for (std::int64_t a = 0; a < basis.points_in(e); ++a) {
            const BasisWeights& w = basis.row(e, s)[a];
            felt.col(basis.points_of(e)[a]).segment<5>(row) << w.d1, w.d2, w.d11, w.d12, w.d22;
          }
      const Eigen::VectorXd sizes = Eigen::BDCSVD<Eigen::MatrixXd>(felt).singularValues() / felt.norm();
      EXPECT_LE(sizes[sizes.size() - 1], 1e-14) << m << " faces of " << sides << " in " << angle;
      EXPECT_GE(sizes[sizes.size() - 2], 3e-4) << m << " faces of " << sides << " in " << angle;
    }
}

TEST(LimitBasis, LedPointsLieWhereTheirLeadersPutThem) {
  const auto bent = [](SurfaceMesh mesh) {
    for (Vec3& x : mesh.points) x.z() = 0.2 * x.x() * x.x() - 0.1 * x.x() * x.y() + 0.3 * x.y();
    return mesh;
  };
  for (const MeshPoints meaning : {MeshPoints::control, MeshPoints::surface})
    for (const auto& [sides, m, angle, led] :
         {std::tuple(4, 2, 0.5 * pi, 6u), {4, 3, 0.5 * pi, 12u}, {4, 5, pi, 5u}, {4, 3, pi, 0u}, {3, 9, pi, 4u}}) {
      const ControlMesh mesh = control_mesh(bent(sector(sides, m, angle)), "sector", meaning);
      EXPECT_EQ(mesh.led_points.size(), led);
      for (std::size_t p = mesh.free_points(); p < mesh.points.size(); ++p) {
        Vec3 sum = Vec3::Zero();
        mesh.for_each_free(static_cast<std::int32_t>(p), [&](std::int32_t q, Real w) { sum += w * mesh.points[q]; });
        EXPECT_LE((sum - mesh.points[p]).norm(), 1e-12);
      }
    }
}

TEST(LimitBasis, IsTheBicubicBSplineOnARegularPatch) {
  const ControlMesh mesh = patch(1, 1, rectangle(1, 1));
  const Vec2 t(0.3, 0.8);
  const LimitBasis basis = limit_basis(mesh, all_faces(mesh), std::vector{t});
  ASSERT_EQ(basis.points.size(), 16u);
  const auto N = [](Real x) {
    return std::array{(1 - x) * (1 - x) * (1 - x) / 6, (3 * x * x * x - 6 * x * x + 4) / 6,
                      (-3 * x * x * x + 3 * x * x + 3 * x + 1) / 6, x * x * x / 6};
  };
  const auto dN = [](Real x) {
    return std::array{-(1 - x) * (1 - x) / 2, (3 * x * x - 4 * x) / 2, (-3 * x * x + 2 * x + 1) / 2, x * x / 2};
  };
  const auto ddN = [](Real x) { return std::array{1 - x, 3 * x - 2, 1 - 3 * x, x}; };
  for (int a = 0; a < 16; ++a) {
    const Vec3& p = mesh.points[basis.points[a]];
    const int i = static_cast<int>(std::lround(p[0])) + 1, j = static_cast<int>(std::lround(p[1])) + 1;
    const BasisWeights& w = basis.row(0, 0)[a];
    EXPECT_NEAR(w.value, N(t[0])[i] * N(t[1])[j], 1e-15);
    EXPECT_NEAR(w.d1, dN(t[0])[i] * N(t[1])[j], 1e-15);
    EXPECT_NEAR(w.d2, N(t[0])[i] * dN(t[1])[j], 1e-15);
    EXPECT_NEAR(w.d11, ddN(t[0])[i] * N(t[1])[j], 1e-15);
    EXPECT_NEAR(w.d12, dN(t[0])[i] * dN(t[1])[j], 1e-15);
    EXPECT_NEAR(w.d22, N(t[0])[i] * ddN(t[1])[j], 1e-15);
  }
}

TEST(LimitBasis, DerivativesAreThoseOfTheSurfaceAlsoNearIrregularPoints) {
  const ControlMesh mesh = irregular_patch(12, 12, [](Real s, Real t) { return Vec3(s, t, s * t * t); });
  const Real h = 1e-4;
  for (const Vec2& t : {Vec2(0.2113, 0.2113), Vec2(0.1127, 0.8873), Vec2(0.45, 0.6)}) {
    const std::vector<Vec2> at = {
        t, t + Vec2(h, 0), t - Vec2(h, 0), t + Vec2(0, h), t - Vec2(0, h), t + Vec2(h, h), t - Vec2(h, h)};
    const LimitBasis basis = limit_basis(mesh, all_faces(mesh), at);
    for (std::int64_t e = 0; e < basis.faces(); ++e) {
      const Jet j = jet(mesh, basis, e, 0);
      const auto x = [&](int s) { return jet(mesh, basis, e, s).x; };
      const Vec3 d11 = (x(1) + x(2) - 2 * j.x) / (h * h), d22 = (x(3) + x(4) - 2 * j.x) / (h * h);
      // Faces measure 1/8; differences err by h^2 times the next derivatives, and by 1e-16 / h^2 = 1e-8.
      EXPECT_LT((j.d1 - (x(1) - x(2)) / (2 * h)).norm(), 1e-8);
      EXPECT_LT((j.d2 - (x(3) - x(4)) / (2 * h)).norm(), 1e-8);
      EXPECT_LT((j.d11 - d11).norm(), 2e-7);
      EXPECT_LT((j.d22 - d22).norm(), 2e-7);
      EXPECT_LT((j.d12 - ((x(5) + x(6) - 2 * j.x) / (h * h) - d11 - d22) / 2).norm(), 2e-7);
    }
  }
}

TEST(LimitBasis, AtGaussPointsOfIrregularFacesItIsTheExactLimit) {
  // Four refinements leave regular faces around the Gauss points, where the basis is a plain B-spline.
  ControlMesh mesh = irregular_patch(12, 12, [](Real s, Real t) { return Vec3(s, t, std::sin(4 * s) * t); });
  const Real g = 0.5 - 0.5 / std::sqrt(3.0);
  const LimitBasis coarse = limit_basis(mesh, all_faces(mesh), std::vector{Vec2(g, g)});
  ControlMesh fine = mesh;
  for (int level = 0; level < 3; ++level) fine = refined(fine);
  // In the corner child of the corner child ... the coordinates are 8 g - 1 past one child: g = 0.2113 lies in the
  // child of child 0 that is child 2, of which the quarter holds 8 g - 1 = 0.69 in both directions.
  for (std::int64_t e = 0; e < mesh.material_faces; ++e) {
    const std::int64_t f = 4 * (4 * (4 * e + 0) + 0) + 2;
    const Real u = 8 * g - 1;
    const LimitBasis basis = limit_basis(fine, std::vector{f}, std::vector{Vec2(1 - u, 1 - u)});
    const Jet a = jet(mesh, coarse, e, 0), b = jet(fine, basis, 0, 0);
    EXPECT_LT((a.x - b.x).norm(), 1e-14);
    // Child 2 starts with the opposite corner, so both its axes run backwards.
    EXPECT_LT((a.d1 + 8 * b.d1).norm(), 1e-13);
    EXPECT_LT((a.d11 - 64 * b.d11).norm(), 1e-11);
    EXPECT_LT((a.d12 - 64 * b.d12).norm(), 1e-11);
  }
}

TEST(Patch, MeetsASmoothSurfaceToFourthOrder) {
  const Real radius = 2;
  std::vector<Real> errors;
  for (const int n : {4, 8, 16}) {
    const ControlMesh mesh = patch(n, n, cylinder(radius, 3, -0.7, 0.9));
    const LimitBasis basis = limit_basis(mesh, all_faces(mesh), std::vector{Vec2(0, 0), Vec2(0.5, 0.5), Vec2(1, 0.3)});
    Real worst = 0;
    for (std::int64_t e = 0; e < basis.faces(); ++e)
      for (int s = 0; s < basis.samples; ++s) {
        const Vec3 x = jet(mesh, basis, e, s).x;
        worst = std::max(worst, std::abs(std::hypot(x[0], x[2]) - radius));
      }
    errors.push_back(worst);
  }
  // A face spans h = 0.1 rad: the spline of fourth order errs by about h^4 / 36 of the radius.
  EXPECT_LT(errors[2], 4e-6 * radius);
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 4, 0.2);
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 4, 0.1);
}

TEST(Patch, EdgesOfARectangleAreStraightAndTextureFollows) {
  for (const ControlMesh& mesh : {patch(8, 8, rectangle(3, 2)), irregular_patch(12, 12, rectangle(3, 2))}) {
    const DrawnLimit drawn = drawn_limit(mesh, 3);
    const Box box = bounds_of(drawn.mesh);
    EXPECT_LT((box.lower - Vec3(0, 0, 0)).norm() + (box.upper - Vec3(3, 2, 0)).norm(), 1e-14);
    EXPECT_NEAR(area_of(drawn.mesh), 6, 1e-13);
  }
  const ControlMesh mesh = patch(4, 2, rectangle(3, 2));
  EXPECT_LT((mesh.texture[5][2] - Vec2(0.5, 1)).norm(), 1e-15);
}

TEST(Patch, IrregularOnesHaveFourPointsOfThreeAndFourOfFiveEdges) {
  const ControlMesh mesh = irregular_patch(16, 16, rectangle(1, 1));
  std::vector<int> edges(mesh.points.size(), 0);
  for (const std::int32_t p : mesh.faces.corners()) ++edges[p];
  std::vector<bool> inside;
  limit_points(mesh, inside);
  int three = 0, five = 0;
  for (std::size_t p = 0; p < edges.size(); ++p) {
    if (!inside[p]) continue;
    three += edges[p] == 3;
    five += edges[p] == 5;
    EXPECT_TRUE(edges[p] >= 3 && edges[p] <= 5);
  }
  EXPECT_EQ(three, 4);
  EXPECT_EQ(five, 4);
}

TEST(Tube, LiesOnItsCylinder) {
  const ControlMesh mesh = tube(16, 4, cylinder(1, 2, 0, 2 * pi));
  const LimitBasis basis = limit_basis(mesh, all_faces(mesh), std::vector{Vec2(0, 0), Vec2(0.5, 0.5)});
  for (std::int64_t e = 0; e < basis.faces(); ++e)
    for (int s = 0; s < 2; ++s) {
      const Jet j = jet(mesh, basis, e, s);
      // Fourth order: the error at a corner is about (2 pi / 16)^4 / 36 = 7e-4.
      EXPECT_NEAR(std::hypot(j.x[0], j.x[2]), 1, 1e-3);
      EXPECT_GT(j.d1.cross(j.d2).dot(Vec3(j.x[0], 0, j.x[2])), 0);  // the normal points outwards
    }
}

TEST(DrawnLimit, JoinsFaces) {
  const ControlMesh mesh = tube(6, 2, cylinder(1, 2, 0, 2 * pi));
  const DrawnLimit drawn = drawn_limit(mesh, 4);
  EXPECT_EQ(drawn.mesh.face_count(), 16 * 12);
  const MeshReport report = check(drawn.mesh);
  EXPECT_EQ(report.components, 1);
  EXPECT_EQ(report.open_edges.count, 2 * 6 * 4);
  EXPECT_EQ(report.non_manifold_edges.count + report.flipped_edges.count + report.duplicate_faces.count +
                report.degenerate_faces.count,
            0);
}

TEST(DrawnLimit, HasThePointsOfEachDrawnFaceWhereTheLimitHasThem) {
  for (const ControlMesh& mesh : {tube(6, 2, cylinder(1, 2, 0, 2 * pi)), irregular_patch(12, 12, rectangle(3, 2)),
                                  control_mesh(test::irregular_square(), "square", MeshPoints::surface)}) {
    for (const int n : {1, 3, 4}) {
      const DrawnFace drawn(mesh.sides(), n);
      const DrawnLimit limit = drawn_limit(mesh, n);
      const LimitBasis basis = limit_basis(mesh, all_faces(mesh), drawn.points);
      ASSERT_EQ(limit.number.size(), drawn.points.size() * static_cast<std::size_t>(mesh.material_faces));
      std::vector<int> named(limit.mesh.points.size(), 0);
      for (std::int64_t f = 0; f < mesh.material_faces; ++f)
        for (int s = 0; s < basis.samples; ++s) {
          const std::int32_t point = limit.number[static_cast<std::size_t>(f * basis.samples + s)];
          ++named[static_cast<std::size_t>(point)];
          EXPECT_LT((jet(mesh, basis, f, s).x - limit.mesh.points[static_cast<std::size_t>(point)]).norm(), 1e-14);
        }
      EXPECT_EQ(std::ranges::count(named, 0), 0);
      const MeshReport report = check(limit.mesh);
      EXPECT_EQ(report.components, 1);
      EXPECT_EQ(report.non_manifold_edges.count + report.flipped_edges.count + report.duplicate_faces.count +
                    report.degenerate_faces.count + report.unused_points.count,
                0);
      EXPECT_EQ(limit.mesh.face_count(), n * n * mesh.material_faces);
      EXPECT_EQ(limit.mesh.face(0).size(), static_cast<std::size_t>(mesh.sides()));
    }
  }
}

TEST(DrawnLimit, KeepsGroupsTextureAndTheOrderOfPoints) {
  for (const bool quads : {true, false}) {
    const std::string faces = quads ? "g left\nf 1/1 2/2 5/5 4/4\ng right\nf 2/2 3/3 6/6 5/5\n"
                                    : "g left\nf 1/1 2/2 4/4\nf 2/2 5/5 4/4\ng right\nf 2/2 3/3 5/5\nf 3/3 6/6 5/5\n";
    const SurfaceMesh given = read_mesh("strip.obj",
                                        "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nv 1 1 0\nv 2 1 0\n"
                                        "vt 0 0\nvt 0.5 0\nvt 1 0\nvt 0 1\nvt 0.5 1\nvt 1 1\n" +
                                            faces + "g seam\np 2 5\n");
    const ControlMesh mesh = control_mesh(given, "strip.obj", MeshPoints::surface);
    const DrawnLimit limit = drawn_limit(mesh, 2);
    for (std::size_t p = 0; p < given.points.size(); ++p)
      EXPECT_LT((limit.mesh.points[p] - given.points[p]).norm(), 1e-10);
    EXPECT_EQ(limit.mesh.groups, given.groups);
    for (std::int64_t f = 0; f < limit.mesh.face_count(); ++f) {
      Vec3 middle = Vec3::Zero();
      Vec2 of_texture = Vec2::Zero();
      const auto face = limit.mesh.face(f);
      for (std::size_t k = 0; k < face.size(); ++k) {
        middle += limit.mesh.points[face[k]] / static_cast<Real>(face.size());
        of_texture +=
            limit.mesh.texture[limit.mesh.offsets[f] + static_cast<std::int64_t>(k)] / static_cast<Real>(face.size());
      }
      EXPECT_EQ(limit.mesh.groups[limit.mesh.group[f]], middle[0] < 1 ? "left" : "right");
      EXPECT_LT((of_texture - Vec2(middle[0] / 2, middle[1])).norm(), 1e-10);
    }
    const auto seam = std::ranges::find(limit.mesh.groups, "seam") - limit.mesh.groups.begin();
    for (const std::int32_t p : limit.mesh.group_points[seam]) EXPECT_NEAR(limit.mesh.points[p][0], 1, 1e-10);
    EXPECT_EQ(limit.mesh.group_points[seam].size(), 3);
  }
}

}  // namespace
}  // namespace weft
