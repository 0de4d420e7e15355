#pragma once
// Structs whose members are declared once, as rows of name, unit and member. The texts of checkpoints, run.json and the
// columns of tables come from these rows.
//
//   template <>
//   inline constexpr auto members<RunClock> = std::tuple{Member{"step", "", &RunClock::step},
//                                                        Member{"time", "s", &RunClock::time}};

#include "weft/base/types.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

namespace weft {

/// A member of S or of a base of S.
template <class S, class T>
struct Member {
  const char* name;
  const char* unit;  ///< Empty if the value is a count or no number.
  T S::* at;
};

/// The rows of a struct; empty unless declared.
template <class S>
inline constexpr std::tuple<> members;
template <class S>
concept Declared = std::tuple_size_v<std::remove_cvref_t<decltype(members<S>)>> > 0;

template <class S, class F>
constexpr void for_each_member(F&& f) {
  std::apply([&](const auto&... row) { (f(row), ...); }, members<S>);
}

/// The row of a member of S.
template <Declared S, class B, class T>
constexpr Member<B, T> member_of(T B::* at) {
  Member<B, T> found{nullptr, nullptr, at};
  for_each_member<S>([&](const auto& row) {
    if constexpr (std::is_same_v<decltype(row.at), T B::* const> || std::is_same_v<decltype(row.at), T B::*>)
      if (row.at == at) found = row;
  });
  return found;
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
/// Appended to one by one; text is not meant.
template <class T>
concept List = !std::is_same_v<T, std::string> && requires(T list) { list.emplace_back(); };

/// JSON of a value, exact to the last bit. Numbers that are not finite are words, an absent value is null, a declared
/// struct is an object.
template <class T>
nlohmann::json as_json(const T& value) {
  using nlohmann::json;
  if constexpr (std::is_same_v<T, Real>) {
    if (std::isfinite(value)) return value;
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  } else if constexpr (std::is_same_v<T, Vec3>) {
    return json::array({as_json(value.x()), as_json(value.y()), as_json(value.z())});
  } else if constexpr (is_optional<T>) {
    return value ? as_json(*value) : json(nullptr);
  } else if constexpr (List<T>) {
    json list = json::array();
    for (const auto& each : value) list.push_back(as_json(each));
    return list;
  } else if constexpr (Declared<T>) {
    json object = json::object();
    for_each_member<T>([&](const auto& row) { object[row.name] = as_json(value.*row.at); });
    return object;
  } else {
    return value;
  }
}

/// The value back from its JSON; a key that is not there is an absent value. Throws nlohmann::json::exception.
template <class T>
void from_json_to(const nlohmann::json& j, T& value) {
  if constexpr (std::is_same_v<T, Real>) {
    constexpr Real infinity = std::numeric_limits<Real>::infinity();
    if (!j.is_string()) value = j.get<Real>();
    else value = j == "inf" ? infinity : j == "-inf" ? -infinity : std::numeric_limits<Real>::quiet_NaN();
  } else if constexpr (std::is_same_v<T, Vec3>) {
    for (const std::size_t axis : {0u, 1u, 2u}) from_json_to(j.at(axis), value[static_cast<Eigen::Index>(axis)]);
  } else if constexpr (is_optional<T>) {
    value.reset();
    if (!j.is_null()) from_json_to(j, value.emplace());
  } else if constexpr (List<T>) {
    value.clear();
    for (const auto& each : j.get_ref<const nlohmann::json::array_t&>()) from_json_to(each, value.emplace_back());
  } else if constexpr (Declared<T>) {
    for_each_member<T>([&](const auto& row) {
      auto& member = value.*row.at;
      if constexpr (is_optional<std::remove_reference_t<decltype(member)>>)
        from_json_to(j.contains(row.name) ? j.at(row.name) : nlohmann::json(), member);
      else from_json_to(j.at(row.name), member);
    });
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    // nlohmann::json by itself would make a whole number of any number.
    if constexpr (std::is_unsigned_v<T>) value = static_cast<T>(j.get_ref<const nlohmann::json::number_unsigned_t&>());
    else value = static_cast<T>(j.get_ref<const nlohmann::json::number_integer_t&>());
  } else {
    value = j.get<T>();
  }
}

}  // namespace weft
