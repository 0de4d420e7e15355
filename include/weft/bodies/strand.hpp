#pragma once
// Strands: discrete elastic rods that move by themselves. [docs/theory/strands.md]

#include "weft/bodies/mesh_source.hpp"
#include "weft/bodies/rod_joint.hpp"
#include "weft/geometry/curves.hpp"

#include <memory>
#include <optional>
#include <string>

namespace weft {

/// Strands before they are divided among ranks.
struct StrandDescription {
  std::string name;
  Curves curves;  ///< As they are made.
  RodSection section;
  std::optional<RodSection> viscosity;  ///< Viscosities [Pa s] in place of moduli.
  Real half_axis;                       ///< The larger one [m].
  bool naturally_straight;              ///< Else they have no moment as they are made.
  Real natural_twist;                   ///< Of the directors, right-handed along the strand [rad/m].
};
/// Throws Error(geometry) for segments without length, and curves that fold back or bend more sharply than they are
/// thick.
std::unique_ptr<MeshSource> make_strands(const StrandDescription& strands);

}  // namespace weft
