// Numbers and units as decks write them.

#include "deck/units.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace weft::deck {
namespace {

TEST(UnitTest, DecimalUnitsGiveTheDoubleNearestToTheDecimalNumber) {
  // As a literal would: 9 * 0.001 would be one bit off 0.009.
  EXPECT_EQ(parse_quantity("9 mm", "m").si, 0.009);
  EXPECT_EQ(parse_quantity("7 cm", "m").si, 0.07);
  EXPECT_EQ(parse_quantity("3um", "m").si, 3e-6);
  EXPECT_EQ(parse_quantity("1.1 MPa", "Pa").si, 1.1e6);
  EXPECT_EQ(parse_quantity("1 g/cm^3", "kg/m^3").si, 1000);
  EXPECT_EQ(parse_quantity("0.3 L", "m^3").si, 0.0003);
}

TEST(UnitTest, UnitsAreProductsOfPowers) {
  EXPECT_EQ(parse_quantity("1e3 Pa s", "Pa s").si, 1000);
  EXPECT_EQ(parse_quantity("2 kg/m/s", "Pa s").si, 2);
  EXPECT_EQ(parse_quantity("2 kg m^-1 s^-1", "Pa*s").si, 2);
  EXPECT_EQ(parse_quantity("9.81 m/s^2", "m/s^2").si, 9.81);
  EXPECT_EQ(parse_quantity("36 km/h", "m/s").si, 10);
  EXPECT_EQ(parse_quantity("60 N/mm^2", "Pa").si, 60e6);
  EXPECT_EQ(parse_quantity("30 min", "s").si, 1800);
  EXPECT_EQ(parse_quantity("2 \u00b5m", "m").si, 2e-6);
  EXPECT_EQ(parse_quantity("50 %", "1").si, 0.5);
}

TEST(UnitTest, AnglesAreDegreesUnlessTheySayOtherwise) {
  EXPECT_DOUBLE_EQ(parse_quantity("180", "deg").si, std::numbers::pi);
  EXPECT_EQ(parse_quantity("0.5 rad", "deg").si, 0.5);
  EXPECT_EQ(parse_quantity("90 deg", "deg").in_key_unit, 90);
  EXPECT_DOUBLE_EQ(parse_quantity("60 rpm", "rad/s").si, 2 * std::numbers::pi);
  EXPECT_THROW(parse_quantity("60 Hz", "rad/s"), BadNumber) << "an angle is not nothing";
}

TEST(UnitTest, BytesComeInPowersOfTwo) {
  EXPECT_EQ(parse_quantity("4 MiB", "byte").si, 4194304);
  EXPECT_EQ(parse_quantity("0.5 KiB", "byte").si, 512);
  EXPECT_EQ(parse_quantity("1 GiB", "byte").si, 1073741824);
  EXPECT_EQ(parse_quantity("4096", "byte").si, 4096);
  EXPECT_THROW(parse_quantity("4 MiB", "1"), BadNumber);
}

TEST(UnitTest, AUnitThatMeasuresSomethingElseIsRefused) {
  EXPECT_THROW(parse_quantity("2 s", "m"), BadNumber);
  EXPECT_THROW(parse_quantity("2 m^2", "m"), BadNumber);
  EXPECT_THROW(parse_quantity("2 m", "1"), BadNumber);
  EXPECT_THROW(parse_quantity("2 mPa", "m"), BadNumber);
}

TEST(UnitTest, UnitsThatCannotBeReadInOneWayAreRefused) {
  for (const char* text :
       {"2 kg/m s", "2 m^", "2 m^x", "2 m^99", "2 xyz", "2 kmm", "2 m//s", "2 m/", "2 / m", "2 m m^1.5"})
    EXPECT_THROW(parse_quantity(text, "m"), BadNumber) << text;
}

TEST(NumberTest, PlainDecimalNumbersAreRead) {
  EXPECT_EQ(parse_number("0"), 0);
  EXPECT_EQ(parse_number("-0.5"), -0.5);
  EXPECT_EQ(parse_number("+1e3"), 1000);
  EXPECT_EQ(parse_number(".25"), 0.25);
  EXPECT_EQ(parse_number("5."), 5);
  EXPECT_EQ(parse_number("1E-7"), 1e-7);
  EXPECT_EQ(parse_number("0e0"), 0);
  EXPECT_EQ(parse_number("0.0e-999"), 0) << "zero is zero at any exponent";
}

TEST(NumberTest, WhateverIsNotAPlainDecimalNumberIsRefused) {
  for (const char* text : {"",     "nan",   ".nan",   "inf",    ".inf",   "-inf", "010",   "00",  "-01.5",
                           "0x10", "0o17",  "1_000",  "1:30",   "1,5",    "1e",   "e5",    ".",   "+",
                           "--1",  "1e400", "-1e400", "1e-400", "1e-320", "1 2",  "1.2.3", "abc", "1e5.0"})
    EXPECT_THROW(parse_number(text), BadNumber) << text;
}

TEST(NumberTest, AQuantityMustFitADoubleInSiUnitsToo) {
  EXPECT_THROW(parse_quantity("1e307 GPa", "Pa"), BadNumber);
  EXPECT_THROW(parse_quantity("1e-305 nm", "m"), BadNumber);
}

TEST(NumberTest, EveryBitComesBackFromTheTextOfANumber) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<Real> mantissa(-10, 10);
  std::uniform_int_distribution<int> exponent(-200, 200);
  for (int i = 0; i < 2000; ++i) {
    const Real x = mantissa(random) * std::pow(10.0, exponent(random));
    EXPECT_EQ(parse_quantity(quantity_text(x, "Pa"), "Pa").si, x);
    const Real angle = mantissa(random);
    EXPECT_EQ(parse_quantity(quantity_text(angle, "deg"), "deg").si, angle) << quantity_text(angle, "deg");
  }
  EXPECT_EQ(quantity_text(parse_quantity("30", "deg").si, "deg"), "30");
  EXPECT_EQ(quantity_text(7e10, "Pa"), "7e10");
  EXPECT_EQ(quantity_text(2200, "Pa"), "2200");
}

}  // namespace
}  // namespace weft::deck
