#pragma once
// What a user sees while a run goes on, and at its end.

#include "weft/base/timer.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/run/step.hpp"

#include <array>
#include <string>

namespace weft {

/// "01:02:03".
std::string as_clock(Real seconds);
/// Resident memory of this process [byte].
std::int64_t resident_bytes();

/// One line on how far the run is: rewritten in place on a terminal, every 30 s otherwise.
class Progress {
 public:
  /// From step and time of the start to `end_time` [s].
  Progress(const RunState& start, Real end_time);

  /// Shows the line if it is time to. particles: on all ranks.
  void show(const RunState& state, const StepReport& last, Real particles, Real imbalance);
  /// The line.
  std::string line(const RunState& state, const StepReport& last, Real particles, Real imbalance) const;
  /// Particle steps per second since the start.
  Real rate() const { return particle_steps_ / std::max(seconds(), 1e-9); }
  Real seconds() const;
  /// Seconds to the end at the speed so far; infinite before the first step.
  Real remaining(const RunState& state) const;
  Real particle_steps() const { return particle_steps_; }

 private:
  Real start_time_, end_time_;
  std::int64_t last_step_;
  double started_, last_shown_;
  Real particle_steps_ = 0;
};

/// What the wall time of steps is spent on, by the names of Timers.
inline constexpr std::array step_phases{"scatter", "law",      "gather",   "elements", "grid", "solve",   "accept",
                                        "sort",    "exchange", "activate", "size",     "edit", "balance", "record"};

/// Where the wall time went, phase by phase over the ranks, and one sentence of advice. The same on every rank.
/// particle_steps: of all ranks together. Collective.
std::string closing_table(const Comm& comm, const Timers& timers, Real particle_steps, Real imbalance);

}  // namespace weft
