#pragma once
// The progress line of a run and the table at its end.

#include "run/step.hpp"
#include "weft/base/timer.hpp"
#include "weft/parallel/comm.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace weft {

/// "01:02:03".
std::string as_clock(Real seconds);
/// Resident memory of this process [byte].
std::int64_t resident_bytes();
/// The most that was ever resident of this process [byte].
std::int64_t peak_bytes();

/// A step in words: dt and what limits it, iterations of a solve.
std::string in_words(const StepReport& last);

/// One line on how far the run is: rewritten in place on a terminal, every 30 s otherwise.
class Progress {
 public:
  /// From step and time of the start to `end_time` [s]. advances_evenly: the time to the end can be told.
  Progress(const RunClock& start, Real end_time, bool advances_evenly);

  /// Counts the steps since it was told last, of so many points on all ranks.
  void count(const RunClock& now, Real points);
  /// Whether it is time to show the line.
  bool is_due() const;
  void show(const RunClock& now, const std::string& last_step);
  /// Particle steps per second since the start.
  Real rate() const { return particle_steps_ / std::max(seconds(), 1e-9); }
  Real steps_per_second() const { return static_cast<Real>(last_step_ - first_step_) / std::max(seconds(), 1e-9); }
  /// Seconds to the end at the speed so far; infinite before the first step, and where it cannot be told.
  Real remaining(const RunClock& now) const;
  Real particle_steps() const { return particle_steps_; }

 private:
  Real seconds() const { return wall_seconds() - started_; }

  Real start_time_, end_time_;
  bool advances_evenly_;
  std::int64_t first_step_, last_step_;
  double started_, last_shown_;
  Real particle_steps_ = 0;
};

/// Phases of steps, by the names of Timers.
inline constexpr std::array step_phases{"predict", "contact", "scatter", "law",   "gather",   "elements",
                                        "grid",    "solve",   "accept",  "sort",  "exchange", "activate",
                                        "size",    "edit",    "balance", "record"};

/// Where the wall time since the timers were made went, phase by phase over the ranks and adding up to all of it, and a
/// sentence of advice, which names the largest phase. The same on every rank.
/// particle_steps: of all ranks together. Collective.
std::string closing_table(const Comm& comm, const Timers& timers, Real particle_steps, Real imbalance);

}  // namespace weft
