#pragma once
// Key tables of shapes.

#include "deck/table.hpp"
#include "weft/deck/deck.hpp"

namespace weft::deck {

template <>
inline constexpr auto keys<PlaneDeck> = table(
    "plane", "A half space; for colliders and handles.",
    Key{"point", "m", anything, required, "Any point of the plane.", &PlaneDeck::point},
    Key{"normal", "1", direction, required, "Points away from the solid side; of any length.", &PlaneDeck::normal});

template <>
inline constexpr auto keys<BoxDeck> =
    table("box", "A box along the axes.", Key{"lower", "m", anything, required, "Lowest corner.", &BoxDeck::lower},
          Key{"upper", "m", anything, required, "Highest corner.", &BoxDeck::upper});

template <>
inline constexpr auto keys<SphereDeck> =
    table("sphere", "A ball.", Key{"center", "m", anything, required, "Its centre.", &SphereDeck::center},
          Key{"radius", "m", above(0), required, "Its radius.", &SphereDeck::radius});

template <>
inline constexpr auto keys<CylinderDeck> =
    table("cylinder", "A cylinder with flat ends.",
          Key{"from", "m", anything, required, "Centre of one end.", &CylinderDeck::from},
          Key{"to", "m", anything, required, "Centre of the other end.", &CylinderDeck::to},
          Key{"radius", "m", above(0), required, "Its radius.", &CylinderDeck::radius});

template <>
inline constexpr auto keys<CapsuleDeck> =
    table("capsule", "All points near a line segment.",
          Key{"from", "m", anything, required, "One end of the segment.", &CapsuleDeck::from},
          Key{"to", "m", anything, required, "The other end of the segment.", &CapsuleDeck::to},
          Key{"radius", "m", above(0), required, "Distance of the surface from the segment.", &CapsuleDeck::radius});

template <>
inline constexpr auto keys<EllipsoidDeck> =
    table("ellipsoid", "An ellipsoid along the axes.",
          Key{"center", "m", anything, required, "Its centre.", &EllipsoidDeck::center},
          Key{"radii", "m", above(0), required, "Its half axes.", &EllipsoidDeck::radii});

template <>
inline constexpr auto keys<TorusDeck> = table(
    "torus", "A ring.", Key{"center", "m", anything, required, "Its centre.", &TorusDeck::center},
    Key{"axis", "1", direction, required, "Direction of the axis of symmetry; of any length.", &TorusDeck::axis},
    Key{"major_radius", "m", above(0), required, "Radius of the circle along the tube.", &TorusDeck::major_radius},
    Key{"minor_radius", "m", above(0), required, "Radius of the tube; below the major one.", &TorusDeck::minor_radius});

template <>
inline constexpr auto keys<MeshDeck> =
    table("mesh", "A closed triangle mesh.",
          Key{"file", a_file, required, "OBJ, PLY or STL; the path is relative to the deck.", &MeshDeck::file});

template <>
inline constexpr auto keys<RotationDeck> =
    table("rotation", "A turn about an axis.",
          Key{"axis", "1", direction, required, "Direction of the axis; of any length.", &RotationDeck::axis},
          Key{"angle", "deg", anything, required, "Right-handed about the axis.", &RotationDeck::angle});

template <>
inline constexpr auto keys<UnionPartDeck> =
    table("union_part", "A part of a union: one form, then scaled, turned and moved, in this order.",
          OneOf{"The form.", &UnionPartDeck::form},
          Key{"scale", "1", above(0), "1", "Factor about the origin.", &UnionPartDeck::scale},
          Key{"rotate", absent, "Turn about the origin.", &UnionPartDeck::rotate},
          Key{"translate", "m", anything, "[0, 0, 0]", "Shift.", &UnionPartDeck::translate});

template <>
inline constexpr auto keys<UnionDeck> =
    table("union", "Shapes that flow into one another.",
          Key{"parts", required, "The shapes, one at least, in any order.", &UnionDeck::parts},
          Key{"blend", "m", above(0), required,
              "Radius of the fillet where two parts meet at right angles; parts that are further apart do not matter.",
              &UnionDeck::blend});

template <>
inline constexpr auto keys<ShapeDeck> =
    table("shape", "A solid region of space: one form, then scaled, turned and moved, in this order.",
          OneOf{"The form.", &ShapeDeck::form},
          Key{"scale", "1", above(0), "1", "Factor about the origin.", &ShapeDeck::scale},
          Key{"rotate", absent, "Turn about the origin.", &ShapeDeck::rotate},
          Key{"translate", "m", anything, "[0, 0, 0]", "Shift.", &ShapeDeck::translate});

}  // namespace weft::deck
