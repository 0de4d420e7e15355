#include "weft/geometry/mesh_writer.hpp"

#include <fmt/format.h>

#include <bit>
#include <iterator>

namespace weft {

namespace {

static_assert(std::endian::native == std::endian::little, "PLY files are written as numbers lie in memory");

template <class T>
void append(std::string& bytes, T number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(T));
}

}  // namespace

std::string obj_text(const SurfaceMesh& mesh) {
  std::string text = "# Written by Weft; metres\n";
  for (const Vec3& x : mesh.points)
    fmt::format_to(std::back_inserter(text), "v {:.9g} {:.9g} {:.9g}\n", x[0], x[1], x[2]);
  for (std::int64_t f = 0; f < mesh.face_count(); ++f) {
    text += 'f';
    for (const std::int32_t corner : mesh.face(f)) fmt::format_to(std::back_inserter(text), " {}", corner + 1);
    text += '\n';
  }
  return text;
}

std::string ply_bytes(const SurfaceMesh& mesh) {
  std::string bytes = fmt::format(
      "ply\nformat binary_little_endian 1.0\ncomment Written by Weft; metres\n"
      "element vertex {}\nproperty float x\nproperty float y\nproperty float z\n"
      "element face {}\nproperty list uchar int vertex_indices\nend_header\n",
      mesh.points.size(), mesh.face_count());
  for (const Vec3& x : mesh.points)
    for (int a = 0; a < 3; ++a) append(bytes, static_cast<float>(x[a]));
  for (std::int64_t f = 0; f < mesh.face_count(); ++f) {
    append(bytes, static_cast<std::uint8_t>(mesh.face(f).size()));
    for (const std::int32_t corner : mesh.face(f)) append(bytes, corner);
  }
  return bytes;
}

}  // namespace weft
