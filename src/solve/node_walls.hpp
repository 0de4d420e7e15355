#pragma once
// Walls in an implicit step: conditions on the velocity of the nodes that they touch, and their derivative.

#include "weft/grid/walls.hpp"
#include "weft/solve/implicit.hpp"

#include <span>
#include <vector>

namespace weft {

/// A node in walls, as the linearised conditions see it. With y = v - r / k, the velocity at which the free impulse r
/// would leave it, the condition is v = W(y), W being the walls one after another.
struct WallNode {
  std::size_t node;        ///< block * nodes_per_block + its offset there.
  Vec3 x;                  ///< [m].
  std::size_t begin, end;  ///< Its contacts.
  Real k;                  ///< k_i / m_i.
  Mat3 slope;              ///< dW/dy.
  // For symmetric systems, from the symmetric part of dW/dy without the coupling of friction to pressure:
  Mat3 free;     ///< Projection on the directions that are not held.
  Mat3 drag;     ///< k (1 - theta) / theta along those, of a change of which friction leaves theta.
  Mat3 inverse;  ///< 1 / theta along those.
};

/// The owned nodes in walls during one step after another.
class NodeWalls {
 public:
  /// k(node) is asked for afterwards, by `weigh`.
  void begin_step(const ImplicitStep& step, std::span<const Wall> walls, const BlockMap& map, const NodeField& inertia);
  template <class K>
  void weigh(K&& k) {
    for (WallNode& node : nodes_) node.k = k(node);
  }
  std::span<const WallNode> nodes() const { return nodes_; }

  /// W(y): the velocity that the walls of a node leave to y.
  Vec3 leave(const WallNode& node, Vec3 y) const;
  /// Takes the derivatives of every node at asked(node), and the strength of friction there; mass(node) in kg.
  template <class Asked, class Mass>
  void linearise(Asked&& asked, Mass&& mass) {
    for (WallNode& node : nodes_) linearise_at(node, asked(node), mass(node));
  }
  /// Energy over one step of friction at its present strength where the node moves with v [J].
  Real friction(const WallNode& node, const Vec3& v) const;
  /// W(y) where walls give k mass (W(y) - y); adds what each of them gave.
  Vec3 finish(const WallNode& node, Vec3 y, Real mass, std::span<Impulse> by_walls) const;

  /// The block of a Newton system at a node for the block A of its free impulse: with all of the conditions, or
  /// symmetric.
  Mat3 block(const WallNode& node, const Mat3& A) const {
    return node.slope * A + node.k * (Mat3::Identity() - node.slope);
  }
  Mat3 symmetric_block(const WallNode& node, const Mat3& A) const {
    return node.free * A * node.free + node.drag + node.k * (Mat3::Identity() - node.free);
  }

 private:
  void linearise_at(WallNode& node, Vec3 y, Real mass);

  std::span<const Wall> walls_;
  std::vector<WallContact> contacts_;
  std::vector<WallNode> nodes_;
  std::vector<Real> grip_;  ///< Of each contact: impulse of friction where Newton's method stands [N s].
};

}  // namespace weft
