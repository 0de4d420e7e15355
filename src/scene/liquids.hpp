#pragma once
// Which bodies are liquid.

#include "weft/deck/deck.hpp"

#include <algorithm>
#include <variant>

namespace weft {

/// Whether a body is a continuum of a liquid's law.
inline bool is_liquid(const Deck& deck, const BodyDeck& body) {
  const ContinuumDeck* continuum = std::get_if<ContinuumDeck>(&body);
  if (continuum == nullptr) return false;
  const auto material = std::ranges::find(deck.materials, continuum->material, &MaterialDeck::name);
  return std::holds_alternative<TaitDeck>(material->law);
}

}  // namespace weft
