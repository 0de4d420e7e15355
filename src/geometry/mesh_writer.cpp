#include "weft/geometry/mesh_writer.hpp"

#include <fmt/format.h>

#include <bit>
#include <iterator>
#include <type_traits>

namespace weft {

namespace {

static_assert(std::endian::native == std::endian::little, "PLY files are written as numbers lie in memory");

template <class T>
  requires std::is_arithmetic_v<T>
void append(std::string& bytes, T number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(T));
}

void append(std::string& bytes, const Vec3& x) {
  for (int a = 0; a < 3; ++a) append(bytes, static_cast<float>(x[a]));
}

bool has_texture(const SurfaceMesh& mesh) { return !mesh.texture.empty(); }
bool has_groups(const SurfaceMesh& mesh) { return !mesh.group.empty(); }

}  // namespace

std::string obj_text(const SurfaceMesh& mesh) {
  std::string text = "# Written by Weft; metres\n";
  const auto out = std::back_inserter(text);
  for (const Vec3& x : mesh.points) fmt::format_to(out, "v {:.9g} {:.9g} {:.9g}\n", x[0], x[1], x[2]);
  for (const Vec2& t : mesh.texture) fmt::format_to(out, "vt {:.9g} {:.9g}\n", t[0], t[1]);
  std::int32_t group = -1;
  for (std::int64_t f = 0; f < mesh.face_count(); ++f) {
    if (has_groups(mesh) && mesh.group[f] != group) {
      group = mesh.group[f];
      fmt::format_to(out, "g {}\n", group < 0 ? "" : mesh.groups[group]);
    }
    text += 'f';
    std::int64_t texture = mesh.offsets[f];
    for (const std::int32_t corner : mesh.face(f)) {
      fmt::format_to(out, " {}", corner + 1);
      if (has_texture(mesh)) fmt::format_to(out, "/{}", ++texture);
    }
    text += '\n';
  }
  for (std::size_t g = 0; g < mesh.group_points.size(); ++g) {
    if (mesh.group_points[g].empty()) continue;
    fmt::format_to(out, "g {}\np", mesh.groups[g]);
    for (const std::int32_t point : mesh.group_points[g]) fmt::format_to(out, " {}", point + 1);
    text += '\n';
  }
  return text;
}

std::string ply_bytes(const SurfaceMesh& mesh, std::span<const Vec3> velocities) {
  std::string bytes = "ply\nformat binary_little_endian 1.0\ncomment Written by Weft; metres\n";
  const auto out = std::back_inserter(bytes);
  if (has_groups(mesh))
    for (std::size_t g = 0; g < mesh.groups.size(); ++g)
      fmt::format_to(out, "comment group {} {}\n", g, mesh.groups[g]);
  fmt::format_to(out, "element vertex {}\nproperty float x\nproperty float y\nproperty float z\n", mesh.points.size());
  if (!velocities.empty()) bytes += "property float vx\nproperty float vy\nproperty float vz\n";
  fmt::format_to(out, "element face {}\nproperty list uchar int vertex_indices\n", mesh.face_count());
  if (has_texture(mesh)) bytes += "property list uchar float texcoord\n";
  if (has_groups(mesh)) bytes += "property int group\n";
  bytes += "end_header\n";
  for (std::size_t p = 0; p < mesh.points.size(); ++p) {
    append(bytes, mesh.points[p]);
    if (!velocities.empty()) append(bytes, velocities[p]);
  }
  for (std::int64_t f = 0; f < mesh.face_count(); ++f) {
    append(bytes, static_cast<std::uint8_t>(mesh.face(f).size()));
    for (const std::int32_t corner : mesh.face(f)) append(bytes, corner);
    if (has_texture(mesh)) {
      append(bytes, static_cast<std::uint8_t>(2 * mesh.face(f).size()));
      for (std::int64_t c = mesh.offsets[f]; c < mesh.offsets[f + 1]; ++c)
        for (int a = 0; a < 2; ++a) append(bytes, static_cast<float>(mesh.texture[c][a]));
    }
    if (has_groups(mesh)) append(bytes, mesh.group[f]);
  }
  return bytes;
}

}  // namespace weft
