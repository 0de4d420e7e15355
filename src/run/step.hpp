#pragma once
// The time step.

#include "run/state.hpp"
#include "run/suspects.hpp"
#include "run/totals.hpp"
#include "weft/base/interrupted.hpp"
#include "weft/base/timer.hpp"
#include "weft/coupling/segment_impulses.hpp"
#include "weft/grid/node_field.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/scene/scene.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// How large a step may be and why.
struct StepSize {
  Real dt = 0;             ///< [s]; 0 before the first step.
  std::string limited_by;  ///< "waves in jelly", "speed of sand", "time.max_dt", "recovery", "output".
};

/// Writes state.limits from the points as they are. Collective.
void find_limits(const Comm& comm, const Scene& scene, RunState& state);

/// Largest dt that the bodies (state.limits), colliders until a time, the sources that are not closed yet and the deck
/// allow, before outputs are considered. Collective.
StepSize size_of_step(const Comm& comm, const Scene& scene, const RunState& state, Real not_beyond);

struct StepReport {
  StepSize size;
  int retries = 0;
  int newton = 0, krylov = 0;   ///< Iterations of an implicit step, refused tries included.
  std::vector<Real> residuals;  ///< Of the accepted try of an implicit step, by Newton step [sqrt(J)].
  std::optional<Real>
      potential_before;       ///< Of an explicit step that was weighed: energy of the positions before it [J].
  Real contact_energy = 0;    ///< Of the springs of walls: mean over an explicit step, end of others [J].
  ImpulseCounts impulses;     ///< Between segments of strands.
  std::vector<int> substeps;  ///< Of each body with freedoms of its own; of others 0.
  std::string refused;        ///< Why the first try was refused; the same on every rank.
};

/// All energy of a scene less the work done on it [J], after the last step: what it may not gain. The velocities of an
/// explicit step belong to its middle, as does the work; so does then potential energy, as a mean of before and after;
/// not a number if the step was not weighed. [docs/theory/step.md, (3.6)]
Real energy_less_work(const Scene& scene, const RunState& state, const StepReport& last, const Totals& totals);

struct StepContext;

/// Takes steps. Holds the grid between them, so that it is rebuilt only when the points touch other blocks.
class Stepper {
 public:
  /// Scene, state and timers are not owned.
  Stepper(const Comm& comm, Scene& scene, RunState& state, Timers& timers);
  ~Stepper();

  /// Brings every point to the rank that owns its block, but for those of meshes, and activates the blocks that points
  /// touch; with new cuts of the curve, and of meshes along them, if `recut`. Collective.
  void bring_home(bool recut);

  /// One step, at most to time `not_beyond` [s], weighed before if `weigh` or if it reaches that. A transaction: bodies
  /// and state change only once all ranks accept it. Throws Error(numerics), bodies and state as before, when
  /// time.max_retries halvings of dt do not help, or dt is too small to come to an end; `suspicions` then says which
  /// points are to blame, and Interrupted. Collective.
  StepReport take(Real not_beyond, bool weigh = false);
  const Suspicions& suspicions() const;
  /// The first try of a step, of which nothing is kept: throws Error(deck) if a solver refuses its options, which PETSc
  /// finds out only while it solves. Other errors are left to the step. recut: points are dealt out anew. Collective.
  void rehearse(bool recut);
  /// Implicit steps ask this between the steps of their solver.
  void heed(StopQuestion is_asked_to_stop);

  /// Of the scene, with what clamps hold elastically. Collective.
  Totals totals() const;
  /// Largest counted work of a rank over the mean. Collective.
  Real imbalance() const;
  /// Settles with new cuts if the work is spread too unevenly, or meshes have moved too far away from their ranks.
  /// Returns the imbalance before. Collective.
  Real balance();
  /// Share of the points of meshes that lie in blocks of other ranks than theirs; it grows as meshes move away from
  /// where they were cut. Collective.
  Real mesh_drift() const;
  /// Far sides of surfaces count as layers.
  std::size_t layers() const;
  /// The number in the scene of one that took part in the last step.
  std::optional<std::size_t> layer_in_use(std::size_t layer) const;
  const BlockMap& map(std::size_t layer = 0) const;
  const Layer& nodes(std::size_t layer = 0) const;

 private:
  std::unique_ptr<StepContext> step_;
};

}  // namespace weft
