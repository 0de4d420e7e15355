#pragma once
// Holds of continua: the nodes that a hold leads, and the points that it moves exactly.

#include "run/state.hpp"
#include "weft/grid/block_map.hpp"
#include "weft/grid/node_field.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/scene/scene.hpp"
#include "weft/transfer/bins.hpp"

#include <span>
#include <vector>

namespace weft {

/// What a hold prescribes along one of its axes n in a step from t to t + dt. What is held keeps its distance along n,
/// which turns with the handle: with n' and translation T' at t + dt,
///   n' . (x + dt v) - n' . T' = n . x - n . T,   n' . v(x) = ((n - n') . x + n' . T' - n . T) / dt
/// so the velocity along n' is prescribed everywhere, with the gradient (n - n') / dt. [docs/theory/handles.md, 10.10]
struct LedAxis {
  Vec3 axis;      ///< n'.
  Vec3 gradient;  ///< [1/s].
  Real offset;    ///< [m/s].

  Real velocity_at(const Vec3& x) const { return gradient.dot(x) + offset; }
};
std::vector<LedAxis> led_axes(const GridHandle::Hold& hold, Real time, Real dt);

/// A node that a hold leads: it is the nearest one to some of the points that are held, or has all of its mass from
/// them, on whatever rank.
struct LedNode {
  std::size_t handle;
  std::int32_t at;  ///< The first of its reals in a NodeField; of this rank.
  Vec3 x;           ///< [m].
  Vec3 v;           ///< That what is held gives it when the step begins [m/s].
};

/// Scene and bins, by body, are not owned.
class LedNodes {
 public:
  /// Of bodies on a layer.
  LedNodes(const Scene& scene, std::size_t layer, const std::vector<const Bins*>& bins)
      : scene_(scene), layer_(layer), bins_(bins) {}

  /// Those of holds that hold in a step from a time on, hold by hold, each in the order of the map. inertia:
  /// NodeInertia of the layer. Collective.
  std::vector<LedNode> find(const BlockMap& map, const NodeField& inertia, Real time);

 private:
  void mark(const BlockMap& map, const GridHandle& handle);
  void add(const BlockMap& map, const NodeField& inertia, std::size_t handle, std::vector<LedNode>& led);

  const Scene& scene_;
  const std::size_t layer_;
  const std::vector<const Bins*>& bins_;
  NodeField nearest_{"nearest_held", "1"};  ///< How many held points a node is nearest to.
  NodeField held_{"held", "kg, kg m/s"};    ///< Mass and momentum of what is held.
  std::vector<Real> mass_;                  ///< Of the points of a body; 0 if they are free [kg].
};

/// Moves what is held of a continuum exactly: sets the Velocity of its points along the axes of holds, for a step of dt
/// from `time`; adds what this gives them. It deforms as nodes move, so that it bears what pulls at it. bins: of the
/// body. borne: what its points, row by row, take of the impulses of other layers besides, over their mass [m/s]; none:
/// nothing. Collective.
void lead_points(const Scene& scene, std::size_t body, const Bins& bins, std::span<const Vec3> borne, Real time,
                 Real dt, std::span<Impulse> impulses);

}  // namespace weft
