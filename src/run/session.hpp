#pragma once
// A session: one run of an analysis from start to end, or to where it is asked to stop. It resumes, keeps records and
// checkpoints, says how the run stands, and keeps the last good state when a step fails.

#include "run/analysis.hpp"
#include "run/progress.hpp"
#include "run/schedule.hpp"
#include "run/watchdog.hpp"
#include "weft/base/error.hpp"
#include "weft/base/timer.hpp"
#include "weft/output/history.hpp"
#include "weft/output/lock.hpp"
#include "weft/run/loop.hpp"
#include "weft/run/provenance.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>

namespace weft {

class Session {
 public:
  /// `timers` is what the analysis measures its phases with.
  Session(const Comm& comm, const Deck& deck, const RunOptions& options, Requests& requests, Timers& timers,
          std::unique_ptr<Analysis> analysis);

  /// Throws Error; the last good state is then kept if a step failed. Collective.
  void go();

 private:
  void start();
  void resume(const std::filesystem::path& checkpoint);
  /// False if the step was broken off on request.
  bool one_step();
  void finish();
  void record_row();
  void record_frame();
  void flush_frames();
  void write_checkpoint_now();
  void keep_last_good_state();
  /// Says in run.json how the run stands.
  void tell(const std::string& state_word, const std::optional<Error>& failure = std::nullopt);
  /// Runs `write`, which is collective. The deck says whether its failure ends the run, or is a warning until it works
  /// again.
  template <class Write>
  void try_to(const char* what, const Write& write);
  RunClock& clock() const { return analysis_->clock(); }
  Real next_frame_time() const;
  Pace pace() const;

  const Comm comm_;
  const Deck deck_;
  const RunOptions options_;
  std::vector<DeckFile> files_;     ///< That the deck names, as they are when the run starts.
  std::optional<FolderLock> lock_;  ///< While this run writes into the folder.
  Timers& timers_;
  const std::unique_ptr<Analysis> analysis_;
  const RunEnd end_;
  Schedule schedule_;
  std::optional<History> history_;
  std::optional<Progress> progress_;
  std::optional<Watchdog> watchdog_;
  bool resumed_ = false;
  std::string stopped_by_;        ///< Why the run stops before its end, in words.
  std::int64_t frame_shift_ = 0;  ///< Frame k is due at (k + shift) time.frame_interval.
  std::int64_t recorded_step_ = -1, checkpoint_step_ = -1;
  std::set<std::string> failing_;  ///< Files whose last write failed.
};

/// Where a run of this deck ends.
RunEnd end_of(const Deck& deck, const RunOptions& options);

}  // namespace weft
