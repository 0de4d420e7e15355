#pragma once
// Four reals in one vector register: the unit in which nodes are read and written.

#include "weft/base/types.hpp"

#include <cstring>

namespace weft {

/// Arithmetic acts on each of the four; a product with a Real spreads it first.
using Real4 = Real __attribute__((vector_size(4 * sizeof(Real))));

inline Real4 load4(const Real* from) {
  Real4 value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
inline void store4(Real* to, const Real4& value) { std::memcpy(to, &value, sizeof(value)); }

}  // namespace weft
