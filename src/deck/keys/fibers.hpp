#pragma once
// Key tables of fibers, strands and the curves they are made from.

#include "deck/keys/bodies.hpp"
#include "deck/table.hpp"
#include "weft/deck/deck.hpp"

namespace weft::deck {

template <>
inline constexpr auto keys<CurveFileDeck> =
    table("curve_file", "Curves from a file.",
          Key{"path", a_file, required, "OBJ (lines), .hair or .bcc; the path is relative to the deck.",
              &CurveFileDeck::file});

template <>
inline constexpr auto keys<HairTubeDeck> =
    table("hair_tube", "Straight strands along z from 0, spread over the ring between two radii.",
          Key{"inner_radius", "m", at_least(0), required, "Inner radius.", &HairTubeDeck::inner_radius},
          Key{"outer_radius", "m", above(0), required, "Outer radius.", &HairTubeDeck::outer_radius},
          Key{"length", "m", above(0), required, "Of each strand.", &HairTubeDeck::length},
          Key{"strands", "1", at_least(1), required, "Their number.", &HairTubeDeck::strands});

template <>
inline constexpr auto keys<HairBallDeck> =
    table("hair_ball", "Straight strands that stand on a sphere about the origin.",
          Key{"radius", "m", above(0), required, "Radius of the sphere.", &HairBallDeck::radius},
          Key{"length", "m", above(0), required, "Of each strand.", &HairBallDeck::length},
          Key{"strands", "1", at_least(1), required, "Their number.", &HairBallDeck::strands});

template <>
inline constexpr auto keys<BraidDeck> = table(
    "braid", "Strands plaited along z.",
    Key{"strands", "1", at_least(3), "3", "Their number; odd.", &BraidDeck::strands},
    Key{"width", "m", above(0), required, "Of the braid, in x.", &BraidDeck::width},
    Key{"depth", "m", above(0), required, "Of the braid, in y.", &BraidDeck::depth},
    Key{"pitch", "m", above(0), required, "A strand comes back to its place after this length.", &BraidDeck::pitch},
    Key{"length", "m", above(0), required, "Of the braid.", &BraidDeck::length});

template <>
inline constexpr auto keys<ShagCarpetDeck> =
    table("shag_carpet", "Pile that stands on the plane z = 0 over [0, width] x [0, depth].",
          Key{"width", "m", above(0), required, "Extent in x.", &ShagCarpetDeck::width},
          Key{"depth", "m", above(0), required, "Extent in y.", &ShagCarpetDeck::depth},
          Key{"height", "m", above(0), required, "Of the pile.", &ShagCarpetDeck::height},
          Key{"gap", "m", above(0), required, "Between neighbouring strands.", &ShagCarpetDeck::gap},
          Key{"lean", "1", at_least(0), "0", "Strands lean at random by up to this much, horizontal over vertical.",
              &ShagCarpetDeck::lean},
          Key{"seed", "1", at_least(0).at_most(4294967295), "0", "Another seed gives another carpet.",
              &ShagCarpetDeck::seed});

template <>
inline constexpr auto keys<WeaveDeck> =
    table("weave", "Plain weave in the plane z = 0: warp yarns along y, weft yarns along x, over and under in turn.",
          Key{"warp", "1", at_least(1), required, "Number of warp yarns.", &WeaveDeck::warp},
          Key{"weft", "1", at_least(1), required, "Number of weft yarns.", &WeaveDeck::weft},
          Key{"gap", "m", above(0), required, "Between neighbouring yarns.", &WeaveDeck::gap},
          Key{"amplitude", "m", above(0), required, "Yarns pass at this height above and below the plane.",
              &WeaveDeck::amplitude});

template <>
inline constexpr auto keys<KnitDeck> =
    table("knit",
          "Knitted fabric in the plane z = 0: each row is a yarn along x, its loops go through those of the row below.",
          Key{"stitches", "1", at_least(1), required, "Stitches in a row.", &KnitDeck::stitches},
          Key{"rows", "1", at_least(1), required, "Number of rows.", &KnitDeck::rows},
          Key{"width", "m", above(0), required, "Of a stitch; rows are 0.9 of it apart.", &KnitDeck::width},
          Key{"depth", "m", above(0), required, "Loops reach from -depth to depth; 0.3 widths leave room for the yarn.",
              &KnitDeck::depth},
          Key{"pattern", "k", "Columns in turn, k for knit and p for purl: k is stockinette, kp and kkpp are ribs.",
              &KnitDeck::pattern});

template <>
inline constexpr auto keys<KnitSweaterDeck> = table(
    "knit_sweater",
    "A jumper knitted in one piece of rings, upright along z with its hem at z = 0: a body, sleeves beside it in x, "
    "and "
    "a yoke above all three that narrows to the neck. Without rows of body and sleeves it is a poncho.",
    Key{"body_stitches", "1", at_least(4), required, "In a row of the body; even.", &KnitSweaterDeck::body_stitches},
    Key{"sleeve_stitches", "1", at_least(2), required, "In a row of a sleeve.", &KnitSweaterDeck::sleeve_stitches},
    Key{"underarm", "1", at_least(0), "3", "Stitches of body and sleeve that meet under an arm.",
        &KnitSweaterDeck::underarm},
    Key{"body_rows", "1", at_least(0), required, "Rows of the body below the yoke.", &KnitSweaterDeck::body_rows},
    Key{"sleeve_rows", "1", at_least(0), required, "Rows of a sleeve below the yoke.", &KnitSweaterDeck::sleeve_rows},
    Key{"yoke_rows", "1", at_least(1), required, "Rows of the yoke.", &KnitSweaterDeck::yoke_rows},
    Key{"width", "m", above(0), required, "Of a stitch; rows are 0.9 of it apart.", &KnitSweaterDeck::width},
    Key{"depth", "m", above(0), required, "Loops reach from -depth to depth; 0.3 widths leave room for the yarn.",
        &KnitSweaterDeck::depth},
    Key{"neck", "1", above(0).at_most(1), "0.6", "Width of stitches at the neck over that elsewhere.",
        &KnitSweaterDeck::neck},
    Key{"spread", "deg", at_least(0).below(90), "20", "Angle of the sleeves against the body.",
        &KnitSweaterDeck::spread});

template <>
inline constexpr auto keys<GroomColliderDeck> = table(
    "on_collider", "On a collider, as it is drawn.",
    Key{"collider", a_name, required, "Name of a collider. Strands stay outside of it.", &GroomColliderDeck::collider});

template <>
inline constexpr auto keys<GroomFileDeck> =
    table("on_file", "On triangles.",
          Key{"file", a_file, required, "OBJ, PLY or STL, faces turned outward; the path is relative to the deck.",
              &GroomFileDeck::file});

template <>
inline constexpr auto keys<WaveDeck> = table(
    "wave", "Waves in a plane; each strand has its own.",
    Key{"amplitude", "m", above(0), required, "How far they go to each side.", &WaveDeck::amplitude},
    Key{"length", "m", above(0), required, "Of a wave.", &WaveDeck::length},
    Key{"spread", "1", at_least(0).below(1), "0", "Strands have 1 - this to 1 + this of both.", &WaveDeck::spread});

template <>
inline constexpr auto keys<CurlDeck> = table(
    "curl", "Helices; each strand has its own.",
    Key{"radius", "m", above(0), required, "Of the helix.", &CurlDeck::radius},
    Key{"length", "m", above(0), required, "Of a turn along the helix's axis.", &CurlDeck::length},
    Key{"spread", "1", at_least(0).below(1), "0", "Strands have 1 - this to 1 + this of both.", &CurlDeck::spread});

template <>
inline constexpr auto keys<GroomDeck> = table(
    "groom",
    "Hair: strands that grow on a surface, spread evenly over it. What has a spread is drawn for each strand, evenly "
    "from value - spread to value + spread.",
    Either{"What they grow on: collider, or file.", &GroomDeck::surface},
    Key{"where", absent, "Roots lie in this shape; without, anywhere.", &GroomDeck::where},
    Key{"strands", "1", at_least(1), required, "Their number.", &GroomDeck::strands},
    Key{"length", "m", above(0), required, "Of each strand, along its middle line without waves and curls.",
        &GroomDeck::length},
    Key{"length_spread", "1", at_least(0).below(1), "0", "Spread of the length, over the length.",
        &GroomDeck::length_spread},
    Key{"lie", "deg", at_least(0).at_most(90), "0", "Angle between a strand and the normal where it begins.",
        &GroomDeck::lie},
    Key{"lie_spread", "deg", at_least(0).at_most(90), "0", "Spread of the angle, which stays between 0 and 90.",
        &GroomDeck::lie_spread},
    Key{"toward", "1", direction, absent, "Strands lie to this side, of any length; without, to any.",
        &GroomDeck::toward},
    Key{"droop", "m", above(0), absent,
        "Along a strand, the tangent of half its angle to `toward` falls by a factor of e in each such length; "
        "without, "
        "strands are straight.",
        &GroomDeck::droop},
    Key{"clearance", "m", at_least(0), "0", "Strands keep as far from the collider, but for their roots.",
        &GroomDeck::clearance},
    Key{"wave", absent, "Makes them wavy.", &GroomDeck::wave},
    Key{"curl", absent, "Makes them curly.", &GroomDeck::curl},
    Key{"seed", "1", at_least(0).at_most(4294967295), "0", "Another seed gives other hair.", &GroomDeck::seed});

template <>
inline constexpr auto keys<PliesDeck> =
    table("plies", "Each curve becomes several strands twisted about it.",
          Key{"count", "1", at_least(2), required, "Number of strands.", &PliesDeck::count},
          Key{"radius", "m", above(0), required, "Distance of the strands from the curve.", &PliesDeck::radius},
          Key{"twist", "m", above(0), required, "Length of curve for one turn.", &PliesDeck::twist});

template <>
inline constexpr auto keys<CurvesDeck> = table(
    "curves", "Curves of straight segments: made, plied, then scaled, turned and moved.",
    OneOf{"The curves.", &CurvesDeck::form}, Key{"plies", absent, "Makes strands of each curve.", &CurvesDeck::plies},
    Key{"spacing", "m", above(0), absent,
        "Of vertices along the curves; without, domain.dx, and files keep theirs; curves that are made need one of "
        "both.",
        &CurvesDeck::spacing},
    Key{"scale", "1", above(0), "1", "Uniform scale.", &CurvesDeck::scale},
    Key{"rotate", absent, "Turn about the origin.", &CurvesDeck::rotate},
    Key{"translate", "m", anything, "[0, 0, 0]", "Shift.", &CurvesDeck::translate});

template <>
inline constexpr auto keys<FiberDeck> = table(
    "fiber", "Hair, yarn, threads: curves in frictional contact with one another and all else.",
    Key{"name", a_name, required, "Names files, columns and references.", &FiberDeck::name},
    Key{"material", a_name, required, "Name of a material with law fiber.", &FiberDeck::material},
    Key{"curves", required,
        "The fibers at rest; what has a bending_modulus is straight at rest. Segments should be about as long as "
        "domain.dx.",
        &FiberDeck::curves},
    Key{"radius", "m", above(0), required, "Of the round section.", &FiberDeck::radius},
    Key{"bending_modulus", "Pa", above(0), absent, "Young's modulus in bending; without, no resistance.",
        &FiberDeck::bending_modulus},
    Key{"tear_stretch", "1", above(1), absent, tear_text, &FiberDeck::tear_stretch},
    Key{"carrier", "grid", carrier_text, &FiberDeck::carrier}, Key{"stage", absent, stage_text, &FiberDeck::stage},
    Key{"meets_grid", absent, meets_grid_text, &FiberDeck::meets_grid},
    Key{"layer", a_name, absent, layer_text, &FiberDeck::layer},
    Key{"velocity", "m/s", anything, "[0, 0, 0]", "Initial velocity.", &FiberDeck::velocity},
    Key{"spin", "rad/s", anything, "[0, 0, 0]", "Initial angular velocity about the centre of mass.",
        &FiberDeck::spin});

template <>
inline constexpr auto keys<RoundSectionDeck> = table(
    "round_section", "A round section.", Key{"radius", "m", above(0), required, "Radius.", &RoundSectionDeck::radius});

template <>
inline constexpr auto keys<EllipticSectionDeck> = table(
    "elliptic_section", "An elliptic section.",
    Key{"half_axes", "m", above(0), required,
        "Two half axes. Where a strand begins, the first one points as near to z as it can, or to x or y where the "
        "strand is closer to z than 45 degrees; along the strand it turns by the natural twist alone.",
        &EllipticSectionDeck::half_axes});

template <>
inline constexpr std::array words<CurveThickness> = {
    Word{CurveThickness::of_file, "of_file", "what a .hair file says of each vertex, in the unit of its places"}};

template <>
inline constexpr auto keys<FileSectionDeck> =
    table("file_section", "Round sections that change along a strand.",
          Key{"thickness", required, "Diameter of the section along the strands.", &FileSectionDeck::thickness});

template <>
inline constexpr std::array words<NaturalShape> = {
    Word{NaturalShape::as_made, "as_made", "as the curves are made, which have no moment then"},
    Word{NaturalShape::straight, "straight", "the curves as they are made are bent"}};

template <>
inline constexpr std::array words<StrandTurns> = {
    Word{StrandTurns::dynamic, "dynamic", "they have inertia, so that waves of twist limit explicit steps"},
    Word{StrandTurns::quasi_static, "quasi_static", "they have none: the energy is least at any moment"}};

template <>
inline constexpr std::array words<ImpulseAveraging> = {
    Word{ImpulseAveraging::largest_count, "largest_count",
         "a pair is divided by the largest number of pairs at one of its vertices, which keeps momentum"},
    Word{ImpulseAveraging::per_vertex, "per_vertex",
         "the sum at a vertex is divided by the number of pairs there, which does not"}};

template <>
inline constexpr auto keys<ImpulsesDeck> = table(
    "impulses", "Impulses between segments that come near one another, of this body and others with this key.",
    Key{"distance", "m", above(0), required,
        "Nearer segments push one another away: about the thickness, and no more than the shortest segment. Two bodies "
        "have the mean.",
        &ImpulsesDeck::distance},
    Key{"iterations", "1", at_least(1).at_most(1000), "5", "At most, in each step; the same for all such bodies.",
        &ImpulsesDeck::iterations},
    Key{"friction", "1", at_least(0), "0", "Coulomb's coefficient. Two bodies have the mean.", &ImpulsesDeck::friction},
    Key{"averaging", "largest_count", "Of several pairs at one vertex; the same for all such bodies.",
        &ImpulsesDeck::averaging},
    Key{"swept", "false",
        "Also stop segments that would cross within a step. Without, no vertex goes further in a step than time.cfl "
        "times `distance`. The same for all such bodies.",
        &ImpulsesDeck::swept});

template <>
inline constexpr std::array words<StrandResponse> = {
    Word{StrandResponse::elastoplastic, "elastoplastic", "a continuum with pressure and friction, if there is contact"},
    Word{StrandResponse::none, "none", "no stress; nodes share velocities all the same"}};

template <>
inline constexpr auto keys<StrandContactDeck> =
    table("strand_contact", "The continuum that strands are for one another and all else on their layer.",
          Key{"youngs_modulus", "Pa", above(0), required, "Young's modulus.", &StrandContactDeck::youngs_modulus},
          Key{"poisson_ratio", "1", above(-1).below(0.5), "0.3", "Poisson's ratio.", &StrandContactDeck::poisson_ratio},
          Key{"friction", "1", at_least(0).at_most(1.7), required, "Shear over normal stress of a layer that slides.",
              &StrandContactDeck::friction},
          Key{"packing", "1", above(0).at_most(1), "0.3",
              "Volume of strands in that of the continuum at rest: where they are denser, they press.",
              &StrandContactDeck::packing});

template <>
inline constexpr auto keys<RootsDeck> =
    table("roots", "Clamps strands that begin in a collider to its motion.",
          Key{"collider", a_name, required, "Name of a collider.", &RootsDeck::collider},
          Key{"depth", "m", at_least(0), "0", "First vertices are in it, or no farther from it than this.",
              &RootsDeck::depth});

template <>
inline constexpr auto keys<StrandDeck> =
    table("strand", "Hair, cables, springs: elastic rods that resist stretching, bending and twisting.",
          Key{"name", a_name, required, "Names files, columns and references.", &StrandDeck::name},
          Key{"material", a_name, required, "Name of a material with law rod.", &StrandDeck::material},
          Key{"curves", required, "The strands at the start.", &StrandDeck::curves},
          Either{"The section: radius, half_axes, or thickness.", &StrandDeck::section},
          Key{"taper", "1", above(0).at_most(1), absent,
              "Thickness where a strand ends over that where it begins, linear along the strand.", &StrandDeck::taper},
          Key{"natural", "as_made", "The shape without moment.", &StrandDeck::natural},
          Key{"twist", "rad/m", anything, "0", "Natural twist of the section, right-handed along the strand.",
              &StrandDeck::twist},
          Key{"turns", "dynamic", "How segments turn about themselves in time; static analyses balance them.",
              &StrandDeck::turns},
          Key{"roots", absent, "Ties strands to a collider; without, handles alone do.", &StrandDeck::roots},
          Key{"carrier", "own", "Whose freedoms move the body; strands move by themselves only.", &StrandDeck::carrier},
          Key{"stage", absent, "How its own freedoms move in time.", &StrandDeck::stage},
          Key{"meets_grid", absent,
              "Whether its vertices meet others on the grid, and colliders; absent: false, and nothing touches them.",
              &StrandDeck::meets_grid},
          Key{"layer", a_name, absent, "Name of its grid layer; absent: \"materials\". For \"meets_grid: true\".",
              &StrandDeck::layer},
          Key{"contact", absent, "What strands resist on the grid; without, nothing. For \"meets_grid: true\".",
              &StrandDeck::contact},
          Key{"response", "elastoplastic", "What strands are on the grid.", &StrandDeck::response},
          Key{"blend", absent, "What vertices take over from nodes; without, pic_rate 10 /s. For \"meets_grid: true\".",
              &StrandDeck::blend},
          Key{"impulses", absent, "Contact of strands with strands; without, they pass through one another.",
              &StrandDeck::impulses},
          Key{"stretch_limit", "1", above(0).below(1), absent,
              "Segments are kept between 1 - this and 1 + this of their length at rest, nearly, by impulses along "
              "them.",
              &StrandDeck::stretch_limit},
          Key{"velocity", "m/s", anything, "[0, 0, 0]", "Initial velocity.", &StrandDeck::velocity},
          Key{"spin", "rad/s", anything, "[0, 0, 0]", "Initial angular velocity about the centre of mass.",
              &StrandDeck::spin});

}  // namespace weft::deck
