#pragma once
// Constraints: linear conditions on a motion, as handles need them.

#include "weft/base/types.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Conditions sum_k weight_k u_k = target, one after another; k runs over [begin[c], begin[c + 1]).
struct ConstraintRows {
  std::vector<std::size_t> begin{0};
  std::vector<std::int32_t> freedom;  ///< Local numbers (Freedoms::at), owned or ghost.
  std::vector<Real> weight;           ///< [1]; of order one.
  std::vector<Real> target;           ///< [m].

  std::size_t count() const { return target.size(); }
  /// sum_k weight_k y_k of each condition; y: vectors of points, each of three freedoms.
  std::vector<Real> sums(std::span<const Vec3> y) const {
    std::vector<Real> sums(count(), 0.0);
    for (std::size_t c = 0; c < sums.size(); ++c)
      for (std::size_t k = begin[c]; k < begin[c + 1]; ++k)
        sums[c] += weight[k] * y[static_cast<std::size_t>(freedom[k] / 3)][freedom[k] % 3];
    return sums;
  }
  void clear() {
    begin.assign(1, 0);
    freedom.clear();
    weight.clear();
    target.clear();
  }
  void add(std::int32_t at, Real w) {
    freedom.push_back(at);
    weight.push_back(w);
  }
  /// Of the three freedoms of a point from this one on.
  void add(std::int32_t at, const Vec3& w) {
    freedom.insert(freedom.end(), {at, at + 1, at + 2});
    weight.insert(weight.end(), w.data(), w.data() + 3);
  }
  /// Ends the condition whose parts were added last.
  void close(Real its_target) {
    target.push_back(its_target);
    begin.push_back(freedom.size());
  }
};

/// Every condition lives on one rank, which has rows, owned or ghost, for all its freedoms. Conditions may depend on
/// one another as long as they agree.
class Constraints {
 public:
  virtual ~Constraints() = default;
  /// Appends the conditions of this rank at a time [s]. Weights and targets do not depend on the motion; targets are
  /// meant for displacements since bodies last committed. Number, order and freedoms may change from one solve to the
  /// next, as where a handle lets go, but not within a solve, which may ask for several times.
  virtual void append(Real time, ConstraintRows& rows) const = 0;
};

}  // namespace weft
