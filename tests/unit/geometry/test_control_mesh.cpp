// Control meshes: the outer row, refinement and lines across edges, seen in the limit surface and its known masks.

#include "weft/geometry/control_mesh.hpp"

#include "weft/base/error.hpp"
#include "weft/geometry/mesh_reader.hpp"
#include "weft/geometry/patches.hpp"
#include "weft/geometry/subdivision.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <set>

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

SurfaceMesh polygons(const std::vector<Vec3>& points, const std::vector<std::vector<std::int32_t>>& faces) {
  SurfaceMesh mesh;
  mesh.points = points;
  for (const auto& face : faces) mesh.add_face(face);
  return mesh;
}

/// Unit squares of the plane z = 0 whose lower left corners are listed.
SurfaceMesh squares(const std::vector<std::array<int, 2>>& places) {
  SurfaceMesh mesh;
  std::vector<std::array<int, 2>> known;
  const auto point = [&](int i, int j) {
    const auto found = std::find(known.begin(), known.end(), std::array<int, 2>{i, j});
    if (found != known.end()) return static_cast<std::int32_t>(found - known.begin());
    known.push_back({i, j});
    mesh.points.emplace_back(i, j, 0);
    return static_cast<std::int32_t>(known.size() - 1);
  };
  for (const auto& [i, j] : places) mesh.add_face({point(i, j), point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)});
  return mesh;
}

/// Squares around a square hole of `hole` squares on a side.
SurfaceMesh ring(int hole) {
  std::vector<std::array<int, 2>> places;
  for (int j = 0; j < hole + 2; ++j)
    for (int i = 0; i < hole + 2; ++i)
      if (i == 0 || j == 0 || i == hole + 1 || j == hole + 1) places.push_back({i, j});
  return squares(places);
}

std::vector<std::int64_t> all_faces(const ControlMesh& mesh) {
  std::vector<std::int64_t> faces(mesh.material_faces);
  for (std::size_t f = 0; f < faces.size(); ++f) faces[f] = static_cast<std::int64_t>(f);
  return faces;
}

Vec3 limit_at(const ControlMesh& mesh, std::int64_t face, const Vec2& t) {
  const LimitBasis basis = limit_basis(mesh, std::vector{face}, std::vector{t});
  Vec3 x = Vec3::Zero();
  for (std::int64_t a = 0; a < basis.points_in(0); ++a) x += basis.row(0, 0)[a].value * mesh.points[basis.points[a]];
  return x;
}

/// Area and centroid of the limit surface by 4 x 4 Gauss points.
Real limit_area(const ControlMesh& mesh) {
  std::vector<Vec2> at;
  std::vector<Real> weight;
  for (const auto& [u, wu] : {std::pair{0.0694318442029737, 0.1739274225687269},
                              {0.3300094782075719, 0.3260725774312731},
                              {0.6699905217924281, 0.3260725774312731},
                              {0.9305681557970263, 0.1739274225687269}})
    for (const auto& [v, wv] : {std::pair{0.0694318442029737, 0.1739274225687269},
                                {0.3300094782075719, 0.3260725774312731},
                                {0.6699905217924281, 0.3260725774312731},
                                {0.9305681557970263, 0.1739274225687269}}) {
      at.emplace_back(u, v);
      weight.push_back(wu * wv);
    }
  const LimitBasis basis = limit_basis(mesh, all_faces(mesh), at);
  Real area = 0;
  for (std::int64_t e = 0; e < basis.faces(); ++e)
    for (int s = 0; s < basis.samples; ++s) {
      Vec3 a1 = Vec3::Zero(), a2 = Vec3::Zero();
      for (std::int64_t a = 0; a < basis.points_in(e); ++a) {
        a1 += basis.row(e, s)[a].d1 * mesh.points[basis.points_of(e)[a]];
        a2 += basis.row(e, s)[a].d2 * mesh.points[basis.points_of(e)[a]];
      }
      area += weight[s] * a1.cross(a2).norm();
    }
  return area;
}

TEST(ControlMesh, OneSquareGetsARingOfEightMirroredFaces) {
  const ControlMesh mesh = control_mesh(squares({{0, 0}}), "square");
  EXPECT_EQ(mesh.material_faces, 1);
  EXPECT_EQ(mesh.faces.size(), 9u);
  EXPECT_EQ(mesh.points.size(), 16u);
  std::set<std::pair<int, int>> places;
  for (const Vec3& p : mesh.points) places.insert({static_cast<int>(p[0]), static_cast<int>(p[1])});
  EXPECT_EQ(places.size(), 16u);
  EXPECT_EQ(*places.begin(), std::pair(-1, -1));
  EXPECT_EQ(*places.rbegin(), std::pair(2, 2));
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {  // all turned the same way
    const auto face = mesh.faces[f];
    const Vec3 a = mesh.points[face[1]] - mesh.points[face[0]], b = mesh.points[face[3]] - mesh.points[face[0]];
    EXPECT_DOUBLE_EQ(a.cross(b)[2], 1);
  }
}

TEST(ControlMesh, EveryPointOfTheMaterialIsSurroundedByFaces) {
  // A ring with a hole has outward and inward corners; an L has both kinds next to each other.
  for (const auto& mesh : {control_mesh(ring(2), "ring"), control_mesh(squares({{0, 0}, {1, 0}, {0, 1}}), "L"),
                           irregular_patch(12, 14, rectangle(1, 1))}) {
    std::vector<bool> exists;
    const auto limit = limit_points(mesh, exists);
    for (std::int64_t f = 0; f < mesh.material_faces; ++f)
      for (const std::int32_t p : mesh.faces[f]) EXPECT_TRUE(exists[p]);
    for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
      const auto face = mesh.faces[f];
      const Vec3 a = mesh.points[face[1]] - mesh.points[face[0]], b = mesh.points[face[3]] - mesh.points[face[0]];
      EXPECT_GT(a.cross(b)[2], 0);
    }
  }
}

TEST(ControlMesh, FlatRegionsWithInwardCornersKeepTheirArea) {
  EXPECT_NEAR(limit_area(control_mesh(squares({{0, 0}, {1, 0}, {0, 1}}), "L")), 3, 1e-13);
  EXPECT_NEAR(limit_area(control_mesh(ring(3), "ring")), 16, 1e-13);
  EXPECT_NEAR(limit_area(control_mesh(ring(2), "ring")), 12, 1e-13);
}

TEST(ControlMesh, RefinementKeepsTheLimitSurfaceAndItsFacesInOrder) {
  const auto bump = [](Real s, Real t) { return Vec3(s, t, 0.3 * std::sin(3 * s) * std::cos(2 * t)); };
  for (const ControlMesh& mesh :
       {patch(3, 4, bump), irregular_patch(12, 12, bump), tube(5, 3, cylinder(1, 2, 0, 2 * std::numbers::pi))}) {
    const ControlMesh fine = refined(mesh);
    EXPECT_EQ(fine.material_faces, 4 * mesh.material_faces);
    // Corner c of a face and its neighbours run along the child's first and last side.
    const std::array<Vec2, 4> corner = {Vec2(0, 0), Vec2(1, 0), Vec2(1, 1), Vec2(0, 1)};
    for (std::int64_t f = 0; f < mesh.material_faces; f += 3)
      for (int c = 0; c < 4; ++c) {
        const Vec2 along = corner[(c + 1) % 4] - corner[c], up = corner[(c + 3) % 4] - corner[c];
        const Vec2 at = corner[c] + 0.5 * (0.6 * along + 0.5 * up);
        EXPECT_LT((limit_at(mesh, f, at) - limit_at(fine, 4 * f + c, {0.6, 0.5})).norm(), 1e-14) << f;
        EXPECT_LT((fine.texture[4 * f + c][0] - mesh.texture[f][c]).norm(), 1e-15);
      }
  }
}

/// Squares of a map.
SurfaceMesh squares_of(int across, int along, const SurfaceMap& map) {
  SurfaceMesh mesh;
  for (int j = 0; j <= along; ++j)
    for (int i = 0; i <= across; ++i) mesh.points.push_back(map(Real(i) / across, Real(j) / along));
  const auto at = [&](int i, int j) { return j * (across + 1) + i; };
  for (int j = 0; j < along; ++j)
    for (int i = 0; i < across; ++i) mesh.add_face({at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
  return mesh;
}

/// Cut in two along random diagonals.
SurfaceMesh cut(const SurfaceMesh& squares, unsigned seed) {
  std::mt19937 random(seed);
  SurfaceMesh mesh;
  mesh.points = squares.points;
  for (std::int64_t f = 0; f < squares.face_count(); ++f) {
    const auto p = squares.face(f);
    const std::size_t k = random() % 2;
    mesh.add_face({p[k], p[k + 1], p[k + 2]});
    mesh.add_face({p[k], p[k + 2], p[(k + 3) % 4]});
  }
  return mesh;
}

TEST(ControlMesh, RefinedTrianglesKeepTheLimitSurfaceAndTheirOrder) {
  const auto bump = [](Real s, Real t) { return Vec3(s, t, 0.3 * std::sin(3 * s) * std::cos(2 * t)); };
  const ControlMesh mesh = control_mesh(cut(squares_of(6, 5, bump), 3), "net"), fine = refined(mesh);
  ASSERT_EQ(fine.material_faces, 4 * mesh.material_faces);
  const std::array<Vec2, 3> corner{Vec2(0, 0), Vec2(1, 0), Vec2(0, 1)};
  for (std::int64_t f = 0; f < mesh.material_faces; ++f)
    for (int c = 0; c < 4; ++c) {
      const auto middle = [&](int k) -> Vec2 { return (corner[k % 3] + corner[(k + 1) % 3]) / 2; };
      const std::array<Vec2, 3> child =
          c == 3 ? std::array{middle(0), middle(1), middle(2)} : std::array{corner[c], middle(c), middle(c + 2)};
      const Vec2 at = child[0] + 0.3 * (child[1] - child[0]) + 0.45 * (child[2] - child[0]);
      EXPECT_LT((limit_at(mesh, f, at) - limit_at(fine, 4 * f + c, {0.3, 0.45})).norm(), 1e-14) << f << " " << c;
    }
}

TEST(ControlMesh, DividedMeshesPassThroughTheirPointsAndKeepNumbersAndGroups) {
  const auto bump = [](Real s, Real t) { return Vec3(s, t, 0.1 * std::sin(3 * s) * std::cos(2 * t)); };
  for (SurfaceMesh given : {squares_of(6, 5, bump), cut(squares_of(6, 5, bump), 5)}) {
    given.groups = {"left", "rim"};
    for (std::int64_t f = 0; f < given.face_count(); ++f) given.group.push_back(f % 2 == 0 ? 0 : -1);
    given.group_points = {{}, {0, 1, 2}};
    const ControlMesh once = control_mesh(given, "net", MeshPoints::surface), mesh = divided(once, "net");
    std::vector<bool> exists;
    const std::vector<Vec3> limits = limit_points(mesh, exists);
    for (std::size_t p = 0; p < given.points.size(); ++p) {
      EXPECT_LT((limits[p] - given.points[p]).norm(), 0.04);  // along the surface
      EXPECT_LT(std::abs(limits[p].z() - bump(limits[p].x(), limits[p].y()).z()), 1e-3);
    }
    ASSERT_EQ(mesh.material_faces, 4 * given.face_count());
    for (std::int64_t f = 0; f < mesh.material_faces; ++f) EXPECT_EQ(mesh.group[f], given.group[f / 4]);
    EXPECT_EQ(mesh.group_points[1].size(), 5u);  // and between them
    for (const std::int32_t p : mesh.group_points[1]) EXPECT_LT(std::abs(limits[p].y()), 4e-3);
    if (mesh.sides() == 4) {
      EXPECT_NEAR(limit_area(mesh), limit_area(once), 1e-4);
    }
  }
}

/// Squares of a map with periods 1 in the first and, if `closed`, in the second direction.
SurfaceMesh wound(int around, int along, bool closed, const SurfaceMap& map) {
  SurfaceMesh mesh;
  const int rows = closed ? along : along + 1;
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < around; ++i) mesh.points.push_back(map(Real(i) / around, Real(j) / along));
  const auto at = [&](int i, int j) { return j % rows * around + i % around; };
  for (int j = 0; j < along; ++j)
    for (int i = 0; i < around; ++i) mesh.add_face({at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
  return mesh;
}

/// Largest distance of the limit surface from what it should be.
template <class Distance>
Real largest_distance(const ControlMesh& mesh, Distance&& distance) {
  Real largest = 0;
  for (const Vec3& x : drawn_limit(mesh, 4).mesh.points) largest = std::max(largest, std::abs(distance(x)));
  return largest;
}

TEST(ControlMesh, SurfacesThroughPointsMeetATorusAndABandOfASphereToFourthOrder) {
  const Real turn = 2 * std::numbers::pi;
  const SurfaceMap torus = [=](Real s, Real t) {
    const Real r = 2 + std::cos(turn * t);
    return Vec3(r * std::cos(turn * s), r * std::sin(turn * s), std::sin(turn * t));
  };
  const auto torus_error = [&](int n, MeshPoints meaning) {
    return largest_distance(control_mesh(wound(2 * n, n, true, torus), "torus", meaning),
                            [](const Vec3& x) { return std::hypot(std::hypot(x[0], x[1]) - 2, x[2]) - 1; });
  };
  const auto band_error = [&](int n, MeshPoints meaning) {  // between two free rims across which it is curved
    const SurfaceMap band = sphere(1, {0, turn}, {-turn / 6, turn / 6});
    return largest_distance(control_mesh(wound(3 * n, n, false, band), "band", meaning),
                            [](const Vec3& x) { return x.norm() - 1; });
  };
  EXPECT_NEAR(std::log2(torus_error(12, MeshPoints::control) / torus_error(24, MeshPoints::control)), 2, 0.2);
  EXPECT_NEAR(std::log2(band_error(8, MeshPoints::control) / band_error(16, MeshPoints::control)), 2, 0.2);
  EXPECT_NEAR(std::log2(torus_error(12, MeshPoints::surface) / torus_error(24, MeshPoints::surface)), 4, 0.2);
  EXPECT_NEAR(std::log2(band_error(8, MeshPoints::surface) / band_error(16, MeshPoints::surface)), 4, 0.2);
}

TEST(ControlMesh, SurfacesPassThroughThePointsOfIrregularMeshesWithInwardCornersAndTriangles) {
  SurfaceMesh bent = squares({{0, 0}, {1, 0}, {2, 0}, {3, 0}, {0, 1}, {3, 1}, {0, 2}});
  for (Vec3& x : bent.points) x[2] = 0.1 * x[0] * x[0] - 0.2 * x[0] * x[1] + 0.03 * x[1] * x[1] * x[1];
  SurfaceMesh cut = bent;
  cut.offsets = {0};
  cut.corners.clear();
  for (std::int64_t f = 0; f < bent.face_count(); ++f) {
    const auto q = bent.face(f);
    if (f == 1) cut.add_face({q[0], q[1], q[2], q[3]});
    else {
      cut.add_face({q[0], q[1], q[2]});
      cut.add_face({q[0], q[2], q[3]});
    }
  }
  for (const SurfaceMesh& mesh : {bent, cut}) {
    const ControlMesh through = control_mesh(mesh, "bent", MeshPoints::surface);
    const ControlMesh plain = control_mesh(mesh, "bent");
    EXPECT_EQ(through.faces, plain.faces);
    std::vector<bool> exists;
    const auto limit = limit_points(through, exists), missed = limit_points(plain, exists);
    std::vector<Vec3> normals(mesh.points.size(), Vec3::Zero());
    for (std::int64_t f = 0; f < mesh.face_count(); ++f) {
      const auto face = mesh.face(f);
      for (std::size_t c = 0, n = face.size(); c < n; ++c) {
        const Vec3& x = mesh.points[face[c]];
        normals[face[c]] += (mesh.points[face[(c + 1) % n]] - x).cross(mesh.points[face[(c + n - 1) % n]] - x);
      }
    }
    for (Vec3& normal : normals) normal.normalize();
    Real distance = 0;
    for (std::size_t p = 0; p < mesh.points.size(); ++p) {
      const Vec3 off = limit[p] - mesh.points[p];  // along the surface
      EXPECT_LT(std::abs(off.dot(normals[p])), 3e-4) << p;
      EXPECT_LT(off.norm(), 0.03) << p;
      distance = std::max(distance, std::abs((missed[p] - mesh.points[p]).dot(normals[p])));
    }
    EXPECT_GT(distance, 0.01);
  }
}

TEST(ControlMesh, ACubeHasASurfaceThroughItsPoints) {
  // Though points that move in and out by turns along all axes leave limits where they are: (9 - 4 * 3 + 3) / 24 = 0.
  SurfaceMesh cube;
  for (int k = 0; k < 8; ++k) cube.points.emplace_back(k & 1, k >> 1 & 1, k >> 2);
  for (const std::array<std::int32_t, 4>& face :
       {std::array{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}})
    cube.add_face({face[0], face[1], face[2], face[3]});
  const ControlMesh mesh = control_mesh(cube, "cube.obj", MeshPoints::surface);
  std::vector<bool> exists;
  const std::vector<Vec3> limits = limit_points(mesh, exists);
  for (std::size_t p = 0; p < 8; ++p) EXPECT_LT((limits[p] - cube.points[p]).norm(), 1e-12);
}

TEST(ControlMesh, LimitPointsAreThoseOfTheLimitSurface) {
  const ControlMesh mesh =
      refined(refined(irregular_patch(12, 12, [](Real s, Real t) { return Vec3(s, t, s * s * t); })));
  std::vector<bool> exists;
  const auto limit = limit_points(mesh, exists);
  // The evaluated surface is approximate within 2^-6 of an irregular corner.
  for (std::int64_t f = 0; f < mesh.material_faces; f += 7)
    EXPECT_LT((limit[mesh.faces[f][2]] - limit_at(mesh, f, {1, 1})).norm(), 1e-6);
}

TEST(ControlMesh, TrianglesAndPentagonsBecomeQuadsWithGroupsAndTexture) {
  const SurfaceMesh house =
      read_mesh("house.obj",
                "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nv 1 2 0\nvt 0 0\nvt 1 0\nvt 1 0.5\nvt 0 0.5\nvt 0.5 1\n"
                "g wall\nf 1/1 2/2 3/3 4/4\ng roof\nf 4/4 3/3 5/5\n");
  EXPECT_THAT(house.groups, ElementsAre("wall", "roof"));
  EXPECT_THAT(house.group, ElementsAre(0, 1));
  ASSERT_EQ(house.texture.size(), 7u);
  const ControlMesh mesh = control_mesh(house, "house");
  EXPECT_EQ(mesh.material_faces, 7);
  EXPECT_THAT(mesh.group, ElementsAre(0, 0, 0, 0, 1, 1, 1));
  EXPECT_LT((mesh.texture[0][2] - Vec2(0.5, 0.25)).norm(), 1e-15);  // the middle of the wall
  EXPECT_LT((mesh.texture[4][1] - Vec2(0.5, 0.5)).norm(), 1e-15);   // of the edge between both
}

TEST(ControlMesh, PointsOfOtherThanTheRegularNumberOfEdgesAreCounted) {
  EXPECT_EQ(irregular_share(control_mesh(squares({{0, 0}, {1, 0}, {0, 1}, {1, 1}}), "squares")), 0);
  EXPECT_EQ(irregular_share(control_mesh(squares({{0, 0}}), "square")), 0);  // it has no point inside
  const SurfaceMesh fan = polygons({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 0}},
                                   {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}});
  EXPECT_EQ(irregular_share(control_mesh(fan, "fan")), 1);
}

TEST(ControlMesh, FoldsAreKnownByTheirAngle) {
  for (const Real angle : {0.0, 0.3, std::numbers::pi / 2, 2.5}) {
    const auto map = [&](Real s, Real t) {
      const Real beyond = std::max(Real(0), s - 0.5);
      return Vec3(std::min(s, Real(0.5)) + beyond * std::cos(angle), t, beyond * std::sin(angle));
    };
    const ControlMesh mesh = control_mesh(squares_of(4, 3, map), "bracket");
    EXPECT_NEAR(sharpest_fold(mesh), angle, 1e-7);
    EXPECT_LE(sharpest_fold(divided(mesh, "bracket")), 0.8 * angle + 1e-7);
  }
}

TEST(ControlMesh, UnevenPatternsAreKnownBySize) {
  constexpr int n = 40;
  const auto net = [](Real size) {  // graded, with points off by so much in the mean square
    std::mt19937 random(7);
    std::normal_distribution<Real> normal(0, 1 / std::sqrt(Real(2)));
    const auto off = [&] { return size * normal(random); };
    const auto map = [&](Real s, Real t) { return Vec3(n * s * (1 + 0.4 * s) + off(), n * t + off(), 0); };
    const SurfaceMesh mesh = squares_of(n, n, map);
    return control_mesh(mesh, "net");
  };
  EXPECT_LT(pattern_unevenness(net(0)), 1e-3);
  EXPECT_NEAR(pattern_unevenness(net(0.1)), 0.08, 0.015);  // edges are 1 to 1.8 long
  EXPECT_LT(pattern_unevenness(divided(net(0.1), "net")), 0.02);
  EXPECT_EQ(pattern_unevenness(control_mesh(squares({{0, 0}, {1, 0}, {0, 1}, {1, 1}}), "squares")), 0);
  const auto round = tube(24, 24, cylinder(1, 2, 0, 2 * std::numbers::pi));
  EXPECT_LT(pattern_unevenness(round), 2e-3);
}

TEST(ControlMesh, FilesWithoutGroupsOrWithBareCornersHaveNone) {
  EXPECT_TRUE(read_mesh("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").groups.empty());
  const SurfaceMesh some =
      read_mesh("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvt 0 0\nf 1/1 2/1 3/1\ng late\nf 2 4 3\n");
  EXPECT_TRUE(some.texture.empty());
  EXPECT_THAT(some.group, ElementsAre(-1, 0));
}

TEST(ControlMesh, LinesAcrossTheEdgesOfARectangleReachOnePointBeyondItsCorners) {
  const ControlMesh mesh = patch(3, 2, rectangle(3, 2));
  auto sides = edge_lines(mesh);
  ASSERT_EQ(sides.size(), 4u);
  std::size_t lines = 0;
  for (const auto& side : sides) {
    lines += side.size();
    const Vec3 along = (mesh.points[side[1].boundary] - mesh.points[side[0].boundary]);
    for (std::size_t k = 0; k < side.size(); ++k) {
      const auto& [outer, boundary, inner] = side[k];
      EXPECT_LT((mesh.points[outer] + mesh.points[inner] - 2 * mesh.points[boundary]).norm(), 1e-14);
      EXPECT_NEAR((mesh.points[inner] - mesh.points[boundary]).dot(along), 0, 1e-14);
      EXPECT_NEAR(along.cross(mesh.points[inner] - mesh.points[boundary])[2], 1, 1e-14);  // material on the left
      if (k == 0) continue;
      EXPECT_LT((mesh.points[boundary] - mesh.points[side[k - 1].boundary] - along).norm(), 1e-14);
    }
  }
  EXPECT_EQ(lines, 2u * (4 + 2) + 2u * (3 + 2));
}

TEST(ControlMesh, LinesAcrossTheEndsOfATubeFormOneClosedRunEach) {
  const auto sides = edge_lines(tube(7, 3, cylinder(1, 1, 0, 2 * std::numbers::pi)));
  ASSERT_EQ(sides.size(), 2u);
  for (const auto& side : sides) {
    EXPECT_EQ(side.size(), 7u);
    std::set<std::int32_t> boundary;
    for (const EdgeLine& line : side) boundary.insert(line.boundary);
    EXPECT_EQ(boundary.size(), 7u);
  }
}

std::string message_of(const SurfaceMesh& mesh) {
  try {
    control_mesh(mesh, "cup.obj");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::geometry);
    return error.what();
  }
  return "";
}

TEST(ControlMesh, MeshesThatAreNoSurfaceAreRefused) {
  const std::vector<Vec3> points = {{0, 0, 0},  {1, 0, 0},  {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1},
                                    {0, -1, 0}, {1, -1, 0}, {2, 1, 0}, {2, 2, 0}, {1, 2, 0}};
  EXPECT_THAT(message_of(polygons(points, {{0, 1, 2, 3}, {0, 1, 5, 4}})), HasSubstr("opposite orientation"));
  EXPECT_THAT(message_of(polygons(points, {{0, 1, 2, 3}, {1, 0, 4, 5}, {1, 0, 6, 7}})),
              HasSubstr("more than two faces"));
  EXPECT_THAT(message_of(polygons(points, {{0, 1, 2, 3}, {2, 8, 9, 10}})), HasSubstr("touch in point 2"));
  EXPECT_THAT(message_of(ring(1)), HasSubstr("turns inwards at neighbouring points"));
  EXPECT_THAT(message_of(polygons(points, {})), HasSubstr("has no faces"));
  EXPECT_THAT(message_of(polygons(points, {{0, 1, 1, 3}})), HasSubstr("faces without area"));
}

TEST(ControlMesh, FansOfHundredsOfFacesAreRefusedByNumber) {
  const auto rim = [](int n) {
    std::vector<Vec3> points;
    for (int i = 0; i < n; ++i)
      points.emplace_back(std::cos(2 * std::numbers::pi * i / n), std::sin(2 * std::numbers::pi * i / n), 0);
    return points;
  };
  const auto fan = [&](int n) {
    std::vector<Vec3> points = rim(n);
    points.push_back(Vec3::Zero());
    std::vector<std::vector<std::int32_t>> faces;
    for (int i = 0; i < n; ++i) faces.push_back({n, i, (i + 1) % n});
    return polygons(points, faces);
  };
  std::vector<std::int32_t> all(400);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_THAT(message_of(fan(400)), HasSubstr("point 400 (counted from 0) has 400 faces"));
  EXPECT_THAT(message_of(polygons(rim(400), {all})), HasSubstr("face 0 (counted from 0) has 400 corners"));
  EXPECT_EQ(control_mesh(fan(40), "fan").material_faces, 40);
}

TEST(ControlMesh, GroupsThatListPointsKeepThemWhenFacesAreDivided) {
  // Two triangles beside a square; the group lists the points on the line y = 0.
  const SurfaceMesh mesh = read_mesh("a.obj",
                                     "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nv 1 1 0\nv 2 1 0\np 4\ng bottom\n"
                                     "p 1 -5\np 3\ng\nf 1 2 5 4\nf 2 3 6\nf 2 6 5\n");
  EXPECT_THAT(mesh.groups, ElementsAre("bottom"));
  ASSERT_EQ(mesh.group_points.size(), 1u);
  EXPECT_THAT(mesh.group_points[0], ElementsAre(0, 1, 2));
  ControlMesh divided = control_mesh(mesh, "a");
  for (const std::size_t count : {5, 9, 17}) {
    EXPECT_EQ(divided.group_points[0].size(), count);
    EXPECT_THAT(divided.group_points[0], ElementsAreArray(divided.given->among({0, 1, 2})));
    EXPECT_THAT(divided.given->given(), ElementsAre(0, 1, 2, 3, 4, 5));
    // The boundary bends a little where its points have not three edges; the next row is 0.1 away and more.
    for (const std::int32_t p : divided.group_points[0]) EXPECT_NEAR(divided.points[p].y(), 0, 0.05);
    divided = refined(divided);
  }
}

}  // namespace
}  // namespace weft
