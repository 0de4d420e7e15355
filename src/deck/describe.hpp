#pragma once
// The key tables as run-time data, for writers about the deck language: the schema and the reference page.

#include "deck/table.hpp"

#include <string>
#include <vector>

namespace weft::deck {

struct Group;

struct WordText {
  std::string name, text;
};

/// What kind of value a key takes.
struct Kind {
  enum class Of { number, whole, flag, text, vector, word, list, named, group };
  Of of = Of::group;
  std::vector<WordText> words;  ///< Of word.
  std::vector<Kind> entry;      ///< Of list and named: one, the kind of the entries.
  std::vector<Group> group;     ///< Of group: one.
};

struct Row {
  enum class Of { key, choice, one_of, either };
  Of of = Of::key;
  KeyText key{};                    ///< Of one_of and either only `text`.
  Kind kind;                        ///< Of key.
  std::vector<Group> alternatives;  ///< Of all others.
};

/// One struct of the deck language.
struct Group {
  std::string name, text;
  std::vector<Row> rows;
};

/// The top level, with everything inside.
Group describe_deck();

/// The kind of the entries of lists and mappings by name; the kind itself of everything else.
inline const Kind& innermost(const Kind& kind) { return kind.entry.empty() ? kind : innermost(kind.entry.front()); }

}  // namespace weft::deck
