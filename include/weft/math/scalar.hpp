#pragma once
// What functions templated on their scalar say instead of a branch or a cast, so that one text serves numbers and
// derivative-carrying numbers.

#include "weft/base/types.hpp"

namespace weft {

/// a where the condition holds, else b; both are computed.
template <class T>
T select(bool condition, const T& a, const T& b) {
  return condition ? a : b;
}

inline Real value_of(Real a) { return a; }

}  // namespace weft
