#pragma once
// What an implicit step solves: the balance of impulses at the nodes of a layer, its energy and its derivative.

#include "solve/holds.hpp"
#include "solve/implicit_inertia.hpp"
#include "solve/line_search.hpp"
#include "solve/newton.hpp"
#include "solve/node_vectors.hpp"
#include "solve/node_walls.hpp"
#include "solve/unknowns.hpp"
#include "weft/motion/term.hpp"
#include "weft/solve/implicit.hpp"

#include <memory>
#include <vector>

namespace weft {

/// The unknowns are x_i = sqrt(m_i) v_i, so that norms are square roots of energies and light nodes are no worse than
/// others. With free impulses
///     r_i = a m_i (v_i - v*_i) - (1 - a) dt m_i g - dt f_i(u = dt v)         v* = p / m + dt g;  a = 1, quasi-static 0
/// which are the derivative of the energy
///     E(v) = a |v - v*|_M^2 / 2 - (1 - a) dt g . M v + sum of the Terms' energies at u = dt v
/// the conditions are, at every node,
///     N_i = k_i (v_i - W_i(v_i - r_i / k_i)) = 0
/// where W_i stands for the walls at the node and is the identity elsewhere (N_i = r_i). At a solution r_i is the
/// impulse that the walls give. k_i is any positive mass; a guess of the diagonal of dr/dv serves best.
/// Newton's method on N is semismooth [Qi & Sun 1993]:  (W' dr/dv + k (I - W')) dv = -N.
///
/// Where dr/dv is symmetric, so is the system that Newton solves for the directions that the walls leave free, once
/// what they hold is eliminated and the dependence of friction on pressure is left to the iteration; that friction
/// then is a potential too, and steps are measured by the energy.
///
/// Vectors of PETSc have the owned nodes, with and without mass. All members that take one are collective.
class GridProblem final : public NewtonProblem {
 public:
  GridProblem(const Comm& comm, const BlockMap& map, std::vector<const Term*> terms,
              std::vector<const Constraints*> constraints, const ImplicitSettings& settings);
  ~GridProblem() override;
  GridProblem(const GridProblem&) = delete;
  GridProblem& operator=(const GridProblem&) = delete;

  void begin_step(const ImplicitStep& step, std::span<const Wall> walls, const NodeField& inertia);
  /// Of two guesses the better one: nodes go on as they did, or fall freely; walls act on either. The residual becomes
  /// that of x.
  void guess(Vec x, Vec residual);

  /// N / sqrt(m) [sqrt(J)]; true: where a force is not finite, so is the residual.
  bool residual(Vec x, Vec out) override;
  /// Size of the impulses that balance where the residual was looked at last [sqrt(J)].
  Real reference() const override { return reference_; }
  Real noise(int) const override { return inertia_.noise() + holds_.noise(inertia_.motion_size()); }
  /// With the potential of friction at its present strength. [J]
  NoisyEnergy energy(Vec x) override;

  void linearise(Vec x) override;
  /// The matrix of Newton's system, symmetric if energy is minimised, times a vector; of nodes without mass, one.
  void multiply(Vec in, Vec out);
  /// Turns the right side of W' K dx + k (I - W') dx = b into that of the symmetric system for the free directions.
  void eliminate_held(Vec b);
  /// What walls dictate: what is left of dx must descend.
  void dictate(Vec x, Vec dx) const override;
  /// For each node the block of a Newton system for the block A of its free impulse.
  Mat3 wall_block(const WallNode& node, const Mat3& A) const {
    return settings_.minimise ? walls_.symmetric_block(node, A) : walls_.block(node, A);
  }
  /// Which impulses walls leave at a node: symmetric if energy is minimised.
  const Mat3& left_by_walls(const WallNode& node) const { return settings_.minimise ? node.free : node.slope; }
  /// Finds the block of every node in the derivative of the free impulses; collective.
  void find_blocks();
  /// The last that were found, of a node with mass.
  Mat3 block(std::size_t n) const;
  void add_tangent(Tangent& tangent) const;

  /// Velocities of the nodes at the end of the step; walls and conditions are done. Forgets the derivative.
  void finish_step(Vec x, Layer& layer, std::span<Impulse> by_walls, ImplicitReport& report);

  Vec create_vector() const { return unknowns_.create_vector(); }
  std::size_t nodes() const { return inertia_.nodes(); }
  const Points3& points() const { return points_; }
  const Unknowns& unknowns() const { return unknowns_; }
  std::span<const WallNode> wall_nodes() const { return walls_.nodes(); }
  Holds& holds() { return holds_; }
  /// What every node has on the diagonal of its derivative: its inertia, or without inertia the drag.
  Real least_diagonal() const;
  Drag& drag() { return drag_; }
  const ImplicitStep& step() const { return step_; }
  const ImplicitInertia& inertia() const { return inertia_; }

 private:
  template <class AtNode>
  void displace(const AtNode& x, FreedomValues& u) const;
  void take_derivatives(bool definite);
  void weigh_walls();
  template <class AtNode>
  void free_product(const AtNode& z, const NodeWriting& out);
  void look_at(Vec x);
  void add_forces(bool of_reactions);
  Vec3 force_at(std::size_t node) const;
  Vec3 asked_velocity(const NodeReading& in, const WallNode& node) const;

  const Comm comm_;
  const BlockMap& map_;
  const std::vector<const Term*> terms_;
  const ImplicitSettings& settings_;
  const Freedoms freedoms_, diagonal_freedoms_;
  const Unknowns unknowns_;
  const Points3 points_;  ///< Owned ones are the nodes, with and without mass.
  Motion motion_;
  Load force_;
  FreedomValues change_;
  FreedomValues diagonal_;
  ImplicitInertia inertia_;
  Holds holds_;
  const bool has_reactions_;
  NodeWalls walls_;
  // Of the step that is taken.
  ImplicitStep step_{};
  Real k_ = 1;  ///< About the largest k_i / m_i that a node in its bodies may have.
  // Of the iteration.
  std::vector<Vec3> impulse_;  ///< r_i / sqrt(m_i), where the residual was looked at last.
  Real reference_ = 0;
  Drag drag_;
  std::vector<std::unique_ptr<Linear>> linears_;
  Vec held_part_ = nullptr, held_product_ = nullptr;  ///< Work of `eliminate_held`; made when it is first needed.
};

}  // namespace weft
