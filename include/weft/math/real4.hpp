#pragma once
// Four reals in one vector register: the unit in which nodes are read and written.

#include "weft/base/types.hpp"

namespace weft {

/// Arithmetic acts on each of the four; a product with a Real spreads it first.
using Real4 = Real __attribute__((vector_size(4 * sizeof(Real))));

/// As they stand in memory; moved as one, which `memcpy` is not everywhere.
using StoredReal4 [[gnu::may_alias, gnu::aligned(alignof(Real))]] = Real4;

inline Real4 load4(const Real* from) { return *reinterpret_cast<const StoredReal4*>(from); }
inline void store4(Real* to, const Real4& value) { *reinterpret_cast<StoredReal4*>(to) = value; }
/// The first three.
inline void store3(Real* to, const Real4& value) {
  for (int i = 0; i < 3; ++i) to[i] = value[i];
}

}  // namespace weft
