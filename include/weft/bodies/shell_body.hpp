#pragma once
// Shells as bodies: control points that move with the grid or by themselves, and laminae that resist strain and
// bending. On the grid also contact points on the surface, whose directors resist what comes near.

#include "weft/bodies/mesh_source.hpp"
#include "weft/bodies/shell.hpp"
#include "weft/fields/table.hpp"
#include "weft/materials/surface_contact.hpp"

#include <memory>
#include <optional>

namespace weft {

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

/// contact: of a shell that the grid carries; without it the shell has freedoms of its own. dx: grid spacing, if there
/// is one [m]. moves_in_time: whether steps need to know its largest frequency. Throws Error(geometry) as Shell does.
/// Collective.
std::unique_ptr<MeshSource> make_shell(const Comm& comm, const ShellDescription& shell,
                                       const std::optional<ShellContact>& contact, Real dx, bool moves_in_time = true);

}  // namespace weft
