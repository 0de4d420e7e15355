#pragma once
// A continuum carried by the grid, as a Term: its points feel a motion of the nodes through the pipe.

#include "weft/bodies/body.hpp"
#include "weft/bodies/trial.hpp"
#include "weft/motion/term.hpp"
#include "weft/transfer/pipe.hpp"

namespace weft {

/// Block 0 of the motion is the grid. Displacements count from the start of the step, where the points are; their
/// rates are displacements over dt. Loads on the points are part of the Term, as dead forces. Points,
/// bins and transfer are not owned.
class ContinuumTerm final : public Term {
 public:
  ContinuumTerm(const PointSet& points, const TrialBody& trial, const Bins& bins, const TransferSettings& transfer,
                bool in_loop)
      : points_(points), trial_(trial), bins_(bins), transfer_(transfer), in_loop_(in_loop) {}

  bool has_energy() const override { return trial_.has_trial_energy(in_loop_); }
  Real energy(const Motion& motion) const override;
  void add_force(const Motion& motion, Load& force) const override;
  std::unique_ptr<Linear> linearise(const Motion& motion) const override { return tangents_at(motion, false); }
  std::unique_ptr<Linear> linearise_definite(const Motion& motion) const override { return tangents_at(motion, true); }
  void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const override;
  void add_tangent(const Linear& linear, Tangent& tangent) const override;
  void add_diagonal_blocks(const Linear& linear, std::size_t block, std::span<Real> matrices) const override;

 private:
  struct Tangents;
  std::unique_ptr<Linear> tangents_at(const Motion& motion, bool definite) const;
  TrialStep step_of(const Motion& motion) const { return {1 / motion.rate_per_u, in_loop_}; }
  std::span<const Vec3> places() const { return points_.points().get<Position>(); }

  const PointSet& points_;
  const TrialBody& trial_;
  const Bins& bins_;
  const TransferSettings& transfer_;
  bool in_loop_;                      ///< Plastic flow is part of the solve.
  mutable std::vector<Mat9> spare_;   ///< Memory of tangents that are not needed any more.
  mutable std::vector<Real> energy_;  ///< Of each point, kept for its memory.
};

}  // namespace weft
