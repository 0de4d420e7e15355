#pragma once
// Handles on bodies that move with the grid: places that are held or led, as constraints on the motion of nodes, and
// forces on vertices.

#include "weft/parallel/comm.hpp"
#include "weft/run/state.hpp"
#include "weft/scene/scene.hpp"

#include <vector>

namespace weft {

/// What is held follows the rigid motion of its handle exactly: with the displacement dt sum_i w_i v_i of a point,
///   x_p + dt sum_i w_ip v_i = x_handle(t + dt)
/// for every held point p, by the impulses W^T lambda on nodes that do the least work: of the solutions of
///   W P M^-1 P W^T lambda = (x_handle - x_p) / dt - W v
/// the one that preconditioned conjugate gradients find from zero, a shortest one where points are too close to be
/// independent. P takes away what walls do not allow. [docs/theory.md, 10.9]
class Handles {
 public:
  Handles(const Comm& comm, const Scene& scene) : comm_(comm), scene_(scene) {}

  /// Adds the forces of loads at a time to the forces on vertices.
  void load(Real time) const;
  /// Finds the blocks around held points, which have moved. Collective.
  void settle(const Cuts& cuts);
  /// Changes the velocities of owned nodes, walls being done, so that everything held is at its place after dt; writes
  /// what each handle gave to its body [kg m/s], on this rank. Collective.
  void hold(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<HandleImpulse> impulses);

 private:
  struct Held {
    std::size_t handle;
    Mat3 axes;                                          ///< Projects on the directions that are held.
    std::vector<std::pair<std::uint32_t, Real>> parts;  ///< Points, weights.
    Vec3 rest;                                          ///< Place at rest [m].
    Vec3 x;                                             ///< Place now [m].
  };

  void apply(std::span<const Vec3> impulse, std::span<Vec3> velocity_change);
  /// A field of nodes at the held places.
  std::vector<Vec3> at_places(const NodeField& field) const;

  const Comm comm_;
  const Scene& scene_;
  std::vector<Held> held_;
  std::vector<Vec3> x_;  ///< Points that held places are made of.
  std::vector<PointId> id_;
  Bins bins_;
  std::vector<BlockKey> touched_;
  Cuts cuts_;
  bool has_map_ = false;
  BlockMap map_;                ///< Blocks around held points alone.
  Layer layer_;                 ///< On it: impulses, and changes of velocity.
  std::vector<Mat3> mobility_;  ///< P / m of each node of owned blocks [1/kg].
};

}  // namespace weft
