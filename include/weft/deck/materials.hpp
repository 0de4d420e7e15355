#pragma once
// Materials of a deck: constants of laws.

#include "weft/base/types.hpp"
#include "weft/deck/location.hpp"

#include <optional>
#include <string>
#include <variant>

namespace weft {

/// Stiffness of an isotropic elastic law; the deck gives one complete pair of keys, flat in the material.
struct YoungDeck {
  Real youngs_modulus;  ///< [Pa].
  Real poisson_ratio;   ///< [1].
};
struct LameDeck {
  Real lame_lambda, lame_mu;  ///< [Pa].
};
using StiffnessDeck = std::variant<YoungDeck, LameDeck>;

// One struct for each law; the deck key `law` chooses.
struct FixedCorotatedDeck {
  StiffnessDeck stiffness;
};
struct NeoHookeanDeck {
  StiffnessDeck stiffness;
};
struct StvkHenckyDeck {
  StiffnessDeck stiffness;
};
struct DruckerPragerDeck {
  StiffnessDeck stiffness;
  Real friction_angle;      ///< [rad]; degrees in the deck. h0 of Klar 2016.
  Real cohesion;            ///< Tension carried at zero shear [Pa].
  Real hardening_gain;      ///< h1 [rad]; 0: friction angle stays.
  Real hardening_rate;      ///< h2 [1].
  Real hardening_residual;  ///< h3 [rad].
  bool volume_correction;
};
struct SnowDeck {
  StiffnessDeck stiffness;
  Real critical_compression, critical_stretch;  ///< theta_c, theta_s [1].
  Real hardening;                               ///< xi [1].
};
struct VonMisesDeck {
  StiffnessDeck stiffness;
  Real yield_stress;       ///< In uniaxial tension [Pa].
  Real hardening_modulus;  ///< d(uniaxial yield stress)/d(plastic strain) [Pa].
};
struct TaitDeck {
  Real bulk_modulus;  ///< At rest density: K g of docs/theory/laws.md, 5.7 [Pa].
  Real exponent;      ///< g [1].
  Real viscosity;     ///< Dynamic [Pa s].
};
struct HerschelBulkleyDeck {
  Real shear_modulus, bulk_modulus;  ///< [Pa].
  Real yield_stress;                 ///< In uniaxial tension [Pa].
  Real consistency;                  ///< eta [Pa s^h].
  Real flow_index;                   ///< h [1].
};

/// Frictional contact of sheets.
struct SheetContactDeck {
  Real stiffness;                       ///< k [Pa].
  std::optional<Real> shear_stiffness;  ///< gamma [Pa].
  Real friction;                        ///< c_F [1].
};
// Laws of membranes.
struct SheetLawDeck {
  StiffnessDeck stiffness;
  SheetContactDeck contact;
};
struct WovenSheetLawDeck {
  Real warp_modulus, weft_modulus;  ///< Young's moduli [Pa].
  Real poisson_ratio;               ///< Of the weft, as the warp is stretched.
  Real shear_modulus;               ///< [Pa].
  SheetContactDeck contact;
};

struct FrictionAngleDeck {
  Real friction_angle;  ///< [rad]; degrees in the deck.
};
struct FrictionPairDeck {
  Real friction_along, friction_across;  ///< beta and alpha [1].
};
/// The law of fibers.
struct FiberLawDeck {
  Real stretch_modulus;               ///< k, along the fiber [Pa].
  std::optional<Real> shear_modulus;  ///< gamma, of the sides [Pa].
  StiffnessDeck stiffness;            ///< Of the section.
  std::variant<FrictionAngleDeck, FrictionPairDeck> friction;
};

/// The law of strands.
struct RodLawDeck {
  Real youngs_modulus;                  ///< In bending, and along the strand unless that is given [Pa].
  Real poisson_ratio;                   ///< Of the shear modulus in twist.
  std::optional<Real> stretch_modulus;  ///< Young's modulus along the strand [Pa].
  Real viscosity;                       ///< Dynamic [Pa s].
};

/// Woven fabrics whose tension was measured, in the order of fabrics().
enum class FabricKind { silk, cotton, canvas, denim, wool };
struct FabricDeck {
  FabricKind fabric;
};

using LawDeck =
    std::variant<FixedCorotatedDeck, NeoHookeanDeck, StvkHenckyDeck, DruckerPragerDeck, SnowDeck, VonMisesDeck,
                 TaitDeck, HerschelBulkleyDeck, SheetLawDeck, WovenSheetLawDeck, FiberLawDeck, RodLawDeck, FabricDeck>;

struct MaterialDeck {
  std::string name;
  Real density;  ///< Rest density [kg/m^3].
  LawDeck law;
  DeckLocation location;
};

}  // namespace weft
