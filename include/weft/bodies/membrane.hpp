#pragma once
// Sheets and fibers: bodies of codimensional elements.

#include "weft/bodies/bending.hpp"
#include "weft/bodies/codimensional.hpp"
#include "weft/bodies/mesh_source.hpp"
#include "weft/fields/table.hpp"
#include "weft/geometry/curves.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace weft {

/// What the elements of a sheet resist, as shown in frames.
struct Stretch : Field<Real> {
  static constexpr Label label{"stretch", "1", Keep::shown};  ///< The largest along the element.
};

/// A law in the plane of a sheet with its constants, and contact across.
using AnySheet = std::variant<SheetKind<CorotatedSheet>::Constants, SheetKind<WovenSheet>::Constants>;

/// A sheet before it is divided among ranks.
struct MembraneDescription {
  std::string name;
  std::vector<Vec3> rest;                              ///< Vertices [m].
  std::vector<std::array<std::int32_t, 3>> triangles;  ///< Every vertex is in one.
  AnySheet law;
  Real density;              ///< [kg/m^3].
  Real thickness;            ///< [m].
  Vec3 warp = Vec3::Zero();  ///< Direction of the warp at rest; see sheet_at_rest.
  Real spacing;              ///< Quadrature points, if there are any, are no farther apart [m].
  std::optional<PlateRigidity> bending;
  std::optional<Real> tear_stretch;      ///< An element that is stretched more leaves the mesh.
  MeshGroups groups{};                   ///< Of triangles and points.
  std::optional<PointsBetween> given{};  ///< Of vertices, the points of the mesh that is read or made.
};
/// Throws Error(geometry) for triangles without area.
std::unique_ptr<MeshSource> make_membrane(const MembraneDescription& membrane, Carrier carrier);

/// Fibers before they are divided among ranks.
struct FiberDescription {
  std::string name;
  std::vector<Vec3> rest;
  std::vector<std::array<std::int32_t, 2>> segments;  ///< Every vertex is in one.
  Fiber::Constants law;
  Real density;  ///< [kg/m^3].
  Real section;  ///< [m^2].
  Real spacing;
  std::vector<std::vector<std::int32_t>> chains;  ///< Vertices of each fiber in order; needed for bending alone.
  std::optional<Real> bending_rigidity;           ///< B [N m^2].
  std::optional<Real> tear_stretch;
  std::optional<CurveNumbers> part{};  ///< This rank has some of the fibers alone; vertices above are counted there.
};
/// As make_membrane; throws for segments without length.
std::unique_ptr<MeshSource> make_fibers(const FiberDescription& fibers, Carrier carrier);

}  // namespace weft
