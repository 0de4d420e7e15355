#pragma once
// Numbers with units as decks write them: "2 mm", "1e3 Pa s", "9.81 m/s^2", "35 deg".

#include "weft/base/types.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft::deck {

/// Why a text is not the number that was expected; a sentence for the user.
struct BadNumber : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A unit as the ratio to its SI unit, kept as a fraction so that 9 mm is exactly the double nearest to 0.009.
struct Unit {
  Real numerator = 1, denominator = 1;
  std::array<int, 5> powers{};  ///< Of metre, kilogram, second, radian, byte.
  bool measures_same_as(const Unit& other) const { return powers == other.powers; }
};

/// "kg/m^3", "Pa s", "m/s^2", "1"; throws BadNumber if a symbol is unknown or the text can be read in two ways.
Unit parse_unit(std::string_view text);

/// A number without unit. Throws BadNumber for whatever is not a plain decimal number: nan, infinity, octal,
/// hexadecimal, numbers too large or too small for a double.
Real parse_number(std::string_view text);

struct Quantity {
  Real in_key_unit;  ///< For ranges, which are stated in the key's unit.
  Real si;           ///< Angles in radians.
};

/// A number in the key's unit, or a number with a unit that measures the same. Throws BadNumber.
Quantity parse_quantity(std::string_view text, std::string_view key_unit);

/// The shortest text that parse_number turns into exactly this number.
std::string number_text(Real x);

/// The number that parse_quantity turns into exactly this SI value; "none" for infinity.
std::string quantity_text(Real si, std::string_view key_unit);

}  // namespace weft::deck
