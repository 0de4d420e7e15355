#pragma once
// Stability: how a balanced state answers small motions that its conditions leave.

#include "weft/motion/motion.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace weft {

/// Of the tangent, or of its symmetric part, on the motions that the conditions leave.
struct Stability {
  enum class Count { exact, at_least, unknown };
  Count count = Count::unknown;  ///< `at_least`: found without factors, which may miss soft motions.
  std::int64_t negative = 0;     ///< Independent motions along which forces do work: negative eigenvalues.
  /// The motion along which forces do most work, of those that were found; its largest displacement is 1. None if
  /// there is no negative eigenvalue.
  std::optional<FreedomValues> mode{};
  Real lowest = 0;  ///< Eigenvalue of the mode over the mean of the tangent's diagonal [1].
  /// Increments that the tangent foresees to the time after, and from the time before to this state [m]; none without
  /// factors.
  std::optional<FreedomValues> ahead{}, behind{};
};

/// Times from and to which increments are foreseen [s].
struct Foresight {
  std::optional<Real> before{}, after{};
};

/// A connected component of what moves, with rigid motions that neither conditions nor forces resist.
struct FreeComponent {
  /// Displacement of a point x: shift + turn x (x - center), of order 1.
  struct Motion {
    Vec3 shift, turn;  ///< [m], [rad].
  };
  std::size_t block;        ///< Of freedoms.
  std::int64_t components;  ///< Of its block.
  std::int64_t points;
  Vec3 center;   ///< Mean of its points [m].
  Real size;     ///< Root of the mean square distance of its points from there [m].
  bool is_held;  ///< By any condition.
  std::vector<Motion> motions;
};

}  // namespace weft
