#pragma once
// The folds about the edges of a meshed sheet: each once, though several bending elements look at it.

#include "weft/base/types.hpp"
#include "weft/bodies/incidence.hpp"
#include "weft/math/pack_rows.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Rows of the ends of an edge, and of the corners left and right of it; -1 for all where there is no fold.
using FoldRows = std::array<std::int32_t, 4>;

/// The folds of a body on one rank; spans over vertices have `rows` entries. Results do not depend on the number of
/// threads.
class FoldTable {
 public:
  FoldTable() = default;
  /// folds: those of the elements, so many of each, one element after the other. An edge has one fold.
  FoldTable(std::span<const FoldRows> folds, int of_element, std::size_t rows);

  /// Of each fold [rad].
  std::span<const Real> find_angles(std::span<const Vec3> x) const;
  /// The numbers of fold j of the elements in a pack; of any fold where they have none.
  const PackRows& numbers(std::size_t pack, int j) const {
    return numbers_[pack * moments_.size() + static_cast<std::size_t>(j)];
  }
  /// What each element opposes to its fold j [N m]: written before `respond`.
  std::span<Real> moments(int j) const { return moments_[static_cast<std::size_t>(j)]; }
  /// Adds the forces of all moments to f [N].
  void respond(std::span<const Vec3> x, std::span<Vec3> f) const;

  std::size_t bytes() const;

 private:
  struct FoldPack {
    std::array<PackRows, 4> rows;
  };
  std::size_t count_ = 0;
  std::vector<FoldPack> packs_;
  std::vector<PackRows> numbers_;
  Incidence elements_;  ///< Of each fold.
  Incidence corners_;   ///< Of folds at each vertex.
  // Work.
  mutable std::vector<std::vector<Real>> moments_;  ///< [j][element]
  mutable std::vector<Real> of_fold_;               ///< Angles, or moments.
  mutable std::array<std::vector<Vec3>, 4> forces_;
};

}  // namespace weft
