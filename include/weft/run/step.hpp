#pragma once
// The time step.

#include "weft/base/timer.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/run/handles.hpp"
#include "weft/run/state.hpp"
#include "weft/run/suspects.hpp"
#include "weft/run/totals.hpp"
#include "weft/scene/scene.hpp"
#include "weft/solve/implicit.hpp"

#include <initializer_list>
#include <limits>
#include <optional>

namespace weft {

/// How large a step may be and why.
struct StepSize {
  Real dt = 0;             ///< [s]; 0 before the first step.
  std::string limited_by;  ///< "waves in jelly", "speed of sand", "time.max_dt", "recovery", "output".
};

/// Writes state.limits from the points as they are. Collective.
void find_limits(const Comm& comm, const Scene& scene, RunState& state);

/// Largest dt that the bodies (state.limits), the sources that are not closed yet and the deck allow, before outputs
/// are considered.
StepSize size_of_step(const Scene& scene, const RunState& state);

struct StepReport {
  StepSize size;
  int retries = 0;
  int newton = 0, krylov = 0;            ///< Iterations of an implicit step, refused tries included.
  std::vector<Real> residuals;           ///< Of the accepted try of an implicit step, by Newton step [sqrt(J)].
  std::optional<Real> potential_before;  ///< Of an explicit step that was weighed: energy of the places before it [J].
  std::string refused;                   ///< Why the first try was refused; the same on every rank.
};

/// All energy of a scene less the work done on it [J], after the last step: what it may not gain. The velocities of an
/// explicit step belong to its middle, as does the work; so does then potential energy, as a mean of before and after;
/// not a number if the step was not weighed. [docs/theory/step.md, (3.6)]
Real energy_less_work(const Scene& scene, const RunState& state, const StepReport& last, const Totals& totals);

/// Takes steps. Holds the grid between them, so that it is rebuilt only when the points touch other blocks.
class Stepper {
 public:
  Stepper(const Comm& comm, Scene& scene, RunState& state, Timers& timers);

  /// Brings every point to the rank that owns its block, but for those of meshes, and activates the blocks that points
  /// touch; with new cuts of the curve, and of meshes along them, if `recut`. Collective.
  void settle(bool recut);

  /// One step, at most to time `not_beyond` [s], weighed before if `weigh` or if it reaches that. A transaction: bodies
  /// and state change only once all ranks accept it. Throws Error(numerics), bodies and state as before, when
  /// time.max_retries halvings of dt do not help, or dt is too small to come to an end; `suspicions` then says which
  /// points are to blame. Collective.
  StepReport take(Real not_beyond, bool weigh = false);
  const Suspicions& suspicions() const { return suspicions_; }

  /// Largest counted work of a rank over the mean. Collective.
  Real imbalance() const;
  /// Settles with new cuts if the work is spread too unevenly, or meshes have moved too far away from their ranks.
  /// Returns the imbalance before. Collective.
  Real balance();
  /// Share of the points of meshes that lie in blocks of other ranks than theirs; it grows as meshes move away from
  /// where they were cut. Collective.
  Real mesh_drift() const;
  const BlockMap& map() const { return map_; }
  const Layer& layer() const { return layer_; }
  /// Memory of the grid and of the bins on this rank.
  std::size_t bytes() const;

 private:
  /// Why a trial step cannot be accepted: the quantity that exceeds its bound most.
  struct Fault {
    Real excess = 0;  ///< Quantity over bound; above 1 the step is refused.
    std::string text;
    Vec3 node = Vec3::Constant(std::numeric_limits<Real>::quiet_NaN());  ///< That moves too fast [m], if one does.
  };

  /// Points of a body that the step visits.
  struct Visited {
    std::size_t body;
    PointSet* points;
  };

  bool is_of_mesh(std::size_t set) const { return scene_.bodies[sets_[set].body]->has_mesh(); }
  std::optional<Error> find_points(bool all);
  void arrange_points();
  void reorder_points(std::initializer_list<std::string_view> overwritten);
  void cut_anew();
  bool has_leavers(const Bins& bins) const;
  void send_home(std::size_t set);
  bool touches_other_blocks();
  std::size_t bytes_of_points() const;
  /// On this rank, in one step.
  struct Impulses {
    std::vector<Vec3> by_walls;
    std::vector<HandleImpulse> by_handles;
    Real wall_work = 0;
  };
  Fault try_step(Real dt, Impulses& given, StepReport& report);
  void count_impulses(Impulses& given);
  bool is_implicit() const { return scene_.deck.time.scheme == Scheme::implicit_euler; }
  ImplicitReport advance_implicit(Real dt, Impulses& given);
  Fault worst_of_points(Real dt) const;
  Fault worst_of_ranks(const Fault& mine) const;
  [[noreturn]] void give_up(const StepReport& report, const Fault& fault);
  void commit(Real dt);

  Comm comm_;
  Scene& scene_;
  RunState& state_;
  Timers& timers_;
  std::vector<Visited> sets_;
  std::vector<Bins> bins_;              ///< One for each set of points.
  std::size_t bytes_when_trimmed_ = 0;  ///< Of points, when freed memory was last given back.
  std::vector<bool> is_binned_;         ///< For each set: its bins hold the points as they stand.
  std::vector<BlockKey> touched_;
  BlockMap map_;
  Layer layer_;
  Suspicions suspicions_;
  bool map_is_stale_ = true;
  Handles handles_;
  // Of an implicit scheme.
  std::unique_ptr<GridHolds> holds_;
  std::vector<std::unique_ptr<Term>> terms_;  ///< One for each body.
  ImplicitSettings settings_;
  std::unique_ptr<ImplicitGrid> implicit_;  ///< For the present map; none if there was no step on it.
};

}  // namespace weft
