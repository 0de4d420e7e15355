#pragma once
// The pipe: gather, respond and scatter in one visit of the points, from a motion of the nodes to forces on the nodes.
// Newton's method on the grid goes through it for every residual and every product with the Jacobian.
//
//     u_p = sum_i w_ip u_i,   H_p = sum_i u_i G_ip^T       |  A_p = dE/dH_p  |      force_i = - sum_p A_p G_ip
//
// Rows of nodes are those of a NodeField: for each block 64 nodes of four reals, of which the fourth stays as it is.

#include "weft/math/tangent.hpp"
#include "weft/transfer/transfer.hpp"

namespace weft {

/// Writes A for a chunk, given what reaches it of the motion: `v` and `C` of a ChunkMotion are here the displacement
/// [m] and its gradient [1]. Called by several threads at once, for different chunks.
using React = std::function<void(ChunkRows, const ChunkMotion&, const ChunkForces&)>;

/// Adds the forces [N] that the points put up against a motion of the nodes [m]. x: positions of the points at the
/// start of the step, where weights are taken. The order of additions depends on the points alone.
void pass_through(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x,
                  std::span<const Real> motion, const React& react, std::span<Real> force);

/// Hands every chunk its displacements and their gradients.
void gather(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x, std::span<const Real> motion,
            const Receive& receive);

/// Adds the forces f on points and those of dE/dH = A to the nodes [N]; a span without entries adds nothing.
void push(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x, std::span<const Vec3> f,
          std::span<const Mat3> A, std::span<Real> force);

/// The nine numbers of a node's diagonal block, row by row, for each of the 64 nodes of a block.
inline constexpr int node_blocks_row = 9 * nodes_per_block;

/// Adds for each node the block d(-force_i)/d(u_i), given dA/dH of every point by row.
void add_node_blocks(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x,
                     std::span<const Mat9> tangents, std::span<Real> blocks);

/// A point's nodes, as numbers of the first of their four reals, with their weights w_ip and gradient operators G_ip.
struct PointNodes {
  std::vector<std::int32_t> at;
  std::vector<Real> w;  ///< [1].
  std::vector<Vec3> G;  ///< [1/m].
};

/// Calls visit(row, nodes) for every point, on one thread: block by block, and in it the points that share their nodes
/// one after another.
void for_each_point(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x,
                    const std::function<void(std::uint32_t, const PointNodes&)>& visit);

/// The nodes of all points, numbered as above, with their weights: so many of each point, point after point by row.
struct PointWeights {
  std::size_t of_each = 0;
  std::vector<std::int32_t> at;
  std::vector<Real> w;  ///< [1].
};

/// Of the points in bins; x has no others.
void find_weights(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x, PointWeights& weights);

}  // namespace weft
