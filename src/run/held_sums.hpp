#pragma once
// Sums over vertices that handles prescribe, met by impulses on the nodes around them in explicit steps.

#include "run/reactions.hpp"
#include "run/state.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/grid/node_field.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/scene/scene.hpp"
#include "weft/solve/conjugate_gradients.hpp"
#include "weft/transfer/bins.hpp"
#include "weft/transfer/pipe.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace weft {

/// Interpolation y_p = sum_i w_ip y_i between some points and the nodes around them, and its transpose, on a grid of
/// these nodes alone. The rows of points and nodes are as wide as those of a NodeField; the last number means nothing.
/// Each row is summed in the order of its entries, whatever the threads.
class NodesAround {
 public:
  explicit NodesAround(const Comm& comm) : comm_(comm) {}

  /// Takes the points of this rank, and finds their nodes and weights. Collective.
  void find(const Cuts& cuts, const TransferSettings& transfer, std::span<const Vec3> x);

  /// A node of this rank that points of any rank reach.
  struct Node {
    Vec3i index;
    Real* row;

    Eigen::Map<Vec3> value() const { return Eigen::Map<Vec3>(row); }
  };
  std::span<const Node> nodes() const { return nodes_; }
  /// A point and its weight in a sum.
  struct Weighted {
    std::uint32_t point;
    Real weight;

    bool operator==(const Weighted&) const = default;
  };
  /// sum_k s_k y_k over points.
  Vec3 sum(std::span<const Weighted> points) const;
  /// y_k += s_k value.
  void add(std::span<const Weighted> points, const Vec3& value);
  /// sum_i (sum_k s_k w_ik)^2 y_i over the nodes of the points, after `share`.
  Vec3 square_sum(std::span<const Weighted> points);

  void clear_points() { std::ranges::fill(of_point_, Real(0)); }
  /// From owned nodes to those of this rank. Collective.
  void share() { map_.forest().update_ghosts(of_node_.view()); }
  /// From owned nodes to points. Collective.
  void gather();
  /// From points to owned nodes. Collective.
  void spread();

 private:
  void sort_by_node();
  void find_nodes();

  const Comm comm_;
  Bins bins_;
  std::vector<PointId> id_;
  Cuts cuts_;
  BlockMap map_;
  PointWeights weights_;                        ///< Of points.
  std::vector<std::int32_t> reached_;           ///< Rows of nodes that points of this rank reach.
  std::vector<std::size_t> begin_;              ///< Of each, in the two below.
  std::vector<std::uint32_t> point_;            ///< Points that reach a node.
  std::vector<Real> weight_;                    ///< w_ip.
  std::vector<std::uint32_t> next_;             ///< Counts of each row, then offsets; kept for its memory.
  std::vector<Node> nodes_;                     ///< Owned.
  std::vector<std::size_t> reached_by_others_;  ///< Those of them that no point of this rank reaches.
  std::vector<Real> of_point_;                  ///< Rows.
  NodeField of_node_{"held", "kg m/s, m/s"};
};

/// Prescribed sums follow the rigid motion of their handle: with the displacement dt sum_i w_i v_i of a point,
///   axis . sum_k s_k (x_k + dt sum_i w_ik v_i) = axis . goal(t + dt)
/// for every sum over vertices k, by impulses W^T lambda on nodes:
///   W P M^-1 P W^T lambda = axis . (goal - sum_k s_k x_k) / dt - W v
/// P takes away what walls do not allow. A few steps of preconditioned conjugate gradients from zero give lambda: each
/// of them takes kinetic energy away, relative to the handle, and vertices meet the rest (HeldVertices). Comm and scene
/// are not owned. [docs/theory/handles.md, 10.9]
class HeldSums {
 public:
  /// Those on bodies of a layer.
  HeldSums(const Comm& comm, const Scene& scene, std::size_t layer)
      : comm_(comm), scene_(scene), layer_(layer), around_(comm) {}

  /// Finds what is prescribed from this time on, and the nodes around it. Collective.
  void find(const Cuts& cuts, Real time);
  /// Changes the velocities of owned nodes, walls being done; adds what each handle gives to its body on this rank.
  /// Work is that of the mean velocity before and after, which is what an impulse adds to kinetic energy. Collective.
  void hold(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<Impulse> impulses);

 private:
  /// A handle that prescribes, and the cut of its body.
  struct Holding {
    std::size_t handle;
    std::uint64_t cut;

    bool operator==(const Holding&) const = default;
  };
  struct Range {
    std::size_t begin, end;
  };
  /// Points that are rows of one body.
  struct PointsOf {
    const MeshBody* body;
    Range points;
  };
  struct Held : PrescribedSum {
    Vec3 v;     ///< Of the sum when the step begins [m/s].
    Vec3 edge;  ///< That it follows, then; zero: none.
  };
  /// The same sum of `points_`, along the axes of some of `held_`, and the same edge.
  struct Bundle {
    Range points, held;
  };
  /// An owned node in the layer of the step.
  struct Grasped {
    Eigen::Map<Vec3> velocity;
    Real per_mass;          ///< 1 / m [1/kg]; 0 without mass.
    std::int32_t at_walls;  ///< Its P in `projections_`; -1 where walls allow all.
  };

  std::span<const NodesAround::Weighted> points_of(const Bundle& bundle) const {
    return std::span(points_).subspan(bundle.points.begin, bundle.points.end - bundle.points.begin);
  }
  std::span<const Real> edges_of(const Bundle& bundle) const {
    return std::span(edges_).subspan(bundle.points.begin, bundle.points.end - bundle.points.begin);
  }
  std::vector<Holding> holding(Real time) const;
  void take(std::span<const Holding> holding);
  void add(std::size_t handle, const Grip& grip);
  void begin_step();
  void look_at_nodes(Real time, const BlockMap& map, Layer& layer);
  void push(const RealVector& impulse);
  std::vector<Real> preconditioner();
  RealVector solve(RealVector change, Real missed);
  void apply(const RealVector& impulse, RealVector& velocity_change);
  void sum_along_axes(RealVector& of_sum) const;

  const Comm comm_;
  const Scene& scene_;
  const std::size_t layer_;
  std::vector<Holding> holding_;  ///< Of what is taken now.
  std::vector<Held> held_;
  std::vector<Bundle> bundles_;
  std::vector<NodesAround::Weighted> points_;  ///< Of bundles, one after another.
  std::vector<Real> edges_;                    ///< Their weights in edges that bundles follow.
  std::vector<std::int32_t> rows_;             ///< Of points that sums are made of, body by body;
  std::vector<PointsOf> bodies_;
  std::vector<Vec3> x_, v_;                 ///< where they are when the step begins.
  std::vector<std::int32_t> point_of_row_;  ///< Of the last body; -1 for rows that no sum has.
  NodesAround around_;
  std::vector<Grasped> grasped_;  ///< As `around_.nodes()`.
  std::vector<Mat3> projections_;
};

}  // namespace weft
