#pragma once
// Packs of points: rows of columns turned into lanes, and back.
//
// A column is an array of rows, e.g. the nine numbers of a matrix; a pack of points wants the first number of all its
// points in one register, the second in the next, ... Square blocks of rows and numbers are transposed in registers.

#include "weft/base/types.hpp"
#include "weft/math/pack.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace weft {

/// The rows that the lanes of a pack stand for. Lanes beyond `count` are idle: they repeat the last row when loaded, so
/// that they compute with numbers that occur, and are not stored.
struct PackRows {
  std::array<std::uint32_t, Pack::size> row;
  int count;

  /// rows[first], rows[first + 1], ...
  static PackRows of(std::span<const std::uint32_t> rows, std::size_t first) {
    PackRows some = range(first, rows.size());
    for (std::uint32_t& row : some.row) row = rows[row];
    return some;
  }
  /// Rows first, first + 1, ..., before end.
  static PackRows range(std::size_t first, std::size_t end) {
    PackRows rows;
    rows.count = static_cast<int>(std::min<std::size_t>(Pack::size, end - first));
    for (int lane = 0; lane < Pack::size; ++lane)
      rows.row[lane] = static_cast<std::uint32_t>(first) + std::min(lane, rows.count - 1);
    return rows;
  }
};

namespace detail {

/// Lane j of pack i and lane i of pack j change places.
[[gnu::always_inline]] inline void transpose(Pack::Reals (&a)[Pack::size]) {
  // log2(size) rounds exchange the off-diagonal blocks of 2x2, then of 4x4, ...
  Pack::Reals b[Pack::size];
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
  Pack::Reals d[Pack::size];
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
  for (int i = 0; i < Pack::size; ++i) a[i] = b[i];
}

/// packs[c], lane l = from[width * row[l] + c].
template <int width>
[[gnu::always_inline]] inline void load_rows(const Real* from, const PackRows& rows, Pack* packs) {
  constexpr int size = Pack::size;
  int c = 0;
#pragma GCC unroll 8
  for (; c + size <= width; c += size) {
    Pack::Reals block[size];
#pragma GCC unroll 8
    for (int lane = 0; lane < size; ++lane) std::memcpy(&block[lane], from + width * rows.row[lane] + c, sizeof(Pack));
    transpose(block);
#pragma GCC unroll 8
    for (int i = 0; i < size; ++i) packs[c + i] = block[i];
  }
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  using Rows = std::uint32_t __attribute__((vector_size(size * sizeof(std::uint32_t))));
  const Pack::Bits places = __builtin_convertvector(std::bit_cast<Rows>(rows.row), Pack::Bits) * width;
#pragma GCC unroll 8
  for (; c < width; ++c)
    packs[c] = reinterpret_cast<Pack::Reals>(
        _mm512_mask_i64gather_pd(
        _mm512_setzero_pd(), 0xff, reinterpret_cast<__m512i>(places), from + c, sizeof(Real)));
#else
#pragma GCC unroll 8
  for (; c < width; ++c) {
    Pack::Reals lanes;
#pragma GCC unroll 8
    for (int lane = 0; lane < size; ++lane) lanes[lane] = from[width * rows.row[lane] + c];
    packs[c] = lanes;
  }
#endif
}

/// to[width * row[l] + c] = packs[c], lane l.
template <int width>
[[gnu::always_inline]] inline void store_rows(const Pack* packs, const PackRows& rows, Real* to) {
  constexpr int size = Pack::size;
  if (rows.count < size) {
    for (int lane = 0; lane < rows.count; ++lane)
      for (int c = 0; c < width; ++c) to[width * rows.row[lane] + c] = packs[c][lane];
    return;
  }
  int c = 0;
#pragma GCC unroll 8
  for (; c + size <= width; c += size) {
    Pack::Reals block[size];
#pragma GCC unroll 8
    for (int i = 0; i < size; ++i) block[i] = packs[c + i].v;
    transpose(block);
#pragma GCC unroll 8
    for (int lane = 0; lane < size; ++lane) std::memcpy(to + width * rows.row[lane] + c, &block[lane], sizeof(Pack));
  }
#pragma GCC unroll 8
  for (; c < width; ++c)
#pragma GCC unroll 8
    for (int lane = 0; lane < size; ++lane) to[width * rows.row[lane] + c] = packs[c][lane];
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
inline void store(const Pack& a, const PackRows& rows, std::span<Real> column) {
  detail::store_rows<1>(&a, rows, column.data());
}
inline void store(const Vector3<Pack>& a, const PackRows& rows, std::span<Vec3> column) {
  detail::store_rows<3>(a.data(), rows, column.data()->data());
}
inline void store(const Matrix3<Pack>& a, const PackRows& rows, std::span<Mat3> column) {
  detail::store_rows<9>(a.data(), rows, column.data()->data());
}

/// Zero in the idle lanes.
inline Pack without_idle(Pack a, const PackRows& rows) {
  for (int lane = rows.count; lane < Pack::size; ++lane) a.v[lane] = 0;
  return a;
}

inline Real sum_of_lanes(const Pack& a) {
  Real sum = 0;
  for (int lane = 0; lane < Pack::size; ++lane) sum += a[lane];
  return sum;
}

/// The largest lane.
inline Real largest(const Pack& a) {
  Real most = a[0];
  for (int lane = 1; lane < Pack::size; ++lane) most = std::max(most, a[lane]);
  return most;
}

}  // namespace weft
