#pragma once
// A soft material of each law, for tests that ask the same of all.

#include "weft/materials/all.hpp"

#include <type_traits>

namespace weft::test {

inline const Lame soft = lame_from(1e5, 0.3);

template <class L>
typename L::Constants some_constants() {
  if constexpr (std::is_same_v<L, DruckerPrager>) return L::Constants::from(soft, 0.6, 0, {0.1, 3, 0.05}, true);
  else if constexpr (std::is_same_v<L, Snow>) return L::Constants::from(soft, 0.025, 0.0075, 5);
  else if constexpr (std::is_same_v<L, VonMises>) return L::Constants::from(soft, 2e3, 5e4);
  else if constexpr (std::is_same_v<L, Tait>) return L::Constants::from(1e5, 7, 3);
  else if constexpr (std::is_same_v<L, HerschelBulkley>) return L::Constants::from(1e4, 1e5, 100, 50, 0.6);
  else return L::Constants::from(soft);
}

}  // namespace weft::test
