#pragma once
// Pack: as many reals as two vector registers hold, one for each of as many points. Usable as the scalar of Eigen
// matrices and of every function templated on its scalar.
//
// Two, because a law is a long chain of operations of which each waits for the one before: a core works on one register
// while it waits for the other. [docs/performance.md]
//
// Each lane is computed as if it were alone: what the other lanes hold changes no bit of it.

#include "weft/base/types.hpp"
#include "weft/math/register.hpp"
#include "weft/math/scalar.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

namespace weft {

/// One bool for each lane of a pack.
struct PackMask;

struct Pack {
  static constexpr int size = 2 * Register::size;
  using Reals = TwoOf<Register::Reals>;
  using Bits = TwoOf<Register::Bits>;

  Reals v;

  Pack() = default;
  Pack(Real all) : v(all) {}              // NOLINT(google-explicit-constructor): constants mix freely with packs
  Pack(const Reals& reals) : v(reals) {}  // NOLINT(google-explicit-constructor)

  static Pack load(const Real* from) { return Reals(Register::load(from), Register::load(from + Register::size)); }
  void store(Real* to) const {
    Register::store(v.first, to);
    Register::store(v.second, to + Register::size);
  }

  Real operator[](int lane) const { return (lane < Register::size ? v.first : v.second)[lane % Register::size]; }
  void set(int lane, Real number) { (lane < Register::size ? v.first : v.second)[lane % Register::size] = number; }

  Pack& operator+=(const Pack& b) { return v = v + b.v, *this; }
  Pack& operator-=(const Pack& b) { return v = v - b.v, *this; }
  Pack& operator*=(const Pack& b) { return v = v * b.v, *this; }
  Pack& operator/=(const Pack& b) { return v = v / b.v, *this; }
  friend Pack operator+(const Pack& a, const Pack& b) { return a.v + b.v; }
  friend Pack operator-(const Pack& a, const Pack& b) { return a.v - b.v; }
  friend Pack operator*(const Pack& a, const Pack& b) { return a.v * b.v; }
  friend Pack operator/(const Pack& a, const Pack& b) { return a.v / b.v; }
  /// To 1 ulp: a division takes as long as a dozen products.
  friend Pack operator/(const Pack& a, Real b) { return a * Pack(1 / b); }
  friend Pack operator-(const Pack& a) { return -a.v; }
};

struct PackMask {
  TwoOf<Register::Truths> v;  ///< All bits of a lane are set or none.
  friend PackMask operator&&(const PackMask& a, const PackMask& b) { return {a.v & b.v}; }
  friend PackMask operator||(const PackMask& a, const PackMask& b) { return {a.v | b.v}; }
  friend PackMask operator!(const PackMask& a) { return {~a.v}; }
};
inline PackMask operator<(const Pack& a, const Pack& b) { return {a.v < b.v}; }
inline PackMask operator>(const Pack& a, const Pack& b) { return {a.v > b.v}; }
inline PackMask operator<=(const Pack& a, const Pack& b) { return {a.v <= b.v}; }
inline PackMask operator>=(const Pack& a, const Pack& b) { return {a.v >= b.v}; }
inline PackMask operator==(const Pack& a, const Pack& b) { return {a.v == b.v}; }
inline PackMask operator!=(const Pack& a, const Pack& b) { return {a.v != b.v}; }

inline Pack select(const PackMask& mask, const Pack& a, const Pack& b) {
  return Pack::Reals(mask.v.first ? a.v.first : b.v.first, mask.v.second ? a.v.second : b.v.second);
}
template <int rows, int columns>
Eigen::Matrix<Pack, rows, columns> select(const PackMask& mask, const Eigen::Matrix<Pack, rows, columns>& a,
                                          const Eigen::Matrix<Pack, rows, columns>& b) {
  Eigen::Matrix<Pack, rows, columns> chosen;
  for (int i = 0; i < rows * columns; ++i) chosen(i) = select(mask, a(i), b(i));
  return chosen;
}

inline bool any(const PackMask& mask) { return Register::any(mask.v.first | mask.v.second); }

inline Pack value_of(const Pack& a) { return a; }

/// f(number) of each lane: for what is rare.
template <class F>
Pack by_lanes(const Pack& a, F&& f) {
  Pack r;
  for (int lane = 0; lane < Pack::size; ++lane) r.set(lane, f(a[lane]));
  return r;
}

namespace detail {
inline Pack::Bits bits_of(const Pack& a) { return a.v.as<Register::Bits>(); }
inline Pack of_bits(const Pack::Bits& a) { return a.as<Register::Reals>(); }
inline Pack::Bits all_bits(std::uint64_t a) { return Pack::Bits(a); }
constexpr std::uint64_t sign_bit = std::uint64_t(1) << 63;
constexpr Real ln2_high = 0x1.62e42fefa3800p-1;  // k ln2_high is exact for |k| < 2^11
constexpr Real ln2_low = 0x1.ef35793c76730p-45;
constexpr Real infinity = std::numeric_limits<Real>::infinity();
/// Polynomial sum c_n x^n by Horner's rule, even and odd powers apart: two chains wait half as long as one.
template <std::size_t N>
Pack horner(const std::array<Real, N>& c, const Pack& x) {
  const Pack square = x * x;
  Pack last = c[N - 1], other = c[N - 2];
  for (std::size_t n = N - 2; n-- > 0;) {
    const Pack next = last * square + c[n];
    last = other;
    other = next;
  }
  // `other` holds the even powers, `last` the odd ones.
  return other + x * last;
}
}  // namespace detail

// The functions of packs. Errors are bounds tested over the ranges that the tests name; NaN gives NaN.

inline Pack abs(const Pack& a) { return detail::of_bits(detail::bits_of(a) & detail::all_bits(~detail::sign_bit)); }
/// |a| with the sign of b.
inline Pack copysign(const Pack& a, const Pack& b) {
  return detail::of_bits((detail::bits_of(a) & detail::all_bits(~detail::sign_bit)) |
                         (detail::bits_of(b) & detail::all_bits(detail::sign_bit)));
}
/// b < a ? b : a.
inline Pack min(const Pack& a, const Pack& b) {
  return Pack::Reals(Register::min(a.v.first, b.v.first), Register::min(a.v.second, b.v.second));
}
/// a < b ? b : a.
inline Pack max(const Pack& a, const Pack& b) {
  return Pack::Reals(Register::max(a.v.first, b.v.first), Register::max(a.v.second, b.v.second));
}

/// The integer beneath; |a| < 2^31.
inline Pack floor(const Pack& a) { return Pack::Reals(Register::floor(a.v.first), Register::floor(a.v.second)); }

inline Pack sqrt(const Pack& a) { return Pack::Reals(Register::sqrt(a.v.first), Register::sqrt(a.v.second)); }

/// 1/sqrt(a) for normal positive a, to 2 ulp; NaN where AVX-512 has no finite answer.
inline Pack rsqrt(const Pack& a) { return Pack::Reals(Register::rsqrt(a.v.first), Register::rsqrt(a.v.second)); }

/// sqrt(a) for normal positive a, to 3 ulp, by products where these are faster.
inline Pack fast_sqrt(const Pack& a) {
  return Pack::Reals(Register::fast_sqrt(a.v.first), Register::fast_sqrt(a.v.second));
}

/// To 2 ulp; 0 where the result would lie beneath 1e-307.
inline Pack exp(const Pack& a) {
  using namespace detail;
  constexpr Real round = 0x1.8p52;                     // what is added to it is rounded to an integer
  static constexpr std::array<Real, 12> series = [] {  // 1 / (n + 2)!
    std::array<Real, 12> c{0.5};
    for (std::size_t n = 1; n < c.size(); ++n) c[n] = c[n - 1] / static_cast<Real>(n + 2);
    return c;
  }();
  const Pack shifted = a * std::numbers::log2e + round, k = shifted - round;
  const Pack r = (a - k * ln2_high) - k * ln2_low;  // |r| <= ln 2 / 2: 0.35^14 / 14! < 1e-17
  const Pack half_power = of_bits((bits_of(shifted) - all_bits(std::bit_cast<std::uint64_t>(round) - 1022)) << 52);
  const Pack value = 2 * ((1 + (r + r * r * horner(series, r))) * half_power);
  return select(a > 709.7, infinity, select(a < -707.0, 0, value));
}

/// To 1 ulp for normal a > 0; -infinity for 0.
inline Pack log(const Pack& a) {
  using namespace detail;
  // a = 2^k m with m in [sqrt(1/2), sqrt(2)).
  constexpr std::uint64_t one = std::bit_cast<std::uint64_t>(1.0),
                          root = std::bit_cast<std::uint64_t>(0x1.6a09e667f3bcdp-1);
  constexpr Real magic = 0x1p52;
  const Pack::Bits shifted = bits_of(a) + all_bits(one - root);
  const Pack k = of_bits((shifted >> 52) | all_bits(std::bit_cast<std::uint64_t>(magic))) - (magic + 1023);
  const Pack m = of_bits((shifted & all_bits((std::uint64_t(1) << 52) - 1)) + all_bits(root));
  // ln m = g - g^2/2 + f (g^2/2 + R), g = m - 1, f = g / (2 + g), R = sum_{n>0} 2/(2n+1) f^2n. [fdlibm]
  static constexpr std::array<Real, 11> series = [] {
    std::array<Real, 11> c{};
    for (std::size_t n = 0; n < c.size(); ++n) c[n] = 2 / (2.0 * static_cast<Real>(n) + 3);
    return c;
  }();
  const Pack g = m - 1, f = g / (2 + g), s = f * f, half = 0.5 * g * g;  // s <= 0.0295: 2/25 s^12 < 1e-18
  const Pack value = k * ln2_high - ((half - (f * (half + s * horner(series, s)) + k * ln2_low)) - g);
  const Pack beyond = select(a > 0, a, select(a == 0, -infinity, std::numeric_limits<Real>::quiet_NaN()));
  return select(a > 0 && a < infinity, value, beyond);
}

/// a^b for normal a > 0; its relative error is that of b log a.
inline Pack pow(const Pack& a, Real b) { return exp(b * log(a)); }

/// To 2 ulp for finite normal a; 0 for 0.
inline Pack cbrt(const Pack& a) {
  const Pack size = abs(a), r = exp(log(size) / 3);
  const Pack refined = r - (r - size / (r * r)) / 3;
  return select(a == 0, 0, copysign(refined, a));
}

/// To 3 ulp for |a| <= pi/2, to 1e-15 for |a| < 1e4.
inline Pack sin(const Pack& a) {
  using namespace detail;
  constexpr Real round = 0x1.8p52, pi_high = 0x1.921fb54400000p1, pi_low = 0x1.0b4611a626331p-33;
  static constexpr std::array<Real, 11> series = [] {
    std::array<Real, 11> c{-1.0 / 6};
    for (std::size_t n = 1; n < c.size(); ++n) c[n] = -c[n - 1] / static_cast<Real>((2 * n + 2) * (2 * n + 3));
    return c;
  }();
  const Pack shifted = a * std::numbers::inv_pi + round, k = shifted - round;
  const Pack r = (a - k * pi_high) - k * pi_low, s = r * r;
  const Pack::Bits odd = bits_of(shifted) << 63;  // sin(r + k pi) = (-1)^k sin r
  return of_bits(bits_of(r + r * (s * horner(series, s))) ^ odd);
}

/// To 3 ulp for normal numbers, in [-pi, pi]; 0 for (0, 0).
inline Pack atan2(const Pack& y, const Pack& x) {
  using namespace detail;
  constexpr Real tan_pi_8 = std::numbers::sqrt2 - 1;
  static constexpr std::array<Real, 21> series = [] {  // (-1)^n / (2n + 1)
    std::array<Real, 21> c{};
    for (std::size_t n = 0; n < c.size(); ++n) c[n] = (n % 2 == 0 ? -1.0 : 1.0) / (2.0 * static_cast<Real>(n) + 3);
    return c;
  }();
  // In the first octant, less pi/4 above pi/8: |t| <= tan pi/8, t^42 / 45 < 1e-17.
  const Pack across = abs(x), up = abs(y), longer = max(across, up), shorter = min(across, up);
  const PackMask steep = shorter > tan_pi_8 * longer;
  const Pack t =
      select(steep, shorter - longer, shorter) / select(longer > 0, select(steep, shorter + longer, longer), 1);
  const Pack s = t * t, octant = t + t * (s * horner(series, s)) + select(steep, std::numbers::pi / 4, 0);
  const Pack quadrant = select(up > across, std::numbers::pi / 2 - octant, octant);
  return select(y == y, copysign(select(x < 0, std::numbers::pi - quadrant, quadrant), y), y);
}

inline bool isfinite(const Pack& a) { return !any(!(abs(a) < detail::infinity)); }

}  // namespace weft

namespace Eigen {
template <>
struct NumTraits<weft::Pack> : NumTraits<weft::Real> {
  using Real = weft::Pack;
  using NonInteger = weft::Pack;
  using Nested = weft::Pack;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 0,
    ReadCost = 1,
    AddCost = 1,
    MulCost = 1
  };
};
}  // namespace Eigen
