#pragma once
// Handles on bodies that move with the grid: places and slopes that are held or led, as constraints on the motion of
// nodes, and loads on vertices.

#include "weft/bodies/mesh_body.hpp"
#include "weft/motion/constraint.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/run/point_holds.hpp"
#include "weft/run/state.hpp"
#include "weft/scene/scene.hpp"

#include <Eigen/SparseCore>

#include <vector>

namespace weft {

/// What is held of a mesh follows the rigid motion of its handle: with the displacement dt sum_i w_i v_i of a point,
///   axis . sum_k s_k (x_k + dt sum_i w_ik v_i) = axis . goal(t + dt)
/// for every sum over control points k that is held, by the impulses W^T lambda on nodes that do the least work: of the
/// solutions of
///   W P M^-1 P W^T lambda = axis . (goal - sum_k s_k x_k) / dt - W v
/// the one that preconditioned conjugate gradients find from zero, a shortest one where conditions are too close to be
/// independent. P takes away what walls do not allow. [docs/theory/handles.md, 10.9]
class Handles {
 public:
  /// Those of bodies on a layer. bins: of the points of each body, not owned.
  Handles(const Comm& comm, const Scene& scene, std::size_t layer, const std::vector<const Bins*>& bins)
      : comm_(comm), scene_(scene), layer_(layer), bins_of_body_(bins), led_nodes_(scene, layer, bins) {}

  /// Whether there are any.
  bool any() const;

  /// Adds the forces of loads at a time to the forces on vertices, and sets those on points of continua. Collective.
  void load(Real time);
  /// Sets the forces on vertices to those of loads alone, as implicit steps need them. Collective.
  void load_alone(Real time);
  /// Adds what these loads gave in a step that was made, on this rank.
  void count_loads(Real dt, std::span<Impulse> impulses) const;
  /// Finds what is held from this time on, and the blocks around it, which have moved. Collective.
  void settle(const Cuts& cuts, Real time);
  /// Changes the velocities of owned nodes, walls being done, so that everything held is at its place after dt; adds
  /// what each handle gave to its body [kg m/s], on this rank. Work is that of the mean velocity before and after,
  /// which is what an impulse adds to kinetic energy. Collective.
  void hold(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<Impulse> impulses);

 private:
  struct Held {
    std::size_t handle;
    HeldAim aim;
    std::vector<std::pair<std::uint32_t, Real>> parts;  ///< Points, weights.
    Vec3 x, v;                                          ///< The sum now [m] and its velocity [m/s].
    Vec3 axis;                                          ///< After the step.
  };
  struct Push {
    std::size_t handle;
    std::int32_t vertex;  ///< Row.
    Vec3 force;           ///< [N].
    Vec3 v;               ///< Of the vertex before [m/s].
  };

  /// A load on points of a continuum: of each one `each` and its mass times `acceleration`.
  struct PointLoad {
    std::size_t handle;
    Vec3 each;          ///< [N].
    Vec3 acceleration;  ///< [m/s^2].
    Real power;         ///< When the step begins, on this rank [W].
  };

  /// A number for each pair of a point and a node, row by row.
  using Weights = Eigen::SparseMatrix<Real, Eigen::RowMajor>;
  /// Vectors of points, each as wide as a node of a NodeField; the fourth number means nothing.
  using Vectors = Eigen::Matrix<Real, Eigen::Dynamic, NodeField::width, Eigen::RowMajor>;

  /// A node of this rank that points of any rank reach.
  struct Node {
    Vec3i index;
    Real* row;       ///< In `of_node_`.
    Real* velocity;  ///< In the layer of the step.
    Mat3 mobility;   ///< P / m [1/kg].

    Eigen::Map<Vec3> now() const { return Eigen::Map<Vec3>(row); }
  };

  void load_points(Real time);
  void count_point_load(const PointLoad& load, Real dt, Impulse& given) const;
  void hold_sums(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<Impulse> impulses);
  /// Gives led nodes their velocities.
  void lead_nodes(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<Impulse> impulses);
  static void multiply(const Weights& weights, const Real* from, Real* to);
  void look_at_nodes(Real time, const BlockMap& map, Layer& layer);
  std::vector<Real> solve(std::span<const Real> change, Real tolerance);
  void apply(std::span<const Real> impulse, std::span<Real> velocity_change);
  /// Brings what owned nodes have to the points that held sums are made of.
  void gather_at_points();
  /// The held sums of what points have, along their axes.
  void sum_along_axes(std::span<Real> of_sum) const;

  const Comm comm_;
  const Scene& scene_;
  const std::size_t layer_;
  const std::vector<const Bins*>& bins_of_body_;
  LedNodes led_nodes_;
  std::vector<Held> held_;
  std::vector<Push> pushes_;
  std::vector<PointLoad> point_loads_;
  std::vector<Vec3> x_;  ///< Points that held sums are made of.
  std::vector<PointId> id_;
  Bins bins_;
  std::vector<BlockKey> touched_;
  Cuts cuts_;
  bool has_map_ = false;
  BlockMap map_;              ///< Blocks around held points alone.
  Weights weights_, spread_;  ///< w_ip of points (rows) and nodes, and its transpose.
  std::vector<Node> nodes_;
  Vectors of_point_;                          ///< Impulses, then changes of velocity.
  NodeField of_node_{"held", "kg m/s, m/s"};  ///< The same.
};

/// The same holds as conditions on the displacements of the nodes, for implicit steps: for each held place and
/// direction
///   axis . sum_i w_ip u_i = axis . (x_handle(t + dt) - x_p)
/// and for each led node i and axis
///   axis . u_i = dt axis . v(x_i)
class GridHolds final : public Constraints {
 public:
  /// Those of bodies on a layer. bins: of the points of each body; not owned, nor is the scene.
  GridHolds(const Scene& scene, std::size_t layer, const std::vector<const Bins*>& bins)
      : scene_(scene), layer_(layer), bins_(bins), led_nodes_(scene, layer, bins) {}

  /// Finds the nodes that are led in a step of dt from `time`. Collective.
  void begin_step(const BlockMap& map, Real time, Real dt);

  void append(Real time, ConstraintRows& rows) const override;
  /// What each handle gave to its body on this rank in a step of dt that ends at `time`, from what its conditions gave
  /// along their weights [N s].
  void add_impulses(Real time, Real dt, std::span<const Real> of_conditions, std::span<Impulse> impulses) const;

 private:
  /// A held sum of a body on this rank at the end of a step.
  struct Held {
    std::size_t handle;
    const Grip& grip;
    HeldAim aim;
    const RigidState& state;
    Vec3 axis;
    Vec3 now;  ///< The sum at the start [m].

    Real target() const { return axis.dot(aim.goal(state) - now); }
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
