#pragma once
// Handles of a deck, and their loads.

#include "weft/base/kinds.hpp"
#include "weft/base/types.hpp"
#include "weft/deck/location.hpp"
#include "weft/deck/motion.hpp"
#include "weft/deck/shapes.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace weft {

/// A point of a factor over time.
struct AmplitudeKeyDeck {
  Real time;    ///< [s].
  Real factor;  ///< [1].
};
enum class Axis { x, y, z };

// What a handle does; the deck gives exactly one of these keys. Loads without amplitude grow in proportion to time, to
// their full size at time.end.
struct HoldDeck {
  Hold keep;
  std::vector<Axis> axes;      ///< Components of the position that are prescribed.
  std::optional<Vec3> normal;  ///< Of the plane of symmetry.
  std::optional<MotionDeck> motion;
  Real until;  ///< Then the part is let go [s].
};
struct ForceDeck {
  Vec3 total;  ///< [N], shared by the vertices chosen.
  std::vector<AmplitudeKeyDeck> amplitude;
};
struct EdgeForceDeck {
  Vec3 per_length;  ///< [N/m].
  std::vector<AmplitudeKeyDeck> amplitude;
};
struct EdgeMomentDeck {
  Real per_length;  ///< [N].
  std::vector<AmplitudeKeyDeck> amplitude;
};
struct PressureDeck {
  Real value;  ///< [Pa].
  std::vector<AmplitudeKeyDeck> amplitude;
};
struct TractionDeck {
  Vec3 per_area;  ///< [Pa].
  std::vector<AmplitudeKeyDeck> amplitude;
};
struct GravityDeck {
  Vec3 acceleration;  ///< [m/s^2].
  std::vector<AmplitudeKeyDeck> amplitude;
};
using HandleActionDeck =
    std::variant<HoldDeck, ForceDeck, EdgeForceDeck, EdgeMomentDeck, PressureDeck, TractionDeck, GravityDeck>;

struct HandleDeck {
  std::string name;
  std::string body;
  // Which part of the body, at rest: what satisfies all that is given; all of it without any.
  std::optional<ShapeDeck> where;
  std::optional<std::string> group;  ///< Of the mesh file.
  std::vector<int> vertices;         ///< Numbers of control points.
  std::optional<int> boundary;       ///< Number of a closed line of boundary edges.
  HandleActionDeck action;
  DeckLocation location;
};

}  // namespace weft
