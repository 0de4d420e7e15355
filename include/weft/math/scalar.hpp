#pragma once
// What functions templated on their scalar say instead of a branch or a cast, so that one text serves numbers, packs of
// numbers and derivative-carrying numbers.

#include "weft/base/types.hpp"

#include <cmath>

namespace weft {

// A comparison of scalars gives a mask: bool for single numbers, one bool for each lane of a pack. Masks know &&, ||
// and !.

/// a where the condition holds, else b; both are computed.
template <class T>
T select(bool condition, const T& a, const T& b) {
  return condition ? a : b;
}
/// True if the condition holds in some lane.
inline bool any(bool condition) { return condition; }

inline Real value_of(Real a) { return a; }
inline Real rsqrt(Real a) { return 1 / std::sqrt(a); }
inline Real fast_sqrt(Real a) { return std::sqrt(a); }

/// The scalar without derivatives that belongs to T: Real for Real and Dual, Pack for Pack.
template <class T>
using Plain = decltype(value_of(T()));
/// What a comparison of T gives.
template <class T>
using Mask = decltype(value_of(T()) < value_of(T()));

/// det F.
template <class T>
T determinant(const Matrix3<T>& F) {
  return F(0, 0) * (F(1, 1) * F(2, 2) - F(2, 1) * F(1, 2)) + F(1, 0) * (F(2, 1) * F(0, 2) - F(0, 1) * F(2, 2)) +
         F(2, 0) * (F(0, 1) * F(1, 2) - F(1, 1) * F(0, 2));
}

}  // namespace weft
