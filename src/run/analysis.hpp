#pragma once
// An analysis: how a run gets from one state to the next, and what there is to say, keep and draw of its states. When
// that is done is for the session around it (run/session.hpp).

#include "run/state.hpp"
#include "run/suspects.hpp"
#include "weft/base/interrupted.hpp"
#include "weft/base/timer.hpp"
#include "weft/deck/deck.hpp"
#include "weft/output/checkpoint.hpp"
#include "weft/output/history.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace weft {

/// A run ends at the first of these.
struct RunEnd {
  Real time;          ///< [s].
  std::int64_t step;  ///< Counted from the start of the scene.
};

/// How fast a run goes.
struct Pace {
  Real wall_seconds = 0;               ///< Since the program started.
  Real particle_steps_per_second = 0;  ///< Points of all ranks; control points of a static analysis.
  Real imbalance = 1;                  ///< Largest work of a rank over the mean.
  Real memory_bytes = 0;               ///< Resident, all ranks together.
};

/// Built from a deck, its constructor throws Error before anything is written. All members are collective but those
/// that are const.
class Analysis {
 public:
  virtual ~Analysis() = default;

  /// A forecast of the run, in lines of text. Instead of all that follows.
  virtual std::string forecast() = 0;

  /// Steps that take long ask this on their way.
  virtual void heed(StopQuestion is_asked_to_stop) = 0;

  // --- In this order, before the first step -------------------------------------------------------------------------
  /// The state at the start of the scene, or that of a checkpoint of the same physics.
  virtual void start() = 0;
  virtual void resume(const CheckpointHeader& header, const std::filesystem::path& checkpoint) = 0;
  /// Starts the frames of an output folder, or cuts off those after the state that was resumed.
  virtual void open_frames(const std::filesystem::path& output, bool resumed) = 0;
  /// Last preparations of a resumed state. Their failure is that of a step.
  virtual void get_ready() {}

  // --- Steps --------------------------------------------------------------------------------------------------------
  virtual RunClock& clock() = 0;
  /// Whether nothing is left to do.
  virtual bool has_ended() const = 0;
  /// Throws, the state as before: Error(numerics) when there is no next state, Interrupted when asked to stop.
  virtual void take_step(Real next_frame_time) = 0;
  /// Of the last step, for the progress line.
  virtual std::string last_step_in_words(const Pace& pace) const = 0;
  /// Points, or control points, of all ranks together: as a number, and what a step works on in words.
  virtual Real points() const = 0;
  virtual std::string size_in_words() const = 0;
  virtual Real imbalance() const { return 1; }
  /// Whether time left is in proportion to the wall time left.
  virtual bool advances_evenly() const { return true; }

  /// Of all states so far, in a sentence without its end: what a user of the results must know. Empty if nothing.
  virtual std::string remark() const { return {}; }

  // --- Checkpoints --------------------------------------------------------------------------------------------------
  virtual std::vector<CheckpointPart> tables() = 0;
  /// The rest of a checkpoint beside tables.
  virtual std::string state_text() const = 0;
  virtual std::vector<std::uint64_t> cuts() const = 0;

  // --- Records ------------------------------------------------------------------------------------------------------
  virtual const char* history_file() const = 0;
  virtual std::vector<HistoryColumn> history_columns() const = 0;
  /// The row of the present state. Means over time begin anew.
  virtual std::vector<Real> history_row(const Pace& pace) = 0;
  /// Steps between rows.
  virtual int history_every() const = 0;
  virtual bool frame_is_due(Real next_frame_time) const = 0;
  /// Draws frame clock().next_frame.
  virtual void draw() = 0;
  /// Afterwards all frames are on the disk. Throws Error(file_system).
  virtual void flush_frames() = 0;
  /// Draws the last good state into the folder `crash` and logs what it shows. broken: rows that are not finite.
  virtual void draw_crash(const Suspicions& broken) = 0;
  /// Bytes of one frame.
  virtual std::uint64_t frame_bytes() = 0;
};

/// The analysis that a deck asks for. Collective.
std::unique_ptr<Analysis> make_analysis(const Comm& comm, const Deck& deck, const RunEnd& end, Timers& timers);

}  // namespace weft
