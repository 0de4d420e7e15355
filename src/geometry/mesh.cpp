// Polygon meshes: triangles, measures by the divergence theorem, and checks by sorted edges.

#include "weft/geometry/mesh.hpp"

#include "weft/base/check.hpp"

#include <fmt/format.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace weft {

void SurfaceMesh::add_face(std::span<const std::int32_t> face) {
  corners.insert(corners.end(), face.begin(), face.end());
  offsets.push_back(static_cast<std::int64_t>(corners.size()));
}

void SurfaceMesh::append(const SurfaceMesh& other) {
  const auto shift = static_cast<std::int32_t>(points.size());
  const auto corner_shift = static_cast<std::int64_t>(corners.size());
  points.insert(points.end(), other.points.begin(), other.points.end());
  for (const std::int32_t corner : other.corners) corners.push_back(corner + shift);
  for (std::size_t f = 1; f < other.offsets.size(); ++f) offsets.push_back(other.offsets[f] + corner_shift);
  groups.clear();
  group.clear();
  texture.clear();
}

namespace {

using Triangle = std::array<std::int32_t, 3>;

/// Twice the area of a polygon times its unit normal [Newell]. Relative to the first corner: keeps digits far out.
Vec3 area_vector(const SurfaceMesh& mesh, std::span<const std::int32_t> face) {
  const Vec3& base = mesh.points[face[0]];
  Vec3 sum = Vec3::Zero();
  for (std::size_t a = 1; a + 1 < face.size(); ++a)
    sum += (mesh.points[face[a]] - base).cross(mesh.points[face[a + 1]] - base);
  return sum;
}

/// Cuts off ears: corners that turn left, and whose triangle holds no other corner, as seen along the polygon's normal.
void add_ears(const SurfaceMesh& mesh, std::span<const std::int32_t> face, std::vector<Triangle>& out) {
  const Vec3 normal = area_vector(mesh, face);
  const Real rounding =
      1e-12 * normal.squaredNorm();  // a corner on the rim of an ear blocks it, whichever way it rounds
  std::vector<std::int32_t> rest(face.begin(), face.end());
  const auto turn = [&](std::int32_t a, std::int32_t b, std::int32_t c) {
    const Vec3& base = mesh.points[b];
    return (mesh.points[c] - base).cross(mesh.points[a] - base).dot(normal);
  };
  while (rest.size() > 3) {
    const std::size_t n = rest.size();
    std::size_t ear = 0;  // if rounding or a twisted polygon leaves no ear, any corner must do
    for (std::size_t k = 0; k < n; ++k) {
      const std::int32_t a = rest[(k + n - 1) % n], b = rest[k], c = rest[(k + 1) % n];
      const auto blocks = [&](std::int32_t p) {
        return p != a && p != b && p != c && turn(a, b, p) >= -rounding && turn(b, c, p) >= -rounding &&
               turn(c, a, p) >= -rounding;
      };
      if (turn(a, b, c) > rounding && std::none_of(rest.begin(), rest.end(), blocks)) {
        ear = k;
        break;
      }
    }
    out.push_back({rest[(ear + n - 1) % n], rest[ear], rest[(ear + 1) % n]});
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(ear));
  }
  out.push_back({rest[0], rest[1], rest[2]});
}

/// Sums f(a, b, c) over all triangles, corners relative to `origin`.
template <class F>
void for_each_triangle(const SurfaceMesh& mesh, const Vec3& origin, F f) {
  for (const Triangle& t : triangles_of(mesh))
    f(Vec3(mesh.points[t[0]] - origin), Vec3(mesh.points[t[1]] - origin), Vec3(mesh.points[t[2]] - origin));
}

Vec3 middle_of(const SurfaceMesh& mesh) {
  const Box box = bounds_of(mesh);
  return 0.5 * (box.lower + box.upper);
}

}  // namespace

std::vector<Triangle> triangles_of(const SurfaceMesh& mesh) {
  std::vector<Triangle> triangles;
  triangles.reserve(mesh.corners.size());
  for (std::int64_t f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    if (face.size() == 3) triangles.push_back({face[0], face[1], face[2]});
    else if (face.size() > 3) add_ears(mesh, face, triangles);
  }
  return triangles;
}

UsedPoints used_points(std::span<const Triangle> triangles, std::size_t points) {
  UsedPoints used{std::vector<std::int32_t>(points, -1), {}};
  for (const Triangle& triangle : triangles)
    for (const std::int32_t corner : triangle) {
      if (used.number[corner] >= 0) continue;
      used.number[corner] = static_cast<std::int32_t>(used.points.size());
      used.points.push_back(corner);
    }
  return used;
}

SurfaceMesh placed(SurfaceMesh mesh, const Placement& placement) {
  for (Vec3& p : mesh.points) p = placement(p);
  return mesh;
}

SurfaceMesh reversed(SurfaceMesh mesh) {
  for (std::int64_t f = 0; f < mesh.face_count(); ++f) {
    std::reverse(mesh.corners.begin() + mesh.offsets[f], mesh.corners.begin() + mesh.offsets[f + 1]);
    if (!mesh.texture.empty())
      std::reverse(mesh.texture.begin() + mesh.offsets[f], mesh.texture.begin() + mesh.offsets[f + 1]);
  }
  return mesh;
}

Box bounds_of(const SurfaceMesh& mesh) {
  Box box;
  for (const Vec3& p : mesh.points) box.include(p);
  return box;
}

Real area_of(const SurfaceMesh& mesh) {
  Real area = 0;
  for_each_triangle(mesh, middle_of(mesh),
                    [&](const Vec3& a, const Vec3& b, const Vec3& c) { area += 0.5 * (b - a).cross(c - a).norm(); });
  return area;
}

Real volume_of(const SurfaceMesh& mesh) {
  Real volume = 0;  // of the tetrahedra between the triangles and the origin
  for_each_triangle(mesh, middle_of(mesh),
                    [&](const Vec3& a, const Vec3& b, const Vec3& c) { volume += a.dot(b.cross(c)) / 6; });
  return volume;
}

// --- Checks ---------------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t places_shown = 5;

void note(Finding& finding, const std::string& place) {
  ++finding.count;
  if (finding.first.size() < places_shown) finding.first.push_back(place);
}

struct Edge {
  std::int32_t low, high;
  bool forward;  ///< The face runs from low to high.
  bool operator<(const Edge& other) const { return std::pair(low, high) < std::pair(other.low, other.high); }
};

bool sound(const SurfaceMesh& mesh, std::span<const std::int32_t> face) {
  const auto points = static_cast<std::int32_t>(mesh.points.size());
  return face.size() >= 3 && std::all_of(face.begin(), face.end(), [&](auto i) { return i >= 0 && i < points; });
}

bool degenerate(const SurfaceMesh& mesh, std::span<const std::int32_t> face) {
  std::vector<std::int32_t> sorted(face.begin(), face.end());
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return true;
  Real longest = 0;
  for (const auto i : face) longest = std::max(longest, (mesh.points[i] - mesh.points[face[0]]).norm());
  // Rounding of coordinates near the origin leaves about 1e-16 of the square of the face's size.
  return area_vector(mesh, face).norm() <= 1e-15 * longest * longest;
}

/// Number of parts that share no point, among the points that faces use.
std::int64_t count_components(const SurfaceMesh& mesh, const std::vector<bool>& used) {
  std::vector<std::int32_t> parent(mesh.points.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::int32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (std::int64_t f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    if (!sound(mesh, face)) continue;
    for (const auto i : face) parent[root(i)] = root(face[0]);
  }
  std::int64_t components = 0;
  for (std::size_t i = 0; i < parent.size(); ++i) components += used[i] && parent[i] == static_cast<std::int32_t>(i);
  return components;
}

void check_edges(std::vector<Edge>& edges, MeshReport& report) {
  std::sort(edges.begin(), edges.end());
  for (std::size_t begin = 0, end = 0; begin < edges.size(); begin = end) {
    while (end < edges.size() && !(edges[begin] < edges[end])) ++end;
    const std::string place = fmt::format("{}-{}", edges[begin].low, edges[begin].high);
    if (end - begin == 1) note(report.open_edges, place);
    if (end - begin > 2) note(report.non_manifold_edges, place);
    if (end - begin == 2 && edges[begin].forward == edges[begin + 1].forward) note(report.flipped_edges, place);
  }
}

void check_duplicates(const SurfaceMesh& mesh, MeshReport& report) {
  std::vector<std::pair<std::vector<std::int32_t>, std::int64_t>> faces;
  for (std::int64_t f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    faces.emplace_back(std::vector(face.begin(), face.end()), f);
    std::sort(faces.back().first.begin(), faces.back().first.end());
  }
  std::sort(faces.begin(), faces.end());
  for (std::size_t k = 1; k < faces.size(); ++k)
    if (faces[k].first == faces[k - 1].first) note(report.duplicate_faces, fmt::format("{}", faces[k].second));
}

}  // namespace

bool MeshReport::closed() const {
  return components > 0 && non_finite_points.count == 0 && bad_indices.count == 0 && degenerate_faces.count == 0 &&
         duplicate_faces.count == 0 && open_edges.count == 0 && non_manifold_edges.count == 0 &&
         flipped_edges.count == 0;
}

MeshReport check(const SurfaceMesh& mesh) {
  MeshReport report;
  for (std::size_t i = 0; i < mesh.points.size(); ++i)
    if (!mesh.points[i].allFinite()) note(report.non_finite_points, fmt::format("{}", i));

  std::vector<bool> used(mesh.points.size(), false);
  std::vector<Edge> edges;
  edges.reserve(mesh.corners.size());
  for (std::int64_t f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    if (!sound(mesh, face)) {
      note(report.bad_indices, fmt::format("{}", f));
      continue;
    }
    if (degenerate(mesh, face)) note(report.degenerate_faces, fmt::format("{}", f));
    for (std::size_t a = 0; a < face.size(); ++a) {
      const std::int32_t i = face[a], j = face[(a + 1) % face.size()];
      used[i] = true;
      if (i != j) edges.push_back({std::min(i, j), std::max(i, j), i < j});
    }
  }
  check_edges(edges, report);
  check_duplicates(mesh, report);
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i]) note(report.unused_points, fmt::format("{}", i));
  report.components = count_components(mesh, used);
  if (report.closed()) report.volume = volume_of(mesh);
  return report;
}

void require_closed(const SurfaceMesh& mesh, const std::string& name) {
  const MeshReport report = check(mesh);
  if (report.closed() && report.volume > 0) return;

  std::string text = fmt::format("{}: this mesh does not enclose a solid.", name);
  const auto tell = [&](const Finding& finding, const char* what, const char* cure) {
    if (finding.count == 0) return;
    text += fmt::format("\n  {} {} ({}{}): {}", finding.count, what, fmt::join(finding.first, ", "),
                        finding.count > static_cast<std::int64_t>(finding.first.size()) ? ", ..." : "", cure);
  };
  tell(report.non_finite_points, "points that are not finite", "export the mesh again.");
  tell(report.bad_indices, "faces with missing points", "export the mesh again.");
  tell(report.degenerate_faces, "faces without area", "dissolve degenerate faces in a mesh editor.");
  tell(report.duplicate_faces, "faces given twice", "remove duplicate faces.");
  tell(report.open_edges, "open edges", "fill the holes, or merge points that lie on each other.");
  tell(report.non_manifold_edges, "edges of more than two faces",
       "remove inner walls, or split parts that only touch.");
  tell(report.flipped_edges, "edges between faces of opposite orientation", "make the normals consistent.");
  if (report.components == 0) text += "\n  It has no faces.";
  if (report.closed() && report.volume <= 0)
    text += fmt::format("\n  It is inside out (enclosed volume {:.3g} m^3): flip the normals.", report.volume);
  text += "\n  (Points, faces and edges are counted from 0.)";
  throw Error(ExitCode::geometry, text);
}

}  // namespace weft
