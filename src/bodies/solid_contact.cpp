#include "bodies/solid_contact.hpp"

#include "bodies/thickness.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

std::vector<OuterTriangle> triangles_of(const TetMesh& mesh, std::span<const OuterFace> outer) {
  constexpr std::array<std::array<std::size_t, 3>, 4> quarters{{{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}}};
  std::vector<OuterTriangle> triangles;
  for (const OuterFace& face : outer) {
    const auto node = [&](std::size_t k) {
      return mesh.tet(face.tet)[static_cast<std::size_t>(tet_faces[static_cast<std::size_t>(face.face)][k])];
    };
    if (mesh.nodes_each == 4) triangles.push_back({face.tet, {node(0), node(1), node(2)}});
    else
      for (const auto& [a, b, c] : quarters) triangles.push_back({face.tet, {node(a), node(b), node(c)}});
  }
  return triangles;
}

namespace {

/// spacing: of the points [m].
void find_thickness(const TetMesh& mesh, Real spacing, Real thick, std::span<SolidContactPoint> points) {
  std::vector<Vec3> places, normals;
  for (const SolidContactPoint& point : points) {
    places.push_back(point.place);
    normals.push_back(normal_of(point.vertices, mesh.points));
  }
  const std::vector<Real> thickness = thickness_behind(places, normals, spacing, thick);
  for (std::size_t q = 0; q < thickness.size(); ++q) points[q].thickness = thickness[q];
}

}  // namespace

std::vector<SolidContactPoint> contact_points_of(const TetMesh& mesh, std::span<const OuterFace> outer,
                                                 std::span<const Real> vertex_mass, Real density, Real thick) {
  const std::vector<OuterTriangle> triangles = triangles_of(mesh, outer);
  std::vector<int> valence(mesh.points.size(), 0);
  std::vector<const OuterTriangle*> first_triangle(mesh.points.size(), nullptr);  // that of the first element
  for (const OuterTriangle& t : triangles)
    for (const std::int32_t v : t.vertices) {
      ++valence[static_cast<std::size_t>(v)];
      const OuterTriangle*& first = first_triangle[static_cast<std::size_t>(v)];
      if (first == nullptr || t.element < first->element) first = &t;
    }
  std::vector<Real> left(vertex_mass.begin(), vertex_mass.end());
  std::vector<SolidContactPoint> points;
  for (const auto& [element, vertices] : triangles) {
    const auto x = [&](std::size_t k) { return mesh.points[static_cast<std::size_t>(vertices[k])]; };
    // Each vertex can give the same to all its triangles.
    Real third = vertex_mass[static_cast<std::size_t>(vertices[0])];
    for (const std::int32_t v : vertices)
      third = std::min(third, vertex_mass[static_cast<std::size_t>(v)] / valence[static_cast<std::size_t>(v)]);
    for (const auto& [weights, share] : TriangleParts::of({x(0), x(1), x(2)}, density))
      points.push_back({element, vertices, weights, 3 * third * share, share,
                        weights[0] * x(0) + weights[1] * x(1) + weights[2] * x(2)});
    for (const std::int32_t v : vertices) left[static_cast<std::size_t>(v)] -= third;
  }
  for (std::size_t v = 0; v < left.size(); ++v)
    if (valence[v] > 0) {
      const auto& [element, vertices] = *first_triangle[v];
      const auto corner = std::ranges::find(vertices, static_cast<std::int32_t>(v)) - vertices.begin();
      points.push_back({element, vertices, Vec3::Unit(corner), std::max(Real(0), left[v]), 0, mesh.points[v]});
    }
  find_thickness(mesh, 1 / std::sqrt(density), thick, points);
  std::ranges::stable_sort(points, {}, &SolidContactPoint::element);
  return points;
}

}  // namespace weft
