#pragma once
// From a deck file to the Deck struct and back, and the description of the deck language for editors and readers.

#include "weft/deck/deck.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>

namespace weft {

/// The deck in this file, complete and checked: every key has its value, names refer to things that exist, mesh files
/// are there and their paths are absolute. Overrides "key.path=value" replace what the file says, before any check;
/// entries of lists go by name or by number from 0: "bodies.sand.velocity=[1, 0, 0]".
/// Throws Error(ExitCode::deck) with all complaints, one on each line, in the order of their locations.
Deck read_deck(const std::string& path, std::span<const std::string> overrides = {});

/// The text of a deck file, as parse_deck takes it. Throws Error(deck) naming the file, if it is no plain file or
/// larger than a deck may be.
std::string deck_text(const std::string& path);

/// As read_deck, from text. Messages begin with `name_in_messages`; mesh paths are relative to `folder`.
Deck parse_deck(const std::string& text, const std::string& name_in_messages, const std::string& folder,
                std::span<const std::string> overrides = {});

/// As parse_deck, of a deck that a run left: the files that it names need not be there any more.
Deck parse_saved_deck(const std::string& text, const std::string& name_in_messages, const std::string& folder);

/// A key and its values in two decks.
struct DeckDifference {
  std::string key;  ///< Its path; entries of lists by name: "bodies.sand.velocity".
  std::array<std::string, 2> values;
};
/// The first key whose values differ; none if the decks mean the same.
std::optional<DeckDifference> first_difference(const Deck& a, const Deck& b);

/// A deck file with every key and its value, in SI units and degrees, that parse_deck reads back to the same bits.
std::string resolved_yaml(const Deck& deck);

/// JSON Schema (draft-07) of decks, for completion and checks in editors.
std::string deck_schema();

/// The reference page of all deck keys, in Markdown.
std::string deck_reference();

}  // namespace weft
