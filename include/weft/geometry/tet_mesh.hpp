#pragma once
// Meshes of tetrahedra: storage, making, reading and checks.

#include "weft/geometry/mesh_groups.hpp"
#include "weft/geometry/points_between.hpp"
#include "weft/geometry/shape.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// Edges of a tetrahedron between its corners, in the order of the nodes amid them.
inline constexpr std::array<std::array<int, 2>, 6> tet_edges{{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}};
/// Faces of a tetrahedron, counter-clockwise as seen from outside: their corners, then the nodes amid their edges, the
/// first of which is between the first two corners.
inline constexpr std::array<std::array<int, 6>, 4> tet_faces{
    {{0, 2, 1, 6, 5, 4}, {0, 1, 3, 4, 8, 7}, {1, 2, 3, 5, 9, 8}, {0, 3, 2, 7, 9, 6}}};

/// Points and tetrahedra with 4 nodes, or 10: corners a, b, c, d with (b - a) x (c - a) . (d - a) > 0, then those amid
/// the edges as `tet_edges` has them.
struct TetMesh {
  std::vector<Vec3> points;              ///< [m].
  int nodes_each = 4;                    ///< 4 or 10.
  std::vector<std::int32_t> nodes;       ///< Numbers of points, one tetrahedron after another.
  MeshGroups groups{};                   ///< Of tetrahedra (`faces`) and points.
  std::optional<PointsBetween> given{};  ///< Points in the order of the file; absent: numbers are as they were made.

  std::int64_t number_of_face(std::int64_t tet, int face) const { return 4 * tet + face; }
  std::int64_t number_of_tet(std::int64_t tet) const { return 4 * count() + tet; }

  std::int64_t count() const { return static_cast<std::int64_t>(nodes.size()) / nodes_each; }
  std::span<const std::int32_t> tet(std::int64_t t) const {
    return {nodes.data() + t * nodes_each, static_cast<std::size_t>(nodes_each)};
  }
};

/// Six times the volume of corners [m^3], negative if they are inverted.
inline Real six_volumes(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  return (b - a).cross(c - a).dot(d - a);
}

/// How many cubes `block_of_tets` cuts in each direction.
std::array<int, 3> cubes_of_block(const Box& box, Real size);
/// A block cut into cubes, or nearly so, with edges of at most `size` [m], and each of these into six tetrahedra around
/// a diagonal. Neighbouring cubes are mirror images, so that no direction is preferred.
TetMesh block_of_tets(const Box& box, Real size);

/// A bounded shape, filled by a lattice of cubes with edges of `size` [m], each of 12 tetrahedra, that is cut along its
/// surface [Labelle & Shewchuk 2007]. Points of the surface lie on it; edges and corners of the shape are blunted. Deep
/// inside cubes grow, each twice as large as those before, up to `inner_size` [m]. Throws Error(geometry) if the shape
/// falls through the lattice.
TetMesh tets_of_shape(const Shape& shape, Real size, Real inner_size = 0);

/// The same with 10 nodes each: those amid the edges halve them. A mesh that has them is left as it is.
TetMesh with_middles(TetMesh mesh);

/// The mesh moved to its position.
TetMesh placed(TetMesh mesh, const Placement& placement);

/// Volume of tetrahedra with straight edges between the corners [m^3].
Real volume_of(const TetMesh& mesh);

/// A face of one tetrahedron alone.
struct OuterFace {
  std::int64_t tet;
  int face;  ///< In `tet_faces`.
};
/// The faces of the surface, tetrahedron by tetrahedron.
std::vector<OuterFace> outer_faces(const TetMesh& mesh);

/// How many parts of a mesh share no point; each of its points is a node.
int pieces_of(const TetMesh& mesh);

/// Of each point the number of the part of the surface that it is on, -1: inside. Parts share no point; they are
/// numbered from 0 by their lowest point.
std::vector<int> surface_numbers(const TetMesh& mesh, std::span<const OuterFace> outer);

/// Throws Error(geometry) unless every node is a point, once in its tetrahedron, no tetrahedron is inverted, flat or
/// there twice, every point is a node, and every face belongs to two tetrahedra at most. The text begins with `name`,
/// counts what was found and shows the first position.
void require_sound(const TetMesh& mesh, const std::string& name);

/// Reads tetrahedra with 4 or 10 nodes and their physical groups from the text of a Gmsh file (MSH 2.2 or 4.1), at
/// millions of words a second. Triangles, lines and points are read for their groups alone; points that no tetrahedron
/// uses are left out. Throws Error(geometry) with `name`, line and column.
TetMesh read_msh(const std::string& name, std::string_view bytes);

}  // namespace weft
