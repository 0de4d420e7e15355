#pragma once
// The lowest eigenvalues of a symmetric operator that is only applied.

#include "weft/base/types.hpp"
#include "weft/parallel/comm.hpp"

#include <functional>
#include <span>
#include <vector>

namespace weft {

/// Symmetric in the inner product a . b = sum_i weight_i a_i b_i over all ranks, each of which has some i.
struct WeightedOperator {
  std::function<void(std::span<const Real> in, std::span<Real> out)> apply;  ///< Collective.
  std::vector<Real> weight;                                                  ///< Positive.
};

struct LanczosGoal {
  std::size_t wanted;  ///< Lowest eigenvalues that are to converge, with their vectors.
  Real tolerance;      ///< Of these, relative.
  int most_steps;
  Real round_off = 1e-13;  ///< Of the operator, relative to its norm: the Krylov space ends where no more is left.
};

struct LanczosResult {
  std::vector<Real> values;                ///< Of the Krylov space, ascending; each is no less than its eigenvalue.
  std::vector<std::vector<Real>> vectors;  ///< Of the lowest, of norm 1; at most as many as wanted.
};

/// With full orthogonalisation [Lanczos 1950; Parlett 1980, chapter 13]. start: not zero; work. Ends early if its
/// Krylov space is exhausted. Collective.
LanczosResult lowest_eigenvalues(const Comm& comm, const WeightedOperator& of, std::vector<Real> start,
                                 const LanczosGoal& goal);

}  // namespace weft
