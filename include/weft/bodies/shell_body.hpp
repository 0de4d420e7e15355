#pragma once
// Shells on the grid: control points that move with it, laminae that resist strain and bending, and contact points on
// the surface whose directors resist what comes near.

#include "weft/bodies/mesh_body.hpp"
#include "weft/bodies/shell.hpp"
#include "weft/materials/surface_contact.hpp"

#include <memory>

namespace weft {

/// The elastic director of a contact point, across the surface: state.
struct Director : Field<Vec3> {
  static constexpr Label label{"director", "1"};
};

// Shown, besides those of the middle surface.
struct ContactPressure : Field<Real> {
  static constexpr Label label{"contact_pressure", "Pa", Keep::shown};
};

struct ShellContact {
  SurfaceContact::Constants law;
  int per_edge;  ///< A face has per_edge x per_edge contact points.
};

/// So many contact points along the edge of a face that they are no farther apart than half of dx [m].
int contact_points_per_edge(const ControlMesh& mesh, Real dx);

/// A shell as a body without points; `MeshBody::fill` gives it some. dx: grid spacing [m]. Throws Error(geometry) as
/// Shell does. Collective.
std::unique_ptr<MeshBody> make_shell_body(const Comm& comm, const ShellDescription& shell, const ShellContact& contact,
                                          Real dx);

}  // namespace weft
