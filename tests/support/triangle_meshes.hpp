#pragma once
// Meshes of triangles for tests.

#include "weft/geometry/control_mesh.hpp"
#include "weft/geometry/patches.hpp"

#include <array>
#include <map>

namespace weft::test {

/// Every square of a grid over [0, 1]^2 in two triangles, mapped.
inline SurfaceMesh cut_squares(int across, int along, const SurfaceMap& map) {
  SurfaceMesh mesh;
  for (int j = 0; j <= along; ++j)
    for (int i = 0; i <= across; ++i) mesh.points.push_back(map(Real(i) / across, Real(j) / along));
  const auto at = [&](int i, int j) { return j * (across + 1) + i; };
  for (int j = 0; j < along; ++j)
    for (int i = 0; i < across; ++i) {
      mesh.add_face({at(i, j), at(i + 1, j), at(i, j + 1)});
      mesh.add_face({at(i + 1, j + 1), at(i, j + 1), at(i + 1, j)});
    }
  return mesh;
}

/// An unstructured mesh of the unit square: points of four to seven edges, at the boundary of one to four triangles.
inline SurfaceMesh irregular_square() {
  SurfaceMesh mesh;
  for (const auto& [x, y] : {std::pair{0.0, 0.0},
                             {0.3, 0.0},
                             {0.7, 0.0},
                             {1.0, 0.0},
                             {1.0, 0.45},
                             {1.0, 1.0},
                             {0.55, 1.0},
                             {0.0, 1.0},
                             {0.0, 0.6},
                             {0.0, 0.25},
                             {0.32, 0.3},
                             {0.68, 0.36},
                             {0.72, 0.7},
                             {0.28, 0.68},
                             {0.5, 0.5}})
    mesh.points.emplace_back(x, y, 0);
  for (const std::array<std::int32_t, 3>& face : {std::array<std::int32_t, 3>{0, 1, 9},
                                                  {1, 10, 9},
                                                  {1, 2, 10},
                                                  {2, 11, 10},
                                                  {2, 3, 4},
                                                  {2, 4, 11},
                                                  {4, 12, 11},
                                                  {4, 5, 12},
                                                  {5, 6, 12},
                                                  {6, 13, 12},
                                                  {6, 7, 13},
                                                  {7, 8, 13},
                                                  {8, 10, 13},
                                                  {8, 9, 10},
                                                  {10, 11, 14},
                                                  {11, 12, 14},
                                                  {12, 13, 14},
                                                  {13, 10, 14}})
    mesh.add_face({face[0], face[1], face[2]});
  return mesh;
}

/// Every triangle in four, whose new points lie in the middles of edges.
inline SurfaceMesh nested(const SurfaceMesh& mesh) {
  SurfaceMesh fine;
  fine.points = mesh.points;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> middles;
  const auto middle = [&](std::int32_t p, std::int32_t q) {
    const auto [place, is_new] = middles.try_emplace(std::minmax(p, q), static_cast<std::int32_t>(fine.points.size()));
    if (is_new) fine.points.push_back((mesh.points[p] + mesh.points[q]) / 2);
    return place->second;
  };
  for (std::int64_t f = 0; f < mesh.face_count(); ++f) {
    const std::int32_t a = mesh.face(f)[0], b = mesh.face(f)[1], c = mesh.face(f)[2];
    const std::int32_t ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
    fine.add_face({a, ab, ca});
    fine.add_face({ab, b, bc});
    fine.add_face({ca, bc, c});
    fine.add_face({ab, bc, ca});
  }
  return fine;
}

}  // namespace weft::test
