#pragma once
// The language of key tables: how a struct declares, once, the deck keys that fill it.
//
//   template <>
//   inline constexpr auto keys<SphereDeck> = table("sphere", "A ball.",
//       Key{"center", "m", anything, required, "Its centre.", &SphereDeck::center},
//       Key{"radius", "m", above(0), required, "Its radius.", &SphereDeck::radius});
//
// Reading, checking, the schema, the reference page and the echo all come from these tables. A table has rows of four
// kinds: Key, one value under a name; Choice, a variant whose alternative is named by a key (law: snow) and has its
// keys beside it; OneOf, a variant of which exactly one alternative stands under its own name (sphere: {..}); Either, a
// variant whose alternatives are complete groups of keys (youngs_modulus and poisson_ratio).

#include "weft/base/types.hpp"

#include <array>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace weft::deck {

/// What a value may be. Numbers: the interval, in the key's unit; vectors: each component; lists: number of entries.
struct Rule {
  enum class Text { any, name, file };  ///< A name is usable in file names and paths of keys; a file must exist.

  Real low = -std::numeric_limits<Real>::infinity(), high = std::numeric_limits<Real>::infinity();
  bool low_open = false, high_open = false;
  bool may_be_none = false;  ///< The word `none` stands for infinity.
  bool nonzero = false;      ///< The vector has a direction.
  Text text = Text::any;

  template <class T>
  constexpr Rule with(T Rule::* part, T value) const {
    Rule changed = *this;
    changed.*part = value;
    return changed;
  }
  constexpr Rule at_most(Real x) const { return with(&Rule::high, x); }
  constexpr Rule below(Real x) const { return at_most(x).with(&Rule::high_open, true); }
  constexpr Rule or_none() const { return with(&Rule::may_be_none, true); }
  constexpr bool allows(Real x) const { return (low_open ? x > low : x >= low) && (high_open ? x < high : x <= high); }
};

inline constexpr Rule anything;
inline constexpr Rule direction = Rule{.nonzero = true};
inline constexpr Rule a_name = Rule{.text = Rule::Text::name};
inline constexpr Rule a_file = Rule{.text = Rule::Text::file};
constexpr Rule at_least(Real x) { return Rule{.low = x}; }
constexpr Rule above(Real x) { return Rule{.low = x, .low_open = true}; }

/// In words: "> 0 and <= 1"; empty if everything is allowed.
std::string prose(const Rule& rule);

/// Defaults are written as a user would write them in a deck ("30 min", "[0, 0, 0]"), or are one of these two.
inline constexpr const char* required = nullptr;
inline constexpr const char* absent = "";  ///< The key may be left out and then means nothing; for std::optional.

/// All of a key but its member.
struct KeyText {
  const char* name;
  const char* unit;  ///< Empty if the value is not a number.
  Rule rule;
  const char* fallback;
  const char* text;
  bool is_required() const { return fallback == nullptr; }
  bool may_be_absent() const { return fallback != nullptr && *fallback == '\0'; }
};

/// `member` is a pointer to member, or anything that std::invoke applies to the struct.
template <class Member>
struct Key : KeyText {
  Member member;
  constexpr Key(const char* name, const char* unit, Rule rule, const char* fallback, const char* text, Member member)
      : KeyText{name, unit, rule, fallback, text}, member(member) {}
  constexpr Key(const char* name, Rule rule, const char* fallback, const char* text, Member member)
      : Key(name, "", rule, fallback, text, member) {}
  constexpr Key(const char* name, const char* fallback, const char* text, Member member)
      : Key(name, "", anything, fallback, text, member) {}
};

template <class Member>
struct Choice : KeyText {
  Member member;
  constexpr Choice(const char* name, const char* text, Member member)
      : KeyText{name, "", anything, required, text}, member(member) {}
};

template <class Member>
struct OneOf {
  const char* text;
  Member member;
};

template <class Member>
struct Either {
  const char* text;
  Member member;
};

template <class... Rows>
struct Table {
  const char* name;
  const char* text;
  std::tuple<Rows...> rows;
};

template <class... Rows>
constexpr Table<Rows...> table(const char* name, const char* text, Rows... rows) {
  return {name, text, {rows...}};
}

/// The key table of a struct.
struct NoTable {};
template <class S>
inline constexpr NoTable keys;
template <class S>
concept Declared = !std::same_as<std::remove_cvref_t<decltype(keys<S>)>, NoTable>;

/// Entries of this type stand in a mapping, each under its name: sand: {..}.
template <class S>
inline constexpr bool is_named_by_key = false;

/// The words of an enumeration.
template <class E>
struct Word {
  E value;
  const char* name;
  const char* text;
};
template <class E>
inline constexpr NoTable words;
template <class E>
concept Enumerated = std::is_enum_v<E> && !std::same_as<std::remove_cvref_t<decltype(words<E>)>, NoTable>;

/// Calls f(std::type_identity<alternative>) for every alternative of a variant.
template <class Variant, class F>
constexpr void for_each_alternative(F&& f) {
  [&]<class... A>(std::type_identity<std::variant<A...>>) {
    (f(std::type_identity<A>{}), ...);
  }(std::type_identity<Variant>{});
}

template <class Variant>
std::vector<std::string> names_of_alternatives() {
  std::vector<std::string> names;
  for_each_alternative<Variant>([&]<class A>(std::type_identity<A>) { names.emplace_back(keys<A>.name); });
  return names;
}

template <class... Rows, class F>
constexpr void for_each_row(const Table<Rows...>& table, F&& f) {
  std::apply([&](const auto&... row) { (f(row), ...); }, table.rows);
}

}  // namespace weft::deck
