#pragma once
// Four reals in one vector register: the unit in which nodes are read and written.

#include "weft/base/types.hpp"

#include <cstdint>
#include <cstring>

// GCC notes that such values would cross object files differently with and without AVX. Every file of a build has the
// same flags, and these values stay within inlined loops.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace weft {

/// Arithmetic acts on each of the four; a product with a Real spreads it first.
using Real4 = Real __attribute__((vector_size(4 * sizeof(Real))));

using Int4 = std::int32_t __attribute__((vector_size(4 * sizeof(std::int32_t))));

/// Towards zero; |x| < 2^31.
inline Int4 truncated(const Real4& x) { return __builtin_convertvector(x, Int4); }
inline Real4 as_reals(const Int4& i) { return __builtin_convertvector(i, Real4); }
inline Int4 clamped(const Int4& i, int lower, int upper) {
  const Int4 least = Int4{} + lower, most = Int4{} + upper, raised = i < least ? least : i;
  return raised > most ? most : raised;
}

inline Real4 load4(const Real* from) {
  Real4 value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
inline void store4(Real* to, const Real4& value) { std::memcpy(to, &value, sizeof(value)); }

}  // namespace weft
