#pragma once
// Conditions on the displacements of nodes in an implicit step: stiff springs, and what takes their stiffness out of
// the linear systems.

#include "solve/unknowns.hpp"
#include "weft/motion/constraint.hpp"
#include "weft/motion/term.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/solve/conditions.hpp"

#include <vector>

namespace weft {

/// In the unknowns x_i = sqrt(m_i) v_i each condition is a row b of unit length with b . x = d. It gives way a little:
///   E = kappa/2 sum_c (b_c . x - d_c)^2,   kappa = k / softness
/// where k is a guess of the diagonal of the system, so that conditions which nearly depend on one another ask for no
/// violent motion of light nodes. With node blocks D the preconditioner is
///   (D + kappa B^T B)^{-1} = D^{-1} - D^{-1} B^T (1/kappa + B D^{-1} B^T)^{-1} B D^{-1}   [Woodbury]
/// whose small matrix is the Schur complement of conditions with compliances. All members are collective.
class Holds {
 public:
  Holds(const Comm& comm, const Unknowns& unknowns, const Points3& points, std::vector<const Constraints*> constraints);

  /// time: at the end of the step. root_mass: of the owned nodes.
  void begin_step(Real time, Real dt, Real k, std::span<const Real> root_mass);
  /// Whether there is a condition on any rank.
  bool any() const { return conditions_.any(); }

  /// Norms of residuals beneath are round-off of stiff conditions, for a motion of this norm [sqrt(J)].
  Real noise(Real motion) const { return any() ? round_off * kappa_ * motion : 0; }

  /// Of the conditions on this rank [J].
  Real energy(const Motion& motion) const;
  void add_force(const Motion& motion, Load& force) const;
  void add_force_change(const FreedomValues& du, Load& change) const;
  /// The impulse that each condition on this rank gives along its weights [N s].
  std::vector<Real> impulses(const Motion& motion) const;

  /// G: D^{-1} W' of each owned node, W' being what the walls leave of an impulse. is_symmetric: whether all of them
  /// are.
  void factor(std::span<const Mat3> G, bool is_symmetric);
  /// Takes G B^T (1/kappa + B G B^T)^{-1} B y from z, both by owned node.
  void correct(std::span<const Mat3> G, std::span<const Vec3> y, std::span<Vec3> z) const;
  /// For a preconditioner M of the matrix A without conditions, with S = 1/kappa + B G B^T and Q = 1 - G B^T S^{-1} B:
  ///   Q M Q^T + G B^T S^{-2} B G / kappa
  /// is one of A + kappa B^T B. First r becomes Q^T r; then, M applied, z the result.
  void release(std::span<const Mat3> G, std::span<Vec3> r);
  void restore(std::span<const Mat3> G, std::span<Vec3> z) const;
  /// kappa B^T B in terms of displacements, as Terms add theirs.
  void add_tangent(Tangent& tangent) const;

 private:
  static constexpr Real round_off = 1e-15;  ///< Of a velocity, in itself.

  Real miss(std::size_t c, std::span<const Real> u) const;
  /// S^{-1} B y / sqrt(m), of all conditions, y(node) being of owned nodes with mass.
  template <class AtNode>
  std::vector<Real> solve_for(AtNode&& y) const;
  /// Calls add(node, part) with B^T lambda for every owned node with mass that a condition is on.
  template <class Add>
  void spread(std::span<const Real> lambda, Add&& add) const;

  const Unknowns& unknowns_;
  const Points3& points_;
  const std::vector<const Constraints*> constraints_;
  const std::size_t nodes_;  ///< Owned.
  Real dt_ = 0, kappa_ = 0;
  ConstraintRows rows_;
  std::vector<Real> stiffness_;   ///< kappa / |w / sqrt(m)|^2 of those on this rank [kg]; 0 where no node has mass.
  std::vector<Real> compliance_;  ///< One over those of all ranks, 0 where they are [1/kg].
  std::vector<Real> root_mass_;   ///< Of owned nodes.
  std::vector<Real> released_;    ///< By `release`, of all conditions.
  FreedomValues inverse_mass_;    ///< At the first freedom of each node.
  Conditions conditions_;
  SchurComplement schur_{conditions_};
};

}  // namespace weft
