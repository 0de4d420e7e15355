#pragma once
// Handles on bodies that move with the grid: places and slopes that are held or led, as constraints on the motion of
// nodes, and loads on vertices.

#include "weft/bodies/mesh_body.hpp"
#include "weft/motion/constraint.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/run/state.hpp"
#include "weft/scene/scene.hpp"
#include "weft/solve/conditions.hpp"
#include "weft/transfer/pipe.hpp"

#include <map>
#include <utility>
#include <vector>

namespace weft {

/// A sum over the vertices of a body that a handle holds at the end of a step.
struct HeldNow {
  std::size_t handle;
  const Grip& grip;
  HeldAim aim;
  Vec3 axis;    ///< Unit, turned with the handle.
  Vec3 center;  ///< Of the handle [m].
  Vec3 now;     ///< The sum at the start [m].
  Real target;  ///< axis . (where it is to be - now) [m].
};

/// What is held follows the rigid motion of its handle exactly: with the displacement dt sum_i w_i v_i of a point,
///   axis . sum_k s_k (x_k + dt sum_i w_ik v_i) = axis . goal(t + dt)
/// for every sum over control points k that is held, by the impulses W^T lambda on nodes that do the least work:
///   W P M^-1 P W^T lambda = axis . (goal - sum_k s_k x_k) / dt - W v
/// P takes away what walls do not allow. [docs/theory/handles.md, 10.9]
class Handles {
 public:
  Handles(const Comm& comm, const Scene& scene) : comm_(comm), scene_(scene), conditions_(comm) {}

  /// Adds the forces of loads at a time to the forces on vertices.
  void load(Real time);
  /// Sets the forces on vertices to those of loads alone, as implicit steps need them.
  void load_alone(Real time);
  /// Adds what these loads gave in a step that was made, on this rank.
  void count_loads(Real dt, std::span<HandleImpulse> impulses) const;
  /// Finds the points that are held from this time on, and the blocks around them, which have moved. Collective.
  void settle(const Cuts& cuts, Real time);
  /// Changes the velocities of owned nodes, walls being done, so that everything held is at its place after dt; writes
  /// what each handle gave to its body [kg m/s], on this rank. Work is that of the mean velocity before and after,
  /// which is what an impulse adds to kinetic energy. Collective.
  void hold(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<HandleImpulse> impulses);

 private:
  struct Push {
    std::size_t handle;
    std::int32_t vertex;  ///< Row.
    Vec3 force;           ///< [N].
    Vec3 v;               ///< Of the vertex before [m/s].
  };

  /// A node of this rank that held sums reach.
  struct Node {
    Real* velocity;  ///< In the layer of the step.
    Mat3 mobility;   ///< P / m [1/kg].
  };

  void number_points();
  void look_at_nodes(Real time, const BlockMap& map, Layer& layer);
  std::vector<Real> meet(std::span<const Real> target, Real dt);
  Node& node(std::size_t n) { return nodes_[static_cast<std::size_t>(slot_[n])]; }

  const Comm comm_;
  const Scene& scene_;
  std::vector<Push> pushes_;
  std::vector<Vec3> x_;  ///< Points that held sums are made of.
  std::vector<PointId> id_;
  std::map<std::pair<std::size_t, std::int32_t>, std::size_t> point_of_;  ///< Of body and row.
  std::vector<PointNodes> nodes_of_;                                      ///< Of each point.
  Bins bins_;
  std::vector<BlockKey> touched_;
  Cuts cuts_;
  bool has_map_ = false;
  BlockMap map_;                            ///< Blocks around held points alone.
  std::vector<std::int64_t> block_number_;  ///< Of each of its blocks among those of all ranks.
  ConstraintRows rows_;                     ///< Of this rank in the step.
  Conditions conditions_;
  SchurComplement schur_{conditions_};
  std::vector<std::int32_t> slot_;  ///< Of each owned node of the map, in `nodes_`.
  std::vector<Node> nodes_;
};

/// The same holds as conditions on the displacements of the nodes, for implicit steps: for each held place and
/// direction
///   axis . sum_i w_ip u_i = axis . (x_handle(t + dt) - x_p)
class GridHolds final : public Constraints {
 public:
  /// vertices: of each body the bins of its points; not owned, nor is the scene.
  GridHolds(const Scene& scene, std::vector<const Bins*> vertices) : scene_(scene), vertices_(std::move(vertices)) {}

  void append(Real time, ConstraintRows& rows) const override;
  /// What each handle gave to its body on this rank in a step of dt that ends at `time`, from what its conditions gave
  /// along their weights [N s].
  void add_impulses(Real time, Real dt, std::span<const Real> of_conditions, std::span<HandleImpulse> impulses) const;

 private:
  const Scene& scene_;
  std::vector<const Bins*> vertices_;
};

}  // namespace weft
