#pragma once
// A vector register of reals, what the processor does with it, and two of them side by side.
//
// Arithmetic, comparisons and choices are those of the compiler's vectors; here is what compilers do not make of them.

#include "weft/base/types.hpp"

#include <cmath>
#include <cstdint>
#include <type_traits>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace weft {

struct Register {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  static constexpr int size = 8;
#elif defined(__AVX__)
  static constexpr int size = 4;
#else
  static constexpr int size = 2;
#endif
  using Reals = Real __attribute__((vector_size(size * sizeof(Real))));
  using Bits = std::uint64_t __attribute__((vector_size(size * sizeof(Real))));
  using Truths = decltype(Reals{} < Reals{});  ///< All bits of a lane are set or none.
  /// As they stand in memory. Moved as one: compilers copy what `memcpy` is asked for in smaller pieces, and a register
  /// that is loaded from pieces just written waits for all of them.
  using Stored [[gnu::may_alias, gnu::aligned(alignof(Real))]] = Reals;

  static Reals load(const Real* from) { return *reinterpret_cast<const Stored*>(from); }
  static void store(const Reals& a, Real* to) { *reinterpret_cast<Stored*>(to) = a; }

#if defined(__AVX512F__) && defined(__AVX512DQ__)
  static bool any(const Truths& a) { return _mm512_movepi64_mask(reinterpret_cast<__m512i>(a)) != 0; }
  /// b < a ? b : a.
  static Reals min(const Reals& a, const Reals& b) {
    return reinterpret_cast<Reals>(
        _mm512_maskz_min_pd(0xff, reinterpret_cast<__m512d>(b), reinterpret_cast<__m512d>(a)));
  }
  /// a < b ? b : a.
  static Reals max(const Reals& a, const Reals& b) {
    return reinterpret_cast<Reals>(
        _mm512_maskz_max_pd(0xff, reinterpret_cast<__m512d>(b), reinterpret_cast<__m512d>(a)));
  }
  static Reals floor(const Reals& a) {
    return reinterpret_cast<Reals>(
        _mm512_maskz_roundscale_pd(0xff, reinterpret_cast<__m512d>(a), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
  }
  static Reals sqrt(const Reals& a) {
    return reinterpret_cast<Reals>(_mm512_maskz_sqrt_pd(0xff, reinterpret_cast<__m512d>(a)));
  }
  static Reals rsqrt(const Reals& a) {
    Reals r = reinterpret_cast<Reals>(_mm512_maskz_rsqrt14_pd(0xff, reinterpret_cast<__m512d>(a)));
    const Reals half = 0.5 * a;
    r += r * (0.5 - half * r * r);  // Newton, twice: 2^-14, 2^-27, 2^-53
    return r + r * (0.5 - half * r * r);
  }
  static Reals fast_sqrt(const Reals& a) { return a * rsqrt(a); }
#elif defined(__AVX__)
  static bool any(const Truths& a) { return _mm256_movemask_pd(reinterpret_cast<__m256d>(a)) != 0; }
  static Reals min(const Reals& a, const Reals& b) {
    return reinterpret_cast<Reals>(_mm256_min_pd(reinterpret_cast<__m256d>(b), reinterpret_cast<__m256d>(a)));
  }
  static Reals max(const Reals& a, const Reals& b) {
    return reinterpret_cast<Reals>(_mm256_max_pd(reinterpret_cast<__m256d>(b), reinterpret_cast<__m256d>(a)));
  }
  static Reals floor(const Reals& a) { return reinterpret_cast<Reals>(_mm256_floor_pd(reinterpret_cast<__m256d>(a))); }
  static Reals sqrt(const Reals& a) { return reinterpret_cast<Reals>(_mm256_sqrt_pd(reinterpret_cast<__m256d>(a))); }
  static Reals rsqrt(const Reals& a) { return 1 / sqrt(a); }
  static Reals fast_sqrt(const Reals& a) { return sqrt(a); }
#elif defined(__SSE2__)
  static bool any(const Truths& a) { return _mm_movemask_pd(reinterpret_cast<__m128d>(a)) != 0; }
  static Reals min(const Reals& a, const Reals& b) {
    return reinterpret_cast<Reals>(_mm_min_pd(reinterpret_cast<__m128d>(b), reinterpret_cast<__m128d>(a)));
  }
  static Reals max(const Reals& a, const Reals& b) {
    return reinterpret_cast<Reals>(_mm_max_pd(reinterpret_cast<__m128d>(b), reinterpret_cast<__m128d>(a)));
  }
  static Reals floor(const Reals& a) { return floor_by_conversion(a); }
  static Reals sqrt(const Reals& a) { return reinterpret_cast<Reals>(_mm_sqrt_pd(reinterpret_cast<__m128d>(a))); }
  static Reals rsqrt(const Reals& a) { return 1 / sqrt(a); }
  static Reals fast_sqrt(const Reals& a) { return sqrt(a); }
#else
  static bool any(const Truths& a) { return (a[0] | a[1]) != 0; }
  static Reals min(const Reals& a, const Reals& b) { return b < a ? b : a; }
  static Reals max(const Reals& a, const Reals& b) { return a < b ? b : a; }
  static Reals floor(const Reals& a) { return floor_by_conversion(a); }
  static Reals sqrt(const Reals& a) { return Reals{std::sqrt(a[0]), std::sqrt(a[1])}; }
  static Reals rsqrt(const Reals& a) { return 1 / sqrt(a); }
  static Reals fast_sqrt(const Reals& a) { return sqrt(a); }
#endif

 private:
  [[maybe_unused]] static Reals floor_by_conversion(const Reals& a) {
    using Integers = std::int32_t __attribute__((vector_size(size * sizeof(std::int32_t))));
    const Reals cut = __builtin_convertvector(__builtin_convertvector(a, Integers), Reals);
    return cut > a ? cut - 1 : cut;
  }
};

/// Two vectors of a kind, both treated alike.
template <class V>
struct TwoOf {
  V first, second;

  TwoOf() = default;
  template <class Number>
    requires std::is_arithmetic_v<Number>
  explicit TwoOf(Number all) : first(all - V{}), second(first) {}  // x - 0 is x and costs nothing, -0 + 0 is not -0
  TwoOf(const V& a, const V& b) : first(a), second(b) {}
  // Said, so that what consists of these is copied register by register; else compilers move bytes in pieces of any
  // size.
  TwoOf(const TwoOf& b) : first(b.first), second(b.second) {}
  TwoOf& operator=(const TwoOf& b) { return first = b.first, second = b.second, *this; }

  /// The same bits as vectors of another kind.
  template <class W>
  TwoOf<W> as() const {
    return {reinterpret_cast<W>(first), reinterpret_cast<W>(second)};
  }

  friend TwoOf operator-(const TwoOf& a) { return {-a.first, -a.second}; }
  friend TwoOf operator~(const TwoOf& a) { return {~a.first, ~a.second}; }
  friend TwoOf operator+(const TwoOf& a, const TwoOf& b) { return {a.first + b.first, a.second + b.second}; }
  friend TwoOf operator-(const TwoOf& a, const TwoOf& b) { return {a.first - b.first, a.second - b.second}; }
  friend TwoOf operator*(const TwoOf& a, const TwoOf& b) { return {a.first * b.first, a.second * b.second}; }
  friend TwoOf operator/(const TwoOf& a, const TwoOf& b) { return {a.first / b.first, a.second / b.second}; }
  friend TwoOf operator&(const TwoOf& a, const TwoOf& b) { return {a.first & b.first, a.second & b.second}; }
  friend TwoOf operator|(const TwoOf& a, const TwoOf& b) { return {a.first | b.first, a.second | b.second}; }
  friend TwoOf operator^(const TwoOf& a, const TwoOf& b) { return {a.first ^ b.first, a.second ^ b.second}; }
  friend TwoOf operator<<(const TwoOf& a, int bits) { return {a.first << bits, a.second << bits}; }
  friend TwoOf operator>>(const TwoOf& a, int bits) { return {a.first >> bits, a.second >> bits}; }

  using Truths = TwoOf<decltype(V{} < V{})>;
  friend Truths operator<(const TwoOf& a, const TwoOf& b) { return {a.first < b.first, a.second < b.second}; }
  friend Truths operator>(const TwoOf& a, const TwoOf& b) { return {a.first > b.first, a.second > b.second}; }
  friend Truths operator<=(const TwoOf& a, const TwoOf& b) { return {a.first <= b.first, a.second <= b.second}; }
  friend Truths operator>=(const TwoOf& a, const TwoOf& b) { return {a.first >= b.first, a.second >= b.second}; }
  friend Truths operator==(const TwoOf& a, const TwoOf& b) { return {a.first == b.first, a.second == b.second}; }
  friend Truths operator!=(const TwoOf& a, const TwoOf& b) { return {a.first != b.first, a.second != b.second}; }
};

}  // namespace weft
