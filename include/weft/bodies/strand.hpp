#pragma once
// Strands: discrete elastic rods that move by themselves, and may meet the grid. [docs/theory/strands.md]

#include "weft/bodies/mesh_source.hpp"
#include "weft/bodies/rod_joint.hpp"
#include "weft/geometry/curves.hpp"
#include "weft/materials/drucker_prager.hpp"

#include <memory>
#include <optional>
#include <string>

namespace weft {

/// What strands are for one another and all else on the grid: a continuum at their vertices.
struct StrandContinuum {
  DruckerPrager::Constants law;
  Real packing;  ///< Volume of strands in its own at rest.
};

/// Strands before they are divided among ranks.
struct StrandDescription {
  std::string name;
  Curves curves;  ///< As they are made. Where they have a thickness, sections are scaled to that from 2 half_axis.
  RodSection section;
  Real density;                                ///< [kg/m^3].
  std::optional<RodSection> viscosity;         ///< Viscosities [Pa s] in place of moduli.
  Real half_axis;                              ///< The larger one [m].
  bool naturally_straight;                     ///< Else they have no moment as they are made.
  Real natural_twist;                          ///< Of the directors, right-handed along the strand [rad/m].
  bool meets_grid = false;                     ///< By its vertices, each with all of its mass.
  std::optional<StrandContinuum> continuum{};  ///< Without, they have no stress there.
  std::optional<CurveNumbers> part{};          ///< This rank has some of the strands alone, `curves`; else
                                               ///< there is one rank.
  bool has_balanced_turns = false;             ///< Turns have no inertia.
};
/// Throws Error(geometry) for segments without length, and curves that fold back or bend more sharply than they are
/// thick.
std::unique_ptr<MeshSource> make_strands(StrandDescription strands);

}  // namespace weft
