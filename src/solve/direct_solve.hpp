#pragma once
// Linear systems of Newton's method by factors, which serve other systems as well.

#include "solve/newton.hpp"

namespace weft {

class DirectSolve : public LinearSolve {
 public:
  bool may_fall_short() const override { return false; }
  /// Factors the derivative where it was taken last; false if there are no factors. Collective, as all below.
  virtual bool factor() = 0;
  /// Solves with the factors that there are, whatever derivative they are of; false if there is no solution.
  virtual bool solve(Vec right, Vec solution) = 0;
  /// A factorisation that failed would otherwise be taken for the last word, and an earlier one might leave traces.
  virtual void forget_factors() = 0;
  /// Whether systems are factored, and not solved by iterations that the user's options chose.
  virtual bool is_direct() const { return true; }
};

}  // namespace weft
