#pragma once
// Solids of a deck, and their tetrahedra.

#include "weft/base/types.hpp"
#include "weft/deck/carried.hpp"
#include "weft/deck/location.hpp"
#include "weft/deck/shapes.hpp"

#include <optional>
#include <string>
#include <variant>

namespace weft {

// Tetrahedra of solids; the deck gives exactly one of these keys.
struct TetFileDeck {
  std::string file;
};
struct BlockDeck {
  Vec3 lower, upper;  ///< Corners [m].
};
struct TetMeshDeck {
  std::variant<TetFileDeck, BlockDeck, ShapeDeck> form;
  std::optional<Real> size;        ///< Of the edges of what is made here, at most [m].
  std::optional<Real> inner_size;  ///< The same deep inside a shape; else `size`.
  Real scale;
  std::optional<RotationDeck> rotate;  ///< About the origin.
  Vec3 translate;
};

/// How the surface of a solid with freedoms of its own meets the grid.
struct SolidContactDeck {
  Real points;                    ///< In an area of dx^2.
  Real restitution;               ///< Of hits of rigid bodies.
  std::optional<Real> tolerance;  ///< Of passes in a step, relative; else as the kind has it.
};

struct SolidDeck : CarriedDeck {
  std::string name;
  std::string material;
  TetMeshDeck mesh;
  std::optional<int> order;                 ///< Of the tetrahedra: 1, 2; without, as the mesh has it.
  std::optional<SolidContactDeck> contact;  ///< Without, four points.
  Real damping;                             ///< Of the motion within elements [1/s].
  Vec3 velocity;                            ///< Initial [m/s].
  Vec3 spin;                                ///< Initial angular velocity about the body's centre of mass [rad/s].
  DeckLocation location;
};

}  // namespace weft
