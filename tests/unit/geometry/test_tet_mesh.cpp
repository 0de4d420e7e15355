// Meshes of tetrahedra: blocks, nodes amid edges, outer faces, what is refused, Gmsh files.

#include "weft/base/error.hpp"
#include "weft/geometry/primitives.hpp"
#include "weft/geometry/smooth_union.hpp"
#include "weft/geometry/tet_mesh.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <numbers>

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::geometry);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

TEST(TetMesh, ABlockIsFilledAndItsFacesAreItsSurface) {
  const TetMesh mesh = block_of_tets({Vec3(-1, 0, 2), Vec3(1, 1, 2.5)}, 0.3);  // 7 x 4 x 2 cubes
  require_sound(mesh, "block");
  EXPECT_EQ(mesh.count(), 6 * 7 * 4 * 2);
  EXPECT_EQ(mesh.points.size(), 8u * 5 * 3);
  EXPECT_NEAR(volume_of(mesh), 1, 1e-14);
  Real area = 0;
  Vec3 vector_area = Vec3::Zero();
  for (const OuterFace& face : outer_faces(mesh)) {
    std::array<Vec3, 3> x;
    for (std::size_t c = 0; c < 3; ++c)
      x[c] = mesh.points[mesh.tet(face.tet)[tet_faces[static_cast<std::size_t>(face.face)][c]]];
    const Vec3 normal = (x[1] - x[0]).cross(x[2] - x[0]) / 2;
    EXPECT_GT(normal.dot(x[0] - Vec3(0, 0.5, 2.25)), 0);  // outwards
    area += normal.norm();
    vector_area += normal;
  }
  EXPECT_NEAR(area, 2 * (2 + 1 + 0.5), 1e-13);
  EXPECT_LT(vector_area.norm(), 1e-14);
}

TEST(TetMesh, NodesAmidEdgesHalveThemAndAreShared) {
  TetMesh coarse = block_of_tets({Vec3::Zero(), Vec3::Ones()}, 0.5);
  coarse.groups["floor"].points = {0, 1, 3};
  const TetMesh mesh = with_middles(coarse);
  require_sound(mesh, "block");
  EXPECT_EQ(mesh.count(), coarse.count());
  for (std::int64_t t = 0; t < mesh.count(); ++t)
    for (std::size_t e = 0; e < tet_edges.size(); ++e) {
      const auto tet = mesh.tet(t);
      EXPECT_EQ(mesh.points[tet[4 + e]], (mesh.points[tet[tet_edges[e][0]]] + mesh.points[tet[tet_edges[e][1]]]) / 2);
    }
  // Vertices and edges: V - E + F - T = 1 of a ball.
  const auto vertices = static_cast<std::int64_t>(coarse.points.size());
  const auto edges = static_cast<std::int64_t>(mesh.points.size()) - vertices;
  const std::int64_t faces = (4 * mesh.count() + static_cast<std::int64_t>(outer_faces(mesh).size())) / 2;
  EXPECT_EQ(vertices - edges + faces - mesh.count(), 1);
  EXPECT_GT(mesh.groups.at("floor").points.size(), 3u);
  for (const std::int32_t p : mesh.groups.at("floor").points) EXPECT_EQ(mesh.points[p][2], 0);
}

/// The least and the largest angle between faces [deg].
std::array<Real, 2> dihedral_angles(const TetMesh& mesh) {
  std::array<Real, 2> angles{180, 0};
  for (std::int64_t t = 0; t < mesh.count(); ++t) {
    std::array<Vec3, 4> normals;
    for (std::size_t f = 0; f < 4; ++f) {
      std::array<Vec3, 3> x;
      for (std::size_t c = 0; c < 3; ++c) x[c] = mesh.points[mesh.tet(t)[tet_faces[f][c]]];
      normals[f] = (x[1] - x[0]).cross(x[2] - x[0]).normalized();
    }
    for (std::size_t f = 0; f < 4; ++f)
      for (std::size_t g = 0; g < f; ++g) {
        const Real angle = std::acos(std::clamp(-normals[f].dot(normals[g]), -1.0, 1.0)) * 180 / std::numbers::pi;
        angles = {std::min(angles[0], angle), std::max(angles[1], angle)};
      }
  }
  return angles;
}

TEST(TetMesh, ShapesAreFilledToTheirSurface) {
  const std::unique_ptr<Shape> ball = make_sphere(Vec3(0.3, -0.2, 0.1), 0.5);
  Real before = 0;
  for (const Real size : {0.2, 0.1, 0.05}) {
    const TetMesh mesh = tets_of_shape(*ball, size);
    require_sound(mesh, "ball");
    const auto [least, largest] = dihedral_angles(mesh);
    const Real wrong = 1 - volume_of(mesh) / (4 * std::numbers::pi / 3 * 0.125);
    std::printf("size %.2f: %lld tetrahedra, angles %.1f to %.1f, volume off by %.1e\n", size,
                static_cast<long long>(mesh.count()), least, largest, wrong);
    EXPECT_GT(least, 15);
    EXPECT_LT(largest, 150);
    for (const OuterFace& face : outer_faces(mesh))
      for (std::size_t c = 0; c < 3; ++c) {
        const Vec3& x = mesh.points[mesh.tet(face.tet)[tet_faces[static_cast<std::size_t>(face.face)][c]]];
        EXPECT_LT(std::abs(ball->surface(x).distance), 1e-12);
      }
    if (before > 0) {
      EXPECT_NEAR(before / wrong, 4, 1.5);
    }
    before = wrong;
  }
}

TEST(TetMesh, AllShapesAreFilledWhereverTheyLie) {
  const Vec3 o = Vec3::Zero();
  std::vector<std::unique_ptr<Shape>> shapes;
  shapes.push_back(make_box(Vec3(-0.5, -0.4, -0.3), Vec3(0.5, 0.4, 0.3)));
  shapes.push_back(make_cylinder(Vec3(0, 0, -0.5), Vec3(0.1, 0.2, 0.5), 0.3));
  shapes.push_back(make_torus(o, Vec3(0, 1, 1), 0.5, 0.2));
  shapes.push_back(make_ellipsoid(o, Vec3(0.6, 0.4, 0.3)));
  shapes.push_back(make_capsule(Vec3(-0.3, 0, 0), Vec3(0.3, 0.1, 0), 0.25));
  for (std::size_t s = 0; s < shapes.size(); ++s)
    for (int turn = 0; turn < 3; ++turn) {
      const Real volume = *shapes[s]->volume();
      std::unique_ptr<Shape> shape =
          placed(std::move(shapes[s]), {1, rotation_matrix(0.7 * turn * Vec3(1, 2, 3)), 0.037 * turn * Vec3(1, -1, 2)});
      const TetMesh mesh = tets_of_shape(*shape, 0.07);
      require_sound(mesh, "shape");
      const auto [least, largest] = dihedral_angles(mesh);
      std::printf("shape %zu, turn %d: angles %.1f to %.1f, volume %.4f of it\n", s, turn, least, largest,
                  volume_of(mesh) / volume);
      EXPECT_GT(least, 10);
      EXPECT_NEAR(volume_of(mesh) / volume, 1, 0.03);
      shapes[s] = std::move(shape);
    }
}

/// Cubes that double inwards fill the same volume with the same surface, face by face, by fewer tetrahedra.
TEST(TetMesh, TetrahedraGrowInwards) {
  const std::unique_ptr<Shape> ball = make_sphere(Vec3(0.3, -0.2, 0.1), 0.5);
  const std::unique_ptr<Shape> torus =
      placed(make_torus(Vec3::Zero(), Vec3(0, 1, 1), 0.6, 0.35), {1, rotation_matrix(Vec3(0.2, 0.5, 0)), Vec3::Zero()});
  for (const Shape* shape : {ball.get(), torus.get()}) {
    const TetMesh even = tets_of_shape(*shape, 0.04);
    std::int64_t before = even.count();
    for (const Real inner : {0.08, 0.16}) {
      const TetMesh mesh = tets_of_shape(*shape, 0.04, inner);
      require_sound(mesh, "shape");
      EXPECT_EQ(outer_faces(mesh).size(), outer_faces(even).size());
      EXPECT_NEAR(volume_of(mesh) / volume_of(even), 1, 1e-11);
      const auto [least, largest] = dihedral_angles(mesh);
      std::printf("inner %.2f: %lld of %lld tetrahedra, angles %.1f to %.1f\n", inner,
                  static_cast<long long>(mesh.count()), static_cast<long long>(even.count()), least, largest);
      EXPECT_GT(least, 15);
      EXPECT_LT(largest, 150);
      EXPECT_LE(mesh.count(), before);
      before = mesh.count();
    }
    EXPECT_LT(before, 0.8 * static_cast<Real>(even.count()));
  }
  const TetMesh mesh = tets_of_shape(*ball, 0.025, 0.2);  // three levels
  require_sound(mesh, "ball");
  EXPECT_LT(mesh.count(), 220000);
  EXPECT_NEAR(volume_of(mesh) / (4 * std::numbers::pi / 3 * 0.125), 1, 1e-3);
}

TEST(TetMesh, UnitsChangeNoMesh) {
  for (const Real radius : {0.1, 0.12, 0.15, 0.2})
    for (const Vec3& center : {Vec3(0, 0, 0), Vec3(0.1, 0.2, 0.3), Vec3(0.013, -0.7, 1.1)}) {
      const auto ball_in = [&](Real unit) {
        return tets_of_shape(*make_sphere(unit * center, unit * radius), unit * radius / 3);
      };
      const TetMesh in_metres = ball_in(1);
      for (const Real unit : {1e3, 1e-3, 1 / 0.0254}) {
        const TetMesh mesh = ball_in(unit);
        EXPECT_EQ(mesh.nodes, in_metres.nodes) << radius << " m at " << center.transpose();
        ASSERT_EQ(mesh.points.size(), in_metres.points.size());
        for (std::size_t v = 0; v < mesh.points.size(); ++v)
          EXPECT_LT((mesh.points[v] / unit - in_metres.points[v]).norm(), 1e-9 * radius);
      }
    }
}

TEST(TetMesh, AShapeThatFallsThroughTheLatticeIsRefused) {
  EXPECT_THAT(message_of([] { tets_of_shape(*make_sphere(Vec3(0.01, 0.02, 0.03), 1e-3), 1); }),
              HasSubstr("make \"size\" smaller"));
}

TEST(TetMesh, UnsoundMeshesAreRefused) {
  const TetMesh good{
      {Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ(), Vec3(1, 1, 1)}, 4, {0, 1, 2, 3, 1, 4, 2, 3}};
  require_sound(good, "good");
  const auto refused = [&](std::vector<std::int32_t> nodes, const std::vector<Vec3>& points) {
    return message_of([&] { require_sound({points, 4, nodes}, "bad.msh"); });
  };
  const std::vector<Vec3>& points = good.points;
  EXPECT_THAT(refused({}, points), HasSubstr("no tetrahedra"));
  EXPECT_THAT(refused({0, 1, 2, 9}, points), HasSubstr("name points that are not there"));
  EXPECT_THAT(refused({0, 1, 2, 2}, points), HasSubstr("have a node twice"));
  EXPECT_THAT(refused({0, 2, 1, 3, 1, 4, 2, 3}, points),
              HasSubstr("1 of 2 tetrahedra are inverted, first tetrahedron 0"));
  EXPECT_THAT(refused({0, 1, 2, 3, 1, 4, 2, 3, 1, 2, 3, 5},
                      {points[0], points[1], points[2], points[3], points[4], Vec3(2, 2, 2)}),
              HasSubstr("three tetrahedra or more"));
  EXPECT_THAT(refused({0, 1, 2, 3, 1, 2, 0, 3, 1, 4, 2, 3}, points), HasSubstr("bad.msh"));
  EXPECT_THAT(refused({0, 1, 2, 3}, points), HasSubstr("1 of 5 points belong to no tetrahedron, first 4"));
  std::vector<Vec3> flat = points;
  flat[3] = Vec3(0.3, 0.3, 0);
  EXPECT_THAT(refused({0, 1, 2, 3, 1, 4, 2, 3}, flat), HasSubstr("are flat"));
  EXPECT_THAT(refused({0, 1, 2, 3, 0, 1, 2, 3}, {points.begin(), points.begin() + 4}), HasSubstr("there twice"));
}

TEST(TetMesh, PiecesOfAShapeThatIsThinnerThanTheLatticeAreCounted) {
  EXPECT_EQ(pieces_of(block_of_tets({Vec3::Zero(), Vec3::Ones()}, 0.5)), 1);
  const auto dumbbell = [](Real size) {
    std::vector<std::unique_ptr<Shape>> parts;
    parts.push_back(make_sphere({0, 0, 0}, 0.3));
    parts.push_back(make_sphere({1, 0, 0}, 0.3));
    parts.push_back(make_capsule({0, 0, 0}, {1, 0, 0}, 0.03));
    return tets_of_shape(*make_smooth_union(std::move(parts), 0.01), size);
  };
  EXPECT_EQ(pieces_of(dumbbell(0.03)), 1);
  EXPECT_EQ(pieces_of(dumbbell(0.17)), 2);
}

// Two tetrahedra on the triangle 2 3 4 of the file, one of them in a group; a group of one face, one without a name.
const std::string msh2 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 5 \"the floor\"\n3 7 \"half\"\n$EndPhysicalNames\n"
    "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n9 7 7 7\n$EndNodes\n"
    "$Comments\nanything $Nodes\n$EndComments\n"
    "$Elements\n5\n1 15 2 0 1 9\n2 2 2 5 1 1 2 3\n3 4 2 7 1 1 2 3 4\n4 4 2 0 1 2 5 3 4\n5 2 2 6 1 2 5 "
    "3\n$EndElements\n";
const std::string msh4 =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 5 \"the floor\"\n3 7 \"half\"\n$EndPhysicalNames\n"
    "$Entities\n0 0 2 2\n1 0 0 0 1 1 1 1 5 0\n2 0 0 0 1 1 1 1 6 0\n1 0 0 0 1 1 1 1 7 1 1\n2 0 0 0 1 1 1 0 0\n"
    "$EndEntities\n"
    "$Nodes\n2 6 1 9\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n2 1 1 2\n5\n9\n1 1 1 0.5 0.5\n7 7 7 0 0\n"
    "$EndNodes\n"
    "$Elements\n4 4 1 4\n2 1 2 1\n1 1 2 3\n2 2 2 1\n2 2 5 3\n3 1 4 1\n3 1 2 3 4\n3 2 4 1\n4 2 5 3 4\n$EndElements\n";

/// Numbers as the bytes of a Gmsh file.
template <class T>
std::string bytes(std::initializer_list<T> numbers) {
  std::string all;
  for (const T& number : numbers) {
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), &number, sizeof(T));
    all.append(raw.data(), raw.size());
  }
  return all;
}
constexpr auto ints = bytes<std::int32_t>;
constexpr auto longs = bytes<std::uint64_t>;
constexpr auto reals = bytes<double>;

/// The same two tetrahedra in bytes.
std::string binary_start(const char* version) {
  return fmt::format("$MeshFormat\n{} 1 8\n", version) + ints({1}) +
         "\n$EndMeshFormat\n$PhysicalNames\n2\n2 5 \"the floor\"\n3 7 \"half\"\n$EndPhysicalNames\n";
}
std::string binary_msh2() {
  std::string text = binary_start("2.2") + "$Nodes\n6\n";
  int tag = 1;
  for (const Vec3& x : {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1), Vec3(1, 1, 1), Vec3(7, 7, 7)})
    text += ints({tag == 6 ? 9 : tag}) + reals({x[0], x[1], x[2]}), ++tag;
  text += "\n$EndNodes\n$Comments\n" + ints({10, 36}) + "\n$EndComments\n$Elements\n5\n";
  text += ints({15, 1, 2}) + ints({1, 0, 1, 9});
  text += ints({2, 2, 2}) + ints({2, 5, 1, 1, 2, 3}) + ints({5, 6, 1, 2, 5, 3});
  text += ints({4, 2, 2}) + ints({3, 7, 1, 1, 2, 3, 4}) + ints({4, 0, 1, 2, 5, 3, 4});
  return text + "\n$EndElements\n";
}
std::string binary_msh4() {
  std::string text = binary_start("4.1") + "$Entities\n" + longs({0, 0, 2, 2});
  const auto entity = [&](int entity_tag, std::initializer_list<std::int32_t> groups,
                          std::initializer_list<std::int32_t> around) {
    text += ints({entity_tag}) + reals({0, 0, 0, 1, 1, 1}) + longs({groups.size()}) + ints(groups) +
            longs({around.size()}) + ints(around);
  };
  entity(1, {5}, {});
  entity(2, {6}, {});
  entity(1, {7}, {1});
  entity(2, {}, {});
  text += "\n$EndEntities\n$Nodes\n" + longs({2, 6, 1, 9});
  text += ints({3, 1, 0}) + longs({4}) + longs({1, 2, 3, 4}) + reals({0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1});
  text += ints({2, 1, 1}) + longs({2}) + longs({5, 9}) + reals({1, 1, 1, 0.5, 0.5, 7, 7, 7, 0, 0});
  text += "\n$EndNodes\n$Elements\n" + longs({4, 4, 1, 4});
  text += ints({2, 1, 2}) + longs({1}) + longs({1, 1, 2, 3}) + ints({2, 2, 2}) + longs({1}) + longs({2, 2, 5, 3});
  text += ints({3, 1, 4}) + longs({1}) + longs({3, 1, 2, 3, 4}) + ints({3, 2, 4}) + longs({1}) + longs({4, 2, 5, 3, 4});
  return text + "\n$EndElements\n";
}

TEST(MshReader, BothVersionsGiveTetrahedraAndGroups) {
  for (const std::string& text : {msh2, msh4, binary_msh2(), binary_msh4()}) {
    const TetMesh mesh = read_msh("two.msh", text);
    require_sound(mesh, "two.msh");
    ASSERT_EQ(mesh.count(), 2);
    EXPECT_EQ(mesh.points.size(), 5u);  // not the one that no tetrahedron uses
    EXPECT_NEAR(volume_of(mesh), 0.5, 1e-15);
    ASSERT_EQ(mesh.groups.size(), 3u);
    EXPECT_EQ(mesh.groups.at("the floor").points.size(), 3u);
    EXPECT_THAT(mesh.groups.at("the floor").faces, ElementsAre(mesh.number_of_face(0, 0)));
    EXPECT_THAT(mesh.groups.at("half").faces, ElementsAre(0, 1, 2, 3, mesh.number_of_tet(0)));
    EXPECT_EQ(mesh.groups.at("6").faces.size(), 1u);
    EXPECT_THAT(mesh.given->given(), ElementsAre(0, 1, 2, 3, 4));
    const TetMesh quadratic = with_middles(mesh);
    ASSERT_EQ(quadratic.given->size(), quadratic.points.size());
    for (std::size_t p = 0; p < quadratic.points.size(); ++p) {
      Vec3 middle = Vec3::Zero();
      const auto ends = quadratic.given->of(p);
      for (const std::int32_t k : ends)
        middle += std::array{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1), Vec3(1, 1, 1)}[k] /
                  static_cast<Real>(ends.size());
      EXPECT_EQ(quadratic.points[p], middle);
    }
  }
}

TEST(MshReader, NamesOfGroupsKeepTheirSpaces) {
  std::string text = msh2;
  text.replace(text.find("the floor"), 9, "the  \t floor ");
  EXPECT_TRUE(read_msh("two.msh", text).groups.contains("the  \t floor "));
}

TEST(MshReader, ATetrahedronIsListedOnceForEachOfItsGroups) {
  std::string text = msh2;
  text.replace(text.find("$Elements\n5\n"), 12, "$Elements\n7\n");
  const std::string of_seven = "3 4 2 7 1 1 2 3 4\n";
  std::string again = text;
  again.insert(again.find(of_seven) + of_seven.size(), "6 4 2 8 1 1 2 3 4\n7 4 2 9 1 1 2 3 4\n");
  const TetMesh mesh = read_msh("groups.msh", again);
  require_sound(mesh, "groups.msh");
  EXPECT_EQ(mesh.count(), 2);
  for (const char* group : {"half", "8", "9"})
    EXPECT_THAT(mesh.groups.at(group).faces, ElementsAre(0, 1, 2, 3, mesh.number_of_tet(0))) << group;

  std::string twice = text;  // a group cannot have it twice
  twice.insert(twice.find(of_seven) + of_seven.size(), "6 4 2 8 1 1 2 3 4\n7 4 2 8 1 1 2 3 4\n");
  EXPECT_THAT(message_of([&] { require_sound(read_msh("groups.msh", twice), "groups.msh"); }),
              HasSubstr("there twice"));
}

TEST(MshReader, QuadraticTetrahedraHaveTheirNodesInOurOrder) {
  TetMesh made = with_middles(block_of_tets({Vec3::Zero(), Vec3::Ones()}, 1));
  std::string text = fmt::format("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", made.points.size());
  for (std::size_t p = 0; p < made.points.size(); ++p)
    text += fmt::format("{} {} {} {}\n", p + 1, made.points[p][0], made.points[p][1], made.points[p][2]);
  text += fmt::format("$EndNodes\n$Elements\n{}\n", made.count());
  for (std::int64_t t = 0; t < made.count(); ++t) {
    text += fmt::format("{} 11 0", t + 1);
    for (const int a : {0, 1, 2, 3, 4, 5, 6, 7, 9, 8})
      text += fmt::format(" {}", made.tet(t)[static_cast<std::size_t>(a)] + 1);
    text += "\n";
  }
  const TetMesh mesh = read_msh("block.msh", text + "$EndElements\n");
  ASSERT_EQ(mesh.nodes_each, 10);
  for (std::int64_t t = 0; t < mesh.count(); ++t)
    for (std::size_t e = 0; e < tet_edges.size(); ++e) {
      const auto tet = mesh.tet(t);
      EXPECT_EQ(mesh.points[tet[4 + e]], (mesh.points[tet[tet_edges[e][0]]] + mesh.points[tet[tet_edges[e][1]]]) / 2);
    }
}

TEST(MshReader, DamagedFilesAreRefusedWithTheirPlace) {
  const auto refused = [](std::string text, const std::string& old, const std::string& now) {
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    text.replace(at, old.size(), now);
    return message_of([&] { read_msh("m.msh", text); });
  };
  EXPECT_THAT(refused(msh2, "2.2 0 8", "3.0 0 8"),
              HasSubstr("m.msh:2:1: expected MSH version 2.2 or 4.1, found `3.0`"));
  EXPECT_THAT(refused(msh2, "2.2 0 8", "2.2 2 8"), HasSubstr("m.msh:2:5: expected 0, a file of text, or 1, of bytes"));
  EXPECT_THAT(refused(msh2, "2.2 0 8", "2.2 1 4"), HasSubstr("m.msh:2:7: expected numbers of 8 bytes, found `4`"));
  EXPECT_THAT(refused(msh2, "2.2 0 8", "2.2 1 8"), HasSubstr("the bytes stand in another order"));
  EXPECT_THAT(refused(msh2, "5 1 1 1\n", "5 1 one 1\n"), HasSubstr("m.msh:15:5: expected a number, found `one`"));
  EXPECT_THAT(refused(msh2, "5 1 1 1\n", "4 1 1 1\n"), HasSubstr("the node 4 is there twice"));
  EXPECT_THAT(refused(msh2, "2 5 3 4\n", "2 8 3 4\n"), HasSubstr("the node 8 is not in the file"));
  EXPECT_THAT(refused(msh2, "4 4 2 0 1", "4 5 2 0 1"), HasSubstr("found elements of kind 5"));
  EXPECT_THAT(refused(msh2, "$Elements\n5", "$Elements\n9"),
              HasSubstr("expected a whole number, found `$EndElements`"));
  EXPECT_THAT(refused(msh4, "$EndElements\n", ""), HasSubstr("expected $EndElements, found the end of the file"));
  EXPECT_THAT(refused(msh4, "2 6 1 9", "2 -6 1 9"),
              HasSubstr("expected 6 nodes, as many as the blocks have, found -6"));
  EXPECT_THAT(message_of([] { read_msh("m.msh", ""); }), HasSubstr("the file is empty"));
  for (const std::string& text : {binary_msh2(), binary_msh4()}) {
    for (std::size_t length = text.find("$Nodes"); length < text.size() - 1; ++length)
      EXPECT_THAT(message_of([&] { read_msh("m.msh", text.substr(0, length)); }), HasSubstr("m.msh")) << length;
    EXPECT_THAT(refused(text, reals({1, 1, 1}), reals({1, NAN, 1})), HasSubstr("expected a finite number"));
  }
  EXPECT_THAT(refused(binary_msh2(), ints({4, 2, 2}), ints({5, 2, 2})), HasSubstr("found elements of kind 5"));
  EXPECT_THAT(refused(binary_msh2(), ints({4, 2, 2}), ints({4, 3, 2})),
              HasSubstr("expected 1 to 2 elements of this kind, found 3"));
  EXPECT_THAT(refused(binary_msh2(), ints({2, 5, 3, 4}), ints({2, 8, 3, 4})),
              HasSubstr("the node 8 is not in the file"));
  EXPECT_THAT(refused(binary_msh4(), longs({2, 6, 1, 9}), longs({2, 7, 1, 9})), HasSubstr("expected 6 nodes"));
  EXPECT_THAT(message_of([&] { read_msh("m.msh", msh2.substr(0, msh2.find("$Elements"))); }),
              HasSubstr("the file holds no tetrahedra"));
}

}  // namespace
}  // namespace weft
