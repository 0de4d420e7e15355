// The resolved deck: every key with its value.

#include "deck/keys.hpp"
#include "deck/units.hpp"
#include "deck/yaml.hpp"
#include "weft/deck/read.hpp"

#include <fmt/format.h>

#include <functional>

namespace weft::deck {
namespace {

Node scalar(std::string text, bool in_quotes = false) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.text = std::move(text);
  node.in_quotes = in_quotes;
  return node;
}

Node collection(Node::Kind kind) {
  Node node;
  node.kind = kind;
  return node;
}

void put(Node& mapping, const char* key, Node value, const char* unit = "") {
  value.key = key;
  if (std::string_view(unit) != "1" && value.text != "none") value.comment = unit;
  mapping.children.push_back(std::move(value));
}

template <Declared S>
void write_rows(Node& mapping, const S& value);

// --- Values --------------------------------------------------------------------------------------------------------

Node write(const KeyText& key, Real value) { return scalar(quantity_text(value, key.unit)); }
Node write(const KeyText&, int value) { return scalar(fmt::format("{}", value)); }
Node write(const KeyText&, std::uint32_t value) { return scalar(fmt::format("{}", value)); }
Node write(const KeyText&, bool value) { return scalar(value ? "true" : "false"); }
Node write(const KeyText& key, const std::string& value) {
  const bool is_word = key.rule.text == Rule::Text::name && is_plain_text(value);
  return scalar(value, !is_word);
}

Node write(const KeyText& key, const Vec3& value) {
  Node list = collection(Node::Kind::list);
  for (const Real component : value) list.children.push_back(write(key, component));
  return list;
}

template <Enumerated E>
Node write(const KeyText&, E value) {
  for (const auto& word : words<E>)
    if (word.value == value) return scalar(word.name);
  return scalar("");
}

template <Declared S>
Node write(const KeyText&, const S& value) {
  Node mapping = collection(Node::Kind::mapping);
  write_rows(mapping, value);
  return mapping;
}

template <class T>
Node write(const KeyText& key, const std::vector<T>& entries) {
  Node all = collection(is_named_by_key<T> ? Node::Kind::mapping : Node::Kind::list);
  for (const T& entry : entries) {
    all.children.push_back(write(key, entry));
    if constexpr (is_named_by_key<T>) all.children.back().key = entry.name;
  }
  return all;
}

// --- Rows ----------------------------------------------------------------------------------------------------------

template <class Member, class S>
void write_row(Node& mapping, const Key<Member>& key, const S& from) {
  const auto& value = std::invoke(key.member, from);
  if constexpr (requires { value.has_value(); }) {
    if (value) put(mapping, key.name, write(key, *value), key.unit);
  } else {
    put(mapping, key.name, write(key, value), key.unit);
  }
}

template <class Member, class S>
void write_row(Node& mapping, const Choice<Member>& choice, const S& from) {
  std::visit(
      [&]<class A>(const A& alternative) {
        put(mapping, choice.name, scalar(keys<A>.name));
        write_rows(mapping, alternative);
      },
      std::invoke(choice.member, from));
}

template <class Member, class S>
void write_row(Node& mapping, const OneOf<Member>& one_of, const S& from) {
  std::visit([&]<class A>(const A& alternative) { put(mapping, keys<A>.name, write({}, alternative)); },
             std::invoke(one_of.member, from));
}

template <class Member, class S>
void write_row(Node& mapping, const Either<Member>& either, const S& from) {
  std::visit([&](const auto& alternative) { write_rows(mapping, alternative); }, std::invoke(either.member, from));
}

template <Declared S>
void write_rows(Node& mapping, const S& value) {
  for_each_row(keys<S>, [&](const auto& row) { write_row(mapping, row, value); });
}

// --- Differences ---------------------------------------------------------------------------------------------------

std::string in_words(const Node* node) {
  if (node == nullptr) return "absent";
  if (node->kind != Node::Kind::scalar) return node->kind == Node::Kind::list ? "a list" : "a mapping";
  return node->comment.empty() ? node->text : node->text + ' ' + node->comment;
}

/// The path of a child, which is called by its key, its name or its number.
std::string path_of(const std::string& at, const Node& child, std::size_t number) {
  const Node* name = child.child("name");
  const std::string called = !child.key.empty() ? child.key : name != nullptr ? name->text : std::to_string(number);
  return at.empty() ? called : at + '.' + called;
}

/// The child that stands where `like`, the child of this number, stands in another node.
const Node* counterpart(const Node& of, const Node& like, std::size_t number) {
  if (!like.key.empty()) return of.child(like.key);
  return number < of.children.size() ? &of.children[number] : nullptr;
}

std::optional<DeckDifference> difference(const std::string& at, const Node* a, const Node* b) {
  const bool same_kind = a != nullptr && b != nullptr && a->kind == b->kind;
  if (!same_kind) return DeckDifference{at, {in_words(a), in_words(b)}};
  if (a->kind == Node::Kind::scalar && a->text != b->text) return DeckDifference{at, {in_words(a), in_words(b)}};
  for (std::size_t i = 0; i < a->children.size(); ++i) {
    const Node& child = a->children[i];
    if (auto found = difference(path_of(at, child, i), &child, counterpart(*b, child, i))) return found;
  }
  for (std::size_t i = 0; i < b->children.size(); ++i) {
    const Node& child = b->children[i];
    if (counterpart(*a, child, i) == nullptr) return difference(path_of(at, child, i), nullptr, &child);
  }
  return std::nullopt;
}

}  // namespace
}  // namespace weft::deck

namespace weft {

std::string resolved_yaml(const Deck& deck) {
  return "# Every key with its value. Plain numbers are in SI units, angles in degrees.\n" +
         deck::to_yaml(deck::write({}, deck));
}

std::optional<DeckDifference> first_difference(const Deck& a, const Deck& b) {
  const deck::Node first = deck::write({}, a), second = deck::write({}, b);
  return deck::difference("", &first, &second);
}

}  // namespace weft
