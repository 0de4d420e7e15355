#pragma once
// Control meshes of subdivision surfaces, of quads (Catmull and Clark's) or of triangles (Loop's), with an explicit
// outer row of control points around every boundary.

#include "weft/geometry/mesh.hpp"
#include "weft/geometry/points_between.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// Faces of as many corners each.
class FaceList {
 public:
  FaceList() = default;
  explicit FaceList(int sides) : sides_(static_cast<std::size_t>(sides)) {}

  int sides() const { return static_cast<int>(sides_); }
  std::size_t size() const { return corners_.size() / sides_; }
  std::span<const std::int32_t> operator[](std::size_t f) const { return {corners_.data() + f * sides_, sides_}; }
  std::span<std::int32_t> operator[](std::size_t f) { return {corners_.data() + f * sides_, sides_}; }
  void push_back(std::span<const std::int32_t> face) { corners_.insert(corners_.end(), face.begin(), face.end()); }
  void push_back(std::initializer_list<std::int32_t> face) { corners_.insert(corners_.end(), face); }
  void resize(std::size_t faces) { corners_.resize(faces * sides_); }
  /// Corners of all faces, one after another.
  std::span<const std::int32_t> corners() const { return corners_; }
  std::span<std::int32_t> corners() { return corners_; }
  std::size_t bytes() const { return corners_.capacity() * sizeof(std::int32_t); }
  bool operator==(const FaceList&) const = default;

 private:
  std::size_t sides_ = 4;
  std::vector<std::int32_t> corners_;
};

/// A control point that moves with others: their sum by weights that add up to 1.
struct LedPoint {
  static constexpr std::size_t most = 6;
  std::array<std::int32_t, most> points{};
  std::array<Real, most> weights{};
  std::int32_t count = 0;

  void add(std::int32_t point, Real weight);
};

/// A mesh of quads or of triangles whose limit surface is studied. Faces [0, material_faces) are material; the others
/// form the outer row, one ring around every boundary: they carry no material, but their control points shape the
/// surface up to the boundary, so that no face of material needs a boundary rule.
struct ControlMesh {
  std::vector<Vec3> points;          ///< [m]. Those that are led are last.
  std::vector<LedPoint> led_points;  ///< No freedoms: the surface feels them through the points that lead them.
  FaceList faces;                    ///< Counter-clockwise as seen from the side that the normal points to.
  std::int64_t material_faces = 0;
  std::vector<std::string> groups;  ///< Names of the groups of faces or points.
  std::vector<std::int32_t> group;  ///< Of each material face; -1: none. Empty if there are no groups.
  std::vector<std::vector<std::int32_t>> group_points;  ///< Points that each group lists, or empty.
  std::vector<std::array<Vec2, 4>> texture;  ///< Of the corners of each material face; empty if there are none.
  std::optional<PointsBetween> given{};      ///< Points of the file; absent: numbers are as they were made.

  int sides() const { return faces.sides(); }
  /// Control points that are freedoms come first.
  std::size_t free_points() const { return points.size() - led_points.size(); }
  /// Tells f(point, weight) of the free points whose sum a control point is: itself, or those that lead it.
  template <class F>
  void for_each_free(std::int32_t point, F&& f) const {
    const auto free = static_cast<std::int32_t>(free_points());
    if (point < free) return f(point, Real(1));
    const LedPoint& led = led_points[static_cast<std::size_t>(point - free)];
    for (std::int32_t k = 0; k < led.count; ++k) f(led.points[k], led.weights[k]);
  }
};

/// The limit of a point that n faces surround is (own P + edge sum of neighbours + corner sum of far corners of the
/// quads) / sum. [Halstead, Kass and DeRose 1993; Loop 1987]
struct LimitMask {
  Real own, edge, corner, sum;
  LimitMask(int sides, Real n);
};

/// Control points in line across an edge of the material; with B-splines the limit edge passes through
/// (outer + 4 boundary + inner) / 6 and its slope across is (inner - outer) / 2 for each face.
struct EdgeLine {
  std::int32_t outer, boundary, inner;
};

/// A run of the boundary of the material between two of its corners, or all of a boundary without corners.
struct BoundarySide {
  std::vector<EdgeLine> lines;       ///< Of quads whose pattern is regular all along.
  std::vector<std::int32_t> points;  ///< Else its points in order, material on the left.
  bool closed = false;               ///< The last point is joined to the first.
};

/// What the points of a mesh are to its limit surface.
enum class MeshPoints {
  control,  ///< Its control points: it passes by, on the inner side of where they bulge.
  surface,  ///< Points of it: it passes through them.
};

/// A control mesh from a mesh of polygons: as it is if all faces are quads or all are triangles, else refined once,
/// which gives quads. An outer row is added. Throws Error(geometry), its text starting with `name`, unless every edge
/// joins two faces of matching orientation or bounds one, no two parts touch in a single point, and a surface as meant
/// exists.
ControlMesh control_mesh(const SurfaceMesh& mesh, const std::string& name, MeshPoints meaning = MeshPoints::control);

/// Every face divided into four by the rules of Catmull and Clark or of Loop; the limit surface stays what it was.
/// Child c of material face f is face 4 f + c, holds corner c of f, and starts with it, or is the triangle in its
/// middle; the outer row is again one ring, all of it free.
ControlMesh refined(const ControlMesh& mesh);

/// Every face divided into four, with a surface through the old points and as many of the old surface as are new, and
/// an outer row of its own. Points of the material keep their numbers. Throws as control_mesh.
ControlMesh divided(const ControlMesh& mesh, const std::string& name);

/// The mesh without its outer row, and with a new one that continues it: the mirror image of the first inner row in
/// each boundary point (quads), as the boundary rule of subdivision surfaces has it, or edge (triangles). Points of the
/// material keep their numbers.
ControlMesh with_outer_row(ControlMesh mesh);

/// Lines of quads across the material's boundary, each once, boundary by boundary: one for each boundary point whose
/// surroundings are regular (four edges), and one beyond each end of a straight run of edges, where the run leaves the
/// material.
std::vector<std::vector<EdgeLine>> edge_lines(const ControlMesh& mesh);

/// The boundary as sides. They end at corners: where a line of the pattern leaves the boundary, or the material spans
/// less than 135 or more than 225 degrees at a point of irregular surroundings or of triangles.
std::vector<BoundarySide> boundary_sides(const ControlMesh& mesh);

/// Share of the points inside the material where other than four edges of quads, or six of triangles, meet.
Real irregular_share(const ControlMesh& mesh);

/// How far points are off even lines of the pattern, by the mean square, in parts of an edge: fourth differences along
/// the surface of five points in line, as independent errors of the points make them. A mesh that is graded smoothly
/// has hardly any. 0 if no such line is inside the material.
Real pattern_unevenness(const ControlMesh& mesh);
/// The largest angle between the normals of two faces of the material that share an edge [rad].
Real sharpest_fold(const ControlMesh& mesh);

/// The limit position of a control point that is surrounded by faces; points on the rim of the outer row have none.
std::vector<Vec3> limit_points(const ControlMesh& mesh, std::vector<bool>& exists);

/// The faces that shape the limit surface of some: those with a corner in common, themselves among them; ascending.
std::vector<std::int64_t> faces_around(const ControlMesh& mesh, std::span<const std::int64_t> faces);

/// The material as a polygon mesh.
SurfaceMesh cage_of(const ControlMesh& mesh);

}  // namespace weft
