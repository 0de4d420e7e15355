#pragma once
// Loads that turn with the surface they act on: pressure, and moments along an edge.

#include "weft/bodies/meshed.hpp"
#include "weft/motion/dead_load.hpp"

#include <vector>

namespace weft {

enum class Follower {
  pressure,     ///< [Pa] along the normal a1 x a2 of the surface as it is.
  edge_moment,  ///< [N]: moment per rest length of a side about its direction a1, right-handed.
};

/// Forces of a follower load on one sample: on its place and on its two tangents.
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
  /// positions: of the control points, kept up to date by the body, rows as in block b; now at rest.
  FollowerLoad(Follower kind, Real magnitude, Amplitude amplitude, std::size_t b, std::vector<Sample> samples,
               std::span<const Vec3> positions);

  bool has_energy() const override { return false; }
  Real energy(const Motion&) const override { return 0; }
  void add_force(const Motion& motion, Load& force) const override;
  std::unique_ptr<Linear> linearise(const Motion& motion) const override;
  void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const override;
  void add_tangent(const Linear& linear, Tangent& tangent) const override;

 private:
  struct Changes;

  Follower kind_;
  Real magnitude_;
  Amplitude amplitude_;
  std::size_t block_;
  std::vector<Sample> samples_;
  std::vector<Real> measure_;  ///< Area or length at rest over that of the tangents at rest.
  std::span<const Vec3> positions_;
};

}  // namespace weft
