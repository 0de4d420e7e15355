#pragma once
// Turns of the segments of one strand where its energy is least, vertices as they are. [docs/theory/strands.md, 15.11]

#include "weft/bodies/turned_joint.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace weft {

/// By Newton's method, of which each step takes time in proportion to the segments. A segment that nothing keeps from
/// turning with the others before it stays as it is.
class TurnBalance {
 public:
  void begin(std::size_t segments);
  /// Segments in their order, each with the next one, the last one of a ring with the first; and clamps. Several links
  /// may join the same two.
  void join(const TurnLink& link) { links_.push_back(link); }
  /// Turns from where the links are [rad].
  std::span<const Real> find();

 private:
  void linearise(Real turned_over);
  bool solve();
  Real work() const;

  std::vector<TurnLink> links_;
  std::vector<Real> turns_, step_;
  std::vector<Real> gradient_, diagonal_, beside_;  ///< Derivatives; beside_[k] by k and the next one.
  std::vector<Real> pivot_, last_;                  ///< One over pivots, and what fills up beside the last segment.
};

}  // namespace weft
