#include "bodies/shell_cage.hpp"

#include "weft/base/check.hpp"
#include "weft/bodies/incidence.hpp"
#include "weft/parallel/send.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace weft {

std::vector<std::int64_t> ShellCage::numbers() const {
  std::vector<std::int64_t> numbers;
  for (const Material& m : material) numbers.push_back(m.number);
  return numbers;
}

std::vector<std::int32_t> ShellCage::points() const {
  std::vector<std::int32_t> points;
  for (const Face& face : faces) points.insert(points.end(), face.corners().begin(), face.corners().end());
  sort_unique(points);
  return points;
}

ShellDescription ShellCage::as_shell(const ShellDescription& like, const MeshPiece& piece) const {
  ShellDescription part{like.name,     {},         like.law, like.yield, like.density, {}, like.direction,
                        like.in_plane, like.across};
  ControlMesh& mesh = part.mesh;
  mesh.points.resize(piece.points.size());
  mesh.material_faces = static_cast<std::int64_t>(material.size());
  mesh.faces = FaceList(like.mesh.sides());
  FaceList others = mesh.faces;
  std::size_t next = 0;  // of the material
  for (const Face& face : faces) {
    std::vector<std::int32_t> rows;
    for (const std::int32_t p : face.corners()) {
      rows.push_back(row_in(piece, p));
      WEFT_ENSURE(rows.back() >= 0);
      mesh.points[static_cast<std::size_t>(rows.back())] = face.places[rows.size() - 1];
    }
    const bool is_material = next < material.size() && material[next].number == face.number;
    (is_material ? mesh.faces : others).push_back(rows);
    next += is_material ? 1 : 0;
  }
  WEFT_ENSURE(next == material.size());
  for (std::size_t f = 0; f < others.size(); ++f) mesh.faces.push_back(std::as_const(others)[f]);
  for (const Material& m : material) {
    part.thickness.push_back(m.thickness);
    if (m.has_texture) mesh.texture.push_back(m.texture);
  }
  return part;
}

ShellCage cage_of(const ShellDescription& shell, std::span<const std::int64_t> faces) {
  const ControlMesh& mesh = shell.mesh;
  ShellCage cage;
  for (const std::int64_t f : faces) {
    const bool has_texture = !mesh.texture.empty();
    cage.material.push_back({f, shell.thickness[static_cast<std::size_t>(f)], has_texture,
                             has_texture ? mesh.texture[static_cast<std::size_t>(f)] : std::array<Vec2, 4>{}});
  }
  for (const std::int64_t f : faces_around(mesh, faces)) {
    const auto corners = mesh.faces[static_cast<std::size_t>(f)];
    ShellCage::Face& face =
        cage.faces.emplace_back(f, std::array<std::int32_t, 4>{}, std::array<Vec3, 4>{}, mesh.sides());
    for (std::size_t c = 0; c < corners.size(); ++c) {
      face.points[c] = corners[c];
      face.places[c] = mesh.points[static_cast<std::size_t>(corners[c])];
    }
  }
  return cage;
}

ShellCage send_cage(const Comm& comm, const ShellCage& cage, std::span<const int> to) {
  ShellCage arrived;
  arrived.material = send(comm, cage.material, to);
  // A face goes wherever one goes that it has a corner in common with.
  const std::vector<std::int32_t> points = cage.points();
  std::vector<std::int32_t> corners;  // as many of each face
  for (const ShellCage::Face& face : cage.faces)
    for (const std::int32_t p : face.corners())
      corners.push_back(static_cast<std::int32_t>(std::lower_bound(points.begin(), points.end(), p) - points.begin()));
  const Incidence corners_at(corners, points.size());
  std::vector<std::pair<int, std::size_t>> journeys;  // rank and face
  std::size_t f = 0;
  for (std::size_t m = 0; m < cage.material.size(); ++m) {
    while (cage.faces[f].number != cage.material[m].number) ++f;
    const auto sides = static_cast<std::size_t>(cage.faces[f].sides);
    for (std::size_t c = 0; c < sides; ++c)
      for (const std::int32_t corner : corners_at.at(static_cast<std::size_t>(corners[sides * f + c])))
        journeys.emplace_back(to[m], static_cast<std::size_t>(corner) / sides);
  }
  sort_unique(journeys);
  std::vector<ShellCage::Face> faces;
  std::vector<int> ranks;
  for (const auto& [rank, face] : journeys) {
    faces.push_back(cage.faces[face]);
    ranks.push_back(rank);
  }
  arrived.faces = send(comm, faces, ranks);

  const auto by_number = [](const auto& a, const auto& b) { return a.number < b.number; };
  std::sort(arrived.material.begin(), arrived.material.end(), by_number);
  std::sort(arrived.faces.begin(), arrived.faces.end(), by_number);
  const auto same = [](const auto& a, const auto& b) { return a.number == b.number; };
  arrived.faces.erase(std::unique(arrived.faces.begin(), arrived.faces.end(), same), arrived.faces.end());
  return arrived;
}

}  // namespace weft
