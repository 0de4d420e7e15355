#pragma once
// Time stepping: bodies move with the grid, explicitly or implicitly.

#include "run/analysis.hpp"
#include "run/diagnostics.hpp"
#include "run/record.hpp"
#include "run/step.hpp"
#include "weft/base/timer.hpp"

#include <optional>
#include <utility>

namespace weft {

class TimeStepping final : public Analysis {
 public:
  /// Collective.
  TimeStepping(const Comm& comm, const Deck& deck, const RunEnd& end, Timers& timers);

  std::string forecast() override;
  void heed(StopQuestion is_asked_to_stop) override { stepper_.heed(std::move(is_asked_to_stop)); }

  void start() override;
  void resume(const CheckpointHeader& header, const std::filesystem::path& checkpoint) override;
  void open_frames(const std::filesystem::path& output, bool resumed) override;
  void get_ready() override;

  RunClock& clock() override { return state_; }
  bool has_ended() const override { return state_.time >= end_.time; }
  void take_step(Real next_frame_time) override;
  std::string last_step_in_words(const Pace& pace) const override;
  Real points() const override { return points_; }
  std::string size_in_words() const override;
  Real imbalance() const override { return imbalance_; }

  std::vector<CheckpointPart> tables() override { return tables_of(scene_); }
  std::string state_text() const override { return to_text(state_); }
  std::vector<std::uint64_t> cuts() const override { return state_.cuts.at; }

  const char* history_file() const override { return "diagnostics.csv"; }
  std::vector<HistoryColumn> history_columns() const override { return columns_.names(); }
  std::vector<Real> history_row(const Pace& pace) override;
  int history_every() const override { return scene_.deck.output.diagnostics_every; }
  bool frame_is_due(Real next_frame_time) const override { return state_.time >= next_frame_time; }
  void draw() override { recorder_->write_frame(scene_, state_, stepper_); }
  void flush_frames() override { recorder_->flush(); }
  void draw_crash(const Suspicions& broken) override;
  std::uint64_t frame_bytes() override { return scene_frame_bytes(comm_, scene_); }

 private:
  std::string forecast_of_sizes(StepSize size);
  std::string forecast_of_a_step(StepSize& size);
  void rehearse(bool recut);

  const Comm comm_;
  const RunEnd end_;
  Timers& timers_;
  Scene scene_;
  RunState state_;
  Stepper stepper_;
  Columns<DiagnosticsMoment> columns_;
  std::optional<Recorder> recorder_;
  std::filesystem::path output_;
  StepReport last_step_;
  Real points_ = 0, imbalance_ = 1;
  bool other_ranks_ = false;  ///< The checkpoint is of another number of ranks.
};

}  // namespace weft
