#pragma once
// Connected components of what moves.

#include "solve/unknowns.hpp"
#include "weft/motion/term.hpp"
#include "weft/parallel/comm.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Points are of one component if the tangent of a Term joins them. Components have the same numbers on all ranks.
class Components {
 public:
  /// Collective.
  Components(const Comm& comm, const Freedoms& freedoms, std::span<const Term* const> terms, const Motion& motion);

  std::size_t count() const { return count_; }
  const Points3& points() const { return points_; }
  /// Of a local point.
  std::size_t component_of(std::size_t point) const { return static_cast<std::size_t>(component_[point]); }

 private:
  std::vector<std::int32_t> labels(const Comm& comm, std::span<const std::int64_t> numbers, std::int64_t all,
                                   std::span<const Term* const> terms, const Motion& motion) const;

  Unknowns unknowns_;  ///< Without others: three for each point.
  Points3 points_;
  std::vector<std::int32_t> component_;  ///< Of local points.
  std::size_t count_ = 0;
};

}  // namespace weft
