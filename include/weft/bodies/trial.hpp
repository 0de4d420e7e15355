#pragma once
// Trial motions: what an implicit step asks of a body of independent points, besides what every step asks.

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

}  // namespace weft
