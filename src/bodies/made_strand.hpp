#pragma once
// A strand as it is made: its first directors, and how its joints have no moment. [docs/theory/strands.md, 15.3]

#include "weft/base/types.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace weft {

/// How strands are made.
struct StrandNature {
  bool is_straight;  ///< Without moment; else they have none as they are made.
  Real twist;        ///< Without moment [rad/m].
};

/// The segments of a strand as it is made, with the joint of each and the one before it; a ring's last is before its
/// first. Directors turn about the strand by its natural twist alone. Joints have no moment.
struct MadeStrand {
  std::vector<Real> length;
  std::vector<Vec3> tangent, director;
  std::vector<Real> twist;    ///< [rad]
  std::vector<Vec3> natural;  ///< Curvatures [1] and twist [rad].
  std::vector<Real> bend;     ///< |kb|.
  bool is_closed;

  MadeStrand(std::span<const Vec3> points, bool closed, const StrandNature& nature);

  std::size_t size() const { return length.size(); }
  /// The segment before; none: the size.
  std::size_t before(std::size_t s) const { return s > 0 ? s - 1 : is_closed ? size() - 1 : size(); }
  Real joint_length(std::size_t s) const { return (length[before(s)] + length[s]) / 2; }

 private:
  Real make_directors(Real natural_twist);
};

}  // namespace weft
