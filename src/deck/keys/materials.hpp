#pragma once
// Key tables of materials.

#include "deck/table.hpp"
#include "weft/deck/deck.hpp"

namespace weft::deck {

template <>
inline constexpr std::array words<FabricKind> = {
    Word{FabricKind::silk, "silk", "0.239 mm, 347 kg/m^3"}, Word{FabricKind::cotton, "cotton", "0.253 mm, 409 kg/m^3"},
    Word{FabricKind::canvas, "canvas", "0.37 mm, 795 kg/m^3"},
    Word{FabricKind::denim, "denim", "0.66 mm, 606 kg/m^3; linear moduli alone"},
    Word{FabricKind::wool, "wool", "1.28 mm, 375 kg/m^3; linear moduli alone"}};

template <>
inline constexpr auto keys<YoungDeck> =
    table("young", "Young's modulus and Poisson's ratio.",
          Key{"youngs_modulus", "Pa", above(0), required, "Young's modulus.", &YoungDeck::youngs_modulus},
          Key{"poisson_ratio", "1", above(-1).below(0.5), required, "Poisson's ratio.", &YoungDeck::poisson_ratio});

template <>
inline constexpr auto keys<LameDeck> =
    table("lame", "The Lame parameters.",
          Key{"lame_lambda", "Pa", anything, required, "First Lame parameter; above -2/3 of lame_mu.",
              &LameDeck::lame_lambda},
          Key{"lame_mu", "Pa", above(0), required, "Second Lame parameter, the shear modulus.", &LameDeck::lame_mu});

inline constexpr const char* stiffness =
    "The stiffness: youngs_modulus with poisson_ratio, or lame_lambda with lame_mu.";

template <>
inline constexpr auto keys<FixedCorotatedDeck> =
    table("fixed_corotated", "Rubber and jelly: elastic, survives inversion [Stomakhin et al. 2012].",
          Either{stiffness, &FixedCorotatedDeck::stiffness});

template <>
inline constexpr auto keys<NeoHookeanDeck> =
    table("neo_hookean", "Rubber: elastic, never inverts.", Either{stiffness, &NeoHookeanDeck::stiffness});

template <>
inline constexpr auto keys<StvkHenckyDeck> =
    table("stvk_hencky", "Elastic, quadratic in the logarithmic strain; for moderate stretch.",
          Either{stiffness, &StvkHenckyDeck::stiffness});

template <>
inline constexpr auto keys<DruckerPragerDeck> = table(
    "drucker_prager", "Sand and other grains: friction carries shear, tension only by cohesion [Klar et al. 2016].",
    Either{stiffness, &DruckerPragerDeck::stiffness},
    Key{"friction_angle", "deg", above(0).below(90), "30", "Angle of internal friction.",
        &DruckerPragerDeck::friction_angle},
    Key{"cohesion", "Pa", at_least(0), "0", "Tension carried at zero shear.", &DruckerPragerDeck::cohesion},
    Key{"hardening_gain", "deg", at_least(0).below(90), "0",
        "h1 in the friction angle h0 + (h1 q - h3) exp(-h2 q) after the plastic strain q.",
        &DruckerPragerDeck::hardening_gain},
    Key{"hardening_rate", "1", at_least(0), "0.2", "h2 of the friction angle.", &DruckerPragerDeck::hardening_rate},
    Key{"hardening_residual", "deg", at_least(0).below(90), "0", "h3 of the friction angle.",
        &DruckerPragerDeck::hardening_residual},
    Key{"volume_correction", "true", "Give back the volume that grains gained while they were apart.",
        &DruckerPragerDeck::volume_correction});

template <>
inline constexpr auto keys<SnowDeck> =
    table("snow", "Snow: elastic within limits of stretch, hardens when packed [Stomakhin et al. 2013].",
          Either{stiffness, &SnowDeck::stiffness},
          Key{"critical_compression", "1", above(0).below(1), "0.025", "Compression at which it begins to pack.",
              &SnowDeck::critical_compression},
          Key{"critical_stretch", "1", above(0), "0.0075", "Stretch at which it begins to break.",
              &SnowDeck::critical_stretch},
          Key{"hardening", "1", at_least(0), "10", "Exponent with which packing stiffens.", &SnowDeck::hardening});

template <>
inline constexpr auto keys<VonMisesDeck> = table(
    "von_mises", "Metal: elastic, then flows at constant volume under shear.",
    Either{stiffness, &VonMisesDeck::stiffness},
    Key{"yield_stress", "Pa", above(0), required, "Yield stress in uniaxial tension.", &VonMisesDeck::yield_stress},
    Key{"hardening_modulus", "Pa", at_least(0), "0", "Rise of the uniaxial yield stress with plastic strain.",
        &VonMisesDeck::hardening_modulus});

template <>
inline constexpr auto keys<TaitDeck> = table(
    "tait", "Liquid, weakly compressible. Choose the bulk modulus for a speed of sound ten times the fastest flow.",
    Key{"bulk_modulus", "Pa", above(0), required, "Bulk modulus at rest density.", &TaitDeck::bulk_modulus},
    Key{"exponent", "1", above(1), "7", "How fast pressure grows with density.", &TaitDeck::exponent},
    Key{"viscosity", "Pa s", at_least(0), "0", "Dynamic viscosity.", &TaitDeck::viscosity});

template <>
inline constexpr auto keys<HerschelBulkleyDeck> = table(
    "herschel_bulkley", "Goo, foam, dough: elastic below the yield stress, flows above it [Yue et al. 2015].",
    Key{"shear_modulus", "Pa", above(0), required, "Shear modulus.", &HerschelBulkleyDeck::shear_modulus},
    Key{"bulk_modulus", "Pa", above(0), required, "Bulk modulus.", &HerschelBulkleyDeck::bulk_modulus},
    Key{"yield_stress", "Pa", at_least(0), required, "Yield stress in uniaxial tension.",
        &HerschelBulkleyDeck::yield_stress},
    Key{"consistency", "Pa s", at_least(0), required,
        "Resistance to flow beyond yield, in Pa s to the flow index; with the index 1, twice the viscosity in shear.",
        &HerschelBulkleyDeck::consistency},
    Key{"flow_index", "1", above(0), "1", "Below 1 the goo thins when sheared fast, above 1 it thickens.",
        &HerschelBulkleyDeck::flow_index});

template <>
inline constexpr auto keys<SheetContactDeck> =
    table("sheet_contact", "What fills the space around a sheet where it meets something [Jiang et al. 2017].",
          Key{"stiffness", "Pa", above(0), required, "k: pressure k (1 - s)^2 at the compression s.",
              &SheetContactDeck::stiffness},
          Key{"shear_stiffness", "Pa", at_least(0), absent,
              "gamma: resists sliding up to friction; 0: no friction. Without, a tenth of the stiffness where there is "
              "friction.",
              &SheetContactDeck::shear_stiffness},
          Key{"friction", "1", at_least(0), "0", "Coulomb's coefficient.", &SheetContactDeck::friction});

template <>
inline constexpr auto keys<SheetLawDeck> =
    table("sheet", "Cloth for membranes: isotropic in its plane, frictional contact across it.",
          Either{stiffness, &SheetLawDeck::stiffness},
          Key{"contact", required, "Frictional contact.", &SheetLawDeck::contact});

template <>
inline constexpr auto keys<WovenSheetLawDeck> = table(
    "woven_sheet", "Woven cloth for membranes: other stiffness along the warp than along the weft.",
    Key{"warp_modulus", "Pa", above(0), required, "Young's modulus along the warp.", &WovenSheetLawDeck::warp_modulus},
    Key{"weft_modulus", "Pa", above(0), required, "Young's modulus along the weft.", &WovenSheetLawDeck::weft_modulus},
    Key{"poisson_ratio", "1", above(-1).below(1), "0",
        "Shrinking of the weft as the warp is stretched; its square is below warp_modulus / weft_modulus.",
        &WovenSheetLawDeck::poisson_ratio},
    Key{"shear_modulus", "Pa", at_least(0), required, "Shear modulus.", &WovenSheetLawDeck::shear_modulus},
    Key{"contact", required, "Frictional contact.", &WovenSheetLawDeck::contact});

template <>
inline constexpr auto keys<FrictionAngleDeck> =
    table("friction_angle", "One angle for both frictions.",
          Key{"friction_angle", "deg", at_least(0).below(90), required,
              "phi: friction tan(phi) along fibers and sqrt(2/3) 2 sin(phi) / (3 - sin(phi)) across.",
              &FrictionAngleDeck::friction_angle});

template <>
inline constexpr auto keys<FrictionPairDeck> =
    table("friction_pair", "Each friction by itself.",
          Key{"friction_along", "1", at_least(0), required, "Coulomb's coefficient along the fibers.",
              &FrictionPairDeck::friction_along},
          Key{"friction_across", "1", at_least(0), required, "Coulomb's coefficient across the fibers.",
              &FrictionPairDeck::friction_across});

template <>
inline constexpr auto keys<FiberLawDeck> = table(
    "fiber", "Hair, yarn and threads: elastic along the fiber, frictional contact around it [Jiang et al. 2017].",
    Key{"stretch_modulus", "Pa", above(0), required, "Young's modulus along the fiber.",
        &FiberLawDeck::stretch_modulus},
    Key{"shear_modulus", "Pa", at_least(0), absent,
        "gamma: what surrounds the fiber resists sliding along it up to friction; 0: no friction along. Without, a "
        "tenth of Young's modulus of the contact where there is friction along.",
        &FiberLawDeck::shear_modulus},
    Either{"The stiffness of contact around the fiber: youngs_modulus with poisson_ratio, or lame_lambda with lame_mu.",
           &FiberLawDeck::stiffness},
    Either{"The friction: friction_angle, or friction_along with friction_across.", &FiberLawDeck::friction});

template <>
inline constexpr auto keys<RodLawDeck> = table(
    "rod", "Hair, cables and springs: an elastic rod [Bergou et al. 2008, 2010].",
    Key{"youngs_modulus", "Pa", above(0), required, "Young's modulus.", &RodLawDeck::youngs_modulus},
    Key{"poisson_ratio", "1", above(-1).at_most(0.5), required,
        "Poisson's ratio, which gives the shear modulus in twist.", &RodLawDeck::poisson_ratio},
    Key{"stretch_modulus", "Pa", above(0), absent,
        "Young's modulus along the strand, where another one than in bending is wanted.", &RodLawDeck::stretch_modulus},
    Key{"viscosity", "Pa s", at_least(0), "0",
        "Dynamic viscosity, which damps motion in time: three times it along the strand and in bending, once in twist.",
        &RodLawDeck::viscosity});

template <>
inline constexpr auto keys<FabricDeck> = table(
    "fabric", "Woven fabric for shells, as measured by Clyde, Teran and Tamstorf 2017; warp along material axis 1.",
    Key{"fabric", required, "Which.", &FabricDeck::fabric});

template <>
inline constexpr bool is_named_by_key<MaterialDeck> = true;

template <>
inline constexpr auto keys<MaterialDeck> =
    table("material", "What a body is made of; entries stand under their names.",
          Key{"density", "kg/m^3", above(0), required, "Density at rest.", &MaterialDeck::density},
          Choice{"law", "The constitutive law; its own keys stand beside this one.", &MaterialDeck::law});

}  // namespace weft::deck
