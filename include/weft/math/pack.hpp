#pragma once
// Pack: as many reals as a vector register holds, one for each of as many points. Usable as the scalar of Eigen
// matrices and of every function templated on its scalar.
//
// Each lane is computed as if it were alone: what the other lanes hold changes no bit of it.

#include "weft/base/types.hpp"
#include "weft/math/scalar.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace weft {

/// One bool for each lane of a pack.
struct PackMask;

struct Pack {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  static constexpr int size = 8;
#elif defined(__AVX__)
  static constexpr int size = 4;
#else
  static constexpr int size = 2;
#endif
  using Reals = Real __attribute__((vector_size(size * sizeof(Real))));
  using Bits = std::uint64_t __attribute__((vector_size(size * sizeof(Real))));
  /// As they stand in memory. Moved as one: compilers copy what `memcpy` is asked for in smaller pieces, and a register
  /// that is loaded from pieces just written waits for all of them.
  using Stored [[gnu::may_alias, gnu::aligned(alignof(Real))]] = Reals;

  Reals v;

  Pack() = default;
  // Said, so that what consists of packs is copied pack by pack; else compilers move its bytes in pieces of any size.
  Pack(const Pack& b) : v(b.v) {}
  Pack& operator=(const Pack& b) { return v = b.v, *this; }
  Pack(Real all) : v(Reals{} + all) {}  // NOLINT(google-explicit-constructor): constants mix freely with packs
  Pack(Reals reals) : v(reals) {}       // NOLINT(google-explicit-constructor)

  static Pack load(const Real* from) { return Reals(*reinterpret_cast<const Stored*>(from)); }
  void store(Real* to) const { *reinterpret_cast<Stored*>(to) = v; }

  Real operator[](int lane) const { return v[lane]; }

  Pack& operator+=(const Pack& b) { return v += b.v, *this; }
  Pack& operator-=(const Pack& b) { return v -= b.v, *this; }
  Pack& operator*=(const Pack& b) { return v *= b.v, *this; }
  Pack& operator/=(const Pack& b) { return v /= b.v, *this; }
  friend Pack operator+(const Pack& a, const Pack& b) { return a.v + b.v; }
  friend Pack operator-(const Pack& a, const Pack& b) { return a.v - b.v; }
  friend Pack operator*(const Pack& a, const Pack& b) { return a.v * b.v; }
  friend Pack operator/(const Pack& a, const Pack& b) { return a.v / b.v; }
  friend Pack operator-(const Pack& a) { return -a.v; }
};

struct PackMask {
  decltype(Pack::Reals{} < Pack::Reals{}) v;  ///< All bits of a lane are set or none.
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

inline Pack select(const PackMask& mask, const Pack& a, const Pack& b) { return mask.v ? a.v : b.v; }
template <int rows, int columns>
Eigen::Matrix<Pack, rows, columns> select(const PackMask& mask, const Eigen::Matrix<Pack, rows, columns>& a,
                                          const Eigen::Matrix<Pack, rows, columns>& b) {
  Eigen::Matrix<Pack, rows, columns> chosen;
  for (int i = 0; i < rows * columns; ++i) chosen(i) = select(mask, a(i), b(i));
  return chosen;
}

inline bool any(const PackMask& mask) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return _mm512_movepi64_mask(reinterpret_cast<__m512i>(mask.v)) != 0;
#elif defined(__AVX__)
  return _mm256_movemask_pd(reinterpret_cast<__m256d>(mask.v)) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_pd(reinterpret_cast<__m128d>(mask.v)) != 0;
#else
  for (int lane = 0; lane < Pack::size; ++lane)
    if (mask.v[lane]) return true;
  return false;
#endif
}

inline Pack value_of(const Pack& a) { return a; }

/// f(number) of each lane: for what is rare.
template <class F>
Pack by_lanes(const Pack& a, F&& f) {
  Pack r;
  for (int lane = 0; lane < Pack::size; ++lane) r.v[lane] = f(a[lane]);
  return r;
}

namespace detail {
inline Pack::Bits bits_of(const Pack& a) { return std::bit_cast<Pack::Bits>(a.v); }
inline Pack of_bits(const Pack::Bits& a) { return std::bit_cast<Pack::Reals>(a); }
inline Pack::Bits all_bits(std::uint64_t a) { return Pack::Bits{} + a; }
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
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return reinterpret_cast<Pack::Reals>(
      _mm512_maskz_min_pd(0xff, reinterpret_cast<__m512d>(b.v), reinterpret_cast<__m512d>(a.v)));
#elif defined(__AVX__)
  return reinterpret_cast<Pack::Reals>(_mm256_min_pd(reinterpret_cast<__m256d>(b.v), reinterpret_cast<__m256d>(a.v)));
#elif defined(__SSE2__)
  return reinterpret_cast<Pack::Reals>(_mm_min_pd(reinterpret_cast<__m128d>(b.v), reinterpret_cast<__m128d>(a.v)));
#else
  return select(b < a, b, a);
#endif
}
/// a < b ? b : a.
inline Pack max(const Pack& a, const Pack& b) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return reinterpret_cast<Pack::Reals>(
      _mm512_maskz_max_pd(0xff, reinterpret_cast<__m512d>(b.v), reinterpret_cast<__m512d>(a.v)));
#elif defined(__AVX__)
  return reinterpret_cast<Pack::Reals>(_mm256_max_pd(reinterpret_cast<__m256d>(b.v), reinterpret_cast<__m256d>(a.v)));
#elif defined(__SSE2__)
  return reinterpret_cast<Pack::Reals>(_mm_max_pd(reinterpret_cast<__m128d>(b.v), reinterpret_cast<__m128d>(a.v)));
#else
  return select(a < b, b, a);
#endif
}

/// The integer beneath; |a| < 2^31.
inline Pack floor(const Pack& a) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return reinterpret_cast<Pack::Reals>(
      _mm512_maskz_roundscale_pd(0xff, reinterpret_cast<__m512d>(a.v), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
#elif defined(__AVX__)
  return reinterpret_cast<Pack::Reals>(_mm256_floor_pd(reinterpret_cast<__m256d>(a.v)));
#else
  using Integers = std::int32_t __attribute__((vector_size(Pack::size * sizeof(std::int32_t))));
  const Pack cut = __builtin_convertvector(__builtin_convertvector(a.v, Integers), Pack::Reals);
  return select(cut > a, cut - 1, cut);
#endif
}

inline Pack sqrt(const Pack& a) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return reinterpret_cast<Pack::Reals>(_mm512_maskz_sqrt_pd(0xff, reinterpret_cast<__m512d>(a.v)));
#elif defined(__AVX__)
  return reinterpret_cast<Pack::Reals>(_mm256_sqrt_pd(reinterpret_cast<__m256d>(a.v)));
#elif defined(__SSE2__)
  return reinterpret_cast<Pack::Reals>(_mm_sqrt_pd(reinterpret_cast<__m128d>(a.v)));
#else
  return by_lanes(a, [](Real x) { return std::sqrt(x); });
#endif
}

/// 1/sqrt(a) for normal positive a, to 2 ulp; NaN where AVX-512 has no finite answer.
inline Pack rsqrt(const Pack& a) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  Pack r = reinterpret_cast<Pack::Reals>(_mm512_maskz_rsqrt14_pd(0xff, reinterpret_cast<__m512d>(a.v)));
  const Pack half = 0.5 * a;
  r += r * (0.5 - half * r * r);  // Newton, twice: 2^-14, 2^-27, 2^-53
  return r + r * (0.5 - half * r * r);
#else
  return 1 / sqrt(a);
#endif
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
