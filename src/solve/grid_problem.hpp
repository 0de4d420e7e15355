#pragma once
// What an implicit step solves: the balance of impulses at the nodes of a layer, its energy and its derivative.

#include "solve/holds.hpp"
#include "solve/node_vectors.hpp"
#include "solve/node_walls.hpp"
#include "weft/base/sums.hpp"
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
class GridProblem {
 public:
  GridProblem(const Comm& comm, const BlockMap& map, std::vector<const Term*> terms,
              std::vector<const Constraints*> constraints, const ImplicitSettings& settings);
  ~GridProblem();
  GridProblem(const GridProblem&) = delete;
  GridProblem& operator=(const GridProblem&) = delete;

  void begin_step(const ImplicitStep& step, std::span<const Wall> walls, const NodeField& inertia);
  /// Of two guesses the better one: nodes go on as they did, or fall freely; walls act on either. The residual becomes
  /// that of x.
  void guess(Vec x, Vec residual);

  /// N / sqrt(m) [sqrt(J)].
  void residual(Vec x, Vec out);
  /// Size of the impulses that balance where the residual was looked at last [sqrt(J)].
  Real reference() const { return reference_; }
  /// Residuals beneath are round-off [sqrt(J)].
  Real noise() const { return noise_; }
  struct Energy {
    Real value;
    Real noise;  ///< What may be round-off of it.
  };
  /// With the potential of friction at its present strength. [J]
  Energy energy(Vec x);

  /// At x, where the residual was looked at last; `definite` as Terms have it.
  void linearise(Vec x, bool definite);
  /// The matrix of Newton's system, symmetric if energy is minimised, times a vector; of nodes without mass, one.
  void multiply(Vec in, Vec out);
  /// Turns the right side of W' K dx + k (I - W') dx = b into that of the symmetric system for the free directions.
  void eliminate_held(Vec b);
  /// The part of dx that walls dictate goes from dx to -x: what is left of dx must descend.
  void do_as_walls_dictate(Vec x, Vec dx) const;
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
  void finish_step(Vec x, Layer& layer, std::span<Vec3> wall_impulse, ImplicitReport& report);

  std::size_t nodes() const { return nodes_; }
  const Freedoms& freedoms() const { return freedoms_; }
  std::span<const WallNode> wall_nodes() const { return walls_.nodes(); }
  Holds& holds() { return holds_; }
  /// What every node has on the diagonal of its derivative: its inertia, or without inertia a trifle.
  Real least_diagonal() const;
  const ImplicitStep& step() const { return step_; }
  /// sqrt(m); 0 without mass.
  Real root_mass(std::size_t n) const { return root_mass_[n]; }

  /// Calls f(node) for all owned nodes with mass.
  template <class F>
  void for_each_node(F&& f) const {
#pragma omp parallel for schedule(static)
    for (std::size_t n = 0; n < nodes_; ++n)
      if (root_mass_[n] > 0) f(n);
  }

 private:
  template <class F>
  Real sum_over_nodes(F&& f) const {
    return ordered_sum(nodes_, Real(0), [&](std::size_t n) { return root_mass_[n] > 0 ? f(n) : Real(0); });
  }
  template <class Unknowns>
  void displace(const Unknowns& unknowns, FreedomValues& u) const;
  void take_derivatives(bool definite);
  void weigh_walls();
  template <class Unknowns>
  void free_product(const Unknowns& z, const NodeWriting& out);
  void look_at(Vec x);
  Vec3 force_at(std::size_t node) const;
  Vec3 asked_velocity(const NodeReading& in, const WallNode& node) const;
  Real mass(std::size_t n) const { return root_mass_[n] * root_mass_[n]; }

  const Comm comm_;
  const BlockMap& map_;
  const std::vector<const Term*> terms_;
  const ImplicitSettings& settings_;
  const std::size_t nodes_;  ///< Owned, with and without mass.
  const Freedoms freedoms_, block_freedoms_;
  Motion motion_;
  Load force_;
  FreedomValues change_;
  FreedomValues node_blocks_;  ///< Nine numbers for each node.
  Holds holds_;
  NodeWalls walls_;
  // Of the step that is taken.
  ImplicitStep step_{};
  std::vector<Real> root_mass_;
  std::vector<Vec3> old_velocity_;   ///< p / m, as the points carry it.
  std::vector<Vec3> free_velocity_;  ///< v*.
  Real k_ = 1;                       ///< About the largest k_i / m_i that a node in its bodies may have.
  Real gravity_size_ = 0;            ///< sum m |dt g|^2 [J].
  Real noise_ = 0;
  // Of the iteration.
  std::vector<Vec3> impulse_;  ///< r_i / sqrt(m_i), where the residual was looked at last.
  Real reference_ = 0;
  std::vector<std::unique_ptr<Linear>> linears_;
  Vec held_part_ = nullptr, held_product_ = nullptr;  ///< Work of `eliminate_held`; made when it is first needed.
};

}  // namespace weft
