#pragma once
// Keys that bodies of several kinds have in common: their grid layer, and what carries them.

#include "weft/base/kinds.hpp"
#include "weft/base/types.hpp"

#include <optional>
#include <string>
#include <variant>

namespace weft {

/// The grid layer of a body; the key is the same for every kind.
struct LayeredDeck {
  std::optional<std::string> layer;  ///< Else the first one, or one of its own for freedoms of its own.
};

// How much of the velocities of nodes points take over; the deck gives exactly one of these keys.
struct PicShareDeck {
  Real share;  ///< In each step.
  bool operator==(const PicShareDeck&) const = default;
};
struct PicRateDeck {
  Real rate;  ///< [1/s].
  bool operator==(const PicRateDeck&) const = default;
};
struct BlendDeck {
  std::variant<PicShareDeck, PicRateDeck> pic;
  bool operator==(const BlendDeck&) const = default;
};

/// How a body with freedoms of its own moves in time.
struct StageDeck {
  StageScheme scheme;
  int substeps;    ///< In each step; 0: as many as are stable, one if it is implicit.
  Real tolerance;  ///< Of implicit ones: unbalanced force over the largest one.
};

/// What carries a body with a mesh; the keys are the same for every kind.
struct CarriedDeck : LayeredDeck {
  Carrier carrier;
  std::optional<StageDeck> stage;  ///< For freedoms of its own.
  std::optional<bool> meets_grid;  ///< Else as the kind and its carrier have it.
};

}  // namespace weft
