// Mesh files: good ones in every format, broken ones with their messages, and random damage.

#include "weft/base/error.hpp"
#include "weft/base/random.hpp"
#include "weft/geometry/mesh_reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct File {
  std::string name, bytes;
};

/// Appends the bytes of a number, least significant first, or last if `big`.
template <class T>
void put(std::string& bytes, T value, bool big = false) {
  std::array<char, sizeof(T)> raw;
  std::memcpy(raw.data(), &value, sizeof(T));  // the test machine is little-endian
  if (big) std::reverse(raw.begin(), raw.end());
  bytes.append(raw.data(), raw.size());
}

// A tetrahedron with corners 0, x, y, z of lengths 1, 2, 3; every file below is this one.
const std::array<Vec3, 4> tet_points = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 3)};
const std::array<std::array<int, 3>, 4> tet_faces = {{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};

std::string obj() {
  return "# a tetrahedron\n"
         "mtllib some.mtl\no tet\n"
         "v 0 0 0\nv 1.0 0 0\nv +0 2e0 -0 1.0\nv 0 0 3 0.5 0.5 0.5\n"
         "vt 0 0\nvt 1 0 0\nvn 0 0 1\n"
         "g part\nusemtl grey\ns off\n"
         "f 1 3 2\nf 1/1 2/2 4/1\nf 1//1 4//1 3//-1\nf -3/1/1 -2/2/1 \\\n -1/2/1\n";
}

std::string ply_text() {
  std::string text =
      "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\nproperty float y\n"
      "property double z\nproperty uchar red\nelement face 4\nproperty list uchar int vertex_indices\n"
      "element edge 1\nproperty int a\nend_header\n";
  for (const Vec3& p : tet_points) text += fmt::format("{} {} {} 255\n", p[0], p[1], p[2]);
  for (const auto& f : tet_faces) text += fmt::format("3 {} {} {}\n", f[0], f[1], f[2]);
  return text + "7\n";
}

std::string ply_binary(bool big) {
  std::string bytes = fmt::format(
      "ply\nformat binary_{}_endian 1.0\nelement vertex 4\nproperty double x\nproperty float y\nproperty short z\n"
      "element face 4\nproperty uchar quality\nproperty list uint8 uint vertex_index\nend_header\n",
      big ? "big" : "little");
  for (const Vec3& p : tet_points) {
    put(bytes, p[0], big);
    put(bytes, static_cast<float>(p[1]), big);
    put(bytes, static_cast<std::int16_t>(p[2]), big);
  }
  for (const auto& f : tet_faces) {
    put(bytes, std::uint8_t{9}, big);
    put(bytes, std::uint8_t{3}, big);
    for (const int i : f) put(bytes, static_cast<std::uint32_t>(i), big);
  }
  return bytes;
}

std::string stl_text() {
  std::string text = "solid tet of mine\n";
  for (const auto& f : tet_faces) {
    text += " facet normal 0 0 0\n  outer loop\n";
    for (const int i : f)
      text += fmt::format("   vertex {} {} {}\n", tet_points[i][0], tet_points[i][1], tet_points[i][2]);
    text += "  endloop\n endfacet\n";
  }
  return text + "endsolid tet of mine\n";
}

std::string stl_binary() {
  std::string bytes = "solid by name only, binary by size";
  bytes.resize(80, ' ');
  put(bytes, std::uint32_t{4});
  for (const auto& f : tet_faces) {
    for (int a = 0; a < 3; ++a) put(bytes, 0.0f);
    for (const int i : f)
      for (int a = 0; a < 3; ++a) put(bytes, static_cast<float>(tet_points[i][a]));
    put(bytes, std::uint16_t{0});
  }
  return bytes;
}

std::vector<File> good_files() {
  return {{"tet.obj", obj()},
          {"tet.ply", ply_text()},
          {"little.PLY", ply_binary(false)},
          {"big.ply", ply_binary(true)},
          {"tet.stl", stl_text()},
          {"binary.stl", stl_binary()}};
}

void expect_tetrahedron(const File& file) {
  const SurfaceMesh mesh = read_mesh(file.name, file.bytes);
  ASSERT_EQ(mesh.points.size(), 4u) << file.name;
  ASSERT_EQ(mesh.face_count(), 4) << file.name;
  EXPECT_DOUBLE_EQ(volume_of(mesh), 1) << file.name;
  EXPECT_TRUE(check(mesh).closed()) << file.name;
}

/// The message that refuses the file; empty if it is accepted.
std::string refusal(const std::string& name, const std::string& bytes) {
  try {
    read_mesh(name, bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::geometry);
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& old_part, const std::string& new_part) {
  const std::size_t at = text.find(old_part);
  EXPECT_NE(at, std::string::npos) << old_part;
  return text.replace(at, old_part.size(), new_part);
}

TEST(MeshReaderTest, EveryFormatGivesTheSameTetrahedron) {
  for (const File& file : good_files()) expect_tetrahedron(file);
}

TEST(MeshReaderTest, ObjKeepsTheOrderOfPointsAndCorners) {
  const SurfaceMesh mesh = read_mesh("tet.obj", obj());
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(mesh.points[i], tet_points[i]);
  EXPECT_THAT(mesh.corners, ElementsAre(0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3));
}

TEST(MeshReaderTest, PolygonsStayPolygons) {
  const std::string points = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 2 0\n";
  const SurfaceMesh mesh = read_mesh("a.obj", points + "f 1 2 3 4\nf 1 2 3 5 4\n");
  EXPECT_EQ(mesh.face(0).size(), 4u);
  EXPECT_EQ(mesh.face(1).size(), 5u);
}

TEST(MeshReaderTest, ObjFacesMayComeBeforeTheirPoints) {
  EXPECT_EQ(read_mesh("a.obj", "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n").face_count(), 1);
}

TEST(MeshReaderTest, WindowsLineEndsAndByteOrderMarksAreAccepted) {
  for (File file : good_files()) {
    if (file.name != "tet.obj" && file.name != "tet.ply" && file.name != "tet.stl") continue;
    std::string bytes = "\xEF\xBB\xBF";
    for (const char c : file.bytes) bytes += c == '\n' ? std::string("\r\n") : std::string(1, c);
    expect_tetrahedron({file.name, bytes});
    while (bytes.back() == '\n' || bytes.back() == '\r') bytes.pop_back();  // the last line may lack its end
    expect_tetrahedron({file.name, bytes});
  }
}

TEST(MeshReaderTest, StlPointsAreJoinedOnlyIfExactlyEqual) {
  std::string text = stl_text();
  text.replace(text.rfind("vertex 0 0 3"), 12, "vertex -0.0 0 3");  // minus zero is zero
  EXPECT_EQ(read_mesh("a.stl", text).points.size(), 4u);
  text = stl_text();
  text.replace(text.rfind("vertex 0 0 3"), 12, "vertex 0 1e-300 3");
  EXPECT_EQ(read_mesh("a.stl", text).points.size(), 5u);
}

struct Broken {
  std::string name, bytes, message;  ///< The message must hold this.
};

std::vector<Broken> broken_files() {
  const std::string p = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  std::string count_too_large = stl_binary(), count_too_small = stl_binary(), nan_corner = stl_binary();
  count_too_large[80] = 5;
  count_too_small[80] = 3;
  const float nan = std::nanf("");
  std::memcpy(nan_corner.data() + 84 + 12, &nan, 4);
  std::string binary_header_lies = stl_binary();
  binary_header_lies[0] = 'x';
  binary_header_lies[83] = 127;
  const std::string ply = ply_text(), little = ply_binary(false);
  const std::size_t rows = little.find("end_header\n") + 11;
  std::string infinite = little, bad_index = little, long_list = little, short_list = little;
  const double inf = INFINITY;
  std::memcpy(infinite.data() + rows, &inf, 8);
  const std::size_t first_face = rows + 4 * 14;
  bad_index[first_face + 2] = 4;
  long_list[first_face + 1] = static_cast<char>(200);
  short_list[first_face + 1] = 2;
  const auto ply_with = [&](const char* old_part, const char* new_part) { return replaced(ply, old_part, new_part); };
  const auto stl_with = [&](const char* old_part, const char* new_part) {
    return replaced(stl_text(), old_part, new_part);
  };

  return {
      {"a", p, "a: the name of a mesh file must end in .obj, .ply or .stl"},
      {"a.off", p, "must end in .obj, .ply or .stl"},
      // OBJ: numbers.
      {"a.obj", "", "a.obj: expected a surface, found no points"},
      {"a.obj", p, "a.obj: expected a surface, found no faces"},
      {"a.obj", "v nan 0 0\n", "a.obj:1:3: expected a finite number, found `nan`"},
      {"a.obj", "v 0 -inf 0\n", "a.obj:1:5: expected a finite number, found `-inf`"},
      {"a.obj", "v one 0 0\n", "a.obj:1:3: expected a number, found `one`"},
      {"a.obj", "\n\nv 1 0\n", "a.obj:3:6: expected the z coordinate, found the end of the line"},
      {"a.obj", "v\n", "a.obj:1:2: expected the x coordinate"},
      {"a.obj", "v 1,5 0 0\n", "a.obj:1:3: expected a number, found `1,5`"},
      {"a.obj", "v 1.5f 0 0\n", "a.obj:1:3: expected a number, found `1.5f`"},
      {"a.obj", "v 0x10 0 0\n", "expected a number, found `0x10`"},
      {"a.obj", "v 1e400 0 0\n", "a.obj:1:3: the number `1e400` is out of range"},
      {"a.obj", "v 1e-400 0 0\n", "is out of range"},
      {"a.obj", "v +-1 0 0\n", "expected a number, found `+-1`"},
      {"a.obj", "v ++1 0 0\n", "expected a number, found `++1`"},
      {"a.obj", "v - 0 0\n", "expected a number, found `-`"},
      {"a.obj", "v 1 2 3 4 5 6 7 8\n", "a.obj:1:17: expected the end of the line, found `8`"},
      {"a.obj", "v 1 2 3 red\n", "a.obj:1:9: expected a number, found `red`"},
      {"a.obj", p + "vt\n", "a.obj:4:3: expected a number"},
      {"a.obj", p + "vt 0 0 0 0\n", "a.obj:4:10: expected the end of the line"},
      {"a.obj", p + "vn 0 1\n", "a.obj:4:7: expected a number"},
      {"a.obj", p + "vn 0 1 nan\n", "a.obj:4:8: expected a finite number"},
      {"a.obj", std::string("v 1\0 0 0\n", 9), "expected a number, found `1?`"},
      {"a.obj", "v " + std::string(100, '9') + "x 0 0\n", "expected a number, found `" + std::string(40, '9') + "...`"},
      // OBJ: faces.
      {"a.obj", p + "f 1 2\n", "a.obj:4:6: expected a corner of a face, found the end of the line"},
      {"a.obj", p + "f\n", "a.obj:4:2: expected a corner of a face"},
      {"a.obj", p + "f 1 2 4\n", "a.obj:4:7: this names points 4, but the file has only 3"},
      {"a.obj", p + "f 1 2 0\n", "a.obj:4:7: points are counted from 1, found 0"},
      {"a.obj", p + "f 1 2 -4\n", "a.obj:4:7: this counts `-4` points back, but there are only 3 so far"},
      {"a.obj", "f -1 -1 -1\n" + p, "a.obj:1:3: this counts `-1` points back, but there are only 0 so far"},
      {"a.obj", p + "f 1 2 9999999999\n", "the number `9999999999` is out of range"},
      {"a.obj", p + "f 1 2 99999999999999999999\n", "is out of range"},
      {"a.obj", p + "f 1 2 3.5\n", "a.obj:4:7: expected a whole number, found `3.5`"},
      {"a.obj", p + "f 1 2 3/\n", "a.obj:4:9: expected a whole number, found ``"},
      {"a.obj", p + "f 1 2 /3\n", "a.obj:4:7: expected a whole number, found ``"},
      {"a.obj", p + "f 1/1 2 3\n", "a.obj:4:5: this names texture coordinates 1, but the file has only 0"},
      {"a.obj", p + "f 1//1 2 3\n", "a.obj:4:6: this names normals 1, but the file has only 0"},
      {"a.obj", p + "vn 0 0 1\nf 1//1 2//-2 3\n", "a.obj:5:11: this counts `-2` normals back"},
      {"a.obj", p + "f 1/1/1/1 2 3\n", "expected point/texture/normal, found `1/1/1/1`"},
      {"a.obj", p + "vn 0 0 1\nf 1// 2 3\n", "a.obj:5:6: expected a whole number, found ``"},
      {"a.obj", p + "curv 0 1 2\n", "a.obj:4:1: unknown keyword `curv`"},
      {"a.obj", p + "F 1 2 3\n", "a.obj:4:1: unknown keyword `F`"},
      {"a.obj",
       "\x7F"
       "ELF\x01\x02",
       "unknown keyword `?ELF??`"},
      // STL.
      {"a.stl", "", "a.stl: expected an STL file, found 0 bytes"},
      {"a.stl", "hello", "found 5 bytes that do not start with `solid`"},
      {"a.stl", "solid x\nendsolid x\n", "a.stl: expected a surface, found no points"},
      {"a.stl", "solid x\n", "expected `facet` or `endsolid`, found the end of the file"},
      {"a.stl", stl_with("endsolid", "solid"), "expected `facet` or `endsolid`, found `solid`"},
      {"a.stl", stl_with("facet normal 0 0 0", "facet normal 0 0"), "a.stl:3:3: expected a number, found `outer`"},
      {"a.stl", stl_with("normal 0", "normal nan"), "a.stl:2:15: expected a finite number, found `nan`"},
      {"a.stl", stl_with("outer loop", "outer"), "expected `loop`, found `vertex`"},
      {"a.stl", stl_with("   vertex 0 2 0\n", ""), "expected `vertex`, found `endloop`"},
      {"a.stl", stl_with("endloop", "vertex 1 1 1\nendloop"), "expected `endloop`, found `vertex`"},
      {"a.stl", stl_with("vertex 0 2 0", "vertex 0 2 O"), "a.stl:5:15: expected a number, found `O`"},
      {"a.stl", stl_text() + "rubbish\n", "expected `solid`, found `rubbish`"},
      {"a.stl", stl_text().substr(0, 300), "found the end of the file"},
      {"a.stl", count_too_large, "expected"},  // starts with `solid`, so it is read as text
      {"a.stl", count_too_small, "expected"},
      {"a.stl", binary_header_lies,
       "the header announces 2130706436 triangles, which take 106535321884 bytes, but the file has 284"},
      {"a.stl", nan_corner, "a.stl: byte 96: expected a finite number"},
      // PLY: header.
      {"a.ply", "", "expected `ply`, found the end of the file"},
      {"a.ply", "plx\n", "a.ply:1:1: expected `ply`, found `plx`"},
      {"a.ply", "ply\n", "expected `format`, found the end of the file"},
      {"a.ply", ply_with("ascii", "text"),
       "a.ply:2:8: expected ascii, binary_little_endian or binary_big_endian, found `text`"},
      {"a.ply", ply_with("1.0", "2.0"), "a.ply:2:14: expected the version 1.0, found `2.0`"},
      {"a.ply", ply_with("format ascii 1.0\n", ""), "expected `format`, found `element`"},
      {"a.ply", ply_with("end_header\n", ""), "found `0`"},
      {"a.ply", ply_with("element vertex 4", "element vertex -4"),
       "expected a number of rows from 0 to 2147483647, found `-4`"},
      {"a.ply", ply_with("element vertex 4", "element vertex four"),
       "a.ply:4:16: expected a whole number, found `four`"},
      {"a.ply", ply_with("element vertex 4", "element vertex 2000000000"), "announces at least"},
      {"a.ply", ply_with("element vertex 4", "element vertex 99999999999"), "expected a number of rows from 0"},
      {"a.ply", ply_with("element vertex 4", "element point 4"), "a.ply: expected an element `vertex`"},
      {"a.ply", ply_with("element face 4", "element polygon 4"), "a.ply: expected an element `face`"},
      {"a.ply", ply_with("element edge", "element face"), "the element `face` is given twice"},
      {"a.ply", ply_with("element edge", "element tristrips"), "triangle strips cannot be read"},
      {"a.ply", ply_with("property int a\n", ""), "the element `edge` has no properties"},
      {"a.ply", ply_with("property float x\n", "property float u\n"), "needs a property `x` that is a single number"},
      {"a.ply", ply_with("float y", "float x"), "the property `x` is given twice"},
      {"a.ply", ply_with("float y", "real y"), "a.ply:6:10: expected a type such as float, int or uchar, found `real`"},
      {"a.ply", ply_with("list uchar int", "list float int"), "the length of a list must be of a whole-number type"},
      {"a.ply", ply_with("list uchar int", "list uchar float"), "a list of whole numbers"},
      {"a.ply", ply_with("list uchar int", "int"), "needs a property `vertex_indices` that is a list"},
      {"a.ply", ply_with("property list uchar int vertex_indices", "property list"), "expected a type"},
      {"a.ply", ply_with("element vertex 4\n", ""), "expected an element before its first property"},
      // PLY: rows.
      {"a.ply", ply_with("0 2 0 255", "0 2 0"), "expected a number, found the end of the line"},
      {"a.ply", ply_with("0 2 0 255", "0 2 0 255 9"), "a.ply:16:11: expected the end of the line, found `9`"},
      {"a.ply", ply_with("0 2 0 255", "0 2 0 256"), "a.ply:16:7: the number `256` does not fit the type"},
      {"a.ply", ply_with("0 2 0 255", "0 inf 0 255"), "a.ply:16:3: expected a finite number"},
      {"a.ply", ply_with("3 0 2 1", "3 0 2 4"),
       "a face names point 4 (counted from 0), but the file has only 4 points"},
      {"a.ply", ply_with("3 0 2 1", "3 0 2 -1"), "face 0 names point -1, which cannot exist"},
      {"a.ply", ply_with("3 0 2 1", "2 0 2"), "face 0 has 2 corners; expected at least 3"},
      {"a.ply", ply_with("3 0 2 1", "4 0 2 1"), "expected a number, found the end of the line"},
      {"a.ply", ply_with("3 0 2 1", "3 0 2 1 3"), "expected the end of the line, found `3`"},
      {"a.ply", ply_with("\n7\n", "\n"), "expected 1 rows of the element `edge`, found the end of the file"},
      {"a.ply", ply + "8\n", "a.ply:23:1: expected the end of the file, found `8`"},
      {"a.ply", infinite, fmt::format("a.ply: byte {}: expected a finite number", rows)},
      {"a.ply", bad_index, "a face names point 4 (counted from 0)"},
      {"a.ply", long_list, "the file ends in the middle of a row"},
      {"a.ply", short_list, "face 0 has 2 corners"},
      {"a.ply", little.substr(0, little.size() - 1), "the file ends in the middle of a row"},
      {"a.ply", little.substr(0, rows + 40), "announces at least 64 bytes of rows, but only 40 follow"},
      {"a.ply", little + "x", "expected the end of the file, found 1 more bytes"},
  };
}

TEST(MeshReaderTest, BrokenFilesAreRefusedWithTheirPlace) {
  ASSERT_GE(broken_files().size(), 60u);
  for (const Broken& broken : broken_files()) {
    const std::string message = refusal(broken.name, broken.bytes);
    EXPECT_NE(message, "") << "accepted: " << broken.message << "\n" << broken.bytes.substr(0, 400);
    EXPECT_THAT(message, HasSubstr(broken.message));
  }
}

/// Changes, removes, doubles or inserts a few bytes, or cuts the end off.
std::string damaged(std::string bytes, Random random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random.uniform() * static_cast<Real>(n)); };
  const std::string_view telling = "0123456789-+.eE/ \n\rnaif#\\\"\0\xff";
  const int changes = 1 + static_cast<int>(below(4));
  for (int k = 0; k < changes && !bytes.empty(); ++k) {
    const std::size_t at = below(bytes.size()), length = std::min<std::size_t>(1 + below(12), bytes.size() - at);
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 1:
        bytes[at] = telling[below(telling.size())];
        break;
      case 2:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(at, bytes.substr(below(bytes.size()), length));
        break;
      default:
        bytes.insert(at, 1, telling[below(telling.size())]);
    }
  }
  if (below(20) == 0) bytes.resize(below(bytes.size() + 1));
  return bytes;
}

TEST(MeshReaderTest, DamagedFilesAreRefusedOrReadSoundly) {
  constexpr int trials = 100000;
  const std::vector<File> files = good_files();
  int refused = 0;
  for (int k = 0; k < trials; ++k) {
    const File& file = files[static_cast<std::size_t>(k) % files.size()];
    SurfaceMesh mesh;
    try {
      mesh = read_mesh(file.name, damaged(file.bytes, Random(11, 12, static_cast<std::uint64_t>(k))));
    } catch (const Error&) {  // any other exception fails the test
      ++refused;
      continue;
    }
    const MeshReport report = check(mesh);
    ASSERT_EQ(report.non_finite_points.count, 0) << file.name << ", trial " << k;
    ASSERT_EQ(report.bad_indices.count, 0) << file.name << ", trial " << k;
    ASSERT_LE(mesh.points.size(), file.bytes.size());
  }
  EXPECT_GT(refused, trials / 3);  // the damage does reach the checks
  EXPECT_LT(refused, trials);
}

TEST(MeshReaderTest, PlyGivesTextureCoordinatesAndGroupsOfPointsAndFaces) {
  const std::string text =
      "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty float "
      "s\n"
      "property float t\nproperty int group\nelement face 2\nproperty list uchar int vertex_indices\nproperty uchar "
      "group\n"
      "end_header\n0 0 0 0.5 0.25 3\n1 0 0 1 0 -1\n1 1 0 1 1 7\n0 1 0 0 1 3\n3 0 1 2 7\n3 0 2 3 0\n";
  const SurfaceMesh mesh = read_mesh("a.ply", text);
  EXPECT_EQ(mesh.groups, (std::vector<std::string>{"3", "7", "0"}));
  EXPECT_EQ(mesh.group, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(mesh.group_points, (std::vector<std::vector<std::int32_t>>{{0, 3}, {2}, {}}));
  ASSERT_EQ(mesh.texture.size(), 6u);
  EXPECT_EQ(mesh.texture[0], Vec2(0.5, 0.25));
  EXPECT_EQ(mesh.texture[5], Vec2(0, 1));
  EXPECT_TRUE(read_mesh("a.ply", replaced(text, "float t", "float q")).texture.empty());
}

}  // namespace
}  // namespace weft
