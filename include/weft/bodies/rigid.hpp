#pragma once
// Rigid bodies. [docs/theory/rigid.md]

#include "weft/bodies/mesh_source.hpp"
#include "weft/bodies/rigid_frame.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// A rigid body before it is given to a rank.
struct RigidDescription {
  std::string name;
  std::vector<Vec3> points;                            ///< Of its closed surface at rest [m].
  std::vector<std::array<std::int32_t, 3>> triangles;  ///< Counter-clockwise as seen from outside.
  Real density;                                        ///< [kg/m^3]; the mass is this times the volume.
  std::optional<Joint> joint;
  Real contact_points = 0;  ///< Of a body that meets the grid [1/m^2].
};
/// A mesh of one element, whose vertices are the four points of (17.1). One rank has all of it. Throws Error(geometry)
/// for surfaces that enclose no volume, are inside out or flat.
std::unique_ptr<MeshSource> make_rigid(RigidDescription rigid);

}  // namespace weft
