#pragma once
// Hair: strands that grow on a surface.

#include "weft/geometry/curves.hpp"
#include "weft/geometry/mesh.hpp"

#include <cstdint>
#include <optional>

namespace weft {

/// A wave, or a curl, of a strand about its middle line.
struct Ripple {
  Real radius;  ///< How far it goes from the middle line [m].
  Real length;  ///< Of one turn along the middle line [m].
  Real spread;  ///< Both are those times 1 - spread to 1 + spread, the same of a strand.
};

/// Strands by rule; whatever has a spread is uniform in value - spread to value + spread.
struct Groom {
  int strands;
  Real length, length_spread;  ///< Of middle lines [m], and its spread over it.
  Real lie, lie_spread;        ///< Angle between the root and the normal [rad], in [0, pi / 2].
  std::optional<Vec3> toward;  ///< Roots lie to this side, else to any.
  std::optional<Real> droop;   ///< Length in which tan(half the angle to `toward`) falls by a factor of e [m].
  Real clearance;              ///< Strands keep as far from the solid, if there is one, but for their roots [m].
  std::optional<Ripple> wave;  ///< In a plane.
  std::optional<Ripple> curl;  ///< A helix.
  std::uint32_t seed;
  Real spacing;  ///< Of vertices [m].
};

/// What strands grow on.
struct GroomSurface {
  SurfaceMesh mesh;              ///< Faces turned outward; roots are spread evenly over their area.
  const Shape* solid = nullptr;  ///< Roots lie on its surface, and strands stay outside; null: on the faces.
  const Shape* where = nullptr;  ///< Roots lie in this; null: anywhere.
};

/// Strand by strand from random numbers of its own, so that they depend neither on the part nor on the strands beside
/// them. Throws Error(geometry) if no surface is where roots shall be.
Curves groom(const Groom& groom, const GroomSurface& surface, const CurvePart& part = {});
/// About how many points it makes, at most.
Real points_of(const Groom& groom);

}  // namespace weft
