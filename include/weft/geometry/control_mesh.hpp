#pragma once
// Control meshes of Catmull-Clark surfaces: quads, with an explicit outer row of control points around every boundary.

#include "weft/geometry/mesh.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft {

using Quad = std::array<std::int32_t, 4>;

/// A mesh of quads whose limit surface is studied. Faces [0, material_faces) are material; the others form the outer
/// row, one ring around every boundary: they carry no material, but their control points shape the surface up to the
/// boundary, so that no face of material needs a boundary rule.
struct ControlMesh {
  std::vector<Vec3> points;  ///< [m].
  std::vector<Quad> faces;   ///< Counter-clockwise as seen from the side that the normal points to.
  std::int64_t material_faces = 0;
  std::vector<std::string> groups;  ///< Names of the groups of faces or points.
  std::vector<std::int32_t> group;  ///< Of each material face; -1: none. Empty if there are no groups.
  std::vector<std::vector<std::int32_t>> group_points;  ///< Points that each group lists, or empty.
  std::vector<std::array<Vec2, 4>> texture;  ///< Of the corners of each material face; empty if there are none.
};

/// Control points in line across an edge of the material; with B-splines the limit edge passes through
/// (outer + 4 boundary + inner) / 6 and its slope across is (inner - outer) / 2 for each face.
struct EdgeLine {
  std::int32_t outer, boundary, inner;
};

/// What the points of a mesh are to its limit surface.
enum class MeshPoints {
  control,  ///< Its control points: it passes by, on the inner side of where they bulge.
  surface,  ///< Points of it: it passes through them.
};

/// A control mesh from a mesh of polygons: as it is if all faces are quads, else refined once, which gives quads. An
/// outer row is added. Throws Error(geometry), its text starting with `name`, unless every edge joins two faces of
/// matching orientation or bounds one, no two parts touch in a single point, and a surface as meant exists.
ControlMesh control_mesh(const SurfaceMesh& mesh, const std::string& name, MeshPoints meaning = MeshPoints::control);

/// Every face divided into four by Catmull and Clark's rules; the limit surface stays what it was. Child c of material
/// face f is face 4 f + c, holds corner c of f, and starts with it; the outer row is again one ring.
ControlMesh refined(const ControlMesh& mesh);

/// The mesh without its outer row, and with a new one that continues it: the mirror image of the first inner row in
/// each boundary point, as the boundary rule of subdivision surfaces has it. Points of the material keep their numbers.
ControlMesh with_outer_row(ControlMesh mesh);

/// Lines across the material's boundary, each once, boundary by boundary: one for each boundary point whose
/// surroundings are regular (four edges), and one beyond each end of a straight run of edges, where the run leaves the
/// material.
std::vector<std::vector<EdgeLine>> edge_lines(const ControlMesh& mesh);

/// The limit position of a control point that is surrounded by faces; points on the rim of the outer row have none.
std::vector<Vec3> limit_points(const ControlMesh& mesh, std::vector<bool>& exists);

/// The faces that shape the limit surface of some: those with a corner in common, themselves among them; ascending.
std::vector<std::int64_t> faces_around(const ControlMesh& mesh, std::span<const std::int64_t> faces);

/// The material as a polygon mesh.
SurfaceMesh cage_of(const ControlMesh& mesh);

}  // namespace weft
