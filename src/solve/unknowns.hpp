#pragma once
// Which unknown of a solve each freedom is.

#include "weft/motion/motion.hpp"
#include "weft/parallel/comm.hpp"

#include <petscvec.h>

#include <cstdint>
#include <vector>

namespace weft {

/// The unknowns of a rank are its owned freedoms, block by block and point by point without padding, and then `others`
/// of the solve's own. The freedoms outlive this.
class Unknowns {
 public:
  /// Collective.
  Unknowns(const Comm& comm, const Freedoms& freedoms, std::size_t others = 0);

  const Freedoms& freedoms() const { return freedoms_; }
  /// Local numbers (Freedoms::at) of the owned freedoms, in the order of the unknowns.
  const std::vector<std::int32_t>& owned() const { return owned_; }
  /// Unknowns of this rank.
  std::size_t count() const { return owned_.size() + others_; }
  /// Number of this rank's first unknown among those of all ranks.
  PetscInt begin() const { return begin_; }
  /// Number of an owned or ghost freedom among the unknowns of all ranks.
  PetscInt number(std::int32_t freedom) const { return number_[static_cast<std::size_t>(freedom)]; }

  /// A vector of all unknowns. Collective.
  Vec create_vector() const;

 private:
  const Comm comm_;
  const Freedoms& freedoms_;
  const std::size_t others_;
  std::vector<std::int32_t> owned_;
  std::vector<PetscInt> number_;
  PetscInt begin_ = 0;
};

/// Points of three freedoms: local numbers of points run block by block, row by row (owned, then ghost). Blocks that
/// have others come last; they are no points.
class Points3 {
 public:
  explicit Points3(const Unknowns& unknowns);

  /// Owned and ghost.
  std::size_t local() const { return first_freedom_.size(); }
  /// Owned ones in the order of the unknowns: point n has the unknowns 3 n, 3 n + 1, 3 n + 2 of this rank.
  std::size_t owned() const { return owned_.size(); }
  /// Local number of an owned point.
  std::size_t at(std::size_t n) const { return static_cast<std::size_t>(owned_[n]); }
  /// Local number of the first freedom of a local point.
  std::int32_t freedom(std::size_t point) const { return first_freedom_[point]; }
  /// Local number of the first freedom of an owned point.
  std::int32_t freedom_of_owned(std::size_t n) const { return freedom(at(n)); }
  /// The local point that a freedom is of; -1: none.
  std::int32_t point_of(std::int32_t freedom) const { return point_of_[static_cast<std::size_t>(freedom)]; }

 private:
  std::vector<std::int32_t> first_freedom_, owned_, point_of_;
};

}  // namespace weft
