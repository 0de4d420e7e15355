#pragma once
// A mesh before it is dealt out among ranks: what handles choose parts of, and what the pieces of ranks are cut from.

#include "weft/base/kinds.hpp"
#include "weft/bodies/meshed.hpp"
#include "weft/geometry/mesh.hpp"
#include "weft/geometry/mesh_groups.hpp"
#include "weft/geometry/points_between.hpp"
#include "weft/geometry/shape.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

struct ControlMesh;
class MeshBody;

/// How much there is of a mesh, on all ranks.
struct MeshCounts {
  std::int64_t vertices, elements;
  std::int64_t samples;  ///< Quadrature points of an element, at most; none of a body with freedoms of its own.
  std::int64_t contact_points = 0;  ///< Of an element, at most; none of a body that the grid carries.
};

/// Legs of a right triangle with two equal ones that has the same area, or the same longest side if that is larger [m].
Real size_of(const std::array<Vec3, 3>& triangle);

/// A mesh at rest. Ranges of elements may be asked for of any part of it that the rank holds: of fibers and strands a
/// run of whole curves, of others, which need their neighbours, all.
class MeshSource {
 public:
  MeshSource(std::string name, Carrier carrier) : name_(std::move(name)), carrier_(carrier) {}
  virtual ~MeshSource() = default;

  const std::string& name() const { return name_; }
  Carrier carrier() const { return carrier_; }
  virtual MeshCounts counts() const = 0;
  /// What the mesh is made of, in words.
  virtual std::string census() const = 0;
  /// The elements that a rank holds, where none has all of them.
  virtual std::optional<ElementRange> held() const { return {}; }
  /// The vertices of the held elements at rest [m].
  virtual VertexValues rest_positions() const = 0;
  /// A box around all vertices at rest.
  virtual Box bounds() const;
  /// Where handles can take hold at rest, stencils over vertices: at vertices whose element is in a range, and all
  /// sides.
  virtual Sites sites(const ElementRange& elements) const = 0;
  /// The point of some elements at rest that is nearest to a position [m]; none has element -1.
  virtual Site nearest(const ElementRange& elements, const Vec3& x) const = 0;
  /// Quadrature points of the surface of some elements and of its boundary, rows over vertices; the mass of fibers is
  /// here too, without area.
  virtual std::vector<Sample> surface_samples(const ElementRange& elements) const = 0;
  virtual std::vector<Sample> side_samples(const ElementRange& elements) const = 0;
  /// The closed surface of a body of tetrahedra, or of a rigid one, at rest, with the points inside; empty
  /// for others.
  virtual SurfaceMesh closed_surface() const { return {}; }
  /// The control mesh of a shell; none for other bodies.
  virtual const ControlMesh* control_mesh() const { return nullptr; }
  /// The mean size of held elements at rest, by area or length: edges of the faces of shells, `size_of` other
  /// triangles, those of the surface where there are tetrahedra, segments [m]; 0 if there are none.
  virtual Real element_size() const;
  /// Groups of its elements and vertices, if its file has some.
  const MeshGroups& groups() const { return groups_; }
  void name_groups(MeshGroups groups) { groups_ = std::move(groups); }
  /// Its vertices by the points of its file; absent: their numbers are those of the deck.
  const std::optional<PointsBetween>& given() const { return given_; }
  void name_points(std::optional<PointsBetween> given) { given_ = std::move(given); }
  /// A body of these elements at rest, as yet without points.
  virtual std::unique_ptr<MeshBody> body_of(const ElementRange& elements) const = 0;

 private:
  std::string name_;
  Carrier carrier_;
  MeshGroups groups_;
  std::optional<PointsBetween> given_;
};

/// The elements that a rank gets first: a run of their numbers, which it holds.
ElementRange first_share(const Comm& comm, const MeshSource& mesh);

}  // namespace weft
