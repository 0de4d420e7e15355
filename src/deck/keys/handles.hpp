#pragma once
// Key tables of handles.

#include "deck/keys/scene.hpp"
#include "deck/table.hpp"
#include "weft/deck/deck.hpp"

namespace weft::deck {

template <>
inline constexpr std::array words<Hold> = {
    Word{Hold::place, "place", "where the material is; it may turn about the held part"},
    Word{
        Hold::clamp, "clamp",
        "on a boundary of a shell also the slope, and at an end of a strand its direction and twist; at other vertices "
        "of these as place"},
    Word{Hold::symmetry, "symmetry", "the boundary in a plane, so that the body goes on as its mirror image"}};

template <>
inline constexpr std::array words<Axis> = {Word{Axis::x, "x", ""}, Word{Axis::y, "y", ""}, Word{Axis::z, "z", ""}};

template <>
inline constexpr auto keys<AmplitudeKeyDeck> = table(
    "amplitude_key", "A factor at a time; linear between, constant before and after. Keys stand in the order of time.",
    Key{"time", "s", anything, required, "When.", &AmplitudeKeyDeck::time},
    Key{"factor", "1", anything, required, "The factor.", &AmplitudeKeyDeck::factor});

inline constexpr const char* amplitude_text =
    "Factor over time, of which a step takes the mean; without, in proportion to time up to 1 at time.end.";

template <>
inline constexpr auto keys<HoldDeck> = table(
    "hold", "Keeps the chosen part where it is, or moves it.", Key{"keep", "place", "What is kept.", &HoldDeck::keep},
    Key{"axes", at_least(1), "[x, y, z]", "Directions in which the place is held.", &HoldDeck::axes},
    Key{"normal", "1", direction, absent, "Normal of the plane of symmetry; of any length.", &HoldDeck::normal},
    Key{"motion", absent, "How the part moves, rigidly; without, it rests.", &HoldDeck::motion},
    Key{"until", "s", above(0).or_none(), "none", "Then the part is let go; in steps of the grid.", &HoldDeck::until});

template <>
inline constexpr auto keys<ForceDeck> =
    table("force", "A force that keeps its direction, in equal parts on the chosen vertices or particles.",
          Key{"total", "N", anything, required, "All of it together.", &ForceDeck::total},
          Key{"amplitude", "[]", amplitude_text, &ForceDeck::amplitude});

template <>
inline constexpr auto keys<EdgeForceDeck> =
    table("edge_force", "A force that keeps its direction, spread along the chosen boundary.",
          Key{"per_length", "N/m", anything, required, "Per length at rest.", &EdgeForceDeck::per_length},
          Key{"amplitude", "[]", amplitude_text, &EdgeForceDeck::amplitude});

template <>
inline constexpr auto keys<EdgeMomentDeck> =
    table("edge_moment", "A moment along the chosen boundary, about the boundary as it is.",
          Key{"per_length", "N", anything, required,
              "Per length at rest; positive is right-handed about the direction that has the material on its left, "
              "seen from the side of the normal.",
              &EdgeMomentDeck::per_length},
          Key{"amplitude", "[]", amplitude_text, &EdgeMomentDeck::amplitude});

template <>
inline constexpr auto keys<PressureDeck> =
    table("pressure", "Pressure on the chosen part; it follows the surface.",
          Key{"value", "Pa", anything, required,
              "Positive pushes along the normal of a sheet or shell, and into a solid.", &PressureDeck::value},
          Key{"amplitude", "[]", amplitude_text, &PressureDeck::amplitude});

template <>
inline constexpr auto keys<TractionDeck> =
    table("traction",
          "A force on the chosen surface that keeps its direction. Of a continuum the particles of the outermost layer "
          "carry it, one spacing of particles deep.",
          Key{"per_area", "Pa", anything, required, "Per area at rest.", &TractionDeck::per_area},
          Key{"amplitude", "[]", amplitude_text, &TractionDeck::amplitude});

template <>
inline constexpr auto keys<GravityDeck> =
    table("gravity", "Gravity on the chosen part alone, besides domain.gravity.",
          Key{"acceleration", "m/s^2", anything, required, "Acceleration.", &GravityDeck::acceleration},
          Key{"amplitude", "[]", amplitude_text, &GravityDeck::amplitude});

template <>
inline constexpr auto keys<HandleDeck> = table(
    "handle",
    "Holds, moves or loads a part of a body. Slopes and moments are for shells, groups for meshes of files; continua "
    "have where, and "
    "hold, force, traction or gravity.",
    Key{"name", a_name, required, "Names columns.", &HandleDeck::name},
    Key{"body", a_name, required, "Name of a body.", &HandleDeck::body},
    Key{"where", absent, "The part of the body that is inside this shape at rest.", &HandleDeck::where},
    Key{"group", absent,
        "The part that belongs to this group of the mesh file: faces and points (`p`) under a name in OBJ, those whose "
        "whole-number property `group` is this in PLY, or a physical group in MSH.",
        &HandleDeck::group},
    Key{"vertices", "1", at_least(0), "[]",
        "Vertices by number, counted from 0 in the order of the mesh file, or along the curves. Where faces or "
        "edges were divided, those between listed ones alone are chosen, too.",
        &HandleDeck::vertices},
    Key{"boundary", "1", at_least(0), absent,
        "A closed line of boundary edges, or of a solid a part of its surface, by number; `weft check` counts them. "
        "What satisfies all keys that are "
        "given is chosen; without any, all of the body.",
        &HandleDeck::boundary},
    OneOf{"What it does.", &HandleDeck::action});

}  // namespace weft::deck
