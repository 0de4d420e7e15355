// From constexpr key tables to run-time data.

#include "deck/describe.hpp"

#include "deck/keys.hpp"

#include <functional>

namespace weft::deck {
namespace {

template <Declared S>
Group group_of();

Kind plain(Kind::Of of) {
  Kind kind;
  kind.of = of;
  return kind;
}

/// The kind of a member, by overload; the argument is only looked at for its type.
Kind kind_of(const Real*) { return plain(Kind::Of::number); }
Kind kind_of(const int*) { return plain(Kind::Of::whole); }
Kind kind_of(const std::uint32_t*) { return plain(Kind::Of::whole); }
Kind kind_of(const bool*) { return plain(Kind::Of::flag); }
Kind kind_of(const std::string*) { return plain(Kind::Of::text); }
Kind kind_of(const Vec3*) { return plain(Kind::Of::vector); }
template <Enumerated E>
Kind kind_of(const E*) {
  Kind kind = plain(Kind::Of::word);
  for (const auto& word : words<E>) kind.words.push_back({word.name, word.text});
  return kind;
}
template <Declared S>
Kind kind_of(const S*) {
  Kind kind = plain(Kind::Of::group);
  kind.group.push_back(group_of<S>());
  return kind;
}
template <class T>
Kind kind_of(const std::optional<T>*) {
  return kind_of(static_cast<const T*>(nullptr));
}
template <class T>
Kind kind_of(const std::vector<T>*) {
  Kind kind = plain(is_named_by_key<T> ? Kind::Of::named : Kind::Of::list);
  kind.entry.push_back(kind_of(static_cast<const T*>(nullptr)));
  return kind;
}

/// The type of what a row's member refers to in S.
template <class Member, class S>
using MemberOf = std::remove_cvref_t<std::invoke_result_t<Member, S&>>;

template <class Variant>
std::vector<Group> alternatives_of() {
  std::vector<Group> groups;
  for_each_alternative<Variant>([&]<class A>(std::type_identity<A>) { groups.push_back(group_of<A>()); });
  return groups;
}

template <class S, class Member>
Row row_of(const Key<Member>& key) {
  return {Row::Of::key, key, kind_of(static_cast<const MemberOf<Member, S>*>(nullptr)), {}};
}
template <class S, class Member>
Row row_of(const Choice<Member>& choice) {
  return {Row::Of::choice, choice, {}, alternatives_of<MemberOf<Member, S>>()};
}
template <class S, class Member>
Row row_of(const OneOf<Member>& one_of) {
  return {
      Row::Of::one_of, KeyText{"", "", anything, required, one_of.text}, {}, alternatives_of<MemberOf<Member, S>>()};
}
template <class S, class Member>
Row row_of(const Either<Member>& either) {
  return {
      Row::Of::either, KeyText{"", "", anything, required, either.text}, {}, alternatives_of<MemberOf<Member, S>>()};
}

template <Declared S>
Group group_of() {
  Group group{keys<S>.name, keys<S>.text, {}};
  for_each_row(keys<S>, [&](const auto& row) { group.rows.push_back(row_of<S>(row)); });
  return group;
}

}  // namespace

Group describe_deck() { return group_of<Deck>(); }

}  // namespace weft::deck
