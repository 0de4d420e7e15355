#pragma once
// Factors of matrices whose unknowns fall into many small units, such as strands.

#include "weft/base/types.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Sets of unknowns that have entries with one another.
struct Cliques {
  std::vector<std::size_t> begin{0};
  std::vector<std::int32_t> unknown;

  std::size_t count() const { return begin.size() - 1; }
  std::span<const std::int32_t> of(std::size_t c) const {
    return std::span(unknown).subspan(begin[c], begin[c + 1] - begin[c]);
  }
  void close() { begin.push_back(unknown.size()); }
};

/// A square matrix A = L U, L having ones on its diagonal, or L D L^T with U = D L^T if it is symmetric, where U alone
/// is kept. Unknowns that cliques join are a unit, whose order is that of Cuthill and McKee [1969]; entries are kept
/// within the envelope of each unit, side by side. There are no pivots, as quasi-definite matrices need none in any
/// order [Vanderbei 1995]. Threads take units, and change no bit.
class UnitFactors {
 public:
  /// The last `multipliers` unknowns come right behind what their cliques join, which is held then.
  UnitFactors(std::size_t unknowns, std::size_t multipliers, const Cliques& cliques, bool symmetric);

  void set_zero();
  std::uint32_t place(std::int32_t unknown) const { return place_[static_cast<std::size_t>(unknown)]; }
  /// At places. Of a symmetric matrix entries below the diagonal are passed over.
  void add(std::uint32_t row, std::uint32_t column, Real value) {
    if (row == column) diagonal_[row] += value;
    else if (row < column) upper_[begin_[row] + column - row - 1] += value;
    else if (!symmetric_) lower_[begin_[column] + row - column - 1] += value;
  }
  /// A square of a symmetric matrix, row by row.
  void add_square(std::span<const std::uint32_t> places, std::span<const Real> k) {
    const std::size_t n = places.size();
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t p = places[i];
      diagonal_[p] += k[i * n + i];
      Real* const row = upper_.data() + begin_[p] - p - 1;
      for (std::size_t j = i + 1; j < n; ++j) {
        const std::uint32_t q = places[j];
        if (p < q) row[q] += k[i * n + j];
        else upper_[begin_[q] + p - q - 1] += k[i * n + j];
      }
    }
  }
  /// Returns false where a pivot vanishes.
  bool factor();
  /// x = A^-1 right.
  void solve(std::span<const Real> right, std::span<Real> x) const;

  std::size_t units() const { return first_.size() - 1; }

 private:
  void order(std::size_t free, const Cliques& cliques);
  void place_multipliers(std::size_t free, const Cliques& cliques);
  void lay_out(const Cliques& cliques);
  bool factor_unit(std::size_t unit);
  void go_forward(std::size_t j) const;
  void go_back(std::size_t j) const;

  const bool symmetric_;
  std::vector<std::uint32_t> ordered_, place_;  ///< Unknowns by their places, and places of unknowns.
  std::vector<std::size_t> first_;              ///< Place of each unit; one more than there are units.
  /// Of each place where its entries begin, in the column of L below the diagonal and in the row of U behind it.
  std::vector<std::size_t> begin_;
  std::vector<Real> diagonal_, upper_, lower_;  ///< Of factors one over the pivots, in place of the diagonal.
  mutable std::vector<Real> work_;
};

}  // namespace weft
