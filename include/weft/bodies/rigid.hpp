#pragma once
// Rigid bodies. [docs/theory/rigid.md]

#include "weft/bodies/mesh_source.hpp"
#include "weft/bodies/rigid_frame.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// A rigid body before it is given to a rank.
struct RigidDescription {
  std::string name;
  std::vector<Vec3> points;                            ///< Of its closed surface at rest [m].
  std::vector<std::array<std::int32_t, 3>> triangles;  ///< Counter-clockwise as seen from outside.
  RigidMass mass;
  std::optional<Joint> joint;
  Real contact_points = 0;  ///< Of a body that meets the grid [1/m^2].
  Real thick = 0;           ///< Behind contact points no more is asked for [m].
};
/// Of what a closed surface encloses, with density 1: volume, centre and second moment. Throws Error(geometry) if that
/// is no volume, inside out or flat.
RigidMass mass_of_volume(std::span<const Vec3> points, std::span<const std::array<std::int32_t, 3>> triangles);
/// Whether a body has extent in three directions, else its second moment is that of no solid.
bool has_extent(const Mat3& second_moment);

/// A mesh of one element, whose vertices are the four points of (17.1). One rank has all of it.
std::unique_ptr<MeshSource> make_rigid(RigidDescription rigid);

}  // namespace weft
