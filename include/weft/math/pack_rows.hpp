#pragma once
// Packs of points: rows of columns turned into lanes, and back.
//
// A column is an array of rows, e.g. the nine numbers of a matrix; a pack of points wants the first number of all its
// points in one register, the second in the next, ... Square blocks of rows and numbers are transposed in registers.

#include "weft/base/types.hpp"
#include "weft/math/pack.hpp"
#include "weft/math/symmetric.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace weft {

/// The rows that the lanes of a pack stand for. Lanes beyond `count` are idle: they repeat the last row when loaded, so
/// that they compute with numbers that occur, and are not stored.
struct PackRows {
  using Rows = std::uint32_t __attribute__((vector_size(Pack::size * sizeof(std::uint32_t))));

  std::array<std::uint32_t, Pack::size> row;
  int count;
  bool follow;  ///< No lane is idle, and each row is the one after that of the lane before.

  /// rows[first], rows[first + 1], ...
  static PackRows of(std::span<const std::uint32_t> rows, std::size_t first) {
    if (first + Pack::size <= rows.size()) {
      Rows all;
      std::memcpy(&all, &rows[first], sizeof(all));
      return {std::bit_cast<std::array<std::uint32_t, Pack::size>>(all), Pack::size, is_zero(all - all[0] - steps)};
    }
    PackRows some = range(first, rows.size());
    for (std::uint32_t& row : some.row) row = rows[row];
    return some;
  }
  /// These rows; lanes beyond `count` hold repeated ones.
  static PackRows of(const std::array<std::uint32_t, Pack::size>& rows, int count) {
    Rows all;
    std::memcpy(&all, rows.data(), sizeof(all));
    return {rows, count, count == Pack::size && is_zero(all - all[0] - steps)};
  }
  /// Rows first, first + 1, ..., before end.
  static PackRows range(std::size_t first, std::size_t end) {
    const Rows next = static_cast<std::uint32_t>(first) + steps, last = Rows{} + static_cast<std::uint32_t>(end - 1);
    return {std::bit_cast<std::array<std::uint32_t, Pack::size>>(next < last ? next : last),
            static_cast<int>(std::min<std::size_t>(Pack::size, end - first)), first + Pack::size <= end};
  }

 private:
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  static constexpr Rows steps{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  static bool is_zero(const Rows& a) {
    return _mm512_test_epi32_mask(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(a)) == 0;
  }
#elif defined(__AVX__)
  static constexpr Rows steps{0, 1, 2, 3, 4, 5, 6, 7};
  static bool is_zero(const Rows& a) {
    return _mm256_testz_si256(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(a)) != 0;
  }
#else
  static constexpr Rows steps{0, 1, 2, 3};
  static bool is_zero(const Rows& a) { return (a[0] | a[1] | a[2] | a[3]) == 0; }
#endif
};

namespace detail {

using Reals = Register::Reals;

/// Lane j of register i and lane i of register j change places.
[[gnu::always_inline]] inline void transpose(Reals (&a)[Register::size]) {
  // log2(size) rounds exchange the off-diagonal blocks of 2x2, then of 4x4, ...
  Reals b[Register::size];
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#pragma GCC unroll 8
  for (int i = 0; i < 8; i += 2) {
    b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    if (i & 2) continue;
    a[i] = __builtin_shufflevector(b[i], b[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    a[i + 2] = __builtin_shufflevector(b[i], b[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 4; ++i) {
    b[i] = __builtin_shufflevector(a[i], a[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    b[i + 4] = __builtin_shufflevector(a[i], a[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
#elif defined(__AVX__)
  Reals d[Register::size];
#pragma GCC unroll 4
  for (int i = 0; i < 4; i += 2) {
    d[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 4, 2, 6);
    d[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 1, 5, 3, 7);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 2; ++i) {
    b[i] = __builtin_shufflevector(d[i], d[i + 2], 0, 1, 4, 5);
    b[i + 2] = __builtin_shufflevector(d[i], d[i + 2], 2, 3, 6, 7);
  }
#else
  b[0] = __builtin_shufflevector(a[0], a[1], 0, 2);
  b[1] = __builtin_shufflevector(a[0], a[1], 1, 3);
#endif
#pragma GCC unroll 8
  for (int i = 0; i < Register::size; ++i) a[i] = b[i];
}

/// columns[c], lane l = from[width * l + c] for the first Register::size numbers of as many rows.
template <int width>
[[gnu::always_inline]] inline void load_square(const Real* from, Reals* columns) {
  Reals block[Register::size];
#pragma GCC unroll 8
  for (int lane = 0; lane < Register::size; ++lane) block[lane] = Register::load(from + width * lane);
  transpose(block);
#pragma GCC unroll 8
  for (int c = 0; c < Register::size; ++c) columns[c] = block[c];
}
/// And back.
template <int width>
[[gnu::always_inline]] inline void store_square(const Reals* columns, Real* to) {
  Reals block[Register::size];
#pragma GCC unroll 8
  for (int c = 0; c < Register::size; ++c) block[c] = columns[c];
  transpose(block);
#pragma GCC unroll 8
  for (int lane = 0; lane < Register::size; ++lane) Register::store(block[lane], to + width * lane);
}

// Rows of three numbers. Number k of all stands in row k / 3 as number k % 3 and so in lane k / 3 of register k % 3.
// Exchanges of lanes take two registers at once, so those of three are brought together two by two; -1: it does not
// matter yet.

/// Column c of the numbers in these registers.
template <int c, int... lane>
[[gnu::always_inline]] inline Reals collected(const Reals (&in)[3], std::integer_sequence<int, lane...>) {
  constexpr int size = Register::size;
  const Reals most = __builtin_shufflevector(in[0], in[1], (3 * lane + c < 2 * size ? 3 * lane + c : -1)...);
  return __builtin_shufflevector(most, in[2], (3 * lane + c < 2 * size ? lane : 3 * lane + c - size)...);
}
/// Numbers first, first + 1, ... of all.
template <int first, int... place>
[[gnu::always_inline]] inline Reals spread(const Reals* columns, std::integer_sequence<int, place...>) {
  constexpr int size = Register::size;
  const Reals most = __builtin_shufflevector(
      columns[0], columns[1], ((first + place) % 3 < 2 ? (first + place) / 3 + size * ((first + place) % 3) : -1)...);
  return __builtin_shufflevector(most, columns[2], ((first + place) % 3 < 2 ? place : size + (first + place) / 3)...);
}

/// columns[c], lane l = from[3 l + c].
[[gnu::always_inline]] inline void load_triples(const Real* from, Reals* columns) {
  constexpr auto lanes = std::make_integer_sequence<int, Register::size>();
  const Reals in[3] = {Register::load(from), Register::load(from + Register::size),
                       Register::load(from + 2 * Register::size)};
  columns[0] = collected<0>(in, lanes);
  columns[1] = collected<1>(in, lanes);
  columns[2] = collected<2>(in, lanes);
}
/// And back.
[[gnu::always_inline]] inline void store_triples(const Reals* columns, Real* to) {
  constexpr auto places = std::make_integer_sequence<int, Register::size>();
  Register::store(spread<0>(columns, places), to);
  Register::store(spread<Register::size>(columns, places), to + Register::size);
  Register::store(spread<2 * Register::size>(columns, places), to + 2 * Register::size);
}

// A row of six numbers is two of three, so registers of rows are two registers of half as many rows each, halves of
// rows in turn: the even lanes of both belong to the first three numbers, the odd ones to the others.

/// The even (0) or odd (1) lanes of both, one register after the other.
template <int first, int... lane>
[[gnu::always_inline]] inline Reals every_other(const Reals& a, const Reals& b, std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(a, b, (2 * lane + first)...);
}
/// Lanes of both in turn, from the first (0) or second (1) half of each.
template <int half, int... lane>
[[gnu::always_inline]] inline Reals in_turn(const Reals& a, const Reals& b, std::integer_sequence<int, lane...>) {
  constexpr int size = Register::size;
  return __builtin_shufflevector(a, b, (half * (size / 2) + lane / 2 + (lane % 2) * size)...);
}
/// columns[c], lane l = from[6 l + c].
[[gnu::always_inline]] inline void load_sextuples(const Real* from, Reals* columns) {
  constexpr auto lanes = std::make_integer_sequence<int, Register::size>();
  Reals a[3], b[3];
  load_triples(from, a);
  load_triples(from + 3 * Register::size, b);
#pragma GCC unroll 3
  for (int c = 0; c < 3; ++c) {
    columns[c] = every_other<0>(a[c], b[c], lanes);
    columns[c + 3] = every_other<1>(a[c], b[c], lanes);
  }
}
/// And back.
[[gnu::always_inline]] inline void store_sextuples(const Reals* columns, Real* to) {
  constexpr auto lanes = std::make_integer_sequence<int, Register::size>();
  Reals a[3], b[3];
#pragma GCC unroll 3
  for (int c = 0; c < 3; ++c) {
    a[c] = in_turn<0>(columns[c], columns[c + 3], lanes);
    b[c] = in_turn<1>(columns[c], columns[c + 3], lanes);
  }
  store_triples(a, to);
  store_triples(b, to + 3 * Register::size);
}

/// columns[0], lane l = from[width * l].
template <int width>
[[gnu::always_inline]] inline void load_column(const Real* from, Reals* columns) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  // Spares the port that also exchanges lanes.
  const __m512i places = _mm512_setr_epi64(0, width, 2 * width, 3 * width, 4 * width, 5 * width, 6 * width, 7 * width);
  columns[0] = reinterpret_cast<Reals>(_mm512_mask_i64gather_pd(_mm512_setzero_pd(), 0xff, places, from, sizeof(Real)));
#else
  Reals lanes;
#pragma GCC unroll 8
  for (int lane = 0; lane < Register::size; ++lane) lanes[lane] = from[width * lane];
  columns[0] = lanes;
#endif
}

/// columns[c], lane l = from[width * l + c].
template <int width>
[[gnu::always_inline]] inline void load_block(const Real* from, Reals* columns) {
  if constexpr (width == 1) {
    *columns = Register::load(from);
  } else if constexpr (width == 3) {
    load_triples(from, columns);
  } else if constexpr (width == 6) {
    load_sextuples(from, columns);
  } else {
    constexpr int squares = width / Register::size * Register::size;
#pragma GCC unroll 8
    for (int c = 0; c < squares; c += Register::size) load_square<width>(from + c, columns + c);
#pragma GCC unroll 8
    for (int c = squares; c < width; ++c) load_column<width>(from + c, columns + c);
  }
}
/// to[width * l + c] = columns[c], lane l.
template <int width>
[[gnu::always_inline]] inline void store_block(const Reals* columns, Real* to) {
  if constexpr (width == 1) {
    Register::store(*columns, to);
  } else if constexpr (width == 3) {
    store_triples(columns, to);
  } else if constexpr (width == 6) {
    store_sextuples(columns, to);
  } else {
    constexpr int squares = width / Register::size * Register::size;
#pragma GCC unroll 8
    for (int c = 0; c < squares; c += Register::size) store_square<width>(columns + c, to + c);
#pragma GCC unroll 8
    for (int c = squares; c < width; ++c)
#pragma GCC unroll 8
      for (int lane = 0; lane < Register::size; ++lane) to[width * lane + c] = columns[c][lane];
  }
}

/// packs[c], lane l = from[width * row[l] + c].
template <int width>
[[gnu::always_inline]] inline void load_rows(const Real* from, const PackRows& rows, Pack* packs) {
  Real copy[width * Pack::size];
  const Real* block = from + width * static_cast<std::size_t>(rows.row[0]);
  if (!rows.follow) [[unlikely]] {
    for (int lane = 0; lane < Pack::size; ++lane)
      std::memcpy(copy + width * lane, from + width * static_cast<std::size_t>(rows.row[lane]), width * sizeof(Real));
    block = copy;
  }
  Reals first[width], second[width];
  load_block<width>(block, first);
  load_block<width>(block + width * Register::size, second);
#pragma GCC unroll 9
  for (int c = 0; c < width; ++c) packs[c] = Pack::Reals(first[c], second[c]);
}
/// to[width * row[l] + c] = packs[c], lane l.
template <int width>
[[gnu::always_inline]] inline void store_rows(const Pack* packs, const PackRows& rows, Real* to) {
  if (rows.follow) [[likely]] {
    Reals first[width], second[width];
#pragma GCC unroll 9
    for (int c = 0; c < width; ++c) first[c] = packs[c].v.first, second[c] = packs[c].v.second;
    Real* block = to + width * static_cast<std::size_t>(rows.row[0]);
    store_block<width>(first, block);
    return store_block<width>(second, block + width * Register::size);
  }
  if constexpr (width == 1) {
    for (int lane = 0; lane < rows.count; ++lane) to[rows.row[lane]] = packs[0][lane];
  } else {
    Reals first[width], second[width];
#pragma GCC unroll 9
    for (int c = 0; c < width; ++c) first[c] = packs[c].v.first, second[c] = packs[c].v.second;
    Real copy[width * Pack::size];
    store_block<width>(first, copy);
    store_block<width>(second, copy + width * Register::size);
    const int count = std::min<int>(rows.count, Pack::size);  // it is; compilers do not know
    for (int lane = 0; lane < count; ++lane)
      std::memcpy(to + width * static_cast<std::size_t>(rows.row[lane]), copy + width * lane, width * sizeof(Real));
  }
}

}  // namespace detail

// load(column, rows): the rows as lanes. store(packs, rows, column): the lanes back into the rows.
inline Pack load(std::span<const Real> column, const PackRows& rows) {
  Pack a;
  detail::load_rows<1>(column.data(), rows, &a);
  return a;
}
inline Vector3<Pack> load(std::span<const Vec3> column, const PackRows& rows) {
  Vector3<Pack> a;
  detail::load_rows<3>(column.data()->data(), rows, a.data());
  return a;
}
inline Matrix3<Pack> load(std::span<const Mat3> column, const PackRows& rows) {
  Matrix3<Pack> a;
  detail::load_rows<9>(column.data()->data(), rows, a.data());
  return a;
}
inline Matrix32<Pack> load(std::span<const Mat32> column, const PackRows& rows) {
  Matrix32<Pack> a;
  detail::load_rows<6>(column.data()->data(), rows, a.data());
  return a;
}
inline Symmetric3<Pack> load(std::span<const Symmetric3<Real>> column, const PackRows& rows) {
  Pack a[6];
  detail::load_rows<6>(reinterpret_cast<const Real*>(column.data()), rows, a);
  return {a[0], a[1], a[2], a[3], a[4], a[5]};
}
inline void store(const Pack& a, const PackRows& rows, std::span<Real> column) {
  detail::store_rows<1>(&a, rows, column.data());
}
inline void store(const Vector3<Pack>& a, const PackRows& rows, std::span<Vec3> column) {
  detail::store_rows<3>(a.data(), rows, column.data()->data());
}
inline void store(const Matrix3<Pack>& a, const PackRows& rows, std::span<Mat3> column) {
  detail::store_rows<9>(a.data(), rows, column.data()->data());
}
inline void store(const Matrix32<Pack>& a, const PackRows& rows, std::span<Mat32> column) {
  detail::store_rows<6>(a.data(), rows, column.data()->data());
}

inline void store(const Symmetric3<Pack>& a, const PackRows& rows, std::span<Symmetric3<Real>> column) {
  const Pack packs[6] = {a.xx, a.yy, a.zz, a.yz, a.xz, a.xy};
  detail::store_rows<6>(packs, rows, reinterpret_cast<Real*>(column.data()));
}

/// Zero in the idle lanes.
inline Pack without_idle(Pack a, const PackRows& rows) {
  for (int lane = rows.count; lane < Pack::size; ++lane) a.set(lane, 0);
  return a;
}

inline Real sum_of_lanes(const Pack& a) {
  Real sum = 0;
  for (int lane = 0; lane < Pack::size; ++lane) sum += a[lane];
  return sum;
}

/// The largest lane, found by halves: one lane after the other, each would wait for the one before.
inline Real largest(const Pack& a) {
  Real most[Register::size];
  Register::store(Register::max(a.v.first, a.v.second), most);
  for (int half = Register::size / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) most[lane] = std::max(most[lane], most[lane + half]);
  return most[0];
}

}  // namespace weft
