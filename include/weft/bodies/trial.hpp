#pragma once
// Trial motions: what an implicit step asks of bodies, besides what every step asks.

#include "weft/bodies/mesh_stiffness.hpp"
#include "weft/fields/chunk.hpp"
#include "weft/math/tangent.hpp"

namespace weft {

/// What becomes of plastic flow while the end of a step is sought.
struct TrialStep {
  Real dt;       ///< [s].
  bool in_loop;  ///< Trial states flow, and the flow's stress counts; else they are elastic, and flow waits for commit.
};

/// A body whose points respond to the displacement gradients H that a trial step would leave them with: F_trial =
/// (I + H) F. Memory is that of the start of the step. Entry k of a span belongs to rows[k]; nothing changes.
///
///     A = V0 tau (I + H)^{-T} + V0 eta J (H + H^T) / dt,   tau of F_trial, or of what the return map makes of it
///
/// is dE/dH where there is an energy: always without flow in the loop, and with it for laws whose flow is associated.
class TrialBody {
 public:
  virtual ~TrialBody() = default;
  /// Whether A is the derivative of an energy.
  virtual bool has_trial_energy(bool in_loop) const = 0;
  /// Whether flow belongs in the loop unless the deck says otherwise.
  virtual bool flows_in_loop() const = 0;

  /// Energy of each point [J], with its dissipation.
  virtual void trial_energy(ChunkRows rows, const TrialStep& step, std::span<const Mat3> H,
                            std::span<Real> energy) const = 0;
  /// A of each point [J].
  virtual void trial_response(ChunkRows rows, const TrialStep& step, std::span<const Mat3> H,
                              std::span<Mat3> A) const = 0;
  /// dA/dH of each point [J]; with the negative eigenvalues set to zero if `definite`.
  virtual void trial_tangent(ChunkRows rows, const TrialStep& step, std::span<const Mat3> H, bool definite,
                             std::span<Mat9> tangent) const = 0;
};

/// The parts of what elements resist that are asked for.
struct Parts {
  bool elastic = true;   ///< What elements resist that touch nothing: stretch, shear and bending.
  bool contact = true;   ///< What the directors at their quadrature points resist besides.
  bool viscous = false;  ///< What elements oppose to changes since a substep began (MeshBody::begin_substep).
  bool in_loop = false;  ///< Directors slip in the trial state, and the stress of the slipped ones counts.
};

/// A trial shape of a mesh, by row.
struct TrialShape {
  std::span<const Vec3> x;           ///< Positions of the vertices [m].
  std::span<const Mat3> H;           ///< Displacement gradients at the quadrature points; forces take none for zero.
  std::span<const Real> turns = {};  ///< Of elements that turn about themselves, since the start of the step, as
                                     ///< lengths at their polar radius of gyration [m].
};
/// What the elements do there.
struct TrialForces {
  std::span<Vec3> f;             ///< On the vertices [N].
  std::span<Mat3> A;             ///< dE/dH of the quadrature points [J].
  std::span<Real> turning = {};  ///< On turns [N].
};

/// A meshed body whose elements respond to trial shapes. Memory is that of the start of the step; nothing changes.
/// Metal shells always flow in the loop, with an energy.
class TrialMesh {
 public:
  virtual ~TrialMesh() = default;
  /// Whether forces and A of all parts are the derivative of an energy: slip in the loop has none.
  bool has_trial_energy(bool in_loop) const { return !in_loop; }

  /// [J]; of parts that have an energy.
  virtual Real trial_energy(const Parts& parts, const TrialShape& at) const = 0;
  /// Adds the forces on vertices and turns and writes A.
  virtual void trial_response(const Parts& parts, const TrialShape& at, const TrialForces& to) const = 0;
  /// Appends the derivatives of both, part by part; symmetric ones without negative eigenvalues if `definite`.
  virtual void add_stiffness(const Parts& parts, const TrialShape& at, bool definite,
                             MeshStiffness& stiffness) const = 0;
};

}  // namespace weft
