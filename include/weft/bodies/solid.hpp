#pragma once
// Elastic solids of tetrahedra.

#include "weft/bodies/mesh_source.hpp"
#include "weft/geometry/tet_mesh.hpp"
#include "weft/materials/fixed_corotated.hpp"
#include "weft/materials/neo_hookean.hpp"
#include "weft/materials/stvk_hencky.hpp"

#include <memory>
#include <string>
#include <variant>

namespace weft {

/// The constants of a law that a solid may have.
using AnySolidLaw = std::variant<FixedCorotated::Constants, NeoHookean::Constants, StvkHencky::Constants>;

/// A solid before it is divided among ranks.
struct SolidDescription {
  std::string name;
  TetMesh mesh;  ///< At rest; sound.
  AnySolidLaw law;
  Real density;             ///< [kg/m^3].
  Real spacing;             ///< Quadrature points of a body that the grid carries are about as far apart [m].
  Real damping = 0;         ///< Rate at which elements lose the motion within them, by themselves [1/s].
  Real contact_points = 0;  ///< Of a body with freedoms of its own that meets the grid [1/m^2].
  Real thick = 0;           ///< Behind these no more is asked for [m].
};
/// Throws Error(geometry) for tetrahedra with curved edges that are inverted somewhere.
std::unique_ptr<MeshSource> make_solid(const SolidDescription& solid, Carrier carrier);

}  // namespace weft
