#pragma once
// The strict subset of YAML that decks are written in: mappings, lists and scalars, nothing that can surprise.

#include "deck/messages.hpp"

#include <string>
#include <vector>

namespace weft::deck {

/// Bytes; a deck is written by hand.
inline constexpr std::size_t largest_deck = 1 << 19;

/// One value of a deck as it was written, with the key it stands under.
struct Node {
  enum class Kind { nothing, scalar, list, mapping };
  Kind kind = Kind::nothing;
  Location location;
  std::string text;            ///< Of a scalar.
  bool in_quotes = false;      ///< The scalar was quoted or a block of text: it is text, never a number.
  std::string key;             ///< Empty in lists.
  Location key_location;       ///< In lists the location of the value.
  std::string comment;         ///< Written behind the value.
  std::vector<Node> children;  ///< Of a list or a mapping, in the order of the deck.

  const Node* child(std::string_view name) const;
};

/// The document in `text`. Duplicate keys are added to the report (the first one stays); anything else that is not in
/// the subset ends the reading: throws Error(ExitCode::deck) with all that is known by then.
Node parse_yaml(const std::string& text, int source, Report& report);

/// The node as a document that parse_yaml reads back to the same tree.
std::string to_yaml(const Node& node);

/// True if the text is made of whole UTF-8 letters, as decks must be.
bool is_utf8(std::string_view text);

/// True if YAML readers agree that this unquoted text is plain text: neither a number, a boolean nor null.
bool is_plain_text(std::string_view text);

}  // namespace weft::deck
