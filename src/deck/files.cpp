// The files that a deck names, found by the key tables.

#include "weft/deck/files.hpp"

#include "deck/keys.hpp"

#include <fmt/format.h>

namespace weft::deck {
namespace {

using Visit = std::function<void(const std::string& key, std::string& path)>;

std::string joined(const std::string& at, const std::string& key) { return at.empty() ? key : at + '.' + key; }

/// What an entry of a list is called in messages: its name, or its number.
template <class T>
std::string name_of(const T& entry, std::size_t number) {
  if constexpr (requires { entry.name; }) return entry.name;
  else if constexpr (requires { entry.index(); })
    return std::visit([&](const auto& alternative) { return name_of(alternative, number); }, entry);
  else return std::to_string(number);
}

template <Declared S>
void visit_rows(const std::string& at, S& value, const Visit& visit);

template <class T>
void visit_value(const KeyText& key, const std::string& at, T& value, const Visit& visit) {
  if constexpr (std::same_as<T, std::string>) {
    if (key.rule.text == Rule::Text::file) visit(at, value);
  } else if constexpr (Declared<T>) {
    visit_rows(at, value, visit);
  } else if constexpr (requires { value.has_value(); }) {
    if (value) visit_value(key, at, *value, visit);
  } else if constexpr (requires { value.push_back(value.front()); }) {
    for (std::size_t i = 0; i < value.size(); ++i) visit_value(key, joined(at, name_of(value[i], i)), value[i], visit);
  }
}

template <class Member, class S>
void visit_row(const std::string& at, const Key<Member>& key, S& in, const Visit& visit) {
  visit_value(key, joined(at, key.name), std::invoke(key.member, in), visit);
}

template <class Member, class S>
void visit_row(const std::string& at, const Choice<Member>& choice, S& in, const Visit& visit) {
  std::visit([&](auto& alternative) { visit_rows(at, alternative, visit); }, std::invoke(choice.member, in));
}

template <class Member, class S>
void visit_row(const std::string& at, const OneOf<Member>& one_of, S& in, const Visit& visit) {
  std::visit([&]<class A>(A& alternative) { visit_rows(joined(at, keys<A>.name), alternative, visit); },
             std::invoke(one_of.member, in));
}

template <class Member, class S>
void visit_row(const std::string& at, const Either<Member>& either, S& in, const Visit& visit) {
  std::visit([&](auto& alternative) { visit_rows(at, alternative, visit); }, std::invoke(either.member, in));
}

template <Declared S>
void visit_rows(const std::string& at, S& value, const Visit& visit) {
  for_each_row(keys<S>, [&](const auto& row) { visit_row(at, row, value, visit); });
}

}  // namespace
}  // namespace weft::deck

namespace weft {

void for_each_file(Deck& deck, const std::function<void(const std::string& key, std::string& path)>& visit) {
  deck::visit_rows("", deck, visit);
}

}  // namespace weft
