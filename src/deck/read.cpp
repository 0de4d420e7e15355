// Filling the deck structs from a tree by their key tables.

#include "weft/deck/read.hpp"

#include "deck/checks.hpp"
#include "deck/keys.hpp"
#include "deck/overrides.hpp"
#include "deck/spot.hpp"
#include "weft/base/check.hpp"
#include "weft/base/read_text.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <functional>

namespace weft::deck {
namespace {

// Values made of values. Declared first, since they are made of one another.
template <Enumerated E>
void read(const Spot& at, const KeyText& key, E& value);
template <class T>
void read(const Spot& at, const KeyText& key, std::optional<T>& value);
template <class T>
void read(const Spot& at, const KeyText& key, std::vector<T>& list);
template <Declared S>
void read(const Spot& at, const KeyText& key, S& value);
template <Declared S>
void read_rows(Mapping& map, S& value);

/// Calls f with the alternative of this number, made anew.
template <class Variant, class F>
void with_alternative(Variant& variant, int number, F&& f) {
  int i = 0;
  for_each_alternative<Variant>([&]<class A>(std::type_identity<A>) {
    if (i++ == number) f(variant.template emplace<A>());
  });
}

// --- Rows ----------------------------------------------------------------------------------------------------------

template <class Member, class S>
void read_row(Mapping& map, const Key<Member>& key, S& into) {
  auto& value = std::invoke(key.member, into);
  if (const auto written = map.take(key.name)) read(*written, key, value);
  else if (key.is_required()) map.miss({key.name}, fmt::format("the key \"{}\" is missing: {}", key.name, key.text));
  else if (!key.may_be_absent()) read(map.at().with_default(key.fallback), key, value);
}

template <class Member, class S>
void read_row(Mapping& map, const Choice<Member>& choice, S& into) {
  auto& variant = std::invoke(choice.member, into);
  const auto names = names_of_alternatives<std::remove_cvref_t<decltype(variant)>>();
  const auto written = map.take(choice.name);
  const int number = written ? read_word(*written, names) : -1;
  if (!written)
    map.miss({choice.name},
             fmt::format("the key \"{}\" is missing: {} One of {}.", choice.name, choice.text, listed(names)));
  if (number < 0) map.leave_the_rest();
  with_alternative(variant, number, [&](auto& alternative) { read_rows(map, alternative); });
}

template <class Member, class S>
void read_row(Mapping& map, const OneOf<Member>& one_of, S& into) {
  auto& variant = std::invoke(one_of.member, into);
  std::vector<std::string> names = names_of_alternatives<std::remove_cvref_t<decltype(variant)>>();
  std::vector<std::string> given;
  int number = 0;
  for_each_alternative<std::remove_cvref_t<decltype(variant)>>([&]<class A>(std::type_identity<A>) {
    if (const auto written = map.take(keys<A>.name)) {
      given.emplace_back(keys<A>.name);
      with_alternative(variant, number, [&](auto& alternative) { read(*written, KeyText{}, alternative); });
    }
    ++number;
  });
  if (given.empty()) map.miss(names, fmt::format("exactly one of these keys is needed: {}.", listed(names)));
  if (given.size() > 1) map.at().error(fmt::format("{} exclude one another. Keep one of them.", listed(given)));
}

template <class Member, class S>
void read_row(Mapping& map, const Either<Member>& either, S& into) {
  auto& variant = std::invoke(either.member, into);
  std::vector<int> given;
  std::vector<std::string> names;
  int number = 0;
  for_each_alternative<std::remove_cvref_t<decltype(variant)>>([&]<class A>(std::type_identity<A>) {
    bool any = false;
    for_each_row(keys<A>, [&](const auto& key) {
      any = any || map.has(key.name);
      names.emplace_back(key.name);
    });
    if (any) given.push_back(number);
    ++number;
  });
  if (given.size() == 1) {
    with_alternative(variant, given.front(), [&](auto& alternative) { read_rows(map, alternative); });
    return;
  }
  for (const std::string& name : names) map.take(name.c_str());
  if (given.empty()) map.miss(names, either.text);
  else map.at().error(fmt::format("too many keys for one thing. {}", either.text));
}

template <Declared S>
void read_rows(Mapping& map, S& value) {
  const int before = map.complaints();
  for_each_row(keys<S>, [&](const auto& row) { read_row(map, row, value); });
  if constexpr (requires { value.location.text; }) {
    const Spot& at = map.at();
    value.location.text = at.reading().report.where(at.node().location, at.path());
  }
  if constexpr (requires { check(value, map.at()); })
    if (map.complaints() == before) check(value, map.at());
}

// --- Values --------------------------------------------------------------------------------------------------------

template <Enumerated E>
void read(const Spot& at, const KeyText&, E& value) {
  std::vector<std::string> names;
  for (const auto& word : words<E>) names.emplace_back(word.name);
  if (const int number = read_word(at, names); number >= 0) value = words<E>[static_cast<std::size_t>(number)].value;
}

template <class T>
void read(const Spot& at, const KeyText& key, std::optional<T>& value) {
  read(at, key, value.emplace());
}

template <class T>
void read(const Spot& at, const KeyText& key, std::vector<T>& list) {
  const bool named = is_named_by_key<T>;
  if (at.node().kind != (named ? Node::Kind::mapping : Node::Kind::list))
    return at.expected(named ? "a mapping (name: {...})" : "a list");
  if (!key.rule.allows(Real(at.size()))) return at.error("must not be empty.");
  list.resize(at.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Spot entry = at.entry(i);
    if constexpr (named) {
      list[i].name = entry.node().key;
      if (const std::string bad = complaint_about_name(list[i].name); !bad.empty()) entry.error_at_key(bad);
    }
    read(entry, key, list[i]);
  }
}

template <Declared S>
void read(const Spot& at, const KeyText&, S& value) {
  if (at.node().kind != Node::Kind::mapping) return at.expected("a mapping (key: value)");
  Mapping map(at);
  read_rows(map, value);
  map.finish();
}

Deck read_root(const Spot& root) {
  Deck deck{};
  if (root.node().kind == Node::Kind::nothing) {
    root.error("the deck is empty.");
  } else if (root.node().kind != Node::Kind::mapping) {
    root.expected("a mapping (key: value) that begins with \"weft: 1\"");
  } else {
    read(root, KeyText{}, deck);
    check_references(deck, root);
  }
  return deck;
}

}  // namespace
}  // namespace weft::deck

namespace weft {

namespace {

Deck parse(deck::Reading reading, const std::string& text, std::span<const std::string> overrides) {
  deck::Node tree = deck::parse_yaml(text, 0, reading.report);
  for (const std::string& each : overrides) deck::apply_override(tree, each, reading.report);

  Deck result = deck::read_root(deck::Spot(reading, tree, ""));
  reading.report.throw_if_any();
  return result;
}

}  // namespace

Deck parse_deck(const std::string& text, const std::string& name_in_messages, const std::string& folder,
                std::span<const std::string> overrides) {
  return parse({deck::Report(name_in_messages), folder}, text, overrides);
}

Deck parse_saved_deck(const std::string& text, const std::string& name_in_messages, const std::string& folder) {
  return parse({deck::Report(name_in_messages), folder, false}, text, {});
}

std::string deck_text(const std::string& path) {
  std::error_code error;
  require(std::filesystem::exists(path, error), ExitCode::deck, fmt::format("{}: there is no such deck.", path));
  require(!std::filesystem::is_directory(path, error), ExitCode::deck,
          fmt::format("{}: this is a folder, not a deck.", path));
  return read_text(path, ExitCode::deck, deck::largest_deck);
}

Deck read_deck(const std::string& path, std::span<const std::string> overrides) {
  const std::string text = deck_text(path);
  return parse_deck(text, path, std::filesystem::absolute(path).parent_path().string(), overrides);
}

}  // namespace weft
