#pragma once
// A body with a mesh as a Term: a carrier brings the motion to its elements and takes their forces back.

#include "weft/bodies/mesh_body.hpp"
#include "weft/coupling/mesh_carrier.hpp"

#include <memory>

namespace weft {

/// Displacements count from the start of the step. The forces that vertices have already (MeshBody::forces) are loads
/// that do not change. The body is not owned.
class MeshTerm final : public Term {
 public:
  /// parts: what counts of the body. gravity: zero where there is inertia; without, nothing keeps a node in place that
  /// quadrature points see and vertices do not, so the weight of the first is moved to the vertices that carry them
  /// [m/s^2].
  MeshTerm(const MeshBody& body, std::unique_ptr<const MeshCarrier> carrier, const Parts& parts, const Vec3& gravity)
      : body_(body), carrier_(std::move(carrier)), parts_(parts), gravity_(gravity) {}

  bool has_energy() const override { return !parts_.contact || body_.has_trial_energy(parts_.in_loop); }
  Real energy(const Motion& motion) const override;
  void add_force(const Motion& motion, Load& force) const override;
  std::unique_ptr<Linear> linearise(const Motion& motion) const override { return stiffness_at(motion, false); }
  std::unique_ptr<Linear> linearise_definite(const Motion& motion) const override { return stiffness_at(motion, true); }
  void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const override;
  void add_tangent(const Linear& linear, Tangent& tangent) const override;
  void add_diagonal_blocks(const Linear& linear, std::size_t block, std::span<Real> matrices) const override;

 private:
  struct Stiffness;
  std::unique_ptr<Linear> stiffness_at(const Motion& motion, bool definite) const;
  /// What reaches the body, in felt_, with the trial positions of the vertices in x_.
  void move(const Motion& motion) const;
  bool has_loads() const;
  /// Writes the forces that do not change to forces_; those of samples are empty where quadrature points have none.
  void load() const;

  const MeshBody& body_;
  const std::unique_ptr<const MeshCarrier> carrier_;
  Parts parts_;
  Vec3 gravity_;
  // Work, kept for its memory.
  mutable MeshMotion felt_;
  mutable MeshForces forces_;
  mutable std::vector<Vec3> x_;
  mutable MeshStiffness spare_;
};

}  // namespace weft
