#pragma once
// Where something stands in a deck.

#include <string>

namespace weft {

/// Where something stands in a deck, for messages of later stages: "decks/a.yaml:14:5: materials.sand".
struct DeckLocation {
  std::string text;
};

}  // namespace weft
