#pragma once
// Handles on bodies that move with the grid: positions and slopes that are prescribed, as constraints on the motion of
// nodes, and loads on vertices.

#include "run/held_sums.hpp"
#include "run/point_holds.hpp"
#include "run/state.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/motion/constraint.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/scene/scene.hpp"

#include <vector>

namespace weft {

/// Handles of a layer in explicit steps: loads, prescribed sums over vertices, led nodes of continua.
class Handles {
 public:
  /// Those of bodies on a layer. bins: of the points of each body, not owned.
  Handles(const Comm& comm, const Scene& scene, std::size_t layer, const std::vector<const Bins*>& bins)
      : comm_(comm),
        scene_(scene),
        layer_(layer),
        bins_of_body_(bins),
        sums_(comm, scene, layer),
        led_nodes_(scene, layer, bins) {}

  /// Whether there are any.
  bool any() const;

  /// Adds the forces of loads to the forces on vertices, and sets those on points of continua: their mean between two
  /// times. Loads that follow the surface act on it where its velocities bring it in `ahead` [s]. Collective.
  void load(Real from, Real to, Real ahead = 0);
  /// The same for a step that ends earlier, in place of the forces that were added last. Collective.
  void load_again(Real from, Real to);
  /// Sets the forces on vertices to those of loads alone, as an implicit step needs them. Collective.
  void load_alone(Real from, Real to, Real ahead);
  /// Adds what these loads gave in a step that was made, on this rank.
  void count_loads(Real dt, std::span<Impulse> impulses) const;
  /// Finds what is held from this time on, and the blocks around it, which have moved. Collective.
  void find(const Cuts& cuts, Real time) { sums_.find(cuts, time); }
  /// Changes the velocities of owned nodes, walls being done, so that everything held is at its target after dt; adds
  /// what each handle gave to its body [kg m/s], on this rank. Work is that of the mean velocity before and after,
  /// which is what an impulse adds to kinetic energy. Collective.
  void hold(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<Impulse> impulses);

 private:
  struct Push {
    std::size_t handle;
    std::int32_t vertex;  ///< Row.
    Vec3 force;           ///< [N].
    Vec3 v;               ///< Of the vertex before [m/s].
    Vec3 mean_force;      ///< Of the places before and after, by which it does work [N].
  };

  /// A load on points of a continuum: of each one `each` and its mass times `acceleration`.
  struct PointLoad {
    std::size_t handle;
    Vec3 each;          ///< [N].
    Vec3 acceleration;  ///< [m/s^2].
    Real power;         ///< When the step begins, on this rank [W].
  };

  void load_points(Real from, Real to);
  void count_point_load(const PointLoad& load, Real dt, Impulse& given) const;
  /// Gives led nodes their velocities.
  void lead_nodes(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<Impulse> impulses);

  const Comm comm_;
  const Scene& scene_;
  const std::size_t layer_;
  const std::vector<const Bins*>& bins_of_body_;
  HeldSums sums_;
  LedNodes led_nodes_;
  std::vector<Push> pushes_;
  std::vector<PointLoad> point_loads_;
};

/// The same holds as conditions on the displacements of the nodes, for implicit steps: for each held position and
/// direction
///   axis . sum_i w_ip u_i = axis . (x_handle(t + dt) - x_p)
/// and for each led node i and axis
///   axis . u_i = dt axis . v(x_i)
class GridHolds final : public Constraints {
 public:
  /// Those of bodies on a layer. bins: of the points of each body; not owned, nor is the scene.
  GridHolds(const Scene& scene, std::size_t layer, const std::vector<const Bins*>& bins)
      : scene_(scene), layer_(layer), bins_(bins), led_nodes_(scene, layer, bins) {}

  /// Finds the nodes that are led in a step of dt from `time`. inertia: NodeInertia of the layer. Collective.
  void begin_step(const BlockMap& map, const NodeField& inertia, Real time, Real dt);

  void append(Real time, ConstraintRows& rows) const override;
  /// What each handle gave to its body on this rank in a step of dt that ends at `time`, from what its conditions gave
  /// along their weights [N s].
  void add_impulses(Real time, Real dt, std::span<const Real> of_conditions, std::span<Impulse> impulses) const;

 private:
  /// One of a body on this rank, at the end of a step.
  struct Held : PrescribedSum {
    const Grip& grip;
    const RigidState& state;
  };
  /// A condition on a led node.
  struct Led {
    LedNode node;
    LedAxis axis;
    Vec3 center;  ///< Of the handle, when the step ends [m].
  };
  template <class Visit>
  void for_each_sum(Real time, Visit&& visit) const;

  const Scene& scene_;
  const std::size_t layer_;
  const std::vector<const Bins*>& bins_;
  LedNodes led_nodes_;
  std::vector<Led> led_;
  Real dt_ = 0;  ///< [s].
};

}  // namespace weft
