#pragma once
// Nodes that continua hardly reach, in implicit steps: a spring binds them to what their points do.

#include "weft/grid/node_field.hpp"
#include "weft/motion/term.hpp"
#include "weft/transfer/pipe.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// A few points see a node at the edge of a body, from afar. Their stresses bind it so little that it goes many grid
/// spacings to balance a trifle, and Newton's method with it. A spring ties such nodes i to the affine motion that the
/// points p of a cell have anyway [Burman 2010, ghost penalty]:
///     a(x) = sum_p m_p (u_p + C_p (x - x_p)) / sum_p m_p,   u_p = sum_j w_jp u_j,   C_p = sum_j u_j G_jp^T
///     E = sum_cells k / 2 sum_i s_i |u_i - a(x_i)|^2
/// E vanishes for affine motions: errors stay of second order in dx, momentum and angular momentum as they are. The
/// springs begin anew with every step. Block 0 of the motion is the grid.
class FaintNodes final : public Term {
 public:
  /// Points of a continuum.
  struct Points {
    const Bins* bins;
    std::span<const Vec3> positions;  ///< [m]
    std::span<const Real> masses;     ///< [kg]
  };
  /// Finds the nodes. inertia: masses of nodes at their owners; wave_speed: of the fastest body [m/s]. Collective.
  void begin_step(std::span<const Points> continua, const TransferSettings& transfer, const BlockMap& map,
                  const NodeField& inertia, Real wave_speed);
  /// There are none in this step.
  void clear() { cells_.clear(); }

  Real energy(const Motion& motion) const override;
  void add_force(const Motion& motion, Load& force) const override;
  std::unique_ptr<Linear> linearise(const Motion&) const override { return std::make_unique<Linear>(); }
  void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const override;
  void add_tangent(const Linear& linear, Tangent& tangent) const override;
  void add_diagonal_blocks(const Linear& linear, std::size_t block, std::span<Real> matrices) const override;

 private:
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  /// A cell with faint nodes. Its points have the same nodes.
  struct Cell {
    std::vector<std::int32_t> nodes;  ///< Numbers of their first reals in a NodeField.
    Matrix D;  ///< Rows sqrt(k s_i) (u_i - a(x_i)) of its faint nodes, by the displacements of its nodes [(N/m)^(1/2)].
  };
  class Finder;

  std::vector<Cell> cells_;
};

}  // namespace weft
