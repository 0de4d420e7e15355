#pragma once
// When a run writes a checkpoint, when it says how it stands, and when its time is up.

#include "weft/base/timer.hpp"
#include "weft/deck/deck.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/run/loop.hpp"

namespace weft {

/// Why a run stops that a signal asked for.
inline constexpr const char* asked_to_stop = "a signal asked for it";

class Schedule {
 public:
  /// Actions due after a step. stop: why, in words; none: no stop.
  struct Due {
    bool checkpoint, word;
    const char* stop;
  };

  Schedule(const Comm& comm, const CheckpointDeck& checkpoint, const RunOptions& options, Requests& requests);

  /// A checkpoint is expected to take this long until one was timed [s].
  void expect_checkpoint_time(double seconds) { longest_checkpoint_ = seconds; }

  void step_began() { step_began_ = wall_seconds(); }
  void step_ended();
  void checkpoint_began();
  void checkpoint_ended();
  void said_how_it_stands() { last_word_ = wall_seconds(); }

  /// Decided together: the root's clock counts, and any rank's signal. Collective.
  Due due(std::int64_t step);
  /// Whether any rank was asked to stop. Collective.
  bool is_asked_to_stop() const { return comm_.any(requests_.stop); }
  /// Wall time since the run began [s].
  double seconds() const { return wall_seconds() - began_; }

 private:
  const Comm comm_;
  int every_steps_;
  Real every_wall_;
  std::optional<Real> wall_limit_;
  Requests& requests_;
  double began_ = wall_seconds(), step_began_ = began_;
  double last_checkpoint_ = began_, last_word_ = 0;
  double longest_step_ = 0, longest_checkpoint_ = 0;  ///< [s]
};

}  // namespace weft
