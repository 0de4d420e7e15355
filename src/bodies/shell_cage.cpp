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

namespace {

constexpr auto by_number = [](const auto& a, const auto& b) { return a.number < b.number; };
constexpr auto by_point = [](const ShellCage::Led& a, const ShellCage::Led& b) { return a.point < b.point; };

template <class T, class Less>
void sort_and_merge(std::vector<T>& all, const Less& less) {
  std::sort(all.begin(), all.end(), less);
  const auto same = [&](const T& a, const T& b) { return !less(a, b) && !less(b, a); };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
}

/// The control points of all faces, ascending; those that are led are last.
std::vector<std::int32_t> corners_of(const ShellCage& cage) {
  std::vector<std::int32_t> points;
  for (const ShellCage::Face& face : cage.faces)
    points.insert(points.end(), face.corners().begin(), face.corners().end());
  sort_unique(points);
  return points;
}

}  // namespace

std::vector<std::int32_t> ShellCage::points() const {
  std::vector<std::int32_t> points = corners_of(*this);
  points.resize(points.size() - led_points.size());
  return points;
}

ShellDescription ShellCage::as_shell(const ShellDescription& like, const MeshPiece& piece) const {
  ShellDescription part{like.name,     {},         like.law, like.yield, like.density, {}, like.direction,
                        like.in_plane, like.across};
  ControlMesh& mesh = part.mesh;
  mesh.points.resize(piece.points.size() + led_points.size());
  const auto row_of = [&](std::int32_t p) {
    const auto led = std::lower_bound(led_points.begin(), led_points.end(), Led{p, {}}, by_point);
    if (led != led_points.end() && led->point == p)
      return static_cast<std::int32_t>(piece.points.size()) + static_cast<std::int32_t>(led - led_points.begin());
    const std::int32_t row = row_in(piece, p);
    WEFT_ENSURE(row >= 0);
    return row;
  };
  for (const Led& led : led_points) {
    LedPoint& by_rows = mesh.led_points.emplace_back(led.follows);
    for (std::int32_t k = 0; k < by_rows.count; ++k) by_rows.points[k] = row_of(by_rows.points[k]);
  }
  mesh.material_faces = static_cast<std::int64_t>(material.size());
  mesh.faces = FaceList(like.mesh.sides());
  FaceList others = mesh.faces;
  std::size_t next = 0;  // of the material
  for (const Face& face : faces) {
    std::vector<std::int32_t> rows;
    for (const std::int32_t p : face.corners()) {
      rows.push_back(row_of(p));
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
      if (static_cast<std::size_t>(corners[c]) >= mesh.free_points())
        cage.led_points.push_back({corners[c], mesh.led_points[corners[c] - mesh.free_points()]});
    }
  }
  sort_and_merge(cage.led_points, by_point);
  return cage;
}

ShellCage send_cage(const Comm& comm, const ShellCage& cage, std::span<const int> to) {
  ShellCage arrived;
  arrived.material = send(comm, cage.material, to);
  // A face goes wherever one goes that it has a corner in common with, and takes the led points among its own along.
  const std::vector<std::int32_t> points = corners_of(cage);
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
  std::vector<ShellCage::Led> led_points;
  std::vector<int> ranks, ranks_of_led;
  for (const auto& [rank, face] : journeys) {
    faces.push_back(cage.faces[face]);
    ranks.push_back(rank);
    for (const std::int32_t p : faces.back().corners()) {
      const auto led =
          std::lower_bound(cage.led_points.begin(), cage.led_points.end(), ShellCage::Led{p, {}}, by_point);
      if (led == cage.led_points.end() || led->point != p) continue;
      led_points.push_back(*led);
      ranks_of_led.push_back(rank);
    }
  }
  arrived.faces = send(comm, faces, ranks);
  arrived.led_points = send(comm, led_points, ranks_of_led);

  sort_and_merge(arrived.material, by_number);
  sort_and_merge(arrived.faces, by_number);
  sort_and_merge(arrived.led_points, by_point);
  return arrived;
}

}  // namespace weft
