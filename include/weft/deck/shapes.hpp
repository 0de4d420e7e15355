#pragma once
// Shapes of a deck: bodies, regions and colliders are made of them.

#include "weft/base/types.hpp"
#include "weft/deck/location.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace weft {

// Shapes: the deck gives exactly one of these keys, plus the transform keys (applied as scale, rotate, translate).
struct PlaneDeck {
  Vec3 point, normal;
};  ///< The solid side is opposite to the normal. Colliders only.
struct BoxDeck {
  Vec3 lower, upper;
};
struct SphereDeck {
  Vec3 center;
  Real radius;
};
struct CylinderDeck {
  Vec3 from, to;
  Real radius;
};
struct CapsuleDeck {
  Vec3 from, to;
  Real radius;
};
struct EllipsoidDeck {
  Vec3 center, radii;
};
struct TorusDeck {
  Vec3 center, axis;
  Real major_radius, minor_radius;
};
struct MeshDeck {
  std::string file;
};  ///< Closed triangle mesh: OBJ, PLY or STL; path relative to the deck.

struct RotationDeck {
  Vec3 axis;
  Real angle;  ///< [rad]; degrees in the deck.
};

struct UnionPartDeck {
  std::variant<BoxDeck, SphereDeck, CylinderDeck, CapsuleDeck, EllipsoidDeck, TorusDeck> form;
  Real scale;
  std::optional<RotationDeck> rotate;  ///< About the origin.
  Vec3 translate;
};
struct UnionDeck {
  std::vector<UnionPartDeck> parts;  ///< At least one.
  Real blend;                        ///< Radius of fillets [m].
};

struct ShapeDeck {
  std::variant<PlaneDeck, BoxDeck, SphereDeck, CylinderDeck, CapsuleDeck, EllipsoidDeck, TorusDeck, MeshDeck, UnionDeck>
      form;
  Real scale;
  std::optional<RotationDeck> rotate;  ///< About the origin.
  Vec3 translate;
  DeckLocation location;
};

}  // namespace weft
