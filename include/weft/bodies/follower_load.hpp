#pragma once
// Loads that turn with the surface they act on: pressure, and moments along an edge.

#include "weft/bodies/grip.hpp"
#include "weft/motion/dead_load.hpp"

#include <vector>

namespace weft {

enum class Follower {
  pressure,     ///< [Pa] along the normal a1 x a2 of the surface as it is.
  edge_moment,  ///< [N]: moment per rest length of a side about its direction a1, right-handed.
};

/// Forces of a follower load on one sample: on its position and on its two tangents.
struct FollowerForces {
  Vec3 place, a1, a2;
};
/// size: the pressure or moment times follower_measure; a1, a2: tangents now.
FollowerForces follower_forces(Follower kind, Real size, const Vec3& a1, const Vec3& a2);
/// Area at rest over that of the tangents at rest for pressure, length at rest for moments.
Real follower_measure(Follower kind, const Sample& sample, std::span<const Vec3> rest);

/// A follower load on some samples of a block of points. It is no derivative of an energy.
class FollowerLoad : public Term {
 public:
  /// samples: each with its follower_measure. positions: of the control points, kept up to date by the body, rows as in
  /// block b.
  FollowerLoad(Follower kind, Real magnitude, Amplitude amplitude, std::size_t b, std::vector<Grip> samples,
               std::span<const Vec3> positions)
      : kind_(kind),
        magnitude_(magnitude),
        amplitude_(std::move(amplitude)),
        block_(b),
        samples_(std::move(samples)),
        positions_(positions) {}

  bool has_energy() const override { return false; }
  Real energy(const Motion&) const override { return 0; }
  void add_force(const Motion& motion, Load& force) const override;
  std::unique_ptr<Linear> linearise(const Motion& motion) const override;
  void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const override;
  void add_tangent(const Linear& linear, Tangent& tangent) const override;

 private:
  struct Changes;
  /// The two tangents of a sample after displacements u.
  std::pair<Vec3, Vec3> tangents(const Grip& sample, std::span<const Vec3> u) const;

  Follower kind_;
  Real magnitude_;
  Amplitude amplitude_;
  std::size_t block_;
  std::vector<Grip> samples_;
  std::span<const Vec3> positions_;
};

}  // namespace weft
