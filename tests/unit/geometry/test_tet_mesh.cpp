// Meshes of tetrahedra: blocks, nodes amid edges, outer faces, what is refused, Gmsh files.

#include "weft/base/error.hpp"
#include "weft/geometry/tet_mesh.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Real volume_of(const TetMesh& mesh) {
  Real volume = 0;
  for (std::int64_t t = 0; t < mesh.count(); ++t) {
    const auto tet = mesh.tet(t);
    volume += six_volumes(mesh.points[tet[0]], mesh.points[tet[1]], mesh.points[tet[2]], mesh.points[tet[3]]) / 6;
  }
  return volume;
}

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
  EXPECT_THAT(refused({0, 1, 2, 3, 1, 4, 2, 3, 1, 2, 0, 3}, points), HasSubstr("three tetrahedra or more"));
  EXPECT_THAT(refused({0, 1, 2, 3, 1, 2, 0, 3, 1, 4, 2, 3}, points), HasSubstr("bad.msh"));
  EXPECT_THAT(refused({0, 1, 2, 3}, points), HasSubstr("1 of 5 points belong to no tetrahedron, first 4"));
  std::vector<Vec3> flat = points;
  flat[3] = Vec3(0.3, 0.3, 0);
  EXPECT_THAT(refused({0, 1, 2, 3, 1, 4, 2, 3}, flat), HasSubstr("are flat"));
  EXPECT_THAT(refused({0, 1, 2, 3, 0, 1, 2, 3}, {points.begin(), points.begin() + 4}), HasSubstr("there twice"));
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

TEST(MshReader, BothVersionsGiveTetrahedraAndGroups) {
  for (const std::string& text : {msh2, msh4}) {
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
  }
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
  EXPECT_THAT(refused(msh2, "2.2 0 8", "2.2 1 8"), HasSubstr("save the mesh without \"binary\""));
  EXPECT_THAT(refused(msh2, "5 1 1 1\n", "5 1 one 1\n"), HasSubstr("m.msh:15:5: expected a number, found `one`"));
  EXPECT_THAT(refused(msh2, "5 1 1 1\n", "4 1 1 1\n"), HasSubstr("the node 4 is there twice"));
  EXPECT_THAT(refused(msh2, "2 5 3 4\n", "2 8 3 4\n"), HasSubstr("the node 8 is not in the file"));
  EXPECT_THAT(refused(msh2, "4 4 2 0 1", "4 5 2 0 1"), HasSubstr("found elements of kind 5"));
  EXPECT_THAT(refused(msh2, "$Elements\n5", "$Elements\n9"),
              HasSubstr("expected a whole number, found `$EndElements`"));
  EXPECT_THAT(refused(msh4, "$EndElements\n", ""), HasSubstr("expected $EndElements, found the end of the file"));
  EXPECT_THAT(refused(msh4, "2 6 1 9", "2 -6 1 9"), HasSubstr("expected 6 nodes, as many as the blocks have, found `-6`"));
  EXPECT_THAT(message_of([] { read_msh("m.msh", ""); }), HasSubstr("the file is empty"));
  EXPECT_THAT(message_of([&] { read_msh("m.msh", msh2.substr(0, msh2.find("$Elements"))); }),
              HasSubstr("the file holds no tetrahedra"));
}

}  // namespace
}  // namespace weft
