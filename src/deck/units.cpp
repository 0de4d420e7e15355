// Units and strict numbers.

#include "deck/units.hpp"

#include "deck/messages.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>
#include <optional>

namespace weft::deck {
namespace {

// --- Units -------------------------------------------------------------------------------------------------------

using Powers = std::array<int, 5>;
constexpr Powers length{1, 0, 0, 0}, mass{0, 1, 0, 0}, duration{0, 0, 1, 0}, angle{0, 0, 0, 1}, rate{0, 0, -1, 0};
constexpr Powers force{1, 1, -2, 0}, pressure{-1, 1, -2, 0}, energy{2, 1, -2, 0}, power{2, 1, -3, 0};
constexpr Powers volume{3, 0, 0, 0}, data{0, 0, 0, 0, 1};

using Units = std::map<std::string_view, Unit>;

/// Symbols that take no prefix.
const Units& whole_symbols() {
  static const Units units{{"1", {1, 1, {}}},
                           {"%", {1, 100, {}}},
                           {"min", {60, 1, duration}},
                           {"h", {3600, 1, duration}},
                           {"day", {86400, 1, duration}},
                           {"t", {1000, 1, mass}},
                           {"deg", {std::numbers::pi, 180, angle}},
                           {"rev", {2 * std::numbers::pi, 1, angle}},
                           {"rpm", {2 * std::numbers::pi, 60, {0, 0, -1, 1}}},
                           {"byte", {1, 1, data}},
                           {"KiB", {1 << 10, 1, data}},
                           {"MiB", {1 << 20, 1, data}},
                           {"GiB", {1 << 30, 1, data}}};
  return units;
}

/// Symbols that may carry a prefix.
const Units& prefixable_symbols() {
  static const Units units{{"m", {1, 1, length}},       {"g", {1, 1000, mass}},  {"s", {1, 1, duration}},
                           {"rad", {1, 1, angle}},      {"Hz", {1, 1, rate}},    {"N", {1, 1, force}},
                           {"Pa", {1, 1, pressure}},    {"J", {1, 1, energy}},   {"W", {1, 1, power}},
                           {"bar", {1e5, 1, pressure}}, {"L", {1, 1000, volume}}};
  return units;
}

const Units& prefixes() {
  static const Units units{{"n", {1, 1e9, {}}}, {"u", {1, 1e6, {}}}, {"\u00b5", {1, 1e6, {}}}, {"\u03bc", {1, 1e6, {}}},
                           {"m", {1, 1e3, {}}}, {"c", {1, 1e2, {}}}, {"d", {1, 10, {}}},       {"h", {100, 1, {}}},
                           {"k", {1e3, 1, {}}}, {"M", {1e6, 1, {}}}, {"G", {1e9, 1, {}}}};
  return units;
}

Unit times(Unit a, const Unit& b) {
  a.numerator *= b.numerator;
  a.denominator *= b.denominator;
  for (std::size_t k = 0; k < a.powers.size(); ++k) a.powers[k] += b.powers[k];
  return a;
}

Unit raised(const Unit& unit, int exponent) {
  Unit result;
  for (int k = 0; k < std::abs(exponent); ++k) result = times(result, unit);
  if (exponent < 0) {
    std::swap(result.numerator, result.denominator);
    for (int& p : result.powers) p = -p;
  }
  return result;
}

Unit parse_symbol(std::string_view symbol) {
  if (const auto found = whole_symbols().find(symbol); found != whole_symbols().end()) return found->second;
  if (const auto found = prefixable_symbols().find(symbol); found != prefixable_symbols().end()) return found->second;
  for (const auto& [prefix, factor] : prefixes()) {
    if (!symbol.starts_with(prefix)) continue;
    const auto found = prefixable_symbols().find(symbol.substr(prefix.size()));
    if (found != prefixable_symbols().end()) return times(factor, found->second);
  }
  throw BadNumber(fmt::format("{} is not a known unit.", shown(symbol)));
}

/// "m" or "m^-3".
Unit parse_power(std::string_view text) {
  const std::size_t hat = text.find('^');
  const Unit unit = parse_symbol(text.substr(0, hat));
  if (hat == std::string_view::npos) return unit;
  const std::string_view exponent = text.substr(hat + 1);
  int value = 0;
  const auto [end, error] = std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
  if (error != std::errc() || end != exponent.data() + exponent.size() || std::abs(value) > 9)
    throw BadNumber(fmt::format("{} is not an exponent of a unit.", shown(exponent)));
  return raised(unit, value);
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// --- Numbers -----------------------------------------------------------------------------------------------------

std::size_t digits_from(std::string_view text, std::size_t i) {
  const std::size_t end = text.find_first_not_of("0123456789", i);
  return (end == std::string_view::npos ? text.size() : end) - i;
}

/// Length of the decimal number at the front, 0 if there is none. "1e3 Pa", "1 m": an e without digits is a unit's.
std::size_t number_length(std::string_view text) {
  std::size_t i = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const std::size_t whole = digits_from(text, i);
  i += whole;
  std::size_t fraction = 0;
  if (i < text.size() && text[i] == '.') {
    fraction = digits_from(text, i + 1);
    i += 1 + fraction;
  }
  if (whole + fraction == 0) return 0;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    std::size_t exponent = i + 1;
    if (exponent < text.size() && (text[exponent] == '-' || text[exponent] == '+')) ++exponent;
    if (const std::size_t digits = digits_from(text, exponent)) i = exponent + digits;
  }
  return i;
}

void refuse_extremes(Real value, bool is_zero, std::string_view text) {
  if (!std::isfinite(value)) throw BadNumber(fmt::format("{} is too large for a double.", shown(text)));
  if (!is_zero && !std::isnormal(value))
    throw BadNumber(fmt::format("{} is too small for a double. Write 0 if that is meant.", shown(text)));
}

struct Written {
  Real number;
  std::optional<Unit> unit;
};

Written parse_written(std::string_view text) {
  const std::size_t length = number_length(text);
  const std::string_view number = text.substr(0, length);
  const std::string_view unit = trimmed(text.substr(length));
  return {parse_number(length == 0 ? text : number), unit.empty() ? std::nullopt : std::optional(parse_unit(unit))};
}

}  // namespace

Unit parse_unit(std::string_view text) {
  Unit result;
  bool divided = false;
  char joint = '*';
  while (true) {
    text = trimmed(text);
    const std::size_t end = std::min(text.find_first_of(" */"), text.size());
    const Unit factor = parse_power(text.substr(0, end));
    if (divided && joint != '/')
      throw BadNumber("a product behind \"/\" can be read in two ways. Write every divisor behind its own \"/\".");
    result = times(result, raised(factor, joint == '/' ? -1 : 1));
    divided = divided || joint == '/';
    text = trimmed(text.substr(end));
    if (text.empty()) return result;
    joint = text.front() == '/' || text.front() == '*' ? text.front() : ' ';
    if (joint != ' ') text.remove_prefix(1);
  }
}

Real parse_number(std::string_view text) {
  const std::size_t length = number_length(text);
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const std::string_view magnitude = digits.starts_with('-') ? digits.substr(1) : digits;
  if (length == 0 || length != text.size()) throw BadNumber(fmt::format("{} is not a number.", shown(text)));
  if (magnitude.size() > 1 && magnitude[0] == '0' && magnitude[1] >= '0' && magnitude[1] <= '9')
    throw BadNumber(fmt::format("{} has a leading zero, which some read as octal. Leave it out.", shown(text)));
  Real value = 0;
  const std::errc error = std::from_chars(digits.data(), digits.data() + digits.size(), value).ec;
  const std::string_view mantissa = magnitude.substr(0, magnitude.find_first_of("eE"));
  const bool is_zero = mantissa.find_first_of("123456789") == std::string_view::npos;
  // Only to tell too large from too small.
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
  refuse_extremes(value, is_zero, text);
  return value;
}

Quantity parse_quantity(std::string_view text, std::string_view key_unit) {
  const Unit expected = parse_unit(key_unit);
  const auto [number, given_unit] = parse_written(text);
  const Unit given = given_unit.value_or(expected);
  if (!given.measures_same_as(expected))
    throw BadNumber(fmt::format("{} has the wrong unit for this key.", shown(text)));
  const bool same = given.numerator == expected.numerator && given.denominator == expected.denominator;
  const Real si = number * given.numerator / given.denominator;
  const Quantity result{same ? number : si * expected.denominator / expected.numerator, si};
  refuse_extremes(result.si, number == 0, text);
  return result;
}

std::string number_text(Real x) {
  std::string text = fmt::format("{}", x);
  // 7e10 rather than 70000000000; a whole number, so both are the same.
  const std::size_t digits = text.find_last_not_of('0') + 1;
  const std::size_t zeros = text.size() - digits;
  const bool whole = text.find_first_of(".e") == std::string::npos;
  return whole && digits > 0 && zeros >= 5 ? fmt::format("{}e{}", text.substr(0, digits), zeros) : text;
}

std::string quantity_text(Real si, std::string_view key_unit) {
  if (std::isinf(si)) return "none";
  const Unit unit = parse_unit(key_unit);
  if (unit.numerator == unit.denominator) return number_text(si);
  // The shortest number whose conversion gives back every bit; a few values have none.
  for (int digits = 15; digits <= 17; ++digits) {
    const std::string text = fmt::format("{:.{}g}", si * unit.denominator / unit.numerator, digits);
    if (parse_quantity(text, key_unit).si == si) return text;
  }
  return fmt::format("{} rad", si);
}

}  // namespace weft::deck
