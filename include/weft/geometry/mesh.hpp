#pragma once
// Polygon meshes of surfaces: storage, measures and checks.

#include "weft/base/plane.hpp"
#include "weft/geometry/shape.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// Points and polygonal faces; a face lists its points counter-clockwise as seen from outside.
struct SurfaceMesh {
  std::vector<Vec3> points;                             ///< [m].
  std::vector<std::int32_t> corners;                    ///< Point indices of all faces, one face after another.
  std::vector<std::int64_t> offsets = {0};              ///< Face f owns corners [offsets[f], offsets[f + 1]).
  std::vector<std::string> groups;                      ///< Names of the groups that the file has, of faces or points.
  std::vector<std::int32_t> group;                      ///< Of each face; -1: none. Empty if there are no groups.
  std::vector<std::vector<std::int32_t>> group_points;  ///< Points that each group lists, or empty.
  std::vector<Vec2> texture;  ///< Texture coordinates of each corner; empty if some corner has none.

  std::int64_t face_count() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::span<const std::int32_t> face(std::int64_t f) const {
    return {corners.data() + offsets[f], static_cast<std::size_t>(offsets[f + 1] - offsets[f])};
  }
  void add_face(std::span<const std::int32_t> face);
  void add_face(std::initializer_list<std::int32_t> face) { add_face({face.begin(), face.size()}); }
  /// Adds all points and faces of another mesh; coincident points are not joined. Groups and texture are dropped.
  void append(const SurfaceMesh& other);
};

/// The faces as triangles in face order; an n-gon gives n - 2. Polygons may be concave but should be nearly flat.
std::vector<std::array<std::int32_t, 3>> triangles_of(const SurfaceMesh& mesh);

/// The points that triangles use.
struct UsedPoints {
  std::vector<std::int32_t> number;  ///< Of each point in the order in which triangles first use it; -1: unused.
  std::vector<std::int32_t> points;  ///< Those that are used, in that order.
};
UsedPoints used_points(std::span<const std::array<std::int32_t, 3>> triangles, std::size_t points);

/// The mesh moved to its position.
SurfaceMesh placed(SurfaceMesh mesh, const Placement& placement);
/// The same faces turned round, each from its last corner to its first.
SurfaceMesh reversed(SurfaceMesh mesh);

Box bounds_of(const SurfaceMesh& mesh);
/// Surface area [m^2].
Real area_of(const SurfaceMesh& mesh);
/// Enclosed volume [m^3] of a closed mesh, negative if it is inside out; parts that overlap count twice.
Real volume_of(const SurfaceMesh& mesh);

/// How often something was found, and the first few positions (indices count from 0).
struct Finding {
  std::int64_t count = 0;
  std::vector<std::string> first;
};

/// What is wrong with a mesh, kind by kind.
struct MeshReport {
  Finding non_finite_points;
  Finding bad_indices;          ///< Faces with fewer than three corners or a corner that names no point.
  Finding degenerate_faces;     ///< A point twice in one face, or no area.
  Finding duplicate_faces;      ///< Same points as an earlier face, whichever way round.
  Finding open_edges;           ///< Belong to one face only.
  Finding non_manifold_edges;   ///< Belong to more than two faces.
  Finding flipped_edges;        ///< Both faces run along the edge in the same direction: one of them is turned round.
  Finding unused_points;        ///< In no face; harmless.
  std::int64_t components = 0;  ///< Parts that share no point.
  Real volume = 0;              ///< Enclosed [m^3]; means something only if closed().

  /// Every face is sound and every edge joins two faces of matching orientation.
  bool closed() const;
};

MeshReport check(const SurfaceMesh& mesh);

/// Throws Error(geometry) unless the mesh bounds a solid: closed and turned outward. The text starts with `name`,
/// counts what was found, shows the first positions and says what to do.
void require_closed(const SurfaceMesh& mesh, const std::string& name);

}  // namespace weft
