#pragma once
// A body with a mesh carried by the grid, as a Term: vertices are displaced as the grid is around them, directors turn
// with it, and the forces of elements go back the same way.

#include "weft/bodies/mesh_body.hpp"
#include "weft/bodies/trial.hpp"
#include "weft/motion/term.hpp"
#include "weft/transfer/pipe.hpp"

namespace weft {

/// Block 0 of the motion is the grid; displacements count from the start of the step. The forces that vertices have
/// already (MeshBody::forces) are loads that do not change. Body, bins and transfer are not owned.
class MeshTerm final : public Term {
 public:
  /// vertices, samples: bins of the body's points and of its quadrature points. gravity: zero where there is inertia;
  /// without, nothing keeps a node in place that quadrature points see and vertices do not, so the weight of the first
  /// is moved to the vertices that carry them [m/s^2].
  MeshTerm(const MeshBody& body, const TrialMesh& trial, const Bins& vertices, const Bins& samples,
           const TransferSettings& transfer, bool in_loop, const Vec3& gravity);
  ~MeshTerm() override;

  bool has_energy() const override { return trial_.has_trial_energy(in_loop_); }
  Real energy(const Motion& motion) const override;
  void add_force(const Motion& motion, Load& force) const override;
  std::unique_ptr<Linear> linearise(const Motion& motion) const override { return stiffness_at(motion, false); }
  std::unique_ptr<Linear> linearise_definite(const Motion& motion) const override { return stiffness_at(motion, true); }
  void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const override;
  void add_tangent(const Linear& linear, Tangent& tangent) const override;
  void add_diagonal_blocks(const Linear& linear, std::size_t block, std::span<Real> matrices) const override;

 private:
  struct Stiffness;
  struct Assembly;
  std::unique_ptr<Linear> stiffness_at(const Motion& motion, bool definite) const;
  /// Displacements of the vertices, and those of the quadrature points with their gradients, in u_, u_samples_ and H_.
  void feel(const FreedomValues& displacement) const;
  /// The same, with the trial places of the vertices in x_.
  void move(const Motion& motion) const;
  /// Writes the forces that do not change to f_ and f_samples_, which is empty where quadrature points have none.
  void load() const;
  /// f_, f_samples_ and A_ to the nodes.
  void push_back(Load& force) const;
  std::span<const Vec3> places() const { return body_.points().get<Position>(); }
  std::span<const Vec3> sample_places() const { return body_.samples().get<Position>(); }

  const MeshBody& body_;
  const TrialMesh& trial_;
  const Bins &vertices_, &samples_;
  const TransferSettings& transfer_;
  bool in_loop_;
  Vec3 gravity_;
  // Work, kept for its memory.
  mutable std::vector<Vec3> u_, u_samples_, x_, f_, f_samples_;
  mutable std::vector<Mat3> H_, A_;
  mutable MeshStiffness spare_;
  const std::unique_ptr<Assembly> assembly_;
};

}  // namespace weft
